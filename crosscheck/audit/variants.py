"""One run scored under many contracts: each is scored once, and prefixes that several share are settled once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from metricpact.bridges.evaluate import KeptPrefixes, evaluate
from metricpact.contracts.errors import InputError, MetricpactError
from metricpact.contracts.measures import Measure
from metricpact.contracts.profiles import Profile
from metricpact.contracts.scores import Column, Mean, UndefinedMean
from metricpact.contracts.tables import Judgments, Run

BACKEND = "reference"
"""What computes every variant: it gives every convention, and no library is needed."""


HELD = 64
"""Prefixes held at once: about as many as profiles and single fields settle differently."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """A measure under a profile: its column and mean, or ``error``, why the data cannot be scored so.

    ``queries`` are the judged query ids, one for each entry of the column.
    """

    queries: Sequence[str]
    column: Column | None = None
    mean: Mean | UndefinedMean | None = None
    error: str = ""
    hint: str = ""

    @property
    def value(self) -> float | None:
        """The mean, None where it is undefined or refused."""
        return None if self.mean is None else self.mean.value

    @property
    def signature(self) -> str:
        """How the number was made, "" where there is none."""
        return "" if self.column is None else self.column.signature

    def values(self) -> list[float | None]:
        """The value of every judged query: None where it is undefined or not in the mean."""
        if self.column is None:
            return [None] * len(self.queries)
        counted = self.column.in_mean & (self.column.reason == 0)
        return [value if known else None for value, known in zip(self.column.values.tolist(), counted, strict=True)]


@dataclass(frozen=True, eq=False)
class Variants:
    """Judgments and a run, and what was scored of them so far."""

    judgments: Judgments
    run: Run
    _kept: KeptPrefixes = field(default_factory=lambda: KeptPrefixes(HELD))
    _outcomes: dict[Any, Outcome] = field(default_factory=dict)

    def outcome(self, measure: Measure, profile: Profile) -> Outcome:
        """The measure under the profile; what the contract rejects, and what cannot be given, is told as ``error``."""
        key = (measure, profile.settings_for(measure), profile.base)
        if key not in self._outcomes:
            self._outcomes[key] = self._score(measure, profile)
        return self._outcomes[key]

    def relaxed(self, profile: Profile, measures: Sequence[Measure]) -> tuple[Profile, str]:
        """The profile with ``rank_conflict=ignore``, and the conflict, where that alone keeps it from scoring the run.

        Scores order a run whatever its rank column says: the field only refuses files that contradict themselves.
        """
        asked = [measure for measure in measures if profile.settings_for(measure).rank_conflict == "error"]
        for measure in asked:
            refused = self.outcome(measure, profile).error
            lenient = profile.with_fields({"rank_conflict": "ignore"})
            if refused and not self.outcome(measure, lenient).error:
                return lenient, refused
        return profile, ""

    def _score(self, measure: Measure, profile: Profile) -> Outcome:
        ids = self.judgments.queries.to_list()
        try:
            scores = evaluate(self.judgments, self.run, [measure], profile, BACKEND, kept=self._kept)
        except MetricpactError as error:
            told = str(error) if isinstance(error, InputError) else error.fact
            return Outcome(ids, error=told.split("\n")[0], hint=error.hint)
        return Outcome(ids, scores.columns[0], scores.mean[str(measure)])


def grades_seen(judgments: Judgments) -> list[int]:
    """The whole positive grades in the judgments, smallest first: the thresholds that can make a difference."""
    return [int(grade) for grade in np.unique(judgments.grades) if grade >= 1 and grade == int(grade)]
