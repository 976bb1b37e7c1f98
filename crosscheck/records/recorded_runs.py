"""Records in the place of runs: slices of them, and comparisons with other records or with runs scored now."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import polars as pl
from metricpact.bridges.evaluate import DEFAULT_MEASURES
from metricpact.bridges.scored_sources import score_sources
from metricpact.bridges.sources.slice_table import read_slice_table
from metricpact.contracts.errors import InputError, MeasureError
from metricpact.contracts.measures import Measure, parse_measures
from metricpact.contracts.profiles import Profile
from metricpact.contracts.scores import Scores
from metricpact.crosscheck.compare.comparison import Comparison, compare_all_pairs, compare_scores
from metricpact.crosscheck.compare.options import ComparisonOptions
from metricpact.crosscheck.records.comparable import (
    Mismatch,
    judgments_hash,
    mismatches,
    provenance_notes,
    refuse,
    unknown_judgments,
)
from metricpact.crosscheck.records.recall import load_record
from metricpact.crosscheck.records.record import Record
from metricpact.crosscheck.records.reference import is_reference, parse_reference
from metricpact.crosscheck.slices.intervals import IntervalOptions
from metricpact.crosscheck.slices.no_answer import NO_POLICY, NO_RESPONSES, judge_responses
from metricpact.crosscheck.slices.notes import absent_notes
from metricpact.crosscheck.slices.scored import ScoredRun
from metricpact.crosscheck.slices.slicing import Slicing
from metricpact.crosscheck.slices.tabulate import NoneQuestions, SliceScores, tabulate_slices


@dataclass(frozen=True, eq=False)
class Recorded:
    """One source with its values: a record's, or those of a run that was scored now (``record`` is None)."""

    name: str
    scores: Scores
    record: Record | None = None

    def run(self, measures: Sequence[str]) -> ScoredRun:
        """The values of some measures; raises ``MeasureError`` for one that is not there."""
        whole = ScoredRun.from_scores(self.name, self.scores)
        return replace(whole, columns=[whole.column(measure) for measure in measures])


def kept(source: Any) -> Record | None:
    """The record that a source is or names (``record:ID@FILE``), None for anything else."""
    if is_reference(source):
        return load_record(parse_reference(source))
    return source if isinstance(source, Record) else None


def no_judgments(source: Any) -> InputError:
    """The error on a run that would have to be scored, and nothing is named to score it by."""
    told = repr(source) if isinstance(source, str | os.PathLike) else f"a {type(source).__name__}"
    return InputError(f"{told} is no record, and there are no judgments to score it by", "name the judgments")


def holds_record(sources: Sequence[Any]) -> bool:
    """Whether one of the sources is a record or names one."""
    return any(is_reference(source) or isinstance(source, Record) for source in sources)


def compare_recorded(
    qrels: Any,
    sources: Sequence[Any],
    measures: Sequence[Measure] | None,
    *,
    profile: Profile,
    backend: str,
    table: Any,
    by: Sequence[str] | None,
    cross: Sequence[Sequence[str]],
    options: ComparisonOptions,
    all_pairs: bool,
    across: Collection[str] = (),
    formats: tuple[str | None, str | None] = (None, None),
    split: str = "test",
    names: Sequence[str | None] | None = None,
) -> Comparison:
    """Records, and runs beside them, compared with the first (or all pairs), by the slices of a table or of a record.

    ``qrels`` scores the runs, and may be None without any. ``names`` call a source otherwise than by its text. The
    measures are those of all records unless named.
    ``across`` admits sets, judgments or signatures that differ (``comparable.KINDS``), and labels every number of such
    a pair. Raises ``InputError`` for what is not comparable, and what readers and comparisons raise.
    """
    records = [kept(source) for source in sources]
    wanted = _measures(records, measures)
    fresh = [source for source, record in zip(sources, records, strict=True) if record is None]
    if fresh and qrels is None:
        raise no_judgments(fresh[0])
    scored = iter(score_sources(qrels, fresh, wanted, profile, backend, formats=formats, split=split) if fresh else [])
    sides = [
        Recorded(name or str(record.reference), record.scores, record)
        if record
        else Recorded(name or str(source), next(scored))
        for source, record, name in zip(sources, records, names or [None] * len(sources), strict=True)
    ]
    asked = [str(measure) for measure in wanted]
    pairs = list(combinations(sides, 2)) if all_pairs else [(sides[0], other) for other in sides[1:]]
    labels, notes = {}, []
    for base, other in pairs:
        labels[base.name, other.name] = refuse(_mismatches(base, other, asked), across)
        notes += provenance_notes((base.scores.signatures, other.scores.signatures), asked)
    slicing = _slicing(records, table, by, cross)
    how: dict[str, Any] = {"slicing": slicing, "options": replace(options, across_contracts="signature" in across)}
    runs = [side.run(asked) for side in sides]
    found = compare_all_pairs(runs, **how) if all_pairs else compare_scores(runs[0], runs[1:], **how)
    differences = [
        replace(one, note="; ".join(str(label) for label in mine))
        if (mine := [label for label in labels[one.base, one.candidate] if label.measure in ("", one.measure)])
        else one
        for one in found.differences
    ]
    notes += unknown_judgments([judgments_hash(side.scores) for side in sides])
    notes += [note for side in sides for note in absent_notes(slicing, side.scores.queries)]
    return replace(found, differences=tuple(differences), notes=tuple(dict.fromkeys(notes)))


def slice_recorded(
    sources: Sequence[Any],
    measures: Sequence[Measure] | None,
    *,
    table: Any,
    by: Sequence[str] | None,
    cross: Sequence[Sequence[str]],
    min_n: int,
    options: IntervalOptions,
    none_policy: str | None = None,
    across: Collection[str] = (),
) -> SliceScores:
    """Records by the slices of a table, or of the first record that has slices.

    ``across`` admits other sets and judgments: each run then bears the name and version of its set. Numbers of other
    contracts never stand in one table. Raises ``InputError`` and what ``tabulate_slices`` raises.
    """
    records = [kept(source) for source in sources]
    there = [record for record in records if record is not None]
    if len(there) < len(records):
        raise InputError("records and runs do not stand in one table", "slice the records alone, or compare them")
    names = [str(measure) for measure in _measures(records, measures)]
    sides = [Recorded(str(record.reference), record.scores, record) for record in there]
    found = [one for side in sides[1:] for one in _mismatches(sides[0], side, names) if one.kind != "signature"]
    if refuse(found, across):
        sides = [
            replace(side, name=f"{side.name} [{record.labels.query_set}]")
            for side, record in zip(sides, there, strict=True)
        ]
    slicing = _slicing(records, table, by, cross)
    notes = [str(one) for one in found]
    notes += unknown_judgments([judgments_hash(side.scores) for side in sides]) if len(sides) > 1 else []
    notes += [note for side in sides for note in absent_notes(slicing, side.scores.queries)]
    none = none_questions([(side.name, record) for side, record in zip(sides, there, strict=True)], none_policy)
    return tabulate_slices(
        [side.run(names) for side in sides],
        slicing,
        none=none,
        min_n=min_n,
        options=options,
        notes=list(dict.fromkeys(notes)),
    )


def none_questions(records: Sequence[tuple[str, Record]], policy: str | None) -> NoneQuestions:
    """The NONE questions of records, by the name of each, against the decided behaviour."""
    kept_rows = [
        record.none_questions.select(pl.lit(name).alias("run"), pl.all())
        for name, record in records
        if record.none_questions is not None
    ]
    if not kept_rows:
        return NoneQuestions()
    rows = judge_responses(pl.concat(kept_rows), policy)
    if not rows["response"].count():
        return NoneQuestions(rows, policy, NO_RESPONSES)
    return NoneQuestions(rows, policy, NO_POLICY if policy is None else "")


def _measures(records: Sequence[Record | None], measures: Sequence[Measure] | None) -> list[Measure]:
    """The measures named, else those that all records have, in the order of the first."""
    if measures:
        return list(measures)
    scores = [record.scores for record in records if record is not None]
    if not scores:
        return parse_measures(DEFAULT_MEASURES)
    shared = [name for name in scores[0].measures if all(name in one.signatures for one in scores)]
    if not shared:
        raise MeasureError("the records have no measure in common", f"the first has: {', '.join(scores[0].measures)}")
    return parse_measures(shared)


def _mismatches(base: Recorded, other: Recorded, measures: Sequence[str]) -> list[Mismatch]:
    sets = [side.record.labels.query_set if side.record else None for side in (base, other)]
    for side in (base, other):
        side.run(measures)  # a measure that is missing is told before signatures are looked at
    return mismatches(
        (sets[0], sets[1]),
        (judgments_hash(base.scores), judgments_hash(other.scores)),
        (base.scores.signatures, other.scores.signatures),
        measures,
    )


def _slicing(
    records: Sequence[Record | None], table: Any, by: Sequence[str] | None, cross: Sequence[Sequence[str]]
) -> Slicing:
    """The slicing of a table, else of the first record that has slices, else of none."""
    own: list[pl.DataFrame] = [record.slices for record in records if record is not None and record.slices is not None]
    if table is not None:
        return Slicing.of(read_slice_table(table), by, cross)
    if own:
        return Slicing.of(own[0], by, cross)
    if by or cross:
        raise InputError("there is no slice table to choose columns of", "name a table of query_id and slice columns")
    return Slicing()
