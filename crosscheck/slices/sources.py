"""From what a user has to scored runs and their slices: judged runs with a slice table, or known-item results."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from metricpact.bridges.evaluate import evaluate, plan_all
from metricpact.bridges.registry import require
from metricpact.bridges.sources.known_item_table import KnownItems, read_known_items
from metricpact.bridges.sources.slice_table import read_slice_table
from metricpact.contracts.errors import ContractError
from metricpact.contracts.measures import Measure
from metricpact.contracts.profiles import Profile
from metricpact.contracts.tables import Judgments, Run
from metricpact.crosscheck.slices.intervals import IntervalOptions
from metricpact.crosscheck.slices.known_items import default_measures, judge_none_questions, score_known_items
from metricpact.crosscheck.slices.notes import absent_notes, crowded_notes, lacking_notes
from metricpact.crosscheck.slices.scored import ScoredRun
from metricpact.crosscheck.slices.slicing import Slicing
from metricpact.crosscheck.slices.tabulate import SliceScores, tabulate_slices


def score_runs(
    judgments: Judgments, runs: Mapping[str, Run], measures: Sequence[Measure], profile: Profile, backend: str
) -> list[ScoredRun]:
    """Named runs scored under one contract; raises what ``evaluate`` raises."""
    plan_all(require(backend), profile, measures)
    return [
        ScoredRun.from_scores(name, evaluate(judgments, run, measures, profile, backend)) for name, run in runs.items()
    ]


def slice_judged_runs(
    judgments: Judgments,
    runs: Mapping[str, Run],
    measures: Sequence[Measure] | None,
    table: Any,
    *,
    profile: Profile,
    backend: str,
    k: int,
    by: Sequence[str] | None,
    cross: Sequence[Sequence[str]],
    min_n: int,
    options: IntervalOptions,
) -> SliceScores:
    """Runs by the slices of a table (see ``read_slice_table``); R@1, R@k and RR unless measures are named."""
    if table is None:
        raise ContractError("no slice table is named", "name a table of query_id and slice columns")
    slicing = Slicing.of(read_slice_table(table), by, cross)
    scored = score_runs(judgments, runs, measures or default_measures(k), profile, backend)
    notes = absent_notes(slicing, judgments.queries) + crowded_notes(slicing)
    return tabulate_slices(scored, slicing, min_n=min_n, options=options, notes=notes)


def slice_known_items(
    source: str | os.PathLike[str] | KnownItems,
    measures: Sequence[Measure] | None,
    *,
    profile: Profile,
    backend: str,
    k: int,
    by: Sequence[str] | None,
    cross: Sequence[Sequence[str]],
    min_n: int,
    none_policy: str | None,
    options: IntervalOptions,
) -> SliceScores:
    """Known-item results by slice; R@1, R@k, RR (and nDCG@k with a grades column) unless measures are named."""
    items = source if isinstance(source, KnownItems) else read_known_items(source)
    slicing = Slicing.of(items.slices, by, cross)
    wanted = measures or default_measures(k, graded=items.graded is not None)
    scored = score_known_items(items, wanted, profile, backend)
    none = judge_none_questions(items, none_policy)
    notes = lacking_notes(items) + crowded_notes(slicing)
    return tabulate_slices(scored, slicing, none=none, min_n=min_n, options=options, notes=notes)
