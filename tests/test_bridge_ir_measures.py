"""The ir_measures bridge: its provider by name, each measure alone, no name parsed, no perl, its own call."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import metricpact as mp
import pytest
from metricpact.bridges.ir_measures_bridge import BRIDGE, CAPABILITIES
from metricpact.bridges.plan import Plan, Unsupported
from metricpact.contracts.contract import FIELDS, Contract
from metricpact.contracts.errors import LimitError, UnsupportedError
from metricpact.contracts.families import FAMILIES
from metricpact.contracts.measures import parse_measure

ir_measures = pytest.importorskip("ir_measures")

QRELS = {"q": {"A": 2, "B": 1, "N": 0}, "z": {"N": 0}, "e": {"A": 1}, "m": {"A": 1}}
RUN: dict[str, list[str]] = {"q": ["B", "U", "A"], "z": ["A"], "e": []}
NAMES = [
    "P@3",
    "R@2",
    "R",
    "RR@2",
    "RR",
    "AP@2",
    "AP",
    "nDCG@3",
    "nDCG",
    "Success@1",
    "Rprec",
    "SetP",
    "SetR",
    "Judged@2",
]
NAMES += ["SetF", "SetF(beta=2)", "Bpref", "P(rel=2)@3", "nDCG(dcg='log2')@3", "nDCG(gains={0:0,1:0,2:1})@3"]


def plan(name: str, **fields: object) -> Plan | Unsupported:
    """The plan for a measure under single changed fields."""
    return BRIDGE.plan(parse_measure(name), Contract().replace(**fields))


def values(backend: str) -> dict[str, dict[str, float | None]]:
    """Every measure by query."""
    scores = mp.score(QRELS, RUN, NAMES, backend=backend)
    return {name: scores.by_query(name) for name in NAMES}


def assert_right() -> None:
    """All measures are what the definitions say."""
    expected = values("reference")
    for name, found in values("ir_measures").items():
        assert found == {query: pytest.approx(value, abs=1e-12) for query, value in expected[name].items()}


@pytest.mark.parametrize(
    ("name", "fields", "call"),
    [
        ("P@5", {}, "pytrec_eval:P@5"),
        ("P@5", {"precision_denominator": "returned"}, "pytrec_eval:SetP"),
        ("R@5", {}, "pytrec_eval:R@5"),
        ("R", {}, "pytrec_eval:SetR"),
        ("RR@5", {}, "pytrec_eval:RR"),
        ("AP@5", {}, "pytrec_eval:AP@5"),
        ("nDCG@5", {}, "pytrec_eval:nDCG@5"),
        ("nDCG(gains={1:3})@5", {}, "pytrec_eval:nDCG@5"),
        ("SetF(beta=0.5)", {}, "pytrec_eval:SetF(beta=0.25)"),
        ("Judged@5", {}, "pytrec_eval:SetP"),
    ],
)
def test_a_plan_names_the_provider_and_the_measure(name: str, fields: dict[str, object], call: str) -> None:
    """The plan says which measure of which provider is asked for, and prints as one line of steps."""
    made = plan(name, **fields)
    assert isinstance(made, Plan)
    assert made.call == call
    assert "\n" not in str(made)
    assert ("zero beyond rank 5" in made.repairs) == (name == "RR@5")


def test_the_capability_table_covers_everything() -> None:
    """There is a word on every measure and every value of every convention."""
    assert set(CAPABILITIES.measures) == set(FAMILIES)
    assert set(CAPABILITIES.fields) == set(FIELDS)
    for name, known in FIELDS.items():
        assert set(known.values) <= set(CAPABILITIES.fields[name])


@pytest.mark.parametrize(
    ("name", "fields"),
    [("DCG@5", {}), ("P@5", {"ties": "average"}), ("SetF(beta=0.001)", {})],
)
def test_what_cannot_be_given_is_refused(name: str, fields: dict[str, object]) -> None:
    """A refusal carries its reason and names the backends that can."""
    refusal = plan(name, **fields)
    assert isinstance(refusal, Unsupported)
    with pytest.raises(UnsupportedError, match="unsupported") as caught:
        mp.score({"q": {"a": 1}}, {"q": {"a": 1.0}}, [name], set=fields, backend="ir_measures")
    assert caught.value.reason == refusal.reason
    assert "reference" in caught.value.hint


@pytest.mark.parametrize("beta", [0.01, 0.1, 0.3, 1 / 3, 3, 1000, 1e6])
def test_set_f_takes_beta_squared(beta: float) -> None:
    """ir_measures calls β² beta, and hands it on as text."""
    qrels, run = {"q": {"A": 1, "B": 1, "C": 1}}, {"q": ["A", "X"]}
    name = f"SetF(beta={beta!r})"
    found, expected = (
        mp.score(qrels, run, [name], backend=backend).mean[name] for backend in ("ir_measures", "reference")
    )
    assert found == pytest.approx(expected, rel=0, abs=1e-12)


def test_its_name_parser_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where ir_measures cannot parse a name (as on Python 3.14), everything is scored all the same."""

    def broken(*_: Any) -> Any:
        raise AttributeError("module 'ast' has no attribute 'Num'")

    for module in (ir_measures, ir_measures.util):
        for name in ("parse_measure", "parse_trec_measure"):
            monkeypatch.setattr(module, name, broken)
    assert_right()


def test_the_provider_is_the_one_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the fallback order nor any other provider is asked."""

    def not_asked(*_: Any, **__: Any) -> Any:
        raise AssertionError("another provider was asked")

    monkeypatch.setattr(ir_measures.providers.FallbackProvider, "_evaluator", not_asked)
    for name, provider in ir_measures.providers.registry.items():
        if name != "pytrec_eval":
            monkeypatch.setattr(type(provider), "_evaluator", not_asked)
    assert_right()


def test_no_evaluator_is_given_two_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gain table of one measure reaches no other: each evaluator has one measure, and that without gains."""
    asked = []
    provider = type(ir_measures.providers.registry["pytrec_eval"])
    original = provider._evaluator

    def counted(self: Any, measures: Any, qrels: Any) -> Any:
        asked.append(list(measures))
        return original(self, measures, qrels)

    monkeypatch.setattr(provider, "_evaluator", counted)
    assert_right()
    assert {len(measures) for measures in asked} == {1}
    assert [
        measure for measures in asked for measure in measures if {"gains", "rel", "dcg"} & set(measure.params)
    ] == []


WITHOUT_PERL = """
import shutil
assert shutil.which("perl") is None
import metricpact as mp
print(mp.score({"q1": {"A": 2, "B": 1}}, {"q1": ["B", "A"]}, ["nDCG(dcg='exp-log2')@2"], backend="ir_measures").mean)
"""


def test_perl_is_not_needed() -> None:
    """The exponential gain, which ir_measures alone leaves to a Perl program, comes without one."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PERL],
        env={**os.environ, "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "0.7967" in done.stdout


def test_equal_queries_are_each_given_the_value() -> None:
    """Queries with the same judgments at the same ranks are asked for once, and each has its row."""
    qrels = {f"q{n}": {f"d{n}": 1, "x": n % 3} for n in range(30)}
    run = {f"q{n}": ["u", f"d{n}", "x"] for n in range(30)}
    found, expected = (mp.score(qrels, run, ["AP", "nDCG@3"], backend=name) for name in ("ir_measures", "reference"))
    for name in ("AP", "nDCG@3"):
        assert list(found.by_query(name)) == list(qrels)
        assert found.by_query(name) == {q: pytest.approx(v, abs=1e-12) for q, v in expected.by_query(name).items()}


@pytest.mark.parametrize("broken", [False, True])
def test_the_native_call_is_the_library_as_documented(broken: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """native() leaves the provider to ir_measures: RR and RR@2 break the same tie differently. Names always parse."""
    if broken:
        monkeypatch.setattr(ir_measures, "parse_measure", lambda _: 1 / 0)
    judgments = mp.read_qrels({"q": {"A": 1, "B": 0}, "m": {"A": 1}})
    run = mp.read_run({"q": {"A": 1.0, "B": 1.0}})
    names = ["RR", "RR@2", "P(rel=1)@1", "nDCG(gains={1:3})@2", "SetF"]
    found = BRIDGE.native(judgments, run, names)
    assert found["RR"] == {"q": 0.5, "m": 0.0}
    assert found["RR@2"] == {"q": 1.0, "m": 0.0}
    assert found["P(rel=1)@1"] == {"q": 0.0, "m": 0.0}
    assert found["SetF"]["q"] == pytest.approx(2 / 3)
    assert list(found) == names


@pytest.mark.parametrize(("grade", "name"), [(1, "P@0"), (-2, "P@1"), (2**40, "nDCG@1")])
def test_the_native_call_is_guarded(grade: int, name: str) -> None:
    """What would end the process inside trec_eval is refused before."""
    with pytest.raises(LimitError):
        BRIDGE.native(mp.read_qrels({"q": {"A": grade}}), mp.read_run({"q": {"A": 1.0}}), [name])


def test_a_gain_that_would_take_the_memory_is_refused_before_the_call() -> None:
    """The limits are those of the provider."""
    with pytest.raises(LimitError, match="ir_measures is given gains up to"):
        mp.score({"q": {"a": 25}}, {"q": ["a"]}, ["nDCG@5"], backend="ir_measures")
