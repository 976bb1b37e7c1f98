"""A run as lint looks at it: what several checks need, each worked out once and only when it is asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from metricpact.contracts.rows import Keys, row_keys
from metricpact.contracts.sorting import queries_of, sort_rows, within
from metricpact.contracts.tables import Floats, Ints, Run

Flags = npt.NDArray[np.bool_]


class Rankings:
    """A run with its rows in evaluated order (by falling score, ties as listed; without scores by rank).

    A *place* is the index of a row in that order; places of one query lie together, as its rows do.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.depths: Ints = np.diff(run.offsets)
        self.starts: Ints = run.offsets[:-1][self.depths > 0]
        self.codes = run.codes

    @cached_property
    def keys(self) -> Keys:
        """A key for every row, from the run's own query codes."""
        return row_keys(self.run.docs, self.codes)

    @cached_property
    def rising(self) -> Flags:
        """Rows whose successor in the same query has a higher score."""
        scores = self.run.scores
        return np.zeros(0, np.bool_) if scores is None else within(scores[1:] > scores[:-1], self.starts)

    @cached_property
    def order(self) -> Ints | None:
        """The row at every place, None where rows stand in order already."""
        run = self.run
        key: npt.NDArray[Any]
        if run.scores is not None:
            key, astray = -run.scores, self.rising
        elif run.ranks is not None:
            key, astray = run.ranks, within(run.ranks[1:] < run.ranks[:-1], self.starts)
        else:
            return None
        if not astray.any():
            return None
        order = np.arange(len(run))
        sort_rows(order, self.starts, queries_of(np.flatnonzero(astray), self.starts), key)
        return order

    @cached_property
    def scores(self) -> Floats | None:
        """The scores by place."""
        scores = self.run.scores
        return scores if scores is None or self.order is None else scores[self.order]

    @cached_property
    def tied(self) -> Flags:
        """Places whose successor in the same query has the same score."""
        scores = self.scores
        return np.zeros(0, np.bool_) if scores is None else within(scores[1:] == scores[:-1], self.starts)

    @cached_property
    def narrowly_tied(self) -> Flags:
        """The same in single precision."""
        if self.scores is None:
            return self.tied
        with np.errstate(over="ignore"):
            narrow = self.scores.astype(np.float32)
        return within(narrow[1:] == narrow[:-1], self.starts)

    def row(self, place: int) -> int:
        """The row at a place."""
        return place if self.order is None else int(self.order[place])

    def places(self, rows: Ints) -> Ints:
        """The places of some rows."""
        if self.order is None:
            return rows
        place = np.empty_like(self.order)
        place[self.order] = np.arange(len(place))
        return np.asarray(place[rows])

    def lines(self, *rows: int) -> tuple[int, ...]:
        """The lines of some rows, as far as they have any."""
        return tuple(line for row in rows if (line := self.run.origin.line(row)) is not None)

    def query(self, row: int) -> str:
        """The query of a row."""
        return str(self.run.queries[int(self.codes[row])])

    def nonempty(self) -> pl.Series:
        """The queries that have a document."""
        return self.run.queries.filter(pl.Series(self.depths > 0))
