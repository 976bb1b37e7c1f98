"""Claims of kind ``measures``: values of measures on judgments and a run, under a contract.

Where the stated contract does not give them, ``infer`` looks for one that does; where the text leaves open what was
returned, every reading of it (``rankings``) is tried. ``alternatives`` are rankings that the text does not describe:
they only serve to tell what would give the numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from metricpact.bridges.evaluate import evaluate
from metricpact.contracts.errors import InputError, MetricpactError
from metricpact.contracts.profiles import Profile
from metricpact.contracts.scores import Scores
from metricpact.contracts.tables import Judgments, Run
from metricpact.crosscheck.audit.infer import BACKEND, Finding, Inference, infer, value_of
from metricpact.crosscheck.claims.document import Claim
from metricpact.crosscheck.claims.inputs import Asked, asked_of, inputs_of, profile_of
from metricpact.crosscheck.claims.verdicts import (
    CANNOT_CHECK,
    NOT_REPRODUCED,
    ONLY_UNDER,
    REPRODUCED,
    Number,
    Verdict,
)

LISTED = 4
"""How many contracts, or profiles that are one on the data, a verdict names."""


def check_measures(claim: Claim) -> Verdict:
    """The verdict on a claim of measures; raises ``InputError`` for a claim that cannot be read."""
    asked, profile = asked_of(claim), profile_of(claim)
    try:
        judgments, readings, others = inputs_of(claim)
    except MetricpactError as error:
        if isinstance(error, InputError) and error.source == claim.document.name:
            raise
        return Verdict(CANNOT_CHECK, error.fact)
    for target in asked.values:
        if target.query is not None and target.query not in judgments.queries:
            raise claim.error(f"query {target.query!r} is not judged", "name a judged query", target.query)
    tried = {name: _try(judgments, run, asked, profile) for name, run in readings.items()}
    numbers = tuple(replace(number, reading=name) for name, (one, _) in tried.items() for number in one)
    good = [name for name, (one, error) in tried.items() if not error and all(number.holds for number in one)]
    if good:
        whole = len(good) == len(tried)
        return Verdict(REPRODUCED if whole else ONLY_UNDER, "" if whole else _in_words(good), numbers)
    fault = next((error for _, error in tried.values() if error), "")
    if asked.lower or asked.upper:
        # No search goes through bounds: what stands beside them is under the stated contract.
        return Verdict(CANNOT_CHECK, fault) if fault else Verdict(NOT_REPRODUCED, _wrong(numbers), numbers)
    try:
        searches = {name: _search(judgments, run, asked, profile) for name, run in readings.items()}
        aside = {name: _search(judgments, run, asked, profile) for name, run in others.items()}
    except MetricpactError as refused:
        return Verdict(CANNOT_CHECK, fault or refused.fact, numbers)
    return _verdict(searches, aside, asked, profile, numbers)


def _verdict(
    searches: Mapping[str, Inference],
    aside: Mapping[str, Inference],
    asked: Asked,
    profile: Profile,
    numbers: tuple[Number, ...],
) -> Verdict:
    found = _easiest(searches, asked, profile)
    if found:
        named = [label + (f", {_in_words(names)}" if any(names) else "") for label, names in found.items()]
        more = f"; or {len(named) - LISTED} more" if len(named) > LISTED else ""
        return Verdict(ONLY_UNDER, "; or ".join(named[:LISTED]) + more, numbers)
    name, finding = min(
        ((name, one) for name, search in searches.items() for one in [*search.found, *search.nearest]),
        key=lambda pair: asked.distance(pair[1].first.gives),
    )
    if asked.distance(finding.first.gives) == 0:  # the numbers are there, over another number of queries
        counts = ", ".join(map(str, dict.fromkeys(finding.first.counts.values())))
        detail = f"nearest: n = {counts} under {_label(finding, profile)[1]}"
        return Verdict(NOT_REPRODUCED, detail, numbers, _notes(searches))
    gives = ", ".join(f"{at} {_shown(value)}" for at, value in finding.first.gives.items())
    where = f", {_in_words([name])}" if name else ""
    notes = (
        _notes(searches)
        + tuple(
            f"with the {_in_words([name])}: given under {label}"
            for label, names in _easiest(aside, asked, profile).items()
            for name in names
        )
        + _notes(aside)
    )
    return Verdict(NOT_REPRODUCED, f"nearest: {gives} under {_label(finding, profile)[1]}{where}", numbers, notes)


def _easiest(searches: Mapping[str, Inference], asked: Asked, profile: Profile) -> dict[str, list[str]]:
    """The contracts with the fewest steps from the stated one that give the numbers → the readings they do it on."""
    steps: dict[int, dict[str, list[str]]] = {}
    for name, search in searches.items():
        for finding in search.found:
            fits = asked.n is None or set(finding.first.counts.values()) == {asked.n}
            if fits and asked.distance(finding.first.gives) == 0:
                count, label = _label(finding, profile)
                steps.setdefault(count, {}).setdefault(label, []).append(name)
    return steps[min(steps)] if steps else {}


def _label(finding: Finding, profile: Profile) -> tuple[int, str]:
    """How far a finding is from the stated contract, and its words: the fields to change there, else a profile.

    A shipped profile as it is counts as one step, like one field.
    """
    every = [one for outcome in finding.outcomes for one in (outcome.candidate, *outcome.aliases)]
    own = min((one.changes for one in every if one.base == profile), key=len, default=None)
    others = list(dict.fromkeys(one.base.name for one in every if not one.changes and one.base != profile))
    if own is not None and (len(own) <= 1 or not others):
        label = ", ".join(f"{field}={value}" for field, value in own.items()) or profile.name
        return len(own), label + (f" (as {_some(others)})" if others else "")
    if others:
        return 1, _some(others)
    first = finding.first.candidate
    return 1 + len(first.changes), first.label


def _some(names: list[str]) -> str:
    return ", ".join(names[:LISTED]) + (f" and {len(names) - LISTED} more" if len(names) > LISTED else "")


def _notes(searches: Mapping[str, Inference]) -> tuple[str, ...]:
    """What gains would have to be worth, under the stated contract otherwise."""
    return tuple(
        (f"with the {_in_words([name])}: " if name else "") + f"{one.measure} would need {one}"
        for name, search in searches.items()
        for one in search.gains
    )


def _in_words(names: list[str]) -> str:
    """Readings of a claim in words, nothing for the only one."""
    return "ranking " + " or ".join(repr(name) for name in names) if any(names) else ""


def _search(judgments: Judgments, run: Run, asked: Asked, profile: Profile) -> Inference:
    return infer(judgments, run, asked.narrowest(), first=[profile])


def _try(judgments: Judgments, run: Run, asked: Asked, profile: Profile) -> tuple[list[Number], str]:
    """The numbers under the stated contract, and why there are none."""
    targets = [*asked.values, *asked.lower, *asked.upper]
    measures = list(dict.fromkeys(target.measure for target in targets))
    try:
        scores = evaluate(judgments, run, measures, profile, BACKEND, bounds=bool(asked.lower or asked.upper))
    except MetricpactError as error:
        missing = [
            Number(f"{target}", one.text, None, holds=False)
            for target in targets
            for one in asked.values.get(target, [])
        ]
        return missing, error.fact
    numbers = [
        Number(str(target), one.text, value, one.holds(value), scores.signatures[str(target.measure)])
        for target, several in asked.values.items()
        for value in [value_of(scores, target)]
        for one in several
    ]
    for side, bounds in (("lower", asked.lower), ("upper", asked.upper)):
        for target, several in bounds.items():
            bound = getattr(scores.bounds[str(target.measure)], side, None)
            signature = scores.signatures[str(target.measure)]
            numbers += [
                Number(f"{side} bound of {target}", one.text, bound, one.holds(bound), signature) for one in several
            ]
    if asked.n is not None:
        numbers += _counts(scores, asked.n)
    return numbers, ""


def _counts(scores: Scores, n: int) -> list[Number]:
    return [Number(f"n of {name}", str(n), float(mean.n), mean.n == n) for name, mean in scores.mean.items()]


def _wrong(numbers: tuple[Number, ...]) -> str:
    """The first number that is not as stated."""
    wrong = next(number for number in numbers if not number.holds)
    return f"nearest: {wrong.about} {_shown(wrong.computed)}"


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}"
