"""Slices: the queries that share a value in a column of a table, or values in several columns crossed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import numpy.typing as npt
import polars as pl
from metricpact.contracts.errors import InputError

ALL = "all"


@dataclass(frozen=True)
class Slice:
    """A slice's name (``language=en``, ``language=en,paraphrase=yes``; ``all``) and what its queries share."""

    name: str
    values: tuple[tuple[str, str], ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the slice looks at."""
        return tuple(column for column, _ in self.values)


@dataclass(frozen=True, eq=False)
class Slicing:
    """A table with ``query_id`` and text columns, one row a query, and the columns to cross.

    An empty cell puts a query into no slice of that column. Raises ``InputError`` for a crossing of columns that
    are not there.
    """

    table: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema={"query_id": pl.String}))
    crossings: Sequence[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for crossing in self.crossings:
            for column in crossing:
                if column not in self.columns:
                    raise InputError(
                        f"there is no slice column {column!r}", f"the columns are: {', '.join(self.columns) or 'none'}"
                    )

    @property
    def columns(self) -> list[str]:
        """The slice columns."""
        return [name for name in self.table.columns if name != "query_id"]

    def slices(self) -> list[Slice]:
        """``all``, each value of each column in order of appearance, then the crossings that have a query."""
        found = [Slice(ALL)]
        for columns in [(name,) for name in self.columns] + list(self.crossings):
            values = [self.table[name].drop_nulls().unique(maintain_order=True).to_list() for name in columns]
            there = set(self.table.select(columns).drop_nulls().iter_rows())
            for chosen in product(*values):
                if chosen in there:
                    pairs = tuple(zip(columns, chosen, strict=True))
                    found.append(Slice(",".join(f"{name}={value}" for name, value in pairs), pairs))
        return found

    def members(self, queries: pl.Series) -> list[tuple[Slice, npt.NDArray[np.bool_]]]:
        """Every slice with a mask over some query ids; ``all`` holds all of them, in the table or not."""
        rows = pl.DataFrame({"query_id": queries}).join(self.table, on="query_id", how="left", maintain_order="left")
        masks = []
        for part in self.slices():
            mask = np.ones(len(queries), np.bool_)
            for column, value in part.values:
                mask &= (rows[column] == value).fill_null(False).to_numpy()
            masks.append((part, mask))
        return masks

    def absent(self, queries: pl.Series) -> list[str]:
        """The queries that have no row in the table, where it has columns at all."""
        return queries.filter(~queries.is_in(self.table["query_id"].implode())).to_list() if self.columns else []
