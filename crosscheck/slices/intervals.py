"""Confidence intervals of means over queries, and of paired differences of means.

Measures that are 0 or 1 by definition have an interval for a proportion: Wilson's score interval or the exact one of
Clopper and Pearson. Graded ones have the bias-corrected and accelerated bootstrap (BCa: Efron, JASA 82, 1987); where
there are so few values that all their resamples can be listed, they are, and no chance is left in the interval.
Differences of two paired proportions have Newcombe's hybrid score interval (Statistics in Medicine 17, 1998, method
10). What has no interval says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import comb, sqrt
from typing import Any

import numpy as np
from metricpact.contracts.errors import ContractError, DependencyError
from metricpact.contracts.tables import Floats

PROPORTIONS = ("wilson", "clopper-pearson")
EXACT_BOOTSTRAP = 10
"""Up to so many values all distinct resamples are listed: C(19, 10) = 92378 of them for 10 values."""
ALL_EQUAL = "all values are equal"
_ROWS, _DRAWS = 64, 2_000_000


@dataclass(frozen=True)
class Interval:
    """An interval with its method, or None at both ends and the ``reason`` why there is none."""

    lower: float | None
    upper: float | None
    method: str
    reason: str = ""


@dataclass(frozen=True)
class IntervalOptions:
    """How intervals are made; raises ``ContractError`` for a value that makes none."""

    confidence: float = 0.95
    proportion: str = "wilson"
    resamples: int = 10_000
    seed: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            raise ContractError(f"{self.confidence} is not a confidence level", "write for example 0.95")
        if self.proportion not in PROPORTIONS:
            raise ContractError(
                f"{self.proportion!r} is not an interval of a proportion", f"choose from: {', '.join(PROPORTIONS)}"
            )
        if self.resamples < 100:
            raise ContractError(f"{self.resamples} resamples are too few", "write 100 or more, such as 10000")
        if self.seed < 0:
            raise ContractError(f"{self.seed} is not a seed", "a seed is an integer of 0 or more")


def mean_intervals(samples: Sequence[Floats], zero_one: Sequence[bool], options: IntervalOptions) -> list[Interval]:
    """The interval of each sample's mean; ``zero_one`` tells which samples are 0 or 1 by definition."""
    found: dict[int, Interval] = {}
    graded: list[int] = []
    for at, (sample, proportion) in enumerate(zip(samples, zero_one, strict=True)):
        if not len(sample):
            found[at] = Interval(None, None, "none", "no value")
        elif proportion:
            found[at] = proportion_interval(int(sample.sum()), len(sample), options)
        else:
            graded.append(at)
    found |= zip(graded, bootstrap_intervals([samples[at] for at in graded], options), strict=True)
    return [found[at] for at in range(len(samples))]


def difference_intervals(
    pairs: Sequence[tuple[Floats, Floats]], zero_one: Sequence[bool], options: IntervalOptions
) -> list[Interval]:
    """The interval of mean(second) − mean(first) of each pair of aligned samples."""
    found: dict[int, Interval] = {}
    graded: list[int] = []
    for at, ((first, second), proportion) in enumerate(zip(pairs, zero_one, strict=True)):
        if not len(first):
            found[at] = Interval(None, None, "none", "no pair")
        elif proportion:
            found[at] = paired_proportions_interval(first, second, options)
        else:
            graded.append(at)
    differences = [pairs[at][1] - pairs[at][0] for at in graded]
    found |= zip(graded, bootstrap_intervals(differences, options), strict=True)
    return [found[at] for at in range(len(pairs))]


def proportion_interval(successes: int, n: int, options: IntervalOptions) -> Interval:
    """Wilson's or Clopper and Pearson's interval of a proportion (scipy's); it needs no more than one value."""
    method = "exact" if options.proportion == "clopper-pearson" else "wilson"
    ends = statistics().binomtest(successes, n).proportion_ci(options.confidence, method)
    return Interval(float(ends.low), float(ends.high), options.proportion)


def paired_proportions_interval(first: Floats, second: Floats, options: IntervalOptions) -> Interval:
    """Newcombe's interval of the difference of two paired proportions, from the two Wilson intervals.

    They are combined as (u − p)² terms with the correlation φ of the pairs, its numerator lessened by n/2 where it
    is positive (method 10 of the paper).
    """
    n = len(first)
    both, neither = int((first * second).sum()), int(((1 - first) * (1 - second)).sum())
    lost, won = int((first * (1 - second)).sum()), int(((1 - first) * second).sum())
    wilson = IntervalOptions(options.confidence)
    old, new = proportion_interval(both + lost, n, wilson), proportion_interval(both + won, n, wilson)
    assert old.lower is not None and old.upper is not None and new.lower is not None and new.upper is not None  # noqa: S101 # n > 0
    p_old, p_new = (both + lost) / n, (both + won) / n
    cross = both * neither - lost * won
    product = (both + lost) * (won + neither) * (both + won) * (lost + neither)
    phi = (max(cross - n / 2, 0.0) if cross > 0 else float(cross)) / sqrt(product) if product else 0.0

    def reach(a: float, b: float) -> float:
        return sqrt(max(a * a - 2 * phi * a * b + b * b, 0.0))

    difference = p_new - p_old
    return Interval(
        max(difference - reach(p_new - new.lower, old.upper - p_old), -1.0),
        min(difference + reach(p_old - old.lower, new.upper - p_new), 1.0),
        "newcombe",
    )


def bootstrap_intervals(samples: Sequence[Floats], options: IntervalOptions) -> list[Interval]:
    """The BCa bootstrap interval of each sample's mean; refused for one value, and for values that are all equal."""
    found: dict[int, Interval] = {}
    by_length: dict[int, list[int]] = {}
    for at, sample in enumerate(samples):
        if len(sample) < 2:
            found[at] = Interval(None, None, "bca", "one value has no spread" if len(sample) else "no value")
        elif np.ptp(sample) <= 1e-12 * max(1.0, float(np.abs(sample).max())):
            found[at] = Interval(None, None, "bca", ALL_EQUAL)
        else:
            by_length.setdefault(len(sample), []).append(at)
    for n, places in by_length.items():
        # Sorted, so that the order of queries cannot matter to what is drawn.
        stacked = np.sort(np.stack([samples[at] for at in places]), axis=1)
        ends = _listed_bca(stacked, options) if n <= EXACT_BOOTSTRAP else _drawn_bca(stacked, options)
        method = "bca-exact" if n <= EXACT_BOOTSTRAP else "bca"
        for at, (lower, upper) in zip(places, ends.tolist(), strict=True):
            known = bool(np.isfinite(lower) and np.isfinite(upper))
            found[at] = (
                Interval(lower, upper, method) if known else Interval(None, None, method, "the resamples hardly vary")
            )
    return [found[at] for at in range(len(samples))]


def _drawn_bca(stacked: Floats, options: IntervalOptions) -> Floats:
    """Lower and upper ends for samples of one length (a row each) by drawn resamples, the same for every row."""
    import warnings

    stats, n = statistics(), stacked.shape[1]
    ends = np.empty((len(stacked), 2))
    for begin in range(0, len(stacked), _ROWS):
        rows = stacked[begin : begin + _ROWS]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # what is degenerate comes back as NaN, and is refused by the caller
            interval = stats.bootstrap(
                (rows,),
                np.mean,
                axis=-1,
                vectorized=True,
                n_resamples=options.resamples,
                batch=max(1, min(options.resamples, _DRAWS // (n * _ROWS))),
                confidence_level=options.confidence,
                method="BCa",
                random_state=np.random.default_rng(options.seed),
            ).confidence_interval
        ends[begin : begin + _ROWS] = np.stack([interval.low, interval.high], axis=1)
    return ends


def _listed_bca(stacked: Floats, options: IntervalOptions) -> Floats:
    """The same from all distinct resamples, each with its probability (Efron's formulas, no chance in them)."""
    normal, n = statistics().norm, stacked.shape[1]
    counts, chance = _resamples(n)
    ends = np.empty((len(stacked), 2))
    for row, sample in enumerate(stacked):
        means, mean = counts @ sample / n, float(sample.mean())
        near = 1e-12 * max(1.0, float(np.abs(sample).max()))
        below = chance[means < mean - near].sum() + chance[np.abs(means - mean) <= near].sum() / 2
        bias = normal.ppf(below)
        left_out = mean - (sample.sum() - sample) / (n - 1)
        acceleration = (left_out**3).sum() / (6 * (left_out**2).sum() ** 1.5)
        tails = normal.ppf(np.array([(1 - options.confidence) / 2, (1 + options.confidence) / 2])) + bias
        levels = normal.cdf(bias + tails / (1 - acceleration * tails))
        order = np.argsort(means)
        ends[row] = means[order][np.searchsorted(np.cumsum(chance[order]), levels - 1e-12).clip(0, len(means) - 1)]
    return ends


@cache
def _resamples(n: int) -> tuple[Floats, Floats]:
    """How often each of n values is drawn in every distinct resample, and the resample's probability."""
    from itertools import combinations
    from math import factorial

    bars = np.array(list(combinations(range(2 * n - 1), n - 1)), dtype=np.int64).reshape(comb(2 * n - 1, n), n - 1)
    edges = np.hstack([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), 2 * n - 1)])
    counts = np.diff(edges, axis=1) - 1
    factorials = np.array([factorial(k) for k in range(n + 1)], dtype=np.float64)
    return counts.astype(np.float64), factorials[n] / factorials[counts].prod(axis=1) / float(n) ** n


def statistics() -> Any:
    """``scipy.stats``, imported when the first statistic is asked for; raises ``DependencyError`` without scipy."""
    try:
        import scipy.stats
    except ImportError as error:
        raise DependencyError(
            "intervals and tests need the package scipy", "pip install 'metricpact[stats]'"
        ) from error
    return scipy.stats
