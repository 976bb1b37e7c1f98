"""Expected values over all orders of tied documents, for the measures that are not linear in the places.

Closed forms by tie group. Average precision and the linear measures: McSherry and Najork, "Computing information
retrieval performance measures efficiently in the presence of tied scores", ECIR 2008. Reciprocal rank and Success
are hypergeometric; of Bpref's judged non-relevant documents in a relevant one's group, 0 to all are equally likely
above it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb

import numpy as np
from metricpact.contracts.contract import Contract
from metricpact.contracts.measures import Measure
from metricpact.contracts.positions import TieGroups, tie_groups
from metricpact.contracts.prefixes import Prefixes
from metricpact.contracts.tables import Floats


def _before(groups: TieGroups, counts: Floats, size: int) -> Floats:
    """The counts of all earlier groups of the same query."""
    total = np.cumsum(counts) - counts
    first = np.searchsorted(groups.query, np.arange(size))
    return np.asarray(total - np.append(total, 0.0)[first][groups.query])


def success(prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
    """The probability that the prefix holds a relevant document."""
    groups = tie_groups(prefixes.hits)
    relevant = groups.count(prefixes.relevant_hits(contract.threshold)).astype(np.int64)
    inside = groups.slots_inside(measure.cutoff)
    values = np.zeros(prefixes.size)
    whole = (relevant > 0) & (inside == groups.size)
    values[groups.query[whole]] = 1.0
    for at in np.flatnonzero((relevant > 0) & (inside > 0) & (inside < groups.size)):  # at most one group a query
        query, r, m, t = groups.query[at], int(relevant[at]), int(groups.size[at]), int(inside[at])
        values[query] = max(values[query], 1.0 - comb(m - t, r) / comb(m, r))
    return values


def reciprocal_rank(prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
    """The expected reciprocal rank of the first relevant document: only the first group that holds one matters."""
    groups = tie_groups(prefixes.hits)
    relevant = groups.count(prefixes.relevant_hits(contract.threshold))
    inside = groups.slots_inside(measure.cutoff)
    first = (relevant > 0) & (inside > 0) & (_before(groups, relevant, prefixes.size) == 0)
    values = np.zeros(prefixes.size)
    alone = first & (groups.size == 1)
    values[groups.query[alone]] = 1.0 / groups.start[alone]
    for at in np.flatnonzero(first & ~alone):  # one group a query
        r, m, t = int(relevant[at]), int(groups.size[at]), int(inside[at])
        places = np.arange(min(t, m - r + 1))
        # The first relevant one is at place j with C(m − j − 1, r − 1) / C(m, r); each follows from the one before.
        factors = (m - places[:-1] - r) / np.maximum(m - places[:-1] - 1, 1)
        chances = r / m * np.concatenate([[1.0], np.cumprod(factors)])
        values[groups.query[at]] = float((chances / (groups.start[at] + places)).sum())
    return values


def average_precision(prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
    """The expected AP; under ``ap_denominator=hits`` the number of hits is random too, and is summed over."""
    groups = tie_groups(prefixes.hits)
    relevant = groups.count(prefixes.relevant_hits(contract.threshold))
    before = _before(groups, relevant, prefixes.size)
    slots = groups.slots(measure.cutoff)
    r, m = relevant[slots.group], groups.size[slots.group]
    spread = np.where(m > 1, slots.place * (r - 1) / np.maximum(m - 1, 1), 0.0)
    terms = r / m * (before[slots.group] + 1 + spread) / slots.rank
    by_group = np.bincount(slots.group, weights=terms, minlength=len(relevant))
    inside = groups.slots_inside(measure.cutoff)
    if contract.ap_denominator != "hits":
        total = np.bincount(groups.query, weights=by_group, minlength=prefixes.size)
        known = prefixes.relevant(contract.threshold)
        capped = contract.ap_denominator == "capped" and measure.cutoff is not None
        return np.asarray(total / (np.minimum(measure.cutoff or 0, known) if capped else known))
    whole = inside == groups.size
    total = np.bincount(groups.query, weights=by_group * whole, minlength=prefixes.size)
    hits = np.bincount(groups.query, weights=relevant * whole, minlength=prefixes.size)
    values = total / np.maximum(hits, 1)
    for at in np.flatnonzero(~whole & (inside > 0) & (relevant > 0)):  # at most one group a query
        query = int(groups.query[at])
        values[query] = _over_hits(
            float(total[query]),
            int(before[at]),
            int(relevant[at]),
            int(groups.size[at]),
            int(inside[at]),
            int(groups.start[at]),
        )
    return np.asarray(values)


def _over_hits(total: float, before: int, relevant: int, size: int, inside: int, start: int) -> float:
    """The expected AP over hits where a group of ``size`` has ``inside`` ranks before the cutoff.

    ``total`` is the sum of precisions of the ``before`` hits above the group.
    """
    places = np.arange(inside)
    value = 0.0
    for found in range(max(0, inside - (size - relevant)), min(relevant, inside) + 1):
        if before + found == 0:
            continue
        chance = comb(relevant, found) * comb(size - relevant, inside - found) / comb(size, inside)
        spread = places * (found - 1) / (inside - 1) if inside > 1 else 0.0
        added = float((found / inside * (before + 1 + spread) / (start + places)).sum())
        value += chance * (total + added) / (before + found)
    return value


def bpref(prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
    """The expected Bpref."""
    groups = tie_groups(prefixes.hits)
    relevant = prefixes.relevant_hits(contract.threshold)
    negatives = groups.count(~relevant)
    known = prefixes.relevant(contract.threshold)
    limit = known[groups.query]
    before = _before(groups, negatives, prefixes.size)
    # Sum of min(before + y, |R|) over y = 0 … n: the first ``free`` of them are below |R|.
    free = np.clip(limit - before, 0, negatives + 1)
    above = (free * before + free * (free - 1) / 2 + (negatives + 1 - free) * limit) / (negatives + 1)
    most = np.minimum(prefixes.judged.count(prefixes.judged.grades < contract.threshold), known)[groups.query]
    each = np.where(above > 0, 1.0 - above / most, 1.0)
    total = np.bincount(groups.query, weights=groups.count(relevant) * each, minlength=prefixes.size)
    return np.asarray(total / known)


EXPECTED: dict[str, Callable[[Prefixes, Measure, Contract], Floats]] = {
    "Success": success,
    "RR": reciprocal_rank,
    "AP": average_precision,
    "Bpref": bpref,
}
"""The measures whose expected value is not their definition at expected places."""
