"""The right reader for whatever is handed in: a path, a folder, the id of a data set, or an object of Python's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from metricpact.bridges.sources.findings import PLAIN, Reading
from metricpact.bridges.sources.registry import QRELS, RUN, Format, detect, get_format, peek
from metricpact.bridges.sources.streams import Opened, open_input
from metricpact.contracts.errors import InputError
from metricpact.contracts.tables import Judgments, Run

DATASET = "ir_datasets"
"""What forces an id of ir_datasets: as a format, or as a prefix (``ir_datasets:vaswani``)."""


def read_judgments(
    source: Any,
    *,
    format: str | None = None,  # noqa: A002 # the flag's name
    split: str = "test",
    hashing: bool = False,
    findings: Reading = PLAIN,
) -> Judgments:
    """Judgments from a path (``-`` is standard input), a BEIR folder, an id of ir_datasets, or a Python object.

    ``format`` forces one of ``registry.FORMATS`` (or ``ir_datasets``), ``split`` names the qrels of a BEIR folder,
    ``hashing`` takes the SHA-256 of a file while it is read, ``findings`` takes what is found in it. A path that
    exists is a path, whatever ir_datasets has under that name. Raises ``InputError`` with file and line.
    """
    if isinstance(source, Judgments):
        return source
    if not isinstance(source, str | os.PathLike):
        from metricpact.bridges.sources.objects import judgments_from_object

        return judgments_from_object(source)
    forced = None if format in (None, DATASET) else get_format(str(format), QRELS)
    name = str(source)
    if format == DATASET or name.startswith(f"{DATASET}:"):
        from metricpact.bridges.sources.ir_datasets_source import read_dataset

        return read_dataset(name.removeprefix(f"{DATASET}:"))
    if forced is None and _may_be_dataset(name):
        from metricpact.bridges.sources.ir_datasets_source import read_file_or_dataset

        return read_file_or_dataset(name)
    if name != "-" and os.path.isdir(source):
        return _read_folder(Path(source), split, forced, hashing=hashing, findings=findings)
    with open_input(Path(source), hashing=hashing, findings=findings) as opened:
        return _read_qrels(opened, forced or detect(opened, QRELS))


def read_run(
    source: Any,
    *,
    format: str | None = None,  # noqa: A002 # the flag's name
    hashing: bool = False,
    findings: Reading = PLAIN,
) -> Run:
    """A run from a path (``-`` is standard input) or a Python object; see ``read_judgments``."""
    if isinstance(source, Run):
        return source
    if not isinstance(source, str | os.PathLike):
        from metricpact.bridges.sources.objects import run_from_object

        return run_from_object(source)
    forced = None if format is None else get_format(format, RUN)
    if str(source) != "-" and os.path.isdir(source):
        raise InputError(
            "is a folder, not a run", "name a file that holds a run", source=str(source), code="cannot-open"
        )
    with open_input(Path(source), hashing=hashing, findings=findings) as opened:
        chosen = forced or detect(opened, RUN)
        assert chosen.read_run is not None  # noqa: S101 # detect and get_format give what reads runs
        return chosen.read_run(opened)


def _read_folder(folder: Path, split: str, forced: Format | None, *, hashing: bool, findings: Reading) -> Judgments:
    """The judgments of a BEIR folder's split, with notes on what is odd about it."""
    from metricpact.bridges.sources.beir import NO_HEADER, joined, notes_on_folder, qrels_in_folder

    parts: list[Judgments] = []
    notes: list[str] = []
    for path in qrels_in_folder(folder, split):
        with open_input(path, hashing=hashing, findings=findings) as opened:
            chosen = forced or detect(opened, QRELS, in_folder=True)
            if chosen.name == "beir" and peek(opened).shown == "rows":
                notes.append(f"{path.name} {NO_HEADER}")
            parts.append(_read_qrels(opened, chosen))
    judgments = joined(parts, folder)
    return judgments.noted(*notes, *notes_on_folder(folder, judgments))


def _read_qrels(opened: Opened, chosen: Format) -> Judgments:
    assert chosen.read_qrels is not None  # noqa: S101 # detect and get_format give what reads qrels
    return chosen.read_qrels(opened)


def _may_be_dataset(name: str) -> bool:
    """Whether a name is no path that exists, and could be the id of a data set."""
    return name != "-" and not os.path.exists(name) and all(part not in ("", ".", "..") for part in name.split("/"))
