"""Rows of judgments and runs that come twice, and queries whose rows do not lie together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from metricpact.bridges.sources.findings import Findings
from metricpact.contracts.rows import Codes, Keys, repeated_rows
from metricpact.contracts.tables import Ints, Table

Some = Iterator[tuple[str, dict[str, Any]]]


def repeats(table: Table, keys: Keys, codes: Codes) -> tuple[Ints, Ints]:
    """Every row that repeats a (query, document), and the first row of each; ``keys`` are of the table's ``codes``."""
    rows = repeated_rows(keys, table.docs, codes)
    frame = pl.DataFrame({"query": codes[rows], "document": table.docs.gather(rows), "row": rows})
    again = frame.with_columns(first=pl.col("row").first().over("query", "document")).filter(
        pl.col("row") != pl.col("first")
    )
    return again["row"].to_numpy(), again["first"].to_numpy()


def at_rows(table: Table, *rows: int) -> dict[str, Any]:
    """Query, document and lines for a finding at some rows; query and document are those of the first."""
    row = rows[0]
    lines = tuple(line for at in rows if (line := table.origin.line(at)) is not None)
    query = int(np.searchsorted(table.offsets, row, side="right")) - 1
    return {"lines": lines, "query": table.queries[query], "document": table.docs[row]}


def counted(count: int, word: str, several: str = "") -> str:
    """A count with its word: 1 tie, 2 ties."""
    return f"{count} {word if count == 1 else several or word + 's'}"


def named(ids: pl.Series | list[str]) -> str:
    """The first few ids."""
    return ", ".join(ids[:5]) + (", …" if len(ids) > 5 else "")


def over_queries(findings: Findings, code: str, message: str, queries: pl.Series, line: int | None = None) -> None:
    """One finding for some queries, all of which it names."""
    if len(queries):
        findings.add(
            code,
            f"{message}: {len(queries)} ({named(queries)})",
            lines=() if line is None else (line,),
            count=len(queries),
            queries=tuple(queries),
        )


def check_scattered(table: Table, findings: Findings) -> None:
    """Queries whose rows stand in several places of the input."""
    moved = table.origin.moved
    if moved is None:
        return
    codes = table.codes
    breaks = np.flatnonzero((np.diff(moved) != 1) & (codes[1:] == codes[:-1])) + 1
    scattered = np.unique(codes[breaks])
    line = table.origin.line(int(breaks[0])) if len(breaks) else None
    over_queries(findings, "scattered-query", "queries whose rows do not lie together", table.queries[scattered], line)
