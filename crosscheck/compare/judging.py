"""From aligned values to differences: intervals, tests, one correction over all of them, and verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from metricpact.contracts.scores import Column
from metricpact.contracts.tables import Floats
from metricpact.crosscheck.compare.correction import correct, corrected_if
from metricpact.crosscheck.compare.difference import (
    BETTER,
    FEW_RESAMPLES,
    NOT_SHOWN,
    UNRESOLVED,
    UNTESTED,
    WORSE,
    Difference,
)
from metricpact.crosscheck.compare.options import ComparisonOptions
from metricpact.crosscheck.compare.paired_tests import p_values, without_noise
from metricpact.crosscheck.slices.intervals import difference_intervals, statistics
from metricpact.crosscheck.slices.scored import pooled


@dataclass(frozen=True)
class Cell:
    """Two aligned columns of one pair and slice, and the queries with a value on both sides, before any test."""

    names: tuple[str, str]
    slice: str
    old: Column
    new: Column
    known: npt.NDArray[np.bool_]
    undefined: int
    note: str

    @property
    def values(self) -> tuple[Floats, Floats]:
        """The values of both sides."""
        return self.old.values[self.known], self.new.values[self.known]


def judge(cells: Sequence[Cell], options: ComparisonOptions) -> list[Difference]:
    """Intervals, p-values, the correction over all of them, and verdicts."""
    ways = options.intervals
    values = [cell.values for cell in cells]
    samples = [without_noise(new - old) for old, new in values]
    intervals = difference_intervals(values, [cell.old.zero_one and cell.new.zero_one for cell in cells], ways)
    tested = p_values(samples, options.test, resamples=ways.resamples, seed=ways.seed)
    family = [at for at, value in enumerate(tested) if value.p is not None]
    p = np.array([tested[at].p for at in family], dtype=np.float64)
    least = np.array([tested[at].least or 0.0 for at in family], dtype=np.float64)
    drawn = np.array(["drawn" in tested[at].method for at in family], dtype=np.bool_)
    corrected = dict(zip(family, correct(p, options.correction), strict=True))
    best = dict(zip(family, corrected_if(p, least, options.correction), strict=True))
    fewest = np.where(drawn, 1 / (ways.resamples + 1), least)
    reachable = dict(zip(family, corrected_if(p, fewest, options.correction), strict=True))
    each = options.alpha / (max(len(family), 1) if options.correction != "none" else 1)
    found = []
    for at, (cell, sample) in enumerate(zip(cells, samples, strict=True)):
        n, wins, losses = len(sample), int((sample > 0).sum()), int((sample < 0).sum())
        old, new = (math.fsum(side) / n if n else None for side in values[at])
        if at not in corrected:
            verdict = UNTESTED
        elif corrected[at] <= options.alpha:
            verdict = BETTER if sample.sum() > 0 else WORSE
        elif best[at] > options.alpha:
            verdict = UNRESOLVED
        else:
            verdict = FEW_RESAMPLES if reachable[at] > options.alpha else NOT_SHOWN
        found.append(
            Difference(
                base=cell.names[0],
                candidate=cell.names[1],
                slice=cell.slice,
                measure=str(cell.old.measure),
                n=n,
                undefined=cell.undefined,
                base_mean=old,
                candidate_mean=new,
                difference=math.fsum(sample) / n if n else None,
                interval=intervals[at],
                wins=wins,
                ties=n - wins - losses,
                losses=losses,
                p=tested[at],
                corrected=float(corrected[at]) if at in corrected else None,
                minimum_detectable=minimum_detectable_difference(sample, each, options.power),
                verdict=verdict,
                note=cell.note,
                base_micro=_micro(cell.old, cell.known),
                candidate_micro=_micro(cell.new, cell.known),
                base_signature=cell.old.signature,
                candidate_signature=cell.new.signature,
            )
        )
    return found


def _micro(column: Column, rows: npt.NDArray[np.bool_]) -> float | None:
    numerator, denominator = pooled(column, rows) or (0.0, 0.0)
    return numerator / denominator if denominator else None


def minimum_detectable_difference(sample: Floats, alpha: float, power: float) -> float | None:
    """The smallest true mean difference that a two-sided test at ``alpha`` finds with this power.

    (t(1 − alpha/2) + t(power)) · s / √n with n − 1 degrees of freedom and s the standard deviation of the
    differences (Bloom, Evaluation Review 19, 1995). Where p-values are corrected, comparisons take alpha over the size
    of the family, which the smallest of them has to meet. None for fewer than two pairs, or equal differences.
    """
    n = len(sample)
    spread = float(sample.std(ddof=1)) if n > 1 else 0.0
    if spread <= 1e-12:
        return None
    quantile = statistics().t.ppf
    return float((quantile(1 - alpha / 2, n - 1) + quantile(power, n - 1)) * spread / math.sqrt(n))
