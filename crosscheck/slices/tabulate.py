"""The table of slices: every slice and run with its measures, their intervals and counts, and NONE questions beside."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from metricpact.contracts.errors import ContractError, InputError
from metricpact.contracts.scores import Column
from metricpact.crosscheck.slices.intervals import Interval, IntervalOptions, mean_intervals
from metricpact.crosscheck.slices.no_answer import NO_QUESTIONS, PassRate, pass_rate
from metricpact.crosscheck.slices.scored import ScoredRun, pooled
from metricpact.crosscheck.slices.slicing import Slice, Slicing

MIN_N = 30
DIRECTION = "direction, not evidence"


@dataclass(frozen=True)
class SliceScore:
    """One measure of one run on one slice.

    ``macro`` is the mean over the ``n`` queries that have a value, None where there is none; ``undefined`` queries
    have no value. ``micro`` is Σ numerators / Σ denominators, for the measures that are one count over another.
    ``judged`` is the mean judged share of the looked-at prefixes.
    """

    measure: str
    n: int
    undefined: int
    macro: float | None
    interval: Interval
    micro: float | None
    numerator: float | None
    denominator: float | None
    judged: float | None


@dataclass(frozen=True)
class SliceRow:
    """One slice and run: ``n`` queries with an answer, their measures, and the NONE questions of the slice.

    ``direction_only`` tells that the slice has fewer queries than a difference needs to mean something; a measure may
    have fewer values than the slice has queries, and then be direction on its own.
    """

    slice: Slice
    run: str
    n: int
    scores: tuple[SliceScore, ...]
    none: PassRate
    direction_only: bool


@dataclass(frozen=True)
class SliceAverage:
    """The mean over the slices of one column, each with the same weight; ``slices`` of them have a value."""

    column: str
    run: str
    measure: str
    slices: int
    undefined: int
    macro: float | None


@dataclass(frozen=True, eq=False)
class SliceScores:
    """The rows by slice and then run, the means over slices, and how they came about."""

    rows: tuple[SliceRow, ...]
    averages: tuple[SliceAverage, ...]
    runs: tuple[str, ...]
    measures: tuple[str, ...]
    min_n: int
    none_policy: str | None
    intervals: IntervalOptions
    signatures: Mapping[str, str]
    notes: tuple[str, ...] = ()

    def find(self, part: str, run: str) -> SliceRow:
        """One row; raises ``InputError`` for one that is not there."""
        for row in self.rows:
            if (row.slice.name, row.run) == (part, run):
                return row
        raise InputError(f"there is no slice {part!r} of {run!r}", f"slices: {', '.join(self.names)}")

    @property
    def names(self) -> list[str]:
        """The names of the slices, in order."""
        return list(dict.fromkeys(row.slice.name for row in self.rows))

    def to_polars(self) -> pl.DataFrame:
        """One row a slice, run and measure, numbers in full; the pass rate of NONE questions is a measure too."""
        return pl.DataFrame([record for row in self.rows for record in _records(row, self)], schema=SCHEMA)


NONE_MEASURE = "NONE pass rate"
SCHEMA = {
    **dict.fromkeys(("slice", "run", "measure"), pl.String),
    **dict.fromkeys(("n", "undefined"), pl.Int64),
    **dict.fromkeys(("macro", "lower", "upper"), pl.Float64),
    **dict.fromkeys(("interval_method", "interval_reason"), pl.String),
    **dict.fromkeys(("micro", "numerator", "denominator", "judged_fraction"), pl.Float64),
    **dict.fromkeys(("note", "signature"), pl.String),
}
"""The columns of ``SliceScores.to_polars``."""


def _records(row: SliceRow, table: SliceScores) -> list[dict[str, Any]]:
    about = {"slice": row.slice.name, "run": row.run}
    records: list[dict[str, Any]] = [
        about
        | {"measure": score.measure, "n": score.n, "undefined": score.undefined, "macro": score.macro}
        | interval_fields(score.interval)
        | {"micro": score.micro, "numerator": score.numerator, "denominator": score.denominator}
        | {"judged_fraction": score.judged, "signature": table.signatures[score.measure]}
        | {"note": DIRECTION if score.n < table.min_n else None}
        for score in row.scores
    ]
    none = row.none
    few = DIRECTION if none.n < table.min_n and none.n else None
    counts = {"n": none.n, "undefined": none.unscored, "macro": none.rate}
    passes = {"numerator": float(none.passed), "denominator": float(none.n)} if none.n else {}
    return [*records, about | {"measure": NONE_MEASURE, "note": few} | counts | interval_fields(none.interval) | passes]


def interval_fields(interval: Interval) -> dict[str, Any]:
    """An interval as fields of a record."""
    ends = {"lower": interval.lower, "upper": interval.upper}
    return ends | {"interval_method": interval.method, "interval_reason": interval.reason or None}


@dataclass(frozen=True, eq=False)
class NoneQuestions:
    """Judged NONE rows (see ``judge_responses``), the policy they were judged by, and why none is scored, if so."""

    rows: pl.DataFrame = field(
        default_factory=lambda: pl.DataFrame(schema={"run": pl.String, "query_id": pl.String, "passed": pl.Boolean})
    )
    policy: str | None = None
    reason: str = NO_QUESTIONS


def tabulate_slices(
    runs: Sequence[ScoredRun],
    slicing: Slicing,
    *,
    none: NoneQuestions | None = None,
    min_n: int = MIN_N,
    options: IntervalOptions | None = None,
    notes: Sequence[str] = (),
) -> SliceScores:
    """Means, intervals and counts of runs by slice; all runs have the same measures.

    Raises ``ContractError`` where ``min_n`` is below 1 or the runs were scored under different contracts, and
    ``DependencyError`` without scipy.
    """
    options, none = options or IntervalOptions(), none or NoneQuestions()
    if min_n < 1:
        raise ContractError(f"a slice of {min_n} queries is no slice", "write --min-n 30, or another number from 1 on")
    _one_contract(runs)
    members = [dict(slicing.members(run.queries)) for run in runs]
    none_members = dict(slicing.members(none.rows["query_id"]))
    places = [(part, at) for part in slicing.slices() for at in range(len(runs))]
    columns = {
        (part, at, column.measure): (column, members[at][part] & column.in_mean)
        for part, at in places
        for column in runs[at].columns
    }
    samples = [column.values[mask & (column.reason == 0)] for column, mask in columns.values()]
    kinds = [column.zero_one for column, _ in columns.values()]
    found = dict(zip(columns, mean_intervals(samples, kinds, options), strict=True))
    rows = []
    for part, at in places:
        run = runs[at]
        scores = tuple(_score(*columns[part, at, c.measure], found[part, at, c.measure]) for c in run.columns)
        n = max((score.n + score.undefined for score in scores), default=0)
        questions = none.rows.filter(pl.Series(none_members[part]) & (pl.col("run") == run.name))
        rate = pass_rate(questions, none.reason, options)
        rows.append(SliceRow(part, run.name, n, scores, rate, n < min_n))
    return SliceScores(
        rows=tuple(rows),
        averages=tuple(_averages(rows, slicing)),
        runs=tuple(run.name for run in runs),
        measures=tuple(runs[0].measures),
        min_n=min_n,
        none_policy=none.policy,
        intervals=options,
        signatures=runs[0].signatures,
        notes=tuple(notes),
    )


def _one_contract(runs: Sequence[ScoredRun]) -> None:
    if not runs:
        raise InputError("there is no run to slice", "name at least one")
    for run in runs[1:]:
        for measure, signature in runs[0].signatures.items():
            one, other = (text.partition("||")[0] for text in (signature, run.column(measure).signature))
            if one != other:
                raise ContractError(
                    f"{measure} of {runs[0].name} and {run.name} mean different things: {one} and {other}",
                    "score all runs under one contract",
                )


def _score(column: Column, mask: np.ndarray[Any, np.dtype[np.bool_]], interval: Interval) -> SliceScore:
    known = mask & (column.reason == 0)
    values, judged = column.values[known], column.fraction[mask & column.has_fraction]
    n = len(values)
    numerator, denominator = pooled(column, known) or (None, None)
    return SliceScore(
        measure=str(column.measure),
        n=n,
        undefined=int((mask & (column.reason != 0)).sum()),
        macro=math.fsum(values) / n if n else None,
        interval=interval,
        micro=numerator / denominator if numerator is not None and denominator else None,
        numerator=numerator,
        denominator=denominator,
        judged=math.fsum(judged) / len(judged) if len(judged) else None,
    )


def _averages(rows: Sequence[SliceRow], slicing: Slicing) -> list[SliceAverage]:
    """The mean over the slices of each column, by run and measure."""
    values: dict[tuple[str, str, str], list[float | None]] = {}
    for column in slicing.columns:
        for row in rows:
            if row.slice.columns == (column,):
                for score in row.scores:
                    values.setdefault((column, row.run, score.measure), []).append(score.macro)
    averages = []
    for key, found in values.items():
        known = [value for value in found if value is not None]
        macro = math.fsum(known) / len(known) if known else None
        averages.append(SliceAverage(*key, len(known), len(found) - len(known), macro))
    return averages
