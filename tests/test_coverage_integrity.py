"""Integrity before coverage: what an inventory refuses, why, and what that leaves of coverage and of oppositions."""

from __future__ import annotations

import hashlib
from contextlib import nullcontext
from typing import Any

import metricpact as mp
import pytest
from metricpact.contracts.errors import InputError
from metricpact.crosscheck.evidence.coverage import Coverage

TEXT = "abcdefghij"
SPAN = {"document": "d", "start": 2, "end": 5}


def sha(text: str) -> str:
    """SHA-256 (hex) of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def inventory(**more: Any) -> list[dict[str, Any]]:
    """One document at revision 3."""
    return [{"document": "d", "revision": "3", "text": TEXT, **more}]


def covered(unit: dict[str, Any], sources: list[dict[str, Any]], **task: Any) -> Coverage:
    """One task that wants ``cde`` of the document, and one unit."""
    tasks = [{"task": "t", "bundles": [{"anchors": [SPAN]}], "conflicts": [], **task}]
    return mp.coverage(tasks, {"t": [unit]}, inventory=sources)


@pytest.mark.parametrize(
    ("unit", "sources", "reason"),
    [
        ({**SPAN, "revision": "3", "text": "cde"}, inventory(), None),
        ({**SPAN, "text": "cde"}, inventory(), None),
        ({"document": "d", "text": TEXT}, inventory(), None),
        ({"document": "x", "start": 2, "end": 5}, inventory(), "fabricated"),
        ({**SPAN, "end": 11}, inventory(), "fabricated"),
        ({**SPAN, "revision": "9"}, inventory(revisions=["1", "2"]), "fabricated"),
        ({**SPAN, "revision": "2"}, inventory(revisions=["1", "2"]), "stale"),
        ({**SPAN, "revision": "2"}, inventory(), "stale"),
        ({**SPAN, "revision": "2"}, inventory(revoked_revisions=["2"]), "revoked"),
        ({**SPAN, "revision": "3", "text": "cdX"}, inventory(), "altered"),
        ({**SPAN, "revision": "3", "text": "cdef"}, inventory(), "altered"),
        ({"document": "d", "text": TEXT + "k"}, inventory(), "altered"),
        (
            {**SPAN, "text": "cde"},
            [{"document": "d", "length": 10, "spans": [{"start": 2, "end": 5, "sha256": sha("cde")}]}],
            None,
        ),
        (
            {**SPAN, "text": "cdX"},
            [{"document": "d", "length": 10, "spans": [{"start": 2, "end": 5, "sha256": sha("cde")}]}],
            "altered",
        ),
        ({"document": "d", "text": TEXT}, [{"document": "d", "sha256": sha(TEXT)}], None),
        ({"document": "d", "text": "other"}, [{"document": "d", "sha256": sha(TEXT)}], "altered"),
        ({**SPAN, "text": "cdef"}, [{"document": "d", "length": 10}], "altered"),
    ],
)
def test_units_are_refused_with_a_reason(
    unit: dict[str, Any], sources: list[dict[str, Any]], reason: str | None
) -> None:
    """Fabricated, stale, revoked and altered references do not count; what is eligible does."""
    result = covered(unit, sources)
    assert result.refusals["refusal"].to_list() == ([] if reason is None else [reason])
    found = result.tasks.row(0, named=True)
    assert (found["covered"], found["refused_units"]) == (reason is None, int(reason is not None))


@pytest.mark.parametrize("state", ["revoked", "restricted"])
def test_revoked_and_restricted_documents(state: str) -> None:
    """High relevance makes neither a withdrawn nor a restricted document eligible; the task cannot be covered then."""
    result = covered({**SPAN, "revision": "3"}, inventory(**{state: True}))
    assert result.refusals["refusal"].to_list() == [state]
    assert result.tasks.row(0, named=True)["coverable"] is False


@pytest.mark.parametrize(("text", "reason"), [("cde", None), (None, None), (TEXT, None), ("cdX", "altered")])
def test_the_text_of_a_unit_known_by_its_id_stands_somewhere_in_the_document(
    text: str | None, reason: str | None
) -> None:
    """It is the unit's text, not the document's: it is altered only where the document does not have it anywhere."""
    by_id = {"document": "d", "unit": "u"}
    tasks = [{"task": "t", "bundles": [{"anchors": [by_id]}]}]
    result = mp.coverage(tasks, {"t": [{**by_id, "text": text}]}, inventory=inventory())
    assert result.refusals["refusal"].to_list() == ([] if reason is None else [reason])
    assert (result.tasks["covered"].item(), result.unchecked) == (reason is None, int(text is None))
    quoted = [{"task": "t", "bundles": [{"anchors": [{**by_id, "text": text}]}]}]
    with nullcontext() if reason is None else pytest.raises(InputError, match="is altered"):
        assert mp.coverage(quoted, {"t": [by_id]}, inventory=inventory()).tasks["covered"].item() is True


def test_the_first_reason_is_told() -> None:
    """A restricted document in a revoked revision is revoked; a unit has one reason."""
    unit = {**SPAN, "revision": "2", "text": "xxx"}
    result = covered(unit, inventory(revoked_revisions=["2"], restricted=True))
    assert result.refusals["refusal"].to_list() == ["revoked"]


def test_a_refused_unit_keeps_its_rank() -> None:
    """The cut comes first: a fabricated unit at rank 1 takes the place of one that would have counted."""
    tasks = [{"task": "t", "bundles": [{"anchors": [SPAN]}]}]
    packet = [{"document": "x"}, {**SPAN, "text": "cde"}]
    assert mp.coverage(tasks, {"t": packet}, inventory=inventory()).tasks["completed_at"].to_list() == [2]
    assert mp.coverage(tasks, {"t": packet}, inventory=inventory(), k=1).tasks["covered"].to_list() == [False]


def test_every_rule_sees_eligible_units_only() -> None:
    """A stale unit is no hit of the document rule either."""
    result = covered({**SPAN, "revision": "2"}, inventory())
    assert result.rules["covered"].to_list() == [0] * result.rules.height


def test_references_without_a_revision_are_the_current_one_and_counted() -> None:
    """An anchor that names the current revision is met by an unversioned unit, and the report says how many."""
    anchor = {**SPAN, "revision": "3"}
    result = covered(SPAN, inventory(), bundles=[{"anchors": [anchor]}])
    assert (result.tasks["covered"][0], result.unversioned) == (True, 1)


def test_units_with_nothing_to_compare_are_counted() -> None:
    """Eligible is not verified: a text that nothing is known about is told."""
    assert covered({**SPAN, "text": "cde"}, [{"document": "d"}]).unchecked == 1
    assert covered({**SPAN, "text": "cde"}, inventory()).unchecked == 0


@pytest.mark.parametrize(
    ("anchor", "reason"),
    [({"document": "x"}, "fabricated"), ({**SPAN, "end": 99}, "fabricated"), ({**SPAN, "text": "xxx"}, "altered")],
)
def test_a_task_may_not_quote_what_the_inventory_does_not_have(anchor: dict[str, Any], reason: str) -> None:
    """The anchor is at fault, not the selection: no quotation is manufactured for what is absent."""
    with pytest.raises(InputError, match=reason) as caught:
        covered(SPAN, inventory(), bundles=[{"anchors": [anchor]}])
    assert "declared absent" in caught.value.hint


def test_a_stale_anchor_makes_a_bundle_uncoverable() -> None:
    """The task asks for a revision that is not current: nothing eligible covers it, and that is told."""
    result = covered(SPAN, inventory(), bundles=[{"anchors": [{**SPAN, "revision": "2"}]}])
    assert result.tasks.row(0, named=True)["coverable"] is False


@pytest.mark.parametrize(
    ("more", "decision"),
    [
        ({}, "refused"),
        ({"restricted": True}, "refused"),
        ({"revoked": True}, "accepted"),
        ({"revision": "4"}, "accepted"),
    ],
)
def test_an_opposing_clause_stands_where_it_is_current(more: dict[str, Any], decision: str) -> None:
    """The validator looks at the sources: a current clause opposes though nobody selected it, a withdrawn one not."""
    opposing = {"document": "o", "revision": "3"}
    sources = [*inventory(), {"document": "o", "revision": "3", **more}]
    result = covered({**SPAN, "text": "cde"}, sources, conflicts=[{"opposing": [opposing]}])
    found = result.tasks.row(0, named=True)
    assert (found["covered"], found["decision"]) == (True, decision)


def test_a_current_resolution_takes_the_opposition_away() -> None:
    """Both stand in the inventory: the conflict rule names the second as resolving the first."""
    sources = [*inventory(), {"document": "o"}, {"document": "r"}]
    conflicts = [{"opposing": [{"document": "o"}], "resolved_by": [{"document": "r"}]}]
    assert covered(SPAN, sources, conflicts=conflicts).tasks["decision"].to_list() == ["accepted"]


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        ([{"document": "d"}, {"document": "d"}], "twice"),
        (inventory(revoked_revisions=["3"]), "among the revoked"),
        (inventory(length=3), "the length is 3"),
        (inventory(sha256=sha("other")), "sha256 is not that of the text"),
        (inventory(spans=[{"start": 2, "end": 5, "sha256": sha("xyz")}]), r"the hash of the span \[2, 5\)"),
        (inventory(spans=[{"start": 2, "end": 11, "sha256": sha("xyz")}]), "is not in the document"),
        (inventory(spans=[{"start": 2, "end": 2, "sha256": sha("")}]), "is not in the document"),
        (
            [{"document": "d", "spans": [{"start": 2, "end": 5, "sha256": sha(text)} for text in ("cde", "xyz")]}],
            "has two hashes",
        ),
        ([{"document": "d", "sha256": "abc"}], "not of the form"),
        ([{"document": "d", "restricted": "yes"}], "restricted is text"),
        ([], "no document"),
    ],
)
def test_wrong_inventories_are_refused(sources: list[dict[str, Any]], said: str) -> None:
    """A document twice, a current revision that is revoked, lengths and hashes that cannot be."""
    with pytest.raises(InputError, match=said):
        covered(SPAN, sources)


def test_offsets_count_characters_and_not_bytes() -> None:
    """A span after an accented letter is compared by characters."""
    sources = [{"document": "d", "text": "é😀cdefgh"}]
    assert covered({**SPAN, "text": "cde"}, sources).refusals.height == 0
