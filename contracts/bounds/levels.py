"""The gains that an unjudged document can have, and the levels at which a query's ideal list changes its length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from metricpact.contracts.bounds.gaps import Bools
from metricpact.contracts.contract import Contract
from metricpact.contracts.definitions import gains
from metricpact.contracts.prefixes import Prefixes
from metricpact.contracts.tables import Floats, Ints

_LISTED = 1 << 16
"""Grades up to here are listed one by one where that is needed."""


@dataclass(frozen=True)
class Reach:
    """The gains that an unjudged document can have: 0 up to ``top``.

    ``gains`` lists them (ascending) where a judged document may have a gain that is not among them; it is None where
    every judged gain up to ``top`` is taken as possible, which it is if ``exact``.
    """

    top: float
    gains: Floats | None
    exact: bool


def reach_of(max_grade: float, prefixes: Prefixes, contract: Contract) -> Reach:
    """What an unjudged document of a grade up to ``max_grade`` can be worth.

    Grades are integers; a gain table adds the fractional grades that it lists. Raises ``LimitError`` for too large a
    gain.
    """
    whole = int(max_grade)
    if not isinstance(contract.gain, tuple):
        return Reach(float(gains(np.array([whole]), contract)[0]), None, exact=True)
    listed = np.array([grade for grade, _ in contract.gain if 0 <= grade <= max_grade])
    # Unlisted grades keep themselves: the largest of them is among the last few.
    lowest = 0 if whole <= _LISTED else whole - len(contract.gain)
    worth = np.unique(gains(np.concatenate([listed, np.arange(lowest, whole + 1)]), contract))
    if prefixes.judged.largest <= max_grade:
        return Reach(float(worth[-1]), None, exact=True)  # what is judged can be had
    return Reach(float(worth[-1]), worth if lowest == 0 else None, exact=lowest == 0)


@dataclass(frozen=True, eq=False)
class Levels:
    """Levels of gain by query and falling gain, the distance ``step`` from each down to the next.

    ``count`` judged documents of the query have this gain or more. Unjudged ones can have it only where it is
    ``free`` (not above the greatest possible gain); levels of one ``tier`` lie between two neighbouring possible
    gains, so that an unjudged document has all of them or none.
    """

    query: Ints
    step: Floats
    count: Ints
    free: Bools
    tier: Ints


def levels_of(prefixes: Prefixes, contract: Contract, wanted: Bools, reach: Reach) -> Levels:
    """The levels of the wanted queries: the gains in the ideal list, and the greatest that is possible."""
    if contract.ideal == "returned":
        query, worth = prefixes.hits.query, gains(prefixes.hit_grades, contract)
    else:
        query, worth = prefixes.judged.query, gains(prefixes.judged.grades, contract)
    counted = wanted[query] & (worth > 0)
    query, worth = query[counted], worth[counted]
    every = np.flatnonzero(wanted)
    added: list[npt.NDArray[Any]] = [every]
    marks = [np.full(len(every), reach.top)]
    if reach.gains is not None:
        # A judged gain that no unjudged document can have lies between two that it can.
        odd = np.flatnonzero((worth < reach.top) & ~np.isin(worth, reach.gains))
        next_up = np.searchsorted(reach.gains, worth[odd])
        added += [query[odd], query[odd]]
        marks += [reach.gains[next_up - 1], reach.gains[next_up]]
    queries, levels = np.concatenate([query, *added]), np.concatenate([worth, *marks])
    one = np.repeat([1, 0], [len(query), len(queries) - len(query)])
    kept = levels > 0
    queries, levels, one = queries[kept], levels[kept], one[kept]
    by = np.lexsort((-levels, queries))
    queries, levels, one = queries[by], levels[by], one[by]
    total = np.cumsum(one)
    last = np.flatnonzero((np.diff(queries, append=-1) != 0) | (np.diff(levels, append=0.0) != 0))
    queries, levels, total = queries[last], levels[last], total[last]
    begins = np.diff(queries, prepend=-1) != 0
    before = np.concatenate([[0], total])[np.flatnonzero(begins)]  # judged documents of all earlier queries
    count = total - before[np.cumsum(begins) - 1]
    ends = np.append(begins[1:], True)
    step = levels - np.where(ends, 0.0, np.append(levels[1:], 0.0))
    if reach.gains is None:
        tier = np.arange(len(levels))
    else:
        ceiling = np.searchsorted(reach.gains, levels)
        tier = np.cumsum(begins | (np.diff(ceiling, prepend=-1) != 0))
    return Levels(queries, step, count, levels <= reach.top, tier)
