"""Intervals: proportions against scipy, statsmodels and exact coverage; the bootstrap against an enumeration that
shares no code with it; paired differences against a published example; and what has no interval says why.
"""

from __future__ import annotations

import re
import subprocess
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from metricpact.contracts.errors import ContractError
from metricpact.crosscheck.slices.intervals import (
    EXACT_BOOTSTRAP,
    IntervalOptions,
    bootstrap_intervals,
    difference_intervals,
    mean_intervals,
    paired_proportions_interval,
    proportion_interval,
)
from pytest import approx
from statsmodels.stats.proportion import proportion_confint

ROOT = Path(__file__).resolve().parents[1]
WILSON, EXACT = IntervalOptions(), IntervalOptions(proportion="clopper-pearson")


def bca(values: list[float], **options: float) -> tuple[float | None, float | None]:
    """The ends of one sample's bootstrap interval."""
    one = bootstrap_intervals([np.array(values)], IntervalOptions(**options))[0]  # type: ignore[arg-type] # by name
    return one.lower, one.upper


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(1, 300), st.data())
def test_intervals_of_a_proportion_are_those_of_scipy_and_statsmodels(n: int, data: st.DataObject) -> None:
    """Two libraries that share no code give the same ends as ours, for Wilson and for Clopper and Pearson."""
    successes = data.draw(st.integers(0, n))
    for options, theirs, method in ((WILSON, "wilson", "wilson"), (EXACT, "exact", "beta")):
        ours = proportion_interval(successes, n, options)
        scipys = scipy.stats.binomtest(successes, n).proportion_ci(0.95, theirs)
        assert (ours.lower, ours.upper) == (scipys.low, scipys.high)
        lower, upper = proportion_confint(successes, n, alpha=0.05, method=method)
        # statsmodels leaves out the ends 0 and 1 by rounding, and gives NaN for some of Clopper and Pearson's.
        assert ours.lower == approx(np.nan_to_num(lower, nan=0.0), abs=1e-9)
        assert ours.upper == approx(np.nan_to_num(upper, nan=1.0), abs=1e-9)


def test_two_of_two_is_fine() -> None:
    """Two hits in two questions leave everything from .342 up."""
    found = proportion_interval(2, 2, WILSON)
    assert (found.lower, found.upper) == (approx(0.3424, abs=5e-5), 1.0)


def coverage(n: int, options: IntervalOptions, share: float) -> float:
    """The exact chance that the interval holds the share."""
    total = 0.0
    for successes in range(n + 1):
        found = proportion_interval(successes, n, options)
        assert found.lower is not None and found.upper is not None
        if found.lower <= share <= found.upper:
            total += float(scipy.stats.binom.pmf(successes, n, share))
    return total


@pytest.mark.parametrize("n", [1, 2, 5, 10, 30])
def test_the_exact_interval_covers_what_it_says(n: int) -> None:
    """Clopper and Pearson's interval never holds the truth in less than 95 % of samples; Wilson's does on average."""
    shares = np.linspace(0.02, 0.98, 25)
    assert min(coverage(n, EXACT, share) for share in shares) >= 0.95
    assert np.mean([coverage(n, WILSON, share) for share in shares]) == approx(0.95, abs=0.025)


def test_the_table_of_exact_coverage_is_fresh() -> None:
    """The coverage that the benchmarks' page tabulates is what the script computes."""
    command = [sys.executable, "benchmarks/coverage_of_intervals.py", "--part", "proportions"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert printed.count("\n") >= 8
    assert printed in (ROOT / "benchmarks/README.md").read_text(encoding="utf-8")


def test_the_simulated_coverage_of_the_bootstrap_is_in_bounds() -> None:
    """The page shows 93 to 97 % for uniform values and reciprocal ranks at 30 and 100 queries."""
    rows = re.findall(
        r"^\| ([^|]+) \| (\d+) \| (0\.\d+) \| (\d+) \| ([^|]+) \|$",
        (ROOT / "benchmarks/README.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    gated = {(name, n): float(held) for name, n, held, _, wanted in rows if wanted != "reported"}
    names = ("uniform on 0 … 1", "reciprocal ranks")
    assert set(gated) == {(name, n) for name in names for n in ("30", "100")}
    assert all(0.93 <= held <= 0.97 for held in gated.values())


@pytest.mark.parametrize("kind", ["uniform", "reciprocal ranks"])
def test_a_small_simulation_covers(kind: str) -> None:
    """A few hundred samples of 30 are covered about as often as the page says."""
    random = np.random.default_rng(5)
    values, weights = [1, 1 / 2, 1 / 3, 1 / 4, 0], [0.5, 0.2, 0.1, 0.05, 0.15]
    mean = 0.5 if kind == "uniform" else float(np.dot(values, weights))
    shape = (400, 30)
    samples = random.random(shape) if kind == "uniform" else random.choice(values, size=shape, p=weights)
    found = bootstrap_intervals(list(samples), IntervalOptions(resamples=1000))
    held = [one.lower <= mean <= one.upper for one in found if one.lower is not None and one.upper is not None]
    assert len(held) == 400
    assert 0.91 <= np.mean(held) <= 0.985


def enumerated_bca(values: list[Fraction]) -> tuple[float, float]:
    """BCa's ends from all n^n resamples in exact arithmetic, as Efron and Tibshirani (1993, chapter 14) write it."""
    n, normal = len(values), NormalDist()
    mean = sum(values, Fraction()) / n
    means = sorted(sum(drawn, Fraction()) / n for drawn in product(values, repeat=n))
    below = Fraction(sum(m < mean for m in means) * 2 + sum(m == mean for m in means), 2 * len(means))
    bias = normal.inv_cdf(float(below))
    jackknife = [(sum(values, Fraction()) - value) / (n - 1) for value in values]
    middle = sum(jackknife, Fraction()) / n
    acceleration = float(sum((middle - j) ** 3 for j in jackknife)) / (
        6 * float(sum((middle - j) ** 2 for j in jackknife)) ** 1.5
    )
    ends = []
    for tail in (0.025, 0.975):
        z = bias + normal.inv_cdf(tail)
        level = normal.cdf(bias + z / (1 - acceleration * z))
        # The smallest mean that has at least this share of the resamples at or below it.
        at = next(i for i in range(len(means)) if (i + 1) / len(means) >= level - 1e-12)
        ends.append(float(means[at]))
    return ends[0], ends[1]


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 10), min_size=2, max_size=5).filter(lambda listed: len(set(listed)) > 1))
def test_the_listed_bootstrap_is_the_full_enumeration(tenths: list[int]) -> None:
    """Distinct resamples with their chances give what all n^n resamples give."""
    found = bca([value / 10 for value in tenths])
    assert found == approx(enumerated_bca([Fraction(value, 10) for value in tenths]), abs=1e-9)


def test_the_drawn_bootstrap_is_scipys() -> None:
    """For longer samples the ends are those of scipy.stats.bootstrap with the same seed."""
    values = np.sort(np.random.default_rng(2).random(25))
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=500, method="BCa", random_state=np.random.default_rng(7)
    ).confidence_interval
    assert bca(list(values), resamples=500, seed=7) == approx((theirs.low, theirs.high), abs=1e-12)


def test_listing_and_drawing_meet() -> None:
    """At the longest sample that is listed, many drawn resamples come to the same ends."""
    values = np.random.default_rng(3).random(EXACT_BOOTSTRAP)
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=40_000, method="BCa", random_state=np.random.default_rng(1)
    ).confidence_interval
    assert bca(list(values)) == approx((theirs.low, theirs.high), abs=5e-3)


def test_chance_is_reproducible_and_apart_from_its_neighbours() -> None:
    """One seed gives one interval, in whatever company and order of queries; another seed gives another."""
    samples = list(np.random.default_rng(4).random((70, 20)))
    alone, together = bootstrap_intervals(samples[65:66], WILSON)[0], bootstrap_intervals(samples, WILSON)[65]
    assert (alone.lower, alone.upper) == approx((together.lower, together.upper), abs=1e-12)
    assert alone == bootstrap_intervals([samples[65][::-1]], WILSON)[0]
    assert alone != bootstrap_intervals(samples[65:66], IntervalOptions(seed=2))[0]


@pytest.mark.parametrize(
    ("values", "reason"),
    [([], "no value"), ([0.3], "one value has no spread"), ([0.1 + 0.2, 0.3, 0.3], "all values are equal")],
)
def test_a_bootstrap_without_spread_is_refused(values: list[float], reason: str) -> None:
    """No value, one value, equal values (but for rounding): no interval, a reason, and never NaN."""
    found = mean_intervals([np.array(values)], [False], WILSON)[0]
    assert (found.lower, found.upper, found.reason) == (None, None, reason)


def test_what_is_refused_disturbs_no_other() -> None:
    """Samples of several lengths and kinds keep their places."""
    samples = [np.array([1.0]), np.array([0.2, 0.4, 0.9]), np.array([]), np.array([1.0, 0.0]), np.random.rand(12)]
    found = mean_intervals(samples, [True, False, True, True, False], WILSON)
    assert [one.method for one in found] == ["wilson", "bca-exact", "none", "wilson", "bca"]
    assert (found[1].lower, found[1].upper) == approx(bca([0.2, 0.4, 0.9]))


def test_newcombes_published_example() -> None:
    """Fifty pairs, 36 yes on both sides, 12 and 2 on one, 0 on none: .0569 to .3404 (1998, table II)."""
    second = np.repeat([1.0, 1.0, 0.0, 0.0], [36, 12, 2, 0])
    first = np.repeat([1.0, 0.0, 1.0, 0.0], [36, 12, 2, 0])
    found = paired_proportions_interval(first, second, WILSON)
    assert (found.lower, found.upper) == (approx(0.0569, abs=5e-5), approx(0.3404, abs=5e-5))


pairs = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(pairs)
def test_a_paired_interval_turns_with_its_pairs(drawn: list[tuple[bool, bool]]) -> None:
    """It holds the difference, stays inside −1 … 1, and changes its sign when the sides change places."""
    first, second = (np.array(side, dtype=np.float64) for side in zip(*drawn, strict=True))
    there, back = difference_intervals([(first, second), (second, first)], [True, True], WILSON)
    assert there.lower is not None and there.upper is not None and back.lower is not None and back.upper is not None
    assert -1 <= there.lower <= (second - first).mean() + 1e-9
    assert (second - first).mean() - 1e-9 <= there.upper <= 1
    assert (there.lower, there.upper) == approx((-back.upper, -back.lower), abs=1e-12)


def test_the_difference_of_graded_values_is_that_of_their_differences() -> None:
    """A graded pair has the bootstrap interval of its differences; equal differences have none."""
    first, second = np.random.default_rng(6).random((2, 15))
    found = difference_intervals([(first, second), (first, first + 0.25), (first, first)], [False] * 3, WILSON)
    assert found[0] == bootstrap_intervals([second - first], WILSON)[0]
    assert [one.reason for one in found[1:]] == ["all values are equal"] * 2


@pytest.mark.parametrize(
    "options", [{"confidence": 1.0}, {"confidence": 0.0}, {"proportion": "wald"}, {"resamples": 10}, {"seed": -1}]
)
def test_options_that_make_no_interval_are_refused(options: dict[str, object]) -> None:
    """A level outside 0 … 1, an unknown method, too few resamples, a seed below 0."""
    with pytest.raises(ContractError):
        IntervalOptions(**options)  # type: ignore[arg-type] # wrong on purpose


def test_without_scipy_the_package_is_named() -> None:
    """An installation without scipy says so, and how to get it."""
    code = (
        "import sys; sys.modules['scipy'] = None\n"
        "from metricpact.cli import main; main(['slices', 'front/example/slices/known_items.csv'])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "intervals and tests need the package scipy" in done.stderr
    assert "metricpact[stats]" in done.stderr
