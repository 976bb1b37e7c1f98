"""What any library needs to be fed for a measure under a contract, before that library's own format is thought of.

A recipe names a plain measure that libraries know (precision at 10, set recall, ...) and the feed that makes it
mean what the contract says: how judgments are graded, which stay, how long rankings are. A selection is the feed
filled in from the prefixes: numbers only, so that each bridge just lays them out as its library wants them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from metricpact.contracts.contract import Contract
from metricpact.contracts.definitions import gains
from metricpact.contracts.measures import Measure
from metricpact.contracts.prefixes import Hits, Prefixes
from metricpact.contracts.tables import Floats, Ints


@dataclass(frozen=True)
class Feed:
    """What a library is given for some measures: how judgments are graded, which stay, how long rankings are.

    ``grading`` is "relevant" (1 from the threshold on), "preference" (the same with the judged non-relevant ones
    kept as 0), "gain" or "judged". ``pool`` names the judged documents outside the cut ranking that stay:
    "all", "returned" (anywhere in the ranking), "capped" (so many that min(k, |R|) are relevant), "prefix" (none).
    ``exact`` keeps the number of returned documents; otherwise a ranking ends after its last judged document.
    ``ideal`` ranks the judged documents that stay by falling gain, in place of the run's ranking.
    ``merged`` makes ranks 1 and 2 one document worth both, so that a discount of 1 / log2(i + 1) falls as one without
    any up to rank 2 does: "alone", or "beside" the documents of the ideal ranking (of the run's, under ``ideal``), not
    ranked, so that both feeds have the same judgments; ``ideal_cut`` is the depth of the ideal ranking then.
    """

    grading: str
    parameter: Any = None
    pool: str = "all"
    cut: int | None = None
    exact: bool = False
    ideal: bool = False
    merged: str = ""
    ideal_cut: int | None = None

    def transforms(self) -> tuple[str, ...]:
        """The feed as the named steps of a plan."""
        steps = [] if self.ideal else ["freeze the order as falling scores"]
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
        if self.ideal:
            steps.append("rank the judged documents by gain")
        if self.merged:
            steps.append("make ranks 1 and 2 one document")
        if self.merged == "beside":
            steps.append("judge the ideal ranking's documents beside the run's")
        return tuple(steps)


@dataclass(frozen=True)
class Recipe:
    """A measure under a contract as a plain measure on a feed.

    ``family`` and ``cutoff`` are the plain measure (under it, SetP divides by what is returned and R uncut is
    SetR), ``depth`` is how deep it looks, ``clip`` the cutoff that an uncut RR still needs, ``beta`` SetF's weight.
    Where there is ``over``, the value is the quotient of this recipe's and that one's.
    """

    family: str
    cutoff: int | None
    feed: Feed
    depth: int | None = None
    clip: int | None = None
    beta: float | None = None
    over: Recipe | None = None

    def repairs(self, *, clips: bool) -> tuple[str, ...]:
        """What is done to the library's value, as the named steps of a plan; ``clips`` unless it cuts RR itself."""
        steps = [] if self.feed.ideal else ["zero for empty rankings"]
        steps.append("zero without a positive judgment")
        if clips and self.clip is not None:
            steps.append(f"zero beyond rank {self.clip}")
        if self.over is not None:
            steps.append("divide by the value of the ideal ranking")
        return tuple(steps)


def _precision(measure: Measure, contract: Contract) -> Recipe:
    k = measure.cutoff
    if contract.precision_denominator == "returned":
        return Recipe("SetP", None, Feed("relevant", contract.threshold, cut=k, exact=True), k)
    return Recipe("P", k, Feed("relevant", contract.threshold), k)


def _recall(measure: Measure, contract: Contract) -> Recipe:
    k = measure.cutoff
    if k is None:
        return Recipe("SetR", None, Feed("relevant", contract.threshold))
    if contract.recall_denominator == "capped":
        return Recipe("SetR", None, Feed("relevant", contract.threshold, "capped", k), k)
    return Recipe("R", k, Feed("relevant", contract.threshold), k)


def _reciprocal_rank(measure: Measure, contract: Contract) -> Recipe:
    k = measure.cutoff
    return Recipe("RR", None, Feed("relevant", contract.threshold), k, clip=k)


def _average_precision(measure: Measure, contract: Contract) -> Recipe:
    k = measure.cutoff
    if contract.ap_denominator == "hits":
        return Recipe("AP", None, Feed("relevant", contract.threshold, "prefix", k), k)
    if k is None:
        return Recipe("AP", None, Feed("relevant", contract.threshold))
    if contract.ap_denominator == "capped":
        return Recipe("AP", None, Feed("relevant", contract.threshold, "capped", k), k)
    return Recipe("AP", k, Feed("relevant", contract.threshold), k)


def _normalised_gain(measure: Measure, contract: Contract) -> Recipe:
    k, pool = measure.cutoff, _ideal_pool(contract)
    if contract.discount == "jk":
        feed = Feed("gain", contract.gain, pool, k, merged="beside", ideal_cut=_ideal_cut(measure, contract))
        return Recipe("nDCG", None, feed, over=Recipe("nDCG", None, replace(feed, ideal=True)))
    if k is None:
        return Recipe("nDCG", None, Feed("gain", contract.gain, pool))
    if contract.ideal_depth == "full":
        return Recipe("nDCG", None, Feed("gain", contract.gain, pool, k), k)
    return Recipe("nDCG", k, Feed("gain", contract.gain, pool), k)


def _discounted_gain(measure: Measure, contract: Contract) -> Recipe:
    if contract.discount == "jk":
        return Recipe("DCG", None, Feed("gain", contract.gain, cut=measure.cutoff, merged="alone"))
    return Recipe("DCG", measure.cutoff, Feed("gain", contract.gain), measure.cutoff)


def _ideal_gain(measure: Measure, contract: Contract) -> Recipe:
    k = _ideal_cut(measure, contract)
    if contract.discount == "jk":
        feed = Feed("gain", contract.gain, _ideal_pool(contract), ideal=True, merged="alone", ideal_cut=k)
        return Recipe("DCG", None, feed)
    return Recipe("DCG", k, Feed("gain", contract.gain, _ideal_pool(contract), ideal=True))


def _ideal_pool(contract: Contract) -> str:
    return "returned" if contract.ideal == "returned" else "all"


def _ideal_cut(measure: Measure, contract: Contract) -> int | None:
    return measure.cutoff if contract.ideal_depth == "cutoff" else None


def _simple(family: str, grading: str = "relevant", *, exact: bool = False) -> Callable[[Measure, Contract], Recipe]:
    def recipe(measure: Measure, contract: Contract) -> Recipe:
        feed = Feed(grading, contract.threshold, exact=exact)
        return Recipe(family, measure.cutoff, feed, measure.cutoff, beta=measure.beta)

    return recipe


def _judged(measure: Measure, contract: Contract) -> Recipe:
    return Recipe("SetP", None, Feed("judged", cut=measure.cutoff, exact=True), measure.cutoff)


_RECIPES: dict[str, Callable[[Measure, Contract], Recipe]] = {
    "P": _precision,
    "R": _recall,
    "RR": _reciprocal_rank,
    "AP": _average_precision,
    "nDCG": _normalised_gain,
    "DCG": _discounted_gain,
    "IDCG": _ideal_gain,
    "Success": _simple("Success"),
    "Rprec": _simple("Rprec"),
    "SetP": _simple("SetP", exact=True),
    "SetR": _simple("SetR"),
    "SetF": _simple("SetF", exact=True),
    "Bpref": _simple("Bpref", "preference"),
    "Judged": _judged,
}


def recipe_for(measure: Measure, contract: Contract) -> Recipe:
    """The recipe of a measure under a contract that has the measure's parameters applied."""
    return _RECIPES[measure.family](measure, contract)


def with_divisors(recipes: Iterable[Recipe]) -> list[Recipe]:
    """Recipes and those that they are divided by: all that a library has to be asked for."""
    return [part for recipe in recipes for part in (recipe, recipe.over) if part is not None]


def divided(recipe: Recipe, value: Callable[[Recipe], Floats]) -> Floats:
    """A recipe's values from what the library gave, divided by those of its divisor (0 by 0 is 0)."""
    given = value(recipe)
    if recipe.over is None:
        return given
    divisor = value(recipe.over)
    return np.asarray(np.divide(given, divisor, out=np.zeros_like(given), where=divisor > 0))


def common_depth(recipes: Sequence[Recipe]) -> int | None:
    """How deep the deepest of some measures looks; None for the whole ranking."""
    depths = [recipe.depth for recipe in recipes]
    known = [depth for depth in depths if depth is not None]
    return max(known) if len(known) == len(depths) else None


@dataclass(frozen=True, eq=False)
class Selection:
    """A feed filled in: the judged documents that stay, by query, and how long each query's ranking is.

    ``rank`` is 0 for a document outside the ranking. A query of length 0 is not handed to a library at all: its
    ranking is empty or nothing in it could count, and its value is 0.
    """

    query: npt.NDArray[np.int32]
    rank: Ints
    grade: npt.NDArray[Any]
    lengths: Ints

    def handed(self) -> Selection:
        """The same without the judgments of queries that are not handed over."""
        stays = self.lengths[self.query] > 0
        return Selection(self.query[stays], self.rank[stays], self.grade[stays], self.lengths)


def select(prefixes: Prefixes, feed: Feed, depth: int | None, grades: npt.NDArray[Any] | None = None) -> Selection:
    """Fill in a feed for measures that look ``depth`` deep; ``grades`` are its own ones (default: ``graded``)."""
    hits: Hits = prefixes.listed if feed.grading == "judged" else prefixes.hits
    grades = graded(prefixes, feed) if grades is None else grades
    if feed.merged:
        return _select_merged(prefixes, feed, grades)
    limit = np.iinfo(np.int64).max if depth is None else depth
    inside = hits.rank <= limit
    where = np.zeros(len(grades), np.int64)  # the rank of each judged document, 0 outside the (cut) ranking
    where[hits.judgment[inside]] = hits.rank[inside]
    stays = _pool(prefixes, hits, grades, where, feed)
    if feed.grading != "preference":
        stays &= grades > 0  # zeros are worth nothing to any other measure
    query, rank, grade = prefixes.judged.query[stays], where[stays], grades[stays]
    if feed.ideal:
        by = np.lexsort((-grade, query))
        query, grade = query[by], grade[by]
        rank = np.arange(1, len(query) + 1) - np.searchsorted(query, query)
        return Selection(query, rank, grade, np.bincount(query, minlength=prefixes.size).astype(np.int64))
    last = np.zeros(prefixes.size, np.int64)
    np.maximum.at(last, query, rank)
    # A ranking is as long as it is where its length counts, else it ends after its last judged document.
    lengths = np.minimum(hits.returned, limit) if feed.exact else np.maximum(last, 1)
    positive = np.bincount(query[grade > 0], minlength=prefixes.size) > 0
    return Selection(query, rank, grade, np.where(positive & (hits.returned > 0), lengths, 0))


def _select_merged(prefixes: Prefixes, feed: Feed, grades: npt.NDArray[Any]) -> Selection:
    """A feed whose ranks 1 and 2 are one document, and the ideal ranking's documents beside the run's."""
    hits, judged = prefixes.hits, prefixes.judged.query
    worth = grades[hits.judgment]
    seen = (worth > 0) & (hits.rank <= feed.cut if feed.cut is not None else True)
    listed = _merge(hits.query[seen], hits.rank[seen], worth[seen])
    stays = grades > 0
    if feed.pool == "returned":
        stays &= np.isin(np.arange(len(grades)), hits.judgment)
    by = np.lexsort((-grades[stays], judged[stays]))
    query, worth = judged[stays][by], grades[stays][by]
    place = np.arange(1, len(query) + 1) - np.searchsorted(query, query)
    deep = place <= feed.ideal_cut if feed.ideal_cut is not None else np.ones(len(place), np.bool_)
    ideal = _merge(query[deep], place[deep], worth[deep])
    ranked, other = (ideal, listed) if feed.ideal else (listed, ideal)
    lengths = np.ones(prefixes.size, np.int64)
    np.maximum.at(lengths, ranked[0], ranked[1])
    if feed.merged == "beside":
        ranked = (
            np.concatenate([ranked[0], other[0]]),
            np.concatenate([ranked[1], np.zeros(len(other[0]), np.int64)]),
            np.concatenate([ranked[2], other[2]]),
        )
        together = np.argsort(ranked[0], kind="stable")
        ranked = (ranked[0][together], ranked[1][together], ranked[2][together])
    handed = np.bincount(ranked[0], minlength=prefixes.size) > 0
    if not feed.ideal:
        handed &= hits.returned > 0
    return Selection(*ranked, np.where(handed, lengths, 0))


def _merge(
    query: npt.NDArray[np.int32], rank: Ints, worth: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.int32], Ints, npt.NDArray[Any]]:
    """Documents by query and rank with ranks 1 and 2 as one, and every later one a rank higher."""
    rank = np.maximum(rank - 1, 1)
    if not len(rank):
        return query, rank, worth
    first = np.flatnonzero(np.r_[True, (np.diff(query) != 0) | (np.diff(rank) != 0)])
    return query[first], rank[first], np.add.reduceat(worth, first)


def graded(prefixes: Prefixes, feed: Feed) -> npt.NDArray[Any]:
    """The grade that a library is given for every judgment: 0 or 1, or the gain."""
    grades = prefixes.judged.grades
    if feed.grading == "judged":
        return np.ones(len(grades), np.int64)
    if feed.grading != "gain":
        return np.asarray(grades >= feed.parameter, np.int64)
    return gains(grades, Contract(gain=feed.parameter))


def _pool(prefixes: Prefixes, hits: Hits, grades: npt.NDArray[Any], where: Ints, feed: Feed) -> npt.NDArray[np.bool_]:
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


def rounded(lengths: Ints) -> Ints:
    """Lengths rounded up to powers of two (0 stays 0): fillers beyond the last judged document change nothing, and
    equal lengths can be handed over together."""
    exponents = np.ceil(np.log2(np.maximum(lengths, 1))).astype(np.int64)
    return np.asarray(np.where(lengths > 0, np.left_shift(np.int64(1), exponents), 0), np.int64)


def clipped(values: Floats, cutoff: int | None) -> Floats:
    """RR without the ranks beyond the cutoff: 1/rank below 1/k is 0."""
    return values if cutoff is None else np.asarray(np.where(values >= 1.0 / cutoff, values, 0.0))
