"""Candidates held against one base, paired by query id: differences with intervals, tests and one correction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import polars as pl
from metricpact.contracts.errors import ContractError, InputError
from metricpact.contracts.scores import Column, Scores
from metricpact.crosscheck.compare.difference import SCHEMA, Difference, flat
from metricpact.crosscheck.compare.flips import Flip, Rankings, ShownQuery, find_flips, show_query
from metricpact.crosscheck.compare.judging import Cell, judge
from metricpact.crosscheck.compare.options import ComparisonOptions
from metricpact.crosscheck.compare.pairing import paired
from metricpact.crosscheck.slices.scored import ScoredRun
from metricpact.crosscheck.slices.slicing import Slicing

__all__ = ["Comparison", "Difference", "compare_all_pairs", "compare_scores"]


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
    cells: list[Cell] = []
    unpaired: dict[tuple[str, str], tuple[tuple[str, ...], tuple[str, ...]]] = {}
    for base, other in pairs:
        left, right, unpaired[base.name, other.name] = paired(base, other)
        cells += _cells(left, right, wanted, slicing, options)
    differences = judge(cells, options)
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
) -> list[Cell]:
    cells = []
    for part, mask in slicing.members(left.queries):
        for measure in measures:
            old, new = left.column(measure), right.column(measure)
            note = _same_contract(left.name, old, right.name, new, options)
            both = mask & old.in_mean & new.in_mean
            known = both & (old.reason == 0) & (new.reason == 0)
            undefined = int((both & ~known).sum())
            cells.append(Cell((left.name, right.name), part.name, old, new, known, undefined, note))
    return cells


def _same_contract(base: str, old: Column, name: str, new: Column, options: ComparisonOptions) -> str:
    """A label where numbers of two contracts are compared because that was asked for; raises ``ContractError``."""
    parts = [column.signature.partition("||")[0] for column in (old, new)]
    if parts[0] == parts[1]:
        return ""
    if not options.across_contracts:
        raise ContractError(
            f"{old.measure} of {base} and {name} mean different things: {parts[0]} and {parts[1]}",
            "score both under one contract; records are compared all the same, and labelled, with --across signature "
            "(in Python: across_contracts=True)",
        )
    return f"different contracts: {parts[0]} and {parts[1]}"
