"""What changed between two records, paired by query id."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from metricpact.contracts.errors import InputError
from metricpact.contracts.scores import Scores
from metricpact.crosscheck.records.comparable import (
    judgments_hash,
    mismatches,
    provenance_notes,
    refuse,
    unknown_judgments,
)
from metricpact.crosscheck.records.record import Record

SCHEMA = "metricpact.record-diff/1"
_WHOLE = ("n", "better", "worse", "same", "undefined", "unpaired")
_TYPES = dict.fromkeys(("base", "candidate", "difference"), pl.Float64) | dict.fromkeys(_WHOLE, pl.Int64)
_COLUMNS = ("measure", "base", "candidate", "difference", *_WHOLE, "label", "base_signature", "candidate_signature")
_SAME = 1e-12
"""Differences up to this are rounding: two backends may sum in another order."""


@dataclass(frozen=True, eq=False)
class RecordDiff:
    """Two records held together.

    ``means`` has a row a measure: both means over the n queries in which both records have a value, their difference
    (candidate − base), in how many the candidate is better, worse or the same, how many paired queries lack a value on
    a side, how many are on one side only, what differs between the records ("" where nothing does), both signatures.
    ``by_query`` has a row a query and measure. ``notes`` are sentences for people.
    """

    base: Record
    candidate: Record
    means: pl.DataFrame
    by_query: pl.DataFrame
    notes: list[str]

    def to_document(self, *, by_query: bool = False) -> dict[str, Any]:
        """The difference as ``metricpact.record-diff/1``."""
        document: dict[str, Any] = {
            "schema": SCHEMA,
            "base": self.base.about(),
            "candidate": self.candidate.about(),
            "measures": self.means.to_dicts(),
            "notes": self.notes,
        }
        return document | ({"per_query": self.by_query.to_dicts()} if by_query else {})


def diff_records(base: Record, candidate: Record, across: Collection[str] = ()) -> RecordDiff:
    """The difference of two records in the measures that both have.

    Raises ``InputError`` where set version, judgments or signatures differ and ``across`` does not name that kind
    (``comparable.KINDS``), where no measure is in both, or no query.
    """
    theirs = candidate.scores.signatures
    measures = [measure for measure in base.scores.measures if measure in theirs]
    if not measures:
        raise InputError(
            "the records have no measure in common",
            f"{base.reference}: {', '.join(base.scores.measures)}; "
            f"{candidate.reference}: {', '.join(candidate.scores.measures)}",
        )
    both = (base, candidate)
    found = mismatches(
        (base.labels.query_set, candidate.labels.query_set),
        (judgments_hash(base.scores), judgments_hash(candidate.scores)),
        (base.scores.signatures, theirs),
        measures,
    )
    asked = refuse(found, across)
    sides = [_rows(one.scores) for one in both]
    rows, pairs = [], []
    for measure in measures:
        ours, other = (side.filter(pl.col("measure") == measure) for side in sides)
        paired = ours.join(other, on="query_id", suffix="_candidate", maintain_order="left").select(
            "query_id",
            "measure",
            base="value",
            candidate="value_candidate",
            difference=pl.col("value_candidate") - pl.col("value"),
        )
        if paired.is_empty():
            raise InputError(f"the means of {measure} share no query", "query ids are compared to the letter")
        label = "; ".join(str(one) for one in asked if one.measure in ("", measure))
        unpaired = len(ours) + len(other) - 2 * len(paired)
        signatures = (base.scores.signatures[measure], theirs[measure])
        rows.append((measure, *_row(paired), unpaired, label, *signatures))
        pairs.append(paired)
    schema = {name: _TYPES.get(name, pl.String) for name in _COLUMNS}
    return RecordDiff(
        base,
        candidate,
        pl.DataFrame(rows, schema=schema, orient="row"),
        pl.concat(pairs),
        _notes(base, candidate, measures),
    )


def _rows(scores: Scores) -> pl.DataFrame:
    """The values of the queries that means are over."""
    counted = np.stack([column.in_mean for column in scores.columns], axis=1).ravel()
    return scores.to_polars().filter(pl.Series(counted)).select("query_id", "measure", "value")


def _row(pairs: pl.DataFrame) -> tuple[float | None, float | None, float | None, int, int, int, int, int]:
    """Both means, their difference, and the counts of one measure."""
    both = pairs.drop_nulls("difference")
    n, moved = len(both), both["difference"]
    better, worse = int((moved > _SAME).sum()), int((moved < -_SAME).sum())
    means = [math.fsum(both[side]) / n if n else None for side in ("base", "candidate", "difference")]
    return means[0], means[1], means[2], n, better, worse, n - better - worse, len(pairs) - n


def _notes(base: Record, candidate: Record, measures: list[str]) -> list[str]:
    notes = []
    for one, other in ((base, candidate), (candidate, base)):
        alone = [measure for measure in one.scores.measures if measure not in other.scores.signatures]
        if alone:
            notes.append(f"only in {one.reference}: {', '.join(alone)}")
    if any(column.extra_zeros for one in (base, candidate) for column in one.scores.columns):
        notes.append("queries without judgments count as 0 in a record's mean; here only judged queries are paired")
    notes += unknown_judgments([judgments_hash(one.scores) for one in (base, candidate)])
    return notes + provenance_notes((base.scores.signatures, candidate.scores.signatures), measures)
