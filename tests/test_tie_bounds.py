"""Tie bounds against every order of tied documents, on every small input, with the oracle's values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from itertools import permutations, product
from typing import Any, NamedTuple

import metricpact as mp
import numpy as np
import pytest
from metricpact.contracts.tables import Judgments, Run
from oracle import CHAPTER, Asked, View, value

Grades = tuple[int | None, ...]
GRADES: Grades = (None, 0, 1, 2)
OTHERS: tuple[tuple[int, ...], ...] = ((), (1,), (0, 2))
CUT = ("P", "R", "RR", "AP", "nDCG", "DCG", "IDCG", "Success", "Judged")
UNCUT = ("R", "RR", "AP", "nDCG", "DCG", "Judged", "Rprec", "SetP", "SetR", "SetF", "Bpref")
MEASURES = [*(Asked(family, cutoff) for family in CUT for cutoff in (1, 2, 3, 4)), *map(Asked, UNCUT)]


class Case(NamedTuple):
    """Groups of tied grades, best scores first, and the grades that are not returned."""

    groups: tuple[Grades, ...]
    others: tuple[int, ...]

    def orders(self) -> Iterator[Grades]:
        """Every order of the tied documents."""
        for chosen in product(*map(permutations, self.groups)):
            yield tuple(grade for group in chosen for grade in group)


def cases(returned: int) -> list[Case]:
    """Every ranking of some documents, cut into tie groups in every way."""
    found = []
    for ranking, cuts, others in product(
        product(GRADES, repeat=returned), product((False, True), repeat=returned - 1), OTHERS
    ):
        ends = [*(place for place, cut in enumerate(cuts, start=1) if cut), returned]
        groups = tuple(ranking[begin:end] for begin, end in zip([0, *ends], ends, strict=False))
        found.append(Case(groups, others))
    return found


def tables(listed: list[Case]) -> tuple[Judgments, Run]:
    """Each case as a query, its documents listed as in the case."""
    judged: list[tuple[str, str, int]] = []
    returned: list[tuple[str, str, float]] = []
    for number, case in enumerate(listed):
        query, place = f"q{number}", 0
        for level, group in enumerate(case.groups):
            for grade in group:
                returned.append((query, f"r{place}", -level))
                judged += [(query, f"r{place}", grade)] if grade is not None else []
                place += 1
        judged += [(query, f"o{place}", grade) for place, grade in enumerate(case.others)]
    queries = [f"q{number}" for number in range(len(listed))]
    judgments = Judgments.from_columns(*zip(*judged, strict=True), empty=queries)
    return judgments, Run.from_columns(*zip(*returned, strict=True), empty=queries)


def compare(listed: list[Case], asked: list[Asked], changes: dict[str, Any]) -> None:
    """Hold the tie bounds of the cases against the enumeration."""
    contract = {**CHAPTER, **changes}

    @cache
    def one(order: Grades, others: tuple[int, ...], measure: Asked) -> float | None:
        judged = tuple(sorted((grade for grade in (*order, *others) if grade is not None), reverse=True))
        number = value(View((order,), judged), measure, contract).number
        return None if number is None else float(number)

    orders = [list(case.orders()) for case in listed]
    scores = mp.tie_bounds(*tables(listed), list(map(str, asked)), set=changes, backend="reference")
    for measure in asked:
        found = scores.tie_bounds_by_query(str(measure))
        for number, case in enumerate(listed):
            numbers = [one(order, case.others, measure) for order in orders[number]]
            bound = found[f"q{number}"]
            if None in numbers:
                assert bound is None, (case, measure)
                continue
            assert bound is not None, (case, measure)
            known = [x for x in numbers if x is not None]
            expected = (min(known), max(known), math.fsum(known) / len(known))
            furthest = max(abs(one - other) for one, other in zip(bound, expected, strict=True))
            assert furthest <= 1e-12, (case, str(measure), changes, bound, expected)


@pytest.mark.parametrize("returned", [1, 2, 3])
def test_tie_bounds_are_the_extremes_and_the_mean_over_all_orders(returned: int) -> None:
    """Every measure and cutoff on every ranking of up to three documents, tied in every way."""
    compare(cases(returned), MEASURES, {})


def test_four_tied_documents_too() -> None:
    """Every ranking of four documents, tied in every way, with two that are not returned."""
    compare([case for case in cases(4) if len(case.others) == 2], MEASURES, {})


@pytest.mark.parametrize(
    ("families", "changes"),
    [
        (("AP",), {"ap_denominator": "hits"}),
        (("AP",), {"ap_denominator": "capped"}),
        (("R",), {"recall_denominator": "capped"}),
        (("P",), {"precision_denominator": "returned"}),
        (("P", "RR", "AP", "Bpref", "Rprec"), {"threshold": 2}),
        (("P", "AP", "Bpref"), {"threshold": 0}),
        (("nDCG", "DCG"), {"gain": {1: 5, 2: 1}}),
        (("nDCG", "DCG"), {"gain": "linear", "discount": "jk"}),
        (("nDCG", "IDCG"), {"ideal": "returned", "ideal_depth": "full"}),
        (("P", "RR", "AP", "nDCG", "Judged", "Bpref"), {"unjudged": "removed"}),
        (("AP", "nDCG"), {"undefined": "one"}),
        (("P", "nDCG"), {"undefined": "skip"}),
    ],
    ids=str,
)
def test_tie_bounds_follow_every_convention(families: tuple[str, ...], changes: dict[str, Any]) -> None:
    """Each convention that touches a measure, on every ranking of three documents."""
    compare(cases(3), [measure for measure in MEASURES if measure.family in families], changes)


def test_ap_over_hits_at_a_group_that_reaches_over_the_cutoff() -> None:
    """Fewer hits inside can be better: the hits that are not inside leave the denominator."""
    listed = [
        Case(groups, ())
        for front, group in product([(1,), (0,), (1, 0), (0, 1)], product((0, 1), repeat=5))
        for groups in [(*((grade,) for grade in front), group)]
    ]
    asked = [Asked("AP", cutoff) for cutoff in range(1, 8)]
    compare(listed, asked, {"ap_denominator": "hits"})


# ---------------------------------------------------------------- what they are about


def test_average_is_the_expected_value() -> None:
    """The point under ties=average is what tie bounds expect, and lies between the other two."""
    listed = [case for case in cases(3) if len(case.others) == 1]
    names = list(map(str, MEASURES))
    scores = mp.tie_bounds(*tables(listed), names, set={"ties": "average"}, backend="reference")
    for name, bound in scores.tie_bounds.items():
        assert bound is not None
        assert bound.expected == scores.mean[name].value
        assert bound.lower <= bound.expected <= bound.upper


@pytest.mark.parametrize("ties", ["given", "docid_asc", "docid_desc"])
def test_every_rule_for_ties_lies_inside(ties: str) -> None:
    """The value of any one order is between the least and the greatest, on a library too."""
    listed = [case for case in cases(3) if len(case.others) == 2]
    names = [str(measure) for measure in MEASURES if measure.family not in ("DCG", "IDCG")]
    scores = mp.tie_bounds(*tables(listed), names, set={"ties": ties}, backend="pytrec_eval")
    frame = scores.to_polars().drop_nulls("value")
    slack = 1e-12
    assert frame.filter(frame["value"] < frame["tie_lower"] - slack).height == 0
    assert frame.filter(frame["value"] > frame["tie_upper"] + slack).height == 0
    assert frame.filter(frame["tie_lower"] < frame["tie_upper"]).height > 100


def test_without_ties_there_is_one_value() -> None:
    """Scores that differ, and lists of ids, which have no scores."""
    for run in ({"q": {"A": 3.0, "U": 2.0, "B": 1.0}}, {"q": ["A", "U", "B"]}):
        scores = mp.tie_bounds({"q": {"A": 1, "B": 2}}, run, ["AP", "nDCG", "Judged@2"])
        for name, bound in scores.tie_bounds.items():
            assert bound == pytest.approx((scores.mean[name].value,) * 3, rel=0, abs=1e-15)


def test_scores_tie_at_the_width_of_the_contract() -> None:
    """Two scores that only single precision holds equal are tied under float32 alone."""
    qrels, run = {"q": {"A": 1}}, {"q": {"U": 1.0 + 1e-9, "A": 1.0}}
    assert mp.tie_bounds(qrels, run, ["RR"]).tie_bounds["RR"] == (0.5, 0.5, 0.5)
    assert mp.tie_bounds(qrels, run, ["RR"], set={"score_width": "float32"}).tie_bounds["RR"] == (0.5, 1.0, 0.75)


def test_the_convention_of_undefined_values_is_kept() -> None:
    """A query without a relevant document counts as 1 in every order, where the contract says so."""
    qrels, run = {"q": {"A": 0}}, {"q": {"A": 1.0, "U": 1.0}}
    assert mp.tie_bounds(qrels, run, ["RR"], set={"undefined": "one"}).tie_bounds["RR"] == (1.0, 1.0, 1.0)
    assert mp.tie_bounds(qrels, run, ["RR"]).tie_bounds == {"RR": None}


def test_an_order_that_does_not_come_from_scores_has_no_ties() -> None:
    """Refused, with the reason."""
    with pytest.raises(mp.MetricpactError, match="no tie bounds under order=given"):
        mp.tie_bounds({"q": {"A": 1}}, {"q": {"A": 1.0}}, ["RR"], set={"order": "given"})


def test_a_hundred_thousand_tied_documents_do_not_drift() -> None:
    """Twenty thousand relevant ones among them: nDCG and AP to the last digits."""
    size, relevant = 100_000, 20_000
    documents = [f"d{place}" for place in range(size)]
    judgments = Judgments.from_columns(["q"] * relevant, documents[:relevant], [1] * relevant)
    run = Run.from_columns(["q"] * size, documents, np.ones(size))
    bounds = mp.tie_bounds(judgments, run, ["nDCG", "AP", "RR", "P@10"], backend="reference").tie_bounds
    shares = [1 / math.log2(rank + 1) for rank in range(1, size + 1)]
    share = relevant / size
    gain = bounds["nDCG"]
    assert gain is not None
    assert gain.expected == pytest.approx(share * math.fsum(shares) / math.fsum(shares[:relevant]), rel=0, abs=1e-14)
    assert gain.upper == pytest.approx(1.0, rel=0, abs=1e-14)
    assert gain.lower == pytest.approx(math.fsum(shares[-relevant:]) / math.fsum(shares[:relevant]), rel=0, abs=1e-14)
    precision = bounds["AP"]
    assert precision is not None
    expected = math.fsum(share * (1 + place * (relevant - 1) / (size - 1)) / (1 + place) for place in range(size))
    assert precision.expected == pytest.approx(expected / relevant, rel=0, abs=1e-14)
    assert bounds["P@10"] == pytest.approx((0.0, 1.0, share), rel=0, abs=1e-15)
