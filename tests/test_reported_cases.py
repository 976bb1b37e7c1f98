"""Small inputs on which evaluation tools have gone wrong or gone apart: each states one convention, with
numbers worked out by hand. Whatever a backend can give, both backends give.
"""

from __future__ import annotations

import gzip
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from math import log2
from pathlib import Path
from typing import Any, NamedTuple

import metricpact as mp
import numpy as np
import pytest
from metricpact.contracts.errors import ContractError, InputError, LimitError, MeasureError, UnsupportedError
from pytest import approx

BOTH = ("reference", "pytrec_eval")
REFERENCE = ("reference",)
SECOND = 1 / log2(3)  # the discount at rank 2
THIRD = 1 / 2  # and at rank 3


class Case(NamedTuple):
    """A sentence, an input, a measure and its values: per query, or the mean under the key `mean`."""

    says: str
    qrels: Mapping[str, Mapping[str, float]]
    run: Mapping[str, Any]
    measure: str
    expected: Mapping[str, float | None]
    settings: Mapping[str, Any] = {}
    backends: tuple[str, ...] = BOTH


def ranking(*documents: str) -> dict[str, float]:
    """Documents with falling scores."""
    return {document: float(len(documents) - place) for place, document in enumerate(documents)}


TWO = {"tea": {"leaf": 1}, "rye": {"grain": 1}}
ONLY_TEA = {"tea": ranking("leaf")}
NOTHING_KNOWN = {"ash": {"oak": 0}, "elm": {"fir": 1}, "yew": {}}
NOTHING_FOUND = {"ash": ranking("oak"), "elm": ranking("pine", "fir"), "yew": ranking("box")}
FOUR = {"q": {"a": 1, "b": 1, "c": 1, "d": 1}}
SELF = {"7": {"7": 1, "8": 1, "9": 1}}
NEGATIVE = {"q": {"spam": -1, "good": 1, "plain": 0}}
NEGATIVE_RUN = {"q": ranking("spam", "good", "plain")}

CASES = {
    "missing query, all judged": Case(
        "A judged query that the run misses counts as 0.", TWO, ONLY_TEA, "AP", {"mean": 0.5, "tea": 1, "rye": 0}
    ),
    "missing query, answered only": Case(
        "Over answered queries it is left out of the mean, and still has a row.",
        TWO, ONLY_TEA, "AP", {"mean": 1, "tea": 1, "rye": 0}, {"queries": "answered"},
    ),
    "rows of all judged queries": Case(
        "Each value belongs to its query, in whatever order judgments and run name them.",
        {"1": {"a": 1}, "2": {"b": 1}, "3": {"c": 1}}, {"3": ranking("c"), "1": ranking("z", "a")}, "RR",
        {"1": 0.5, "2": 0, "3": 1, "mean": 0.5},
    ),
    "list of topics": Case(
        "A list of queries is what the mean is over; the other rows stay.",
        TWO, ONLY_TEA, "AP", {"mean": 1, "rye": 0}, {"queries": ["tea"]},
    ),
    "list with a missing query": Case(
        "A listed query that the run misses counts as 0.",
        TWO, ONLY_TEA, "AP", {"mean": 0.5}, {"queries": ["rye", "tea"]},
    ),
    "empty hit list": Case(
        "A query with an empty ranking is one that found nothing.",
        TWO, {**ONLY_TEA, "rye": {}}, "RR@10", {"mean": 0.5, "rye": 0},
    ),
    "empty hit list, answered only": Case(
        "A query with an empty ranking was answered.",
        TWO, {**ONLY_TEA, "rye": {}}, "RR@10", {"mean": 0.5}, {"queries": "answered"},
    ),
    "empty rankings in the middle": Case(
        "Empty rankings between others shift nothing.",
        {str(n): {f"d{n}": 1} for n in range(1, 6)},
        {"1": ranking("d1"), "2": {}, "3": ranking("d3"), "4": {}, "5": ranking("d5")}, "P@1",
        {"1": 1, "2": 0, "3": 1, "4": 0, "5": 1, "mean": 0.6},
    ),
    "unjudged query": Case(
        "A query without judgments is no part of a mean.",
        {"tea": {"leaf": 1}}, {**ONLY_TEA, "oil": ranking("nut")}, "AP", {"mean": 1},
    ),
    "unjudged query as zero": Case(
        "Unless the contract counts it as 0.",
        {"tea": {"leaf": 1}}, {**ONLY_TEA, "oil": ranking("nut")}, "AP", {"mean": 0.5}, {"extra_query": "zero"},
    ),
    "reserved query id": Case(
        "A query may be called what a library's cache calls nothing.",
        {"no query": {"a": 1}}, {"no query": ranking("a")}, "P@1", {"no query": 1},
    ),
    "ties as listed": Case(
        "Equal scores keep the order in which they are listed.",
        {"q": {"m": 1}}, {"q": {"a": 1.0, "m": 1.0, "z": 1.0}}, "RR", {"q": 0.5},
    ),
    "ties by id, down": Case(
        "Ids are compared as bytes, so that 9 stands above 10.",
        {"q": {"10": 1}}, {"q": {"9": 1.0, "10": 1.0}}, "RR", {"q": 0.5}, {"ties": "docid_desc"},
    ),
    "ties by id, up": Case(
        "And 10 above 9 the other way round.",
        {"q": {"10": 1}}, {"q": {"9": 1.0, "10": 1.0}}, "RR", {"q": 1}, {"ties": "docid_asc"},
    ),
    "ties by id beyond ASCII": Case(
        "UTF-8 bytes order ids: U+FFFF comes before U+10000.",
        {"q": {"\uffff": 1}}, {"q": {"\U00010000": 1.0, "\uffff": 1.0}}, "RR", {"q": 1}, {"ties": "docid_asc"},
    ),
    "constant scores, averaged": Case(
        "A system that scores everything alike earns the mean over all orders.",
        {"q": {"p": 1}}, {"q": {"p": 0.5, "x": 0.5, "y": 0.5, "z": 0.5, "w": 0.5}}, "RR",
        {"q": (1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) / 5}, {"ties": "average"}, REFERENCE,
    ),
    "scores apart in double precision": Case(
        "Scores that differ in the ninth digit differ.",
        {"q": {"b": 1}}, {"q": {"c": 1.000000001, "b": 1.000000002}}, "RR", {"q": 1},
        {"ties": "docid_desc"},
    ),
    "scores alike in single precision": Case(
        "Compared in single precision they tie, and the id decides.",
        {"q": {"b": 1}}, {"q": {"c": 1.000000001, "b": 1.000000002}}, "RR", {"q": 0.5},
        {"ties": "docid_desc", "score_width": "float32"},
    ),
    "scores beyond single precision": Case(
        "What single precision cannot hold is all alike.",
        {"q": {"b": 1}}, {"q": {"c": 1e200, "b": 1e300}}, "RR", {"q": 0.5},
        {"ties": "docid_desc", "score_width": "float32"},
    ),
    "ideal of the judgments": Case(
        "A relevant document that was not returned belongs to the ideal.",
        {"q": {"a": 1, "b": 1}}, {"q": ranking("a", "x")}, "nDCG@2", {"q": 1 / (1 + SECOND)},
    ),
    "ideal of the returned": Case(
        "Unless the contract makes the ideal of returned documents.",
        {"q": {"a": 1, "b": 1}}, {"q": ranking("a", "x")}, "nDCG@2", {"q": 1}, {"ideal": "returned"},
    ),
    "ideal cut at k": Case(
        "More relevant documents than k leave a perfect prefix perfect.",
        FOUR, {"q": ranking("a", "b")}, "nDCG@2", {"q": 1},
    ),
    "ideal in full": Case(
        "Unless the ideal is summed to its end.",
        FOUR, {"q": ranking("a", "b")}, "nDCG@2",
        {"q": (1 + SECOND) / (1 + SECOND + THIRD + 1 / log2(5))}, {"ideal_depth": "full"},
    ),
    "fewer relevant than k": Case(
        "One relevant document at rank 1 is all there is to gain.",
        {"q": {"a": 1}}, {"q": ranking("a", "x")}, "nDCG@10", {"q": 1},
    ),
    "queries are not pooled": Case(
        "The mean is of the queries' values, and no value of all documents in one list.",
        {"q1": {"c": 1}, "q2": {"d": 1}},
        {"q1": {"a": 0.9, "b": 0.7, "c": 0.1}, "q2": {"d": 0.5, "e": 0.4}}, "nDCG",
        {"mean": (THIRD + 1) / 2},
    ),
    "one gain on both sides": Case(
        "Gain and ideal go by the same rule.", {"q": {"a": 3}}, {"q": ranking("a")}, "nDCG@5", {"q": 1}
    ),
    "exponential gain": Case(
        "2^g − 1: grades 1 and 2 in the wrong order.",
        {"q": {"a": 2, "b": 1}}, {"q": ranking("b", "a")}, "nDCG", {"q": (1 + 3 * SECOND) / (3 + SECOND)},
    ),
    "linear gain": Case(
        "g: the same with another number.",
        {"q": {"a": 2, "b": 1}}, {"q": ranking("b", "a")}, "nDCG", {"q": (1 + 2 * SECOND) / (2 + SECOND)},
        {"gain": "linear"},
    ),
    "grade of 59": Case(
        "2^59 − 1 is exact enough in double precision.",
        {"q": {"a": 59}}, {"q": ranking("x", "a")}, "nDCG@2", {"q": SECOND}, {}, REFERENCE,
    ),
    "grades of 59 and 58": Case(
        "Their gains stand two to one.",
        {"q": {"a": 59, "b": 58}}, {"q": ranking("b", "a")}, "nDCG@2", {"q": (1 + 2 * SECOND) / (2 + SECOND)},
        {}, REFERENCE,
    ),
    "recall": Case("Two of four.", FOUR, {"q": ranking("a", "b")}, "R@2", {"q": 0.5}),
    "recall, capped": Case(
        "Two of the two that fit.", FOUR, {"q": ranking("a", "b")}, "R@2", {"q": 1}, {"recall_denominator": "capped"}
    ),
    "success": Case("Success is neither.", FOUR, {"q": ranking("a", "x")}, "Success@2", {"q": 1}),
    "documents that no corpus has": Case(
        "A relevant document counts whether or not it could be returned.",
        {"q": {"a": 1, "gone": 1}}, {"q": ranking("a", "b")}, "R@2", {"q": 0.5},
    ),
    "precision of a short ranking": Case(
        "One of four ranks, however few were filled.",
        {"q": {"a": 1}}, {"q": ranking("a")}, "P@4", {"q": 0.25},
    ),
    "precision of what was returned": Case(
        "Unless the contract divides by that.",
        {"q": {"a": 1}}, {"q": ranking("a")}, "P@4", {"q": 1}, {"precision_denominator": "returned"},
    ),
    "AP over all relevant": Case(
        "Ranks 2 and 3 of three relevant documents.",
        {"q": {"a": 1, "b": 1, "c": 1}}, {"q": ranking("x", "a", "b")}, "AP@3", {"q": (1 / 2 + 2 / 3) / 3},
    ),
    "AP over min(k, relevant)": Case(
        "At k = 2, one hit of two that fit.",
        {"q": {"a": 1, "b": 1, "c": 1}}, {"q": ranking("x", "a", "b")}, "AP@2", {"q": (1 / 2) / 2},
        {"ap_denominator": "capped"},
    ),
    "AP over hits": Case(
        "The two hits alone.",
        {"q": {"a": 1, "b": 1, "c": 1}}, {"q": ranking("x", "a", "b")}, "AP@3", {"q": (1 / 2 + 2 / 3) / 2},
        {"ap_denominator": "hits"},
    ),
    "AP over no hits": Case(
        "Nothing found is 0, and not nothing divided by nothing.",
        {"q": {"a": 1}}, {"q": ranking("x", "y")}, "AP@2", {"q": 0}, {"ap_denominator": "hits"},
    ),
    "AP of a perfect list": Case(
        "A perfect list is worth exactly 1.", {"q": {"a": 1, "b": 1}}, {"q": ranking("a", "b")}, "AP", {"q": 1}
    ),
    "first relevant only": Case(
        "RR looks at the first relevant document and at no other.",
        {"q": {"a": 1, "b": 1}}, {"q": ranking("x", "a", "y", "b")}, "RR", {"q": 0.5},
    ),
    "RR beyond the cutoff": Case(
        "A first relevant document behind the cutoff is none.",
        {"q": {"a": 1}}, {"q": ranking("x", "y", "a")}, "RR@2", {"q": 0},
    ),
    "self match kept": Case(
        "A document named like its query counts.", SELF, {"7": ranking("7", "8", "9")}, "R@2", {"7": 2 / 3}
    ),
    "self match removed": Case(
        "Removed from the ranking, it makes room, and is still known to be relevant.",
        SELF, {"7": ranking("7", "8", "9")}, "R@3", {"7": 2 / 3}, {"self_match": "remove"},
    ),
    "self match removed, nDCG": Case(
        "The ideal still holds it.",
        SELF, {"7": ranking("7", "8", "9")}, "nDCG@3", {"7": (1 + SECOND) / (1 + SECOND + THIRD)},
        {"self_match": "remove"},
    ),
    "composed and decomposed id": Case(
        "Ids that look alike and are not do not match.",
        {"q": {"na\u00efve": 1}}, {"q": ranking("nai\u0308ve")}, "AP", {"q": 0},
    ),
    "leading zero": Case("Ids are no numbers.", {"q": {"042": 1}}, {"q": ranking("42", "042")}, "RR", {"q": 0.5}),
    "id with a suffix": Case(
        "An id is never the beginning of another.",
        {"q": {"page~1": 1}}, {"q": ranking("page", "page~1")}, "RR", {"q": 0.5},
    ),
    "fraction that the gain table lists": Case(
        "A fractional grade is admitted by a table that says what it is worth.",
        {"q": {"a": 0.5, "b": 1}}, {"q": ranking("a", "b")}, "nDCG(gains={0:0,0.5:0.5,1:1})@2",
        {"q": (0.5 + SECOND) / (1 + 0.5 * SECOND)},
    ),
    "negative grade as nonrelevant, bpref": Case(
        "A grade of −1 taken for 0 is a judged document above the relevant one.",
        NEGATIVE, NEGATIVE_RUN, "Bpref", {"q": 0}, {"negative_grade": "nonrelevant"},
    ),
    "negative grade as unjudged, bpref": Case(
        "Taken for no judgment, it is none.",
        NEGATIVE, NEGATIVE_RUN, "Bpref", {"q": 1}, {"negative_grade": "unjudged"},
    ),
    "negative grade, no negative gain": Case(
        "A negative grade takes nothing away.",
        NEGATIVE, NEGATIVE_RUN, "nDCG", {"q": SECOND}, {"negative_grade": "nonrelevant", "gain": "linear"},
    ),
    "negative grade, judged": Case(
        "Taken for 0 it is judged.",
        NEGATIVE, NEGATIVE_RUN, "Judged@1", {"q": 1}, {"negative_grade": "nonrelevant"},
    ),
    "negative grade, not judged": Case(
        "Taken for no judgment it is not.",
        NEGATIVE, NEGATIVE_RUN, "Judged@1", {"q": 0}, {"negative_grade": "unjudged"},
    ),
    "negative grade, condensed": Case(
        "And a condensed list leaves it out.",
        NEGATIVE, NEGATIVE_RUN, "P@1", {"q": 1}, {"negative_grade": "unjudged", "unjudged": "removed"},
    ),
    "only negative grades": Case(
        "A query of nothing but negative grades has no positive, and crashes nothing.",
        {"p": {"a": 1}, "q": {"b": -2, "c": -3}}, {"p": ranking("a"), "q": ranking("b", "c")}, "Bpref",
        {"p": 1, "q": None, "mean": 1}, {"negative_grade": "unjudged"},
    ),
    "threshold of the measure": Case(
        "rel=2 makes grade 1 nonrelevant.",
        {"q": {"a": 1, "b": 2}}, {"q": ranking("a", "b")}, "RR(rel=2)", {"q": 0.5},
    ),
    "threshold of the contract": Case(
        "The same for every measure.",
        {"q": {"a": 1, "b": 2}}, {"q": ranking("a", "b")}, "AP", {"q": 0.5}, {"threshold": 2},
    ),
    "threshold and nDCG": Case(
        "nDCG goes by gains and has no threshold.",
        {"q": {"a": 1, "b": 2}}, {"q": ranking("b", "a")}, "nDCG", {"q": 1}, {"threshold": 2},
    ),
    "nothing known, null": Case(
        "Without a positive judgment there is no AP, and the mean is over the rest.",
        NOTHING_KNOWN, NOTHING_FOUND, "AP", {"ash": None, "elm": 0.5, "yew": None, "mean": 0.5},
    ),
    "nothing known, zero": Case(
        "It may count as 0.",
        NOTHING_KNOWN, NOTHING_FOUND, "AP", {"ash": 0, "elm": 0.5, "yew": 0, "mean": 1 / 6}, {"undefined": "zero"},
    ),
    "nothing known, one": Case(
        "It may count as 1.",
        NOTHING_KNOWN, NOTHING_FOUND, "AP", {"ash": 1, "elm": 0.5, "yew": 1, "mean": 5 / 6}, {"undefined": "one"},
    ),
    "nothing known, precision": Case(
        "Precision is defined and 0.",
        NOTHING_KNOWN, NOTHING_FOUND, "P@2", {"ash": 0, "elm": 0.5, "yew": 0, "mean": 1 / 6},
    ),
    "nothing known, skipped": Case(
        "Dropping the query drops its precision too.",
        NOTHING_KNOWN, NOTHING_FOUND, "P@2", {"ash": None, "elm": 0.5, "yew": None, "mean": 0.5},
        {"undefined": "skip"},
    ),
    "nothing known, nDCG": Case(
        "No gain, no nDCG.", NOTHING_KNOWN, NOTHING_FOUND, "nDCG", {"ash": None, "elm": SECOND, "mean": SECOND}
    ),
    "nothing known anywhere": Case(
        "A mean over no query is no number.", {"q": {"a": 0}}, {"q": ranking("a")}, "AP", {"q": None, "mean": None}
    ),
    "one candidate": Case("The only document, relevant.", {"q": {"a": 1}}, {"q": ranking("a")}, "nDCG", {"q": 1}),
    "empty run": Case("Nothing returned at all is 0.", {"q": {"a": 1}}, {}, "nDCG", {"q": 0, "mean": 0}),
    "judged share": Case(
        "One of the first two is judged.",
        {"q": {"a": 1, "b": 0}}, {"q": ranking("new", "a", "b")}, "Judged@2", {"q": 0.5},
    ),
    "judged share of a short ranking": Case(
        "The share is of the documents there, not of k.",
        {"q": {"a": 1}}, {"q": ranking("new", "a")}, "Judged@10", {"q": 0.5},
    ),
    "judged share of nothing": Case(
        "Nothing returned has no judged share.", TWO, ONLY_TEA, "Judged@5", {"tea": 1, "rye": None, "mean": 1}
    ),
    "unjudged as nonrelevant": Case(
        "An unjudged document takes its rank.", {"q": {"a": 1}}, {"q": ranking("new", "a")}, "RR", {"q": 0.5}
    ),
    "unjudged removed": Case(
        "A condensed list has no unjudged documents.",
        {"q": {"a": 1}}, {"q": ranking("new", "a")}, "RR", {"q": 1}, {"unjudged": "removed"},
    ),
    "bpref without judged negatives": Case(
        "Nothing judged stands above.", {"q": {"a": 1}}, {"q": ranking("x", "a")}, "Bpref", {"q": 1}
    ),
    "bpref of a document not returned": Case(
        "A relevant document that is not returned adds 0; one above which half of the negatives stand, 1/2.",
        {"q": {"a": 1, "b": 1, "m": 0, "n": 0}}, {"q": ranking("m", "a")}, "Bpref", {"q": (1 / 2 + 0) / 2},
    ),
    "bpref with few negatives": Case(
        "With one judged negative and two relevant documents the divisor is 1.",
        {"q": {"a": 1, "b": 1, "n": 0}}, {"q": ranking("a", "n", "b")}, "Bpref", {"q": (1 + 0) / 2},
    ),
    "R-precision": Case(
        "At depth |R| = 2, one of two.",
        {"q": {"a": 1, "b": 1}}, {"q": ranking("a", "x", "b")}, "Rprec", {"q": 0.5},
    ),
    "F of a set": Case(
        "P = 1/3, R = 1/2 and β = 2: recall weighs more.",
        {"q": {"a": 1, "b": 1}}, {"q": ranking("x", "a", "y")}, "SetF(beta=2)",
        {"q": 5 * (1 / 3) * (1 / 2) / (4 * (1 / 3) + 1 / 2)},
    ),
    "list of ids": Case(
        "A list without scores is a ranking as given.", {"q": {"a": 1}}, {"q": ["x", "a"]}, "RR", {"q": 0.5}
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "backend"), [(name, backend) for name, case in CASES.items() for backend in case.backends]
)
def test_a_case_has_the_values_worked_out_by_hand(name: str, backend: str) -> None:
    """The sentence of the case, on each backend that can give the measure."""
    case = CASES[name]
    scores = mp.score(case.qrels, case.run, [case.measure], backend=backend, set=case.settings)
    found = {**scores.by_query(case.measure), "mean": scores.mean[case.measure].value}
    assert {key: found[key] for key in case.expected} == approx(dict(case.expected), abs=1e-12)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.backends == REFERENCE])
def test_a_case_that_the_library_cannot_give_is_refused_there(name: str) -> None:
    """Averaged ties and grades beyond the library's memory are errors on pytrec_eval, and no other number."""
    case = CASES[name]
    with pytest.raises((UnsupportedError, LimitError)):
        mp.score(case.qrels, case.run, [case.measure], backend="pytrec_eval", set=case.settings)


backends = pytest.mark.parametrize("backend", BOTH)


@backends
def test_curves_of_recall_and_precision(backend: str) -> None:
    """Five cutoffs asked together, over a ranking with hits at ranks 1, 4 and 5 of four relevant documents."""
    curve = range(1, 6)
    measures = [f"{name}@{k}" for name in ("R", "P") for k in curve]
    scores = mp.score(FOUR, {"q": ranking("c", "x", "y", "a", "d")}, measures, backend=backend)
    found = [scores.mean[measure].value for measure in measures]
    assert found == approx([1 / 4, 1 / 4, 1 / 4, 2 / 4, 3 / 4, 1, 1 / 2, 1 / 3, 2 / 4, 3 / 5], abs=1e-12)


@backends
def test_a_cutoff_beyond_the_ranking_is_as_none(backend: str) -> None:
    """A cutoff of a thousand or of two thousand million on three documents gives the uncut values."""
    run = {"q": ranking("x", "a", "b")}
    for name in ("R", "RR", "AP", "nDCG"):
        scores = mp.score(FOUR, run, [name, f"{name}@1000", f"{name}@2000000000"], backend=backend)
        assert len({mean.value for mean in scores.mean.values()}) == 1


@pytest.mark.parametrize("cutoff", [0, -1, 1.5, True, False, "5", 2**31])
def test_a_cutoff_is_a_count(cutoff: Any) -> None:
    """Cutoffs below 1, fractions, truth values and text are refused where a measure is made."""
    with pytest.raises(MeasureError):
        mp.Measure("P", cutoff)


@backends
@pytest.mark.parametrize(
    "scalar", [np.float64, np.float32, np.float16, np.int64, np.int8, np.uint16, np.bool_, bool, int, float]
)
def test_scores_may_be_scalars_of_any_kind(scalar: Callable[[int], Any], backend: str) -> None:
    """numpy's numbers and Python's are numbers."""
    run = {"q": {"x": scalar(0), "a": scalar(1)}}
    assert mp.score({"q": {"a": 1}}, run, ["RR"], backend=backend).by_query("RR") == {"q": 1.0}


@backends
@pytest.mark.parametrize("scalar", [np.int64, np.int32, np.uint8, np.float64, np.bool_, bool, int, float])
def test_grades_may_be_scalars_of_any_kind(scalar: Callable[[int], Any], backend: str) -> None:
    """Whole numbers of any type are grades; truth values count 0 and 1."""
    qrels = {"q": {"a": scalar(1), "b": scalar(0)}}
    scores = mp.score(qrels, {"q": ranking("b", "a")}, ["RR", "nDCG", "Judged"], backend=backend)
    assert [mean.value for mean in scores.mean.values()] == approx([0.5, SECOND, 1], abs=1e-12)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), np.float32("nan"), "1.0", None, [1.0], 10**400])
def test_a_score_that_is_no_finite_number_is_refused(bad: Any) -> None:
    """Whatever its type."""
    with pytest.raises(InputError):
        mp.score({"q": {"a": 1}}, {"q": {"a": bad, "b": 1.0}}, ["RR"])


@pytest.mark.parametrize("bad", [float("nan"), 0.5, -1, "1", None, np.float64(1.5)])
def test_a_grade_that_is_no_whole_number_from_zero_is_refused(bad: Any) -> None:
    """Under the chapter's contract: fractions and negative grades too."""
    with pytest.raises(InputError):
        mp.score({"q": {"a": bad, "b": 1}}, {"q": ranking("a")}, ["RR"])


@pytest.mark.parametrize("bad", [7, None, b"a", ("a",), 1.5, ""])
def test_an_id_that_is_no_text_is_refused_with_the_cast(bad: Any) -> None:
    """Numbers are not turned into ids in silence; the hint shows how to do it."""
    for qrels, run in (
        ({bad: {"a": 1}}, {"q": ranking("a")}),
        ({"q": {bad: 1}}, {"q": ranking("a")}),
        ({"q": {"a": 1}}, {bad: ranking("a")}),
        ({"q": {"a": 1}}, {"q": {bad: 1.0}}),
        ({"q": {"a": 1}}, {"q": [bad]}),
    ):
        with pytest.raises(InputError, match="str"):
            mp.score(qrels, run, ["RR"])


def test_a_gain_table_with_a_negative_gain_is_refused() -> None:
    """Gains are never negative, and grade 0 is worth nothing."""
    for table in ({0: 0, 1: -1}, {0: 1, 1: 2}, {}, {1: float("nan")}):
        with pytest.raises(ContractError):
            mp.Contract().replace(gain=table)


@pytest.mark.parametrize("ids", [{"a", "b"}, frozenset({"a"}), {"a": None, "b": None}, "ab"])
def test_what_has_no_order_is_no_ranking(ids: Any) -> None:
    """A set, documents with nothing for scores, and text are not ranked by chance."""
    with pytest.raises(InputError):
        mp.score({"q": {"a": 1}}, {"q": ids}, ["RR"])


@pytest.mark.parametrize("id_", ["\ud800", "a\udfff"])
def test_an_id_that_no_file_can_hold_is_refused(id_: str) -> None:
    """Half a surrogate pair is no text."""
    for qrels, run in (
        ({id_: {"a": 1}}, {"q": ranking("a")}),
        ({"q": {id_: 1}}, {"q": ranking("a")}),
        ({"q": {"a": 1}}, {"q": ranking(id_)}),
    ):
        with pytest.raises(InputError):
            mp.score(qrels, run, ["RR"])


@pytest.mark.parametrize("measure", ["nDCG", "DCG", "IDCG", "nDCG(gains={1023:1.7e308})"])
def test_gains_beyond_double_precision_are_never_a_number(measure: str) -> None:
    """Ten documents of grade 1023 sum to more than a double holds: an error, or the right quotient, but not NaN."""
    documents = [f"d{number}" for number in range(10)]
    qrels, run = {"q": dict.fromkeys(documents, 1023)}, {"q": documents}
    try:
        value = mp.score(qrels, run, [measure], backend="reference").mean[measure].value
    except LimitError:
        return
    assert value == 1.0


def test_a_document_twice_in_a_list_is_refused_or_chosen() -> None:
    """A list of ids with one twice is an error, unless the contract says which of the two counts."""
    qrels, run = {"q": {"dog": 1}}, {"q": ["cat", "dog", "cow", "dog"]}
    with pytest.raises(InputError, match="twice"):
        mp.score(qrels, run, ["RR"])
    found = [mp.score(qrels, run, ["RR"], set={"duplicate": which}).mean["RR"].value for which in ("first", "last")]
    assert found == approx([1 / 2, 1 / 3], abs=1e-12)


def test_a_document_judged_twice_is_refused_or_chosen() -> None:
    """Two judgments of one document are an error even where they agree, unless the contract chooses."""
    judged = mp.Judgments.from_columns(["q", "q", "q"], ["a", "b", "a"], [0, 0, 1])
    run = {"q": ranking("a")}
    with pytest.raises(InputError, match="twice"):
        mp.score(judged, run, ["P@1"])
    found = [mp.score(judged, run, ["P@1"], set={"duplicate": which}).mean["P@1"].value for which in ("first", "last")]
    assert found == [0.0, 1.0]


Judged = namedtuple("Judged", "query_id doc_id relevance")
Scored = namedtuple("Scored", "query_id doc_id score")


@backends
def test_a_generator_is_read_once_and_whole(backend: str) -> None:
    """Judgments and a run that can be walked only once serve all measures, blocks of a query apart or not."""

    def judgments() -> Iterator[Judged]:
        yield from (Judged("q1", "a", 1), Judged("q2", "b", 2), Judged("q1", "c", 0))

    def run() -> Iterator[Scored]:
        yield from (Scored("q1", "c", 0.5), Scored("q2", "b", 0.9), Scored("q1", "a", 0.7))

    scores = mp.score(judgments(), run(), ["RR", "P@2", "nDCG"], backend=backend)
    assert {name: mean.value for name, mean in scores.mean.items()} == {"RR": 1.0, "P@2": 0.5, "nDCG": 1.0}


def test_what_is_passed_in_is_not_changed() -> None:
    """Scoring removes, pads and sorts nothing in the caller's data, whatever the contract says."""
    qrels = {"7": {"7": 1, "a": -1}, "8": {}, "9": {"b": 2}}
    run: dict[str, Any] = {"7": {"a": 1.0, "7": 2.0}, "6": {"z": 1.0}}
    kept = deepcopy((qrels, run))
    settings = {"self_match": "remove", "negative_grade": "unjudged", "unjudged": "removed", "extra_query": "zero"}
    mp.score(qrels, run, ["P@1", "nDCG"], set=settings)
    assert (qrels, run, list(run["7"])) == (*kept, ["a", "7"])


def test_a_measure_named_twice_is_one_measure() -> None:
    """Two spellings of a measure are one column; two cutoffs are two."""
    scores = mp.score({"q": {"a": 1}}, {"q": ranking("a")}, ["nDCG@10", "ndcg_cut_10", "RR@10", "mrr@5", "NDCG@10"])
    assert list(scores.mean) == ["nDCG@10", "RR@10", "RR@5"]


def test_an_unknown_measure_names_the_nearest() -> None:
    """A slip is an error with a suggestion, also beside good measures."""
    with pytest.raises(MeasureError, match=r"did you mean nDCG@3\?"):
        mp.score({"q": {"a": 1}}, {"q": ranking("a")}, ["P@1", "ndgc@3"])


@backends
def test_measures_asked_together_are_as_asked_alone(backend: str) -> None:
    """A gain table, a threshold or a cutoff of one measure touches no other in the same call."""
    qrels, run = {"q": {"a": 1, "b": 2, "c": 0}}, {"q": ranking("a", "x", "b", "c")}
    measures = [
        "nDCG@3", "nDCG(gains={0:0,1:5,2:6})@3", "nDCG(dcg='log2')@3", "nDCG", "AP", "AP(rel=2)", "AP@2",
        "P@3", "P(rel=2)@3", "Bpref", "Bpref(rel=2)", "RR@1", "RR", "SetF(beta=2)", "SetF", "Judged@2",
        "Judged",
    ]  # fmt: skip
    together = mp.score(qrels, run, measures, backend=backend)
    alone = {name: mp.score(qrels, run, [name], backend=backend).mean[name].value for name in measures}
    assert {name: mean.value for name, mean in together.mean.items()} == alone
    assert len({f"{value:.9f}" for value in alone.values()}) > 8


def test_counts_stand_beside_a_mean() -> None:
    """How many queries contribute, are undefined, are missing and are extra."""
    qrels = {"a": {"x": 1}, "b": {"x": 0}, "c": {"x": 1}}
    run = {"a": ranking("x"), "b": ranking("x"), "d": ranking("x"), "e": ranking("x")}
    scores = mp.score(qrels, run, ["AP", "P@1"])
    mean = scores.mean["AP"]
    assert (mean.n, mean.undefined, mean.missing, mean.extra) == (2, 1, 1, 2)
    assert (scores.missing, scores.extra) == (("c",), ("d", "e"))
    assert scores.reasons("AP") == {"a": None, "b": "no-positives", "c": None}
    assert scores.mean["P@1"].n == 3


def test_reasons_tell_why_a_value_is_undefined() -> None:
    """No positive judgment, no gain, nothing returned."""
    qrels = {"a": {"x": 0}, "b": {"x": 1}}
    scores = mp.score(qrels, {"a": ranking("x")}, ["R@1", "nDCG@1", "Judged@1"])
    assert scores.reasons("R@1") == {"a": "no-positives", "b": None}
    assert scores.reasons("nDCG@1") == {"a": "no-gain", "b": None}
    assert scores.reasons("Judged@1") == {"a": None, "b": "nothing-returned"}


@pytest.mark.parametrize("qrels", [{}, [], "nowhere.txt"])
def test_no_judgments_are_an_error(qrels: Any) -> None:
    """Without a judged query there is nothing to say, not even 0."""
    with pytest.raises(InputError):
        mp.score(qrels, {"q": ranking("a")}, ["AP"])


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        ("q\t0\ta\t1\nq  0   b 0 \n", "q\tQ0\ta\t1\t2.0\ts\n q Q0  b 2 1.0 s  \n"),
        ("\ufeffq 0 a 1\n", "\ufeffq Q0 a 1 1.0 s\n"),
        ("q 0 a 1\r\n\r\n", "q Q0 a 1 1.0 s\r\n\r\n"),
        ("query-id\tcorpus-id\tscore\nq\ta\t1\n", "q Q0 a 1 1.0\n"),
        ("q\ta\t1\nq\tb\t0\n", "# by hand\nq Q0 a 1 1.0 s"),
        ('{"q": {"a": 1}}', '{"q": {"a": 1.5}}'),
        ('{"q": {"a": 1}}', '{"q": ["a", "b"]}'),
    ],
    ids=["blanks", "byte order mark", "CRLF", "BEIR with header", "BEIR without", "JSON", "JSON lists"],
)
@pytest.mark.parametrize("packed", [False, True])
@backends
def test_a_file_in_any_dress_scores_the_same(qrels: str, run: str, packed: bool, backend: str, tmp_path: Path) -> None:
    """Blanks, marks, line ends, headers, formats and compression are no part of the numbers."""
    paths = tmp_path / "qrels", tmp_path / "run"
    for path, text in zip(paths, (qrels, run), strict=True):
        path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    scores = mp.score(*paths, ["AP", "RR", "nDCG"], backend=backend)
    assert {name: (mean.value, mean.n) for name, mean in scores.mean.items()} == dict.fromkeys(scores.mean, (1.0, 1))


@pytest.mark.parametrize(
    ("setting", "expected"),
    [({"rank_conflict": "ignore"}, 0.5), ({"order": "rank"}, 1.0), ({"order": "given"}, 0.5)],
)
def test_ranks_that_contradict_scores_are_a_choice(setting: dict[str, str], expected: float, tmp_path: Path) -> None:
    """By score the relevant document is second, by rank first; nothing is chosen without being told."""
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    (tmp_path / "run").write_text("q Q0 b 2 9.0 s\nq Q0 a 1 1.0 s\n")
    with pytest.raises(InputError, match="rank column contradicts") as caught:
        mp.score(tmp_path / "qrels", tmp_path / "run", ["RR"])
    assert caught.value.query == "q"
    assert f"{tmp_path / 'run'}:{caught.value.line}: " in str(caught.value)
    assert f"line {3 - (caught.value.line or 0)}" in str(caught.value)
    assert mp.score(tmp_path / "qrels", tmp_path / "run", ["RR"], set=setting).mean["RR"].value == expected


@backends
def test_a_number_says_how_it_was_made(backend: str) -> None:
    """Each measure has a signature with the contract, what differs from it, and every version."""
    scores = mp.score(TWO, ONLY_TEA, ["AP", "nDCG@10"], backend=backend, set={"gain": "linear"})
    contract, _, provenance = scores.signatures["nDCG@10"].partition("||")
    assert contract == "nDCG@10|chapter/1|gain=linear"
    assert f"metricpact:{mp.__version__}" in provenance.split("|")
    assert ("trec_eval:9.0.8" in provenance) == (backend == "pytrec_eval")
