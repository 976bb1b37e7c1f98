"""Slices: the queries that share a value in a column of a table, or values in several columns crossed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl
from metricpact.contracts.errors import InputError

ALL = "all"
CROWD = 9
"""Up to so many values a column is never called crowded."""


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
    """A table with ``query_id`` and text columns, one row a query, the columns to slice ``by`` and those to cross.

    An empty cell puts a query into no slice of that column; with ``by`` None all columns are sliced.
    """

    table: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema={"query_id": pl.String}))
    crossings: Sequence[tuple[str, ...]] = ()
    by: tuple[str, ...] | None = None

    @classmethod
    def of(cls, table: pl.DataFrame, by: Sequence[str] | None = None, cross: Sequence[Sequence[str]] = ()) -> Slicing:
        """Slices by some columns of a table (all of them, unless named) and some crossings of these.

        Raises ``InputError`` for a column that is not there, and for a crossing of fewer than two columns.
        """
        whole = cls(table)
        chosen = whole.columns if by is None else list(dict.fromkeys(by))
        for name in chosen:
            whole.require(name)
        for crossing in cross:
            for name in crossing:
                whole.require(name)
            if len(set(crossing)) < 2:
                raise InputError(
                    f"{','.join(crossing)!r} crosses nothing", "name two columns or more, such as language,paraphrase"
                )
        kept = [*chosen, *(name for crossing in cross for name in crossing)]
        return cls(table.select("query_id", *dict.fromkeys(kept)), tuple(map(tuple, cross)), tuple(chosen))

    def require(self, column: str) -> None:
        """Raise ``InputError`` where the table has no such column."""
        if column not in self.table.columns or column == "query_id":
            others = [name for name in self.table.columns if name != "query_id"]
            raise InputError(f"there is no slice column {column!r}", f"there are: {', '.join(others) or 'none'}")

    @property
    def columns(self) -> list[str]:
        """The columns that are sliced by themselves."""
        if self.by is not None:
            return list(self.by)
        return [name for name in self.table.columns if name != "query_id"]

    def slices(self) -> list[Slice]:
        """``all``, each value of each column in order of appearance, then the crossings that have a query."""
        found = [Slice(ALL)]
        for columns in [(name,) for name in self.columns] + list(self.crossings):
            places = [
                {value: at for at, value in enumerate(self.table[name].drop_nulls().unique(maintain_order=True))}
                for name in columns
            ]
            there = set(self.table.select(columns).drop_nulls().iter_rows())
            for chosen in sorted(there, key=lambda row: [at[value] for at, value in zip(places, row, strict=True)]):
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

    def crowded(self) -> list[str]:
        """The columns that have nearly as many values as queries: free text more likely than a way to slice."""
        rows = len(self.table)
        return [name for name in self.columns if self.table[name].n_unique() > max(rows / 2, CROWD)]

    def absent(self, queries: pl.Series) -> list[str]:
        """The queries that have no row in the table, where it has columns at all."""
        if len(self.table.columns) < 2:
            return []
        return queries.filter(~queries.is_in(self.table["query_id"].implode())).to_list()
