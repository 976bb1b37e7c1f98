"""Bounds of nDCG: DCG / ideal DCG, where a grade given to an unjudged document moves both.

Cut the gains at the levels v₁ < v₂ < … that can occur, and let N_l judged documents and T_l unjudged ones of the
prefix have a gain of v_l or more. With U(T) the discounts of the T highest-ranked unjudged documents and D(n) those of
the first n ranks of the ideal, the best placement of a multiset of gains (falling with the rank) gives

    DCG = c + Σ_l (v_l − v_{l−1}) U(T_l)        ideal DCG = Σ_l (v_l − v_{l−1}) D(N_l + T_l)

*Greatest value.* For a ratio λ, Dinkelbach (Management Science 13(7), 1967) maximises DCG − λ · ideal DCG, takes the
ratio of the maximum as the next λ, and ends at the greatest ratio. The sum falls apart into one choice of T_l a level:
one more document is worth U's next discount less λ times D's, which falls as l rises since N_l falls, so that the best
T_l fall with l by themselves. Between two levels at which N changes every choice is the same, so that only
the judged gains and the greatest possible one are levels.

*Least value.* The ideal DCG is convex in the gains and DCG is linear, so that the ratio is quasi-concave and least at a
corner: every unjudged document has gain 0 or the greatest one. Of all corners with m of the latter, the m lowest-ranked
give the least DCG and all give the same ideal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from metricpact.contracts.bounds.gaps import Block, Gaps, blocks
from metricpact.contracts.bounds.levels import Levels, Reach, levels_of
from metricpact.contracts.contract import Contract
from metricpact.contracts.definitions import gains
from metricpact.contracts.positions import discounts
from metricpact.contracts.prefixes import Prefixes
from metricpact.contracts.tables import Floats, Ints


def normalised_gain(
    prefixes: Prefixes, cutoff: int | None, contract: Contract, gaps: Gaps, reach: Reach
) -> tuple[Floats, Floats]:
    """nDCG@k: the least and greatest value with at least one unjudged document of a gain.

    The greatest one also looks at unjudged documents without any gain, which give the point value.
    """
    low, high = np.zeros(prefixes.size), np.zeros(prefixes.size)
    worth = gains(prefixes.hit_grades, contract)
    levels = levels_of(prefixes, contract, gaps.count > 0, reach)
    depth = int(levels.count.max(initial=0)) + int(gaps.count.max(initial=0))
    if contract.ideal_depth == "cutoff" and cutoff is not None:
        depth = min(depth, cutoff)
    ideal = np.concatenate([[0.0], np.cumsum(discounts(np.arange(1, depth + 1), contract))])
    layers = int(np.bincount(levels.query).max())
    for block in blocks(prefixes, gaps, layers):
        shares = discounts(np.arange(1, block.unjudged.shape[1] + 1), contract)
        known = (block.spread(worth) * shares).sum(axis=1)
        choices = _choices(block, shares, levels, ideal)
        low[block.queries] = _least(choices, known, reach.top)
        high[block.queries] = np.minimum(_greatest(choices, known), 1.0)  # no more but by rounding
    return low, high


@dataclass(frozen=True, eq=False)
class _Choices:
    """What a number T of unjudged documents does, a column a T from 0.

    ``discount`` (a row a query) is U(T), −∞ beyond the ``count`` of unjudged documents. Rows of ``ideal`` are levels
    of the query ``row``, already times the height ``step``; ``fixed`` is the ideal DCG from gains above all levels.
    """

    count: Ints
    discount: Floats
    row: Ints
    step: Floats
    ideal: Floats
    fixed: Floats


def _choices(block: Block, shares: Floats, levels: Levels, ideal: Floats) -> _Choices:
    size = len(block.queries)
    count = block.unjudged.sum(axis=1)
    numbers = np.arange(int(count.max()) + 1)
    discount = np.zeros((size, len(numbers)))
    row, column = np.nonzero(block.unjudged)
    discount[row, np.cumsum(block.unjudged, axis=1)[row, column]] = shares[column]
    discount = np.where(numbers <= count[:, None], np.cumsum(discount, axis=1), -np.inf)

    at = np.flatnonzero(np.isin(levels.query, block.queries))
    query = np.searchsorted(block.queries, levels.query[at])
    step, free = levels.step[at], levels.free[at]
    sums = step[:, None] * ideal[np.minimum(levels.count[at, None] + numbers, len(ideal) - 1)]
    fixed = np.asarray(np.bincount(query[~free], weights=sums[~free, 0], minlength=size), np.float64)
    query, step, sums, tier = query[free], step[free], sums[free], levels.tier[at][free]
    starts = np.flatnonzero(np.diff(tier, prepend=-1))
    if len(starts) < len(tier):
        query, step, sums = query[starts], np.add.reduceat(step, starts), np.add.reduceat(sums, starts)
    return _Choices(count, discount, query, step, sums, fixed)


def _greatest(choices: _Choices, known: Floats) -> Floats:
    """The greatest ratio of each query, by Dinkelbach's iteration on all of them at once."""
    size, each = len(known), np.arange(len(choices.row))
    gained = choices.step[:, None] * choices.discount[choices.row]
    ratio = np.zeros(size)
    while True:
        best = (gained - ratio[choices.row, None] * choices.ideal).argmax(axis=1)
        dcg = known + np.bincount(choices.row, weights=gained[each, best], minlength=size)
        ideal = choices.fixed + np.bincount(choices.row, weights=choices.ideal[each, best], minlength=size)
        # Nothing of any gain has no ratio; the first round, λ = 0, gives every document the greatest one.
        reached = np.divide(dcg, ideal, out=np.zeros(size), where=ideal > 0)
        if not (reached > ratio).any():
            return ratio
        ratio = np.maximum(ratio, reached)


def _least(choices: _Choices, known: Floats, top: float) -> Floats:
    """The least ratio of each query with the m lowest-ranked unjudged documents at the greatest gain, m ≥ 1."""
    ideal = choices.fixed[:, None] + np.add.reduceat(choices.ideal, np.flatnonzero(np.diff(choices.row, prepend=-1)))
    count = choices.count[:, None]
    above = np.maximum(count - np.arange(choices.discount.shape[1]), 0)
    total = np.take_along_axis(choices.discount, count, axis=1)
    below = total - np.take_along_axis(choices.discount, above, axis=1)
    taken = np.arange(choices.discount.shape[1])
    ratios = np.full(ideal.shape, np.inf)
    np.divide(known[:, None] + top * below, ideal, out=ratios, where=(taken > 0) & (taken <= count))
    return np.asarray(ratios.min(axis=1))
