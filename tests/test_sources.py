"""Sources: BEIR files and folders, JSON, Python objects, and what is told when they are not what they should be."""

from __future__ import annotations

import collections
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import metricpact as mp
import numpy as np
import pytest
from metricpact.contracts.errors import InputError
from metricpact.contracts.tables import Judgments, Run

QREL = collections.namedtuple("QREL", "query_id doc_id relevance iteration")
SCORED = collections.namedtuple("SCORED", "query_id doc_id score")
RUN = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 1.0}}


def rows(judgments: Judgments) -> list[tuple[object, ...]]:
    """The rows of judgments."""
    return judgments.to_polars().rows()


EXPECTED = [("q1", "a", 1), ("q1", "b", 0), ("q2", "c", 2)]


@pytest.mark.parametrize(
    "text",
    [
        "query-id\tcorpus-id\tscore\nq1\ta\t1\nq1\tb\t0\nq2\tc\t2\n",
        "q1\ta\t1\nq1\tb\t0\nq2\tc\t2\n",
        "q1\ta\t1\nq1\tb\t0\nq2\tc\t2",
        "query_id\tdoc_id\trelevance\r\nq1\ta\t1\r\nq1\tb\t0\r\nq2\tc\t2\r\n",
        "\ufeffquery-id\tcorpus-id\tscore\n\nq1\ta\t1\n\nq1\tb\t0\nq2\tc\t2\n\n",
        "q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n",
        "q1\t0\ta\t1\nq1\t0\tb\t0.0\nq2\t0\tc\t2\n",
        '{"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}',
    ],
)
def test_judgments_are_known_by_their_content(tmp_path: Path, text: str) -> None:
    """BEIR TSV with and without a header, TREC qrels and JSON are told apart."""
    path = tmp_path / "judgments"
    path.write_text(text, encoding="utf-8", newline="")
    assert rows(mp.read_qrels(path)) == EXPECTED
    packed = tmp_path / "judgments.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert rows(mp.read_qrels(packed)) == EXPECTED


def test_ids_in_a_beir_file_may_hold_blanks_and_quotes(tmp_path: Path) -> None:
    """Only tabs separate there: nothing inside an id is interpreted."""
    path = tmp_path / "test.tsv"
    path.write_text('query-id\tcorpus-id\tscore\nq "1\ta b\t1\n#2\t c\t0\n', encoding="utf-8")
    assert rows(mp.read_qrels(path)) == [('q "1', "a b", 1), ("#2", " c", 0)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A BEIR folder with two splits."""
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\t1\nq1\tb\t0\nq2\tc\t2\n")
    (tmp_path / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\t1\n")
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1"}\n{"_id": "q2"}\n')
    return tmp_path


def test_a_beir_folder_stands_for_its_test_split(folder: Path) -> None:
    """A folder in place of qrels means qrels/test.tsv, and --split another one."""
    assert rows(mp.read_qrels(folder)) == EXPECTED
    assert rows(mp.read_qrels(folder, split="dev")) == EXPECTED[:1]
    with pytest.raises(InputError, match="'train'") as caught:
        mp.read_qrels(folder, split="train")
    assert "dev, test" in caught.value.hint


def test_beir_folders_that_hold_something_else_are_told(folder: Path) -> None:
    """Four columns, a header only, a header of unknown names, a folder without qrels: said, not guessed."""
    path = folder / "qrels" / "test.tsv"
    for text, said in [
        ("q1\ta\ta\t1\n", "4 columns"),
        ("query-id\tcorpus-id\tscore\n", "no row"),
        ("frage\tdokument\tnote\nq1\ta\t1\n", "not a number"),
        ("q1\ta\n", "2 columns"),
        ("", "empty"),
    ]:
        path.write_text(text)
        with pytest.raises(InputError, match=said) as caught:
            mp.read_qrels(folder)
        assert caught.value.source == str(path)
    path.write_text("q1\ta\ta\t1\n")
    assert rows(mp.read_qrels(folder, format="trec")) == [("q1", "a", 1)]
    with pytest.raises(InputError, match="no BEIR folder"):
        mp.read_qrels(folder / "qrels")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ('{"q": 3}', "neither an object nor a list"),
        ('{"q": {"a": "1"}}', "not a number"),
        ('{"q": {"a": NaN}}', "not a finite number"),
        ('{"q": {"a": null}}', "missing"),
        ('{"q": ["a"]}', "without grades"),
        ('{"": {"a": 1}}', "empty"),
        ('{"q": {"": 1}}', "empty"),
        ('{"q": {"a": 1}} x', "not JSON"),
        ('{"q": {"\\ud800": 1}}', "Unicode"),
        ("{" * 100_000, "not JSON"),
    ],
)
def test_faulty_json_is_refused(tmp_path: Path, text: str, said: str) -> None:
    """Every fault in a JSON file is an input error that names the file."""
    path = tmp_path / "qrels.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said) as caught:
        mp.read_qrels(path)
    assert caught.value.source == str(path)


def test_a_key_that_stands_twice_in_json_does_not_vanish(tmp_path: Path) -> None:
    """A JSON parser keeps the last of two equal keys; here both reach the contract, which refuses."""
    qrels, run = tmp_path / "qrels.json", tmp_path / "run.json"
    qrels.write_text('{"q": {"a": 1, "a": 0}}')
    run.write_text('{"q": {"a": 1.0}, "q": {"b": 2.0, "a": 3.0}}')
    with pytest.raises(InputError, match="judged twice"):
        mp.score(qrels, RUN | {"q": {"a": 1}}, ["P@1"])
    with pytest.raises(InputError, match="returned twice"):
        mp.score({"q": {"a": 1}}, run, ["P@1"])
    assert mp.score({"q": {"a": 1}}, run, ["RR"], set={"duplicate": "last"}).mean["RR"] == 1.0
    assert mp.score({"q": {"a": 1}}, run, ["RR"], set={"duplicate": "first"}).mean["RR"] == 0.5


def test_json_runs_with_and_without_scores(tmp_path: Path) -> None:
    """Objects carry scores, lists are rankings as given; mixing the two is refused."""
    path = tmp_path / "run.json"
    path.write_text('{"q1": ["b", "a"], "q2": []}')
    run = mp.read_run(path)
    assert run.to_polars().rows() == [("q1", "b", None, None), ("q1", "a", None, None)]
    assert list(run.queries) == ["q1", "q2"]
    path.write_text('{"q1": ["b", "a"], "q2": {"a": 1}}')
    with pytest.raises(InputError, match="some rankings have scores"):
        mp.read_run(path)


def test_python_objects() -> None:
    """Dicts, lists, named tuples, a generator that can be read once, numpy scalars and booleans all score alike."""
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
    tuples = [QREL(query, doc, grade, "0") for query, docs in qrels.items() for doc, grade in docs.items()]

    def once() -> Iterator[SCORED]:
        for query, docs in RUN.items():
            for doc, value in docs.items():
                yield SCORED(query, doc, value)

    expected = mp.score(qrels, RUN, ["nDCG@2", "AP"]).to_document(by_query=True)["per_query"]
    numpy_qrels = {query: {doc: np.int64(grade) for doc, grade in docs.items()} for query, docs in qrels.items()}
    numpy_run = {query: {doc: np.float32(value) for doc, value in docs.items()} for query, docs in RUN.items()}
    lists = {query: list(docs) for query, docs in RUN.items()}
    for judgments, run in [
        (tuples, RUN),
        (iter(tuples), once()),
        (numpy_qrels, numpy_run),
        (qrels, lists),
        (qrels, {query: iter(docs) for query, docs in lists.items()}),
    ]:
        assert mp.score(judgments, run, ["nDCG@2", "AP"]).to_document(by_query=True)["per_query"] == expected
    assert mp.score({"q": {"a": True, "b": False}}, {"q": {"a": True}}, ["P@1"]).mean["P@1"] == 1.0


def test_nothing_passed_in_is_changed() -> None:
    """The caller's objects are as they were."""
    qrels, run = {"q1": {"a": 1, "b": 0}, "q3": {}}, {"q1": {"b": 1.0, "a": 1.0}, "q9": {"z": 3.0}}
    before = json.dumps([qrels, run])
    for backend in ("reference", "pytrec_eval"):
        mp.score(
            qrels, run, ["nDCG@2", "P@1"], contract="trec_eval-9.0.8", backend=backend, set={"self_match": "remove"}
        )
    assert json.dumps([qrels, run]) == before
    scores = np.array([2.0, 1.0])
    Run.from_columns(["q", "q"], ["a", "b"], scores)
    scores[0] = 0.0  # the caller's array stays writable


@pytest.mark.parametrize(
    ("qrels", "run", "said"),
    [
        ({1: {"a": 1}}, {"q": {"a": 1}}, "is not text"),
        ({"q": {7: 1}}, {"q": {"a": 1}}, "is not text"),
        ({"q": {"a": "1"}}, {"q": {"a": 1}}, "not a number"),
        ({"q": {"a": None}}, {"q": {"a": 1}}, "missing"),
        ({"q": ["a"]}, {"q": {"a": 1}}, "without grades"),
        ({"q": {"a": 1}}, {"q": {"a": None}}, "missing"),
        ({"q": {"a": 1}}, {"q": {"a", "b"}}, "no list"),
        ({"q": {"a": 1}}, {"q": {"a": float("nan")}}, "not a finite number"),
        ({"q": {"a": 1}}, {"q": {"a": 10**400}}, "double precision"),
        ({"q": {"a": 1}}, {"q": {"a": 1j}}, "not a number"),
        ({"q": {"a": 1}}, {"q": [1, 2]}, "is not text"),
        ({"q": {"a": 1}}, {"q": "ab"}, "no list"),
        ({"q": {"a": 1}}, {"q": 3}, "no list"),
        ({"q": {"a": 1}}, [("q", "a", 1.0)], "no query_id"),
        ({"q": {"a": 1}}, 3, "cannot be read"),
        ({"q": {"a": 1}}, {"": {"a": 1}}, "empty"),
        ({}, {"q": {"a": 1}}, "no query is judged"),
        ({"q": {"a": 1}}, {"p": {"a": 1}}, "mismatched labels"),
        ({"q": {"a": 0.5}}, {"q": {"a": 1}}, "not an integer"),
        ({"q": {"\ud800": 1}}, {"q": {"a": 1}}, "Unicode"),
    ],
)
def test_faulty_objects_are_refused(qrels: object, run: object, said: str) -> None:
    """A fact and a hint for every kind of faulty object, never a traceback from inside."""
    with pytest.raises(InputError, match=said):
        mp.score(qrels, run, ["P@1"])


def test_an_empty_run_is_a_run_that_missed_everything() -> None:
    """Nothing returned at all is scored, and counted as missing."""
    scores = mp.score({"q": {"a": 1}, "z": {"b": 0}}, {}, ["R@5", "P@5", "Judged@5"])
    assert scores.by_query("R@5") == {"q": 0.0, "z": None}
    assert scores.by_query("P@5") == {"q": 0.0, "z": 0.0}
    assert scores.reasons("Judged@5") == {"q": "nothing-returned", "z": "nothing-returned"}
    assert scores.mean["R@5"].missing == 2
    assert scores.mean["Judged@5"].value is None


def test_fractional_grades_need_a_gain_table() -> None:
    """A table that lists a fractional grade admits it, for the measures that it is given to."""
    qrels, run = {"q": {"a": 0.5, "b": 1}}, {"q": ["a", "b"]}
    for backend in ("reference", "pytrec_eval"):
        scores = mp.score(qrels, run, ["nDCG(gains={0.5:0.5,1:1})@2"], backend=backend)
        assert scores.mean["nDCG(gains={0.5:0.5,1:1})@2"] == pytest.approx(
            (0.5 + 1 / np.log2(3)) / (1 + 0.5 / np.log2(3)), abs=1e-12
        )
        with pytest.raises(InputError, match="not an integer"):
            mp.score(qrels, run, ["nDCG(gains={0.5:0.5,1:1})@2", "nDCG@2"], backend=backend)
