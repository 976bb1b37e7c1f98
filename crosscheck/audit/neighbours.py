"""The contracts that a search goes through: profiles, then their neighbours with one and with two fields changed.

Two contracts that cannot differ for the asked measures on the given data are one: a field that belongs to another
measure, or about something that the data does not have (no ties, no negative grade), is not varied. Gain tables and
lists of queries are never searched: they could explain any number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np
import polars as pl
from metricpact.bridges.plan import matters
from metricpact.contracts.contract import FIELDS, Contract
from metricpact.contracts.measures import Measure
from metricpact.contracts.profiles import Profile, load_profile, profile_names
from metricpact.contracts.rows import repeated_rows, row_keys
from metricpact.contracts.tables import Judgments, Run, Table

MOST_THRESHOLDS = 20
_NEVER_UNDEFINED = ("P", "SetP", "DCG", "IDCG")


@dataclass(frozen=True)
class Candidate:
    """A profile with some fields changed for every measure."""

    base: Profile
    changes: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def profile(self) -> Profile:
        """What is scored under."""
        return self.base.with_fields(self.changes)

    @property
    def label(self) -> str:
        """``trec_eval-9.0.8-c``, or ``chapter with gain=linear, ideal=returned``."""
        changed = ", ".join(f"{name}={value}" for name, value in self.changes.items())
        return f"{self.base.name} with {changed}" if changed else self.base.name


@dataclass(frozen=True)
class Inert:
    """The fields that cannot matter on some data, each with the reason, and the thresholds that can."""

    fields: Mapping[str, str]
    thresholds: tuple[int, ...]


def look_at(judgments: Judgments, run: Run) -> Inert:
    """What the data does not have, so that the fields about it cannot be told apart on it."""
    queries, ranked = judgments.queries, run.ranks is not None or run.rank_fault is not None
    reasons = {
        "duplicate": None if _repeats(judgments) or _repeats(run) else "no document is listed twice",
        "self_match": None if (run.docs == run.queries.gather(run.codes)).any() else "no query returns itself",
        "negative_grade": None if (judgments.grades < 0).any() else "no grade is negative",
        "extra_query": None if (~run.queries.is_in(queries.implode())).any() else "every query of the run is judged",
        "queries": None if (~queries.is_in(run.queries.implode())).any() else "every judged query is in the run",
        "rank_conflict": None if ranked else "the run has no ranks",
        "order": None if ranked or run.scores is not None else "the run has neither scores nor ranks",
        **_of_scores(run),
    }
    positive = np.unique(judgments.grades)
    whole = positive[(positive >= 0) & (positive == np.floor(positive))][:MOST_THRESHOLDS]
    return Inert({name: reason for name, reason in reasons.items() if reason}, tuple(int(grade) for grade in whole))


def _repeats(table: Table) -> bool:
    codes = table.codes
    return bool(len(repeated_rows(row_keys(table.docs, codes), table.docs, codes)))


def _of_scores(run: Run) -> dict[str, str | None]:
    if run.scores is None:
        return dict.fromkeys(("ties", "score_width"), "the run has no scores")
    with np.errstate(over="ignore"):
        narrow = run.scores.astype(np.float32)
    codes = run.codes
    wide_tie, narrow_tie = (
        pl.DataFrame({"query": codes, "score": scores}).is_duplicated() for scores in (run.scores, narrow)
    )
    return {
        "ties": None if narrow_tie.any() else "no two scores of a query are equal",
        "score_width": None if (wide_tie != narrow_tie).any() else "no scores are equal in single precision only",
    }


def candidates(
    measures: Sequence[Measure], inert: Inert, *, changes: int, first: Sequence[Profile] = ()
) -> Iterator[list[Candidate]]:
    """All candidates by number of changes (0 to ``changes``), those that mean the same in one list.

    ``first`` are profiles that come before the shipped ones, of which those with the most usual values come first. In a
    list the first candidate has the fewest and most usual changes.
    """
    usual = usage()
    shipped = sorted(map(load_profile, profile_names()), key=lambda one: -_commonness(one, usual))
    bases = [Candidate(profile) for profile in [*first, *shipped]]
    found: dict[Any, list[Candidate]] = {}
    for candidate in bases:
        found.setdefault(meaning(candidate.profile, measures, inert), []).append(candidate)
    yield from found.values()
    distinct = [same[0] for same in found.values()]
    for count in range(1, changes + 1):
        fresh: dict[Any, list[Candidate]] = {}
        for candidate in distinct:
            for changed in _changed(candidate.base, measures, inert, count):
                key = meaning(changed.profile, measures, inert)
                if key not in found:
                    fresh.setdefault(key, []).append(changed)
        for key, several in fresh.items():
            # A stable sort: among equally usual changes the first profile's come first.
            found[key] = sorted(several, key=lambda one: rarity(one, usual))
            yield found[key]


def _changed(base: Profile, measures: Sequence[Measure], inert: Inert, count: int) -> Iterator[Candidate]:
    """The profile with ``count`` fields changed, each of which may change what it means for some measure."""
    before = meaning(base, measures, inert)
    single: dict[str, list[Any]] = {}
    for name in FIELDS:
        values: Iterable[Any] = inert.thresholds if name == "threshold" else FIELDS[name].values
        if name in inert.fields or not any(matters(measure, name) for measure in measures):
            continue
        for value in values:
            if value == "error":  # refuses the data, or gives what the field's other values give: never its own number
                continue
            if meaning(base.with_fields({name: value}), measures, inert) != before or _awakens(name, value):
                single.setdefault(name, []).append(value)
    for names in combinations(single, count):
        for chosen in product(*(single[name] for name in names)):
            yield Candidate(base, dict(zip(names, chosen, strict=True)))


def _awakens(name: str, value: Any) -> bool:
    """Whether a value that means nothing alone makes another field matter: under ``skip`` every threshold counts."""
    return (name, value) in (("undefined", "skip"), ("order", "score")) or name == "threshold"


def meaning(profile: Profile, measures: Sequence[Measure], inert: Inert) -> tuple[Any, ...]:
    """What a profile says about the measures on the data: profiles with equal meanings give equal values."""
    return tuple(tuple(essential(measure, profile.for_measure(measure), inert).items()) for measure in measures)


def essential(measure: Measure, contract: Contract, inert: Inert) -> dict[str, Any]:
    """The fields of a contract that can touch a measure's values on the data, in one form where two say the same."""
    fields = {
        name: value for name, value in contract.fields().items() if name not in inert.fields and matters(measure, name)
    }
    if contract.order != "score":
        for name in ("ties", "score_width", "rank_conflict"):
            fields.pop(name, None)
    if contract.undefined != "skip":
        if not measure.known.binary:
            fields.pop("threshold", None)
        if measure.family in _NEVER_UNDEFINED:
            fields["undefined"] = "null"
    if measure.cutoff is None:
        fields.pop("ideal_depth", None)
        for name in ("recall_denominator", "ap_denominator"):
            if fields.get(name) == "capped":
                fields[name] = "relevant"
    return fields


def usage() -> dict[tuple[str, Any], int]:
    """How many libraries hold each value of a field, by the shipped profiles and their overrides.

    This is what "usual" means: a convention is as usual as there are tools that follow it.
    """
    holders: dict[tuple[str, Any], set[str]] = {}
    for profile in map(load_profile, profile_names()):
        held = [profile.contract.fields(), *profile.overrides.values()]
        for name, value in ((name, value) for fields in held for name, value in fields.items()):
            holders.setdefault((name, value), set()).add(profile.library or profile.name)
    return {pair: len(libraries) for pair, libraries in holders.items()}


def _commonness(profile: Profile, usual: Mapping[tuple[str, Any], int]) -> int:
    """How many libraries hold a profile's values, summed over its fields."""
    return sum(usual[pair] for pair in profile.contract.fields().items())


def rarity(candidate: Candidate, usual: Mapping[tuple[str, Any], int]) -> tuple[int, tuple[int, ...]]:
    """A sort key: fewest changes first, then those that most libraries make (the rarest change decides)."""
    counts = sorted(usual.get(change, 0) for change in candidate.changes.items())
    return len(counts), tuple(-count for count in counts)
