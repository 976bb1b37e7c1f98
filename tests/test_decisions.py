"""Decisions as sets: the audit of fifty items to the last digit, what is conditional apart, states made whole."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import Any

import metricpact as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metricpact.bridges.evidence.decisions import read_endpoints
from metricpact.contracts.errors import ContractError, InputError
from metricpact.crosscheck.evidence.decisions import DecisionReport

EXAMPLES = Path(__file__).resolve().parents[1] / "front/example/evidence"
STATES = ["validated", "deferred", "rejected"]
ENDS = {"promotion": ["validated"], "retention": ["validated", "deferred"]}


def numbers(report: DecisionReport, frame: str = "endpoints") -> dict[tuple[str, str, str], tuple[Any, ...]]:
    """Fraction and value by endpoint, measure and label source."""
    rows = getattr(report, frame).iter_rows(named=True)
    return {
        (row["endpoint"], row["measure"], row["labels"]): (row["numerator"], row["denominator"], row["value"])
        for row in rows
    }


def test_the_audit_of_fifty_items_to_the_last_digit() -> None:
    """21/43, 27/43, 21/21, 27/28 over the cohort, and 21/37 conditional on a decision, named as such and apart."""
    report = mp.decisions(EXAMPLES / "decisions.csv", EXAMPLES / "endpoints.toml")
    assert numbers(report) == {
        ("promotion", "precision", "heuristic"): (21, 21, 1.0),
        ("promotion", "recall", "heuristic"): (21, 43, 21 / 43),
        ("retention", "precision", "heuristic"): (27, 28, 27 / 28),
        ("retention", "recall", "heuristic"): (27, 43, 27 / 43),
    }
    assert numbers(report, "conditional")["promotion", "conditional recall", "heuristic"] == (21, 37, 21 / 37)
    assert [f"{value:.4f}" for value in (21 / 43, 27 / 43, 27 / 28, 21 / 37)] == [
        "0.4884",
        "0.6279",
        "0.9643",
        "0.5676",
    ]
    assert report.unresolved == {"items": 7, "positive": 6, "negative": 1}
    assert report.label_sources == {"heuristic": 50}
    assert report.states.rows() == [
        ("validated", False, 21, 0, 21), ("deferred", True, 6, 1, 7), ("rejected", False, 16, 6, 22),
    ]  # fmt: skip


def test_a_conditional_recall_of_an_endpoint_that_holds_unresolved_states_is_undefined() -> None:
    """Items that were not decided cannot be both left out and reached."""
    report = mp.decisions(EXAMPLES / "decisions.csv", EXAMPLES / "endpoints.toml")
    (row,) = [one for one in report.conditional.iter_rows(named=True) if one["endpoint"] == "retention"]
    assert (row["value"], row["lower"], row["reason"]) == (None, None, "the endpoint holds unresolved states")


def wilson(successes: int, n: int) -> tuple[float, float]:
    """Wilson's score interval at 95 %, by its formula."""
    z = 1.959963984540054
    centre, half = successes + z * z / 2, z * sqrt(successes * (n - successes) / n + z * z / 4)
    return (centre - half) / (n + z * z), (centre + half) / (n + z * z)


def test_intervals_are_wilsons() -> None:
    """Of every fraction, by the formula; a narrower confidence gives a narrower interval."""
    report = mp.decisions(EXAMPLES / "decisions.csv", EXAMPLES / "endpoints.toml")
    for row in report.endpoints.iter_rows(named=True):
        expected = wilson(row["numerator"], row["denominator"])
        assert (row["lower"], row["upper"]) == pytest.approx(expected, abs=1e-12)
    half = mp.decisions(EXAMPLES / "decisions.csv", EXAMPLES / "endpoints.toml", confidence=0.5).endpoints
    assert (half["upper"] - half["lower"] < report.endpoints["upper"] - report.endpoints["lower"]).all()


def item(name: str, state: str, label: Any = "positive", **more: Any) -> dict[str, Any]:
    """One item."""
    return {"item": name, "state": state, "label": label, **more}


def test_label_sources_are_carried_and_parted() -> None:
    """Labels of two sources: the numbers of all items, and of each source below them; none stated is said."""
    items = [
        item("a", "validated", label_source="adjudicated"),
        item("b", "rejected"),
        item("c", "validated", "negative"),
    ]
    found = numbers(mp.decisions(items, ENDS, states=STATES))
    assert found["promotion", "recall", "adjudicated + not stated"] == (1, 2, 0.5)
    assert found["promotion", "recall", "adjudicated"] == (1, 1, 1.0)
    assert found["promotion", "precision", "not stated"] == (0, 1, 0.0)


def test_what_has_no_denominator_is_undefined_with_a_reason() -> None:
    """Nothing reached, nothing positive: no 0, no NaN, no interval."""
    report = mp.decisions([item("a", "rejected", "negative")], ENDS, states=STATES, unresolved=["deferred"])
    assert [value for _, _, value in numbers(report).values()] == [None] * 4
    assert set(report.endpoints["reason"]) == {"no item reached the endpoint", "no item is labelled positive"}
    assert report.endpoints["lower"].null_count() == 4


@pytest.mark.parametrize(
    ("label", "positive"), [(True, 1), (False, 0), (1, 1), (0, 0), ("1", 1), ("0", 0), ("Positive", 1), ("FALSE", 0)]
)
def test_spellings_of_labels(label: Any, positive: int) -> None:
    """Words, truth values, and 1 and 0."""
    report = mp.decisions([item("a", "validated", label)], ENDS, states=STATES)
    assert report.states["positive"].sum() == positive


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ([item("a", "validated"), item("a", "rejected")], "in the state 'rejected', and in 'validated'"),
        ([item("a", "validated"), item("a", "validated")], "in the state 'validated', and in 'validated'"),
        ([item("a", "parked")], "'parked', which is not declared"),
        ([item("a", "validated", "maybe")], "label is 'maybe'"),
        ([item("a", "validated", None)], "no 'label'"),
        ([{"item": "a", "state": "validated"}], "no 'label'"),
        ([item("a", "")], "state is empty text"),
        ([item("a", "validated", lable_source="x") | {"labelsource": "x"}], "there is 'lab"),
        ([item("a", "validated", 2)], "label is 2"),
        ([], "no item"),
    ],
)
def test_items_that_cannot_be_counted_are_refused(items: list[dict[str, Any]], said: str) -> None:
    """States are mutually exclusive and complete, labels are known."""
    with pytest.raises(InputError) as caught:
        mp.decisions(items, ENDS, states=STATES)
    assert said in caught.value.fact


def test_errors_name_lines(tmp_path: Path) -> None:
    """An item in two states names both lines; a state that nobody declared names all of its lines."""
    path = tmp_path / "d.csv"
    path.write_text("item,state,label\na,validated,positive\nb,rejected,negative\na,rejected,positive\n")
    with pytest.raises(InputError, match="on line 2") as caught:
        mp.decisions(path, ENDS, states=STATES)
    assert caught.value.line == 4
    path.write_text("item,state,label\na,parked,positive\nb,rejected,negative\nc,parked,positive\n")
    with pytest.raises(InputError, match="lines 2, 4"):
        mp.decisions(path, ENDS, states=STATES)


def test_states_have_to_be_declared() -> None:
    """Without them nobody can tell whether they are complete; the hint says which ones the items are in."""
    with pytest.raises(ContractError, match="not declared") as caught:
        mp.decisions([item("a", "validated"), item("b", "parked")], ENDS)
    assert "validated,parked" in caught.value.hint


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.sampled_from(STATES), st.booleans()), min_size=1, max_size=25))
def test_fractions_are_counted(pairs: list[tuple[str, bool]]) -> None:
    """Every fraction is the plain count, the conditional one over decided items."""
    items = [item(f"i{number}", state, label) for number, (state, label) in enumerate(pairs)]
    report = mp.decisions(items, ENDS, states=STATES, unresolved=["deferred"])
    for (end, measure, _), (top, bottom, _) in numbers(report).items():
        reached = [label for state, label in pairs if state in ENDS[end]]
        assert top == sum(reached)
        assert bottom == (len(reached) if measure == "precision" else sum(label for _, label in pairs))
    for (end, _, _), (top, bottom, _) in numbers(report, "conditional").items():
        if end == "promotion":
            assert bottom == sum(label for state, label in pairs if state != "deferred")
            assert top == (sum(label for state, label in pairs if state == "validated") if bottom else 0)


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        (5, "states are lists of names"),
        ({"p": "validated"}, "states are lists of names"),
        ({"": ["validated"]}, "an endpoint has no name"),
    ],
)
def test_what_is_no_endpoint_is_refused(ends: Any, said: str) -> None:
    """Endpoints are a path, or names with lists of states."""
    with pytest.raises(ContractError, match=said):
        mp.decisions([item("a", "validated")], ends, states=STATES)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ('retention = ["validated", "deferred", "lost"]', ":6: 'retention' names the state 'lost'"),
        ("retention = [3]", ":6: endpoints.retention[0] is 3, not string"),
        ("retention = []", ":6: endpoints.retention"),
    ],
)
def test_a_fault_of_an_endpoint_names_its_line(tmp_path: Path, changed: str, told: str) -> None:
    """Whether its shape or its states are wrong; an unknown key and a state declared twice have their lines too."""
    lines = ['states = ["validated", "deferred", "rejected"]', 'unresolved = ["deferred"]', "", "[endpoints]"]
    path = tmp_path / "endpoints.toml"
    path.write_text("\n".join([*lines, 'promotion = ["validated"]', changed, ""]), encoding="utf-8")
    with pytest.raises(ContractError) as caught:
        read_endpoints(path)
    assert told in caught.value.fact
    path.write_text("endpoint = 1\n" + "\n".join(lines) + '\npromotion = ["validated"]\n', encoding="utf-8")
    with pytest.raises(ContractError, match=r":1: .*unknown key 'endpoint'"):
        read_endpoints(path)
    path.write_text('states = ["a", "a"]\n[endpoints]\nb = ["a"]\n', encoding="utf-8")
    with pytest.raises(ContractError, match=r":1: the state 'a' is declared twice"):
        read_endpoints(path)
