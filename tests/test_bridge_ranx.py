"""The ranx bridge: plans that print, arrays of bounded size, the library's faults kept away, its own call."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import metricpact as mp
import numpy as np
import pytest
from metricpact.bridges.feeds import Selection
from metricpact.bridges.plan import Plan, Unsupported
from metricpact.bridges.ranx_bridge import BRIDGE, CAPABILITIES, MAX_DEPTH, batches
from metricpact.contracts.contract import FIELDS, Contract
from metricpact.contracts.errors import LimitError, UnsupportedError
from metricpact.contracts.families import FAMILIES
from metricpact.contracts.measures import parse_measure
from metricpact.contracts.tables import Judgments, Run

pytest.importorskip("ranx")


def plan(name: str, **fields: object) -> Plan | Unsupported:
    """The plan for a measure under single changed fields."""
    return BRIDGE.plan(parse_measure(name), Contract().replace(**fields))


@pytest.mark.parametrize(
    ("name", "fields", "call"),
    [
        ("P@5", {}, "precision@5"),
        ("P@5", {"precision_denominator": "returned"}, "precision"),
        ("R@5", {}, "recall@5"),
        ("R@5", {"recall_denominator": "capped"}, "recall"),
        ("R", {}, "recall"),
        ("RR@5", {}, "mrr@5"),
        ("AP", {}, "map"),
        ("AP@5", {}, "map@5"),
        ("AP@5", {"ap_denominator": "hits"}, "map"),
        ("nDCG@5", {}, "ndcg@5-l0"),
        ("nDCG@5", {"ideal_depth": "full"}, "ndcg-l0"),
        ("DCG@5", {}, "dcg@5-l0"),
        ("IDCG@5", {}, "dcg@5-l0"),
        ("Success@5", {}, "hit_rate@5"),
        ("Rprec", {}, "r-precision"),
        ("SetF", {}, "f1"),
        ("Judged@5", {}, "precision"),
    ],
)
def test_a_plan_names_the_call(name: str, fields: dict[str, object], call: str) -> None:
    """The plan says which metric of ranx is called, by ranx's own name, and prints as one line of steps."""
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


@pytest.mark.parametrize(("name", "fields"), [("SetF(beta=2)", {}), ("P@5", {"ties": "average"})])
def test_what_cannot_be_given_is_refused(name: str, fields: dict[str, str]) -> None:
    """A refusal carries its reason and names the backends that can."""
    refusal = plan(name, **fields)
    assert isinstance(refusal, Unsupported)
    with pytest.raises(UnsupportedError, match="unsupported") as caught:
        mp.score({"q": {"a": 1}}, {"q": {"a": 1.0}}, [name], set=fields, backend="ranx")
    assert caught.value.reason == refusal.reason
    table = [*CAPABILITIES.partly.values(), *(CAPABILITIES.fields[field][value] for field, value in fields.items())]
    assert refusal.reason in table
    assert "reference" in caught.value.hint


def test_bpref_without_a_relevant_document_spoils_no_other_query() -> None:
    """Called on its own, ranx gives 0 to every query after one without a positive, and no number without a negative."""
    qrels = {"a": {"x": 0}, "b": {"x": 1}, "c": {"x": 1, "y": 0}, "d": {"x": 0}, "e": {"x": 1, "y": 0}}
    run = {query: ["x", "y"] for query in qrels}
    scores = mp.score(qrels, run, ["Bpref"], backend="ranx")
    assert scores.by_query("Bpref") == {"a": None, "b": 1.0, "c": 1.0, "d": None, "e": 1.0}


def test_gains_need_not_be_whole_numbers() -> None:
    """A gain table goes to ranx as it is, with gains below 1 and irrational ones."""
    qrels, run = {"q": {"a": 1, "b": 2, "c": 3}}, {"q": ["a", "c"]}
    fields = {"gain": {1: 0.25, 2: 2**0.5, 3: 0.123456789012345}}
    found, expected = (
        mp.score(qrels, run, ["nDCG@2", "DCG"], set=fields, backend=name) for name in ("ranx", "reference")
    )
    for name in ("nDCG@2", "DCG"):
        assert found.mean[name] == pytest.approx(expected.mean[name], rel=0, abs=1e-15)


def selection(chance: np.random.Generator, queries: int, longest: int, most: int) -> Selection:
    """Queries with rankings of 0 to ``longest`` documents and up to ``most`` judgments, some of them ranked."""
    lengths = chance.integers(0, longest + 1, queries)
    counts = np.where(lengths > 0, chance.integers(1, most + 1, queries), 0)
    query = np.repeat(np.arange(queries), counts).astype(np.int32)
    ranks = [chance.permutation(2 * longest)[:count] + 1 for count in counts]
    rank = np.concatenate(ranks).astype(np.int64)
    return Selection(query, np.where(rank <= lengths[query], rank, 0), chance.random(len(query)), lengths)


@pytest.mark.parametrize("cells", [1, 40, 1000])
def test_batches_hold_every_query_once_within_the_bound(cells: int) -> None:
    """Arrays of bounded size, ranks and grades where they belong, and padding that is neither ranked nor graded."""
    chosen = selection(np.random.default_rng(3), 60, 12, 7)
    met = []
    for batch in batches(chosen, cells):
        queries, length = batch.run.shape[:2]
        width = batch.qrels.shape[1]
        assert queries == 1 or queries * (length + width) <= cells
        for row, code in enumerate(batch.codes.tolist()):
            met.append(code)
            mine = chosen.query == code
            assert length == chosen.lengths[code]
            numbers = batch.run[row, :, 0]
            for number, (rank, grade) in enumerate(zip(chosen.rank[mine], chosen.grade[mine], strict=True), start=1):
                assert batch.qrels[row, number - 1].tolist() == [number, grade]
                assert np.flatnonzero(numbers == number).tolist() == ([rank - 1] if rank else [])
            padding = batch.qrels[row, mine.sum() :]
            assert np.isnan(padding[:, 1]).all()
            assert not np.isin(padding[:, 0], numbers).any()
            assert np.count_nonzero(numbers) == np.count_nonzero(chosen.rank[mine])
    assert sorted(met) == np.flatnonzero(chosen.lengths).tolist()


def test_batches_change_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many small calls give the numbers of a few large ones."""
    chance = np.random.default_rng(5)
    qrels = {f"q{q}": {f"d{d}": int(g) for d, g in enumerate(chance.integers(0, 4, 9))} for q in range(50)}
    run = {q: {f"d{d}": float(s) for d, s in enumerate(chance.random(chance.integers(1, 20)))} for q in qrels}
    names = [name for name in FAMILIES if FAMILIES[name].cutoff != "required"]
    expected = mp.score(qrels, run, names, backend="ranx")
    monkeypatch.setattr("metricpact.bridges.ranx_bridge.BATCH_CELLS", 30)
    found = mp.score(qrels, run, names, backend="ranx")
    assert {name: found.by_query(name) for name in names} == {name: expected.by_query(name) for name in names}


def test_depth_is_limited_only_where_it_matters() -> None:
    """A judged document beyond the limit is refused where a measure looks at it, and costs nothing elsewhere."""
    size = MAX_DEPTH + 1
    run = Run.from_columns(["q"] * size, [f"d{i}" for i in range(size)])
    judgments = Judgments.from_columns(["q", "q"], ["d0", f"d{size - 1}"], [1, 1])
    assert mp.score(judgments, run, ["P@10", "nDCG@10"], backend="ranx").mean["P@10"] == 0.1
    with pytest.raises(LimitError, match="handed to ranx"):
        mp.score(judgments, run, ["AP"], backend="ranx")


def test_gains_beyond_what_sums_can_hold_are_refused() -> None:
    """Two gains near the end of double precision would add up to infinity."""
    qrels, run = {"q": {"a": 1001, "b": 1001}}, {"q": ["a", "b"]}
    with pytest.raises(LimitError, match="too large a gain"):
        mp.score(qrels, run, ["nDCG@2"], backend="ranx")
    assert mp.score(qrels, run, ["P@2"], backend="ranx").mean["P@2"] == 1.0
    qrels = {"q": {"a": 1000, "b": 1000}}
    assert mp.score(qrels, run, ["nDCG@2"], backend="ranx").mean["nDCG@2"] == 1.0


def test_the_native_call_is_the_library_as_documented() -> None:
    """native() is evaluate on Qrels and Run: ties as listed, double precision, a missing query counts as 0."""
    judgments = mp.read_qrels({"q": {"A": 1, "B": 0}, "m": {"A": 1}})
    run = mp.read_run({"q": {"B": 1.0, "A": 1.0}})
    assert BRIDGE.native(judgments, run, ["mrr", "ndcg@1"]) == {
        "mrr": {"q": 0.5, "m": 0.0},
        "ndcg@1": {"q": 0.0, "m": 0.0},
    }


THREADS = """
import threading
import metricpact as mp

def work(number):
    qrels = {f"q{n}": {"A": 1, "B": (n + number) % 3} for n in range(30)}
    run = {query: ["U", "A", "B"] for query in qrels}
    for _ in range(40):
        found, expected = (mp.score(qrels, run, ["AP", "nDCG@3"], backend=name).mean for name in ("ranx", "reference"))
        answers.append(max(abs(found[name] - expected[name]) for name in ("AP", "nDCG@3")))

answers = []
threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(answers), max(answers) < 1e-12)
"""


def test_threads_take_turns() -> None:
    """ranx's parallel functions end the whole process when two threads are inside them at once."""
    assert run(THREADS).stdout == "160 True\n"


def test_the_native_call_needs_scores() -> None:
    """A list of ids is no run of ranx's."""
    with pytest.raises(UnsupportedError, match="scores"):
        BRIDGE.native(mp.read_qrels({"q": {"A": 1}}), mp.read_run({"q": ["A"]}), ["mrr"])


SCORED = """
import metricpact as mp
print(mp.score({"q": {"A": 1}}, {"q": ["B", "A"]}, ["P@2", "P@1"], backend="ranx").mean["P@2"])
"""


def run(code: str, **environment: str) -> Any:
    """What a fresh process prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


def test_compilation_is_announced_once_and_only_where_it_happens(tmp_path: Path) -> None:
    """With an empty cache one line says that ranx is compiled; with that cache the next process says nothing."""
    cold, warm = (run(SCORED, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2))
    assert cold.stdout == warm.stdout == "0.5\n"
    assert [line for line in cold.stderr.splitlines() if "compiling ranx" in line] == cold.stderr.splitlines()[-1:]
    assert "compiling ranx" not in warm.stderr
    assert list(tmp_path.rglob("*.nbi"))


UNWRITABLE = """
import numba.core.caching as caching
def unwritable(self):
    raise OSError("read-only")
for locator in (caching.InTreeCacheLocator, caching.UserWideCacheLocator):
    locator.ensure_cache_path = unwritable
"""


def test_where_nothing_can_be_cached_ranx_is_compiled_all_the_same() -> None:
    """numba refuses to define cached functions where it can write no cache; the process then has one of its own."""
    environment = {"NUMBA_CACHE_DIR": ""}
    assert run(UNWRITABLE + SCORED, **environment).stdout == "0.5\n"
