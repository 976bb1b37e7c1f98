"""No-answer behaviour: what was returned where nothing should be, apart from whether the controller kept its rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import metricpact as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metricpact.contracts.errors import InputError
from metricpact.crosscheck.evidence.absence import AbsenceReport

EXAMPLES = Path(__file__).resolve().parents[1] / "front/example/evidence"


def need(
    stop: str,
    steps: list[dict[str, Any]],
    rules: dict[str, Any] | None = None,
    returned: int = 0,
    judgement: str = "absent",
    name: str = "n",
) -> dict[str, Any]:
    """A need with a declared judgement and a trace."""
    declared = {"judgement": judgement, "declared_by": "someone", "scope": "the corpus", "date": "2026-11-02"}
    units = [{"document": f"d{number}"} for number in range(returned)]
    return {
        "need": name,
        "absence": declared,
        "rules": rules or {},
        "trace": {"steps": steps, "returned": units, "stop": stop},
    }


def number(report: AbsenceReport, part: str, quantity: str) -> tuple[Any, ...]:
    """Value, count and n of one number."""
    (row,) = [one for one in getattr(report, part).iter_rows(named=True) if one["quantity"] == quantity]
    return row["value"], row["count"], row["n"]


STEP: dict[str, Any] = {}


@pytest.mark.parametrize(
    ("stop", "steps", "rules", "verdict"),
    [
        ("budget", [STEP, STEP], {"budget": 2}, "correct"),
        ("budget", [STEP], {"budget": 2}, "wrong"),
        ("budget", [STEP, STEP, STEP], {"budget": 2}, "wrong"),
        ("budget", [{"cost": 0.1}, {"cost": 0.2}], {"budget": 0.3}, "correct"),
        ("budget", [{"cost": 4}, {"cost": 4, "next_cost": 4}], {"budget": 10}, "correct"),
        ("budget", [{"cost": 4}, {"cost": 4, "next_cost": 2}], {"budget": 10}, "wrong"),
        ("budget", [], {"budget": 0}, "correct"),
        ("budget", [], {"budget": 1}, "wrong"),
        ("budget", [STEP], {}, "cannot judge"),
        ("exhausted", [{"remaining": 0}], {}, "correct"),
        ("exhausted", [{"remaining": 1}], {}, "wrong"),
        ("exhausted", [{"remaining": 0}, {"remaining": 0}], {}, "wrong"),
        ("exhausted", [STEP], {}, "cannot judge"),
        ("exhausted", [], {}, "cannot judge"),
        ("sufficiency-proxy", [{"sufficiency": 0.8}], {"sufficient_at": 0.8}, "correct"),
        ("sufficiency-proxy", [{"sufficiency": 0.7}], {"sufficient_at": 0.8}, "wrong"),
        ("sufficiency-proxy", [{"sufficiency": 0.9}, {"sufficiency": 0.9}], {"sufficient_at": 0.8}, "wrong"),
        ("sufficiency-proxy", [{"sufficiency": 0.9}], {}, "cannot judge"),
        ("declined", [{"best": 0.1}], {"decline_below": 0.2}, "correct"),
        ("declined", [{"best": 0.2}], {"decline_below": 0.2}, "wrong"),
        ("declined", [STEP], {"decline_below": 0.2}, "cannot judge"),
        ("declined", [{"best": 0.1}, {"best": 0.1}], {"decline_below": 0.2}, "correct"),
        ("error", [STEP], {"budget": 3}, "cannot judge"),
        ("error", [STEP, STEP], {"budget": 1}, "wrong"),
        ("exhausted", [STEP, {"remaining": 0}], {"budget": 1}, "wrong"),
    ],
)
def test_control_flow_is_judged_by_the_controllers_own_rules(
    stop: str, steps: list[dict[str, Any]], rules: dict[str, Any], verdict: str
) -> None:
    """It stopped where its rule says, went on after it, overspent, or left nothing to judge by."""
    report = mp.absence([need(stop, steps, rules)])
    assert report.needs["control"].to_list() == [verdict]
    assert (report.needs["why"][0] is None) == (verdict == "correct")


@pytest.mark.parametrize(
    ("stop", "step", "why"),
    [
        ("declined", {"best": 0.1}, "declined, and 2 candidate(s) were returned all the same"),
        ("declined", STEP, "declined, and 2 candidate(s) were returned all the same"),
        (
            "exhausted",
            {"best": 0.1, "remaining": 0},
            "its best score was below its rule for declining, and 2 candidate(s) were returned all the same",
        ),
        ("exhausted", {"best": 0.2, "remaining": 0}, None),
    ],
)
def test_who_declines_returns_nothing(stop: str, step: dict[str, Any], why: str | None) -> None:
    """The rule for declining says not to answer; what is returned all the same breaks it."""
    report = mp.absence([need(stop, [step], {"decline_below": 0.2}, returned=2)])
    assert report.needs.select("control", "why").row(0) == ("correct" if why is None else "wrong", why)


def test_control_flow_and_evidence_quality_are_apart() -> None:
    """A controller that keeps every rule may return weak evidence; one that breaks a rule may return nothing."""
    kept = need("budget", [STEP], {"budget": 1}, returned=2, name="kept")
    broke = need("budget", [STEP], {"budget": 2}, returned=0, name="broke")
    report = mp.absence([kept, broke])
    assert number(report, "quality", "nothing-returned-where-absent") == (0.5, 1, 2)
    assert number(report, "quality", "candidates-returned-where-absent") == (1.0, None, 2)
    assert number(report, "control", "control-flow-correct") == (0.5, 1, 2)
    assert report.returned["document"].to_list() == ["d0", "d1"]


def test_a_claim_of_sufficiency_is_refuted_by_absence_and_still_correct_control() -> None:
    """The proxy's claim is an inference that was wrong; stopping for it was what the rule says."""
    report = mp.absence([need("sufficiency-proxy", [{"sufficiency": 1}], {"sufficient_at": 1}, returned=1)])
    assert number(report, "quality", "sufficiency-claimed-where-absent") == (1.0, 1, 1)
    assert number(report, "control", "control-flow-correct") == (1.0, 1, 1)


def test_needs_with_an_answer_are_counted_by_themselves() -> None:
    """Nothing returned is right where nothing is, and not where something is."""
    report = mp.absence([need("error", [], judgement="present")])
    assert number(report, "quality", "nothing-returned-where-present") == (1.0, 1, 1)
    assert number(report, "quality", "nothing-returned-where-absent") == (None, 0, 0)
    assert number(report, "control", "control-flow-correct") == (None, 0, 0)


def test_the_example() -> None:
    """Five absent needs and two present ones: every stop reason, one need returned twice too much."""
    report = mp.absence(EXAMPLES / "absence.jsonl")
    assert number(report, "quality", "nothing-returned-where-absent") == (0.6, 3, 5)
    assert number(report, "control", "control-flow-correct") == (4 / 6, 4, 6)
    stops = {row["stop"]: row for row in report.stops.iter_rows(named=True)}
    assert (stops["budget"]["needs"], stops["budget"]["correct"], stops["budget"]["wrong"]) == (2, 1, 1)
    assert stops["budget"]["returned_where_absent"] == 1
    assert report.declarations["needs"].to_list() == [5, 2]
    assert report.declarations["declared_by"][0] == "the handbook's editor"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("qrels.txt", "q1 0 d1 0\nq1 0 d2 0\n"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t0\n"),
        ("qrels.json", '{"q1": {"d1": 0, "d2": 0}}'),
        ("qrels.jsonl", '{"query_id": "q1", "doc_id": "d1", "relevance": 0}\n'),
    ],
)
def test_judgments_without_positives_are_never_taken_for_absence(tmp_path: Path, name: str, text: str) -> None:
    """TREC, BEIR, JSON and JSON lines qrels are refused with the explanation."""
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match="qrels do not declare absence") as caught:
        mp.absence(path)
    assert "no proof that the collection lacks an answer" in caught.value.hint


def test_a_need_without_a_declaration_is_refused() -> None:
    """Neither silence nor judgments in its place declare anything."""
    undeclared = need("budget", [])
    del undeclared["absence"]
    for record in (undeclared, undeclared | {"qrels": {"d": 0}}):
        with pytest.raises(InputError, match="nobody declares") as caught:
            mp.absence([record])
        assert "simply be unjudged" in caught.value.hint


@pytest.mark.parametrize("key", ["judgement", "declared_by", "scope", "date"])
def test_a_declaration_says_who_what_where_and_when(key: str) -> None:
    """Each of them is needed."""
    one = need("budget", [])
    del one["absence"][key]
    with pytest.raises(InputError, match=key):
        mp.absence([one])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"stop": "tired"}, "trace.stop is 'tired'"),
        ({"steps": [{"cost": -1}]}, "below 0"),
        ({"steps": [{"remaining": 1.5}]}, "not integer"),
        ({"steps": [{"remaining": 10**30}]}, "steps.0..remaining is 10+, above 1000000000000000"),
        ({"steps": [{"cost": 10**400}]}, "above 1000000000000000"),
        ({"steps": [{"best": -(10**400)}]}, "below -1000000000000000"),
        ({"steps": [{"left": 1}]}, "unknown key 'left'"),
        ({"returned": [{}]}, "no 'document'"),
    ],
)
def test_wrong_traces_are_refused(change: dict[str, Any], said: str) -> None:
    """With the path in the record."""
    one = need("budget", [])
    one["trace"] |= change
    with pytest.raises(InputError, match=said):
        mp.absence([one])


def test_numbers_beyond_all_numbers_are_refused(tmp_path: Path) -> None:
    """JSON may write 1e999, which Python reads as infinity."""
    path = tmp_path / "needs.jsonl"
    path.write_text(json.dumps(need("budget", [], {"budget": 3})).replace('"budget": 3', '"budget": 1e999'))
    with pytest.raises(InputError, match=r"rules\.budget is inf, above") as caught:
        mp.absence(path)
    assert caught.value.line == 1


def test_a_need_twice_is_refused() -> None:
    """Its verdicts would count twice."""
    with pytest.raises(InputError, match="twice"):
        mp.absence([need("budget", []), need("error", [])])


steps = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "cost": st.integers(0, 3),
            "sufficiency": st.integers(0, 3),
            "best": st.integers(0, 3),
            "remaining": st.integers(0, 2),
        },
    ),
    max_size=4,
)
limits = st.fixed_dictionaries(
    {},
    optional={"budget": st.integers(0, 6), "sufficient_at": st.integers(1, 3), "decline_below": st.integers(0, 3)},
)


def verdict(stop: str, walked: list[dict[str, int]], rules: dict[str, int], returned: int) -> str:
    """The verdict, step by step."""
    spent = 0
    for place, step in enumerate(walked):
        spent += step.get("cost", 1)
        if "budget" in rules and spent > rules["budget"]:
            return "wrong"
        due = {
            "budget": "budget" in rules and spent >= rules["budget"],
            "sufficiency-proxy": "sufficient_at" in rules and step.get("sufficiency", -1) >= rules["sufficient_at"],
            "exhausted": step.get("remaining") == 0,
        }
        if any(due.values()) and place < len(walked) - 1:
            return "wrong"
    last = walked[-1] if walked else {}
    if returned and (stop == "declined" or last.get("best", 9) < rules.get("decline_below", -1)):
        return "wrong"
    holds: bool | None = None
    if stop == "budget" and "budget" in rules:
        holds = spent >= rules["budget"]
    elif stop == "exhausted" and "remaining" in last:
        holds = last["remaining"] == 0
    elif stop == "sufficiency-proxy" and "sufficient_at" in rules and "sufficiency" in last:
        holds = last["sufficiency"] >= rules["sufficient_at"]
    elif stop == "declined" and "decline_below" in rules and "best" in last:
        holds = last["best"] < rules["decline_below"]
    return "cannot judge" if holds is None else "correct" if holds else "wrong"


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["budget", "exhausted", "declined", "sufficiency-proxy", "error"]),
            steps,
            limits,
            st.integers(0, 1),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_verdicts_are_those_of_a_walk(traces: list[tuple[str, list[dict[str, int]], dict[str, int], int]]) -> None:
    """Many needs at once give what walking through each trace gives."""
    report = mp.absence([need(*trace, name=f"n{number}") for number, trace in enumerate(traces)])
    assert report.needs["control"].to_list() == [verdict(*trace) for trace in traces]
