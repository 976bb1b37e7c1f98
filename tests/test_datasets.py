"""Data sets of ir_datasets: real loaders over files laid into IR_DATASETS_HOME, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ir_datasets")

CRANFIELD = "1 184 1\n1 29 3\n1 31 -1\n2 12 4\n"
RUN = "1 Q0 184 1 2.0 t\n1 Q0 29 2 1.0 t\n2 Q0 12 1 1.0 t\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A filled IR_DATASETS_HOME: the judgments of two collections where its cache looks for them."""
    for name, text in {
        "cranfield/qrels.txt": CRANFIELD,
        "beir/scifact/test.qrels": "query-id\tcorpus-id\tscore\n1\t31715818\t1\n3\t14717500\t1\n",
    }.items():
        path = tmp_path / "home" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    (tmp_path / "run.txt").write_text(RUN)
    return tmp_path / "home"


def python(home: Path, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A process that finds the data sets of a home, and gives up at once where it would fetch one."""
    environment = {
        **os.environ,
        "IR_DATASETS_HOME": str(home),
        "IR_DATASETS_DL_TRIES": "1",
        "IR_DATASETS_DL_TIMEOUT": "5",
        # No proxy listens there: the same answer with and without a network.
        **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9"),
        "NO_PROXY": "",
        "no_proxy": "",
    }
    return subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=cwd, capture_output=True, text=True, check=False, timeout=100
    )


def test_an_id_stands_in_place_of_qrels(home: Path, tmp_path: Path) -> None:
    """The score is that of the file laid into the cache; codes that run the wrong way are told."""
    done = python(
        home, "-m", "metricpact", "score", "cranfield", "run.txt", "RR", "nDCG@10", "-o", "json",
        "--set", "negative_grade=nonrelevant", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert {row["measure"]: row["mean"] for row in document["measures"]}["RR"] == 1.0
    assert document["queries"]["judged"] == 2
    assert "1 is the best and 4 the least" in done.stderr
    assert "grades below 0 (-1)" in done.stderr
    assert document["inputs"]["qrels"]["notes"][0].startswith("codes run against the contract")


def test_the_data_set_that_ir_datasets_labels_the_wrong_way_round_is_still_so(home: Path) -> None:
    """Our labels of Cranfield override the library's only while these contradict the collection's own."""
    code = (
        "import ir_datasets; print(ir_datasets.load('cranfield').qrels_defs()[4])\n"
        "from metricpact.cli import main; main(['explain', 'cranfield'])"
    )
    done = python(home, "-c", code)
    assert done.returncode == 0
    assert done.stdout.startswith("References which are a complete answer")
    assert "grade   1  References which are a complete answer" in done.stdout
    assert "note: codes run against the contract" in done.stdout


def test_grades_that_are_labelled_as_not_relevant_are_told(home: Path) -> None:
    """TREC DL's passages of grade 1 do not answer the query, and count as relevant by default."""
    done = python(home, "-m", "metricpact", "explain", "msmarco-passage/trec-dl-2019")
    assert "grade   3  Perfectly relevant" in done.stdout
    assert "note: grade 1 means" in done.stdout
    assert done.stdout.count("note:") == 1


def test_an_audit_shows_what_the_grades_mean(home: Path, tmp_path: Path) -> None:
    """The labels of the data set stand beside the numbers that its codes make."""
    done = python(
        home, "-m", "metricpact", "audit", "cranfield", "run.txt", "RR", "--no-native", "-o", "json",
        "--set", "negative_grade=nonrelevant", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "grade 1: References which are a complete answer" in done.stderr
    assert "note: cranfield: codes run against the contract" in done.stderr


OBJECTS = """
import warnings
import ir_datasets
import metricpact as mp

loaded = ir_datasets.load("cranfield")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    by_id = mp.read_qrels("cranfield")
    by_prefix = mp.read_qrels("ir_datasets:cranfield")
    by_format = mp.read_qrels("cranfield", format="ir_datasets")
    by_object = mp.read_qrels(loaded)
assert {str(warning.category.__name__) for warning in caught} == {"InputWarning"}, caught
by_rows = mp.read_qrels(loaded.qrels_iter())
made = mp.read_qrels(ir_datasets.create_dataset(qrels_trec="made.qrels"))
try:
    mp.read_qrels(ir_datasets.create_dataset(queries_tsv="made.qrels"))
except mp.MetricpactError as error:
    assert "has no judgments" in error.fact
else:
    raise AssertionError("a data set without judgments gave some")
for found in (by_id, by_prefix, by_format, by_object, by_rows, made):
    assert found.to_polars().rows() == by_id.to_polars().rows()
print(by_id.to_polars().rows())
"""


def test_ids_objects_and_rows_are_the_same_judgments(home: Path, tmp_path: Path) -> None:
    """By id, by object, by its rows, and by a data set that was made from a file."""
    rows = [line.split() for line in CRANFIELD.splitlines()]
    (tmp_path / "made.qrels").write_text("".join(f"{query} 0 {doc} {grade}\n" for query, doc, grade in rows))
    done = python(home, "-c", OBJECTS, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str([(query, doc, int(grade)) for query, doc, grade in rows])


def test_a_beir_data_set(home: Path, tmp_path: Path) -> None:
    """An id of several parts, with no word about grades."""
    (tmp_path / "run.txt").write_text("1 Q0 31715818 1 1.0 t\n")
    done = python(home, "-m", "metricpact", "score", "beir/scifact/test", "run.txt", "R@10", "-o", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["measures"][0]["mean"] == 0.5


def test_a_path_wins_over_an_id(home: Path, tmp_path: Path) -> None:
    """A file of that name is what it is; the prefix asks for the data set."""
    (tmp_path / "cranfield").write_text("1 0 184 0\n1 0 29 1\n")
    code = (
        "import metricpact as mp; print(*(len(mp.read_qrels(name)) for name in ('cranfield', 'ir_datasets:cranfield')))"
    )
    assert python(home, "-W", "ignore", "-c", code, cwd=tmp_path).stdout == "2 4\n"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("vaswani", "ir_datasets cannot give its judgments"),
        ("beir/scifact", "such as beir/scifact/test"),
        ("beir/scifakt/test", "near ids: beir/scifact/test"),
        ("nothing-of-the-kind", "there is no such file"),
    ],
)
def test_what_cannot_be_had_is_said(home: Path, tmp_path: Path, name: str, said: str) -> None:
    """Without a network, without judgments, without such a name: a fact and a hint, and no traceback."""
    done = python(home, "-m", "metricpact", "score", name, "run.txt", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert f"error: {name}: " in done.stderr
    assert said in done.stderr
    assert "hint: " in done.stderr
    assert "Traceback" not in done.stderr


def test_without_ir_datasets_a_missing_file_is_a_missing_file(tmp_path: Path) -> None:
    """The library is an extra: a wrong path is told as one, an id as what it needs."""
    code = (
        "import sys; sys.modules['ir_datasets'] = None\n"
        "import metricpact as mp\n"
        "for name in ('nothing.txt', 'ir_datasets:vaswani'):\n"
        "    try: mp.read_qrels(name)\n"
        "    except mp.MetricpactError as error: print(type(error).__name__, error.fact, error.hint)\n"
    )
    first, second = python(tmp_path, "-c", code).stdout.splitlines()
    assert first.startswith("InputError nothing.txt: there is no such file")
    assert second.startswith("DependencyError")
    assert "metricpact[datasets]" in first
    assert "metricpact[datasets]" in second
