"""Where judged documents are: at one rank each or, under ``ties=average``, spread evenly over a tie group's ranks.

Everything that is linear in the places (P, R, Judged, DCG) has its expected value over all tie orders from the two
functions here: the probability of being inside the cutoff, and the expected discount.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from metricpact.contracts.contract import Contract
from metricpact.contracts.prefixes import Hits
from metricpact.contracts.tables import Floats, Ints


def discounts(ranks: npt.NDArray[np.int64], contract: Contract) -> Floats:
    """The discount at each rank."""
    return np.asarray(1.0 / np.log2(np.maximum(ranks, 2) if contract.discount == "jk" else ranks + 1.0))


def sums_by(places: npt.NDArray[np.int32] | Ints, values: npt.NDArray[Any], size: int) -> Floats:
    """The sum of the values at each of ``size`` places; ``places`` ascend, so that numpy can sum pairwise.

    A running sum over 10⁵ tied documents is off by 10⁻¹², a pairwise one by 10⁻¹⁶.
    """
    sums = np.zeros(size)
    begins = np.flatnonzero(np.diff(places, prepend=-1))
    if len(begins):
        sums[places[begins]] = np.add.reduceat(values.astype(np.float64), begins)
    return sums


def inside(hits: Hits, cutoff: int | Ints | None) -> Floats:
    """The probability that each hit is in the prefix: 0 or 1 unless a tie group straddles the cutoff.

    ``cutoff`` is one number, one per query, or None for the whole ranking.
    """
    if cutoff is None:
        return np.ones(len(hits.rank))
    limit = cutoff if isinstance(cutoff, int) else cutoff[hits.query]
    if hits.tie_start is None or hits.tie_size is None:
        return (hits.rank <= limit).astype(np.float64)
    return np.asarray(np.clip(limit - hits.tie_start + 1, 0, hits.tie_size) / hits.tie_size)


def discount_inside(hits: Hits, cutoff: int | None, contract: Contract) -> Floats:
    """The expected discount of each hit, 0 outside the cutoff."""
    if hits.tie_start is None or hits.tie_size is None:
        return np.asarray(discounts(hits.rank, contract) * inside(hits, cutoff))
    groups = tie_groups(hits)
    slots = groups.slots(cutoff)
    sums = sums_by(slots.group, discounts(slots.rank, contract), len(groups.start))
    return np.asarray((sums / groups.size)[groups.of_hit])


@dataclass(frozen=True)
class Slots:
    """The ranks of tie groups, one entry each: the group, the rank, and the place in the group from 0."""

    group: Ints
    rank: Ints
    place: Ints


@dataclass(frozen=True)
class TieGroups:
    """The tie groups that hold hits (a document without a tie is a group of one), by query and rank."""

    query: npt.NDArray[np.int32]
    start: Ints
    size: Ints
    of_hit: Ints

    def slots_inside(self, cutoff: int | None) -> Ints:
        """How many ranks of each group are within the cutoff."""
        return self.size if cutoff is None else np.asarray(np.clip(cutoff - self.start + 1, 0, self.size))

    def slots(self, cutoff: int | None) -> Slots:
        """All ranks of all groups within the cutoff."""
        count = self.slots_inside(cutoff)
        group = np.repeat(np.arange(len(count)), count)
        place = np.arange(len(group)) - (np.cumsum(count) - count)[group]
        return Slots(group, self.start[group] + place, place)

    def count(self, flags: npt.NDArray[np.bool_]) -> Floats:
        """How many flagged hits each group holds."""
        return np.asarray(np.bincount(self.of_hit, weights=flags, minlength=len(self.start)), np.float64)


def tie_groups(hits: Hits) -> TieGroups:
    """The tie groups of the hits; needs prefixes built under ``ties=average``."""
    start, size = hits.tie_start, hits.tie_size
    if start is None or size is None:
        start, size = hits.rank, np.ones_like(hits.rank)
    begins = np.ones(len(start), np.bool_)
    begins[1:] = (np.diff(hits.query) != 0) | (np.diff(start) != 0)
    first = np.flatnonzero(begins)
    return TieGroups(hits.query[first], start[first], size[first], np.cumsum(begins) - 1)
