"""One file turned into another format. Nothing is lost without a word.

What a format has no place for is refused by its writer; what the writer could not foresee shows when the written file
is read back (``place``).
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from metricpact.bridges.sinks.choose import STANDARD, sink_for
from metricpact.bridges.sinks.place import put
from metricpact.bridges.sinks.trec import DEFAULT_TAG
from metricpact.bridges.sources.choose import read_judgments, read_run
from metricpact.bridges.sources.findings import Findings, Reading
from metricpact.bridges.sources.registry import QRELS, RUN, peek
from metricpact.bridges.sources.streams import open_input
from metricpact.contracts.errors import InputError, MetricpactError
from metricpact.contracts.tables import Judgments, Run

DROPS = {
    "empty": "queries without rows",
    "rank": "the rank column",
    "order": "the order of rows between queries that are scattered over the file",
}
"""What may be left out where it is asked for."""


@dataclass(frozen=True)
class Converted:
    """What was written: the format, whether qrels or a run, how much, and what a reader has to be told."""

    target: str
    format: str
    kind: str
    rows: int
    queries: int
    notes: tuple[str, ...]


class _Watched(Findings):
    """Findings for the values of columns that are not kept; a fault is raised all the same."""

    def fault(self, error: InputError) -> None:
        Reading.fault(self, error)


def convert(
    source: Any,
    target: str | os.PathLike[str],
    *,
    to: str | None = None,
    kind: str | None = None,
    format: str | None = None,  # noqa: A002 # the flag's name
    split: str = "test",
    tag: str | None = None,
    drop: Collection[str] = (),
    force: bool = False,
) -> Converted:
    """Convert judgments or a run (a path or a Python object) to a file, lossless or refused.

    ``to`` names the format (default: what the target's name stands for), ``kind`` says qrels or run where the source
    could be both, ``drop`` names what may be lost (``DROPS``). A target that is a folder becomes a BEIR folder's
    qrels of ``split``; ``-`` is standard output. Raises ``InputError``, and then no file is written or changed.
    """
    name = os.fspath(target)
    for wanted in drop:
        if wanted not in DROPS:
            raise InputError(f"{wanted!r} is nothing that can be dropped", f"choose from: {', '.join(DROPS)}")
    if tag is not None and tag.split() != [tag]:
        raise InputError(f"tag {tag!r} is not one word", "a tag is text without blanks")
    if kind not in (None, QRELS, RUN):
        raise InputError(f"{kind!r} is not a kind", f"choose from: {QRELS}, {RUN}")
    if name != STANDARD and (name.endswith("/") or os.path.isdir(name)):
        if to not in (None, "beir"):
            raise InputError(f"a folder becomes BEIR's, and not {to}", "name a file in it", source=name)
        name, to, kind = str(Path(name) / "qrels" / f"{split}.tsv"), "beir", kind or QRELS
    _check_target(name, force=force)
    table, seen = _read(source, kind, format, split)
    table, notes = _told(_without(table, drop), seen, tag)
    kind = RUN if isinstance(table, Run) else QRELS
    sink = sink_for(name, kind, to)
    if isinstance(table, Run) and table.origin.tag and sink.name != "trec":
        notes.append(f"the tag {table.origin.tag!r} is not kept: {sink.name} has no place for it")
    if isinstance(table, Run) and not table.origin.tag and sink.name == "trec":
        notes.append(f"the run has no tag: {DEFAULT_TAG!r} is written")
    put(table, sink, name)
    return Converted(name, sink.name, kind, len(table), len(table.queries), tuple(notes))


def _read(source: Any, kind: str | None, form: str | None, split: str) -> tuple[Judgments | Run, _Watched]:
    """The table, as what it can be read; raises ``InputError`` where it can be read both ways, or neither."""
    tables: dict[str, tuple[Judgments | Run, _Watched]] = {}
    errors: dict[str, MetricpactError] = {}
    if kind is None and (str(source) == STANDARD or hasattr(source, "__next__")):
        raise InputError("what can be read once only does not show whether it is qrels or a run", "say --kind")
    for wanted in (QRELS, RUN) if kind is None else (kind,):
        seen = _Watched("")
        try:
            if wanted == QRELS:
                tables[wanted] = read_judgments(source, format=form, split=split, findings=seen), seen
            else:
                tables[wanted] = read_run(source, format=form, findings=seen), seen
        except MetricpactError as error:
            errors[wanted] = error
    if len(tables) == 1:
        return next(iter(tables.values()))
    if tables:
        if _is_surely_run(tables[QRELS][0], tables[RUN][0]):
            return tables[RUN]
        if _has_beir_header(source):
            return tables[QRELS]
        raise InputError(
            "this can be read as qrels and as a run", "say which: --kind qrels or --kind run", source=_name(source)
        )
    # The reading that came further shows what the file was meant to be.
    raise max(errors.values(), key=lambda error: getattr(error, "line", None) or 0)


def _is_surely_run(judgments: Judgments | Run, run: Judgments | Run) -> bool:
    """Whether what can be read as both has ranks, or numbers with fractions: both are a run's."""
    has_ranks = isinstance(run, Run) and run.ranks is not None
    return has_ranks or (isinstance(judgments, Judgments) and judgments.grades.dtype.kind == "f")


def _has_beir_header(source: Any) -> bool:
    """Whether a file begins with the very header of BEIR's qrels, which calls grades scores."""
    if not isinstance(source, str | os.PathLike) or not os.path.isfile(source):
        return False
    with open_input(Path(source)) as opened:
        return [name.strip().lower() for name in peek(opened).tabs] == [b"query-id", b"corpus-id", b"score"]


def _name(source: Any) -> str:
    return str(source) if isinstance(source, str | os.PathLike) else type(source).__name__


def _without(table: Judgments | Run, drop: Collection[str]) -> Judgments | Run:
    """The table without what may be dropped."""
    if "order" in drop:
        table = replace(table, origin=replace(table.origin, moved=None, lines=None, first_line=0))
    if "empty" in drop:
        full = np.diff(table.offsets) > 0
        offsets = np.append(table.offsets[:-1][full], table.offsets[-1])
        table = replace(table, queries=table.queries.filter(pl.Series(full)), offsets=offsets)
    if "rank" in drop and isinstance(table, Run):
        if table.scores is None and table.ranks is not None:
            raise InputError(
                "the ranks are all that orders this run", "convert without --drop rank", source=table.origin.name
            )
        table = replace(table, ranks=None, rank_fault=None)
    return table


def _told(table: Judgments | Run, seen: _Watched, tag: str | None) -> tuple[Judgments | Run, list[str]]:
    """The table with its tag, and notes on what is not kept; raises ``InputError`` for what cannot be told away."""
    notes = [*table.origin.notes]
    for code, what in (("comment-line", "comment lines"), ("byte-order-mark", "a byte order mark")):
        if found := seen.noticed(code):
            notes.append(f"{what} (line {found[0]}, {found[1]} in all) not kept")
    iterations = [value for value in seen.values.get("iteration", {}) if value != "0"]
    if iterations:
        notes.append(f"the second column of the qrels ({', '.join(iterations)}) is not kept")
    if isinstance(table, Run):
        if table.rank_fault is not None:
            fault = table.rank_fault
            raise InputError(fault.bare, "--drop rank leaves the rank column out", source=fault.source, line=fault.line)
        tags = seen.values.get("tag", {})
        if len(tags) > 1 and tag is None:
            shown = ", ".join(f"{found!r} from line {line}" for found, line in tags.items())
            raise InputError(
                f"the run holds more than one tag: {shown}",
                "split the file, or name one with --tag",
                source=table.origin.name,
            )
        if tag is not None:
            table = replace(table, origin=replace(table.origin, tag=tag))
    return table, notes


def _check_target(name: str, *, force: bool) -> None:
    """Raise ``InputError`` for a target that may not be written."""
    if name == STANDARD:
        return
    if os.path.exists(name) and not os.path.isfile(name):
        raise InputError("is no regular file", "name a file, or - for standard output", source=name)
    if os.path.exists(name) and not force:
        raise InputError("there is such a file already", "--force overwrites it", source=name)
