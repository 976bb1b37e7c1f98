"""All small inputs, on every backend, against the oracle: four documents with every grading and ranking, all
weak orders of their scores, and one enumeration for each convention that those cannot move.

Every single-field neighbour of the chapter's contract is held to them, and must change something in one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations_with_replacement, permutations, product
from typing import Any

import metricpact as mp
import numpy as np
import oracle
import polars as pl
import pytest
from metricpact.bridges.registry import get_bridge, installed_backends
from metricpact.contracts.contract import FIELDS, Contract
from metricpact.contracts.errors import InputError, MetricpactError, UnsupportedError
from metricpact.contracts.measures import parse_measure
from metricpact.contracts.tables import Judgments, Run
from oracle import CHAPTER, Asked, JudgmentRow, OracleError, RunRow

BACKENDS = tuple(installed_backends())
TOLERANCE = 1e-12
CUT = ("P", "R", "RR", "AP", "nDCG", "DCG", "IDCG", "Success", "Judged")
UNCUT = ("R", "RR", "AP", "nDCG", "DCG", "IDCG", "Judged", "Rprec", "SetP", "SetR", "SetF", "Bpref")
TABLE = ((0, 0), (1, 1), (2, 4))
MEASURES = [
    *(Asked(family, cutoff) for family in CUT for cutoff in (1, 2, 3, 4)),
    *(Asked(family) for family in UNCUT),
    Asked("SetF", beta=2),
    Asked("SetF", beta=0.5),
    Asked("P", 3, rel=2),
    Asked("R", 2, rel=2),
    Asked("AP", rel=2),
    Asked("Bpref", rel=2),
    Asked("nDCG", 3, gain="linear"),
    Asked("nDCG", 2, gain=TABLE),
]
WITHOUT_GAINS = [asked for asked in MEASURES if asked.gain is None]
# One of each family.
FEW = [
    Asked("P", 2),
    Asked("R", 2),
    Asked("RR"),
    Asked("AP", 3),
    Asked("nDCG", 2),
    Asked("DCG", 2),
    Asked("IDCG", 2),
    Asked("Success", 2),
    Asked("Rprec"),
    Asked("SetP"),
    Asked("SetR"),
    Asked("SetF"),
    Asked("Bpref"),
    Asked("Judged", 2),
]

# Every value of a closed set comes from the package's own list, so that none can be forgotten here.
NEIGHBOURS: list[tuple[str, Any]] = [
    *((name, choice) for name, known in FIELDS.items() for choice in known.values if choice != CHAPTER[name]),
    ("threshold", 2),
    ("threshold", 0),
    ("gain", {1: 1, 2: 5}),
    ("gain", {0: 0, 1: 0.5, 2: 1.5}),
    ("gain", {1: 5, 2: 1}),
    ("queries", "every third"),
]


def _ids(neighbour: tuple[str, Any]) -> str:
    return f"{neighbour[0]}={neighbour[1]}".replace(" ", "")


@dataclass(frozen=True, eq=False)
class Batch:
    """Many queries scored in one call: rows in input order, and the ids of queries without any row."""

    judgments: list[JudgmentRow] = field(default_factory=list)
    run: list[RunRow] = field(default_factory=list)
    judged_empty: list[str] = field(default_factory=list)
    returned_empty: list[str] = field(default_factory=list)

    def add(
        self,
        query: str,
        grades: Mapping[str, float | None],
        rows: Sequence[tuple[str, float | None, int | None]],
    ) -> None:
        """One more query, judged and in the run."""
        judged = [(query, doc, grade) for doc, grade in grades.items() if grade is not None]
        self.judgments.extend(judged)
        if not judged:
            self.judged_empty.append(query)
        self.run.extend((query, doc, score, rank) for doc, score, rank in rows)
        if not rows:
            self.returned_empty.append(query)

    @cached_property
    def tables(self) -> tuple[Judgments, Run]:
        """The same as the package's own tables."""
        columns = [list(column) for column in zip(*self.judgments, strict=True)] or [[], [], []]
        rows = [list(column) for column in zip(*self.run, strict=True)] or [[], [], [], []]
        scores, ranks = rows[2], rows[3]
        return (
            Judgments.from_columns(*columns, empty=self.judged_empty),
            Run.from_columns(
                rows[0],
                rows[1],
                None if None in scores else scores,
                None if None in ranks or not ranks else ranks,
                empty=self.returned_empty,
            ),
        )

    @cached_property
    def queries(self) -> list[str]:
        """The judged queries."""
        return list(dict.fromkeys([*self.judged_empty, *(row[0] for row in self.judgments)]))

    @cached_property
    def memo(self) -> dict[tuple[str, str], Any]:
        """What the oracle has settled or counted already, by the fields that it may read for it."""
        return {}

    def settle(self, contract: Mapping[str, Any]) -> Settled:
        """The oracle's views under the contract."""
        reads = {name: contract[name] for name in oracle.SETTLED_BY}
        key = ("settled", str(reads))
        if key not in self.memo:
            views = oracle.settle(self.judgments, self.run, reads, self.judged_empty, self.returned_empty)
            self.memo[key] = Settled(views, list(dict.fromkeys(views.judged.values())))
        found: Settled = self.memo[key]
        return found

    def scope(self, contract: Mapping[str, Any]) -> Counter[oracle.View]:
        """The views that the contract's mean is over, counted."""
        key = ("scope", str(sorted(contract.items())))
        if key not in self.memo:
            self.memo[key] = oracle.scope_of(self.settle(contract).views, contract)
        found: Counter[oracle.View] = self.memo[key]
        return found

    def complete(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """The chapter's contract with the changes; a list of queries is taken from this batch."""
        if changes.get("queries") == "every third":
            changes = {**changes, "queries": tuple(sorted(self.queries[::3]))}
        return {**CHAPTER, **changes}


@dataclass(frozen=True, eq=False)
class Settled:
    """A batch's views, and the distinct ones among them."""

    views: oracle.Views
    distinct: list[oracle.View]

    def index(self, queries: Sequence[str]) -> np.ndarray[Any, Any]:
        """For each query, the number of its view among the distinct ones."""
        numbers = {view: number for number, view in enumerate(self.distinct)}
        return np.array([numbers[self.views.judged[query]] for query in queries], dtype=np.int64)


# ---------------------------------------------------------------- the enumerations


@cache
def universe() -> Batch:
    """Four documents, each unjudged or of grade 0, 1 or 2, and every subset of them in every order."""
    batch = Batch()
    docs = ["d1", "d2", "d3", "d4"]
    rankings = [order for size in range(5) for order in permutations(docs, size)]
    for number, (grades, ranking) in enumerate(product(product((None, 0, 1, 2), repeat=4), rankings)):
        # Rows stand in the documents' order, so that the order given differs from the order of the scores.
        rows = [(doc, float(-ranking.index(doc)), None) for doc in docs if doc in ranking]
        batch.add(f"q{number}", dict(zip(docs, grades, strict=True)), rows)
    assert len(batch.queries) == 65 * 256
    return batch


LEVELS = {
    "clear": (1.0, 2.0, 3.0, 4.0),
    "narrow": (1.0, 1 + 1e-9, 2.0, 2 + 1e-9),
    "overflow": (-1e300, 1.0, 1e200, 1e300),
    "underflow": (-1e-50, 0.0, 1e-50, 1e-45),
}
# The last two sort differently by bytes, by UTF-16 units, by letters or as numbers.
NAMES = (("d1", "d2", "d3", "d4"), ("10", "9", "09", "é"), ("ﬀ", "😀", "Z", "a"), ("a", "aa", "B", "b-"))
GRADINGS = ((2, 1, 0, None), (None, 0, 1, 2), (1, None, 2, 0), (0, 2, 1, 1))


def weak_orders(size: int) -> list[tuple[int, ...]]:
    """Every way to place `size` documents on levels 0, 1, … without leaving a level empty."""
    orders = [order for order in product(range(size), repeat=size) if set(order) == set(range(max(order) + 1))]
    assert len(orders) == {3: 13, 4: 75}[size]
    return orders


@cache
def tied(*, only_strict: bool = False) -> Batch:
    """All weak orders of four documents in every input order, scores near and far, and ranks that agree."""
    batch = Batch()
    number = 0
    for levels, docs, grades in zip(LEVELS.values(), NAMES, GRADINGS, strict=True):
        for order, listed in product(weak_orders(4), permutations(range(4))):
            if only_strict and (max(order) < 3 or levels != LEVELS["clear"]):
                continue
            scores = [levels[order[doc]] for doc in listed]
            # Ranks follow the scores and, among equal scores, run against the input order: no conflict,
            # and yet another ranking than `ties=given`.
            by_rank = sorted(range(4), key=lambda at: (-scores[at], -at))
            # Both zeros are one score.
            scores[0] = -0.0 if scores[0] == 0 else scores[0]
            rows = [(docs[doc], scores[at], 1 + by_rank.index(at)) for at, doc in enumerate(listed)]
            batch.add(f"q{number}", dict(zip(docs, grades, strict=True)), rows)
            number += 1
    return batch


@cache
def negative() -> Batch:
    """Three documents with grades down to -2, and every ranking of them."""
    batch = Batch()
    docs = ["a", "b", "c"]
    rankings = [order for size in range(4) for order in permutations(docs, size)]
    for number, (grades, ranking) in enumerate(product(product((None, -2, -1, 0, 1, 2), repeat=3), rankings)):
        rows = [(doc, float(-place), None) for place, doc in enumerate(ranking)]
        batch.add(f"q{number}", dict(zip(docs, grades, strict=True)), rows)
    return batch


@cache
def fractional() -> Batch:
    """Three documents with grades that are no integers, and every ranking of them."""
    batch = Batch()
    docs = ["a", "b", "c"]
    rankings = [order for size in range(4) for order in permutations(docs, size)]
    for number, (grades, ranking) in enumerate(product(product((None, 0, 0.5, 1, 1.5), repeat=3), rankings)):
        rows = [(doc, float(-place), None) for place, doc in enumerate(ranking)]
        batch.add(f"q{number}", dict(zip(docs, grades, strict=True)), rows)
    return batch


@cache
def repeated() -> Batch:
    """Three rows a ranking and two judgments a query, over documents that may come again."""
    batch = Batch()
    number = 0
    judged = list(product(product("ab", (0, 2)), product("ab", (0, 1))))
    for docs, scores in product(product("abc", repeat=3), permutations((3.0, 2.0, 1.0))):
        for first, second in judged:
            query = f"q{number}"
            batch.judgments.extend([(query, *first), (query, *second)])
            batch.run.extend((query, doc, score, None) for doc, score in zip(docs, scores, strict=True))
            number += 1
    return batch


@cache
def itself() -> Batch:
    """Three documents, one of which has the query's own id, with every grading and every ranking."""
    batch = Batch()
    for number, grades in enumerate(product((None, 0, 1, 2), repeat=3)):
        for place, ranking in enumerate(order for size in range(4) for order in permutations("sxy", size)):
            query = f"{number}.{place}"
            names = {"s": query, "x": "x", "y": "y"}
            rows = [(names[doc], float(-at), None) for at, doc in enumerate(ranking)]
            batch.add(query, dict(zip(names.values(), grades, strict=True)), rows)
    return batch


@cache
def ranked() -> Batch:
    """Every weak order of three documents' scores with every ranking that the rank column could say."""
    batch = Batch()
    docs = ("a", "b", "c")
    for number, (order, ranks, grades) in enumerate(
        product(weak_orders(3), permutations((1, 2, 3)), ((1, 0, None), (0, None, 1), (None, 2, 1)))
    ):
        rows = [(doc, float(order[at]), ranks[at]) for at, doc in enumerate(docs)]
        batch.add(f"q{number}", dict(zip(docs, grades, strict=True)), rows)
    return batch


STATES: dict[str, tuple[dict[str, int] | None, list[str] | None]] = {
    "hit": ({"A": 1, "B": 1}, ["A", "U"]),
    "miss": ({"A": 1}, ["U"]),
    "without positives": ({"N": 0}, ["N", "U"]),
    "judged, no row": ({}, ["U"]),
    "nothing returned": ({"A": 1}, []),
    "missing": ({"A": 2}, None),
    "missing, without positives": ({"N": 0}, None),
    "extra": (None, ["A"]),
    "extra, nothing returned": (None, []),
}


def populations() -> Iterator[Batch]:
    """Every choice of three kinds of query (judged, returned, both or one only) that shares a query."""
    for kinds in combinations_with_replacement(STATES, 3):
        batch = Batch()
        for number, kind in enumerate(kinds):
            grades, docs = STATES[kind]
            query = f"q{number}"
            if grades is not None:
                batch.judgments.extend((query, doc, grade) for doc, grade in grades.items())
                batch.judged_empty.extend([] if grades else [query])
            if docs is not None:
                batch.run.extend((query, doc, float(-at), None) for at, doc in enumerate(docs))
                batch.returned_empty.extend([] if docs else [query])
        returned = {row[0] for row in batch.run} | set(batch.returned_empty)
        if returned & set(batch.queries):
            yield batch


# ---------------------------------------------------------------- holding the backends to the oracle


@cache
def _plans(backend: str, contract: Contract) -> dict[Asked, str | None]:
    bridge = get_bridge(backend)
    return {asked: getattr(bridge.plan(parse_measure(str(asked)), contract), "reason", None) for asked in MEASURES}


def _supported(backend: str, contract: Contract, measures: Sequence[Asked]) -> list[Asked]:
    return [asked for asked in measures if _plans(backend, contract)[asked] is None]


def _floats(numbers: Sequence[oracle.Number | None]) -> np.ndarray[Any, Any]:
    return np.array([math.nan if number is None else float(number) for number in numbers], dtype=np.float64)


def _differ(got: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    same = (np.isnan(got) & np.isnan(expected)) | (np.abs(got - expected) <= TOLERANCE)
    return np.flatnonzero(~same)


_VALUES: dict[tuple[str, Asked], dict[oracle.View, oracle.Value]] = {}


def _expected(batch: Batch, plain: Mapping[str, Any], asked: Asked) -> tuple[list[oracle.Value], oracle.Mean]:
    """The oracle's value for every distinct view of the batch, and its mean.

    A value is worked out once for all contracts that agree on what the oracle may read for it.
    """
    settled = batch.settle(plain)
    reads = {name: plain[name] for name in oracle.VALUED_BY}
    known = _VALUES.setdefault((str(reads), asked), {})
    for view in settled.distinct:
        if view not in known:
            known[view] = oracle.value(view, asked, reads)
    by_view = {view: known[view] for view in settled.distinct}
    return list(by_view.values()), oracle.mean_of(settled.views, batch.scope(plain), by_view, asked, plain)


def hold(batch: Batch, changes: Mapping[str, Any], backend: str, measures: Sequence[Asked] = MEASURES) -> int:
    """Score the batch in one call and compare everything with the oracle; the number of values compared."""
    plain = batch.complete(changes)
    contract = Contract().replace(**{name: plain[name] for name in changes})
    settled = batch.settle(plain)
    supported = _supported(backend, contract, measures)
    assert supported
    scores = mp.score(*batch.tables, [str(asked) for asked in supported], contract=contract, backend=backend)
    means = scores.mean
    columns = scores.to_polars().partition_by("measure", as_dict=True)
    assert list(columns) == [(str(asked),) for asked in supported]
    order = columns[str(supported[0]),]["query_id"]
    queries = order.to_list()
    assert sorted(queries) == sorted(batch.queries)
    index = settled.index(queries)
    faults: list[str] = []
    for asked in supported:
        name = str(asked)
        values, mean = _expected(batch, plain, asked)
        fractions = [oracle.judged_of(view, asked, plain) for view in settled.distinct]
        columns_of = columns[name,]
        assert columns_of["query_id"].equals(order)
        for title, numbers in (("value", [value.number for value in values]), ("judged_fraction", fractions)):
            got, expected = columns_of[title], _floats(numbers)[index]
            assert not got.is_nan().any()
            faults.extend(
                _told(batch, queries[at], f"{name}: {title} {got[int(at)]}, expected {expected[at]}")
                for at in _differ(got.fill_null(math.nan).to_numpy(), expected)[:3]
            )
        reasons = pl.Series([value.reason for value in values], dtype=pl.String).gather(index)
        wrong = columns_of["reason"].ne_missing(reasons).arg_true().to_list()
        faults.extend(
            _told(batch, queries[at], f"{name}: {columns_of['reason'][at]}, expected {reasons[at]}") for at in wrong[:3]
        )
        for part in oracle.Mean._fields:
            number, wanted_number = getattr(means[name], part), getattr(mean, part)
            if not oracle.close(number, wanted_number):
                shown = None if wanted_number is None else float(wanted_number)
                faults.append(f"{name}: the mean's {part} is {number}, expected {shown}")
    assert faults[:10] == []
    return len(supported) * len(batch.queries)


def _told(batch: Batch, query: str, fault: str) -> str:
    judged = {doc: grade for q, doc, grade in batch.judgments if q == query}
    rows = [row[1:] for row in batch.run if row[0] == query]
    return f"{fault}; judged {judged}, returned {rows}"


def _settles(batch: Batch, plain: Mapping[str, Any]) -> bool:
    """Whether the oracle takes the batch."""
    try:
        batch.settle(plain)
    except OracleError:
        return False
    return True


def _scores(batch: Batch, contract: Contract, backend: str) -> bool:
    """Whether the package takes the batch; every backend has this measure."""
    try:
        mp.score(*batch.tables, ["nDCG@1"], contract=contract, backend=backend)
    except InputError:
        return False
    return True


def _both_reject(batch: Batch, changes: Mapping[str, Any], backend: str) -> None:
    plain = batch.complete(changes)
    with pytest.raises(OracleError):
        batch.settle(plain)
    contract = Contract().replace(**changes)
    supported = [str(asked) for asked in _supported(backend, contract, FEW)]
    with pytest.raises(InputError):
        mp.score(*batch.tables, supported, contract=contract, backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("neighbour", [None, *NEIGHBOURS], ids=lambda n: "chapter" if n is None else _ids(n))
def test_every_small_input_scores_as_the_oracle_says(neighbour: tuple[str, Any] | None, backend: str) -> None:
    """Four documents, every grading, every ranking, every measure: 16,640 queries in one call."""
    changes = {} if neighbour is None else dict([neighbour])
    if changes == {"order": "rank"}:
        # There is no rank column here; the weak orders have one.
        _both_reject(universe(), changes, backend)
        return
    measures = MEASURES if neighbour is None else _measures_under(*neighbour)
    if not _supported(backend, Contract().replace(**_legal(changes)), measures):
        assert backend != "reference"
        return
    assert hold(universe(), changes, backend, measures) > 0


def _legal(changes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: ("q0",) if value == "every third" else value for name, value in changes.items()}


GRADED = ("nDCG", "DCG", "IDCG")
TOUCHES: dict[str, tuple[str, ...]] = {
    "precision_denominator": ("P",),
    "recall_denominator": ("R",),
    "ap_denominator": ("AP",),
    "gain": GRADED,
    "discount": GRADED,
    "ideal": GRADED,
    "ideal_depth": GRADED,
    # These say which rows count, and no such row is in the universe: each has an enumeration of its own.
    **dict.fromkeys(("score_width", "rank_conflict", "extra_query", "negative_grade", "duplicate"), ()),
    "self_match": (),
}


def _measures_under(name: str, value: Any) -> list[Asked]:
    """Every measure where the convention touches them all; else those that it touches, and one of each family."""
    if name == "ties" and value != "average":
        return FEW
    if name not in TOUCHES:
        return MEASURES
    return [asked for asked in MEASURES if asked.family in TOUCHES[name] or asked in FEW]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("neighbour", [None, *NEIGHBOURS], ids=lambda n: "chapter" if n is None else _ids(n))
def test_what_a_plan_calls_unsupported_is_refused(neighbour: tuple[str, Any] | None, backend: str) -> None:
    """A plan that says no is kept: scoring raises, names the measure's reason, and gives no number."""
    contract = Contract().replace(**_legal({} if neighbour is None else dict([neighbour])))
    refused = {asked: reason for asked, reason in _plans(backend, contract).items() if reason is not None}
    if backend == "reference":
        assert refused == {}
    for asked, reason in refused.items():
        with pytest.raises(UnsupportedError) as raised:
            mp.score({"q0": {"A": 1}}, {"q0": ["A"]}, [str(asked)], contract=contract, backend=backend)
        assert reason in str(raised.value)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("width", ["float64", "float32"])
@pytest.mark.parametrize("ties", ["given", "docid_desc", "docid_asc", "average"])
def test_ties_and_widths(ties: str, width: str, backend: str) -> None:
    """All weak orders in all input orders, scores that one width ties, ids that only their bytes order."""
    changes = {"ties": ties, "score_width": width}
    measures = MEASURES if ties == "average" else FEW
    if not _supported(backend, Contract().replace(**changes), measures):
        assert ties == "average"
        assert backend != "reference"
        return
    assert hold(tied(), changes, backend, measures) > 0


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("order", ["rank", "given"])
def test_orders_that_look_at_no_score(order: str, backend: str) -> None:
    """The rank column, or the order of the rows, settles what scores leave tied."""
    assert hold(tied(), {"order": order}, backend, FEW) > 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_ties_can_be_an_error(backend: str) -> None:
    """Without a tie the rankings score as ever; with one the input is rejected, at the width that ties it."""
    assert hold(tied(only_strict=True), {"ties": "error"}, backend, FEW) > 0
    _both_reject(tied(), {"ties": "error"}, backend)
    for scores, width in product(product((1.0, 1 + 1e-9, 2.0), repeat=3), ("float64", "float32")):
        batch = Batch()
        rows = [(doc, score, None) for doc, score in zip("abc", scores, strict=True)]
        batch.add("q", {"a": 1}, rows)
        changes = {"ties": "error", "score_width": width}
        expected = _settles(batch, batch.complete(changes))
        got = _scores(batch, Contract().replace(**changes), backend)
        assert (scores, width, got) == (scores, width, expected)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("other", [{}, {"unjudged": "removed"}, {"gain": "linear"}, {"threshold": 0}], ids=str)
@pytest.mark.parametrize("value", ["nonrelevant", "unjudged"])
def test_negative_grades(value: str, other: dict[str, Any], backend: str) -> None:
    """A grade below 0 becomes 0, or no judgment at all; the query stays judged."""
    assert hold(negative(), {"negative_grade": value, **other}, backend) > 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_negative_grades_are_rejected_by_the_chapter(backend: str) -> None:
    """One grade below 0 anywhere, returned or not, and nothing is scored."""
    _both_reject(negative(), {}, backend)
    for grades, ranking in product(product((None, -1, 0, 1), repeat=2), (["a", "b"], ["b"], [])):
        batch = Batch()
        batch.add("q", dict(zip("ab", grades, strict=True)), [(doc, None, None) for doc in ranking])
        assert (grades, _scores(batch, Contract(), backend)) == (grades, -1 not in grades)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("threshold", [1, 2])
@pytest.mark.parametrize("table", [{0.5: 1, 1.5: 4}, {0.5: 0.25, 1: 1, 1.5: 1.5}], ids=str)
def test_fractional_grades(table: dict[float, float], threshold: int, backend: str) -> None:
    """A gain table admits the fractions that it lists, and only these; the threshold compares them as they are."""
    assert hold(fractional(), {"gain": table, "threshold": threshold}, backend, WITHOUT_GAINS) > 0
    _both_reject(fractional(), {"gain": {0.5: 1}}, backend)
    _both_reject(fractional(), {}, backend)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("order", ["score", "given"])
@pytest.mark.parametrize("value", ["first", "last"])
def test_duplicates(value: str, order: str, backend: str) -> None:
    """Of a document listed or judged again, the first or the last row counts, in input order."""
    assert hold(repeated(), {"duplicate": value, "order": order}, backend, FEW) > 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_duplicates_are_rejected_by_the_chapter(backend: str) -> None:
    """A ranking or a query's judgments that name a document twice are rejected, and only these."""
    _both_reject(repeated(), {}, backend)
    for docs, judged in product(product("abc", repeat=3), product("ab", repeat=2)):
        batch = Batch(
            [("q", doc, grade) for doc, grade in zip(judged, (1, 0), strict=True)],
            [("q", doc, score, None) for doc, score in zip(docs, (3.0, 2.0, 1.0), strict=True)],
        )
        sound = len(set(docs)) == 3 and len(set(judged)) == 2
        assert (docs, judged, _scores(batch, Contract(), backend)) == (docs, judged, sound)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("value", ["keep", "remove"])
def test_self_matches(value: str, backend: str) -> None:
    """A returned document with the query's id stays or goes; its judgment counts towards R either way."""
    assert hold(itself(), {"self_match": value}, backend) > 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_self_match_goes_before_anything_can_reject_it(backend: str) -> None:
    """Removing it comes first: its tie, its second row or its contradicting rank is no fault any more."""
    sound = [("q", "a", 2.0, 1), ("q", "b", 1.0, 2)]
    for extra in (("q", "q", 2.0, 3), ("q", "q", 9.0, 9)):
        batch = Batch([("q", "a", 1)], [*sound, extra, extra])
        assert hold(batch, {"self_match": "remove", "ties": "error"}, backend, FEW) > 0
        _both_reject(batch, {"ties": "error"}, backend)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("order", ["score", "rank", "given"])
def test_rank_columns(order: str, backend: str) -> None:
    """A rank column may contradict the scores where it is ignored, and orders only where it is asked to."""
    assert hold(ranked(), {"order": order, "rank_conflict": "ignore"}, backend, FEW) > 0


@pytest.mark.parametrize("order", ["score", "rank", "given"])
def test_rank_columns_that_contradict(order: str) -> None:
    """Strictly against scores that order is rejected, and equal ranks where ranks order; nothing else is."""
    for levels, ranks, conflict in product(weak_orders(3), weak_orders(3), ("error", "ignore")):
        rows = [(doc, float(level), rank) for doc, level, rank in zip("abc", levels, ranks, strict=True)]
        batch = Batch()
        batch.add("q", {"a": 1}, rows)
        changes = {"order": order, "rank_conflict": conflict}
        expected = _settles(batch, batch.complete(changes))
        got = _scores(batch, Contract().replace(**changes), "reference")
        assert (rows, changes, got) == (rows, changes, expected)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("extra_query", ["ignore", "error", "zero"])
@pytest.mark.parametrize("queries", ["judged", "answered", "every third"])
def test_whose_mean(queries: str, extra_query: str, backend: str) -> None:
    """Missing, extra, empty and positive-free queries in every mixture of three: whose mean, what counts."""
    measures = _supported(backend, Contract(), [Asked("P", 1), Asked("R"), Asked("nDCG", 2), Asked("Judged", 1)])
    compared = 0
    for batch in populations():
        plain = batch.complete({"queries": queries, "extra_query": extra_query})
        contract = Contract().replace(queries=plain["queries"], extra_query=extra_query)
        names = [str(asked) for asked in measures]
        try:
            expected = oracle.score(
                batch.judgments,
                batch.run,
                measures,
                plain,
                judged_empty=batch.judged_empty,
                returned_empty=batch.returned_empty,
            )
        except OracleError:
            with pytest.raises(InputError):
                mp.score(*batch.tables, names, contract=contract, backend=backend)
            continue
        scores = mp.score(*batch.tables, names, contract=contract, backend=backend)
        assert (batch, oracle.disagreements(expected, scores)) == (batch, [])
        compared += 1
    assert compared > 20


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_listed_query_must_be_judged(backend: str) -> None:
    """A list of queries that names one without judgments is an error, in the run or not."""
    for stranger in ("extra", "nowhere"):
        contract = Contract().replace(queries=("q", stranger))
        run = {"q": ["A"], "extra": ["A"]}
        with pytest.raises(MetricpactError, match=stranger):
            mp.score({"q": {"A": 1}}, run, ["nDCG@1"], contract=contract, backend=backend)


# ---------------------------------------------------------------- every neighbour matters


@pytest.mark.parametrize("neighbour", NEIGHBOURS, ids=_ids)
def test_every_neighbour_changes_something(neighbour: tuple[str, Any]) -> None:
    """No value of a field is idle: each one changes a number, or turns a number into an error or back."""
    batches = [itself(), ranked(), repeated(), tied(), negative(), *populations(), universe()]
    assert any(_told_apart(batch, dict([neighbour])) for batch in batches)


def _told_apart(batch: Batch, changes: Mapping[str, Any]) -> bool:
    contracts = [batch.complete({}), batch.complete(changes)]
    taken = [_settles(batch, plain) for plain in contracts]
    if not all(taken):
        return any(taken)
    before, after = (batch.settle(plain) for plain in contracts)
    for asked in MEASURES:
        (values, mean), (other_values, other_mean) = (_expected(batch, plain, asked) for plain in contracts)
        if mean != other_mean:
            return True
        pairs = set(zip(before.index(batch.queries), after.index(batch.queries), strict=True))
        if any(values[one] != other_values[other] for one, other in pairs):
            return True
    return False
