"""What must not matter to any installed backend: the order of measures and queries, the names of documents, what
lies beyond the cutoff, the hash seed, what was scored before and what is scored besides.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import metricpact as mp
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from metricpact.bridges.plan import Plan
from metricpact.bridges.registry import get_bridge, installed_backends
from metricpact.cli import main
from metricpact.contracts.contract import Contract
from metricpact.contracts.measures import parse_measure

BACKENDS = installed_backends()
FIELDS: list[dict[str, Any]] = [
    {},
    {"gain": "linear", "unjudged": "removed", "negative_grade": "nonrelevant"},
    {"ideal": "returned", "recall_denominator": "capped", "ap_denominator": "hits"},
    {"precision_denominator": "returned", "threshold": 2, "ap_denominator": "capped", "ideal_depth": "full"},
    {"gain": {1: 0.5, 2: 1.25}},
    {"discount": "jk", "ideal_depth": "full"},
]
CUT = ["P@1", "P@3", "P@10", "R@3", "RR@2", "AP@3", "nDCG@3", "nDCG@10", "DCG@3", "Success@2", "Judged@3"]
UNCUT = ["R", "RR", "AP", "nDCG", "DCG", "IDCG", "Rprec", "SetP", "SetR", "SetF", "Bpref", "Judged"]
PARAMETERS = [
    "P(rel=2)@3",
    "Bpref(rel=2)",
    "SetF(beta=2)",
    "SetF(beta=0.5)",
    "nDCG(dcg='log2')@3",
    "nDCG(gains={0:0,1:0,2:1})@3",
    "nDCG(gains={0:0,1:5,2:1})@3",
]

Grades = dict[str, dict[str, int]]
Rankings = dict[str, dict[str, float]]
chances = st.randoms(use_true_random=False)
any_fields = st.sampled_from(FIELDS)


def each_backend(test: Callable[..., None]) -> Callable[..., None]:
    """The test on every installed backend."""
    return pytest.mark.parametrize("backend", BACKENDS)(test)


def some(examples: int) -> settings:
    """So many examples, however long the first takes to load a library; inputs are small and are not made smaller."""
    return settings(max_examples=examples, deadline=None, derandomize=True, phases=[Phase.generate])


def supported(backend: str, fields: dict[str, Any], names: list[str]) -> list[str]:
    """The measures that the backend gives under the contract."""
    bridge, contract = get_bridge(backend), Contract().replace(**fields)
    return [name for name in names if isinstance(bridge.plan(parse_measure(name), contract), Plan)]


def drawn(chance: random.Random) -> tuple[Grades, Rankings]:
    """Judgments and a run: ties, unjudged and unreturned documents, missing and extra queries, empty rankings."""
    grades: Grades = {}
    rankings: Rankings = {}
    for number in range(chance.randint(1, 12)):
        query, docs = f"q{number}", [f"d{doc}" for doc in range(14)]
        if number == 0 or chance.random() < 0.9:
            grades[query] = {doc: chance.choice([0, 0, 1, 1, 2, 3]) for doc in docs if chance.random() < 0.5}
        if number == 0 or chance.random() < 0.9:
            returned = chance.sample(docs, chance.choice([0, 1, 2, 5, 12, 14]))
            rankings[query] = {doc: float(chance.randint(0, 9)) for doc in returned}
    return grades, rankings


def scored(
    grades: Grades, rankings: Rankings, names: list[str], backend: str, fields: dict[str, Any]
) -> dict[str, tuple[dict[str, float | None], float | None]]:
    """Measure → the values by query, and the mean."""
    scores = mp.score(grades, rankings, names, backend=backend, set=fields)
    return {name: (scores.by_query(name), scores.mean[name].value) for name in names}


@each_backend
@some(20)
@given(chances, any_fields)
def test_the_order_and_the_company_of_measures(backend: str, chance: random.Random, fields: dict[str, Any]) -> None:
    """A measure has one value, alone or among others, wherever it stands."""
    grades, rankings = drawn(chance)
    names = supported(backend, fields, [*CUT, *UNCUT, *PARAMETERS])
    together = scored(grades, rankings, names, backend, fields)
    shuffled = chance.sample(names, len(names))
    assert scored(grades, rankings, shuffled, backend, fields) == together
    for name in chance.sample(names, min(4, len(names))):
        assert scored(grades, rankings, [name], backend, fields) == {name: together[name]}


@each_backend
@some(20)
@given(chances, any_fields)
def test_the_order_of_queries(backend: str, chance: random.Random, fields: dict[str, Any]) -> None:
    """Judgments and run list their queries in any order, and mixed."""
    grades, rankings = drawn(chance)
    names = supported(backend, fields, [*CUT, *UNCUT])
    expected = scored(grades, rankings, names, backend, fields)
    moved = {query: grades[query] for query in chance.sample(list(grades), len(grades))}
    turned = {query: rankings[query] for query in chance.sample(list(rankings), len(rankings))}
    found = scored(moved, turned, names, backend, fields)
    for name in names:
        assert found[name][0] == expected[name][0]
        means = [found[name][1], expected[name][1]]
        assert means.count(None) in (0, 2)
        assert abs((means[0] or 0.0) - (means[1] or 0.0)) <= 1e-15 * max(1.0, means[0] or 0.0)  # a sum has an order


@each_backend
@some(20)
@given(chances, any_fields)
def test_the_names_of_documents(backend: str, chance: random.Random, fields: dict[str, Any]) -> None:
    """Other ids for the same documents, of any length and letters, change nothing where ties are as given."""
    grades, rankings = drawn(chance)
    names = supported(backend, fields, [*CUT, *UNCUT])
    fresh = ["0", "-1", "1", "2", "10", "é", "😀", "x y", "no query", "zz" * 40, "a", "Z", "\u200b", "1.5"]
    other = dict(zip((f"d{doc}" for doc in range(14)), chance.sample(fresh, len(fresh)), strict=True))
    renamed = {query: {other[doc]: grade for doc, grade in docs.items()} for query, docs in grades.items()}
    reranked = {query: {other[doc]: score for doc, score in docs.items()} for query, docs in rankings.items()}
    expected = scored(grades, rankings, names, backend, fields)
    assert scored(renamed, reranked, names, backend, fields) == expected


@each_backend
@some(20)
@given(chances)
def test_documents_beyond_the_cutoff(backend: str, chance: random.Random) -> None:
    """What a ranking holds below the cutoff does not reach a measure at that cutoff: unjudged, judged or nothing."""
    grades, rankings = drawn(chance)
    for cutoff in (1, 3):
        names = [f"{name}@{cutoff}" for name in ("P", "R", "RR", "AP", "nDCG", "DCG", "IDCG", "Success", "Judged")]
        names = supported(backend, {}, names)
        expected = scored(grades, rankings, names, backend, {})
        ordered = {query: sorted(docs, key=lambda doc, d=docs: -d[doc]) for query, docs in rankings.items()}
        cut = {query: {doc: rankings[query][doc] for doc in docs[:cutoff]} for query, docs in ordered.items()}
        assert scored(grades, cut, names, backend, {}) == expected
        judged = [f"d{doc}" for doc in range(14)]
        deeper = {
            query: docs
            | {doc: -1.0 for doc in judged if doc not in docs and len(docs) >= cutoff}
            | {f"u{number}": -2.0 for number in range(20) if len(docs) >= cutoff}
            for query, docs in cut.items()
        }
        assert scored(grades, deeper, names, backend, {}) == expected


@each_backend
@some(15)
@given(chances, any_fields)
def test_what_was_scored_before(backend: str, chance: random.Random, fields: dict[str, Any]) -> None:
    """The same call gives the same numbers again, with another in between, and changes nothing that it is given."""
    grades, rankings = drawn(chance)
    names = supported(backend, fields, [*CUT, *UNCUT, *PARAMETERS])
    before = json.dumps([grades, rankings])
    first = scored(grades, rankings, names, backend, fields)
    between = drawn(chance)
    scored(*between, supported(backend, {}, UNCUT), backend, {})
    assert scored(grades, rankings, names, backend, fields) == first
    assert json.dumps([grades, rankings]) == before


def write(path: Path, rows: list[str]) -> str:
    """The path of a file with these lines."""
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return str(path)


@each_backend
def test_several_runs_in_one_call(backend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run has the numbers that it has alone, first, last or in the middle of others."""
    chance = random.Random(7)
    drawings = [drawn(chance) for _ in range(4)]
    grades = max((one for one, _ in drawings), key=len)
    qrels = write(
        tmp_path / "qrels.txt", [f"{q} 0 {doc} {grade}" for q, docs in grades.items() for doc, grade in docs.items()]
    )
    runs = []
    for number, (_, rankings) in enumerate(drawings):
        ordered = {query: sorted(docs.items(), key=lambda item: -item[1]) for query, docs in rankings.items()}
        rows = [
            f"{q} Q0 {doc} {rank} {score} t"
            for q, docs in ordered.items()
            for rank, (doc, score) in enumerate(docs, start=1)
        ]
        runs.append(write(tmp_path / f"run{number}.txt", rows))
    names = supported(backend, {}, [*CUT, *UNCUT])

    def printed(*chosen: str) -> list[dict[str, Any]]:
        with pytest.raises(SystemExit) as ended:
            main(["score", qrels, *chosen, *names, "--backend", backend, "-o", "jsonl", "-q", "--quiet"])
        assert ended.value.code == 0
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    alone = [printed(run) for run in runs]
    assert all(len(rows) >= len(names) for rows in alone)
    assert len({json.dumps(rows) for rows in alone}) > 1
    assert printed(*runs) == [row for rows in alone for row in rows]
    assert printed(*reversed(runs)) == [row for rows in reversed(alone) for row in rows]


HASHED = """
import sys
sys.path.insert(0, {folder!r})
import random
from test_backends_property import BACKENDS, CUT, FIELDS, PARAMETERS, UNCUT, drawn, scored, supported
chance = random.Random(11)
inputs = [drawn(chance) for _ in range(4)]
for backend in BACKENDS:
    for fields in FIELDS:
        names = supported(backend, fields, [*CUT, *UNCUT, *PARAMETERS])
        for grades, rankings in inputs:
            print(backend, fields, scored(grades, rankings, names, backend, fields))
"""


@pytest.mark.slow
def test_the_hash_seed() -> None:
    """Ten processes with hash seeds 0 to 9 print the same numbers for every backend, gain tables side by side."""
    code = HASHED.format(folder=str(Path(__file__).parent))
    outputs = {}
    for seed in range(10):
        environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
        )
        assert (seed, done.returncode, done.stderr) == (seed, 0, done.stderr if done.returncode == 0 else "")
        outputs[seed] = done.stdout
    assert len(outputs[0].splitlines()) == len(BACKENDS) * len(FIELDS) * 4
    assert {seed for seed, text in outputs.items() if text != outputs[0]} == set()
