"""The difference of two means, attributed to the conventions in which their contracts differ.

Each field is changed alone, from either side: what it does to the first mean, and what it does to the second. The
effects on the first mean and the interaction add up to the whole difference by definition; an interaction that is
not 0 says that fields act through each other (single precision makes ties, which only the tie rule then breaks).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from metricpact.bridges.plan import matters
from metricpact.contracts.contract import plain_value
from metricpact.contracts.measures import Measure
from metricpact.contracts.profiles import Profile
from metricpact.crosscheck.audit.variants import Outcome, Variants

NOTHING = 1e-12
"""Differences of means up to this are differences of rounding."""


@dataclass(frozen=True)
class Moved:
    """A query and its value on both sides; None where the value is undefined or not in the mean."""

    query: str
    here: float | None
    there: float | None

    def to_document(self) -> dict[str, Any]:
        """The query as plain data."""
        return {"query_id": self.query, "from": self.here, "to": self.there}


@dataclass(frozen=True)
class Effect:
    """One field: its value on both sides and what changing it alone does to the mean, in the direction here → there.

    ``from_here`` is the first mean's change when only this field takes the other side's value, ``from_there`` the
    second mean's change when only this field is given back. None where a mean is undefined or refused (``error``).
    """

    field: str
    here: Any
    there: Any
    from_here: float | None
    from_there: float | None
    moved: list[Moved]
    changed_queries: int
    error: str = ""

    def to_document(self) -> dict[str, Any]:
        """The effect as plain data."""
        return {
            "field": self.field,
            "contract": plain_value(self.here),
            "profile": plain_value(self.there),
            "from_contract": self.from_here,
            "from_profile": self.from_there,
            "changed_queries": self.changed_queries,
            "moved": [one.to_document() for one in self.moved],
            "error": self.error or None,
        }


@dataclass(frozen=True)
class Attribution:
    """Why a measure's mean differs between two profiles: the effects of single fields, and what remains.

    ``total`` is the second mean minus the first, None where one of them is undefined or refused; ``interaction``
    is what the effects from the first side leave of it.
    """

    measure: Measure
    here: Outcome
    there: Outcome
    effects: list[Effect]
    total: float | None
    interaction: float | None
    moved: list[Moved]

    @property
    def causes(self) -> list[Effect]:
        """The fields that change something on this data, the largest change of the mean first.

        Among them are those that make the data refused, seen from a side that is not refused anyway.
        """
        loud = [effect for effect in self.effects if self._shows(effect)]
        return sorted(loud, key=lambda effect: -max(abs(effect.from_here or 0.0), abs(effect.from_there or 0.0)))

    def _shows(self, effect: Effect) -> bool:
        sides = [(self.here, effect.from_here), (self.there, effect.from_there)]
        seen = [change for side, change in sides if not side.error]
        return bool(effect.changed_queries or any(seen) or (effect.error and None in seen))


def attribute(variants: Variants, measure: Measure, here: Profile, there: Profile, *, top: int = 5) -> Attribution:
    """Attribute a measure's difference between two profiles; ``top`` queries that move most are named."""
    first, second = variants.outcome(measure, here), variants.outcome(measure, there)
    differing = here.for_measure(measure).diff(there.for_measure(measure))
    effects = [
        _effect(variants, measure, here, there, name, pair, top)
        for name, pair in differing.items()
        if matters(measure, name)
    ]
    total = _change(first, second)
    known = [effect.from_here for effect in effects if effect.from_here is not None]
    interaction = None if total is None else _rounded(total - sum(known))
    moved, _ = movements(first, second, top)
    return Attribution(measure, first, second, effects, total, interaction, moved)


def movements(here: Outcome, there: Outcome, top: int) -> tuple[list[Moved], int]:
    """The queries whose value changes most, and how many change: largest change first, then by what came or went."""
    if here.column is None or there.column is None:
        return [], 0
    changed = [
        Moved(query, before, after)
        for query, before, after in zip(here.queries, here.values(), there.values(), strict=True)
        if before != after and (before is None or after is None or abs(after - before) > NOTHING)
    ]

    def size(one: Moved) -> tuple[bool, float]:
        if one.here is None or one.there is None:
            return True, 0.0
        return False, -abs(one.there - one.here)

    return sorted(changed, key=size)[:top], len(changed)


def _effect(
    variants: Variants, measure: Measure, here: Profile, there: Profile, name: str, pair: tuple[Any, Any], top: int
) -> Effect:
    first, second = variants.outcome(measure, here), variants.outcome(measure, there)
    onward = variants.outcome(measure, here.with_fields({name: pair[1]}))
    back = variants.outcome(measure, there.with_fields({name: pair[0]}))
    moved, count = movements(first, onward, top)
    return Effect(
        name, *pair, _change(first, onward), _change(back, second), moved, count, error=onward.error or back.error
    )


def _change(before: Outcome, after: Outcome) -> float | None:
    if before.value is None or after.value is None:
        return None
    return _rounded(after.value - before.value)


def _rounded(change: float) -> float:
    """The change, exactly 0 where only rounding is left of it."""
    return change if abs(change) > NOTHING else 0.0
