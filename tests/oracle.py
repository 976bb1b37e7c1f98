"""The oracle: every measure under every convention, worked out in the slow and obvious way.

It is written from the chapter and the page of rules alone and shares nothing with the package: lists and
dicts, one loop a formula, exact fractions wherever a value is rational and correctly rounded sums of floats
for DCG. Ties under `average` are settled by listing every order, so inputs must stay small.
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from typing import Any, NamedTuple

Grade = int | float
Number = Fraction | float
JudgmentRow = tuple[str, str, Grade]
RunRow = tuple[str, str, float | None, int | None]
Hits = tuple[bool, ...]
Gains = tuple[Fraction, ...]

CHAPTER: dict[str, Any] = {
    "order": "score",
    "ties": "given",
    "score_width": "float64",
    "rank_conflict": "error",
    "threshold": 1,
    "precision_denominator": "cutoff",
    "recall_denominator": "relevant",
    "ap_denominator": "relevant",
    "gain": "exponential",
    "discount": "log2",
    "ideal": "judgments",
    "ideal_depth": "cutoff",
    "unjudged": "zero",
    "undefined": "null",
    "queries": "judged",
    "extra_query": "ignore",
    "negative_grade": "error",
    "duplicate": "error",
    "self_match": "keep",
}


SETTLED_BY = (
    "order",
    "ties",
    "score_width",
    "rank_conflict",
    "gain",
    "extra_query",
    "negative_grade",
    "duplicate",
    "self_match",
)
"""The fields that `settle` may read (a gain table says which fractional grades are grades)."""


VALUED_BY = (
    "threshold",
    "precision_denominator",
    "recall_denominator",
    "ap_denominator",
    "gain",
    "discount",
    "ideal",
    "ideal_depth",
    "unjudged",
    "undefined",
)
"""The fields that `value` may read."""


class OracleError(ValueError):
    """An input, a measure or a contract that the rules reject."""


class Asked(NamedTuple):
    """A measure in plain values; `gain` is a name or a tuple of (grade, gain) pairs."""

    family: str
    cutoff: int | None = None
    rel: int | None = None
    gain: str | tuple[tuple[Grade, float], ...] | None = None
    beta: float = 1.0

    def __str__(self) -> str:
        parameters = []
        if self.rel is not None:
            parameters.append(f"rel={self.rel}")
        if self.gain == "exponential":
            parameters.append("dcg='exp-log2'")
        elif self.gain == "linear":
            parameters.append("dcg='log2'")
        elif self.gain is not None:
            assert not isinstance(self.gain, str)
            parameters.append("gains={" + ",".join(f"{grade}:{gain}" for grade, gain in self.gain) + "}")
        if self.family == "SetF" and self.beta != 1:
            parameters.append(f"beta={self.beta}")
        inner = f"({','.join(parameters)})" if parameters else ""
        return self.family + inner + ("" if self.cutoff is None else f"@{self.cutoff}")


class View(NamedTuple):
    """One query once ids are settled, as grades only.

    `orders` holds the ranking (None: unjudged), once for each equally likely order; `grades` holds all judged
    grades of the query, largest first.
    """

    orders: tuple[tuple[Grade | None, ...], ...]
    grades: tuple[Grade, ...]


class Views(NamedTuple):
    """All judged queries as views, the judged ones that the run lacks, and the run's unjudged queries."""

    judged: dict[str, View]
    missing: list[str]
    extra: list[str]


class Value(NamedTuple):
    """A number, or None and why."""

    number: Number | None
    reason: str | None


class Mean(NamedTuple):
    """A mean over the queries where the measure has a value, and the counts that go with it."""

    value: Number | None
    n: int
    undefined: int
    missing: int
    extra: int
    judged_fraction: Number | None


class Result(NamedTuple):
    """One measure: a value and a judged fraction a query, and the mean."""

    values: dict[str, Value]
    judged: dict[str, Number | None]
    mean: Mean


# ---------------------------------------------------------------- from rows to views


def settle(
    judgments: Sequence[JudgmentRow],
    run: Sequence[RunRow],
    contract: Mapping[str, Any],
    judged_empty: Iterable[str] = (),
    returned_empty: Iterable[str] = (),
) -> Views:
    """Take the steps in their order: self matches, duplicates, order and ties, negative grades."""
    for query, doc, *_ in [*judgments, *run]:
        if query == "" or doc == "":
            raise OracleError("an id is empty")
    judged: dict[str, list[tuple[str, Grade]]] = {query: [] for query in judged_empty}
    for query, doc, grade in judgments:
        judged.setdefault(query, []).append((doc, grade))
    returned: dict[str, list[tuple[str, float | None, int | None]]] = {query: [] for query in returned_empty}
    for query, doc, score, rank in run:
        if score is not None and not math.isfinite(score):
            raise OracleError(f"query {query}, document {doc}: the score is not finite")
        returned.setdefault(query, []).append((doc, score, rank))
    if not set(judged) & set(returned):
        raise OracleError("the judgments share no query with the run")
    extra = sorted(set(returned) - set(judged))
    if extra and contract["extra_query"] == "error":
        raise OracleError(f"the run has queries that are not judged: {extra}")

    views = {}
    for query, pairs in judged.items():
        grades = _grades_of(query, pairs, contract)
        rows = returned.get(query, [])
        if contract["self_match"] == "remove":
            rows = [row for row in rows if row[0] != query]
        rows = _without_duplicates(query, rows, contract)
        orders = {tuple(grades.get(doc) for doc in order) for order in _orders_of(query, rows, contract)}
        # Every arrangement of the grades comes from the same number of orders of the documents, so that the
        # set of arrangements has the same average as all the orders.
        views[query] = View(tuple(sorted(orders, key=str)), tuple(sorted(grades.values(), reverse=True)))
    return Views(views, sorted(set(judged) - set(returned)), extra)


def _without_duplicates(query: str, rows: list[Any], contract: Mapping[str, Any]) -> list[Any]:
    kept = []
    for position, row in enumerate(rows):
        before = any(other[0] == row[0] for other in rows[:position])
        after = any(other[0] == row[0] for other in rows[position + 1 :])
        if contract["duplicate"] == "error" and before:
            raise OracleError(f"query {query}: document {row[0]} twice")
        if contract["duplicate"] == "first" and before:
            continue
        if contract["duplicate"] == "last" and after:
            continue
        kept.append(row)
    return kept


def _grades_of(query: str, pairs: list[tuple[str, Grade]], contract: Mapping[str, Any]) -> dict[str, Grade]:
    grades = {}
    for doc, grade in _without_duplicates(query, pairs, contract):
        listed = isinstance(contract["gain"], Mapping) and grade in contract["gain"]
        if grade != int(grade) and not listed:
            raise OracleError(f"query {query}, document {doc}: the grade is not an integer")
        if grade < 0 and contract["negative_grade"] == "error":
            raise OracleError(f"query {query}, document {doc}: the grade is negative")
        if grade < 0 and contract["negative_grade"] == "unjudged":
            continue
        grades[doc] = max(grade, 0)
    return grades


def _orders_of(
    query: str, rows: list[tuple[str, float | None, int | None]], contract: Mapping[str, Any]
) -> list[list[str]]:
    """Every order that the contract allows for one ranking: one, except under `ties=average`."""
    docs = [doc for doc, _, _ in rows]
    scores = {doc: _narrow(score, contract) for doc, score, _ in rows if score is not None}
    ranks = {doc: rank for doc, _, rank in rows if rank is not None}
    if contract["order"] == "given" or not (scores or ranks):
        return [docs]
    if contract["order"] == "rank":
        if len(ranks) < len(docs):
            raise OracleError(f"query {query}: there is no rank to order by")
        if len(set(ranks.values())) < len(docs):
            raise OracleError(f"query {query}: two documents have one rank")
        return [sorted(docs, key=lambda doc: ranks[doc])]
    if not scores:
        return [docs]
    # A rank column can contradict the scores only where the scores order.
    if contract["rank_conflict"] == "error":
        for higher, lower in product(ranks, ranks):
            if ranks[higher] < ranks[lower] and scores[higher] < scores[lower]:
                raise OracleError(f"query {query}: the rank of {higher} contradicts its score")
    levels = sorted(set(scores.values()), reverse=True)
    groups = [[doc for doc in docs if scores[doc] == level] for level in levels]
    if contract["ties"] == "error" and any(len(group) > 1 for group in groups):
        raise OracleError(f"query {query}: two documents have one score")
    if contract["ties"] == "docid_asc":
        groups = [sorted(group, key=lambda doc: doc.encode("utf-8")) for group in groups]
    if contract["ties"] == "docid_desc":
        groups = [sorted(group, key=lambda doc: doc.encode("utf-8"), reverse=True) for group in groups]
    if contract["ties"] == "average":
        choices = product(*(permutations(group) for group in groups))
        return [[doc for group in choice for doc in group] for choice in choices]
    return [[doc for group in groups for doc in group]]


def _narrow(score: float, contract: Mapping[str, Any]) -> float:
    if contract["score_width"] == "float64":
        return float(score)
    try:
        return float(struct.unpack("f", struct.pack("f", score))[0])
    except OverflowError:
        return math.copysign(math.inf, score)


# ---------------------------------------------------------------- the measures, for one order of one query
# `hits` says of each rank whether its document is relevant, `k` is None for an uncut measure,
# `relevant` is |R|. A function is given what its formula names and nothing else.


@cache
def precision(hits: Hits, k: int, denominator: str) -> Fraction:
    """Relevant in the prefix, over k or over the number of documents in the prefix."""
    found = sum(hits[:k])
    if denominator == "cutoff":
        return Fraction(found, k)
    returned = min(k, len(hits))
    return Fraction(found, returned) if returned else Fraction(0)


@cache
def recall(hits: Hits, k: int | None, relevant: int, denominator: str) -> Fraction:
    """Relevant in the prefix, over |R| or over the most that k places could hold."""
    if denominator == "capped" and k is not None:
        return Fraction(sum(hits[:k]), min(k, relevant))
    return Fraction(sum(hits[:k]), relevant)


@cache
def reciprocal_rank(hits: Hits, k: int | None) -> Fraction:
    """One over the rank of the first relevant document in the prefix."""
    for rank, hit in enumerate(hits[:k], start=1):
        if hit:
            return Fraction(1, rank)
    return Fraction(0)


@cache
def average_precision(hits: Hits, k: int | None, relevant: int, denominator: str) -> Fraction:
    """The precision at every relevant rank of the prefix, added up, over the denominator."""
    total = Fraction(0)
    for rank, hit in enumerate(hits[:k], start=1):
        if hit:
            total += Fraction(sum(hits[:rank]), rank)
    if denominator == "hits":
        found = sum(hits[:k])
        return total / found if found else Fraction(0)
    if denominator == "capped" and k is not None:
        return total / min(k, relevant)
    return total / relevant


@cache
def success(hits: Hits, k: int | None) -> Fraction:
    """One if anything in the prefix is relevant."""
    return Fraction(any(hits[:k]))


@cache
def r_precision(hits: Hits, relevant: int) -> Fraction:
    """Precision at |R|."""
    return Fraction(sum(hits[:relevant]), relevant)


@cache
def set_precision(hits: Hits) -> Fraction:
    """Relevant among all that was returned."""
    return Fraction(sum(hits), len(hits)) if hits else Fraction(0)


@cache
def set_f(hits: Hits, relevant: int, beta: float) -> Fraction:
    """(1 + b²)PR / (b²P + R)."""
    p, r, square = set_precision(hits), Fraction(sum(hits), relevant), Fraction(beta) ** 2
    if p == 0 and r == 0:
        return Fraction(0)
    return (1 + square) * p * r / (square * p + r)


@cache
def bpref(ranking: tuple[Grade | None, ...], grades: tuple[Grade, ...], threshold: Grade) -> Fraction:
    """trec_eval's: over the relevant documents returned, how few judged non-relevant ones precede each."""
    relevant = sum(grade >= threshold for grade in grades)
    nonrelevant = sum(0 <= grade < threshold for grade in grades)
    total, above = Fraction(0), 0
    for grade in ranking:
        if grade is None:
            continue
        if grade >= threshold:
            total += 1 - Fraction(min(above, relevant), min(nonrelevant, relevant)) if above else Fraction(1)
        else:
            above += 1
    return total / relevant


@cache
def judged_fraction(ranking: tuple[Grade | None, ...], k: int | None) -> Fraction | None:
    """Judged documents in the prefix over documents in the prefix; None where nothing was returned."""
    prefix = ranking[:k]
    if not prefix:
        return None
    return Fraction(sum(grade is not None for grade in prefix), len(prefix))


@cache
def dcg(gains: Gains, k: int | None, discount: str) -> float:
    """Gains over their discounts, added up along the prefix."""
    terms = []
    for rank, gain in enumerate(gains[:k], start=1):
        if discount == "log2":
            terms.append(float(gain) / math.log2(rank + 1))
        elif rank <= 2:
            terms.append(float(gain))
        else:
            terms.append(float(gain) / math.log2(rank))
    return math.fsum(terms)


@cache
def ideal_dcg(gains: Gains, k: int | None, discount: str, depth: str) -> float:
    """DCG of the gains in their best order, to the cutoff or to the end."""
    best = tuple(sorted(gains, reverse=True))
    return dcg(best, k if depth == "cutoff" else None, discount)


@cache
def ndcg(observed: float, ideal: float) -> float:
    """DCG over its ideal; 0 where the ideal (of the returned documents) is 0."""
    return observed / ideal if ideal else 0.0


# ---------------------------------------------------------------- one query under a contract


def gain_of(grade: Grade | None, gain: Any) -> Fraction:
    """What a grade is worth; an unjudged document is worth nothing."""
    if grade is None:
        return Fraction(0)
    if gain == "exponential":
        return Fraction(2) ** int(grade) - 1
    if gain == "linear":
        return Fraction(grade)
    return Fraction(dict(gain).get(grade, grade))


@cache
def any_gain(grades: tuple[Grade, ...], gain: Any) -> bool:
    """Whether any judged document is worth anything, so that an ideal is above 0."""
    return any(gain_of(grade, gain) > 0 for grade in grades)


def value(view: View, measure: Asked, contract: Mapping[str, Any]) -> Value:
    """The measure's value for one query, after the contract's word on undefined ones."""
    threshold, gain = _parameters(measure, contract)
    relevant = sum(grade >= threshold for grade in view.grades)
    has_gain = any_gain(view.grades, gain if isinstance(gain, str) else tuple(dict(gain).items()))
    reason = None
    if measure.family == "Judged":
        reason = None if view.orders[0] else "nothing-returned"
    elif measure.family == "nDCG":
        reason = None if has_gain else "no-gain"
    elif measure.family not in ("P", "SetP", "DCG", "IDCG"):
        reason = None if relevant else "no-positives"

    # The query as a whole is dropped before anybody asks for its measure.
    if contract["undefined"] == "skip" and not relevant:
        reason = "no-positives"
    elif contract["undefined"] == "skip" and not has_gain:
        reason = "no-gain"
    if reason is not None:
        if contract["undefined"] == "zero":
            return Value(Fraction(0), None)
        if contract["undefined"] == "one":
            return Value(Fraction(1), None)
        return Value(None, reason)
    return Value(_average([_one_order(order, view, measure, contract) for order in view.orders]), None)


def judged_of(view: View, measure: Asked, contract: Mapping[str, Any]) -> Number | None:
    """The companion of a value: the judged fraction of the prefix it is made from, before condensing."""
    threshold, _ = _parameters(measure, contract)
    depth = measure.cutoff
    if measure.family == "Rprec":
        depth = sum(grade >= threshold for grade in view.grades)
    return _judged_to(view, depth)


@cache
def _judged_to(view: View, depth: int | None) -> Number | None:
    fractions = [judged_fraction(order, depth) for order in view.orders]
    known = [fraction for fraction in fractions if fraction is not None]
    return _average(known) if known else None


def _parameters(measure: Asked, contract: Mapping[str, Any]) -> tuple[Grade, Any]:
    if measure.cutoff is not None and (isinstance(measure.cutoff, bool) or measure.cutoff < 1):
        raise OracleError(f"{measure}: a cutoff is a whole number from 1")
    if measure.family == "P" and measure.cutoff is None:
        raise OracleError("P needs a cutoff")
    threshold = contract["threshold"] if measure.rel is None else measure.rel
    return threshold, contract["gain"] if measure.gain is None else measure.gain


def _one_order(ranking: tuple[Grade | None, ...], view: View, measure: Asked, contract: Mapping[str, Any]) -> Number:
    threshold, gain = _parameters(measure, contract)
    k = measure.cutoff
    if measure.family == "Judged":
        fraction = judged_fraction(ranking, k)
        assert fraction is not None
        return fraction
    if contract["unjudged"] == "removed":
        ranking = tuple(grade for grade in ranking if grade is not None)
    hits = tuple(grade is not None and grade >= threshold for grade in ranking)
    relevant = sum(grade >= threshold for grade in view.grades)
    if measure.family in ("DCG", "IDCG", "nDCG"):
        gains = tuple(gain_of(grade, gain) for grade in ranking)
        known = ranking if contract["ideal"] == "returned" else view.grades
        best = tuple(gain_of(grade, gain) for grade in known)
        observed = dcg(gains, k, contract["discount"])
        ideal = ideal_dcg(best, k, contract["discount"], contract["ideal_depth"])
        return {"DCG": observed, "IDCG": ideal, "nDCG": ndcg(observed, ideal)}[measure.family]
    match measure.family:
        case "P":
            assert k is not None
            return precision(hits, k, contract["precision_denominator"])
        case "R":
            return recall(hits, k, relevant, contract["recall_denominator"])
        case "RR":
            return reciprocal_rank(hits, k)
        case "AP":
            return average_precision(hits, k, relevant, contract["ap_denominator"])
        case "Success":
            return success(hits, k)
        case "Rprec":
            return r_precision(hits, relevant)
        case "SetP":
            return set_precision(hits)
        case "SetR":
            return recall(hits, None, relevant, "relevant")
        case "SetF":
            return set_f(hits, relevant, measure.beta)
        case "Bpref":
            return bpref(ranking, view.grades, threshold)
    raise OracleError(f"no measure is called {measure.family}")


def _average(numbers: Sequence[Number]) -> Number:
    if len(numbers) == 1:
        return numbers[0]
    return sum((Fraction(number) for number in numbers), Fraction(0)) / len(numbers)


# ---------------------------------------------------------------- all queries


def scope_of(views: Views, contract: Mapping[str, Any]) -> Counter[View]:
    """The queries that the contract averages over, counted by what they look like."""
    asked = contract["queries"]
    # A listed query that is not judged can still count as 0 where the contract says so of extra queries.
    zeros = set(views.extra) if contract["extra_query"] == "zero" else set()
    scope = list(views.judged) if isinstance(asked, str) else [query for query in asked if query not in zeros]
    strangers = sorted(set(scope) - set(views.judged))
    if strangers:
        raise OracleError(f"listed, but not judged: {strangers}")
    if asked == "answered":
        absent = set(views.missing)
        scope = [query for query in scope if query not in absent]
    return Counter(views.judged[query] for query in scope)


def mean_of(
    views: Views,
    scope: Mapping[View, int],
    by_view: Mapping[View, Value],
    measure: Asked,
    contract: Mapping[str, Any],
) -> Mean:
    """The mean over the scope, with its counts; judged fractions are averaged wherever there is one."""
    numbers = [(by_view[view].number, count) for view, count in scope.items()]
    fractions = [(judged_of(view, measure, contract), count) for view, count in scope.items()]
    n = sum(count for number, count in numbers if number is not None)
    undefined = sum(count for number, count in numbers if number is None)
    judged_n = sum(count for fraction, count in fractions if fraction is not None)
    if contract["extra_query"] == "zero":
        asked = contract["queries"]
        # A list says whose mean it is: extra queries that it does not name are not in it.
        n += len(views.extra if isinstance(asked, str) else set(views.extra) & set(asked))
    return Mean(
        _total(numbers) / n if n else None,
        n,
        undefined,
        len(views.missing),
        len(views.extra),
        _total(fractions) / judged_n if judged_n else None,
    )


def _total(counted: Iterable[tuple[Number | None, int]]) -> Fraction:
    """The exact sum of numbers that occur several times each; undefined ones add nothing."""
    by_denominator: Counter[int] = Counter()
    for number, count in counted:
        if number is not None:
            numerator, denominator = number.as_integer_ratio()
            by_denominator[denominator] += numerator * count
    return sum((Fraction(*parts[::-1]) for parts in by_denominator.items()), Fraction(0))


def score(
    judgments: Sequence[JudgmentRow],
    run: Sequence[RunRow],
    measures: Iterable[Asked],
    contract: Mapping[str, Any] = CHAPTER,
    *,
    judged_empty: Iterable[str] = (),
    returned_empty: Iterable[str] = (),
) -> dict[Asked, Result]:
    """Every measure under the contract: a value a judged query and the mean."""
    settling = {name: contract[name] for name in SETTLED_BY}
    views = settle(judgments, run, settling, judged_empty, returned_empty)
    scope = scope_of(views, contract)
    valuing = {name: contract[name] for name in VALUED_BY}
    results = {}
    for measure in measures:
        by_view = {view: value(view, measure, valuing) for view in set(views.judged.values())}
        results[measure] = Result(
            {query: by_view[view] for query, view in views.judged.items()},
            {query: judged_of(view, measure, contract) for query, view in views.judged.items()},
            mean_of(views, scope, by_view, measure, contract),
        )
    return results


# ---------------------------------------------------------------- holding somebody's scores against it


def disagreements(expected: Mapping[Asked, Result], got: Any, tolerance: float = 1e-12) -> list[str]:
    """Everything in which a scores object differs from the oracle's results, one line each."""
    lines = []
    means = got.mean
    for measure, result in expected.items():
        name = str(measure)
        values, reasons, judged = got.by_query(name), got.reasons(name), got.judged_fraction(name)
        if not set(values) == set(reasons) == set(judged) == set(result.values):
            lines.append(f"{name}: queries {sorted(values)}, expected {sorted(result.values)}")
            continue
        for query, (number, reason) in result.values.items():
            if not close(values[query], number, tolerance) or reasons[query] != reason:
                got_one = f"{values[query]} ({reasons[query]})"
                lines.append(f"{name}, {query}: {got_one}, expected {_shown(number)} ({reason})")
            if not close(judged[query], result.judged[query], tolerance):
                wanted = _shown(result.judged[query])
                lines.append(f"{name}, {query}: judged {judged[query]}, expected {wanted}")
        mean = means[name]
        for field in Mean._fields:
            if not close(getattr(mean, field), getattr(result.mean, field), tolerance):
                wanted = _shown(getattr(result.mean, field))
                lines.append(f"{name}: mean's {field} is {getattr(mean, field)}, expected {wanted}")
    return lines


def close(got: Number | None, expected: Number | None, tolerance: float = 1e-12) -> bool:
    """Both undefined, or numbers no further apart than the tolerance."""
    if got is None or expected is None:
        return got is None and expected is None
    return abs(got - float(expected)) <= tolerance


def _shown(number: Number | None) -> str:
    return str(number) if number is None else f"{float(number)!r}"
