"""The ``sklearn`` backend: scikit-learn's ``ndcg_score``, a small observed implementation.

``ndcg_score`` knows no judgments, only candidates: the ideal is made of the row it is given. So each row holds the
judged documents at their ranks, zeros elsewhere, and below, out of reach of the cutoff, the judged documents that
are not in the ranking. Scores fall strictly, and there are two candidates at least, or it refuses. Rows that are
equal are scored once.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from metricpact.bridges.feeds import Recipe, Selection, divided, recipe_for, rounded, select, with_divisors
from metricpact.bridges.plan import Capabilities, Plan, Unsupported, every_value
from metricpact.bridges.raw import as_dicts
from metricpact.contracts.contract import Contract
from metricpact.contracts.errors import LimitError, MeasureError
from metricpact.contracts.families import FAMILIES
from metricpact.contracts.measures import Measure
from metricpact.contracts.prefixes import Prefixes
from metricpact.contracts.tables import Floats, Ints, Judgments, Run

MAX_CANDIDATES = 2**21
"""Longest row handed over."""
MAX_GAIN = 2.0**53
"""Largest gain handed over: scikit-learn looks whether gains are integers by casting them to such."""

CAPABILITIES = Capabilities(
    measures={name: "" if name == "nDCG" else "ndcg_score computes nDCG only" for name in FAMILIES},
    fields=every_value(
        {
            "ties": {"average": "each document is given a score of its own: there is no tie left to average over"},
        }
    ),
)


class SklearnBridge:
    """``sklearn.metrics.ndcg_score``."""

    name = "sklearn"
    package = "scikit-learn"
    extra = "sklearn"

    def versions(self) -> dict[str, str]:
        """The package, its version, and that of what it computes with."""
        from importlib.metadata import version

        return {"package": self.package, "version": version(self.package), "engine": f"numpy {version('numpy')}"}

    def capabilities(self) -> Capabilities:
        """nDCG; all conventions but one."""
        return CAPABILITIES

    def plan(self, measure: Measure, contract: Contract) -> Plan | Unsupported:
        """The call of ``ndcg_score`` and what is done to its input and output."""
        contract = measure.apply(contract)
        refusal = CAPABILITIES.refusal(self.name, measure, contract)
        if refusal is not None:
            return refusal
        recipe = recipe_for(measure, contract)
        depth = "the depth of its row" if recipe.cutoff is None else str(recipe.cutoff)
        transforms = (*recipe.feed.transforms(), f"put judged documents outside the ranking below rank {depth}")
        call = f"ndcg_score(k={'depth' if recipe.cutoff is None else recipe.cutoff}, ignore_ties=True)"
        return Plan(self.name, measure, contract, call, transforms, recipe.repairs(clips=True))

    def score(self, prefixes: Prefixes, plans: Sequence[Plan]) -> list[Floats]:
        """One call for each row that differs; raises ``LimitError`` before any call."""
        recipes = [recipe_for(plan.measure, plan.contract) for plan in plans]
        # Each measure has rows of its own, no longer than it needs: numpy's sums depend on the length of what is summed
        # in their last digit, and no measure may depend on which others are asked for.
        selections = {recipe: _select(prefixes, recipe) for recipe in with_divisors(dict.fromkeys(recipes))}
        values = {recipe: _call(selected, recipe.cutoff) for recipe, selected in selections.items()}
        return [divided(recipe, values.__getitem__) for recipe in recipes]

    def native(self, judgments: Judgments, run: Run, measures: Sequence[str]) -> dict[str, dict[str, float]]:
        """``ndcg_score`` on each query's returned documents as candidates, the unjudged ones worth 0.

        Measures are ``ndcg_score`` and ``ndcg_score@10``; queries on one side only are left out.
        """
        from sklearn.metrics import ndcg_score

        grades, ranked = as_dicts(judgments, run, self.name)
        cutoffs: dict[str, int | None] = {}
        for name in measures:
            family, _, digits = name.partition("@")
            if family != "ndcg_score" or (digits and not digits.isdecimal()):
                raise MeasureError(f"{name!r} is not a call of ndcg_score", "name ndcg_score or ndcg_score@10")
            cutoffs[name] = int(digits) if digits else None
        values: dict[str, dict[str, float]] = {name: {} for name in measures}
        for query, docs in ranked.items():
            if docs and query in grades:
                truth = [[grades[query].get(doc, 0) for doc in docs]]
                for name, cutoff in cutoffs.items():
                    values[name][query] = float(ndcg_score(truth, [list(docs.values())], k=cutoff))
        return values


def _select(prefixes: Prefixes, recipe: Recipe) -> Selection:
    """A feed filled in, each query's judgments by falling gain and rank; raises ``LimitError`` for too large ones."""
    chosen = select(prefixes, recipe.feed, recipe.depth).handed()
    by = np.lexsort((chosen.rank, -chosen.grade, chosen.query))
    selected = Selection(chosen.query[by], chosen.rank[by], chosen.grade[by], rounded(chosen.lengths))
    widths = _depths(selected, recipe.cutoff) + np.bincount(selected.query, minlength=prefixes.size)
    widths = np.where(selected.lengths > 0, widths, 0)
    if widths.max(initial=0) > MAX_CANDIDATES:
        worst = int(widths.argmax())
        raise LimitError(
            f"query {prefixes.queries[worst]!r} needs {int(widths[worst])} candidates handed to ndcg_score",
            f"sklearn is given up to {MAX_CANDIDATES}; --backend reference has no such limit",
        )
    if len(selected.grade) and selected.grade.max() > MAX_GAIN:
        worst = int(selected.query[selected.grade.argmax()])
        raise LimitError(
            f"a grade of query {prefixes.queries[worst]!r} is worth {selected.grade.max():g}",
            f"sklearn is given gains up to {MAX_GAIN:g}; choose another gain",
        )
    return selected


def _depths(selected: Selection, cutoff: int | None) -> Ints:
    """How many candidates of each row the cutoff covers: without one, all that the ranking or the ideal needs."""
    judged = np.bincount(selected.query, minlength=len(selected.lengths)).astype(np.int64)
    needed = np.maximum(selected.lengths, judged)
    return np.asarray(needed if cutoff is None else np.maximum(np.minimum(cutoff, needed), selected.lengths))


def _call(selected: Selection, cutoff: int | None) -> Floats:
    """nDCG of every query; queries that were not handed over are 0."""
    from sklearn.metrics import ndcg_score

    column = np.zeros(len(selected.lengths))
    depths = _depths(selected, cutoff)
    handed = np.flatnonzero(selected.lengths)
    begins, ends = (np.searchsorted(selected.query, handed, side=side) for side in ("left", "right"))
    known: dict[bytes, float] = {}
    for code, begin, end in zip(handed.tolist(), begins.tolist(), ends.tolist(), strict=True):
        rank, grade, depth = selected.rank[begin:end], selected.grade[begin:end], int(depths[code])
        key = blake2b(rank.tobytes() + grade.tobytes(), digest_size=16, salt=depth.to_bytes(8)).digest()
        if key not in known:
            k, row = depth if cutoff is None else min(cutoff, depth), _row(rank, grade, depth)
            scores = -np.arange(len(row), dtype=np.float64)
            known[key] = float(ndcg_score(row[None], scores[None], k=k, ignore_ties=True))
        column[code] = known[key]
    return column


def _row(rank: Ints, grade: Floats, depth: int) -> Floats:
    """One query's candidates: gains at their ranks, zeros elsewhere, and what is not ranked below the depth."""
    outside = grade[rank == 0]
    row = np.zeros(max(2, depth + len(outside)))
    row[rank[rank > 0] - 1] = grade[rank > 0]
    row[depth : depth + len(outside)] = outside
    return row


BRIDGE = SklearnBridge()
