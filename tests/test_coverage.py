"""Coverage of evidence bundles: the chapter's controls, worked spans, and every quantity against the naive oracle."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import coverage_oracle as oracle
import metricpact as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metricpact.contracts.errors import ContractError, InputError
from metricpact.crosscheck.evidence.coverage import Coverage

WHOLE, A, B = {"document": "d"}, {"document": "a", "start": 0, "end": 10}, {"document": "b", "start": 5, "end": 9}


def task(*bundles: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A task called t."""
    return {"task": "t", "bundles": [{"anchors": anchors} for anchors in bundles], **more}


def row(coverage: Coverage) -> dict[str, Any]:
    """The row of the only task."""
    return coverage.tasks.row(0, named=True)


def claims(coverage: Coverage) -> dict[str, bool | None]:
    """What each rule says about the only task: covered, not, or unknown."""
    return {
        line["rule"].split(">")[0]: None if line["unknown"] else line["covered"] == 1
        for line in coverage.rules.iter_rows(named=True)
    }


def total(coverage: Coverage, quantity: str) -> dict[str, Any]:
    """The row of one total."""
    (found,) = [line for line in coverage.totals.iter_rows(named=True) if line["quantity"] == quantity]
    return found


def test_two_units_cover_a_bundle_jointly() -> None:
    """Compatible separate units cover together what no single one of them suffices for."""
    result = mp.coverage([task([A, B])], {"t": [A, B]})
    assert (row(result)["covered"], row(result)["single_unit"], row(result)["completed_at"]) == (True, False, 2)


def test_one_unit_that_holds_all_anchors_suffices() -> None:
    """Single-unit sufficiency is about packaging: one unit holds every anchor of one bundle."""
    both = [{"document": "a", "start": 2, "end": 4}, {"document": "a", "start": 6, "end": 9}]
    result = mp.coverage([task(both, [B])], {"t": [A]})
    assert (row(result)["single_unit"], row(result)["bundle"], row(result)["completed_at"]) == (True, "1", 1)


@pytest.mark.parametrize(
    ("unit", "holds"),
    [((0, 10), True), ((0, 11), True), ((0, 9), False), ((1, 10), False), ((3, 4), False), ((10, 20), False)],
)
def test_part_of_a_span_is_not_enough(unit: tuple[int, int], holds: bool) -> None:
    """An anchor counts only where it lies wholly inside one unit."""
    result = mp.coverage([task([A])], {"t": [{"document": "a", "start": unit[0], "end": unit[1]}]})
    assert row(result)["covered"] is holds


def test_a_unit_with_an_id_and_no_place_is_not_its_document() -> None:
    """It is what is asked for by that id; nobody knows whether a span of its document, or all of it, lies in it."""
    packet = {"t": [{"document": "a", "unit": "u"}]}
    by_id, inside = {"document": "a", "unit": "u"}, {**A, "unit": "u"}
    for anchor, holds in [(by_id, True), (inside, True), (A, False), ({"document": "a"}, False)]:
        result = mp.coverage([task([anchor])], packet)
        assert (row(result)["covered"], total(result, "bundle-coverage")["count"]) == (holds, int(holds)), anchor
    result = mp.coverage([task([A])], packet)
    assert claims(result) == {
        **{"exact": False, "union": False, "overlap": None, "iou": None},
        **{"document": True, "any-document": True, "all-documents": True},
    }
    assert result.notes == (
        "1 units have an id and no span: they hold what is asked for by that id, and no other span",
    )


def test_a_unit_whose_text_is_not_as_long_as_its_span_is_told() -> None:
    """The offsets alone say what it covers; only an inventory can tell which of the two is wrong."""
    result = mp.coverage([task([A])], {"t": [{**A, "text": "ten letter"}, {**A, "end": 11, "text": "ten letter"}]})
    assert result.notes == (
        "1 units have a text of another length than their span; with an inventory they are refused",
    )


def test_partial_absence_is_told_and_no_success() -> None:
    """One component is covered, the other is declared absent: one of two, not covered, and not coverable."""
    absent = {"component": "export", "absent": "not in the inventory"}
    result = mp.coverage([task([A, absent])], {"t": [A]})
    found = row(result)
    assert (found["components_covered"], found["components"], found["covered"], found["coverable"]) == (
        1,
        2,
        False,
        False,
    )
    assert found["lacking"] == "export (absent)"
    # Flat labels do not see what is absent.
    assert claims(result)["document"] is False
    assert claims(result)["all-documents"] is True


def test_the_three_clauses_are_covered_and_refused() -> None:
    """Both positive clauses and a current opposing one: structural coverage succeeds, the relationship is refused."""
    opposing = {"document": "c", "start": 0, "end": 4}
    conflict = [{"opposing": [opposing]}]
    found = row(mp.coverage([task([A, B], conflicts=conflict)], {"t": [A, B, opposing]}))
    assert (found["covered"], found["decision"], found["reason"]) == (True, "refused", "unresolved opposition")


def test_an_opposition_that_is_resolved_does_not_stand() -> None:
    """The clause that the conflict rule names as resolving it takes the opposition away."""
    opposing, resolving = {"document": "c", "start": 0, "end": 4}, {"document": "e"}
    conflict = [{"opposing": [opposing], "resolved_by": [resolving]}]
    found = row(mp.coverage([task([A], conflicts=conflict)], {"t": [A, opposing, resolving]}))
    assert (found["covered"], found["decision"], found["reason"]) == (True, "accepted", None)


def test_without_a_conflict_rule_nothing_is_accepted() -> None:
    """What nobody examined is not called accepted; an empty rule declares that nothing opposes."""
    undeclared, declared = mp.coverage([task([A])], {"t": [A]}), mp.coverage([task([A], conflicts=[])], {"t": [A]})
    assert (row(undeclared)["decision"], row(declared)["decision"]) == ("unexamined", "accepted")
    assert total(undeclared, "accepted")["value"] is None
    assert total(declared, "accepted")["value"] == 1.0


def test_candidates_may_hold_what_the_selection_lost() -> None:
    """Candidate recall one, selected recall one half, and the bundle is incomplete: the selection lost it."""
    result = mp.coverage([task([A, B])], {"t": [A]}, pool={"t": [B, A]})
    found = row(result)
    assert (found["candidate_components"], found["components_covered"], found["components"]) == (2, 1, 2)
    assert (found["candidate_covered"], found["covered"], found["lost"]) == (True, False, True)
    assert total(result, "candidate-components-covered")["value"] == 1.0
    assert total(result, "components-covered")["value"] == 0.5
    assert total(result, "lost-by-selection")["count"] == 1
    assert result.outside_pool == 0
    assert result.lost_anchors is not None
    assert result.lost_anchors.select("component", "document", "candidate_rank").rows() == [("2", "b", 1)]
    assert found["lacking"] == "2"


def test_selected_units_outside_the_pool_are_counted() -> None:
    """A packet that holds what was no candidate is told."""
    assert mp.coverage([task([A])], {"t": [A, B]}, pool={"t": [A]}).outside_pool == 1


def test_identity_is_source_and_document() -> None:
    """The same id in another source is another document."""
    mine, other = {**A, "source": "one"}, {**A, "source": "two"}
    assert row(mp.coverage([task([mine])], {"t": [other]}))["covered"] is False
    assert row(mp.coverage([task([mine])], {"t": [other, mine]}))["completed_at"] == 2


def test_sides_of_which_one_names_no_source_are_refused() -> None:
    """Nothing could match, so that a coverage of 0 would be an accident of labels."""
    with pytest.raises(InputError, match="names sources"):
        mp.coverage([task([{**A, "source": "one"}])], {"t": [A]})


def test_a_revision_that_an_anchor_names_has_to_be_the_units() -> None:
    """Another revision, or none, does not show what the anchor quotes; the document rule does not care."""
    for revision in ("1", None):
        result = mp.coverage([task([{**A, "revision": "2"}])], {"t": [{**A, "revision": revision}]})
        assert (claims(result)["exact"], claims(result)["overlap"], claims(result)["document"]) == (False, False, True)


def test_revisions_on_one_side_alone_are_told() -> None:
    """A run names no revision: that no anchor is found then is not left to be wondered at."""
    anchored = task([{**A, "revision": "2"}])
    assert "no unit does" in mp.coverage([anchored], {"t": [A]}).notes[0]
    assert mp.coverage([anchored], {"t": [A]}, inventory=[{"document": "a", "revision": "2"}]).notes == ()
    assert mp.coverage([anchored], {"t": [{**A, "revision": "1"}]}).notes == ()


def test_rules_side_by_side_differ_where_they_should() -> None:
    """Two halves of an anchor: union and overlap claim it, exact containment and a strict IoU do not."""
    halves = [{"document": "a", "start": 0, "end": 5}, {"document": "a", "start": 5, "end": 10}]
    result = mp.coverage([task([A])], {"t": halves}, iou=0.6)
    assert claims(result) == {
        "exact": False, "union": True, "overlap": True, "iou": False, "document": True, "any-document": True,
        "all-documents": True,
    }  # fmt: skip
    assert dict(zip(result.rules["rule"], result.rules["more"], strict=True))["union"] == 1


@pytest.mark.parametrize(
    ("spans", "joined"),
    [
        ([(0, 5), (5, 10)], True),
        ([(0, 7), (3, 10)], True),
        ([(4, 12), (0, 4)], True),
        ([(0, 4), (5, 10)], False),
        ([(0, 10), (2, 3)], True),
        ([(0, 9), (1, 3)], False),
        ([(1, 9), (0, 2)], False),
        ([(0, 8), (1, 3), (8, 10)], True),
    ],
)
def test_the_union_leaves_no_gap(spans: list[tuple[int, int]], joined: bool) -> None:
    """Units taken together hold an anchor where every character of it is in one of them."""
    units = [{"document": "a", "start": start, "end": end} for start, end in spans]
    assert claims(mp.coverage([task([A])], {"t": units}))["union"] is joined


def test_units_of_two_revisions_are_no_text_together() -> None:
    """One half of revision 1 and the other of revision 2 make no passage, though the anchor names no revision."""
    halves = [{"document": "a", "revision": str(end // 5), "start": end - 5, "end": end} for end in (5, 10)]
    assert claims(mp.coverage([task([A])], {"t": halves}))["union"] is False


def test_a_large_unit_fails_under_iou_alone() -> None:
    """Intersection over union punishes context: the exact rule is met and IoU is not."""
    result = mp.coverage([task([A])], {"t": [{"document": "a", "start": 0, "end": 100}]})
    assert (claims(result)["exact"], claims(result)["iou"]) == (True, False)
    assert dict(zip(result.rules["rule"], result.rules["fewer"], strict=True))["iou>=0.5"] == 1


def test_flat_labels_want_the_documents_of_all_alternatives() -> None:
    """One accepted bundle suffices; recall over flat labels asks for the other one too."""
    result = mp.coverage([task([A], [B])], {"t": [A]})
    assert (claims(result)["exact"], claims(result)["all-documents"]) == (True, False)


def test_a_length_that_nobody_stated_is_unknown_and_not_zero() -> None:
    """How much of a whole document a span is, and the union with a whole one, cannot be told."""
    whole_in_span = mp.coverage([task([WHOLE])], {"t": [{**WHOLE, "start": 0, "end": 9}]})
    assert (claims(whole_in_span)["exact"], claims(whole_in_span)["overlap"]) == (False, None)
    span_in_whole = mp.coverage([task([A])], {"t": [{"document": "a"}]})
    assert (claims(span_in_whole)["exact"], claims(span_in_whole)["overlap"]) == (True, True)
    assert claims(span_in_whole)["iou"] is None
    iou = span_in_whole.rules.row(3, named=True)
    assert (iou["coverage"], iou["n"], iou["unknown"], iou["fewer"]) == (None, 0, 1, 0)


def test_a_known_length_decides() -> None:
    """With the document's length in the inventory, a span over all of it is the whole document."""
    inventory = [{"document": "d", "length": 9}]
    result = mp.coverage([task([WHOLE])], {"t": [{**WHOLE, "start": 0, "end": 9}]}, inventory=inventory)
    assert (claims(result)["exact"], claims(result)["iou"]) == (True, True)


def test_a_cutoff_looks_at_the_first_units() -> None:
    """k cuts every packet, and the rank of completion counts within it."""
    first, second = (mp.coverage([task([A, B])], {"t": [A, B]}, k=k) for k in (1, 2))
    assert (row(first)["covered"], row(first)["completed_at"], row(first)["units"]) == (False, None, 1)
    assert (row(second)["covered"], row(second)["completed_at"]) == (True, 2)


def test_the_first_bundle_that_completes_counts() -> None:
    """Of two covered alternatives the rank is that of the earlier one."""
    result = mp.coverage([task([B], [A])], {"t": [A, WHOLE, B]})
    assert row(result)["completed_at"] == 1


def test_unranked_units_have_no_rank_of_completion() -> None:
    """Where the order means nothing, neither a rank nor a cutoff does."""
    assert row(mp.coverage([task([A])], {"t": [B, A]}, ranked=False))["completed_at"] is None
    with pytest.raises(ContractError, match="order"):
        mp.coverage([task([A])], {"t": [A]}, ranked=False, k=1)


@pytest.mark.parametrize("k", [0, -1, True, 1.5, "3"])
def test_wrong_cutoffs_are_refused(k: Any) -> None:
    """A cutoff is an integer of at least 1."""
    with pytest.raises(ContractError, match="cutoff"):
        mp.coverage([task([A])], {"t": [A]}, k=k)


@pytest.mark.parametrize("threshold", [0, -0.5, 1.01, float("nan"), True, "half"])
def test_wrong_thresholds_are_refused(threshold: Any) -> None:
    """A threshold is above 0 and up to 1: at 0 every unit of the document would hit."""
    for name in ("overlap", "iou"):
        with pytest.raises(ContractError, match=name):
            mp.coverage([task([A])], {"t": [A]}, **{name: threshold})


def test_missing_and_extra_packets() -> None:
    """A task without a packet has an empty one and counts; a packet without a task is ignored and told."""
    tasks = [task([A]), {**task([B]), "task": "u"}]
    result = mp.coverage(tasks, {"t": [A], "w": [B]})
    assert (result.missing, result.extra) == (("u",), ("w",))
    assert total(result, "bundle-coverage") | {"signature": ""} == {
        "quantity": "bundle-coverage", "value": 0.5, "count": 1, "n": 2, "signature": "",
    }  # fmt: skip
    with pytest.raises(InputError, match="share no task"):
        mp.coverage(tasks, {"w": [B]})


def test_a_mean_over_nothing_is_undefined() -> None:
    """Where nothing was covered there is no mean rank of completion."""
    rank = total(mp.coverage([task([A])], {"t": []}), "completion-rank")
    assert (rank["value"], rank["n"]) == (None, 0)


def test_components_of_several_anchors() -> None:
    """A component that needs two anchors is covered with both of them; it counts once."""
    parts = [{**A, "component": "x"}, {**B, "component": "x"}, {**WHOLE, "component": "y"}]
    found = row(mp.coverage([task(parts)], {"t": [A, WHOLE]}))
    assert (found["components_covered"], found["components"]) == (1, 2)


def test_numbers_are_signed_by_rule_and_cutoff() -> None:
    """Every total and rule says how it was made; different rules have different contract parts."""
    result = mp.coverage([task([A])], {"t": [A]}, k=3)
    assert result.totals["signature"][0].startswith("bundle-coverage@3|rule=exact|integrity=none||metricpact:")
    assert result.rules["signature"].n_unique() == result.rules.height


small = st.integers(0, 6)
sources, documents, revisions = st.sampled_from([None, "s"]), st.sampled_from("de"), st.sampled_from([None, "1", "2"])
spans = st.one_of(st.none(), st.tuples(small, st.integers(1, 4)))


def thing(source: str | None, document: str, revision: str | None, span: tuple[int, int] | None) -> dict[str, Any]:
    """A unit or an anchor."""
    place = {"source": source, "document": document, "revision": revision}
    return place | ({} if span is None else {"start": span[0], "end": span[0] + span[1]})


things = st.builds(thing, sources, documents, revisions, spans)
named_units = st.builds(lambda one, unit: {**one, "unit": unit}, things, st.sampled_from("uvw"))
anchors = st.one_of(
    things,
    named_units,
    st.builds(lambda one, part: {**one, "component": part}, things, st.sampled_from("xy")),
    st.just({"component": "z", "absent": "nowhere"}),
)


def one_absent(bundle: list[dict[str, Any]]) -> bool:
    """A component is declared absent once."""
    return sum("absent" in anchor for anchor in bundle) < 2


bundles = st.lists(st.lists(anchors, min_size=1, max_size=3).filter(one_absent), min_size=1, max_size=3)


def identity(unit: dict[str, Any]) -> tuple[Any, ...]:
    """What a unit is known by."""
    place = [unit.get(key) for key in ("revision", "start", "end")]
    return (unit.get("source"), unit["document"], unit.get("unit") or repr(place))


@st.composite
def obligations(draw: st.DrawFn) -> tuple[list[list[dict[str, Any]]], list[dict[str, Any]]]:
    """Accepted bundles, and a packet of which most units lie about one of their anchors."""
    accepted = draw(bundles)
    packet = draw(st.lists(st.one_of(named_units, things), max_size=2))
    for anchor in [one for bundle in accepted for one in bundle if "absent" not in one]:
        if draw(st.integers(0, 3)):
            unit = {key: anchor[key] for key in ("source", "document", "revision", "start", "end") if key in anchor}
            unit["unit"] = anchor.get("unit") or draw(st.sampled_from(["p", "q", "r", None]))
            if "start" in unit:
                unit["end"] += draw(st.integers(0, 1))
            packet.insert(draw(st.integers(0, len(packet))), unit)
    return accepted, list({identity(unit): unit for unit in packet}.values())


@settings(max_examples=150, deadline=None, derandomize=True)
@given(obligations(), st.sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(2, 3), Fraction(1)]))
def test_every_quantity_is_the_oracles(
    case: tuple[list[list[dict[str, Any]]], list[dict[str, Any]]], threshold: Fraction
) -> None:
    """Spans, whole documents, named units, sources, revisions, components, absence: all as worked out by character."""
    accepted, packet = case
    named = task(*accepted)
    # A second pair of sides with sources, so that no side goes without them; and a task that is never covered.
    other = {"task": "other", "bundles": [{"anchors": [{"source": "s", "document": "z"}]}]}
    selection = {"t": packet, "other": [{"source": "s", "document": "y"}]}
    result = mp.coverage([named, other], selection, overlap=float(threshold), iou=float(threshold))
    found = row(result)
    assert found["covered"] is oracle.covered(named, packet, oracle.exact)
    assert found["single_unit"] is oracle.single_unit(named, packet)
    assert found["completed_at"] == oracle.completed_at(named, packet)
    assert (found["components_covered"], found["components"]) == oracle.components(named, packet)
    rules = {
        "exact": oracle.exact, "union": oracle.union, "overlap": oracle.overlap(threshold),
        "iou": oracle.iou(threshold), "document": oracle.document,
    }  # fmt: skip
    said = {line["rule"].split(">")[0]: line for line in result.rules.iter_rows(named=True)}
    for name, rule in rules.items():
        hit = oracle.covered(named, packet, rule)
        assert (said[name]["covered"], said[name]["unknown"]) == (int(hit is True), int(hit is None)), name
    there, wanted = oracle.all_documents(named, packet)
    assert said["any-document"]["covered"] == int(there > 0)
    assert said["all-documents"]["covered"] == int(wanted > 0 and there == wanted)


pieces = st.builds(
    lambda start, size, revision: {"document": "d", "start": start, "end": start + size, "revision": revision},
    st.integers(0, 8),
    st.integers(1, 5),
    st.sampled_from(["1", "1", "1", "2"]),
)
known = st.lists(pieces, max_size=5, unique_by=lambda one: tuple(one.values()))


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.lists(st.tuples(pieces, st.sampled_from([None, "1"]), known), min_size=15, max_size=15))
def test_rules_on_pieces_of_one_document(cases: list[tuple[dict[str, Any], str | None, list[dict[str, Any]]]]) -> None:
    """Many tasks at once, each an anchor and pieces of its document: every rule as worked out by character."""
    tasks = [
        {"task": str(number), "bundles": [{"anchors": [{**anchor, "end": anchor["end"] + 3, "revision": revision}]}]}
        for number, (anchor, revision, _) in enumerate(cases)
    ]
    packets = {str(number): units for number, (_, _, units) in enumerate(cases)}
    result = mp.coverage(tasks, packets)
    half = Fraction(1, 2)
    rules = {
        "exact": oracle.exact,
        "union": oracle.union,
        "overlap>=0.5": oracle.overlap(half),
        "iou>=0.5": oracle.iou(half),
    }
    said = dict(zip(result.rules["rule"], result.rules["covered"], strict=True))
    for name, rule in rules.items():
        assert said[name] == sum(oracle.covered(one, packets[one["task"]], rule) is True for one in tasks), name
