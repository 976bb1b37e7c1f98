"""Whether a convention changes who wins: the order of several runs under each other value of each field.

The agreement of two orders is Kendall's τ_b (Kendall, 1945), which counts pairs of runs: 1 where all pairs keep
their order. A pair is flipped where the better run becomes the worse one; means within 1e-12 are tied.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from metricpact.bridges.plan import matters
from metricpact.contracts.contract import FIELDS, plain_value
from metricpact.contracts.measures import Measure
from metricpact.contracts.profiles import Profile
from metricpact.crosscheck.audit.attribution import NOTHING
from metricpact.crosscheck.audit.variants import Variants, grades_seen

REFUSALS = {"rank_conflict", "duplicate", "extra_query"}
"""Fields whose other values refuse data or need defects in it: they are tried only where a profile has them."""


@dataclass(frozen=True)
class OrderChange:
    """The order of runs under a changed contract, held against the order under the contract.

    ``what`` is a field and its value, or a profile. ``tau`` is None where a mean is undefined or refused, or where
    all means of one side are tied; ``flipped`` are pairs (better under the contract, better after the change).
    """

    measure: Measure
    what: str
    tau: float | None
    flipped: list[tuple[str, str]]
    winner: str | None
    largest: float | None
    error: str = ""

    def to_document(self) -> dict[str, Any]:
        """The change as plain data."""
        return {
            "measure": str(self.measure),
            "change": self.what,
            "tau": self.tau,
            "flipped": [list(pair) for pair in self.flipped],
            "winner": self.winner,
            "largest_change": self.largest,
            "error": self.error or None,
        }


def order_changes(
    variants: Mapping[str, Variants],
    measures: Sequence[Measure],
    contract: Mapping[str, Profile],
    profiles: Mapping[Measure, Sequence[Profile]],
) -> list[OrderChange]:
    """For every measure, what each other value of each convention, and each profile, does to the order of the runs.

    ``variants`` and ``contract`` (the profile that each run is scored under) are by the name of the run.
    """
    found = []
    for measure in measures:
        base = {name: one.outcome(measure, contract[name]).value for name, one in variants.items()}
        for what, changed in _changes(variants, measure, contract, profiles[measure]):
            outcomes = {name: one.outcome(measure, changed[name]) for name, one in variants.items()}
            error = next((outcome.error for outcome in outcomes.values() if outcome.error), "")
            means = {name: outcome.value for name, outcome in outcomes.items()}
            found.append(_held_against(measure, what, base, means, error))
    return found


def _changes(
    variants: Mapping[str, Variants],
    measure: Measure,
    contract: Mapping[str, Profile],
    profiles: Sequence[Profile],
) -> Iterator[tuple[str, dict[str, Profile]]]:
    """A name and the profile of every run, for each changed field and each profile."""
    any_profile = next(iter(contract.values()))
    settings = any_profile.for_measure(measure)
    judgments = next(iter(variants.values())).judgments
    for field, convention in FIELDS.items():
        if not matters(measure, field) or field in REFUSALS:
            continue
        values: list[Any] = [value for value in convention.values if value != "error"]
        if field == "threshold":
            values = grades_seen(judgments) if measure.known.binary and measure.rel is None else []
        if field == "gain" and measure.gain is not None:
            continue
        for value in values:
            if value != getattr(settings, field):
                yield (
                    f"{field}={plain_value(value)}",
                    {name: profile.with_fields({field: value}) for name, profile in contract.items()},
                )
    for profile in profiles:
        yield profile.base, dict.fromkeys(contract, profile)


def _held_against(
    measure: Measure, what: str, base: Mapping[str, float | None], means: Mapping[str, float | None], error: str
) -> OrderChange:
    before = {name: value for name, value in base.items() if value is not None}
    after = {name: value for name, value in means.items() if value is not None}
    if len(before) < len(base) or len(after) < len(means):
        return OrderChange(measure, what, None, [], None, None, error or "a mean is undefined")
    kept = flips = tied_before = tied_after = 0
    flipped = []
    for one, other in combinations(before, 2):
        first, second = _sign(before[one] - before[other]), _sign(after[one] - after[other])
        tied_before += first == 0
        tied_after += second == 0
        kept += first * second > 0
        flips += first * second < 0
        if first * second < 0:
            flipped.append((one, other) if first > 0 else (other, one))
    pairs = len(before) * (len(before) - 1) // 2
    scale = math.sqrt((pairs - tied_before) * (pairs - tied_after))
    return OrderChange(
        measure,
        what,
        (kept - flips) / scale if scale else None,
        sorted(flipped, key=lambda pair: before[pair[1]] - before[pair[0]]),
        best_of(after),
        max(abs(after[name] - before[name]) for name in before),
    )


def best_of(means: Mapping[str, float]) -> str:
    """The best run, of those within 1e-12 of it the first."""
    most = max(means.values())
    return next(name for name, mean in means.items() if mean >= most - NOTHING)


def _sign(difference: float) -> int:
    return (difference > NOTHING) - (difference < -NOTHING)
