"""The scikit-learn bridge: one measure, everything else refused with a reason, its candidates made right."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import metricpact as mp
import pytest
from metricpact.bridges.plan import Plan, Unsupported
from metricpact.bridges.registry import how_to_install, installed_backends
from metricpact.bridges.sklearn_bridge import BRIDGE, CAPABILITIES, MAX_CANDIDATES
from metricpact.contracts.contract import FIELDS, Contract
from metricpact.contracts.errors import DependencyError, LimitError, MeasureError, UnsupportedError
from metricpact.contracts.families import FAMILIES
from metricpact.contracts.measures import parse_measure
from metricpact.contracts.tables import Judgments, Run

pytest.importorskip("sklearn")

NAMES = ["nDCG@1", "nDCG@2", "nDCG@3", "nDCG@9", "nDCG"]


def test_the_capability_table_covers_everything() -> None:
    """There is a word on every measure and every value of every convention; nDCG is all there is."""
    assert {name for name, reason in CAPABILITIES.measures.items() if not reason} == {"nDCG"}
    assert set(CAPABILITIES.measures) == set(FAMILIES)
    assert set(CAPABILITIES.fields) == set(FIELDS)
    for name, known in FIELDS.items():
        assert set(known.values) <= set(CAPABILITIES.fields[name])


def test_a_plan_prints() -> None:
    """The plan says what is called, and that judged documents outside the ranking go below the cutoff."""
    made = BRIDGE.plan(parse_measure("nDCG@10"), Contract())
    assert isinstance(made, Plan)
    assert made.call == "ndcg_score(k=10, ignore_ties=True)"
    assert "put judged documents outside the ranking below rank 10" in str(made)


@pytest.mark.parametrize(
    ("name", "fields"),
    [("P@5", {}), ("AP", {}), ("DCG@5", {}), ("nDCG@5", {"ties": "average"})],
)
def test_what_cannot_be_given_is_refused(name: str, fields: dict[str, object]) -> None:
    """A refusal carries its reason and names the backends that can."""
    refusal = BRIDGE.plan(parse_measure(name), Contract().replace(**fields))
    assert isinstance(refusal, Unsupported)
    with pytest.raises(UnsupportedError, match="unsupported") as caught:
        mp.score({"q": {"a": 1}}, {"q": {"a": 1.0}}, [name], set=fields, backend="sklearn")
    assert caught.value.reason == refusal.reason
    assert "reference" in caught.value.hint


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"ideal": "returned"},
        {"ideal_depth": "full"},
        {"gain": "linear"},
        {"gain": {1: 0.3, 2: 2.75}},
        {"unjudged": "removed"},
    ],
    ids=str,
)
def test_every_small_ranking(fields: dict[str, Any]) -> None:
    """Three documents of every grade or none, every ranking, cutoffs below, at and beyond its end, and no cutoff."""
    qrels, run = {}, {}
    rankings = [order for size in range(4) for order in permutations("abc", size)]
    for grades, ranking in product(product((None, 0, 1, 2), repeat=3), rankings):
        query = f"q{len(qrels)}"
        qrels[query] = {doc: grade for doc, grade in zip("abc", grades, strict=True) if grade is not None}
        run[query] = list(ranking)
    found, expected = (mp.score(qrels, run, NAMES, set=fields, backend=name) for name in ("sklearn", "reference"))
    for name in NAMES:
        assert found.by_query(name) == {q: pytest.approx(v, abs=1e-12) for q, v in expected.by_query(name).items()}


def test_a_single_candidate_is_not_left_alone() -> None:
    """Given one candidate, ndcg_score refuses; a query that returns its one judged document has a value here."""
    judgments, run = mp.read_qrels({"q": {"A": 1}}), mp.read_run({"q": {"A": 1.0}})
    with pytest.raises(ValueError, match="more than 1 document"):
        BRIDGE.native(judgments, run, ["ndcg_score"])
    assert mp.score(judgments, run, ["nDCG"], backend="sklearn").mean["nDCG"] == 1.0


def test_the_native_call_is_the_library_as_documented() -> None:
    """native() makes the ideal of what is returned, and a tie counts by half."""
    judgments = mp.read_qrels({"q": {"A": 1, "C": 1}, "m": {"A": 1}})
    run = mp.read_run({"q": {"A": 1.0, "B": 1.0}})
    assert BRIDGE.native(judgments, run, ["ndcg_score@1"]) == {"ndcg_score@1": {"q": 0.5}}
    with pytest.raises(MeasureError):
        BRIDGE.native(judgments, run, ["ndcg@1"])


def test_long_rankings_and_large_gains_are_refused() -> None:
    """The row that would be handed over has a limit, where the measure looks that deep, and so have its gains."""
    size = MAX_CANDIDATES + 1
    run = Run.from_columns(["q"] * size, [f"d{i}" for i in range(size)])
    judgments = Judgments.from_columns(["q", "q"], ["d0", f"d{size - 1}"], [1, 1])
    assert mp.score(judgments, run, ["nDCG@1"], backend="sklearn").mean["nDCG@1"] == 1.0
    with pytest.raises(LimitError, match="candidates"):
        mp.score(judgments, run, ["nDCG"], backend="sklearn")
    with pytest.raises(LimitError, match="gains up to"):
        mp.score({"q": {"a": 54}}, {"q": ["a"]}, ["nDCG"], backend="sklearn")
    assert mp.score({"q": {"a": 53}}, {"q": ["a"]}, ["nDCG"], backend="sklearn").mean["nDCG"] == 1.0


def test_the_extra_that_installs_it() -> None:
    """A fifth backend is two files and two lines: the module, its test, the registry and the extra."""
    assert how_to_install("sklearn") == "pip install 'metricpact[sklearn]'"


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """A backend whose library is absent is not listed, and asking for it names the command that installs it."""
    from importlib.metadata import Distribution, PackageNotFoundError, distribution

    def absent(name: str) -> Distribution:
        if name == "scikit-learn":
            raise PackageNotFoundError(name)
        return distribution(name)

    monkeypatch.setattr("importlib.metadata.distribution", absent)
    assert "sklearn" not in installed_backends()
    assert "reference" in installed_backends()
    with pytest.raises(DependencyError) as caught:
        mp.score({"q": {"a": 1}}, {"q": ["a"]}, ["nDCG"], backend="sklearn")
    assert caught.value.hint == "pip install 'metricpact[sklearn]'"
