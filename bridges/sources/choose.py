"""The right reader for an input, by its content: the one place that knows which formats there are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from metricpact.bridges.sources.beir import is_header, qrels_in_folder, read_beir_qrels
from metricpact.bridges.sources.findings import PLAIN, Reading
from metricpact.bridges.sources.json_file import read_json_qrels, read_json_run
from metricpact.bridges.sources.lines import first_fields
from metricpact.bridges.sources.objects import judgments_from_object, run_from_object
from metricpact.bridges.sources.streams import Stream, open_stream
from metricpact.bridges.sources.trec import QRELS, RUN, read_trec_qrels, read_trec_run
from metricpact.contracts.errors import InputError
from metricpact.contracts.tables import Judgments, Run

BEIR_COLUMNS = 3
FORMATS = ("trec", "beir", "json")
"""The formats that can be forced."""
_BINARY = {b"PAR1": "Parquet", b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\xfd7zX": "xz", b"\x04\x22\x4d\x18": "lz4"}


def read_judgments(
    source: Any,
    *,
    format: str | None = None,  # noqa: A002 # the flag's name
    split: str = "test",
    hashing: bool = False,
    findings: Reading = PLAIN,
) -> Judgments:
    """Judgments from a path (TREC, BEIR TSV or folder, JSON; ``-`` is standard input) or a Python object.

    ``format`` forces one of ``FORMATS``, ``split`` names the qrels of a BEIR folder, ``hashing`` takes the
    SHA-256 of a file while it is read. Raises ``InputError`` with file and line.
    """
    if isinstance(source, Judgments):
        return source
    if not isinstance(source, str | os.PathLike):
        return judgments_from_object(source)
    _check_format(format)
    path, in_folder = Path(source), str(source) != "-" and os.path.isdir(source)
    if in_folder:
        path = qrels_in_folder(path, split)
    stream, slices, head = _open(path, hashing, findings)
    match format or _qrels_format(stream, head, in_folder=in_folder):
        case "json":
            return read_json_qrels(stream, b"".join(slices))
        case "beir":
            return read_beir_qrels(stream, slices, head)
        case _:
            return read_trec_qrels(stream, slices)


def read_run(source: Any, *, format: str | None = None, hashing: bool = False, findings: Reading = PLAIN) -> Run:  # noqa: A002 # the flag's name
    """A run from a path (TREC or JSON; ``-`` is standard input) or a Python object; see ``read_judgments``."""
    if isinstance(source, Run):
        return source
    if not isinstance(source, str | os.PathLike):
        return run_from_object(source)
    _check_format(format)
    if str(source) != "-" and os.path.isdir(source):
        raise InputError("is a folder, not a run", f"a run file reads: {RUN.shape}", source=str(source))
    stream, slices, head = _open(Path(source), hashing, findings)
    if format == "json" or (format is None and head.lstrip()[:1] == b"{"):
        return read_json_run(stream, b"".join(slices))
    if format == "beir":
        raise InputError("BEIR has no format for runs", f"a TREC run file reads: {RUN.shape}", source=stream.name)
    fields, _, _ = first_fields(head)
    tag = fields[5].decode("utf-8", "replace") if len(fields) == len(RUN.columns) else None
    return read_trec_run(stream, slices, tag)


def _open(path: Path, hashing: bool, findings: Reading) -> tuple[Stream, Iterator[bytes], bytes]:
    """A stream, its slices, and the first of them; raises ``InputError`` for an empty or binary input."""
    stream = open_stream(path, hashing=hashing, findings=findings)
    for magic, kind in _BINARY.items():
        if stream.head.startswith(magic):
            stream.close()
            raise InputError(f"is a {kind} file, which is not read here", "unpack or convert it", source=stream.name)
    slices = stream.slices()
    head = next(slices, b"")
    if not head.strip():
        rest = chain([head], slices)
        if not any(part.strip() for part in rest):
            raise InputError("the file is empty", "name a file that holds rows", source=stream.name, code="no-rows")
        raise InputError("the file begins with megabytes of blanks", "name a text file", source=stream.name)
    return stream, chain([head], slices), head


def _check_format(name: str | None) -> None:
    if name is not None and name not in FORMATS:
        raise InputError(f"{name!r} is not a format", f"choose from: {', '.join(FORMATS)}")


def _qrels_format(stream: Stream, head: bytes, *, in_folder: bool) -> str:
    """The format that the first line shows; raises ``InputError`` for one that can be read in two ways."""
    if head.lstrip()[:1] == b"{":
        return "json"
    blanks, tabs, line = first_fields(head)
    trec, beir = len(blanks) == len(QRELS.columns), len(tabs) == BEIR_COLUMNS
    if is_header(tabs) or (beir and not trec):
        return "beir"
    if trec and (beir or in_folder):
        what = "4 columns with blanks, 3 with tabs" if beir else "4 columns where a BEIR qrels file has 3"
        raise InputError(
            what, "--format trec reads 4 columns, --format beir reads 3 between tabs", source=stream.name, line=line
        )
    return "beir" if in_folder else "trec"
