"""TREC files: qrels of four columns, runs of six (or five, without a tag)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
from metricpact.bridges.sources.findings import Reading
from metricpact.bridges.sources.layout import Layout
from metricpact.bridges.sources.lines import Columns, read_lines
from metricpact.bridges.sources.streams import Stream
from metricpact.contracts.errors import InputError
from metricpact.contracts.tables import MAX_GRADE, Floats, Ints, Judgments, Origin, Run, whole_grades

QRELS = Layout(
    "TREC qrels file",
    {"query": "id", "iteration": "skip", "document": "id", "grade": "number"},
    noted="iteration",
)
RUN = Layout(
    "TREC run file",
    {"query": "id", "Q0": "skip", "document": "id", "rank": "integer", "score": "number", "tag": "skip"},
    tail=1,
    noted="tag",
)


def read_trec_qrels(stream: Stream, slices: Iterator[bytes]) -> Judgments:
    """Judgments from TREC qrels; raises ``InputError`` with the line at fault."""
    return judgments_from(read_lines(stream, slices, QRELS), stream)


def read_trec_run(stream: Stream, slices: Iterator[bytes], tag: str | None = None) -> Run:
    """A run from a TREC run file; raises ``InputError`` with the line at fault.

    A rank column that does not hold integers is a fault only to a contract that looks at it.
    """
    return run_from(read_lines(stream, slices, RUN), stream, tag)


def judgments_from(columns: Columns, stream: Stream) -> Judgments:
    """Judgments from the columns of a file."""
    origin = origin_of(columns, stream)
    grades = columns.column("grade").to_numpy()
    if stream.findings.watching and (np.abs(grades) >= MAX_GRADE).any():
        grades = _without_beyond(grades, origin, stream.findings)
    grades = whole_grades(grades, origin)
    return Judgments.from_blocks(columns.query_blocks(), columns.column("document"), grades, origin=origin)


def run_from(columns: Columns, stream: Stream, tag: str | None = None) -> Run:
    """A run from the columns of a file; it empties ``columns``. Score and rank may be absent."""
    blocks, docs = columns.query_blocks(), columns.column("document")
    held = columns.frames[0].columns
    scores = columns.column("score").to_numpy() if "score" in held else None
    ranks = columns.column("rank") if "rank" in held else None
    origin = origin_of(columns, stream, tag)
    columns.frames.clear()  # the parsed slices are large; what is needed of them was taken
    fault, whole = (None, None) if ranks is None else _rank_fault(ranks, origin)
    return Run.from_blocks(blocks, docs, scores, whole, origin=origin, rank_fault=fault)


def _without_beyond(grades: Floats, origin: Origin, findings: Reading) -> Floats:
    """Grades with 0 for those that no double holds exactly, each of which is told as a fault."""
    kept = grades.copy()
    for row in np.flatnonzero(np.abs(grades) >= MAX_GRADE).tolist():
        try:
            whole_grades(grades[row : row + 1], Origin(origin.name, origin.line(row) or 0))
        except InputError as error:
            findings.fault(error)
        kept[row] = 0
    return kept


def origin_of(columns: Columns, stream: Stream, tag: str | None = None) -> Origin:
    """Where the rows of a file came from."""
    first, lines = columns.lines()
    return Origin(stream.name, first, lines, sha256=stream.sha256, tag=tag)


def _rank_fault(ranks: pl.Series, origin: Origin) -> tuple[InputError | None, Ints | None]:
    if ranks.dtype != pl.String:
        return None, ranks.to_numpy()
    whole = ranks.str.to_integer(strict=False) if len(ranks) else ranks
    if not whole.null_count():
        return None, whole.to_numpy()
    bad = int(np.flatnonzero(whole.is_null().to_numpy())[0])
    return (
        InputError(
            f"rank {ranks[bad]!r} is not an integer",
            "where the rank column means nothing: --set rank_conflict=ignore",
            source=origin.name,
            line=origin.line(bad),
        ),
        None,
    )
