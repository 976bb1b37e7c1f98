"""How often the intervals hold the true mean: ``python benchmarks/coverage_of_intervals.py [--samples N] [--part P]``.

Proportions are exact: the chance of every count of successes is summed where its interval holds the truth. Bootstrap
and paired intervals are simulated, with the functions that the commands call, from a seed. It measures and does not
judge: the exit code is 0.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from metricpact.crosscheck.slices.intervals import (
    EXACT_BOOTSTRAP,
    IntervalOptions,
    bootstrap_intervals,
    paired_proportions_interval,
    proportion_interval,
)
from scipy.stats import binom

Floats = npt.NDArray[np.float64]

SIZES = (2, 5, 10, 20, 30, 50, 100)
SHARES = np.linspace(0.01, 0.99, 197)
RANKS = {1.0: 0.5, 1 / 2: 0.2, 1 / 3: 0.1, 1 / 4: 0.05, 0.0: 0.15}
"""Reciprocal ranks as a known-item set has them, with their chances."""


def mixed(chances: dict[float, float]) -> tuple[float, Callable[[np.random.Generator, tuple[int, int]], Floats]]:
    """The mean of a distribution on a few values, and what draws from it."""
    values, weights = np.array(list(chances)), np.array(list(chances.values()))
    return float(values @ weights), lambda random, shape: random.choice(values, size=shape, p=weights)


DRAWN: dict[str, tuple[float, Callable[[np.random.Generator, tuple[int, int]], Floats]]] = {
    "uniform on 0 … 1": (0.5, lambda random, shape: random.random(shape)),
    "reciprocal ranks": mixed(RANKS),
    "skewed: Beta(0.5, 4)": (1 / 9, lambda random, shape: random.beta(0.5, 4.0, shape)),
    "skewed: nine of ten 0, else uniform": (
        0.05,
        lambda random, shape: np.where(random.random(shape) < 0.9, 0.0, random.random(shape)),
    ),
}
"""The graded distributions by name: true mean, and what draws samples (one a row)."""
GATED = ("uniform on 0 … 1", "reciprocal ranks")


def exact_coverage(n: int, method: str) -> Floats:
    """The coverage of a proportion's 95 % interval at every share in ``SHARES``."""
    options = IntervalOptions(proportion=method)
    ends = [proportion_interval(successes, n, options) for successes in range(n + 1)]
    holds = np.array([[one.lower <= share <= one.upper for share in SHARES] for one in ends])  # type: ignore[operator]
    return np.asarray((holds * binom.pmf(np.arange(n + 1)[:, None], n, SHARES)).sum(axis=0))


def simulated_coverage(name: str, n: int, samples: int, seed: int = 20_261) -> tuple[float, int]:
    """The share of BCa intervals that hold the true mean, and how many samples had none."""
    mean, draw = DRAWN[name]
    drawn = draw(np.random.default_rng(seed), (samples, n))
    found = bootstrap_intervals(list(drawn), IntervalOptions())
    known = [(one.lower, one.upper) for one in found if one.lower is not None and one.upper is not None]
    return sum(lower <= mean <= upper for lower, upper in known) / len(known), samples - len(known)


def paired_coverage(chances: tuple[float, float, float], n: int, samples: int, seed: int = 20_262) -> float:
    """The share of Newcombe's intervals that hold the true difference; chances of won, lost, found by both."""
    won, lost, both = chances
    kinds = np.random.default_rng(seed).choice(4, size=(samples, n), p=[won, lost, both, 1 - won - lost - both])
    held = 0
    for row in kinds:
        base, candidate = np.isin(row, (1, 2)).astype(np.float64), np.isin(row, (0, 2)).astype(np.float64)
        one = paired_proportions_interval(base, candidate, IntervalOptions())
        assert one.lower is not None and one.upper is not None
        held += one.lower <= won - lost <= one.upper
    return held / samples


def print_proportions() -> None:
    """Exact coverage of Wilson's and Clopper and Pearson's intervals."""
    print("| n | Wilson: least | mean | most | Clopper–Pearson: least | mean | most |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for n in SIZES:
        cells = []
        for method in ("wilson", "clopper-pearson"):
            held = exact_coverage(n, method)
            cells += [f"{value:.4f}" for value in (held.min(), held.mean(), held.max())]
        print(f"| {n} | {' | '.join(cells)} |", flush=True)


def print_bootstrap(samples: int) -> None:
    """Simulated coverage of the BCa bootstrap."""
    print("| values | n | coverage | samples without an interval | wanted |")
    print("|---|---:|---:|---:|---|")
    for name in DRAWN:
        for n in (10, 30, 100):
            # All resamples of ten values are listed, which takes ten times as long as drawing some.
            held, without = simulated_coverage(name, n, samples if n > EXACT_BOOTSTRAP else samples // 4)
            wanted = "0.93 … 0.97" if name in GATED and n >= 30 else "reported"
            print(f"| {name} | {n} | {held:.4f} | {without} | {wanted} |", flush=True)


def print_paired(samples: int) -> None:
    """Simulated coverage of Newcombe's interval of a paired difference."""
    print("| won, lost, found by both | n | coverage |")
    print("|---|---:|---:|")
    for chances in ((0.1, 0.1, 0.6), (0.3, 0.05, 0.5), (0.05, 0.0, 0.9)):
        for n in (10, 30, 100):
            print(f"| {', '.join(map(str, chances))} | {n} | {paired_coverage(chances, n, samples):.4f} |", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=4_000, help="simulated samples a row")
    parser.add_argument("--part", choices=["proportions", "bootstrap", "paired"], help="one table only")
    arguments = parser.parse_args()
    if arguments.part in (None, "proportions"):
        print_proportions()
    if arguments.part in (None, "bootstrap"):
        print_bootstrap(arguments.samples)
    if arguments.part in (None, "paired"):
        print_paired(arguments.samples)


if __name__ == "__main__":
    main()
