"""Miniatures: small bridges that are wrong on purpose, one kind of fault each, so that the check can be checked.

Each goes through the registry and the one scoring path like any backend; only its own part is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from metricpact.bridges.plan import Capabilities, Plan, Unsupported
from metricpact.bridges.reference_bridge import BRIDGE as REFERENCE
from metricpact.contracts.contract import Contract
from metricpact.contracts.definitions import define, gains, inside
from metricpact.contracts.measures import Measure
from metricpact.contracts.prefixes import Prefixes
from metricpact.contracts.tables import Floats, Judgments, Run


class Miniature:
    """The reference, with one thing wrong; a subclass changes ``plan`` or ``value``."""

    package = "metricpact"
    extra = ""

    def __init__(self) -> None:
        self.name = "miniature_" + "".join(f"_{c.lower()}" if c.isupper() else c for c in type(self).__name__).lstrip(
            "_"
        )

    def versions(self) -> dict[str, str]:
        """As the reference's."""
        return REFERENCE.versions()

    def capabilities(self) -> Capabilities:
        """As the reference's: a miniature claims everything."""
        return REFERENCE.capabilities()

    def plan(self, measure: Measure, contract: Contract) -> Plan | Unsupported:
        """As the reference's, under the contract that the miniature takes it for."""
        plan = REFERENCE.plan(measure, contract)
        return replace(plan, contract=self.mistaken(plan.contract)) if isinstance(plan, Plan) else plan

    def mistaken(self, contract: Contract) -> Contract:
        """The contract as the miniature reads it."""
        return contract

    def score(self, prefixes: Prefixes, plans: Sequence[Plan]) -> list[Floats]:
        """One value a query and plan."""
        return [self.value(prefixes, plan.measure, plan.contract) for plan in plans]

    def value(self, prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
        """The value of one measure."""
        return define(prefixes, measure, contract)

    def native(self, judgments: Judgments, run: Run, measures: Sequence[str]) -> dict[str, dict[str, float]]:
        """As the reference's."""
        return REFERENCE.native(judgments, run, measures)


class CountsFromZero(Miniature):
    """Cuts after k + 1 documents: its ranks begin at 0."""

    def value(self, prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
        cutoff = None if measure.cutoff is None else measure.cutoff + 1
        return define(prefixes, replace(measure, cutoff=cutoff), contract)


class DividesByReturned(Miniature):
    """Divides precision by the number of documents that it finds in the prefix."""

    def value(self, prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
        values = define(prefixes, measure, contract)
        if measure.family != "P" or contract.precision_denominator != "cutoff":
            return values
        found = np.minimum(prefixes.hits.returned, measure.cutoff)
        return np.asarray(values * measure.cutoff / np.maximum(found, 1))


class TakesGradesForGains(Miniature):
    """Takes the grade as gain, whatever was asked for."""

    def value(self, prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
        return define(prefixes, measure, contract.replace(gain="linear"))


class DropsMissingQueries(Miniature):
    """Has no value for a judged query that the run lacks, like a library that leaves it out of its answer."""

    def value(self, prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
        return np.where(prefixes.answered, define(prefixes, measure, contract), np.nan)


class ZeroForUndefined(Miniature):
    """Answers 0 where a measure has no value."""

    def mistaken(self, contract: Contract) -> Contract:
        return contract.replace(undefined="zero") if contract.undefined == "null" else contract


class IdealOfReturned(Miniature):
    """Makes the ideal of what was returned."""

    def value(self, prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
        return define(prefixes, measure, contract.replace(ideal="returned"))


class TiesById(Miniature):
    """Orders equal scores by document id, descending, as trec_eval does."""

    def mistaken(self, contract: Contract) -> Contract:
        return contract.replace(ties="docid_desc")


class StopsAtEmptyQuery(Miniature):
    """Depends on the order of queries: after the first one without a relevant document all are 0."""

    def value(self, prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
        stopped = np.logical_or.accumulate(prefixes.relevant(contract.threshold) == 0)
        return np.where(stopped, 0.0, define(prefixes, measure, contract))


class DiscountSlips(Miniature):
    """Discounts rank i by log2(i + 2): its ranks begin at 1 where the formula's begin at 0."""

    def value(self, prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
        if measure.family not in ("DCG", "nDCG"):
            return define(prefixes, measure, contract)
        worth = gains(prefixes.hit_grades, contract) * inside(prefixes.hits, measure.cutoff)
        dcg = np.bincount(prefixes.hits.query, worth / np.log2(prefixes.hits.rank + 2), prefixes.size)
        if measure.family == "DCG":
            return dcg
        ideal = np.zeros(prefixes.size)
        for query in range(prefixes.size):
            best = np.sort(gains(prefixes.judged.grades[prefixes.judged.query == query], contract))[::-1]
            best = best[: measure.cutoff]
            ideal[query] = (best / np.log2(np.arange(len(best)) + 3)).sum()
        return np.divide(dcg, ideal, out=np.zeros(prefixes.size), where=ideal > 0)


class ClaimsAverages(Miniature):
    """Claims the expected value over tied orders, and gives the value of one order."""

    def mistaken(self, contract: Contract) -> Contract:
        return contract.replace(ties="given") if contract.ties == "average" else contract


class ClaimsDiscount(Miniature):
    """Claims a discount that it does not have."""

    def value(self, prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
        return define(prefixes, measure, contract.replace(discount="log2"))


class AboveThreshold(Miniature):
    """Asks for grades above the threshold instead of from it on."""

    def mistaken(self, contract: Contract) -> Contract:
        return contract.replace(threshold=contract.threshold + 1)


class CapsRecall(Miniature):
    """Divides recall by what the prefix could hold."""

    def value(self, prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
        return define(prefixes, measure, contract.replace(recall_denominator="capped"))


class AveragesOverHits(Miniature):
    """Divides average precision by the hits."""

    def value(self, prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
        return define(prefixes, measure, contract.replace(ap_denominator="hits"))


class CondensesFirst(Miniature):
    """Leaves unjudged documents out of every ranking."""

    def mistaken(self, contract: Contract) -> Contract:
        return contract.replace(unjudged="removed")


class NarrowsScores(Miniature):
    """Compares scores in single precision."""

    def mistaken(self, contract: Contract) -> Contract:
        return contract.replace(score_width="float32")


class SwapsQueries(Miniature):
    """Not connected: gives the values of the queries in the wrong order."""

    def value(self, prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
        return define(prefixes, measure, contract)[::-1]


class Breaks(Miniature):
    """Raises where a query returns nothing."""

    def value(self, prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats:
        if (prefixes.hits.returned == 0).any():
            raise ZeroDivisionError("nothing returned")
        return define(prefixes, measure, contract)


BLAMED: dict[Callable[[], Miniature], tuple[str, Any]] = {
    CountsFromZero: ("cutoff", "k+1"),
    DividesByReturned: ("precision_denominator", "returned"),
    TakesGradesForGains: ("gain", "linear"),
    DropsMissingQueries: ("queries", "judged"),
    ZeroForUndefined: ("undefined", "zero"),
    IdealOfReturned: ("ideal", "returned"),
    TiesById: ("ties", "docid_desc"),
    StopsAtEmptyQuery: ("independence", "queries"),
    DiscountSlips: ("discount", "log2"),
    ClaimsAverages: ("ties", "average"),
    ClaimsDiscount: ("discount", "log2"),
    AboveThreshold: ("threshold", "2"),
    CapsRecall: ("recall_denominator", "capped"),
    AveragesOverHits: ("ap_denominator", "hits"),
    CondensesFirst: ("unjudged", "removed"),
    NarrowsScores: ("score_width", "float32"),
}
"""Each miniature, and the convention on which the check must put its finger."""
