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


def lacking_notes(items: KnownItems) -> list[str]:
    """A note for each run of a known-item table without a row for some question."""
    notes, known = [], items.expected.queries
    for name, run in items.runs.items():
        lacking = known.filter(~known.is_in(run.queries.implode())).to_list()
        if lacking:
            notes.append(f"{name}: {_some(lacking)} no row, which counts as nothing found: {_few(lacking)}")
    return notes


def _some(ids: Sequence[str]) -> str:
    return "1 query has" if len(ids) == 1 else f"{len(ids)} queries have"


def _few(ids: Sequence[str]) -> str:
    return ", ".join(ids[:5]) + (", …" if len(ids) > 5 else "")
