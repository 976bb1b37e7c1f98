"""Slice tables: ``query_id`` and one text column a way to slice, one row a query."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import polars as pl
from metricpact.bridges.sources.csv_table import read_csv_table
from metricpact.contracts.errors import InputError

_WORD = "slice table"


def read_slice_table(source: Any) -> pl.DataFrame:
    """A slice table: ``query_id`` first, all columns text, null for an empty cell.

    ``source`` is a path of a CSV or TSV file (``-`` is standard input), a polars or pandas frame, or a mapping
    {query id: {column: value}}; nothing of it is changed. Raises ``InputError`` (with file and line, of a file) for
    a row without a query id, and for a query with two rows.
    """
    if isinstance(source, str | os.PathLike):
        table = read_csv_table(str(source), ["query_id"])
        table.no_empty(["query_id"])
        table.no_twins(["query_id"], "query")
        return table.frame.select("query_id", pl.exclude("query_id"))
    frame = _frame(source)
    if "query_id" not in frame.columns:
        raise InputError("there is no column query_id", f"it has: {', '.join(frame.columns) or 'none'}", source=_WORD)
    if frame["query_id"].dtype != pl.String:
        raise InputError(
            f"query_id is {frame['query_id'].dtype}, not text", "cast it first: ids are text", source=_WORD
        )
    if frame["query_id"].null_count() or "" in frame["query_id"]:
        raise InputError("a query id is empty", "give every row one", source=_WORD)
    again = frame["query_id"].filter(frame["query_id"].is_duplicated())
    if len(again):
        raise InputError(f"query {again[0]!r} has two rows", "keep one of them", source=_WORD, query=again[0])
    return frame.select("query_id", pl.exclude("query_id").cast(pl.String).replace("", None))


def _frame(source: Any) -> pl.DataFrame:
    if isinstance(source, pl.DataFrame):
        return source
    if isinstance(source, Mapping) and all(isinstance(values, Mapping) for values in source.values()):
        rows = [{"query_id": query, **values} for query, values in source.items()]
        return pl.DataFrame(rows, infer_schema_length=None, strict=False)
    if type(source).__module__.partition(".")[0] == "pandas":
        return pl.from_pandas(source)
    raise InputError(
        f"slices cannot be read from {type(source).__name__}",
        "pass a path, a frame with query_id, or {query: {column: value}}",
        source=_WORD,
    )
