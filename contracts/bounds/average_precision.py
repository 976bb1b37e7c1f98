"""Bounds of AP, which is not monotone: a relevant document adds to the sum of precisions and to |R| as well.

For a number n of unjudged documents that are relevant every denominator is fixed, and moving one of them up raises
the sum: from rank p to q < p, with C relevant documents above q and m between, the sum changes by at least
(C + 1)(1/q − 1/p) > 0, since each of the m gains 1/i > 1/p. So the greatest sum has the n highest-ranked unjudged
documents relevant, the least sum the n lowest-ranked; what is left is to try every n.
"""

from __future__ import annotations

import numpy as np
from metricpact.contracts.bounds.binary import found
from metricpact.contracts.bounds.gaps import Bools, Gaps, blocks
from metricpact.contracts.contract import Contract
from metricpact.contracts.prefixes import Prefixes
from metricpact.contracts.tables import Floats


def average_precision(prefixes: Prefixes, cutoff: int | None, contract: Contract, gaps: Gaps) -> tuple[Floats, Floats]:
    """AP@k: the least and greatest value with at least one unjudged document relevant."""
    low, high = np.zeros(prefixes.size), np.zeros(prefixes.size)
    relevant = prefixes.relevant_hits(contract.threshold)
    hits = contract.ap_denominator == "hits"
    known = found(prefixes, contract, gaps) if hits else prefixes.relevant(contract.threshold)
    most = cutoff if contract.ap_denominator == "capped" and cutoff is not None else np.iinfo(np.int64).max
    for block in blocks(prefixes, gaps):
        before = known[block.queries][:, None]
        (least, lowest), (greatest, highest) = _sums(block.spread(relevant), block.unjudged)
        at_least = least / np.minimum(most, before + lowest)
        at_most = greatest / np.minimum(most, before + highest)
        low[block.queries] = np.where(block.unjudged, at_least, np.inf).min(axis=1)
        high[block.queries] = np.where(block.unjudged, at_most, -np.inf).max(axis=1)
    return low, high


def _sums(relevant: Floats, unjudged: Bools) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """The least and the greatest sum of precisions, and for how many added documents, at every unjudged rank.

    At a rank, the greatest is with all unjudged documents from the top to there relevant, the least with those from
    there to the end.
    """
    shares = 1.0 / np.arange(1, relevant.shape[1] + 1)
    running = np.cumsum(relevant, axis=1)
    known = (relevant * running * shares).sum(axis=1, keepdims=True)
    # A document that becomes relevant raises the precision at every relevant rank below it by one share.
    below = _after(relevant * shares)
    added = unjudged.astype(np.float64)
    highest, lowest = np.cumsum(added, axis=1), _upto_end(added)
    greatest = known + np.cumsum(added * ((running + highest) * shares + below), axis=1)
    least = known + _upto_end(added * ((running + 1) * shares + below + _after(added * shares)))
    return (least, lowest), (greatest, highest)


def _upto_end(values: Floats) -> Floats:
    """Row sums from each column to the last one."""
    return np.asarray(np.cumsum(values[:, ::-1], axis=1)[:, ::-1])


def _after(values: Floats) -> Floats:
    """Row sums of the columns after each one."""
    return np.concatenate([_upto_end(values)[:, 1:], np.zeros((len(values), 1))], axis=1)
