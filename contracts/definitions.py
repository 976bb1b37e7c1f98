"""Each measure as one short function over the evaluated prefixes that reads like its formula.

A definition gives one value per judged query; where the contract calls the value undefined (``reasons``), what
stands there means nothing and is replaced. This is what the ``reference`` backend computes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from metricpact.contracts.contract import Contract
from metricpact.contracts.errors import LimitError
from metricpact.contracts.expected import EXPECTED
from metricpact.contracts.measures import Measure
from metricpact.contracts.positions import discount_inside, discounts, inside, sums_by
from metricpact.contracts.prefixes import Prefixes
from metricpact.contracts.tables import Floats, Ints

Bools = npt.NDArray[np.bool_]

NO_POSITIVES, NO_GAIN, NOTHING_RETURNED = "no-positives", "no-gain", "nothing-returned"
REASONS = ("", NO_POSITIVES, NO_GAIN, NOTHING_RETURNED)
"""Why a value is undefined, by code; code 0 is a defined value."""
MAX_GAIN = 2.0**1000
"""Largest gain: sums of larger ones would leave double precision."""


def define(prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
    """The measure's value for every judged query, under a contract that has the measure's parameters applied."""
    with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 stands only where the value is undefined
        definition = DEFINITIONS[measure.family]
        if prefixes.hits.tie_start is not None:
            definition = EXPECTED.get(measure.family, definition)
        return definition(prefixes, measure, contract)


def reasons(prefixes: Prefixes, measure: Measure, contract: Contract) -> npt.NDArray[np.int8]:
    """Why the contract gives a measure no value, per judged query, as an index into ``REASONS``."""
    family = measure.family
    codes = np.zeros(prefixes.size, np.int8)
    skips = contract.undefined == "skip"
    if skips or family == "nDCG":
        codes[~judged_gain(prefixes, contract)] = REASONS.index(NO_GAIN)
    if skips or (measure.known.binary and family not in ("P", "SetP")):
        codes[prefixes.relevant(contract.threshold) == 0] = REASONS.index(NO_POSITIVES)
    if family == "Judged":
        codes[(prefixes.listed.returned == 0) & (codes == 0)] = REASONS.index(NOTHING_RETURNED)
    return codes


def gains(grades: npt.NDArray[Any], contract: Contract) -> Floats:
    """The gain of each grade; raises ``LimitError`` where a gain is beyond ``MAX_GAIN``."""
    if contract.gain == "exponential":
        with np.errstate(over="ignore"):
            worth: Floats = np.asarray(np.exp2(grades.astype(np.float64)) - 1.0)
    else:
        worth = grades.astype(np.float64)
        for grade, gain in contract.gain if isinstance(contract.gain, tuple) else ():
            worth = np.where(grades == grade, gain, worth)
    if len(worth) and worth.max() > MAX_GAIN:
        raise LimitError(
            f"grade {grades[int(worth.argmax())]} is worth too large a gain to be summed in double precision",
            f"gains go up to {MAX_GAIN:g}: choose gain=linear, or a gain table",
        )
    return worth


def judged_gain(prefixes: Prefixes, contract: Contract) -> Bools:
    """Whether a query has a judged document with a positive gain."""
    grades = prefixes.judged.grades
    worth = gains(grades, contract) if isinstance(contract.gain, tuple) else grades
    return np.asarray(prefixes.judged.count(worth > 0) > 0)


def effective_cutoff(prefixes: Prefixes, measure: Measure, contract: Contract) -> Ints | None:
    """How deep a measure looks at each query: its cutoff, |R| for Rprec, None for the whole ranking."""
    if measure.family == "Rprec":
        return prefixes.relevant(contract.threshold)
    return None if measure.cutoff is None else np.full(prefixes.size, measure.cutoff, np.int64)


def judged_fraction(prefixes: Prefixes, measure: Measure, contract: Contract) -> tuple[Floats, Bools]:
    """The judged share of the prefix that a measure looks at, and where it is defined (something is in it)."""
    listed, cutoff = prefixes.listed, effective_cutoff(prefixes, measure, contract)
    depth = listed.returned if cutoff is None else np.minimum(cutoff, listed.returned)
    counts = np.bincount(listed.query, weights=inside(listed, cutoff), minlength=prefixes.size)
    return counts / np.maximum(depth, 1), depth > 0


def _per_query(prefixes: Prefixes, flags: npt.NDArray[Any]) -> Floats:
    """The sum over each query's hits."""
    return sums_by(prefixes.hits.query, flags, prefixes.size)


def _capped(cutoff: int | None, relevant: Ints) -> Ints:
    return relevant if cutoff is None else np.asarray(np.minimum(cutoff, relevant))


def _running(prefixes: Prefixes, flags: Bools) -> Ints:
    """For each hit, how many flagged hits its query has up to and including it."""
    hits = prefixes.hits
    total = np.cumsum(flags)
    first = np.searchsorted(hits.query, np.arange(prefixes.size))
    before = np.concatenate([[0], total])[first]
    return np.asarray(total - before[hits.query])


def precision(prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
    """P@k = relevant in the prefix / k, or / min(k, returned); 0 where that is 0."""
    found = _per_query(prefixes, prefixes.relevant_hits(contract.threshold) * inside(prefixes.hits, measure.cutoff))
    if contract.precision_denominator == "cutoff":
        return found / float(measure.cutoff or 1)
    return found / np.maximum(_capped(measure.cutoff, prefixes.hits.returned), 1)


def recall(prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
    """R@k = relevant in the prefix / |R|, or / min(k, |R|)."""
    found = _per_query(prefixes, prefixes.relevant_hits(contract.threshold) * inside(prefixes.hits, measure.cutoff))
    known = prefixes.relevant(contract.threshold)
    return found / (_capped(measure.cutoff, known) if contract.recall_denominator == "capped" else known)


def reciprocal_rank(prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
    """RR@k = 1 / rank of the first relevant document in the prefix, else 0."""
    relevant = prefixes.relevant_hits(contract.threshold) & (inside(prefixes.hits, measure.cutoff) > 0)
    first = relevant & (_running(prefixes, relevant) == 1)
    return _per_query(prefixes, first / prefixes.hits.rank)


def average_precision(prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
    """AP@k = sum of P@i over the relevant ranks i ≤ k, / |R| (or min(k, |R|), or the hits)."""
    relevant = prefixes.relevant_hits(contract.threshold) & (inside(prefixes.hits, measure.cutoff) > 0)
    total = _per_query(prefixes, relevant * _running(prefixes, relevant) / prefixes.hits.rank)
    if contract.ap_denominator == "hits":
        return total / np.maximum(_per_query(prefixes, relevant), 1)
    known = prefixes.relevant(contract.threshold)
    return total / (_capped(measure.cutoff, known) if contract.ap_denominator == "capped" else known)


def discounted_gain(prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
    """DCG@k = sum of gain × discount over the prefix."""
    worth = gains(prefixes.hit_grades, contract)
    return _per_query(prefixes, worth * discount_inside(prefixes.hits, measure.cutoff, contract))


def ideal_discounted_gain(prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
    """IDCG@k = the DCG of the judged documents (all, or the returned ones) in descending order of gain."""
    depth = measure.cutoff if contract.ideal_depth == "cutoff" else None
    key = ("ideal", contract.gain, contract.discount, contract.ideal, depth)
    return np.asarray(prefixes.remembered(key, lambda: _ideal(prefixes, contract, depth)))


def _ideal(prefixes: Prefixes, contract: Contract, depth: int | None) -> Floats:
    judged, hits = prefixes.judged, prefixes.hits
    if contract.ideal == "returned":
        query, grades = hits.query, prefixes.hit_grades
    else:
        query, grades = judged.query, judged.grades
    worth = gains(grades, contract)
    by = np.lexsort((-worth, query))
    query, worth = query[by], worth[by]
    place = np.arange(1, len(query) + 1) - np.searchsorted(query, query)
    counted = place <= depth if depth is not None else np.ones(len(place), np.bool_)
    return sums_by(query, worth * discounts(place, contract) * counted, prefixes.size)


def normalised_gain(prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
    """nDCG@k = DCG@k / ideal DCG@k; 0 where only an ideal of returned documents is 0."""
    ideal = ideal_discounted_gain(prefixes, measure, contract)
    return np.where(ideal > 0, discounted_gain(prefixes, measure, contract) / ideal, 0.0)


def success(prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
    """Success@k = 1 if the prefix holds a relevant document, else 0."""
    found = _per_query(prefixes, prefixes.relevant_hits(contract.threshold) * inside(prefixes.hits, measure.cutoff))
    return (found > 0).astype(np.float64)


def r_precision(prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
    """Rprec = relevant in the first |R| documents / |R|."""
    known = prefixes.relevant(contract.threshold)
    return _per_query(prefixes, prefixes.relevant_hits(contract.threshold) * inside(prefixes.hits, known)) / known


def set_precision(prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
    """SetP = relevant returned / returned; 0 where nothing is returned."""
    return _per_query(prefixes, prefixes.relevant_hits(contract.threshold)) / np.maximum(prefixes.hits.returned, 1)


def set_recall(prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
    """SetR = relevant returned / |R|."""
    return _per_query(prefixes, prefixes.relevant_hits(contract.threshold)) / prefixes.relevant(contract.threshold)


def set_f(prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
    """SetF = (1 + β²) P R / (β² P + R), 0 where P and R are 0."""
    p, r = set_precision(prefixes, measure, contract), set_recall(prefixes, measure, contract)
    square = (measure.beta or 1.0) ** 2
    return np.where(p + r > 0, (1 + square) * p * r / (square * p + r), 0.0)


def bpref(prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
    """Bpref = mean over R of 1 − min(n, |R|) / min(N, |R|), n judged non-relevant documents above, N in all.

    It compares judged documents only, so that an unjudged one is not taken for a negative. That cannot create missing
    judgments, nor tell whether the evidence answers the question, and few known relevant documents make its
    preferences coarse (Buckley and Voorhees, SIGIR 2004; the chapter). It is no bound: ``metricpact.contracts.bounds``
    says what a value could be.
    """
    relevant = prefixes.relevant_hits(contract.threshold)
    known = prefixes.relevant(contract.threshold)
    negatives = prefixes.judged.count(prefixes.judged.grades < contract.threshold)
    above = np.minimum(_running(prefixes, ~relevant), known[prefixes.hits.query])
    most = np.minimum(negatives, known)[prefixes.hits.query]
    return _per_query(prefixes, relevant * np.where(above > 0, 1.0 - above / most, 1.0)) / known


def judged_share(prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
    """Judged@k = judged in the prefix / documents in the prefix, before any condensing."""
    return judged_fraction(prefixes, measure, contract)[0]


DEFINITIONS: dict[str, Callable[[Prefixes, Measure, Contract], Floats]] = {
    "P": precision,
    "R": recall,
    "RR": reciprocal_rank,
    "AP": average_precision,
    "nDCG": normalised_gain,
    "DCG": discounted_gain,
    "IDCG": ideal_discounted_gain,
    "Success": success,
    "Rprec": r_precision,
    "SetP": set_precision,
    "SetR": set_recall,
    "SetF": set_f,
    "Bpref": bpref,
    "Judged": judged_share,
}
"""The definition of every measure family."""
