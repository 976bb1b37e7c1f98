"""Coverage worked out character by character from the chapter's sentences; it shares no code with the package.

Units and anchors are dicts as in the documents. A hit is True, False, or None where a length that nobody stated
decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

Thing = Mapping[str, Any]
Hit = bool | None


def same_document(anchor: Thing, unit: Thing) -> bool:
    """Identity is (source, document)."""
    return (anchor.get("source"), anchor["document"]) == (unit.get("source"), unit["document"])


def right_revision(anchor: Thing, unit: Thing) -> bool:
    """An anchor that names a revision is met by that one only."""
    return anchor.get("revision") in (None, unit.get("revision"))


def characters(thing: Thing) -> set[int] | None:
    """The characters of a span; None for a whole document, whose length is not known."""
    return None if thing.get("start") is None else set(range(thing["start"], thing["end"]))


def unplaced(unit: Thing) -> bool:
    """The unit has an id and no span: nobody knows which part of its document it is."""
    return unit.get("unit") is not None and unit.get("start") is None


def contains(anchor: Thing, unit: Thing) -> bool:
    """The whole anchor lies in this unit, of the right revision."""
    if not same_document(anchor, unit) or not right_revision(anchor, unit):
        return False
    if anchor.get("unit") is not None and anchor["unit"] != unit.get("unit"):
        return False
    if anchor.get("unit") is not None and (anchor.get("start") is None or unplaced(unit)):
        return True
    if unplaced(unit):
        return False
    wanted, given = characters(anchor), characters(unit)
    return given is None or (wanted is not None and wanted <= given)


def exact(anchor: Thing, units: Sequence[Thing]) -> Hit:
    """Some unit contains it."""
    return any(contains(anchor, unit) for unit in units)


def union(anchor: Thing, units: Sequence[Thing]) -> Hit:
    """Units of one revision together leave nothing of it out."""
    if exact(anchor, units):
        return True
    wanted = characters(anchor)
    if wanted is None or anchor.get("unit") is not None:
        return False
    near = [unit for unit in units if same_document(anchor, unit) and right_revision(anchor, unit)]
    return any(
        wanted <= set().union(*(characters(unit) or set() for unit in near if unit.get("revision") == revision))
        for revision in {unit.get("revision") for unit in near}
    )


def overlap(threshold: Fraction) -> Callable[[Thing, Sequence[Thing]], Hit]:
    """One unit holds at least a share of it."""

    def share(anchor: Thing, unit: Thing) -> Fraction | None:
        wanted, given = characters(anchor), characters(unit)
        if unplaced(unit) and anchor.get("unit") is None:
            return None
        if given is None:
            return Fraction(1)
        return None if wanted is None else Fraction(len(wanted & given), len(wanted))

    return lambda anchor, units: _reached(anchor, units, share, threshold)


def iou(threshold: Fraction) -> Callable[[Thing, Sequence[Thing]], Hit]:
    """One unit meets it with at least this intersection over union."""

    def ratio(anchor: Thing, unit: Thing) -> Fraction | None:
        wanted, given = characters(anchor), characters(unit)
        if unplaced(unit):
            return None
        if wanted is None and given is None:
            return Fraction(1)
        return None if wanted is None or given is None else Fraction(len(wanted & given), len(wanted | given))

    return lambda anchor, units: _reached(anchor, units, ratio, threshold)


def document(anchor: Thing, units: Sequence[Thing]) -> Hit:
    """Its document is there."""
    return any(same_document(anchor, unit) for unit in units)


def _reached(
    anchor: Thing, units: Sequence[Thing], measure: Callable[[Thing, Thing], Fraction | None], threshold: Fraction
) -> Hit:
    hits: list[Hit] = []
    for unit in units:
        if not same_document(anchor, unit) or not right_revision(anchor, unit):
            continue
        if anchor.get("unit") is not None and (anchor["unit"] != unit.get("unit") or anchor.get("start") is None):
            hits.append(anchor["unit"] == unit.get("unit"))
            continue
        value = measure(anchor, unit)
        hits.append(None if value is None else value >= threshold)
    return some(hits)


def some(hits: Sequence[Hit]) -> Hit:
    """True where one is, else unknown where one is."""
    return True if any(hit is True for hit in hits) else None if None in hits else False


def every(hits: Sequence[Hit]) -> Hit:
    """False where one is, else unknown where one is."""
    return False if any(hit is False for hit in hits) else None if None in hits else True


def bundle_hit(bundle: Thing, units: Sequence[Thing], rule: Callable[[Thing, Sequence[Thing]], Hit]) -> Hit:
    """All anchors of a bundle; one that is absent is never found."""
    return every([False if "absent" in anchor else rule(anchor, units) for anchor in bundle["anchors"]])


def covered(task: Thing, units: Sequence[Thing], rule: Callable[[Thing, Sequence[Thing]], Hit]) -> Hit:
    """Any of the bundles."""
    return some([bundle_hit(bundle, units, rule) for bundle in task["bundles"]])


def single_unit(task: Thing, units: Sequence[Thing]) -> bool:
    """One unit alone covers a bundle."""
    return any(covered(task, [unit], exact) is True for unit in units)


def completed_at(task: Thing, units: Sequence[Thing]) -> int | None:
    """The shortest prefix that covers a bundle."""
    return next((k for k in range(1, len(units) + 1) if covered(task, units[:k], exact)), None)


def components(task: Thing, units: Sequence[Thing]) -> tuple[int, int]:
    """Covered components and all components of the bundle with the greatest share of them, the first of equals."""
    best = (0, 1)
    for place, bundle in enumerate(task["bundles"]):
        parts: dict[str, list[Hit]] = {}
        for number, anchor in enumerate(bundle["anchors"]):
            hit = False if "absent" in anchor else exact(anchor, units)
            parts.setdefault(anchor.get("component", str(number)), []).append(hit)
        found = sum(all(hits) for hits in parts.values())
        if place == 0 or Fraction(found, len(parts)) > Fraction(*best):
            best = (found, len(parts))
    return best


def all_documents(task: Thing, units: Sequence[Thing]) -> tuple[int, int]:
    """How many of the documents that any bundle names are there, and how many there are."""
    wanted = {
        (anchor.get("source"), anchor["document"])
        for bundle in task["bundles"]
        for anchor in bundle["anchors"]
        if "absent" not in anchor
    }
    given = {(unit.get("source"), unit["document"]) for unit in units}
    return len(wanted & given), len(wanted)
