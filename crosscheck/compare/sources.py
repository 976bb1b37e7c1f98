"""From what a user has to a comparison: judged runs with a slice table, or known-item results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from metricpact.bridges.sources.known_item_table import KnownItems
from metricpact.bridges.sources.slice_table import read_slice_table
from metricpact.contracts.errors import ContractError
from metricpact.contracts.measures import Measure
from metricpact.contracts.profiles import Profile
from metricpact.contracts.tables import Judgments, Run
from metricpact.crosscheck.compare.comparison import Comparison, compare_all_pairs, compare_scores
from metricpact.crosscheck.compare.flips import Rankings
from metricpact.crosscheck.compare.options import ComparisonOptions
from metricpact.crosscheck.slices.known_items import default_measures, score_known_items
from metricpact.crosscheck.slices.notes import absent_notes, lacking_notes
from metricpact.crosscheck.slices.scored import ScoredRun
from metricpact.crosscheck.slices.slicing import Slicing
from metricpact.crosscheck.slices.sources import score_runs


def compare_judged_runs(
    judgments: Judgments,
    runs: Mapping[str, Run],
    measures: Sequence[Measure],
    *,
    profile: Profile,
    backend: str,
    table: Any,
    by: Sequence[str] | None,
    cross: Sequence[Sequence[str]],
    options: ComparisonOptions,
    all_pairs: bool,
) -> Comparison:
    """Runs compared with the first of them (or all pairs), by the slices of a table where one is given."""
    if table is None and (by or cross):
        raise ContractError(
            "there is no slice table to choose columns of", "name a table of query_id and slice columns"
        )
    slicing = Slicing() if table is None else Slicing.of(read_slice_table(table), by, cross)
    scored = score_runs(judgments, runs, measures, profile, backend)
    comparison = _compare(scored, slicing, Rankings(judgments, runs, profile.contract), options, all_pairs)
    return replace(comparison, notes=tuple(absent_notes(slicing, judgments.queries)))


def compare_known_items(
    items: KnownItems,
    measures: Sequence[Measure] | None,
    *,
    profile: Profile,
    backend: str,
    k: int,
    by: Sequence[str] | None,
    cross: Sequence[Sequence[str]],
    options: ComparisonOptions,
    all_pairs: bool,
) -> Comparison:
    """The runs of a known-item table compared with the first of them (or all pairs), by its slice columns."""
    slicing = Slicing.of(items.slices, by, cross)
    wanted = measures or default_measures(k, graded=items.graded is not None)
    scored = score_known_items(items, wanted, profile, backend)
    rankings = Rankings(items.expected, items.runs, profile.contract, items.graded)
    comparison = _compare(scored, slicing, rankings, options, all_pairs)
    questions = items.none_rows["query_id"].n_unique()
    apart = [f"{questions} NONE questions take no part: metricpact slices scores them"] if questions else []
    return replace(comparison, notes=(*lacking_notes(items), *apart))


def _compare(
    scored: Sequence[ScoredRun], slicing: Slicing, rankings: Rankings, options: ComparisonOptions, all_pairs: bool
) -> Comparison:
    if all_pairs:
        return compare_all_pairs(scored, slicing=slicing, options=options, rankings=rankings)
    return compare_scores(scored[0], scored[1:], slicing=slicing, options=options, rankings=rankings)
