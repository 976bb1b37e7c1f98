"""The ``pytrec_eval`` backend: trec_eval's C code, fed from the prefixes and not from whole runs.

trec_eval sees only what matters: the judged documents at their ranks, shared fillers elsewhere, scores that fall
strictly with the rank, and grades mapped to what the contract says. Order, ties and duplicates are settled before,
so that its own rules never act. Rankings of nothing are not handed over: their value is a named repair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt
from metricpact.bridges.plan import Capabilities, Plan, Unsupported
from metricpact.contracts.contract import FIELDS, Contract
from metricpact.contracts.definitions import gains
from metricpact.contracts.errors import LimitError, UnsupportedError
from metricpact.contracts.families import FAMILIES
from metricpact.contracts.measures import Measure
from metricpact.contracts.prefixes import Hits, Prefixes
from metricpact.contracts.tables import Floats, Ints, Judgments, Run

MAX_GRADE = 2**24
"""Largest mapped grade: trec_eval allocates 8 bytes for every grade up to it (here 128 MiB)."""
MAX_DEPTH = 2**21
"""Deepest rank handed over: fillers take some 200 bytes each, and beyond 2^24 its float scores would tie."""
MAX_SCALE = 10**6
"""Largest factor by which a gain table is multiplied to make its gains integers."""


@dataclass(frozen=True)
class Feed:
    """What trec_eval is given for some measures: how judgments are graded, which stay, and how long rankings are.

    ``grading`` is "relevant" (1 from the threshold on), "preference" (the same with the judged non-relevant ones
    kept as 0), "gain" or "judged". ``pool`` names the judged documents outside the cut ranking that stay:
    "all", "returned" (anywhere in the ranking), "capped" (so many that min(k, |R|) are relevant), "prefix" (none).
    ``exact`` keeps the number of returned documents; otherwise a ranking ends after its last judged document.
    """

    grading: str
    parameter: Any = None
    pool: str = "all"
    cut: int | None = None
    exact: bool = False
    beta: float | None = None

    def transforms(self) -> tuple[str, ...]:
        """The feed as the named steps of a plan."""
        steps = ["freeze the order as falling scores"]
        if self.cut is not None:
            steps.append(f"cut rankings at {self.cut}")
        steps.append(
            {
                "relevant": f"grades to 1 from {self.parameter} on",
                "preference": f"grades to 1 from {self.parameter} on, else 0",
                "gain": "grades to gains",
                "judged": "judgments to 1",
            }[self.grading]
        )
        if self.pool != "all":
            steps.append(
                {
                    "returned": "drop judgments of documents that are not returned",
                    "capped": f"drop surplus relevant judgments beyond {self.cut}",
                    "prefix": "drop judgments of documents outside the prefix",
                }[self.pool]
            )
        return tuple(steps)


@dataclass(frozen=True)
class Recipe:
    """One measure on trec_eval: the measure's name there, its feed, how deep it looks, and whether RR is clipped."""

    call: str
    feed: Feed
    depth: int | None = None
    clip: int | None = None


def _precision(measure: Measure, contract: Contract) -> Recipe:
    if contract.precision_denominator == "returned":
        feed = Feed("relevant", contract.threshold, cut=measure.cutoff, exact=True)
        return Recipe("set_P", feed, measure.cutoff)
    return Recipe(f"P_{measure.cutoff}", Feed("relevant", contract.threshold), measure.cutoff)


def _recall(measure: Measure, contract: Contract) -> Recipe:
    k = measure.cutoff
    if k is None:
        return Recipe("set_recall", Feed("relevant", contract.threshold))
    if contract.recall_denominator == "capped":
        return Recipe("set_recall", Feed("relevant", contract.threshold, "capped", k), k)
    return Recipe(f"recall_{k}", Feed("relevant", contract.threshold), k)


def _reciprocal_rank(measure: Measure, contract: Contract) -> Recipe:
    return Recipe("recip_rank", Feed("relevant", contract.threshold), measure.cutoff, clip=measure.cutoff)


def _average_precision(measure: Measure, contract: Contract) -> Recipe:
    k = measure.cutoff
    if contract.ap_denominator == "hits":
        return Recipe("map", Feed("relevant", contract.threshold, "prefix", k), k)
    if k is None:
        return Recipe("map", Feed("relevant", contract.threshold))
    if contract.ap_denominator == "capped":
        return Recipe("map", Feed("relevant", contract.threshold, "capped", k), k)
    return Recipe(f"map_cut_{k}", Feed("relevant", contract.threshold), k)


def _normalised_gain(measure: Measure, contract: Contract) -> Recipe:
    k, pool = measure.cutoff, "returned" if contract.ideal == "returned" else "all"
    if k is None:
        return Recipe("ndcg", Feed("gain", contract.gain, pool))
    if contract.ideal_depth == "full":
        return Recipe("ndcg", Feed("gain", contract.gain, pool, k), k)
    return Recipe(f"ndcg_cut_{k}", Feed("gain", contract.gain, pool), k)


def _simple(call: str, grading: str = "relevant", *, exact: bool = False) -> Callable[[Measure, Contract], Recipe]:
    def recipe(measure: Measure, contract: Contract) -> Recipe:
        name = call.format(k=measure.cutoff)
        return Recipe(name, Feed(grading, contract.threshold, exact=exact), measure.cutoff)

    return recipe


def _set_f(measure: Measure, contract: Contract) -> Recipe:
    # trec_eval reads a plain decimal, and takes β squared.
    square = f"{(measure.beta or 1.0) ** 2:.17f}".rstrip("0").rstrip(".")
    return Recipe(f"set_F_{square}", Feed("relevant", contract.threshold, exact=True, beta=measure.beta))


def _judged(measure: Measure, contract: Contract) -> Recipe:
    return Recipe("set_P", Feed("judged", cut=measure.cutoff, exact=True), measure.cutoff)


_RECIPES: dict[str, Callable[[Measure, Contract], Recipe]] = {
    "P": _precision,
    "R": _recall,
    "RR": _reciprocal_rank,
    "AP": _average_precision,
    "nDCG": _normalised_gain,
    "Success": _simple("success_{k}"),
    "Rprec": _simple("Rprec"),
    "SetP": _simple("set_P", exact=True),
    "SetR": _simple("set_recall"),
    "SetF": _set_f,
    "Bpref": _simple("bpref", "preference"),
    "Judged": _judged,
}

_NO_DCG = "trec_eval has no DCG, only its quotient with the ideal"
CAPABILITIES = Capabilities(
    measures={name: "" if name in _RECIPES else _NO_DCG for name in FAMILIES},
    fields={
        name: dict.fromkeys((*known.values, "*"), "")
        | {
            "ties": {"average": "one ranking is scored at a time: there is no expected value over tie orders"},
            "discount": {"jk": "trec_eval's discount is 1 / log2(i + 1)"},
        }.get(name, {})
        for name, known in FIELDS.items()
    },
)


class PytrecEvalBridge:
    """pytrec_eval-terrier, the Python binding of trec_eval 9.0.8."""

    name = "pytrec_eval"
    package = "pytrec-eval-terrier"
    extra = ""

    def versions(self) -> dict[str, str]:
        """The package, its installed version, and the engine inside."""
        from importlib.metadata import version

        return {
            "package": self.package,
            "version": version(self.package),
            "engine": "trec_eval 9.0.8",
        }

    def capabilities(self) -> Capabilities:
        """All measures but DCG and IDCG; all conventions but two."""
        return CAPABILITIES

    def plan(self, measure: Measure, contract: Contract) -> Plan | Unsupported:
        """The trec_eval measure to call and what is done to its input and output."""
        contract = measure.apply(contract)
        refusal = CAPABILITIES.refusal(self.name, measure, contract)
        if refusal is None and measure.family == "nDCG" and isinstance(contract.gain, tuple):
            scale = gain_scale(contract.gain)
            if scale > MAX_SCALE:
                reason = f"trec_eval's gains are integers, and this table would have to be multiplied by {scale}"
                refusal = Unsupported(self.name, measure, reason, "gain", contract.gain)
        if refusal is not None:
            return refusal
        recipe = _RECIPES[measure.family](measure, contract)
        repairs = ["zero for empty rankings", "zero without a positive judgment"]
        if recipe.clip is not None:
            repairs.append(f"zero beyond rank {recipe.clip}")
        return Plan(self.name, measure, contract, recipe.call, recipe.feed.transforms(), tuple(repairs))

    def score(self, prefixes: Prefixes, plans: Sequence[Plan]) -> list[Floats]:
        """One call a feed; measures that share a feed share the call. Raises ``LimitError`` before any call."""
        recipes = [_RECIPES[plan.measure.family](plan.measure, plan.contract) for plan in plans]
        feeds: dict[Feed, list[Recipe]] = {}
        for recipe in recipes:
            feeds.setdefault(recipe.feed, []).append(recipe)
        inputs = {feed: _prepare(prefixes, feed, _depth(wanted)) for feed, wanted in feeds.items()}
        values: dict[tuple[Feed, str], Floats] = {}
        for feed, wanted in feeds.items():
            for call, column in _call(inputs[feed], {recipe.call for recipe in wanted}).items():
                values[feed, call] = column
        return [_clip(values[recipe.feed, recipe.call], recipe.clip) for recipe in recipes]

    def native(self, judgments: Judgments, run: Run, measures: Sequence[str]) -> dict[str, dict[str, float]]:
        """``RelevanceEvaluator`` on dicts of the whole input; measures by trec_eval's names (``ndcg_cut_10``)."""
        import pytrec_eval

        if run.scores is None:
            raise UnsupportedError(
                "unsupported: pytrec_eval takes rankings with scores only",
                "give the run scores",
                backend=self.name,
                reason="the run has no scores",
            )
        refuse_harmful(judgments, measures)
        qrels: dict[str, dict[str, int]] = {query: {} for query in judgments.queries}
        for query, doc, grade in judgments.to_polars().iter_rows():
            qrels[query][doc] = grade
        ranked: dict[str, dict[str, float]] = {query: {} for query in run.queries}
        for query, doc, score, _ in run.to_polars().iter_rows():
            ranked[query][doc] = score
        found = pytrec_eval.RelevanceEvaluator(qrels, set(measures)).evaluate(ranked)
        return {name: {query: values[name] for query, values in found.items()} for name in measures}


def refuse_harmful(judgments: Judgments, measures: Sequence[str]) -> None:
    """Refuse what would kill the process or take gigabytes when pytrec_eval is called on raw input."""
    import re

    for name in measures:
        cutoffs = re.findall(r"[_.](\d+)", name)
        if any(int(cutoff) == 0 for cutoff in cutoffs) or re.match(r"ndcg[_.]\d", name):
            raise LimitError(f"{name!r} would end the process inside trec_eval", "name a cutoff of 1 or more")
    grades = judgments.grades
    if grades.dtype.kind == "f":
        raise LimitError("pytrec_eval takes integer grades only", "map the grades to integers")
    for query, (begin, end) in enumerate(zip(judgments.offsets, judgments.offsets[1:], strict=False)):
        if end > begin and grades[begin:end].max() < 0:
            raise LimitError(
                f"trec_eval crashes on a query with only negative grades ({judgments.queries[query]!r})",
                "leave the query out",
            )
    if len(grades) and grades.max() > MAX_GRADE:
        raise LimitError(f"grade {grades.max()} is too large for trec_eval", f"grades up to {MAX_GRADE} can be scored")


@cache
def gain_scale(table: tuple[tuple[float, float], ...]) -> int:
    """The smallest factor that makes every gain of a table an integer, gains read as the decimals they print as."""
    return lcm(*(Fraction(repr(gain)).denominator for _, gain in table))


@dataclass(frozen=True, eq=False)
class _Input:
    """Judgments and ranking lengths for one feed, by query index; queries that are not handed over have length 0."""

    qrels: dict[str, dict[str, int]]
    lengths: Ints


def _depth(recipes: Sequence[Recipe]) -> int | None:
    """How deep the deepest of some measures looks; None for the whole ranking."""
    depths = [recipe.depth for recipe in recipes]
    known = [depth for depth in depths if depth is not None]
    return max(known) if len(known) == len(depths) else None


def _prepare(prefixes: Prefixes, feed: Feed, depth: int | None) -> _Input:
    """The judgments and ranking lengths of a feed; raises ``LimitError`` for what trec_eval could not take."""
    hits: Hits = prefixes.listed if feed.grading == "judged" else prefixes.hits
    grades = _graded(prefixes, feed)
    limit = np.iinfo(np.int64).max if depth is None else depth
    inside = hits.rank <= limit
    where = np.zeros(len(grades), np.int64)  # the rank of each judged document, 0 outside the (cut) ranking
    where[hits.judgment[inside]] = hits.rank[inside]
    stays = _pool(prefixes, hits, grades, where, feed)
    if feed.grading != "preference":
        stays &= grades > 0  # zeros are worth nothing to any other measure
    query, rank, grade = prefixes.judged.query[stays], where[stays], grades[stays]
    last = np.zeros(prefixes.size, np.int64)
    np.maximum.at(last, query, rank)
    # A ranking is as long as it is where its length counts, else it ends after its last judged document.
    lengths = np.minimum(hits.returned, limit) if feed.exact else _rounded(np.maximum(last, 1))
    positive = np.bincount(query[grade > 0], minlength=prefixes.size) > 0
    lengths = np.where(positive & (hits.returned > 0), lengths, 0)
    if len(lengths) and lengths.max() > MAX_DEPTH:
        worst = int(lengths.argmax())
        raise LimitError(
            f"query {prefixes.queries[worst]!r} needs {int(lengths[worst])} documents handed to trec_eval",
            f"pytrec_eval is given up to {MAX_DEPTH}; --backend reference has no such limit",
        )
    return _Input(_qrels(query, rank, grade, np.flatnonzero(lengths)), lengths)


def _graded(prefixes: Prefixes, feed: Feed) -> Ints:
    """The grade that trec_eval is given for every judgment."""
    grades = prefixes.judged.grades
    if feed.grading == "judged":
        return np.ones(len(grades), np.int64)
    if feed.grading != "gain":
        return np.asarray(grades >= feed.parameter, np.int64)
    worth = gains(grades, Contract(gain=feed.parameter))
    scale = gain_scale(feed.parameter) if isinstance(feed.parameter, tuple) else 1
    if len(worth) and worth.max() * scale > MAX_GRADE:
        worst = int(worth.argmax())
        raise LimitError(
            f"grade {grades[worst]} (query {prefixes.queries[int(prefixes.judged.query[worst])]!r}) is worth "
            f"{worth[worst] * scale:.17g}, and trec_eval needs 8 bytes for every number up to that",
            f"pytrec_eval is given gains up to {MAX_GRADE}; use --backend reference, or another gain",
        )
    return np.asarray(np.rint(worth * scale), np.int64)


def _pool(prefixes: Prefixes, hits: Hits, grades: Ints, where: Ints, feed: Feed) -> npt.NDArray[np.bool_]:
    """Which judgments stay."""
    if feed.pool == "all":
        return np.ones(len(grades), np.bool_)
    stays = where > 0
    if feed.pool == "returned":
        stays[hits.judgment] = True
    elif feed.pool == "capped":
        query = prefixes.judged.query
        positive = grades > 0
        found = np.bincount(query[stays & positive], minlength=prefixes.size)
        known = np.bincount(query[positive], minlength=prefixes.size)
        room = np.minimum(feed.cut or 0, known) - found
        outside = np.flatnonzero(positive & ~stays)
        place = np.arange(len(outside)) - np.searchsorted(query[outside], query[outside])
        stays[outside[place < room[query[outside]]]] = True
    return stays


def _rounded(lengths: Ints) -> Ints:
    """Lengths rounded up to powers of two: fillers beyond the last judged document change nothing, and equal
    lengths can be handed over together."""
    exponents = np.ceil(np.log2(lengths)).astype(np.int64)
    return np.asarray(np.left_shift(np.int64(1), exponents), np.int64)


def _qrels(query: npt.NDArray[np.int32], rank: Ints, grade: Ints, handed: Ints) -> dict[str, dict[str, int]]:
    """Judgments as pytrec_eval takes them: a document at rank r is called "r", one outside the ranking "-n"."""
    ids = np.where(rank > 0, rank, -np.arange(1, len(rank) + 1))
    names, values = ids.astype(np.str_).tolist(), grade.tolist()
    begins, ends = (np.searchsorted(query, handed, side=side).tolist() for side in ("left", "right"))
    return {
        str(code): dict(zip(names[begin:end], values[begin:end], strict=True))
        for code, begin, end in zip(handed.tolist(), begins, ends, strict=True)
    }


def _call(given: _Input, calls: set[str]) -> dict[str, Floats]:
    """The values of some trec_eval measures; queries that were not handed over are 0."""
    import pytrec_eval

    columns = {call: np.zeros(len(given.lengths)) for call in calls}
    if not given.qrels:
        return columns
    evaluator = pytrec_eval.RelevanceEvaluator(given.qrels, calls)
    ranking: dict[str, float] = {}  # one ranking for all: it only grows, queries are handed over by length
    order = np.argsort(given.lengths, kind="stable")
    lengths = given.lengths[order]
    for length in np.unique(lengths[lengths > 0]).tolist():
        ranking.update((str(rank), -float(rank)) for rank in range(len(ranking) + 1, length + 1))
        begin, end = np.searchsorted(lengths, [length, length + 1])
        found = evaluator.evaluate({str(code): ranking for code in order[begin:end].tolist()})
        for code in order[begin:end].tolist():
            values = found[str(code)]
            for call, column in columns.items():
                column[code] = values[_answer_key(call)]
    return columns


def _clip(values: Floats, cutoff: int | None) -> Floats:
    """RR without the ranks beyond the cutoff: 1/rank below 1/k is 0."""
    return values if cutoff is None else np.asarray(np.where(values >= 1.0 / cutoff, values, 0.0))


def _answer_key(call: str) -> str:
    """The name under which pytrec_eval answers: set_F is told its parameter and answers without it."""
    return "set_F" if call.startswith("set_F") else call


BRIDGE = PytrecEvalBridge()
