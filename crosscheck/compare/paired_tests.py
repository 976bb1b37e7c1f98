"""Tests of paired differences: sign-flip randomisation (exact or drawn), Student's t, Wilcoxon's signed ranks.

The randomisation test (Fisher, 1935; for retrieval: Smucker, Allan and Carterette, CIKM 2007) asks how many of the
2^n ways to give the n differences a sign lie as far from 0 as the observed sum. Zero differences change no sum, so
that n is the number of differences that are not zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from metricpact.contracts.tables import Floats
from metricpact.crosscheck.slices.intervals import statistics

TESTS = ("randomisation", "t", "wilcoxon")
EXACT_SIGNS = 32
"""Up to so many non-zero differences all sign patterns are counted, by meeting in the middle."""
SPARE = 1e-12
"""Sums this near to the observed one (relative to the sum of sizes where that is above 1) count as equal to it."""
_DRAWS = 4_000_000


@dataclass(frozen=True)
class PValue:
    """A two-sided p-value with its method, or None and the ``reason``; ``least`` is the smallest it could have been.

    ``least`` is 2^(1 − number of non-zero differences) for the tests that flip signs, None for the t test.
    """

    p: float | None
    method: str
    least: float | None
    reason: str = ""


def without_noise(differences: Floats) -> Floats:
    """The differences with those that are nothing but rounding set to 0."""
    sizes = np.abs(differences)
    return np.where(sizes <= SPARE * max(1.0, float(sizes.max(initial=0))), 0.0, differences)


def p_values(samples: Sequence[Floats], test: str, *, resamples: int, seed: int) -> list[PValue]:
    """The p-value of each sample of paired differences by the named test.

    Samples that are too long to count all sign patterns share the same drawn signs, query by query; a drawn p is
    (b + 1) / (resamples + 1) with b patterns at least as extreme (Davison and Hinkley, 1997, section 4.2.5).
    """
    found = [_settled(sample) for sample in samples]
    if test == "randomisation":
        _randomise(samples, found, resamples, seed)
    else:
        for at, sample in enumerate(samples):
            found[at] = found[at] or (_t(sample) if test == "t" else _wilcoxon(sample))
    return [value for value in found if value is not None]


def least_p(differences: Floats) -> float:
    """2^(1 − number of non-zero differences): two sign patterns are always as extreme as the most extreme one."""
    return float(2.0 ** (1 - max(int(np.count_nonzero(differences)), 1)))


def _settled(sample: Floats) -> PValue | None:
    """What needs no test: no pair at all, or no difference in any."""
    if not len(sample):
        return PValue(None, "none", None, "no pair")
    return None if np.any(sample) else PValue(1.0, "no difference", 1.0)


def sign_flip_p(differences: Floats) -> float:
    """The exact p of the sign-flip test: the share of sign patterns whose sum is at least as far from 0.

    Both halves' sums are listed and sorted; for each sum of the first half the partners in the second are counted
    by bisection, which takes 2^(n/2) steps in place of 2^n.
    """
    sizes = np.abs(differences[differences != 0])
    if len(sizes) <= 1:
        return 1.0
    spare = SPARE * max(1.0, float(sizes.sum()))
    bar = abs(float(differences.sum())) - spare
    # The pattern with all signs turned is as extreme, so the first sign can be held and both sides counted.
    half = len(sizes) // 2
    first, second = _signed_sums(sizes[:half]), np.sort(_signed_sums(sizes[half:]))
    above = len(second) - np.searchsorted(second, bar - first, side="left")
    below = np.searchsorted(second, -bar - first, side="right")
    return 1.0 if bar <= 0 else float((above + below).sum()) / 2.0 ** len(sizes)


def _signed_sums(sizes: Floats) -> Floats:
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums - size, sums + size])
    return sums


def _randomise(samples: Sequence[Floats], found: list[PValue | None], resamples: int, seed: int) -> None:
    drawn: dict[int, list[int]] = {}
    for at, sample in enumerate(samples):
        if found[at] is not None:
            continue
        if np.count_nonzero(sample) <= EXACT_SIGNS:
            found[at] = PValue(sign_flip_p(sample), "exact sign flips", least_p(sample))
        else:
            drawn.setdefault(len(sample), []).append(at)
    for n, places in drawn.items():
        columns = np.stack([samples[at] for at in places], axis=1)
        bars = np.abs(columns.sum(axis=0)) - SPARE * np.maximum(1.0, np.abs(columns).sum(axis=0))
        hits, random, left = np.zeros(len(places), np.int64), np.random.default_rng(seed), resamples
        while left:
            size = min(left, max(1, _DRAWS // n))
            bits = np.unpackbits(np.frombuffer(random.bytes(-(-size * n // 8)), np.uint8), count=size * n)
            sums = 2.0 * (bits.reshape(size, n).astype(np.float64) @ columns) - columns.sum(axis=0)
            hits += (np.abs(sums) >= bars).sum(axis=0)
            left -= size
        for at, hit in zip(places, hits.tolist(), strict=True):
            found[at] = PValue((hit + 1) / (resamples + 1), f"{resamples} drawn sign flips", least_p(samples[at]))


def _t(sample: Floats) -> PValue:
    if len(sample) < 2:
        return PValue(None, "t", None, "one pair has no spread")
    if np.ptp(sample) <= SPARE * max(1.0, float(np.abs(sample).max())):
        return PValue(None, "t", None, "all differences are equal")
    return PValue(float(statistics().ttest_1samp(sample, 0.0).pvalue), "t", None)


def _wilcoxon(sample: Floats) -> PValue:
    # Zeros have no rank, and keep some versions of scipy from the exact distribution; sizes that differ by rounding
    # alone would be taken for untied.
    ranked = np.round(sample[sample != 0], 12)
    return PValue(float(statistics().wilcoxon(ranked).pvalue), "wilcoxon", least_p(sample))
