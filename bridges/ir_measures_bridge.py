"""The ``ir_measures`` backend: ir_measures with its provider named, one evaluator a measure.

Left alone, ir_measures picks a provider for each measure (RR and RR@10 come from different ones, which break ties
differently) and merges measures into one call of it, where a gain table can reach another nDCG. Here the provider
is pytrec_eval by name, each measure object is made by its class (never by parsing a name) and is alone in its
evaluator. Gains, thresholds and cutoffs of RR are settled in the input, as for pytrec_eval itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from metricpact.bridges.feeds import Feed, Recipe, clipped, common_depth, divided, recipe_for, with_divisors
from metricpact.bridges.plan import Capabilities, Plan, Unsupported, every_value
from metricpact.bridges.raw import as_dicts
from metricpact.bridges.trec_eval_input import REFUSED_TABLES, Groups, prepare, refuse_judgments, refuse_table
from metricpact.contracts.contract import Contract
from metricpact.contracts.errors import LimitError
from metricpact.contracts.families import FAMILIES
from metricpact.contracts.measures import MAX_CUTOFF, Measure, parse_measure
from metricpact.contracts.prefixes import Prefixes
from metricpact.contracts.tables import Floats, Judgments, Run

PROVIDER = "pytrec_eval"
SMALLEST_SQUARE = 1e-4
"""Smallest β² that ir_measures writes as a plain decimal, the only form that trec_eval reads."""

_SMALL_BETA = f"a β² below {SMALLEST_SQUARE:g}: it is written with an exponent, which trec_eval does not read"
_NO_DCG = "its pytrec_eval provider has no DCG, only its quotient with the ideal"
CAPABILITIES = Capabilities(
    measures={name: _NO_DCG if name in ("DCG", "IDCG") else "" for name in FAMILIES},
    fields=every_value(
        {
            "ties": {"average": "one ranking is scored at a time: there is no expected value over tie orders"},
        }
    ),
    partly={"gain": REFUSED_TABLES, "SetF": _SMALL_BETA},
)


class IrMeasuresBridge:
    """ir_measures and its pytrec_eval provider."""

    name = "ir_measures"
    package = "ir-measures"
    extra = "ir-measures"

    def versions(self) -> dict[str, str]:
        """The package, its version, and that of the provider named."""
        from importlib.metadata import version

        engine = f"pytrec_eval-terrier {version('pytrec-eval-terrier')}"
        return {"package": self.package, "version": version(self.package), "engine": engine}

    def capabilities(self) -> Capabilities:
        """All measures but DCG and IDCG; all conventions but one."""
        return CAPABILITIES

    def plan(self, measure: Measure, contract: Contract) -> Plan | Unsupported:
        """The measure object to ask the provider for, and what is done to its input and output."""
        contract = measure.apply(contract)
        refusal = CAPABILITIES.refusal(self.name, measure, contract) or refuse_table(self.name, measure, contract)
        if refusal is None and measure.family == "SetF" and (measure.beta or 1.0) ** 2 < SMALLEST_SQUARE:
            refusal = Unsupported(self.name, measure, _SMALL_BETA)
        if refusal is not None:
            return refusal
        recipe = recipe_for(measure, contract)
        transforms, repairs = recipe.feed.transforms(), recipe.repairs(clips=True)
        return Plan(self.name, measure, contract, call_of(recipe), transforms, repairs)

    def score(self, prefixes: Prefixes, plans: Sequence[Plan]) -> list[Floats]:
        """One evaluator a measure; measures share only input. Raises ``LimitError`` before any call."""
        recipes = [recipe_for(plan.measure, plan.contract) for plan in plans]
        feeds: dict[Feed, list[Recipe]] = {}
        for recipe in with_divisors(recipes):
            feeds.setdefault(recipe.feed, []).append(recipe)
        inputs = {feed: prepare(prefixes, feed, common_depth(wanted), self.name) for feed, wanted in feeds.items()}
        values: dict[Recipe, Floats] = {}
        for feed, wanted in feeds.items():
            values |= _call(inputs[feed], wanted)
        return [divided(recipe, lambda one: clipped(values[one], one.clip)) for recipe in recipes]

    def native(self, judgments: Judgments, run: Run, measures: Sequence[str]) -> dict[str, dict[str, float]]:
        """``iter_calc`` on dicts of the whole input, providers left to ir_measures; its names (``nDCG@10``).

        A name that ir_measures cannot parse (its parser does not work on every Python) is read by metricpact.
        """
        import ir_measures

        refuse_harmful(judgments, measures)
        asked = {name: named(name) for name in measures}
        qrels, ranked = as_dicts(judgments, run, self.name)
        values: dict[Any, dict[str, float]] = {measure: {} for measure in asked.values()}
        for found in ir_measures.iter_calc(list(values), qrels, ranked):
            values[found.measure][found.query_id] = found.value
        return {name: values[measure] for name, measure in asked.items()}


def call_of(recipe: Recipe) -> str:
    """A plain measure as ir_measures prints it, with its provider: ``pytrec_eval:SetF(beta=0.25)``."""
    parameters = [f"{key}={value}" for key, value in _parameters(recipe).items() if key != "cutoff"]
    inner = f"({','.join(parameters)})" if parameters else ""
    cutoff = _parameters(recipe).get("cutoff")
    return f"{PROVIDER}:{recipe.family}{inner}" + ("" if cutoff is None else f"@{cutoff}")


def refuse_harmful(judgments: Judgments, measures: Sequence[str]) -> None:
    """Refuse what would kill the process or take gigabytes when ir_measures is called on raw input."""
    import re

    for name in measures:
        if re.search(r"@0+$", name):
            raise LimitError(f"{name!r} would end the process inside trec_eval", "name a cutoff of 1 or more")
    refuse_judgments(judgments)


def _parameters(recipe: Recipe) -> dict[str, Any]:
    """The parameters of a plain measure as ir_measures takes them; its beta is β squared."""
    cutoff = recipe.cutoff
    if recipe.family == "nDCG" and cutoff is None:
        cutoff = MAX_CUTOFF  # trec_eval's uncut ndcg takes seconds for every million of the largest grade
    parameters: dict[str, Any] = {} if cutoff is None else {"cutoff": cutoff}
    if recipe.family == "SetF" and recipe.beta not in (None, 1.0):
        parameters["beta"] = float(recipe.beta or 1.0) ** 2
    return parameters


def _call(given: Groups, recipes: Iterable[Recipe]) -> dict[Recipe, Floats]:
    """The values of some measures; queries that were not handed over are 0.

    Queries whose judgments and ranking are equal are asked for once: ir_measures spends more on each of its answers
    than trec_eval on the value.
    """
    import ir_measures

    provider = ir_measures.providers.registry[PROVIDER]
    columns = {recipe: np.zeros(len(given.lengths)) for recipe in recipes}
    for codes, ranking in given:
        alike: dict[frozenset[tuple[str, int]], list[int]] = {}
        for code in codes:
            alike.setdefault(frozenset(given.qrels[str(code)].items()), []).append(code)
        groups = {str(same[0]): same for same in alike.values()}
        qrels = {query: given.qrels[query] for query in groups}
        run = dict.fromkeys(groups, ranking)
        for recipe, column in columns.items():
            measure = getattr(ir_measures, recipe.family)(**_parameters(recipe))
            for found in provider.evaluator([measure], qrels).iter_calc(run):
                column[groups[found.query_id]] = found.value
    return columns


def named(name: str) -> Any:
    """The measure object of ir_measures that a name means."""
    import ir_measures

    try:
        return ir_measures.parse_measure(name)
    except Exception:  # what its parser raises depends on the version of Python
        measure = parse_measure(name)
    parameters: dict[str, Any] = {
        "cutoff": measure.cutoff,
        "rel": measure.rel,
        "beta": None if measure.beta in (None, 1.0) else measure.beta,
        "dcg": {"exponential": "exp-log2", "linear": "log2"}[measure.gain] if isinstance(measure.gain, str) else None,
        "gains": {int(grade): int(gain) for grade, gain in measure.gain} if isinstance(measure.gain, tuple) else None,
    }
    made = getattr(ir_measures, measure.family)
    return made(**{key: value for key, value in parameters.items() if value is not None})


BRIDGE = IrMeasuresBridge()
