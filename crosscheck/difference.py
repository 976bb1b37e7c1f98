"""One run under two profiles: the fields that differ, and what each of them alone does to the means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from metricpact.bridges.evaluate import evaluate
from metricpact.contracts.errors import MetricpactError
from metricpact.contracts.measures import Measure, parse_measures
from metricpact.contracts.profiles import Profile
from metricpact.contracts.scores import Scores
from metricpact.contracts.tables import Judgments, Run


@dataclass(frozen=True)
class FieldEffect:
    """What one field alone changes: its value on both sides, and the change of each measure's mean.

    ``changes`` maps a measure to the mean with only this field changed, minus the mean on the first side; None
    where one of the two is undefined. ``error`` says why the data cannot be scored so, where it cannot.
    """

    field: str
    here: Any
    there: Any
    changes: dict[str, float | None]
    error: str = ""


@dataclass(frozen=True)
class Difference:
    """The same run under two profiles, and the effect of every field in which they differ."""

    first: Scores
    second: Scores
    effects: list[FieldEffect]


def compare_profiles(
    judgments: Judgments,
    run: Run,
    measures: Sequence[str | Measure],
    first: Profile,
    second: Profile,
    backend: str,
) -> Difference:
    """Score under both profiles, then under the first with each differing field of the second, one at a time."""
    wanted = parse_measures(measures)
    base = evaluate(judgments, run, wanted, first, backend)
    other = evaluate(judgments, run, wanted, second, backend)
    effects = [
        _effect(judgments, run, wanted, first, backend, base, name, pair)
        for name, pair in first.contract.diff(second.contract).items()
    ]
    return Difference(base, other, effects)


def largest_disagreement(first: Scores, second: Scores) -> float:
    """The largest difference of two values for the same query and measure; infinite where only one is defined."""
    worst = 0.0
    for name in first.measures:
        theirs = second.by_query(name)
        for query, value in first.by_query(name).items():
            other = theirs[query]
            if value is not None and other is not None:
                worst = max(worst, abs(value - other))
            elif value is not other:
                return float("inf")
    return worst


def _effect(
    judgments: Judgments,
    run: Run,
    measures: list[Measure],
    profile: Profile,
    backend: str,
    base: Scores,
    name: str,
    pair: tuple[Any, Any],
) -> FieldEffect:
    try:
        changed = evaluate(judgments, run, measures, profile.with_fields({name: pair[1]}), backend)
    except MetricpactError as error:
        return FieldEffect(name, *pair, changes={}, error=error.fact)
    before, after = base.mean, changed.mean
    changes = {}
    for measure in base.measures:
        old, new = before[measure].value, after[measure].value
        changes[measure] = None if old is None or new is None else new - old
    return FieldEffect(name, *pair, changes=changes)
