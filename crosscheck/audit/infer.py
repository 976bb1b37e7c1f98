"""Which contracts give the numbers that somebody published for a run: all of them, or what comes nearest.

Every candidate is scored on the reference. Candidates with the same value for every query are one finding: on this
data nothing tells them apart. A single number at few decimals is given by some contracts by chance; each further
number leaves fewer.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from metricpact.bridges.evaluate import KeptPrefixes, evaluate, prefix_key
from metricpact.contracts.errors import InputError, MetricpactError
from metricpact.contracts.measures import Measure, parse_measure
from metricpact.contracts.profiles import Profile
from metricpact.contracts.scores import Scores
from metricpact.contracts.tables import Judgments, Run
from metricpact.crosscheck.audit.infer_gain import GainRange, needed_gains
from metricpact.crosscheck.audit.neighbours import Candidate, Inert, candidates, essential, look_at, rarity, usage
from metricpact.crosscheck.audit.published import Published, read_published

CHANGES = 2
NEAREST = 5
BACKEND = "reference"
_NOT_BOUNDED = ("DCG", "IDCG")


class Target(NamedTuple):
    """What a published number is about: a measure's mean, or its value for one query."""

    measure: Measure
    query: str | None = None

    def __str__(self) -> str:
        return str(self.measure) if self.query is None else f"{self.measure} of {self.query}"


@dataclass(frozen=True)
class Outcome:
    """What one candidate gives: the values asked for (None: undefined), and all values of all queries hashed.

    ``counts`` are the numbers of queries in the means.
    """

    candidate: Candidate
    gives: Mapping[Target, float | None]
    counts: Mapping[Measure, int]
    signatures: Mapping[Measure, str]
    fingerprint: bytes
    aliases: tuple[Candidate, ...] = ()


@dataclass(frozen=True)
class Finding:
    """Candidates with the same value for every query, fewest and most usual changes first."""

    outcomes: tuple[Outcome, ...]
    inert: Inert

    @property
    def first(self) -> Outcome:
        """The candidate with the fewest and most usual changes."""
        return self.outcomes[0]

    @property
    def labels(self) -> list[str]:
        """All candidates of the finding, in order."""
        return [one.label for outcome in self.outcomes for one in (outcome.candidate, *outcome.aliases)]

    @property
    def profiles(self) -> list[str]:
        """The profiles as they are (nothing changed) among the candidates."""
        every = [one for outcome in self.outcomes for one in (outcome.candidate, *outcome.aliases)]
        return list(dict.fromkeys(one.base.name for one in every if not one.changes))

    @cached_property
    def untold(self) -> dict[str, list[Any]]:
        """Fields whose change alone, from the first candidate, gives the same values: field → those values."""
        found: dict[str, list[Any]] = {}
        measures = list(self.first.counts)
        mine = [essential(one, self.first.candidate.profile.for_measure(one), self.inert) for one in measures]
        for outcome in self.outcomes[1:]:
            theirs = [essential(one, outcome.candidate.profile.for_measure(one), self.inert) for one in measures]
            names = {
                name
                for here, there in zip(mine, theirs, strict=True)
                for name in here.keys() & there.keys()
                if here[name] != there[name]
            }
            if len(names) == 1:
                (name,) = names
                value = next(fields[name] for fields in theirs if name in fields)
                if value not in found.setdefault(name, []):
                    found[name].append(value)
        return found


@dataclass(frozen=True)
class Inference:
    """What a search found: ``found`` reproduces every number, ``nearest`` (where nothing does) comes next to them.

    ``rejected`` counts the candidates that refuse the data, by the reason. Where nothing reproduces the numbers,
    ``gains`` tells what gains would have to be worth for each of them, if that is one ratio, and else
    ``gains_note`` why not.
    """

    published: Mapping[Target, Published]
    found: list[Finding]
    nearest: list[Finding]
    tried: int
    rejected: Mapping[str, int]
    inert: Inert
    gains: list[GainRange]
    gains_note: str

    def to_document(self) -> dict[str, Any]:
        """The search as the JSON document ``metricpact.inference/1``."""
        return {
            "schema": "metricpact.inference/1",
            "published": [
                {
                    "measure": str(target.measure),
                    "query": target.query,
                    "text": number.text,
                    "low": None if number.value is None else float(number.low),
                    "high": None if number.value is None else float(number.high),
                }
                for target, number in self.published.items()
            ],
            "tried": self.tried,
            "found": [self._finding(finding) for finding in self.found],
            "nearest": [self._finding(finding) for finding in self.nearest],
            "cannot_be_told_apart": dict(self.inert.fields),
            "rejected": [{"reason": reason, "candidates": count} for reason, count in self.rejected.items()],
            "gains": [
                {
                    "profile": one.profile,
                    "measure": str(one.measure),
                    "grades": [one.low, one.high],
                    "ratio": [one.least, one.greatest],
                    "sentence": str(one),
                }
                for one in self.gains
            ],
            "gains_note": self.gains_note,
        }

    def _finding(self, finding: Finding) -> dict[str, Any]:
        first = finding.first
        return {
            "contract": first.candidate.label,
            "profile": first.candidate.base.name,
            "changes": dict(first.candidate.changes),
            "gives": [
                {
                    "measure": str(target.measure),
                    "query": target.query,
                    "published": self.published[target].text,
                    "value": value,
                    "n": first.counts[target.measure],
                    "off_by": None if math.isinf(off := self.published[target].distance(value)) else off,
                    "signature": first.signatures[target.measure],
                }
                for target, value in first.gives.items()
            ],
            "same_values": finding.labels[1:],
            "same_when": {name: list(values) for name, values in finding.untold.items()},
        }

    def __repr__(self) -> str:
        asked = ", ".join(f"{target}={number}" for target, number in self.published.items())
        if self.found:
            return f"Inference: {asked} is given by " + "; ".join(one.first.candidate.label for one in self.found)
        near = "; ".join(one.first.candidate.label for one in self.nearest)
        return f"Inference: {asked} is given by none of {self.tried} contracts; nearest: {near}"


def infer(
    judgments: Judgments,
    run: Run,
    published: Mapping[Any, Any],
    *,
    changes: int = CHANGES,
    first: Sequence[Profile] = (),
) -> Inference:
    """Search the profiles and their neighbours (up to ``changes`` fields) for contracts that give published numbers.

    ``published`` maps measures (for their means) or ``Target``s to numbers as written, ``first`` are profiles to try
    before the shipped ones. Raises ``InputError`` for a number that is none or that no contract can give, and where
    every candidate refuses the data.
    """
    wanted = read_all(published)
    if isinstance(changes, bool) or changes not in range(CHANGES + 1):
        raise InputError(f"changes is {changes!r}, not 0, 1 or {CHANGES}", f"write changes={CHANGES}")
    inert = look_at(judgments, run)
    outcomes, rejected = score_all(judgments, run, list(wanted), inert, changes=changes, first=first)
    if not outcomes:
        raise InputError(
            f"no contract takes the data: {next(iter(rejected))}", "'metricpact score' names the place of the fault"
        )
    findings = group(outcomes, inert)
    found = [one for one in findings if all(number.holds(one.first.gives[at]) for at, number in wanted.items())]
    gains, note = ([], "") if found else _needed(judgments, run, wanted, outcomes, first)
    return Inference(
        published=wanted,
        found=found,
        nearest=[] if found else nearest(findings, wanted)[:NEAREST],
        tried=len(outcomes) + sum(rejected.values()),
        rejected=rejected,
        inert=inert,
        gains=gains,
        gains_note=note,
    )


def _needed(
    judgments: Judgments,
    run: Run,
    wanted: Mapping[Target, Published],
    outcomes: Sequence[Outcome],
    first: Sequence[Profile],
) -> tuple[list[GainRange], str]:
    """What gains would have to be worth under ``first``, or under every profile."""
    profiles = first or [outcome.candidate.base for outcome in outcomes if not outcome.candidate.changes]
    means = {target.measure: number for target, number in wanted.items() if target.query is None}
    return needed_gains(judgments, run, means, profiles)


def read_all(published: Mapping[Any, Any]) -> dict[Target, Published]:
    """Measures or targets, and numbers as written; raises ``MeasureError`` or ``InputError``."""
    if not isinstance(published, Mapping):
        raise InputError(f"{published!r} gives no measure a number", 'write for example {"nDCG@10": "0.4973"}')
    wanted: dict[Target, Published] = {}
    for name, written in published.items():
        target = name if isinstance(name, Target) else Target(parse_measure(name))
        number, family = read_published(written), target.measure.family
        if target in wanted:
            raise InputError(f"{target} is given twice", "give every measure one number")
        if number.value is not None and number.high < 0:
            raise InputError(f"{target}={number}: no measure is negative", "leave the sign away")
        if number.value is not None and number.low > 1 and family not in _NOT_BOUNDED:
            raise InputError(f"{target}={number}: {family} is at most 1", f"write {number}% for a percentage")
        wanted[target] = number
    if not wanted:
        raise InputError("no number to reproduce", "give at least one measure and number, such as nDCG@10=0.4973")
    return wanted


def score_all(
    judgments: Judgments,
    run: Run,
    targets: Sequence[Target],
    inert: Inert,
    *,
    changes: int,
    first: Sequence[Profile] = (),
) -> tuple[list[Outcome], dict[str, int]]:
    """What every candidate gives, fewest and most usual changes first, and why others refuse the data (with counts)."""
    measures = list(dict.fromkeys(target.measure for target in targets))
    lists = list(candidates(measures, inert, changes=changes, first=first))
    # Neighbours that share a prefix come one after the other, so that it is built once. Keys are numbered as they come:
    # a gain by name and one by table have no order.
    numbered: dict[Any, int] = {}
    keys = [
        tuple(
            numbered.setdefault(prefix_key(candidate.profile.for_measure(one), judgments), len(numbered))
            for one in measures
        )
        for candidate, *_ in lists
    ]
    order = sorted(range(len(lists)), key=keys.__getitem__)
    kept = KeptPrefixes()
    outcomes: dict[int, Outcome] = {}
    rejected: Counter[str] = Counter()
    for at in order:
        candidate, *aliases = lists[at]
        try:
            scores = evaluate(judgments, run, measures, candidate.profile, BACKEND, kept=kept)
        except MetricpactError as error:
            rejected[error.fact] += 1
            continue
        unchanged = tuple(one for one in aliases if not one.changes)
        outcomes[at] = replace(_outcome(candidate, scores, targets), aliases=unchanged)
    usual = usage()
    ordered = [outcomes[at] for at in sorted(outcomes)]
    return sorted(ordered, key=lambda outcome: rarity(outcome.candidate, usual)), dict(rejected)


def _outcome(candidate: Candidate, scores: Scores, targets: Sequence[Target]) -> Outcome:
    held = hashlib.sha256()
    for column in scores.columns:
        # Values that differ in the last bits only are sums in another order; adding 0 makes −0 a 0.
        for part in (np.round(column.values, 12) + 0.0, column.reason, column.in_mean, np.int64(column.extra_zeros)):
            held.update(part.tobytes())
    means = scores.mean
    return Outcome(
        candidate,
        {at: means[str(at.measure)].value if at.query is None else value_of(scores, at) for at in targets},
        {column.measure: means[str(column.measure)].n for column in scores.columns},
        {column.measure: column.signature for column in scores.columns},
        held.digest(),
    )


def value_of(scores: Scores, target: Target) -> float | None:
    """The value that a target is about; raises ``InputError`` for a query that is not judged."""
    if target.query is None:
        return scores.mean[str(target.measure)].value
    values = scores.by_query(target.measure)
    if target.query not in values:
        raise InputError(f"query {target.query!r} is not judged", "name a judged query", query=target.query)
    return values[target.query]


def group(outcomes: Iterable[Outcome], inert: Inert) -> list[Finding]:
    """Outcomes with the same value for every query together, in the order of the first of each."""
    groups: dict[bytes, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.fingerprint, []).append(outcome)
    return [Finding(tuple(members), inert) for members in groups.values()]


def nearest(findings: Sequence[Finding], wanted: Mapping[Target, Published]) -> list[Finding]:
    """The findings by their largest distance from a published number."""
    return sorted(findings, key=lambda one: max(number.distance(one.first.gives[at]) for at, number in wanted.items()))
