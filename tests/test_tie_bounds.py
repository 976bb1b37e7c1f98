"""Tie bounds against every order of tied documents, on every small input, with the oracle's values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from itertools import permutations, product
from typing import Any, NamedTuple

import metricpact as mp
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

    scores = mp.tie_bounds(*tables(listed), list(map(str, asked)), set=changes, backend="reference")
    for measure in asked:
        found = scores.tie_bounds_by_query(str(measure))
        for number, case in enumerate(listed):
            numbers = [one(order, case.others, measure) for order in case.orders()]
            bound = found[f"q{number}"]
            if None in numbers:
                assert bound is None, (case, measure)
                continue
            known = [x for x in numbers if x is not None]
            expected = (min(known), max(known), math.fsum(known) / len(known))
            assert bound == pytest.approx(expected, rel=0, abs=1e-12), (case, str(measure), changes)


@pytest.mark.parametrize("returned", [1, 2, 3])
def test_tie_bounds_are_the_extremes_and_the_mean_over_all_orders(returned: int) -> None:
    """Every measure and cutoff on every ranking of up to three documents, tied in every way."""
    compare(cases(returned), MEASURES, {})


def test_four_tied_documents_too() -> None:
    """Every ranking of four documents with a tie group of three or four, and two documents not returned."""
    compare([case for case in cases(4) if max(map(len, case.groups)) >= 3 and len(case.others) == 2], MEASURES, {})


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
