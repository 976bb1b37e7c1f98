"""Tests of paired differences: against full enumeration in exact arithmetic, scipy and statsmodels; corrections;
the smallest p that a number of queries can give; the smallest difference that can be found.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import sqrt

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from metricpact.crosscheck.compare.correction import correct, corrected_if
from metricpact.crosscheck.compare.judging import minimum_detectable_difference
from metricpact.crosscheck.compare.paired_tests import EXACT_SIGNS, least_p, p_values, sign_flip_p, without_noise
from pytest import approx
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower


def enumerated(differences: list[Fraction]) -> Fraction:
    """The share of sign patterns whose sum is at least as far from 0, by listing all of them exactly."""
    observed = abs(sum(differences, Fraction()))
    sums = [
        abs(sum((sign * size for sign, size in zip(signs, differences, strict=True)), Fraction()))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return Fraction(sum(value >= observed for value in sums), len(sums))


def p(differences: list[float], test: str = "randomisation", resamples: int = 1000) -> float | None:
    """The p-value of one sample."""
    return p_values([np.array(differences, dtype=np.float64)], test, resamples=resamples, seed=1)[0].p


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.integers(-10, 10), min_size=1, max_size=9))
def test_sign_flips_are_the_full_enumeration(tenths: list[int]) -> None:
    """Meeting in the middle counts what listing all patterns counts; tenths as doubles must not lose a tie."""
    expected = enumerated([Fraction(value, 10) for value in tenths])
    assert p([value / 10 for value in tenths]) == approx(float(expected), abs=1e-12)


@pytest.mark.parametrize("n", [10, 11, 12])
def test_sign_flips_up_to_twelve(n: int) -> None:
    """All patterns of twelve differences, listed by numpy in integers."""
    random = np.random.default_rng(n)
    for _ in range(5):
        hundredths = random.integers(-100, 101, n)
        sums = np.array(list(product((1, -1), repeat=n))) @ hundredths
        assert p(list(hundredths / 100)) == (np.abs(sums) >= abs(hundredths.sum())).mean()


def test_worked_sign_flips() -> None:
    """.1, .2, .3, −.4: 14 of 16 patterns reach .2, rounding or not; 1, 1, 1, −1: .625."""
    assert p([0.1, 0.2, 0.3, -0.4]) == 14 / 16
    assert p([1, 1, 1, -1]) == 0.625
    assert p([1, 1, 1, -1, 0, 0, 0]) == 0.625  # a tied query changes no sum
    assert p([0.5] * 6) == 2 / 64


def test_sign_flips_are_scipys_permutation_test() -> None:
    """scipy lists the same patterns where it can."""
    for seed in range(5):
        sample = np.random.default_rng(seed).normal(0.3, 1, 11)
        theirs = scipy.stats.permutation_test(
            (sample,), np.sum, permutation_type="samples", n_resamples=np.inf, vectorized=True, axis=-1
        )
        assert p(list(sample)) == approx(theirs.pvalue, abs=1e-12)


@pytest.mark.parametrize("n", [20, EXACT_SIGNS])
def test_long_exact_counts_agree_with_drawn_ones(n: int) -> None:
    """2^20 and 2^32 patterns counted exactly lie within chance of scipy's random patterns."""
    sample = np.random.default_rng(n).normal(0.25, 1, n)
    drawn = scipy.stats.permutation_test(
        (sample,), np.sum, permutation_type="samples", n_resamples=20_000, vectorized=True, axis=-1,
        random_state=np.random.default_rng(0),
    ).pvalue  # fmt: skip
    assert sign_flip_p(sample) == approx(drawn, abs=5 * sqrt(drawn * (1 - drawn) / 20_000) + 1e-4)


def test_drawn_sign_flips_agree_with_the_exact_count() -> None:
    """Beyond the bound signs are drawn; the p lies within chance of the exact one, and says how it was made."""
    samples = list(np.random.default_rng(8).normal(0.2, 1, (4, EXACT_SIGNS + 4)))
    for sample, found in zip(samples, p_values(samples, "randomisation", resamples=20_000, seed=3), strict=True):
        exact = sign_flip_p(sample)
        assert found.method == "20000 drawn sign flips"
        assert found.p == approx(exact, abs=5 * sqrt(exact * (1 - exact) / 20_000) + 1e-4)
        assert found.least == 2.0 ** (1 - len(sample))


def test_a_drawn_p_is_never_zero() -> None:
    """(b + 1) / (B + 1): a hundred differences of one sign give 1 / (B + 1), the observed pattern being one."""
    assert p([0.1] * 100, resamples=999) == 1 / 1000


def test_drawn_signs_are_shared_and_reproducible() -> None:
    """One seed gives one p, alone or in company, also where signs come in several portions."""
    samples = list(np.random.default_rng(9).normal(0, 1, (3, 60)))
    together = p_values(samples, "randomisation", resamples=100_000, seed=5)
    assert p_values(samples[1:2], "randomisation", resamples=100_000, seed=5) == together[1:2]
    assert p_values(samples[1:2], "randomisation", resamples=100_000, seed=6) != together[1:2]


@pytest.mark.parametrize("test", ["randomisation", "t", "wilcoxon"])
def test_no_difference_at_all(test: str) -> None:
    """Identical runs have p = 1 under every test, and no division by zero; no pair has none, with a reason."""
    same, none = p_values([np.zeros(7), np.array([])], test, resamples=1000, seed=1)
    assert (same.p, none.p, none.reason) == (1.0, None, "no pair")


def test_t_and_wilcoxon_are_scipys() -> None:
    """The other tests by option are the library's, on the same differences."""
    sample = np.random.default_rng(10).normal(0.2, 1, 24)
    assert p(list(sample), "t") == scipy.stats.ttest_1samp(sample, 0).pvalue
    assert p(list(sample), "wilcoxon") == scipy.stats.wilcoxon(sample).pvalue
    assert p([*sample, 0.0, 0.0], "wilcoxon") == scipy.stats.wilcoxon(sample).pvalue  # a tied query has no rank


def test_a_t_test_without_spread_is_refused() -> None:
    """One pair, or equal differences: t is infinite, which is no evidence; the reason stands in place of a p."""
    one, equal = p_values([np.array([0.5]), np.array([0.2, 0.2, 0.2])], "t", resamples=1000, seed=1)
    assert (one.p, one.reason) == (None, "one pair has no spread")
    assert (equal.p, equal.reason) == (None, "all differences are equal")


def test_rounding_is_no_difference() -> None:
    """0.1 + 0.2 and 0.3 tie."""
    assert without_noise(np.array([0.1 + 0.2 - 0.3, 0.25])).tolist() == [0.0, 0.25]


@pytest.mark.parametrize(("nonzero", "expected"), [(1, 1.0), (2, 0.5), (5, 1 / 16), (6, 1 / 32), (9, 1 / 256)])
def test_the_least_p_of_a_number_of_queries(nonzero: int, expected: float) -> None:
    """2^(1 − n): the most extreme pattern and its mirror image; it is reached when all differences have one sign."""
    sample = np.concatenate([np.full(nonzero, 0.3), np.zeros(4)])
    assert least_p(sample) == expected == p(list(sample))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_corrections_are_statsmodels(drawn: list[float]) -> None:
    """Holm's and Benjamini and Hochberg's corrected p-values, ties included."""
    values = np.array(drawn)
    assert correct(values, "holm") == approx(multipletests(values, method="holm")[1], abs=1e-15)
    assert correct(values, "bh") == approx(multipletests(values, method="fdr_bh")[1], abs=1e-15)
    assert correct(values, "none").tolist() == drawn


def test_what_the_correction_would_make_of_one_value() -> None:
    """Each value in turn is replaced, the others stay: five tests, of which one could reach .01 at best."""
    values, best = np.array([0.2, 0.04, 0.9, 0.5, 0.03]), np.array([0.01, 0.04, 0.002, 0.5, 0.03])
    found = corrected_if(values, best, "holm")
    assert found == approx([0.05, 0.16, 0.01, 1.0, 0.15])


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=12), st.sampled_from(["holm", "bh", "none"])
)
def test_a_replaced_value_is_corrected_as_the_whole_family_would_be(drawn: list[tuple[int, int]], way: str) -> None:
    """Up, down and among equal ones: the very numbers that correcting the changed family anew gives."""
    values, instead = np.array(drawn, dtype=float).reshape(-1, 2).T / 13
    anew = [correct(np.where(np.arange(len(values)) == at, instead[at], values), way)[at] for at in range(len(values))]
    assert corrected_if(values, instead, way).tolist() == anew


@pytest.mark.parametrize("n", [10, 30, 100])
def test_the_detectable_difference_has_its_power(n: int) -> None:
    """A true difference of that size is found with about the power asked for, by statsmodels' exact power of t."""
    sample = np.random.default_rng(n).normal(0.1, 0.3, n)
    found = minimum_detectable_difference(sample, 0.05, 0.8)
    assert found is not None
    power = TTestPower().power(found / sample.std(ddof=1), n, 0.05)
    assert power == approx(0.8, abs=0.02)


def test_no_spread_has_no_detectable_difference() -> None:
    """One pair, or equal differences, say nothing of the spread."""
    assert minimum_detectable_difference(np.array([0.5]), 0.05, 0.8) is None
    assert minimum_detectable_difference(np.array([0.5, 0.5]), 0.05, 0.8) is None
