"""The two sides of a gate: what was scored, whatever it was read from, and whether both are about the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl
from metricpact.contracts.scores import Scores
from metricpact.crosscheck.gate.rules import Gate
from metricpact.crosscheck.records.comparable import (
    Mismatch,
    judgments_hash,
    mismatches,
    provenance_notes,
    unknown_judgments,
)
from metricpact.crosscheck.records.record import Record
from metricpact.crosscheck.slices.scored import ScoredRun

BASE, CANDIDATE = "base", "candidate"


@dataclass(frozen=True, eq=False)
class Side:
    """One side: its values, the SHA-256 of its judgments and its set with version, each None where not known.

    ``origin`` says for people where the numbers come from, ``notes`` which queries its means are not made of.
    """

    run: ScoredRun
    origin: str
    judgments: str | None = None
    query_set: str | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, word: str, scored: Scores | Record | ScoredRun) -> Side:
        """The side called ``word`` (base or candidate), from whatever holds values.

        Raises ``InputError`` where queries without judgments count as zeros: they have no pair.
        """
        match scored:
            case ScoredRun():
                return cls(replace(scored, name=word), scored.name)
            case Record():
                labels = scored.labels
                return cls(
                    ScoredRun.from_scores(word, scored.scores),
                    f"{labels.component} {labels.component_version} ({scored.reference})",
                    judgments_hash(scored.scores),
                    labels.query_set,
                    _notes(word, scored.scores),
                )
            case _:
                path = scored.inputs.get("run", {}).get("path", word)
                run = ScoredRun.from_scores(word, scored)
                return cls(run, str(path), judgments_hash(scored), notes=_notes(word, scored))


def _notes(word: str, scores: Scores) -> tuple[str, ...]:
    """What is odd about a side's judgments, which queries count as nothing found, and which are left out."""
    found = {"judged queries that the run lacks": scores.missing, "queries without judgments": scores.extra}
    return tuple(scores.inputs.get("qrels", {}).get("notes", ())) + tuple(
        f"{word}: {told}: {len(ids)} ({', '.join(ids[:3])}{', …' if len(ids) > 3 else ''})"
        for told, ids in found.items()
        if ids
    )


@dataclass(frozen=True)
class Comparability:
    """What keeps measures from being compared (by measure: why), labels of those that are all the same, and notes."""

    refused: Mapping[str, str]
    labels: Mapping[str, str]
    notes: Sequence[str]


def comparability(gate: Gate, base: Side, candidate: Side) -> Comparability:
    """Whether the numbers of each measure of a gate are about the same on both sides."""
    names = [str(measure) for measure in gate.measures]
    refused = {}
    for name in names:
        lacking = [side.run.name for side in (base, candidate) if name not in side.run.signatures]
        if lacking:
            refused[name] = f"no values of {name} in the {' and the '.join(lacking)}"
    there = [name for name in names if name not in refused]
    signatures = (base.run.signatures, candidate.run.signatures)
    found = mismatches((base.query_set, candidate.query_set), (base.judgments, candidate.judgments), signatures, there)
    found += [one for name in there for one in _query_mismatch(name, base.run, candidate.run)]
    labels: dict[str, str] = {}
    for name in there:
        mine = [one for one in found if one.measure in ("", name)]
        kept = [str(one) for one in mine if one.kind not in gate.across]
        if kept:
            refused[name] = f"not comparable: {'; '.join(kept)}"
        elif mine:
            labels[name] = "; ".join(map(str, mine))
    notes = [*base.notes, *candidate.notes, *provenance_notes(signatures, there)]
    if base.query_set is not None or candidate.query_set is not None:  # a record; fresh runs share their judgments
        notes += unknown_judgments((base.judgments, candidate.judgments))
    return Comparability(refused, labels, list(dict.fromkeys(notes)))


def _query_mismatch(measure: str, base: ScoredRun, candidate: ScoredRun) -> list[Mismatch]:
    """Whether the means of a measure are over other queries."""
    ours, theirs = (set(run.queries.filter(pl.Series(run.column(measure).in_mean))) for run in (base, candidate))
    if ours == theirs:
        return []
    sides = [f"{len(mine)} queries, {len(mine - other)} of them here alone" for mine, other in _both(ours, theirs)]
    return [Mismatch("queries", sides[0], sides[1], measure)]


def _both(ours: set[str], theirs: set[str]) -> list[tuple[set[str], set[str]]]:
    return [(ours, theirs), (theirs, ours)]
