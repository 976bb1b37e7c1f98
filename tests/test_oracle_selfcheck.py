"""The oracle before it judges anything: it gives the chapter's worked values and others computed by hand,
and the backends give the very same ones, to full precision."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import metricpact as mp
import oracle
import pytest
from metricpact.bridges.registry import get_bridge, installed_backends
from metricpact.contracts.contract import FIELDS, Contract
from metricpact.contracts.errors import UnsupportedError
from metricpact.contracts.measures import parse_measure
from metricpact.contracts.tables import Judgments, Run
from oracle import CHAPTER, Asked, OracleError

BACKENDS = tuple(installed_backends())
LOG3 = math.log2(3)
CHAPTER_GRADES = {"A": 2, "B": 1, "N": 0}


class Worked(NamedTuple):
    """One value computed by hand: what is judged, returned and asked, and the number or the reason."""

    says: str
    grades: Mapping[str, int]
    ranking: list[str] | list[tuple[str, float]]
    asked: Asked
    expected: Fraction | float | str
    changes: Mapping[str, Any] = {}


def _p(k: int) -> Asked:
    return Asked("P", k)


WORKED = [
    Worked("chapter: P", CHAPTER_GRADES, ["B", "U", "A"], _p(3), Fraction(2, 3)),
    Worked("chapter: R", CHAPTER_GRADES, ["B", "U", "A"], Asked("R", 3), Fraction(1)),
    Worked("chapter: RR", CHAPTER_GRADES, ["B", "U", "A"], Asked("RR", 3), Fraction(1)),
    Worked("chapter: AP", CHAPTER_GRADES, ["B", "U", "A"], Asked("AP", 3), Fraction(5, 6)),
    Worked("chapter: DCG", CHAPTER_GRADES, ["B", "U", "A"], Asked("DCG", 3), 2.5),
    Worked("chapter: ideal DCG", CHAPTER_GRADES, ["B", "U", "A"], Asked("IDCG", 3), 3 + 1 / LOG3),
    Worked("chapter: nDCG", CHAPTER_GRADES, ["B", "U", "A"], Asked("nDCG", 3), 2.5 / (3 + 1 / LOG3)),
    Worked("chapter: Judged", CHAPTER_GRADES, ["B", "U", "A"], Asked("Judged", 3), Fraction(2, 3)),
    Worked("one of two relevant: P", {"A": 1, "B": 1}, ["A"], _p(1), Fraction(1)),
    Worked("one of two relevant: R", {"A": 1, "B": 1}, ["A"], Asked("R", 1), Fraction(1, 2)),
    Worked("a negative in between: P", {"A": 1, "N": 0, "B": 1}, ["A", "N", "B"], _p(3), Fraction(2, 3)),
    Worked("a negative in between: R", {"A": 1, "N": 0, "B": 1}, ["A", "N", "B"], Asked("R", 3), Fraction(1)),
    Worked("one relevant at cutoff four", {"A": 1}, ["A"], _p(4), Fraction(1, 4)),
    Worked("over what was returned", {"A": 1}, ["A"], _p(4), Fraction(1), {"precision_denominator": "returned"}),
    Worked(
        "nothing of what was returned",
        {"A": 1},
        [],
        _p(4),
        Fraction(0),
        {"precision_denominator": "returned"},
    ),
    Worked("second place", {"A": 1}, ["U", "A"], Asked("RR"), Fraction(1, 2)),
    Worked("too late", {"A": 1}, ["U", "A"], Asked("RR", 1), Fraction(0)),
    Worked("AP over |R|", {"A": 1, "B": 1, "C": 1}, ["A", "N", "B"], Asked("AP", 3), Fraction(5, 9)),
    Worked("AP cut", {"A": 1, "B": 1, "C": 1}, ["A", "N", "B"], Asked("AP", 2), Fraction(1, 3)),
    Worked(
        "AP over the places",
        {"A": 1, "B": 1, "C": 1},
        ["A", "N", "B"],
        Asked("AP", 2),
        Fraction(1, 2),
        {"ap_denominator": "capped"},
    ),
    Worked(
        "AP over the hits",
        {"A": 1, "B": 1, "C": 1},
        ["A", "N", "B"],
        Asked("AP"),
        Fraction(5, 6),
        {"ap_denominator": "hits"},
    ),
    Worked("AP without a hit", {"A": 1}, ["U"], Asked("AP"), Fraction(0), {"ap_denominator": "hits"}),
    Worked("R over |R|", {"A": 1, "B": 1, "C": 1}, ["A", "N", "B"], Asked("R", 2), Fraction(1, 3)),
    Worked(
        "R over the places",
        {"A": 1, "B": 1, "C": 1},
        ["A", "N", "B"],
        Asked("R", 2),
        Fraction(1, 2),
        {"recall_denominator": "capped"},
    ),
    Worked("R-precision", {"A": 1, "B": 1}, ["A", "U", "B"], Asked("Rprec"), Fraction(1, 2)),
    Worked("set precision", {"A": 1, "B": 1}, ["A", "U", "B"], Asked("SetP"), Fraction(2, 3)),
    Worked("set precision of nothing", {"A": 1}, [], Asked("SetP"), Fraction(0)),
    Worked("set recall", {"A": 1, "B": 1}, ["A", "U"], Asked("SetR"), Fraction(1, 2)),
    Worked("F1", {"A": 1}, ["A", "U"], Asked("SetF"), Fraction(2, 3)),
    Worked("F2", {"A": 1}, ["A", "U"], Asked("SetF", beta=2), Fraction(5, 6)),
    Worked("F half", {"A": 1}, ["A", "U"], Asked("SetF", beta=0.5), Fraction(5, 9)),
    Worked("F of no hit", {"A": 1}, ["U"], Asked("SetF"), Fraction(0)),
    Worked("success", {"A": 1}, ["U", "A"], Asked("Success", 2), Fraction(1)),
    Worked("no success", {"A": 1}, ["U", "A"], Asked("Success", 1), Fraction(0)),
    Worked("bpref", {"A": 1, "B": 1, "M": 0, "N": 0}, ["M", "A", "N", "B"], Asked("Bpref"), Fraction(1, 4)),
    Worked("bpref skips unjudged", {"A": 1, "N": 0}, ["U", "A", "N"], Asked("Bpref"), Fraction(1)),
    Worked("bpref without a negative", {"A": 1}, ["A"], Asked("Bpref"), Fraction(1)),
    Worked(
        "bpref: a negative grade is none",
        {"A": -1, "B": 2},
        ["A", "B"],
        Asked("Bpref"),
        Fraction(1),
        {"negative_grade": "unjudged"},
    ),
    Worked(
        "bpref: a negative grade is 0",
        {"A": -1, "B": 2},
        ["A", "B"],
        Asked("Bpref"),
        Fraction(0),
        {"negative_grade": "nonrelevant"},
    ),
    Worked(
        "a negative grade gains nothing",
        {"A": -1, "B": 2},
        ["A", "B"],
        Asked("nDCG", 2),
        1 / LOG3,
        {"negative_grade": "nonrelevant"},
    ),
    Worked(
        "linear gain",
        CHAPTER_GRADES,
        ["B", "U", "A"],
        Asked("nDCG", 3),
        2 / (2 + 1 / LOG3),
        {"gain": "linear"},
    ),
    Worked(
        "linear gain as a parameter",
        CHAPTER_GRADES,
        ["B", "U", "A"],
        Asked("nDCG", 3, gain="linear"),
        2 / (2 + 1 / LOG3),
    ),
    Worked(
        "a gain table",
        CHAPTER_GRADES,
        ["B", "U", "A"],
        Asked("nDCG", 3),
        (1 + 5 / 2) / (5 + 1 / LOG3),
        {"gain": {1: 1, 2: 5}},
    ),
    Worked(
        "a gain table as a parameter",
        CHAPTER_GRADES,
        ["B", "A"],
        Asked("nDCG", 3, gain=((0, 0), (1, 0.5), (2, 1.5))),
        (0.5 + 1.5 / LOG3) / (1.5 + 0.5 / LOG3),
    ),
    Worked(
        "a grade that no table lists",
        {"A": 3, "B": 1},
        ["B", "A"],
        Asked("DCG"),
        4 + 3 / LOG3,
        {"gain": {1: 4}},
    ),
    Worked("no discount at the first two", CHAPTER_GRADES, ["B", "A"], Asked("DCG"), 4.0, {"discount": "jk"}),
    Worked(
        "a discount at the third",
        CHAPTER_GRADES,
        ["B", "U", "A"],
        Asked("DCG"),
        1 + 3 / LOG3,
        {"discount": "jk"},
    ),
    Worked("ideal from the judgments", {"A": 1, "B": 1}, ["A", "U"], Asked("nDCG", 2), 1 / (1 + 1 / LOG3)),
    Worked("ideal from the returned", {"A": 1, "B": 1}, ["A", "U"], Asked("nDCG", 2), 1.0, {"ideal": "returned"}),
    Worked("ideal from below the cut", CHAPTER_GRADES, ["B", "A"], Asked("nDCG", 1), 1 / 3, {"ideal": "returned"}),
    Worked("ideal of nothing", {"A": 1}, ["U"], Asked("nDCG", 2), 0.0, {"ideal": "returned"}),
    Worked("ideal to the cutoff", {"A": 1, "B": 1}, ["A"], Asked("nDCG", 1), 1.0),
    Worked(
        "ideal to the end",
        {"A": 1, "B": 1},
        ["A"],
        Asked("nDCG", 1),
        1 / (1 + 1 / LOG3),
        {"ideal_depth": "full"},
    ),
    Worked("condensed", {"A": 1}, ["U", "A"], Asked("RR"), Fraction(1), {"unjudged": "removed"}),
    Worked("condensed before the cut", {"A": 1}, ["U", "A"], _p(1), Fraction(1), {"unjudged": "removed"}),
    Worked(
        "judged before condensing",
        {"A": 1},
        ["U", "A"],
        Asked("Judged"),
        Fraction(1, 2),
        {"unjudged": "removed"},
    ),
    Worked("threshold two", {"A": 1, "B": 2}, ["A", "B"], Asked("RR"), Fraction(1, 2), {"threshold": 2}),
    Worked("threshold two as a parameter", {"A": 1, "B": 2}, ["A", "B"], Asked("RR", rel=2), Fraction(1, 2)),
    Worked(
        "the gain knows no threshold",
        {"A": 1, "B": 2},
        ["A", "B"],
        Asked("nDCG", 2),
        (1 + 3 / LOG3) / (3 + 1 / LOG3),
        {"threshold": 2},
    ),
    Worked("a first tie", {"A": 1}, [("N", 1.0), ("A", 1.0)], Asked("RR"), Fraction(1, 2)),
    Worked(
        "ties by id, descending",
        {"A": 1},
        [("A", 1.0), ("N", 1.0)],
        Asked("RR"),
        Fraction(1, 2),
        {"ties": "docid_desc"},
    ),
    Worked(
        "ties by id, ascending",
        {"A": 1},
        [("N", 1.0), ("A", 1.0)],
        Asked("RR"),
        Fraction(1),
        {"ties": "docid_asc"},
    ),
    Worked(
        "RR over the orders",
        {"A": 1},
        [("N", 1.0), ("A", 1.0)],
        Asked("RR"),
        Fraction(3, 4),
        {"ties": "average"},
    ),
    Worked("P over the orders", {"A": 1}, [("N", 1.0), ("A", 1.0)], _p(1), Fraction(1, 2), {"ties": "average"}),
    Worked(
        "nDCG over the orders",
        {"A": 1},
        [("N", 1.0), ("A", 1.0)],
        Asked("nDCG"),
        (1 + 1 / LOG3) / 2,
        {"ties": "average"},
    ),
    Worked("a wide score", {"A": 1}, [("N", 1.0), ("A", 1.00000001)], Asked("RR"), Fraction(1)),
    Worked(
        "a narrow score",
        {"A": 1},
        [("N", 1.0), ("A", 1.00000001)],
        Asked("RR"),
        Fraction(1, 2),
        {"score_width": "float32"},
    ),
    Worked(
        "scores beyond the narrow width",
        {"A": 1},
        [("N", 1e200), ("A", 1e300)],
        Asked("RR"),
        Fraction(1, 2),
        {"score_width": "float32"},
    ),
    Worked("as given", {"A": 1}, [("N", 1.0), ("A", 2.0)], Asked("RR"), Fraction(1, 2), {"order": "given"}),
    Worked("no relevant document: R", {"N": 0}, ["N"], Asked("R", 1), "no-positives"),
    Worked("no relevant document: P", {"N": 0}, ["N"], _p(1), Fraction(0)),
    Worked("no relevant document: set precision", {"N": 0}, ["N"], Asked("SetP"), Fraction(0)),
    Worked("no gain", {"N": 0}, ["N"], Asked("nDCG", 1), "no-gain"),
    Worked("nothing returned", {"A": 1}, [], Asked("Judged", 1), "nothing-returned"),
    Worked("nothing returned: R", {"A": 1}, [], Asked("R", 1), Fraction(0)),
    Worked("undefined is zero", {"N": 0}, ["N"], Asked("RR"), Fraction(0), {"undefined": "zero"}),
    Worked("undefined is one", {"N": 0}, ["N"], Asked("RR"), Fraction(1), {"undefined": "one"}),
    Worked("one touches no P", {"N": 0}, ["N"], _p(1), Fraction(0), {"undefined": "one"}),
    Worked("skipped altogether: P", {"N": 0}, ["N"], _p(1), "no-positives", {"undefined": "skip"}),
    Worked(
        "skipped altogether: Judged",
        {"N": 0},
        ["N"],
        Asked("Judged", 1),
        "no-positives",
        {"undefined": "skip"},
    ),
    Worked("itself", {"q": 1, "A": 1}, ["U", "q", "A"], Asked("RR"), Fraction(1, 2)),
    Worked("itself removed", {"A": 1}, ["q", "A"], Asked("RR"), Fraction(1), {"self_match": "remove"}),
]


def _rows(worked: Worked) -> tuple[list[oracle.JudgmentRow], list[oracle.RunRow]]:
    judgments: list[oracle.JudgmentRow] = [("q", doc, grade) for doc, grade in worked.grades.items()]
    run: list[oracle.RunRow] = [
        ("q", entry, None, None) if isinstance(entry, str) else ("q", entry[0], entry[1], None)
        for entry in worked.ranking
    ]
    return judgments, run


@pytest.mark.parametrize("worked", WORKED, ids=lambda worked: worked.says)
def test_the_oracle_gives_what_a_person_computes(worked: Worked) -> None:
    """A value worked out by hand is the oracle's own, exactly."""
    judgments, run = _rows(worked)
    result = oracle.score(judgments, run, [worked.asked], {**CHAPTER, **worked.changes}, returned_empty=["q"])
    number, reason = result[worked.asked].values["q"]
    if isinstance(worked.expected, str):
        assert (number, reason) == (None, worked.expected)
    elif isinstance(worked.expected, Fraction):
        assert (number, reason) == (worked.expected, None)
    else:
        assert number is not None and reason is None
        assert math.isclose(number, worked.expected, rel_tol=1e-15)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("worked", WORKED, ids=lambda worked: worked.says)
def test_the_backends_give_what_a_person_computes(worked: Worked, backend: str) -> None:
    """The same value comes out of `mp.score`, or the bridge says beforehand that it cannot give it."""
    judgments, run = _rows(worked)
    contract = Contract().replace(**worked.changes)
    name = str(worked.asked)
    queries, docs, grades = (list(column) for column in zip(*judgments, strict=True))
    qrels = Judgments.from_columns(queries, docs, grades)
    scores = [row[2] for row in run if row[2] is not None]
    returned = Run.from_columns(
        [row[0] for row in run],
        [row[1] for row in run],
        scores or None,
        empty=[] if run else ["q"],
    )
    plan = get_bridge(backend).plan(parse_measure(name), contract)
    if hasattr(plan, "reason"):
        assert backend != "reference"
        with pytest.raises(UnsupportedError):
            mp.score(qrels, returned, [name], contract=contract, backend=backend)
        return
    got = mp.score(qrels, returned, [name], contract=contract, backend=backend)
    if isinstance(worked.expected, str):
        assert (got.by_query(name)["q"], got.reasons(name)["q"]) == (None, worked.expected)
    else:
        assert got.by_query(name)["q"] == pytest.approx(float(worked.expected), rel=0, abs=1e-15)
        assert got.reasons(name)["q"] is None


@pytest.mark.parametrize("measure", ["DCG@3", "IDCG@3"])
def test_dcg_alone_is_not_to_be_had_from_pytrec_eval(measure: str) -> None:
    """pytrec_eval has no DCG, and its bridge says so rather than borrowing it elsewhere."""
    with pytest.raises(UnsupportedError, match="DCG"):
        mp.score({"q": CHAPTER_GRADES}, {"q": ["B", "U", "A"]}, [measure], backend="pytrec_eval")


def test_the_oracle_knows_every_field() -> None:
    """The oracle's contract has the fields of the package's, no more and no fewer, with the same defaults."""
    chapter = Contract()
    names = [getattr(field, "name", field) for field in FIELDS]
    assert {name: getattr(chapter, name) for name in names} == CHAPTER


REJECTED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("a grade below zero", {}, {"judgments": [("q", "A", -1)]}),
    ("a fractional grade", {}, {"judgments": [("q", "A", 0.5)]}),
    ("a document twice", {}, {"run": [("q", "A", 2.0, None), ("q", "A", 1.0, None)]}),
    ("a judgment twice", {}, {"judgments": [("q", "A", 1), ("q", "A", 1)]}),
    ("a rank against its score", {}, {"run": [("q", "A", 1.0, 1), ("q", "B", 2.0, 2)]}),
    ("equal ranks", {"order": "rank"}, {"run": [("q", "A", 2.0, 1), ("q", "B", 1.0, 1)]}),
    ("a tie", {"ties": "error"}, {"run": [("q", "A", 1.0, None), ("q", "B", 1.0, None)]}),
    ("a score that is no number", {}, {"run": [("q", "A", math.nan, None)]}),
    ("an endless score", {}, {"run": [("q", "A", math.inf, None)]}),
    ("an empty id", {}, {"run": [("q", "", 1.0, None)]}),
    (
        "a stranger in the run",
        {"extra_query": "error"},
        {"run": [("q", "A", 1.0, None), ("x", "A", 1.0, None)]},
    ),
    ("a stranger on the list", {"queries": ("q", "x")}, {}),
    ("no query in common", {}, {"run": [("x", "A", 1.0, None)]}),
    ("a cutoff of zero", {}, {"measures": [Asked("P", 0)]}),
    ("a cutoff that is a truth value", {}, {"measures": [Asked("P", True)]}),
    ("precision without a cutoff", {}, {"measures": [Asked("P")]}),
]


@pytest.mark.parametrize(("changes", "inputs"), [row[1:] for row in REJECTED], ids=[row[0] for row in REJECTED])
def test_the_oracle_rejects(changes: dict[str, Any], inputs: dict[str, Any]) -> None:
    """What the rules reject is an error and never a number; the same input without its fault is taken."""
    sound: dict[str, Any] = {
        "judgments": [("q", "A", 1)],
        "run": [("q", "A", 2.0, 1), ("q", "B", 1.0, 2)],
        "measures": [Asked("P", 2)],
    }
    assert oracle.score(**sound)[Asked("P", 2)].values["q"].number == Fraction(1, 2)
    with pytest.raises(OracleError):
        oracle.score(**(sound | inputs), contract=CHAPTER | changes)


def test_a_mean_carries_its_counts() -> None:
    """Two answered, one without positives, one missing, one stranger: the contract says who counts."""
    judged = {"a": {"A": 1}, "b": {"A": 1, "B": 1}, "z": {"N": 0}, "m": {"A": 1}}
    judgments = [(query, doc, grade) for query, grades in judged.items() for doc, grade in grades.items()]
    run = [(query, doc, 1.0, None) for query, doc in [("a", "A"), ("b", "A"), ("z", "N"), ("x", "A")]]
    asked = Asked("R", 1)

    def mean(**changes: Any) -> tuple[Any, ...]:
        return tuple(oracle.score(judgments, run, [asked], CHAPTER | changes)[asked].mean[:5])

    assert mean() == (Fraction(1, 2), 3, 1, 1, 1)
    assert mean(queries="answered")[:3] == (Fraction(3, 4), 2, 1)
    assert mean(queries=("a", "z"))[:3] == (Fraction(1), 1, 1)
    assert mean(queries=("z",))[:3] == (None, 0, 1)
    assert mean(extra_query="zero")[:3] == (Fraction(3, 8), 4, 1)
    assert mean(undefined="zero")[:3] == (Fraction(3, 8), 4, 0)
    assert mean(undefined="one")[:3] == (Fraction(5, 8), 4, 0)
    assert mean(undefined="skip")[:3] == (Fraction(1, 2), 3, 1)
