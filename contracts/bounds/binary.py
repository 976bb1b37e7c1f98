"""Bounds of P, R, RR and Success: the more unjudged documents are relevant, and the higher, the larger the value.

Each function gives the least and the greatest value that is possible with at least one unjudged document relevant;
without any it is the point value.
"""

from __future__ import annotations

import numpy as np
from metricpact.contracts.bounds.gaps import Gaps
from metricpact.contracts.contract import Contract
from metricpact.contracts.prefixes import Prefixes
from metricpact.contracts.tables import Floats, Ints


def found(prefixes: Prefixes, contract: Contract, gaps: Gaps) -> Ints:
    """How many known relevant documents each prefix holds."""
    flags = gaps.inside & prefixes.relevant_hits(contract.threshold)
    return np.bincount(prefixes.hits.query[flags], minlength=prefixes.size).astype(np.int64)


def precision(prefixes: Prefixes, cutoff: int | None, contract: Contract, gaps: Gaps) -> tuple[Floats, Floats]:
    """P@k: one more relevant document, or all unjudged ones."""
    hits = found(prefixes, contract, gaps)
    places = np.full(prefixes.size, cutoff or 1)
    if contract.precision_denominator == "returned":
        places = np.maximum(gaps.depth, 1)
    return (hits + 1) / places, (hits + gaps.count) / places


def recall(prefixes: Prefixes, cutoff: int | None, contract: Contract, gaps: Gaps) -> tuple[Floats, Floats]:
    """R@k: what is relevant joins R too; (h + n) / (|R| + n), capped or not, rises with n because h ≤ |R|."""
    hits, known = found(prefixes, contract, gaps), prefixes.relevant(contract.threshold)

    def value(added: Ints) -> Floats:
        relevant = known + added
        capped = contract.recall_denominator == "capped" and cutoff is not None
        return (hits + added) / (np.minimum(cutoff or 0, relevant) if capped else relevant)

    return value(np.ones_like(known)), value(np.maximum(gaps.count, 1))


def reciprocal_rank(prefixes: Prefixes, cutoff: int | None, contract: Contract, gaps: Gaps) -> tuple[Floats, Floats]:
    """RR@k: only the last unjudged document is relevant, or the first one is."""
    hits = prefixes.hits
    at = np.flatnonzero(gaps.inside & prefixes.relevant_hits(contract.threshold))
    first = np.full(prefixes.size, np.iinfo(np.int64).max)
    np.minimum.at(first, hits.query[at], hits.rank[at])
    least, greatest = np.minimum(first, np.maximum(gaps.last, 1)), np.minimum(first, gaps.first)
    return 1.0 / least, 1.0 / greatest


def success(prefixes: Prefixes, cutoff: int | None, contract: Contract, gaps: Gaps) -> tuple[Floats, Floats]:
    """Success@k: one relevant document is enough."""
    return np.ones(prefixes.size), np.ones(prefixes.size)
