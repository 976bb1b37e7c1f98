"""Coverage on real data: HotpotQA with a BM25 run, StrategyQA's alternative groups, Climate-FEVER."""

from __future__ import annotations

import json
from pathlib import Path

import metricpact as mp
import polars as pl
import pytest
from metricpact.bridges.evidence.tasks import read_tasks

DATA = Path(__file__).resolve().parents[2] / "shared/data"
HOTPOT, STRATEGY = DATA / "derived/hotpot100.bundles.jsonl", DATA / "derived/strategyqa_dev.bundles.jsonl"
pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the shared data is not beside this checkout")


def by_rule(coverage: object) -> dict[str, tuple[int, int]]:
    """Covered and n of each rule."""
    frame: pl.DataFrame = coverage.rules  # type: ignore[attr-defined]
    return {name: (covered, n) for name, covered, n in frame.select("rule", "covered", "n").rows()}


def test_hotpot_all_documents_within_five_and_any() -> None:
    """All required documents within five: .56; any of them: 1.00; other cutoffs by a plain count over lines."""
    run = DATA / "derived/hotpot100.bm25s.run"
    result = mp.coverage(HOTPOT, run, k=5)
    assert by_rule(result)["exact"] == by_rule(result)["document"] == by_rule(result)["all-documents"] == (56, 100)
    assert by_rule(result)["any-document"] == (100, 100)
    # The same by hand: read the files, cut, and look.
    rankings: dict[str, list[str]] = {}
    for line in run.read_text(encoding="utf-8").splitlines():
        query, _, document, *_ = line.split()
        rankings.setdefault(query, []).append(document)
    tasks = [json.loads(line) for line in HOTPOT.read_text(encoding="utf-8").splitlines()]
    for k in (2, 5, 10):
        whole = sum(set(one["groups"][0]) <= set(rankings[one["query_id"]][:k]) for one in tasks)
        assert mp.coverage(HOTPOT, run, k=k).tasks["covered"].sum() == whole


def test_the_original_hotpot_file_gives_the_same() -> None:
    """--format hotpotqa on the data set's own file, ids written as TREC files must."""
    original = DATA / "hipporag_multihop/data/hotpotqa_train.json"
    run = DATA / "derived/hotpot100.bm25s.run"
    result = mp.coverage(original, run, k=5, format="hotpotqa", underscores=True)
    assert by_rule(result)["exact"] == (56, 100)


def test_sentences_of_hotpot_are_spans_of_the_corpus() -> None:
    """Every supporting sentence is found at its span in the corpus file, so that the paragraphs cover all of them."""
    original = DATA / "hipporag_multihop/data/hotpotqa_train.json"
    corpus = json.loads((DATA / "hipporag_multihop/data/hotpotqa_train_corpus.json").read_text(encoding="utf-8"))
    tasks = read_tasks(original, format="hotpotqa-sentences")
    assert tasks.anchors.height == 229
    for document, start, end, text in tasks.anchors.select("document", "start", "end", "text").rows():
        assert "".join(corpus[document])[start:end] == text


def test_strategyqa_alternatives_are_read_and_scored() -> None:
    """Each annotator's paragraphs are an accepted bundle: one of them whole covers, one of them short may not."""
    tasks = [json.loads(line) for line in STRATEGY.read_text(encoding="utf-8").splitlines()]
    assert len(tasks) == 229
    last = {one["query_id"]: [{"document": paragraph} for paragraph in one["groups"][-1]] for one in tasks}
    given = mp.coverage(STRATEGY, last)
    assert given.tasks["covered"].sum() == 229
    assert by_rule(given)["all-documents"][0] == sum(
        {p for group in one["groups"] for p in group} == set(one["groups"][-1]) for one in tasks
    )
    lacking = {task: units[1:] for task, units in last.items()}
    covered = sum(
        any(set(group) <= {unit["document"] for unit in lacking[one["query_id"]]} for group in one["groups"])
        for one in tasks
    )
    assert mp.coverage(STRATEGY, lacking).tasks["covered"].sum() == covered < 229


def test_strategyqa_from_its_own_file() -> None:
    """--format strategyqa gives the groups of the derived file."""
    own = read_tasks(DATA / "strategyqa/data/strategyqa/dev.json", format="strategyqa").anchors
    derived = read_tasks(STRATEGY).anchors

    def groups(frame: pl.DataFrame) -> set[tuple[int, tuple[str, ...]]]:
        by_bundle = frame.group_by("task", "bundle").agg(pl.col("document").sort())
        return {(task, tuple(documents)) for task, documents in by_bundle.select("task", "document").rows()}

    assert groups(own) == groups(derived)


def test_climate_fever_claims_with_evidence_of_their_own_label() -> None:
    """Claims that are supported or refuted have a bundle a sentence; the others are told and are no tasks."""
    path = DATA / "climate_fever/dataset/climate-fever.jsonl"
    claims = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    decided = [one for one in claims if one["claim_label"] in ("SUPPORTS", "REFUTES")]
    tasks = read_tasks(path, format="fever-sentences")
    assert len(tasks) == len(decided) == 907
    assert tasks.notes == (f"{len(claims) - 907} of {len(claims)} records state no evidence and are no tasks",)
