"""Selections from CSV: one row a unit, with a header; an empty cell says nothing."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

import polars as pl
from metricpact.bridges.evidence.documents import Record, Source, checked, csv_records
from metricpact.bridges.evidence.selection_lines import within_limits
from metricpact.contracts.evidence.tables import OFFSETS, UNIT, UNIT_FIELDS, Columns, Selection

_INTEGER = r"^[+-]?[0-9]{1,15}$"
_ROW: Columns = {**UNIT, "rank": pl.Int64}


def header_of(source: Source) -> list[str]:
    """The names in the first line."""
    line = source.data.split(b"\n", 1)[0].decode("utf-8", "replace")
    return [column.strip().strip('"') for column in line.split(",")]


def read_csv(source: Source) -> Selection:
    """The units of a CSV file; raises ``InputError`` with line and task for columns and cells that are wrong."""
    columns = header_of(source)
    known = ["task", *UNIT_FIELDS, "rank"]
    for column in columns:
        if column not in known:
            near = get_close_matches(column, known, 1)
            raise source.error(
                f"the header has an unknown column {column!r}" + (f": did you mean {near[0]!r}?" if near else ""),
                f"known columns: {', '.join(known)}",
                1,
            )
    for column in ("task", "document"):
        if column not in columns:
            raise source.error(
                f"the header has no column {column!r}",
                "task and document are needed; unit, source, revision, start, end, text, rank where they are known",
                1,
            )
    frame = _plain(source, columns)
    if frame is None:
        frame = pl.DataFrame(list(_rows(source, csv_records(source))), _ROW, orient="row")
    if "rank" in columns:
        frame = _by_rank(source, frame)
    units = frame.drop("rank")
    answered = units["task"].unique(maintain_order=True)
    return Selection(source.name, units, answered, sha256=source.sha256)


def _plain(source: Source, columns: Sequence[str]) -> pl.DataFrame | None:
    """The rows of a file without quotes, read by columns; None where the exact reader has to look.

    A parser may fill up short rows and skip blank ones: the commas and lines in the bytes have to be those of the rows.
    """
    data = source.data
    if b'"' in data or b"\r" in data or len(set(columns)) < len(columns):
        return None
    try:
        frame = pl.read_csv(io.BytesIO(data), infer_schema=False)
    except (pl.exceptions.PolarsError, ValueError):
        return None
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    if lines != frame.height + 1 or data.count(b",") != lines * (len(columns) - 1) or not frame.height:
        return None
    frame.columns = list(columns)
    numbers = [name for name in (*OFFSETS, "rank") if name in columns]
    if any(not frame[name].drop_nulls().str.contains(_INTEGER).all() for name in numbers):
        return None
    missing = [pl.lit(None, dtype=kind).alias(name) for name, kind in _ROW.items() if name not in columns]
    rows = frame.with_columns(pl.col(numbers).cast(pl.Int64), *missing).with_columns(
        pl.int_range(2, pl.len() + 2, dtype=pl.Int64).alias("line")
    )
    if rows["task"].null_count() or rows["document"].null_count() or not within_limits(rows):
        return None
    return rows.select(*_ROW)


def _rows(source: Source, records: Iterable[Record]) -> Iterator[tuple[Any, ...]]:
    for record in records:
        cells = dict(record.value)
        task = cells.pop("task")
        if task is None:
            raise source.error("the row names no task", "fill the column task", record.line)
        for column in (*OFFSETS, "rank"):
            if cells.get(column) is not None:
                cells[column] = _integer(source, record.line, task, column, cells[column])
        rank = cells.pop("rank", None)
        unit = {name: cell for name, cell in cells.items() if cell is not None}
        checked([Record(record.line, {"task": task, "units": [unit]})], "selection", source.name, "task")
        yield (task, record.line, *(unit.get(name) for name in UNIT_FIELDS), rank)


def _integer(source: Source, line: int | None, task: str, column: str, cell: str) -> int:
    if not re.fullmatch(_INTEGER, cell):
        raise source.error(
            f"task {task!r}: {column} is {cell!r}, not an integer", "count characters and ranks in whole numbers", line
        )
    return int(cell)


def _by_rank(source: Source, frame: pl.DataFrame) -> pl.DataFrame:
    """The rows in the order of their rank; raises ``InputError`` for one that is missing or there twice in a task."""
    faulty = frame.filter(
        pl.col("rank").is_null() | (pl.col("rank") < 1) | ~pl.struct("task", "rank").is_first_distinct()
    )
    for row in faulty.head(1).iter_rows(named=True):
        rank = row["rank"]
        fact = "has no rank" if rank is None else f"has rank {rank}" + (", below 1" if rank < 1 else " once more")
        raise source.error(f"task {row['task']!r}: a unit {fact}", "ranks count 1, 2, 3, … within a task", row["line"])
    return frame.sort("rank", maintain_order=True)
