"""``metricpact score`` with ``--bounds`` and ``--tie-bounds`` as a user types it: every output, and wrong flags."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
from metricpact.cli import _run
from metricpact.contracts.bounds.values import SCOPE
from pytest import approx

# The chapter's ranking, and one whose first two documents are tied; z is not in the run, n has nothing relevant.
QRELS = "q 0 A 2\nq 0 B 1\nq 0 N 0\nt 0 C 1\nt 0 D 0\nz 0 E 1\nn 0 F 0\n"
RUN = "q Q0 B 1 3 r\nq Q0 U 2 2 r\nq Q0 A 3 1 r\nt Q0 C 1 5 r\nt Q0 D 2 5 r\nn Q0 F 1 1 r\n"
BEST = (1 + 3 / math.log2(3) + 3 / 2) / (3 + 3 / math.log2(3) + 1 / 2)


class Printed(NamedTuple):
    """What a command left behind."""

    code: int
    out: bytes
    err: str

    def json(self) -> Any:
        """The output as JSON."""
        return json.loads(self.out)


@pytest.fixture
def score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Any:
    """The command on the two files, in their folder."""
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, runs: tuple[str, ...] = ("run",)) -> Printed:
        code = _run(["score", "qrels", *runs, *arguments], debug=False)
        out, err = capfdbinary.readouterr()
        return Printed(code, out, err.decode())

    return call


def test_json_has_bounds_for_the_mean_and_by_query(score: Any) -> None:
    """lower, upper and tight; the largest grade beside the mean; the scope once."""
    document = score("P@3", "nDCG@3", "--bounds", "-q", "-o", "json").json()
    assert document["bounds_scope"] == SCOPE
    precision, gain = document["measures"]
    assert precision["bounds"] == approx({"lower": 1 / 4, "upper": 1 / 3, "tight": True, "max_grade": 2})
    assert gain["bounds"]["upper"] == approx((BEST + 1 + 0) / 3)
    rows = {(row["query_id"], row["measure"]): row for row in document["per_query"]}
    assert rows["q", "nDCG@3"]["bounds"] == approx({"lower": 0.68853, "upper": BEST, "tight": True}, abs=5e-6)
    assert rows["n", "nDCG@3"]["bounds"] is None
    assert rows["z", "P@3"]["bounds"] == {"lower": 0.0, "upper": 0.0, "tight": True}
    assert "tie_bounds" not in precision


def test_json_has_tie_bounds(score: Any) -> None:
    """The relevant one of two tied documents is first or second: 1/2, 1 and 3/4."""
    document = score("RR@3", "Bpref", "--tie-bounds", "-q", "-o", "json").json()
    assert "bounds_scope" not in document
    rows = {(row["query_id"], row["measure"]): row for row in document["per_query"]}
    assert rows["t", "RR@3"]["tie_bounds"] == {"lower": 0.5, "upper": 1.0, "expected": 0.75}
    assert rows["t", "Bpref"]["tie_bounds"] == {"lower": 0.0, "upper": 1.0, "expected": 0.5}
    assert rows["n", "RR@3"]["tie_bounds"] is None
    assert document["measures"][0]["tie_bounds"] == approx({"lower": 0.5, "upper": 2 / 3, "expected": 1.75 / 3})


def test_json_without_bounds_is_as_before(score: Any) -> None:
    """No key more."""
    document = score("P@3", "-q", "-o", "json").json()
    assert not {"bounds", "tie_bounds", "bounds_scope"} & {
        *document,
        *document["measures"][0],
        *document["per_query"][0],
    }


def test_lines_of_json(score: Any) -> None:
    """A record a mean and a query, the scope with each mean."""
    lines = [json.loads(line) for line in score("P@3", "--bounds", "-q", "-o", "jsonl").out.splitlines()]
    assert lines[0]["bounds_scope"] == SCOPE
    assert lines[0]["bounds"]["max_grade"] == 2
    assert lines[1]["query_id"] == "q"
    assert lines[1]["bounds"] == approx({"lower": 2 / 3, "upper": 1.0, "tight": True})


def test_columns_for_programs(score: Any) -> None:
    """CSV and Parquet have a column a part, at full precision, with nothing where a value is undefined."""
    flags = ("nDCG@3", "--bounds", "--tie-bounds", "-o")
    frame = pl.read_csv(io.BytesIO(score(*flags, "csv", "-q").out))
    parts = ["lower", "upper", "tight", "tie_lower", "tie_upper", "tie_expected"]
    assert frame.columns[-6:] == parts
    assert frame.filter(query_id="q")["upper"].to_list() == approx([BEST], rel=1e-15)
    assert frame.filter(query_id="n").select(parts).row(0) == (None,) * 6
    means = pl.read_parquet(io.BytesIO(score(*flags, "parquet").out))
    assert means.columns[-8:] == [*parts, "max_grade", "signature"]
    assert means["max_grade"].to_list() == [2.0]


def test_people_read_columns_and_the_scope(score: Any) -> None:
    """Table and Markdown: lower and upper beside the mean, then what holds when."""
    for output in ("table", "markdown"):
        text = score("P@3", "AP@3", "--bounds", "--tie-bounds", "-q", "-o", output).out.decode()
        for word in ("lower", "upper", "tie_lower", "tie_expected", "P@3 upper", "AP@3 tie_lower", SCOPE, "undefined"):
            assert word in text, (output, word)
        assert "tight" not in text, "all are: nothing to tell apart"
    assert "grades up to 4; " in score("nDCG@3", "--bounds", "--max-grade", "4", "-o", "table").out.decode()
    assert "up to 2 in P@3, 3 in P(rel=3)@3" in score("P@3", "P(rel=3)@3", "--bounds", "-o", "table").out.decode()


def test_a_bound_that_is_not_tight_is_said_to_be_so(score: Any, tmp_path: Path) -> None:
    """The column is there where it tells something."""
    with (tmp_path / "qrels").open("a") as file:
        file.write("q 0 X 200000\n")
    flags = ("nDCG@3", "--set", "gain={200000: 2.5}", "--bounds", "--max-grade", "100000")
    assert "tight" in score(*flags, "-o", "table").out.decode()
    assert score(*flags, "-o", "json").json()["measures"][0]["bounds"]["tight"] is False
    (tmp_path / "known").write_text("q Q0 A 1 3 s\nq Q0 B 2 2 s\n")
    text = score(*flags, "-o", "table", runs=("run", "known")).out.decode()
    assert "False" in text, "one run's bounds are tight, the other's are not"
    assert "True" in text


def test_several_runs(score: Any, tmp_path: Path) -> None:
    """Each with its own bounds; the other run returns judged documents only."""
    (tmp_path / "known").write_text("q Q0 A 1 3 s\nq Q0 B 2 2 s\n")
    document = score("P@3", "--bounds", "-o", "json", runs=("run", "known")).json()
    bounds = [run["measures"][0]["bounds"] for run in document["runs"]]
    assert bounds[0]["lower"] < bounds[0]["upper"]
    assert bounds[1]["lower"] == bounds[1]["upper"]
    assert "lower" in score("P@3", "--bounds", "-o", "table", runs=("run", "known")).out.decode()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("P@3", "--max-grade", "3"), "not asked for"),
        (("P@3", "--bounds", "--max-grade", "x"), "not a valid integer"),
        (("P@3", "--bounds", "--max-grade", "-2"), "not a grade"),
        (("P@3", "--bounds", "--max-grade", "0"), "below the threshold"),
        (("P@3", "--bounds", "-o", "trec"), "no place for bounds"),
        (("P@3", "--tie-bounds", "-o", "trec"), "no place for bounds"),
        (("Bpref", "--bounds"), "Bpref has no bounds"),
        (("P@3", "--bounds", "--set", "unjudged=removed"), "condensed list"),
        (("P@3", "--bounds", "--set", "ties=average"), "no bounds under ties=average"),
        (("P@3", "--tie-bounds", "--set", "order=rank"), "no tie bounds under order=rank"),
        (("P@3", "--tie-bounds", "--set", "order=given"), "no tie bounds under order=given"),
        (("nDCG@3", "--bounds", "--max-grade", "3000"), "too large a gain"),
    ],
    ids=str,
)
def test_wrong_flags(score: Any, arguments: tuple[str, ...], said: str) -> None:
    """Exit code 2, one fact and a hint on standard error, nothing on standard output."""
    done = score(*arguments)
    assert (done.code, done.out) == (2, b"")
    assert said in done.err
    assert "hint: " in done.err
    assert "Traceback" not in done.err


def test_an_empty_run_has_bounds(score: Any, tmp_path: Path) -> None:
    """Nothing returned, nothing in doubt."""
    (tmp_path / "qrels.json").write_text('{"q": {"A": 1}}')
    (tmp_path / "run.json").write_text('{"q": {}}')
    code = _run(["score", "qrels.json", "run.json", "R@3", "--bounds", "--tie-bounds", "-o", "json"], debug=False)
    assert code == 0


def test_explain_says_how_a_measure_is_bounded(capsys: pytest.CaptureFixture[str]) -> None:
    """What the bounds are, why there are none, and what Bpref and condensed lists cannot say."""
    assert _run(["explain", "AP@5"], debug=True) == 0
    assert "one more relevant document can lower it (--bounds)" in capsys.readouterr().out
    assert _run(["explain", "AP@5", "--set", "unjudged=removed"], debug=True) == 0
    text = capsys.readouterr().out
    assert "no bounds under unjudged=removed" in text
    assert "a condensed list is not the ranking that was returned" in text
    assert _run(["explain", "Bpref"], debug=True) == 0
    text = capsys.readouterr().out
    assert "creates no missing judgments" in text
    assert "  bounds" not in text
