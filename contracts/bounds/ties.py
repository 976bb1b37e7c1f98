"""Bounds over the orders of tied documents: the least, the greatest and the expected value of a measure.

In the greatest order every tie group lists what counts first, in the least order last; the two are rankings like any
other, and the measure's own definition gives their values. Expected values are closed forms: McSherry and Najork,
"Computing information retrieval performance measures efficiently in the presence of tied scores", ECIR 2008, and
``metricpact.contracts.expected``.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from metricpact.contracts.bounds.values import TieBounds
from metricpact.contracts.contract import Contract
from metricpact.contracts.definitions import define, gains, reasons
from metricpact.contracts.errors import ContractError
from metricpact.contracts.measures import Measure
from metricpact.contracts.positions import tie_groups
from metricpact.contracts.prefixes import Hits, Prefixes
from metricpact.contracts.tables import Floats


def check_tie_bounds(measure: Measure, contract: Contract) -> None:
    """Refuse an order that does not come from scores; raises ``ContractError``."""
    if contract.order != "score":
        raise ContractError(
            f"{measure}: no tie bounds under order={contract.order}: scores do not order there, so nothing is tied",
            "choose order=score, or leave the tie bounds out",
        )


def tie_bound(prefixes: Prefixes, measure: Measure, contract: Contract, values: Floats) -> TieBounds:
    """The tie bounds of a measure, from prefixes that were built under ``ties=average``.

    ``contract`` has the measure's parameters applied; ``values`` are the point values, which stand where the measure
    has no value but what the contract says. Raises ``ContractError`` where scores do not order.
    """
    check_tie_bounds(measure, contract)
    expected = define(prefixes, measure, contract)
    if measure.family == "AP" and contract.ap_denominator == "hits":
        lower, upper = _over_hits(prefixes, measure, contract)
    else:
        lower, upper = (
            define(_in_order(prefixes, measure, contract, best=best), measure, contract) for best in (False, True)
        )
    undefined = reasons(prefixes, measure, contract) != 0
    return TieBounds(*(np.where(undefined, values, side) for side in (lower, upper, expected)))


def _in_order(prefixes: Prefixes, measure: Measure, contract: Contract, *, best: bool) -> Prefixes:
    """The prefixes of the best or the worst order of ties."""
    if measure.family == "Judged":
        listed = _arranged(prefixes.listed, np.ones(len(prefixes.listed.rank)), best=best)
        return replace(prefixes, listed=listed, _memo={})
    if measure.known.binary:
        merit = prefixes.relevant_hits(contract.threshold).astype(np.float64)
    else:
        merit = gains(prefixes.hit_grades, contract)
    return replace(prefixes, hits=_arranged(prefixes.hits, merit, best=best), _memo={})


def _arranged(hits: Hits, merit: Floats, *, best: bool) -> Hits:
    """Every tie group in one order: by falling merit from its first rank, or by rising merit up to its last rank.

    Unjudged documents take the ranks that are left: last in the best order, first in the worst one.
    """
    groups = tie_groups(hits)
    by = np.lexsort((-merit if best else merit, groups.of_hit))
    counts = np.bincount(groups.of_hit, minlength=len(groups.start))
    first = groups.start if best else groups.start + groups.size - counts
    place = np.arange(len(by)) - (np.cumsum(counts) - counts)[groups.of_hit]
    return Hits(hits.query, first[groups.of_hit] + place, hits.judgment[by], hits.returned)


def _over_hits(prefixes: Prefixes, measure: Measure, contract: Contract) -> tuple[Floats, Floats]:
    """AP over the hits, whose number depends on the order where a tie group reaches over the cutoff.

    For each number of hits that the group can have inside, they stand at its first (or its last inside) ranks; the
    least and the greatest of these values count.
    """
    groups = tie_groups(prefixes.hits)
    relevant = groups.count(prefixes.relevant_hits(contract.threshold)).astype(np.int64)
    inside = groups.slots_inside(measure.cutoff)
    reaching = np.flatnonzero((inside > 0) & (inside < groups.size) & (relevant > 0))  # at most one group a query
    sides = []
    for best in (False, True):
        ordered = _in_order(prefixes, measure, contract, best=best)
        values, flags = define(ordered, measure, contract), ordered.relevant_hits(contract.threshold)
        query_of, ranks = ordered.hits.query[flags], ordered.hits.rank[flags]
        begins, ends = (np.searchsorted(query_of, groups.query[reaching], side) for side in ("left", "right"))
        for at, begin, end in zip(reaching, begins, ends, strict=True):
            query, start, slots = groups.query[at], int(groups.start[at]), int(inside[at])
            found_at = ranks[begin:end]
            above = found_at[found_at < start]
            least = max(0, slots - int(groups.size[at]) + int(relevant[at]))
            sums = _sums(above, start, slots, min(int(relevant[at]), slots), best=best)
            found = len(above) + np.arange(len(sums))
            possible = (sums / np.maximum(found, 1))[least:]
            values[query] = possible.max() if best else possible.min()
        sides.append(values)
    return sides[0], sides[1]


def _sums(above: npt.NDArray[np.int64], start: int, slots: int, most: int, *, best: bool) -> Floats:
    """The sum of precisions with 0 … ``most`` hits at the first (or the last) of ``slots`` ranks from ``start`` on.

    ``above`` are the ranks of the hits before these.
    """
    count, steps = len(above), np.arange(most)
    known = (np.arange(1, count + 1) / above).sum()
    if best:
        added = np.cumsum((count + 1 + steps) / (start + steps))
    else:
        # The hit that is s ranks before the last of x hits has count + x − s hits up to it.
        ranks = start + slots - 1 - steps
        added = np.cumsum((count - steps) / ranks) + (steps + 1) * np.cumsum(1 / ranks)
    return np.asarray(known + np.concatenate([[0.0], added]))
