"""What gains would have to be worth for a published number: told, never searched among the candidates.

Where two positive grades are judged, everything but one ratio of gains cancels out of nDCG. The ratios at which the
mean is printed as published are found by bisection between the points of a grid, from 1/64 to 64.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from metricpact.bridges.evaluate import KeptPrefixes, evaluate
from metricpact.contracts.errors import MetricpactError
from metricpact.contracts.measures import Measure
from metricpact.contracts.profiles import Profile
from metricpact.contracts.tables import Judgments, Run
from metricpact.crosscheck.audit.published import Published

LARGEST_RATIO = 64.0
_GRID = np.exp2(np.linspace(-6, 6, 49)).tolist()  # 1 is among them
_HALVINGS = 30


@dataclass(frozen=True)
class GainRange:
    """With gains in a ratio ``gain(high) / gain(low)`` from ``least`` to ``greatest``, a profile gives the number."""

    profile: str
    measure: Measure
    low: int
    high: int
    least: float
    greatest: float

    def __str__(self) -> str:
        # Rounded outwards: the whole range is inside.
        least, greatest = np.floor(self.least * 100) / 100, np.ceil(self.greatest * 100) / 100
        if self.greatest >= LARGEST_RATIO:
            span = f"{least:.2f} or more"
        elif self.least <= 1 / LARGEST_RATIO:
            span = f"{greatest:.2f} or less"
        else:
            span = f"between {least:.2f} and {greatest:.2f}"
        alike = ", so also with binary gains" if self.least <= 1 <= self.greatest else ""
        return f"gain({self.high})/gain({self.low}) {span}{alike}"


def needed_gains(
    judgments: Judgments, run: Run, wanted: Mapping[Measure, Published], profiles: Sequence[Profile]
) -> tuple[list[GainRange], str]:
    """The ranges of the ratio under each profile (otherwise as it is), and a sentence where there is none to tell."""
    asked = [measure for measure in wanted if measure.family == "nDCG" and measure.gain is None]
    if not asked:
        return [], ""
    grades = sorted({float(grade) for grade in np.unique(judgments.grades) if grade > 0})
    if len(grades) != 2 or any(not grade.is_integer() for grade in grades):
        listed = ", ".join(f"{grade:g}" for grade in grades)
        many = "one positive grade" if len(grades) == 1 else f"positive grades {listed}"
        return [], f"judged are {many}: " + (
            "no gain changes nDCG" if len(grades) == 1 else "more than one ratio of gains is free, so none is told"
        )
    low, high = int(grades[0]), int(grades[1])
    ranges: list[GainRange] = []
    seen = set()
    for profile in profiles:
        for measure in asked:
            rest = profile.for_measure(measure).replace(gain="linear")
            if (measure, rest) not in seen:
                seen.add((measure, rest))
                ranges += _ranges(judgments, run, measure, wanted[measure], profile, low, high)
    return ranges, "" if ranges else f"no ratio gain({high})/gain({low}) up to {LARGEST_RATIO:g} gives it"


def _ranges(
    judgments: Judgments, run: Run, measure: Measure, number: Published, profile: Profile, low: int, high: int
) -> list[GainRange]:
    kept = KeptPrefixes()

    def mean(ratio: float) -> float:
        # Grade 0 and negative ones are worth nothing; the smaller positive grade is the unit.
        table = {0: 0.0, low: 1.0, high: ratio}
        scores = evaluate(judgments, run, [measure], profile.with_fields({"gain": table}), "reference", kept=kept)
        value = scores.mean[str(measure)].value
        return -1.0 if value is None else value  # undefined: no number holds it

    def crossing(left: float, right: float, level: float) -> float:
        rising = mean(right) > level
        for _ in range(_HALVINGS):
            middle = (left + right) / 2
            left, right = (left, middle) if (mean(middle) > level) == rising else (middle, right)
        return (left + right) / 2

    try:
        values = [mean(ratio) for ratio in _GRID]
    except MetricpactError:
        return []  # the profile refuses the data, as it says among the rejected
    # Between neighbouring points of the grid the mean is taken to rise or to fall throughout.
    points = set(_GRID)
    for level in (float(number.low), float(number.high)):
        for at in range(1, len(_GRID)):
            if (values[at - 1] > level) != (values[at] > level):
                points.add(crossing(_GRID[at - 1], _GRID[at], level))
    found: list[GainRange] = []
    ordered = sorted(points)
    for left, right in pairwise(ordered):
        if not number.holds(mean((left + right) / 2)):
            continue
        if found and found[-1].greatest == left:
            found[-1] = replace(found[-1], greatest=right)
        else:
            found.append(GainRange(profile.name, measure, low, high, left, right))
    return found
