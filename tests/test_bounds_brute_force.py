"""Bounds under missing judgments against every assignment of grades, on every small input.

The values come from the oracle, one for each completely settled input; the least and the greatest one over the
grades of an unjudged document are a minimum and a maximum along that document's axis.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from typing import Any, NamedTuple

import metricpact as mp
import numpy as np
import pytest
from metricpact.contracts.tables import Judgments, Run
from oracle import CHAPTER, Asked, View, value

GRADES = (0, 1, 2, 3)
SYMBOLS = (*GRADES, None)
UNJUDGED = len(GRADES)
FAMILIES = ("P", "R", "RR", "AP", "nDCG", "Success")


class Inputs(NamedTuple):
    """Every ranking of ``returned`` documents, known grades or unjudged, beside each set of grades not returned."""

    returned: int
    others: tuple[tuple[int, ...], ...]

    def patterns(self) -> Iterator[tuple[tuple[int | None, ...], tuple[int, ...]]]:
        """Ranking and grades that are not returned, in the order of the arrays below."""
        for others in self.others:
            for ranking in product(SYMBOLS, repeat=self.returned):
                yield ranking, others

    def tables(self) -> tuple[Judgments, Run]:
        """All of them as one query each."""
        judged: list[tuple[str, str, int]] = []
        returned: list[tuple[str, str, float]] = []
        queries = []
        for number, (ranking, others) in enumerate(self.patterns()):
            query = f"q{number}"
            queries.append(query)
            grades = [(f"r{rank}", grade) for rank, grade in enumerate(ranking) if grade is not None]
            grades += [(f"o{place}", grade) for place, grade in enumerate(others)]
            judged += [(query, document, grade) for document, grade in grades]
            returned += [(query, f"r{rank}", -rank) for rank in range(len(ranking))]
        judgments = Judgments.from_columns(*zip(*judged, strict=True), empty=queries)
        return judgments, Run.from_columns(*zip(*returned, strict=True), empty=queries)


def others_upto(size: int) -> tuple[tuple[int, ...], ...]:
    """Every multiset of up to ``size`` grades."""
    return tuple(chosen for n in range(size + 1) for chosen in combinations_with_replacement(GRADES, n))


def extremes(inputs: Inputs, asked: Asked, contract: dict[str, Any], grades: tuple[int, ...]) -> tuple[Any, Any, Any]:
    """The point, least and greatest value of every pattern; NaN where the point is undefined.

    ``grades`` are those that an unjudged document of the prefix may have.
    """
    shape = (len(inputs.others), *(len(SYMBOLS),) * inputs.returned)
    values = np.empty(shape)
    for place, (ranking, others) in zip(np.ndindex(shape), inputs.patterns(), strict=True):
        judged = [grade for grade in (*ranking, *others) if grade is not None]
        number = value(View((ranking,), tuple(sorted(judged, reverse=True))), asked, contract).number
        values[place] = math.nan if number is None else float(number)
    least, greatest = values.copy(), values.copy()
    for axis in range(1, 1 + min(inputs.returned, asked.cutoff or inputs.returned)):
        for extreme, reduce in ((least, np.fmin), (greatest, np.fmax)):
            along = np.moveaxis(extreme, axis, 0)
            along[UNJUDGED] = reduce.reduce(along[[*grades, UNJUDGED]])
    return values.ravel(), least.ravel(), greatest.ravel()


def compare(inputs: Inputs, asked: list[Asked], changes: dict[str, Any], max_grade: int | None = 3) -> None:
    """Hold the bounds of all inputs and measures against the enumeration."""
    judgments, run = inputs.tables()
    scores = mp.bounds(judgments, run, list(map(str, asked)), set=changes, backend="reference", max_grade=max_grade)
    for measure in asked:
        grades = GRADES if max_grade is None else GRADES[: max_grade + 1]
        point, least, greatest = extremes(inputs, measure, {**CHAPTER, **changes}, grades)
        known = ~np.isnan(point)
        by_query = scores.bounds_by_query(str(measure))
        found = [by_query[f"q{number}"] for number in range(len(point))]
        assert [bound is not None for bound in found] == known.tolist(), measure
        bounds = np.array([bound for bound in found if bound is not None])
        np.testing.assert_allclose(bounds[:, 0], least[known], rtol=0, atol=1e-12, err_msg=f"lower {measure} {changes}")
        np.testing.assert_allclose(bounds[:, 1], greatest[known], rtol=0, atol=1e-12, err_msg=f"upper {measure}")
        assert bounds[:, 2].all(), "every one of these is said to be tight"


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("returned", [1, 2, 3, 4])
def test_bounds_are_the_extremes_over_all_assignments(family: str, returned: int) -> None:
    """Up to four returned, two judged documents that are not, every cutoff: no counterexample, and each is attained."""
    uncut = () if family in ("P", "Success") else (None,)
    asked = [Asked(family, cutoff) for cutoff in (*range(1, returned + 2), *uncut)]
    compare(Inputs(returned, others_upto(2)), asked, {})


LINEAR, FALLING = "linear", {1: 5, 2: 1, 3: 4}
VARIANTS: list[tuple[str, dict[str, Any], int | None]] = [
    ("P", {"precision_denominator": "returned"}, 3),
    ("P", {"threshold": 2}, 2),
    ("P", {"threshold": 0}, 0),
    ("R", {"recall_denominator": "capped"}, 3),
    ("R", {"recall_denominator": "capped", "undefined": "zero"}, 3),
    ("R", {"threshold": 0}, 3),
    ("AP", {"ap_denominator": "capped"}, 3),
    ("AP", {"ap_denominator": "hits"}, 3),
    ("AP", {"ap_denominator": "hits", "undefined": "one"}, 3),
    ("AP", {"threshold": 3}, 3),
    ("nDCG", {"gain": LINEAR}, 3),
    ("nDCG", {"gain": LINEAR}, None),
    ("nDCG", {"gain": LINEAR}, 1),
    ("nDCG", {"gain": LINEAR}, 0),
    ("nDCG", {"gain": FALLING}, 3),
    ("nDCG", {"gain": FALLING}, 2),
    ("nDCG", {"gain": {1: 3, 2: 0, 3: 1}}, 3),
    ("nDCG", {"gain": {1: 0, 2: 0, 3: 2}}, 2),
    ("nDCG", {"gain": {2: 0.5}}, 3),
    ("nDCG", {"discount": "jk"}, 3),
    ("nDCG", {"ideal_depth": "full"}, 3),
    ("nDCG", {"ideal": "returned"}, 3),
    ("nDCG", {"ideal": "returned", "ideal_depth": "full", "undefined": "one"}, 3),
    ("nDCG", {"ideal": "returned", "gain": FALLING, "discount": "jk"}, 2),
    *((family, {"undefined": undefined}, 3) for family in FAMILIES for undefined in ("zero", "one", "skip")),
]


@pytest.mark.parametrize(("family", "changes", "max_grade"), VARIANTS, ids=str)
def test_bounds_follow_every_convention(family: str, changes: dict[str, Any], max_grade: int | None) -> None:
    """Up to three returned and one that is not, under each convention that touches a measure."""
    inputs = Inputs(3, others_upto(1))
    uncut = () if family in ("P", "Success") else (None,)
    compare(inputs, [Asked(family, cutoff) for cutoff in (1, 2, 3, 5, *uncut)], changes, max_grade)


def test_a_gain_between_two_possible_ones_is_jumped_over() -> None:
    """Judged documents worth 4 where an unjudged one is worth 0, 1 or 5: three judged ones make the difference."""
    four_returned = Inputs(4, ((), (3,), (3, 3), (3, 3, 3), (1, 3), (2, 3, 3)))
    compare(four_returned, [Asked("nDCG", cutoff) for cutoff in (1, 2, 3, 4, None)], {"gain": FALLING}, 2)
