"""The pytrec_eval bridge: plans that print, refusals with reasons, limits before any call, the library's own call."""

from __future__ import annotations

import subprocess
import sys

import metricpact as mp
import pytest
from metricpact.bridges.plan import Plan, Unsupported
from metricpact.bridges.pytrec_eval_bridge import BRIDGE, CAPABILITIES, MAX_DEPTH, MAX_GRADE
from metricpact.contracts.contract import FIELDS, Contract
from metricpact.contracts.errors import LimitError, UnsupportedError
from metricpact.contracts.families import FAMILIES
from metricpact.contracts.measures import parse_measure
from metricpact.contracts.tables import Judgments, Run


def plan(name: str, **fields: object) -> Plan | Unsupported:
    """The plan for a measure under single changed fields."""
    return BRIDGE.plan(parse_measure(name), Contract().replace(**fields))


@pytest.mark.parametrize(
    ("name", "fields", "call"),
    [
        ("P@5", {}, "P_5"),
        ("P@5", {"precision_denominator": "returned"}, "set_P"),
        ("R@5", {}, "recall_5"),
        ("R@5", {"recall_denominator": "capped"}, "set_recall"),
        ("R", {}, "set_recall"),
        ("RR@5", {}, "recip_rank"),
        ("AP", {}, "map"),
        ("AP@5", {}, "map_cut_5"),
        ("AP@5", {"ap_denominator": "hits"}, "map"),
        ("nDCG@5", {}, "ndcg_cut_5"),
        ("nDCG@5", {"ideal_depth": "full"}, "ndcg_cut_2147483647"),
        ("SetF(beta=0.5)", {}, "set_F_0.25"),
        ("Judged@5", {}, "set_P"),
        ("nDCG@5", {"discount": "jk"}, "ndcg_cut_2147483647"),
    ],
)
def test_a_plan_names_the_call(name: str, fields: dict[str, object], call: str) -> None:
    """The plan says which trec_eval measure is called, and prints as one line of steps."""
    made = plan(name, **fields)
    assert isinstance(made, Plan)
    assert made.call == call
    assert f"call {call}" in str(made)
    assert "\n" not in str(made)


def test_the_capability_table_covers_everything() -> None:
    """There is a word on every measure and every value of every convention."""
    assert set(CAPABILITIES.measures) == set(FAMILIES)
    assert set(CAPABILITIES.fields) == set(FIELDS)
    for name, known in FIELDS.items():
        assert set(known.values) <= set(CAPABILITIES.fields[name])


@pytest.mark.parametrize(("name", "fields"), [("DCG@5", {}), ("P@5", {"ties": "average"})])
def test_what_cannot_be_given_is_refused_with_the_backends_that_can(name: str, fields: dict[str, object]) -> None:
    """A refusal carries its reason and is never another backend's number."""
    refusal = plan(name, **fields)
    assert isinstance(refusal, Unsupported)
    with pytest.raises(UnsupportedError, match="unsupported") as caught:
        mp.score({"q": {"a": 1}}, {"q": {"a": 1.0}}, [name], set=fields)
    assert caught.value.reason == refusal.reason
    assert "reference" in caught.value.hint


def test_a_convention_that_cannot_touch_a_measure_refuses_nothing() -> None:
    """Recall has no gain: a gain table that is out of reach does not matter to it."""
    table = {1: 0.123456789012345}
    assert isinstance(plan("nDCG@5", gain=table), Unsupported)
    assert isinstance(plan("R@5", gain=table), Plan)


@pytest.mark.parametrize(
    ("gains", "grades"),
    [("exponential", {"a": 25}), ("linear", {"a": 2**40}), ({1: MAX_GRADE + 1}, {"a": 1})],
)
def test_a_gain_that_would_take_the_memory_is_refused_before_the_call(gains: object, grades: dict[str, int]) -> None:
    """trec_eval allocates 8 bytes for every number up to the largest grade: the limit comes first."""
    with pytest.raises(LimitError) as caught:
        mp.score({"q": grades}, {"q": ["a"]}, ["nDCG@5"], set={"gain": gains})
    assert "reference" in caught.value.hint
    assert (
        mp.score({"q": grades}, {"q": ["a"]}, ["nDCG@5"], set={"gain": gains}, backend="reference").mean["nDCG@5"] == 1
    )
    assert mp.score({"q": grades}, {"q": ["a"]}, ["P@1", "Bpref"], set={"gain": gains}).mean["P@1"] == 1


def test_the_largest_gain_allowed_is_exact() -> None:
    """Just below the limit the number is right."""
    for grade in (24, 23):
        qrels, run, names = {"q": {"a": grade, "b": 1}}, {"q": ["b", "a"]}, ["nDCG@2", "nDCG"]
        scores, reference = mp.score(qrels, run, names), mp.score(qrels, run, names, backend="reference")
        for name in names:
            assert scores.mean[name] == pytest.approx(reference.mean[name], rel=0, abs=1e-12)


@pytest.mark.parametrize("backend", ["pytrec_eval", "ir_measures"])
def test_a_large_gain_does_not_hang(backend: str) -> None:
    """trec_eval's uncut ndcg walks through all grades below the largest for each: minutes for a few million."""
    pytest.importorskip(backend)
    gains = {1: 2**22, 2: 2**22}
    qrels, run = {"q": {"a": 1, "b": 2, "c": 1}}, {"q": ["x", "a", "b"]}
    for fields in ({"gain": gains}, {"gain": gains, "discount": "jk"}, {"gain": gains, "ideal_depth": "full"}):
        scores = mp.score(qrels, run, ["nDCG", "nDCG@3"], set=fields, backend=backend)
        reference = mp.score(qrels, run, ["nDCG", "nDCG@3"], set=fields, backend="reference")
        for name in ("nDCG", "nDCG@3"):
            assert scores.mean[name] == pytest.approx(reference.mean[name], rel=0, abs=1e-12)
    with pytest.raises(LimitError):
        mp.score(qrels, run, ["nDCG"], set={"gain": {1: 2**23 + 1, 2: 2**24}, "discount": "jk"}, backend=backend)


def test_a_grade_beyond_double_precision_is_refused_on_the_reference() -> None:
    """2^1024 is no double: a limit error, not infinity."""
    with pytest.raises(LimitError, match="too large"):
        mp.score({"q": {"a": 1024}}, {"q": ["a"]}, ["nDCG"], backend="reference")
    assert mp.score({"q": {"a": 1024}}, {"q": ["a"]}, ["P@1"], backend="reference").mean["P@1"] == 1.0


def test_depth_is_limited_only_where_it_matters() -> None:
    """A judged document beyond the limit is refused where a measure looks at it, and costs nothing elsewhere."""
    size = MAX_DEPTH + 1
    run = Run.from_columns(["q"] * size, [f"d{i}" for i in range(size)])
    judgments = Judgments.from_columns(["q", "q"], ["d0", f"d{size - 1}"], [1, 1])
    assert mp.score(judgments, run, ["P@10", "nDCG@10"]).mean["P@10"] == 0.1
    with pytest.raises(LimitError, match="handed to trec_eval"):
        mp.score(judgments, run, ["AP"])
    reference = mp.score(judgments, run, ["AP"], backend="reference").mean["AP"]
    assert reference == pytest.approx((1 + 2 / size) / 2, abs=1e-12)


HARMFUL = """
import metricpact as mp
qrels = {"q": {"A": 1}, "r": {"A": -2, "B": -3}, "no query": {"A": 1}}
run = {"q": {}, "r": {"A": 1.0}, "no query": {"A": 1.0, "B": 0.5}}
scores = mp.score(qrels, run, ["Bpref", "Rprec", "P@1", "nDCG@1"], contract="trec_eval-9.0.8-c")
print(scores.by_query("Bpref"), scores.by_query("P@1"))
"""


def test_inputs_that_kill_trec_eval_are_scored() -> None:
    """An empty first ranking with Bpref, all grades below −1, and the query id "no query" crash or misread inside."""
    done = subprocess.run([sys.executable, "-c", HARMFUL], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.strip() == ("{'q': 0.0, 'r': 0.0, 'no query': 1.0} {'q': 0.0, 'r': 0.0, 'no query': 1.0}")


def test_the_native_call_is_the_library_as_documented() -> None:
    """native() ties by document id, in single precision, on answered queries only: the library's own defaults."""
    judgments = mp.read_qrels({"q": {"A": 1, "B": 0}, "m": {"A": 1}})
    run = mp.read_run({"q": {"A": 1.00000001, "B": 1.0}})
    assert BRIDGE.native(judgments, run, ["recip_rank", "P_1"]) == {"recip_rank": {"q": 0.5}, "P_1": {"q": 0.0}}


@pytest.mark.parametrize(
    ("grades", "names"), [({"A": 1}, ["P_0"]), ({"A": 1}, ["ndcg_10"]), ({"A": -2}, ["P_1"]), ({"A": 2**40}, ["P_1"])]
)
def test_the_native_call_is_guarded(grades: dict[str, int], names: list[str]) -> None:
    """What would end the process inside the library is refused before."""
    with pytest.raises(LimitError):
        BRIDGE.native(mp.read_qrels({"q": grades}), mp.read_run({"q": {"A": 1.0}}), names)


def test_set_f_takes_any_beta() -> None:
    """β² reaches trec_eval as a plain decimal, small or large, several in one call."""
    qrels, run = {"q": {"A": 1, "B": 1, "C": 1}}, {"q": ["A", "X"]}
    names = ["SetF(beta=0.001)", "SetF(beta=1000)", "SetF(beta=0.1)", "SetF", "SetF(beta=1000000)"]
    scores, reference = mp.score(qrels, run, names), mp.score(qrels, run, names, backend="reference")
    for name in names:
        assert scores.mean[name] == pytest.approx(reference.mean[name], rel=0, abs=1e-12)
