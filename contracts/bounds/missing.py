"""Bounds under missing judgments: the least and greatest value over all grades that unjudged documents could have.

Every unjudged document *in the prefix* may have any grade from 0 to ``max_grade``, R and the ideal changing with it
(or stay unjudged, which only a threshold of 0 tells apart from grade 0). No relevant document is taken to be outside
the judgments and the prefix. If there are such, upper bounds hold all the same, since |R| and the ideal can only grow;
lower bounds of R, AP and nDCG do not.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral

import numpy as np
from metricpact.contracts.bounds import average_precision, binary
from metricpact.contracts.bounds.gain import normalised_gain
from metricpact.contracts.bounds.gaps import Gaps, find_gaps
from metricpact.contracts.bounds.levels import reach_of
from metricpact.contracts.bounds.values import Bounds
from metricpact.contracts.contract import Contract
from metricpact.contracts.errors import ContractError, MeasureError
from metricpact.contracts.measures import Measure
from metricpact.contracts.prefixes import Prefixes
from metricpact.contracts.tables import MAX_GRADE, Floats

_BINARY: dict[str, Callable[[Prefixes, int | None, Contract, Gaps], tuple[Floats, Floats]]] = {
    "P": binary.precision,
    "R": binary.recall,
    "RR": binary.reciprocal_rank,
    "AP": average_precision.average_precision,
    "Success": binary.success,
}
MEANING = {
    "P": "all unjudged documents of the prefix relevant, or none",
    "R": "all unjudged documents of the prefix relevant, and so in R, or none",
    "RR": "all unjudged documents of the prefix relevant, or none",
    "Success": "all unjudged documents of the prefix relevant, or none",
    "AP": "the greatest with the n highest-ranked unjudged documents of the prefix relevant, the least with the n "
    "lowest-ranked, over all n: one more relevant document can lower it",
    "nDCG": "the greatest over all grades of the unjudged documents of the prefix, gains falling with the rank (one in "
    "between can beat both ends), the least with the n lowest-ranked at the greatest gain, over all n",
}
"""How the bounds of each family that has bounds come about."""


def check_bounds(measure: Measure, contract: Contract, max_grade: object = None) -> None:
    """Refuse what has no bounds: raises ``MeasureError`` and ``ContractError`` with the reason."""
    if measure.family not in MEANING:
        raise MeasureError(
            f"{measure} has no bounds under missing judgments", f"bounds are defined for {', '.join(MEANING)}"
        )
    if contract.unjudged == "removed":
        raise ContractError(
            f"{measure}: no bounds under unjudged=removed: a condensed list has no unjudged documents to bound by",
            "choose unjudged=zero, or leave the bounds out",
        )
    if contract.order == "score" and contract.ties == "average":
        raise ContractError(
            f"{measure}: no bounds under ties=average: they are about the documents of one prefix, not of many orders",
            "choose another order of ties, such as ties=given, or ask for tie bounds",
        )
    if max_grade is None:
        return
    if isinstance(max_grade, bool) or not isinstance(max_grade, Integral) or not 0 <= int(max_grade) < MAX_GRADE:
        raise ContractError(f"max_grade {max_grade!r} is not a grade", "a largest grade is an integer, 0 or more")
    if measure.known.binary and int(max_grade) < contract.threshold:
        raise ContractError(
            f"{measure}: max_grade {max_grade} is below the threshold {contract.threshold}: "
            "no unjudged document could be relevant",
            "choose a largest grade of the threshold or more",
        )


def bound(
    prefixes: Prefixes, measure: Measure, contract: Contract, values: Floats, max_grade: int | None = None
) -> Bounds:
    """The bounds of a measure whose point values are known (what the contract says of undefined ones applied).

    ``contract`` has the measure's parameters applied. ``max_grade`` is the largest grade that an unjudged document
    may have; by default the largest in the judgments, at least the threshold. Raises ``MeasureError`` and
    ``ContractError`` for what has no bounds, ``LimitError`` where ``max_grade`` is worth too large a gain.
    """
    check_bounds(measure, contract, max_grade)
    largest = float(max(prefixes.judged.largest, contract.threshold) if max_grade is None else max_grade)
    gaps = find_gaps(prefixes, measure.cutoff)
    changes, tight = gaps.count > 0, np.ones(prefixes.size, np.bool_)
    with np.errstate(divide="ignore", invalid="ignore"):  # where nothing is unjudged, these numbers mean nothing
        if measure.family in _BINARY:
            low, high = _BINARY[measure.family](prefixes, measure.cutoff, contract, gaps)
        else:
            reach = reach_of(largest, prefixes, contract)
            changes = changes & (reach.top > 0)
            low, high = values, values
            if changes.any():
                low, high = normalised_gain(prefixes, measure.cutoff, contract, gaps, reach)
            tight = ~changes | reach.exact
    # Nothing relevant, or without gain, among the unjudged documents: the point value, whatever the backend.
    return Bounds(
        np.where(changes, np.minimum(low, values), values),
        np.where(changes, np.maximum(high, values), values),
        tight,
        largest,
    )
