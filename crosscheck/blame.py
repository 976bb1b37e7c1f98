"""Which convention a wrong bridge got wrong, worked out from its answers alone.

A suspect is one change to every question: one field of the contract with another value, or another cutoff. The
reference answers the changed questions; a suspect that gives the bridge's wrong answers, and leaves its right ones
as they are, is what the bridge does. Where none does, the pin with the largest share of failing cases is named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from metricpact.contracts.contract import FIELDS
from metricpact.contracts.errors import MetricpactError
from metricpact.contracts.measures import parse_measure
from metricpact.crosscheck.check import AGREES, DIFFERS, FAILED, Side, reference_answer
from metricpact.crosscheck.corpus import Answer, Case, Question, same_answer

CUTOFFS = ("k-1", "k+1", "none")
THRESHOLDS = (0, 1, 2)
ENOUGH = 0.5
"""A suspect is named where it explains at least this share of the wrong answers, contradictions taken off."""


@dataclass(frozen=True)
class Blame:
    """The convention to look at: how many of the wrong answers it explains, and how many right ones it contradicts.

    ``explained`` is None where no single change gives the wrong answers, and the pin was chosen by its share.
    """

    field: str
    value: str
    wrong: int
    explained: int | None = None
    contradicted: int = 0

    def plain(self) -> dict[str, Any]:
        """The blame as JSON."""
        return vars(self) | {"sentence": str(self)}

    def __str__(self) -> str:
        if self.explained is None:
            return f"look at {self.field}={self.value}: its cases fail most, of {self.wrong} wrong answers in all"
        return f"{self.field}={self.value} gives {self.explained} of {self.wrong} wrong answers"


def blame(results: Sequence[tuple[Case, Side]]) -> Blame | None:
    """What a backend's wrong answers under the contract have in common; None where there are none."""
    wrong = [(case, side) for case, side in results if side.outcome in (DIFFERS, FAILED)]
    right = [(case, side) for case, side in results if side.outcome == AGREES]
    if not wrong:
        return None
    best: Blame | None = None
    for name, value in _suspects():
        explained = sum(_gives(case, side.got, name, value) for case, side in wrong)
        if explained / len(wrong) < ENOUGH or (best and best.explained and explained < best.explained):
            continue
        contradicted = sum(not _gives(case, side.got, name, value) for case, side in right)
        if explained - contradicted < ENOUGH * len(wrong):
            continue
        here = Blame(name, str(value), len(wrong), explained, contradicted)
        if best is None or _weight(here) > _weight(best):
            best = here
    return best or _by_share(wrong, right)


def _weight(found: Blame) -> int:
    return (found.explained or 0) - found.contradicted


def _suspects() -> list[tuple[str, Any]]:
    """Every field with each value of its closed set (and some thresholds), and the cutoffs."""
    fields = [(name, value) for name, known in FIELDS.items() for value in known.values]
    return [*fields, *(("threshold", value) for value in THRESHOLDS), *(("cutoff", change) for change in CUTOFFS)]


def _gives(case: Case, got: Answer | None, name: str, value: Any) -> bool:
    """Whether the changed question has the answer that was given."""
    if got is None:
        return False
    changed = _changed(_Asked(case), name, value)
    return changed is not None and same_answer(replace(changed, document=None), replace(got, document=None))


class _Asked:
    """A case as a key: its id."""

    def __init__(self, case: Case) -> None:
        self.case = case

    def __hash__(self) -> int:
        return hash(self.case.id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and self.case is other.case


@lru_cache(maxsize=100_000)
def _changed(asked: _Asked, name: str, value: Any) -> Answer | None:
    """The reference's answer to a changed question, None where it cannot be asked."""
    question = asked.case.question
    try:
        if name == "cutoff":
            return reference_answer(_recut(question, value), question.contract)
        return reference_answer(question, question.contract.replace(**{name: value}))
    except MetricpactError:
        return None


def _recut(question: Question, change: str) -> Question:
    """The question at another cutoff; as it is where its measure has none."""
    try:
        measure = parse_measure(question.measure)
    except MetricpactError:
        return question
    if measure.cutoff is None:
        return question
    cutoff = {"k-1": measure.cutoff - 1, "k+1": measure.cutoff + 1, "none": None}[change]
    return replace(question, measure=str(replace(measure, cutoff=cutoff)))


def _by_share(wrong: Sequence[tuple[Case, Side]], right: Sequence[tuple[Case, Side]]) -> Blame:
    failing = Counter((case.field, case.value) for case, _ in wrong)
    holding = Counter((case.field, case.value) for case, _ in right)
    field, value = max(failing, key=lambda pin: (failing[pin] / (failing[pin] + holding[pin]), failing[pin]))
    return Blame(field, value, len(wrong))
