"""The ``pytrec_eval`` backend: trec_eval's C code, fed from the prefixes and not from whole runs.

trec_eval sees only what matters: the judged documents at their ranks, shared fillers elsewhere, scores that fall
strictly with the rank, and grades mapped to what the contract says. Order, ties and duplicates are settled before,
so that its own rules never act. Rankings of nothing are not handed over: their value is a named repair.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from metricpact.bridges.feeds import Feed, Recipe, clipped, common_depth, divided, recipe_for, with_divisors
from metricpact.bridges.plan import Capabilities, Plan, Unsupported, every_value
from metricpact.bridges.raw import as_dicts
from metricpact.bridges.trec_eval_input import (
    MAX_DEPTH,
    MAX_GRADE,
    REFUSED_TABLES,
    Groups,
    prepare,
    refuse_judgments,
    refuse_table,
)
from metricpact.contracts.contract import Contract
from metricpact.contracts.errors import LimitError
from metricpact.contracts.families import FAMILIES
from metricpact.contracts.measures import MAX_CUTOFF, Measure
from metricpact.contracts.prefixes import Prefixes
from metricpact.contracts.tables import Floats, Judgments, Run

__all__ = ["BRIDGE", "CAPABILITIES", "MAX_DEPTH", "MAX_GRADE", "PytrecEvalBridge"]

_UNCUT = {
    "SetP": "set_P",
    "SetR": "set_recall",
    "RR": "recip_rank",
    "AP": "map",
    "Rprec": "Rprec",
    "Bpref": "bpref",
}
_CUT = {"P": "P_{}", "R": "recall_{}", "AP": "map_cut_{}", "nDCG": "ndcg_cut_{}", "Success": "success_{}"}


def call_of(recipe: Recipe) -> str:
    """trec_eval's name of a plain measure."""
    if recipe.family == "SetF":
        # trec_eval reads a plain decimal, and takes β squared.
        square = f"{(recipe.beta or 1.0) ** 2:.17f}".rstrip("0").rstrip(".")
        return f"set_F_{square}"
    if recipe.family == "nDCG" and recipe.cutoff is None:
        # trec_eval's uncut ndcg takes seconds for every million of the largest grade; cut at no rank it is the same.
        return _CUT["nDCG"].format(MAX_CUTOFF)
    return _UNCUT[recipe.family] if recipe.cutoff is None else _CUT[recipe.family].format(recipe.cutoff)


_NO_DCG = "trec_eval has no DCG, only its quotient with the ideal"
CAPABILITIES = Capabilities(
    measures={name: _NO_DCG if name in ("DCG", "IDCG") else "" for name in FAMILIES},
    fields=every_value(
        {
            "ties": {"average": "one ranking is scored at a time: there is no expected value over tie orders"},
        }
    ),
    partly={"gain": REFUSED_TABLES},
)


class PytrecEvalBridge:
    """pytrec_eval-terrier, the Python binding of trec_eval 9.0.8."""

    name = "pytrec_eval"
    package = "pytrec-eval-terrier"
    extra = ""

    def versions(self) -> dict[str, str]:
        """The package, its installed version, and the engine inside."""
        import pytrec_eval

        # Reading the installed metadata costs more than importing the library that was read anyway.
        number = getattr(pytrec_eval, "__version__", "")
        if not number:
            from importlib.metadata import version

            number = version(self.package)
        return {
            "package": self.package,
            "version": number,
            "engine": "trec_eval 9.0.8",
        }

    def capabilities(self) -> Capabilities:
        """All measures but DCG and IDCG; all conventions but one."""
        return CAPABILITIES

    def plan(self, measure: Measure, contract: Contract) -> Plan | Unsupported:
        """The trec_eval measure to call and what is done to its input and output."""
        contract = measure.apply(contract)
        refusal = CAPABILITIES.refusal(self.name, measure, contract) or refuse_table(self.name, measure, contract)
        if refusal is not None:
            return refusal
        recipe = recipe_for(measure, contract)
        transforms, repairs = recipe.feed.transforms(), recipe.repairs(clips=True)
        return Plan(self.name, measure, contract, call_of(recipe), transforms, repairs)

    def score(self, prefixes: Prefixes, plans: Sequence[Plan]) -> list[Floats]:
        """One call a feed; measures that share a feed share the call. Raises ``LimitError`` before any call."""
        recipes = [recipe_for(plan.measure, plan.contract) for plan in plans]
        feeds: dict[tuple[Feed, Any], list[Recipe]] = {}
        for recipe in with_divisors(recipes):
            feeds.setdefault((recipe.feed, recipe.beta), []).append(recipe)
        inputs = {key: prepare(prefixes, key[0], common_depth(wanted), self.name) for key, wanted in feeds.items()}
        values: dict[tuple[Feed, Any, str], Floats] = {}
        for key, wanted in feeds.items():
            for call, column in _call(inputs[key], {call_of(recipe) for recipe in wanted}).items():
                values[*key, call] = column

        def value(recipe: Recipe) -> Floats:
            return clipped(values[recipe.feed, recipe.beta, call_of(recipe)], recipe.clip)

        return [divided(recipe, value) for recipe in recipes]

    def native(self, judgments: Judgments, run: Run, measures: Sequence[str]) -> dict[str, dict[str, float]]:
        """``RelevanceEvaluator`` on dicts of the whole input; measures by trec_eval's names (``ndcg_cut_10``)."""
        import pytrec_eval

        refuse_harmful(judgments, measures)
        qrels, ranked = as_dicts(judgments, run, self.name)
        found = pytrec_eval.RelevanceEvaluator(qrels, set(measures)).evaluate(ranked)
        return {name: {query: values[_answer_key(name)] for query, values in found.items()} for name in measures}


def refuse_harmful(judgments: Judgments, measures: Sequence[str]) -> None:
    """Refuse what would kill the process or take gigabytes when pytrec_eval is called on raw input."""
    import re

    for name in measures:
        cutoffs = re.findall(r"[_.](\d+)", name)
        if any(int(cutoff) == 0 for cutoff in cutoffs) or re.match(r"ndcg[_.]\d", name):
            raise LimitError(f"{name!r} would end the process inside trec_eval", "name a cutoff of 1 or more")
    refuse_judgments(judgments)


def _call(given: Groups, calls: set[str]) -> dict[str, Floats]:
    """The values of some trec_eval measures; queries that were not handed over are 0."""
    import pytrec_eval

    columns = {call: np.zeros(len(given.lengths)) for call in calls}
    if not given.qrels:
        return columns
    evaluator = pytrec_eval.RelevanceEvaluator(given.qrels, calls)
    for codes, ranking in given:
        found = evaluator.evaluate({str(code): ranking for code in codes})
        for code in codes:
            values = found[str(code)]
            for call, column in columns.items():
                column[code] = values[_answer_key(call)]
    return columns


def _answer_key(call: str) -> str:
    """The name under which pytrec_eval answers: set_F is told its parameter and answers without it."""
    return "set_F" if call.startswith("set_F") else call


BRIDGE = PytrecEvalBridge()
