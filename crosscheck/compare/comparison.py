"""Candidates held against one base, paired by query id: differences with intervals, tests and one correction."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from metricpact.contracts.errors import ContractError, InputError
from metricpact.contracts.scores import Column, Scores
from metricpact.contracts.tables import Floats
from metricpact.crosscheck.compare.correction import correct, corrected_if
from metricpact.crosscheck.compare.flips import Flip, Rankings, ShownQuery, find_flips, show_query
from metricpact.crosscheck.compare.options import ComparisonOptions
from metricpact.crosscheck.compare.paired_tests import PValue, p_values, without_noise
from metricpact.crosscheck.compare.pairing import paired
from metricpact.crosscheck.slices.intervals import Interval, difference_intervals, statistics
from metricpact.crosscheck.slices.scored import ScoredRun
from metricpact.crosscheck.slices.slicing import Slicing

BETTER, WORSE, NOT_SHOWN = "better", "worse", "no difference shown"
UNRESOLVED, FEW_RESAMPLES = "cannot resolve at this n", "cannot resolve with so few resamples"
UNTESTED = "no test"


@dataclass(frozen=True)
class Difference:
    """One candidate against the base on one measure and slice.

    ``n`` pairs of queries have a value on both sides; ``undefined`` pairs have none on one side at least.
    ``difference`` is candidate − base, of the means over the n pairs; None where there is no pair.
    ``minimum_detectable`` is described at ``minimum_detectable_difference``; ``note`` labels what is to be known.
    """

    base: str
    candidate: str
    slice: str
    measure: str
    n: int
    undefined: int
    base_mean: float | None
    candidate_mean: float | None
    difference: float | None
    interval: Interval
    wins: int
    ties: int
    losses: int
    p: PValue
    corrected: float | None
    minimum_detectable: float | None
    verdict: str
    note: str = ""


@dataclass(frozen=True, eq=False)
class Comparison:
    """All differences, in the order pairs × slices × measures, and how they came about.

    ``pairs`` are (base, candidate) names. ``family`` is the number of p-values that were corrected together.
    ``unpaired`` gives, by pair, the query ids that only the base has and those that only the candidate has; they
    take no part. ``rankings`` is None where values alone were compared.
    """

    pairs: tuple[tuple[str, str], ...]
    differences: tuple[Difference, ...]
    options: ComparisonOptions
    family: int
    unpaired: Mapping[tuple[str, str], tuple[tuple[str, ...], tuple[str, ...]]]
    runs: Mapping[str, ScoredRun]
    rankings: Rankings | None = None
    notes: tuple[str, ...] = ()

    @property
    def signatures(self) -> dict[str, dict[str, str]]:
        """The signatures of every run, by measure."""
        return {name: run.signatures for name, run in self.runs.items()}

    def find(self, candidate: str, measure: str, part: str = "all") -> Difference:
        """One difference; raises ``InputError`` for one that was not made."""
        for found in self.differences:
            if (found.candidate, found.measure, found.slice) == (candidate, measure, part):
                return found
        raise InputError(f"{measure} of {candidate} on {part} was not compared", "look at the comparison's differences")

    def flips(self, most: int = 3) -> list[Flip]:
        """For each pair and measure the queries that changed most; see ``find_flips``."""
        rankings = self._rankings()
        return [
            flip
            for base, candidate in self.pairs
            for flip in find_flips(self.runs[base], self.runs[candidate], rankings, most=most)
        ]

    def show(self, query: str) -> list[ShownQuery]:
        """One query's values and rankings in every pair; raises ``InputError`` for one that is not judged."""
        rankings = self._rankings()
        return [show_query(self.runs[base], self.runs[candidate], rankings, query) for base, candidate in self.pairs]

    def _rankings(self) -> Rankings:
        if self.rankings is None:
            raise InputError("there are no rankings to show: values alone were compared", "compare the runs themselves")
        return self.rankings

    def to_polars(self) -> pl.DataFrame:
        """One row a difference, numbers in full."""
        return pl.DataFrame([flat(found) for found in self.differences], schema=SCHEMA)


SCHEMA = {
    **dict.fromkeys(("base", "candidate", "slice", "measure"), pl.String),
    **dict.fromkeys(("n", "undefined"), pl.Int64),
    **dict.fromkeys(("base_mean", "candidate_mean", "difference", "lower", "upper"), pl.Float64),
    **dict.fromkeys(("interval_method", "interval_reason"), pl.String),
    **dict.fromkeys(("wins", "ties", "losses"), pl.Int64),
    **dict.fromkeys(("p", "corrected_p", "least_p"), pl.Float64),
    **dict.fromkeys(("p_method", "p_reason"), pl.String),
    "minimum_detectable": pl.Float64,
    **dict.fromkeys(("verdict", "note"), pl.String),
}
"""The columns of ``Comparison.to_polars``."""


def flat(found: Difference) -> dict[str, Any]:
    """A difference as one flat record."""
    held = asdict(found)
    interval, p = held.pop("interval"), held.pop("p")
    held |= {"lower": interval["lower"], "upper": interval["upper"]}
    held |= {"interval_method": interval["method"], "interval_reason": interval["reason"]}
    held |= {"p": p["p"], "corrected_p": held.pop("corrected"), "least_p": p["least"]}
    held |= {"p_method": p["method"], "p_reason": p["reason"]}
    return {name: held[name] for name in SCHEMA}


@dataclass(frozen=True)
class _Cell:
    """Aligned values of one pair, slice and measure, before anything was tested."""

    base_name: str
    candidate: str
    slice: str
    measure: str
    base: Floats
    other: Floats
    zero_one: bool
    undefined: int
    note: str


def compare_scores(
    base: ScoredRun | Scores,
    candidates: Sequence[ScoredRun | Scores],
    *,
    measures: Sequence[str] | None = None,
    slicing: Slicing | None = None,
    options: ComparisonOptions | None = None,
    rankings: Rankings | None = None,
) -> Comparison:
    """Hold candidates against one base, query by query, for each measure (the base's, unless named) and slice.

    Queries are paired by id, whatever their order; ``rankings`` are needed only to show those that flipped. Raises
    ``InputError`` where no query is shared or two runs bear one name, ``MeasureError`` for a measure that a run has no
    values of, ``ContractError`` where signatures differ in the contract part and that was not asked for, and
    ``DependencyError`` without scipy.
    """
    if not candidates:
        raise InputError("there is nothing to compare with the base", "name at least one candidate")
    runs = [_scored(base, "base"), *(_scored(other, f"candidate {at}") for at, other in enumerate(candidates, 1))]
    return _compare([(runs[0], other) for other in runs[1:]], runs, measures, slicing, options, rankings)


def compare_all_pairs(
    runs: Sequence[ScoredRun | Scores],
    *,
    measures: Sequence[str] | None = None,
    slicing: Slicing | None = None,
    options: ComparisonOptions | None = None,
    rankings: Rankings | None = None,
) -> Comparison:
    """Hold every run against every later one, all tests in one family; see ``compare_scores``."""
    if len(runs) < 2:
        raise InputError("there is nothing to compare", "name at least two runs")
    scored = [_scored(run, f"run {at}") for at, run in enumerate(runs, 1)]
    return _compare(list(combinations(scored, 2)), scored, measures, slicing, options, rankings)


def _compare(
    pairs: Sequence[tuple[ScoredRun, ScoredRun]],
    runs: Sequence[ScoredRun],
    measures: Sequence[str] | None,
    slicing: Slicing | None,
    options: ComparisonOptions | None,
    rankings: Rankings | None,
) -> Comparison:
    options, slicing = options or ComparisonOptions(), slicing or Slicing()
    names = [run.name for run in runs]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"two runs are called {twice!r}", "give every run a name of its own")
    wanted = runs[0].measures if measures is None else list(measures)
    cells: list[_Cell] = []
    unpaired: dict[tuple[str, str], tuple[tuple[str, ...], tuple[str, ...]]] = {}
    for base, other in pairs:
        left, right, unpaired[base.name, other.name] = paired(base, other)
        cells += _cells(left, right, wanted, slicing, options)
    differences = _judge(cells, options)
    return Comparison(
        pairs=tuple((base.name, other.name) for base, other in pairs),
        differences=tuple(differences),
        options=options,
        family=sum(found.corrected is not None for found in differences),
        unpaired=unpaired,
        runs={run.name: run for run in runs},
        rankings=rankings,
    )


def _scored(run: ScoredRun | Scores, word: str) -> ScoredRun:
    return ScoredRun.from_scores(word, run) if isinstance(run, Scores) else run


def _cells(
    left: ScoredRun, right: ScoredRun, measures: Sequence[str], slicing: Slicing, options: ComparisonOptions
) -> list[_Cell]:
    cells = []
    for part, mask in slicing.members(left.queries):
        for measure in measures:
            old, new = left.column(measure), right.column(measure)
            note = _same_contract(left.name, old, right.name, new, options)
            both = mask & old.in_mean & new.in_mean
            known = both & (old.reason == 0) & (new.reason == 0)
            cells.append(
                _Cell(
                    left.name,
                    right.name,
                    part.name,
                    str(old.measure),
                    old.values[known],
                    new.values[known],
                    old.zero_one and new.zero_one,
                    int((both & ~known).sum()),
                    note,
                )
            )
    return cells


def _same_contract(base: str, old: Column, name: str, new: Column, options: ComparisonOptions) -> str:
    """A label where numbers of two contracts are compared because that was asked for; raises ``ContractError``."""
    parts = [column.signature.partition("||")[0] for column in (old, new)]
    if parts[0] == parts[1]:
        return ""
    if not options.across_contracts:
        raise ContractError(
            f"{old.measure} of {base} and {name} mean different things: {parts[0]} and {parts[1]}",
            "score both under one contract; to compare all the same, and have it labelled: --across-contracts",
        )
    return f"different contracts: {parts[0]} and {parts[1]}"


def _judge(cells: Sequence[_Cell], options: ComparisonOptions) -> list[Difference]:
    """Intervals, p-values, the correction over all of them, and verdicts."""
    ways = options.intervals
    samples = [without_noise(cell.other - cell.base) for cell in cells]
    intervals = difference_intervals([(cell.base, cell.other) for cell in cells], [c.zero_one for c in cells], ways)
    tested = p_values(samples, options.test, resamples=ways.resamples, seed=ways.seed)
    family = [at for at, value in enumerate(tested) if value.p is not None]
    p = np.array([tested[at].p for at in family], dtype=np.float64)
    least = np.array([tested[at].least or 0.0 for at in family], dtype=np.float64)
    drawn = np.array(["drawn" in tested[at].method for at in family], dtype=np.bool_)
    corrected = dict(zip(family, correct(p, options.correction), strict=True))
    best = dict(zip(family, corrected_if(p, least, options.correction), strict=True))
    fewest = np.where(drawn, 1 / (ways.resamples + 1), least)
    reachable = dict(zip(family, corrected_if(p, fewest, options.correction), strict=True))
    found = []
    for at, (cell, sample) in enumerate(zip(cells, samples, strict=True)):
        n, wins, losses = len(sample), int((sample > 0).sum()), int((sample < 0).sum())
        old, new = (math.fsum(values) / n if n else None for values in (cell.base, cell.other))
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
                base=cell.base_name,
                candidate=cell.candidate,
                slice=cell.slice,
                measure=cell.measure,
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
                minimum_detectable=minimum_detectable_difference(
                    sample, options.alpha / max(len(family), 1), options.power
                ),
                verdict=verdict,
                note=cell.note,
            )
        )
    return found


def minimum_detectable_difference(sample: Floats, alpha: float, power: float) -> float | None:
    """The smallest true mean difference that a two-sided test at ``alpha`` finds with this power.

    (t(1 − alpha/2) + t(power)) · s / √n with n − 1 degrees of freedom and s the standard deviation of the
    differences (Bloom, Evaluation Review 19, 1995). None for fewer than two pairs, or differences that are all equal.
    """
    n = len(sample)
    spread = float(sample.std(ddof=1)) if n > 1 else 0.0
    if spread <= 1e-12:
        return None
    quantile = statistics().t.ppf
    return float((quantile(1 - alpha / 2, n - 1) + quantile(power, n - 1)) * spread / math.sqrt(n))
