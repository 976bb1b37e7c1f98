"""Rows sorted inside their queries: only the queries that are out of order, all of one length at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from metricpact.contracts.tables import Ints


def within(pairs: npt.NDArray[np.bool_], starts: Ints) -> npt.NDArray[np.bool_]:
    """Flags of neighbouring rows, cleared where the second one begins another query."""
    pairs[starts[1:] - 1] = False
    return pairs


def queries_of(rows: Ints, starts: Ints) -> Ints:
    """The distinct queries (by place) that some rows belong to."""
    return np.unique(np.searchsorted(starts, rows, side="right") - 1)


def sort_rows(order: Ints, starts: Ints, queries: Ints, *keys: npt.NDArray[Any]) -> None:
    """Sort the rows of some queries stably in place, by the last key first; a key has a value for every row.

    Queries of one length form a matrix that is sorted along its rows at once, which is several times faster than
    sorting all rows by query and key.
    """
    lengths = np.diff(np.append(starts, len(order)))[queries]
    for length in np.unique(lengths):
        begins = starts[queries[lengths == length]]
        places = begins[:, None] + np.arange(length)
        rows = order[places]
        for key in keys:
            rows = np.take_along_axis(rows, np.argsort(key[rows], axis=1, kind="stable"), axis=1)
        order[places] = rows
