"""What a reader has to know beside the numbers of slices: queries that a table or a run does not name."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from metricpact.bridges.sources.known_item_table import KnownItems
from metricpact.crosscheck.slices.slicing import Slicing


def absent_notes(slicing: Slicing, queries: pl.Series) -> list[str]:
    """A note where judged queries have no row in the slice table."""
    absent = slicing.absent(queries)
    return [f"{_some(absent)} no row in the slice table, and in no slice but all: {_few(absent)}"] if absent else []


def crowded_notes(slicing: Slicing) -> list[str]:
    """A note for each column with a value for nearly every query."""
    return [f"column {name} has a slice for nearly every query: choose columns with --by" for name in slicing.crowded()]


def lacking_notes(items: KnownItems, names: Sequence[str] | None = None) -> list[str]:
    """A note for each run of a known-item table (all, unless named) without a row for some question."""
    notes, known = [], items.expected.queries
    for name in items.runs if names is None else dict.fromkeys(names):
        lacking = known.filter(~known.is_in(items.runs[name].queries.implode())).to_list()
        if lacking:
            notes.append(f"{name}: {_some(lacking)} no row, which counts as nothing found: {_few(lacking)}")
        silent = items.none_rows.filter((pl.col("run") == name) & ~pl.col("listed"))["query_id"].to_list()
        if silent:
            notes.append(f"{name}: {_some(silent, 'NONE ')} no row, which is not scored: {_few(silent)}")
    return notes


def _some(ids: Sequence[str], kind: str = "") -> str:
    return f"1 {kind}query has" if len(ids) == 1 else f"{len(ids)} {kind}queries have"


def _few(ids: Sequence[str]) -> str:
    return ", ".join(ids[:5]) + (", …" if len(ids) > 5 else "")
