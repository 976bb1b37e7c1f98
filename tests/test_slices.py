"""Slices: the ten-question table cell for cell, NONE questions apart, grades, averages, notes, documents, bad input."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import metricpact as mp
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metricpact.bridges.sources.known_item_table import read_known_items
from metricpact.contracts.errors import ContractError, InputError, MetricpactError
from metricpact.crosscheck.slices.no_answer import judge_responses
from pytest import approx
from typed import typed

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "front/example/slices/known_items.csv"

TEN_QUESTIONS = """
all              v1    10   0.60   0.80   0.70
all              v2    10   0.90   1.00   0.95
language=en      v1     8   0.75   0.88   0.81
language=en      v2     8   0.88   1.00   0.94
language=fr      v1     2   0.00   0.50   0.25
language=fr      v2     2   1.00   1.00   1.00
paraphrase=no    v1     5   0.60   0.80   0.70
paraphrase=no    v2     5   0.80   1.00   0.90
paraphrase=yes   v1     5   0.60   0.80   0.70
paraphrase=yes   v2     5   1.00   1.00   1.00
"""
"""Slice, run, n, R@1, R@3, MRR of the two versions over ten questions (the cookbook's third chapter)."""


def metricpact(*arguments: object, code: int = 0) -> str:
    """What the command prints on standard output, or on standard error where it fails."""
    printed = typed(*arguments, code=code)
    return printed.stdout if code == 0 else printed.stderr


@pytest.fixture(scope="module")
def table() -> str:
    """The table that the example shows on a terminal."""
    return metricpact("slices", EXAMPLE, "--k", 3, "-p", 2, "--none-policy", "nearest-with-note", "-o", "table")


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The example's JSON document."""
    printed = metricpact(
        "slices", EXAMPLE, "--k", 3, "--none-policy", "nearest-with-note", "--cross", "language,paraphrase"
    )
    loaded: dict[str, Any] = json.loads(printed)
    return loaded


def cells(table: str) -> list[list[str]]:
    """The drawn rows, split where two blanks or more stand."""
    return [re.split(r"\s{2,}", line.strip()) for line in table.split("\n") if re.match(r"  (all|\w+=)", line)]


def test_the_ten_questions_cell_for_cell(table: str) -> None:
    """Every slice, run, n, R@1, R@3 and mean reciprocal rank is that of the published table, in its order."""
    found = [[row[i] for i in (0, 1, 2, 3, 5, 7)] for row in cells(table)]
    assert found == [line.split() for line in TEN_QUESTIONS.strip().split("\n")]


def test_the_pass_rate_stands_beside_every_time(table: str) -> None:
    """NONE pass rate 0.60 (n=5) of version 2, in the row of R@3 = 1.00, with its interval, in every slice, in words."""
    rows = cells(table)
    assert rows[1][5] == "1.00"
    assert rows[1][9:11] == ["0.60 (n=5)", "[0.23, 0.88]"]
    assert all(re.fullmatch(r"[01]\.\d\d \(n=\d\)", row[9]) for row in rows)
    assert "v2: NONE pass rate 0.60 (n=5) against nearest-with-note, beside R@1 0.90, R@3 1.00, RR 0.95" in table


def test_small_slices_are_marked_and_the_reminder_says_why(table: str) -> None:
    """All ten-question slices are direction and no evidence; two of two still has Wilson's interval."""
    rows = cells(table)
    assert all(row[11] == "direction, not evidence" for row in rows)
    assert "With fewer than 30 queries a slice points in a direction and proves nothing" in table
    assert rows[5][4] == "[0.34, 1.00]"
    assert rows[5][8] == "all values are equal"


def test_methods_resamples_and_seed_are_printed(table: str) -> None:
    """A reader sees how each interval was made, and how the numbers were."""
    assert "95 % intervals: Wilson's score interval for R@1, R@3, NONE pass rate" in table
    assert "BCa bootstrap over all resamples for RR\n" in table
    assert re.search(r"signature MEASURE\|chapter/1\|\|pytrec_eval-terrier:", table)


def test_min_n_decides_what_is_marked() -> None:
    """With --min-n 8 the slices of 8 and 10 questions are no longer marked."""
    found = mp.slices(str(EXAMPLE), k=3, min_n=8)
    assert {row.slice.name for row in found.rows if not row.direction_only} == {"all", "language=en"}


def test_the_document_field_by_field(document: dict[str, Any]) -> None:
    """metricpact.slices/1: options, signatures, inputs with digest, rows with counts, NONE apart, crossings."""
    assert document["schema"] == "metricpact.slices/1"
    assert (document["runs"], document["measures"], document["min_n"]) == (["v1", "v2"], ["R@1", "R@3", "RR"], 30)
    assert document["none_policy"] == "nearest-with-note"
    assert document["intervals"] == {"confidence": 0.95, "proportion": "wilson", "resamples": 10000, "seed": 1}
    assert len(document["inputs"]["runs"]["sha256"]) == 64
    assert document["signatures"]["RR"].startswith("RR|chapter/1||")
    row = next(row for row in document["rows"] if (row["slice"], row["run"]) == ("language=en,paraphrase=no", "v2"))
    assert row["values"] == {"language": "en", "paraphrase": "no"}
    assert (row["n"], row["direction_only"]) == (4, True)
    first = row["measures"][0]
    assert (first["measure"], first["macro"], first["micro"], first["numerator"], first["denominator"]) == (
        "R@1", 0.75, 0.75, 3.0, 4.0,
    )  # fmt: skip
    assert row["none"] == {
        "n": 2, "passed": 2, "unscored": 0, "rate": 1.0, "reason": "",
        "interval": {"lower": approx(0.3424, abs=1e-4), "upper": 1.0, "method": "wilson", "reason": ""},
    }  # fmt: skip
    crossed = [row["slice"] for row in document["rows"] if "," in row["slice"] and row["run"] == "v1"]
    assert crossed == [f"language={a},paraphrase={b}" for a in ("en", "fr") for b in ("no", "yes")]


def test_every_format(tmp_path: Path) -> None:
    """jsonl, csv, parquet and markdown hold the same rows, numbers in full; trec is refused."""
    arguments = ("slices", EXAMPLE, "--k", 3, "--by", "language", "--quiet")
    rows = [json.loads(line) for line in metricpact(*arguments, "-o", "jsonl").splitlines()]
    held = pl.read_csv(metricpact(*arguments, "-o", "csv").encode(), infer_schema_length=None)
    assert len(rows) == len(held) == 3 * 2 * 4
    assert [row["macro"] for row in rows] == held["macro"].to_list()
    frame = mp.slices(str(EXAMPLE), k=3, by=["language"]).to_polars()
    assert frame["macro"].to_list() == held["macro"].to_list()
    assert "| language=fr | v2 | 2 | 1.0000 |" in metricpact(*arguments, "-o", "markdown")
    assert "'trec' is not one of" in metricpact(*arguments, "-o", "trec", code=2)


def write(folder: Path, text: str) -> str:
    """A file of this text."""
    path = folder / "runs.csv"
    path.write_text(text)
    return str(path)


HEAD = "run,query_id,expected_id,ranked_ids"


def test_a_table_of_four_columns_is_enough(tmp_path: Path) -> None:
    """Without slice columns there is the whole; an absent id, a short list and an empty one count as they should."""
    path = write(tmp_path, f"{HEAD}\nv1,q1,a,b;a\nv1,q2,c,\nv1,q3,d,x;y;z\nv1,q4,e, e ;;f;\n")
    row = mp.slices(path, measures=["R@1", "RR", "P@2", "Success@2"]).find("all", "v1")
    assert [score.macro for score in row.scores] == [0.25, approx((0.5 + 1) / 4), (0.5 + 0.5) / 4, 0.5]
    assert row.none.reason == "no NONE questions"


def test_standard_input_and_tabs() -> None:
    """A table comes from a pipe, and may be separated by tabs."""
    text = EXAMPLE.read_text().replace(",", "\t")
    command = [sys.executable, "-m", "metricpact", "slices", "-", "--k", "3", "-o", "csv"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert done.stdout == metricpact("slices", EXAMPLE, "--k", 3, "-o", "csv")


def test_grades_feed_ndcg_and_expected_ids_the_rest(tmp_path: Path) -> None:
    """One graded question among known items: nDCG is over it alone, R and RR over all, both reported."""
    text = f"{HEAD},grades\n"
    for run, ranked in (("good", "nat;int"), ("turned", "int;nat"), ("bad", "x;nat;int")):
        text += f"{run},poor,nat,{ranked},nat:2;int:1\n{run},known,k,k,\n"
    found = mp.slices(write(tmp_path, text), k=3, set={"gain": "exponential"})
    values = {run: found.find("all", run).scores for run in found.runs}
    assert found.measures == ("R@1", "R@3", "RR", "nDCG@3")
    assert [(scores[3].n, scores[3].undefined) for scores in values.values()] == [(1, 1)] * 3
    assert values["good"][3].macro == 1.0
    # Two grades, ideal 3 + 1/log2 3: turned round .7967, pushed down by one wrong document .6590.
    assert values["turned"][3].macro == approx(0.7967, abs=5e-5)
    assert values["bad"][3].macro == approx((3 / np.log2(3) + 0.5) / (3 + 1 / np.log2(3)))
    assert [scores[1].macro for scores in values.values()] == [1.0, 1.0, 1.0]
    assert [scores[2].macro for scores in values.values()] == [1.0, 0.75, 0.75]


def test_ndcg_without_grades_is_refused(tmp_path: Path) -> None:
    """Expected ids are no grades: nothing is guessed."""
    with pytest.raises(InputError, match="needs grades") as caught:
        mp.slices(write(tmp_path, f"{HEAD}\nv1,q1,a,a\n"), measures="nDCG@3")
    assert "grades" in caught.value.hint


RESPONSES = [
    # ranked_ids, response, nearest_id, passes under decline, under nearest-with-note
    ([], "declined", None, True, False),
    (["a"], "noted", None, False, True),
    (["a", "b"], "noted", "a", False, True),
    (["b", "a"], "noted", "a", False, False),
    ([], "noted", None, False, False),
    ([], "noted", "a", False, False),
    (["a"], "answered", "a", False, False),
    ([], "answered", None, False, False),
    (["a"], None, "a", None, None),
]


@pytest.mark.parametrize(("policy", "column"), [("decline", 3), ("nearest-with-note", 4)])
def test_what_passes_for_a_question_without_an_answer(policy: str, column: int) -> None:
    """Declining passes where that was decided; a note with something shown, the nearest first, where that was."""
    schema = {"ranked_ids": pl.List(pl.String), "response": pl.String, "nearest_id": pl.String}
    rows = pl.DataFrame([row[:3] for row in RESPONSES], schema=schema, orient="row")
    assert judge_responses(rows, policy)["passed"].to_list() == [row[column] for row in RESPONSES]


def test_none_questions_without_a_response_column_are_not_scored(tmp_path: Path) -> None:
    """They are counted and said to be unscored, and never enter a measure."""
    path = write(tmp_path, f"{HEAD}\nv1,q1,a,a\nv1,q2,NONE,b\nv1,q3,NONE,\n")
    row = mp.slices(path, k=3, none_policy="decline").find("all", "v1")
    assert (row.n, row.none.rate, row.none.unscored) == (1, None, 2)
    assert row.none.reason == "not scored: there is no response column"
    table = metricpact("slices", path, "--k", 3, "--none-policy", "decline", "-o", "table")
    assert "not scored (n=2)" in table
    assert "v1: NONE pass rate undefined (2 of them): not scored: there is no response column" in table


def test_none_questions_need_a_decision() -> None:
    """Responses without a policy are not scored: what was decided is never guessed."""
    row = mp.slices(str(EXAMPLE), k=3).find("all", "v2")
    assert (row.none.rate, row.none.unscored) == (None, 5)
    assert "decided behaviour" in row.none.reason


def test_averages_have_names(tmp_path: Path) -> None:
    """Macro over queries, macro over slices, micro over pooled counts: three different numbers, each named.

    q1 has 4 relevant documents, one found; q2 and q3 have one each, found: R@2 macro (.25 + 1 + 1) / 3, micro
    3 / 6, and over slices (.25 + 1) / 2.
    """
    qrels = {"q1": {"a": 1, "b": 1, "c": 1, "d": 1}, "q2": {"e": 1}, "q3": {"f": 1}, "q4": {"n": 0}}
    run = {"q1": ["a", "x"], "q2": ["e"], "q3": ["y", "f"], "q4": ["n"]}
    kinds = {"q1": {"kind": "broad"}, "q2": {"kind": "narrow"}, "q3": {"kind": "narrow"}, "q4": {"kind": "none"}}
    found = mp.slices(qrels, run, ["R@2", "P@2", "Judged@2", "RR"], table=kinds)
    recall, precision, judged, rank = found.find("all", "run").scores
    assert (recall.n, recall.undefined, recall.macro) == (3, 1, approx(0.75))
    assert (recall.micro, recall.numerator, recall.denominator) == (0.5, 3, 6)
    assert (precision.micro, precision.denominator) == (3 / 8, 8)
    assert (judged.macro, judged.micro) == (approx((0.5 + 1 + 0.5 + 1) / 4), 4 / 6)
    assert rank.micro is None
    over = next(average for average in found.averages if average.measure == "R@2")
    assert (over.column, over.slices, over.undefined, over.macro) == ("kind", 2, 1, approx(0.625))
    assert not found.find("kind=none", "run").scores[0].n
    printed = metricpact("slices", EXAMPLE, "--k", 3, "-p", 2, "--averages", "-o", "table")
    assert re.search(r"v1\s+R@3\s+micro: counts pooled over queries\s+0.80\s+8 of 10", printed)
    assert re.search(r"v1\s+R@1\s+macro: mean over slices of language\s+0.38\s+2 slices", printed)


def test_what_is_zero_or_one_is_decided_by_definition() -> None:
    """R@k has Wilson's interval only where every query has one relevant document, whatever the values are."""
    table = {"q1": {"s": "one"}, "q2": {"s": "one"}}
    single = mp.slices({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": ["a"], "q2": ["x"]}, ["R@5", "RR", "AP"], table=table)
    several = mp.slices(
        {"q1": {"a": 1}, "q2": {"b": 1, "c": 1}}, {"q1": ["a"], "q2": ["x"]},
        ["R@5", "P@1", "P@2", "Success@2", "RR@1"],
        table=table
    )  # fmt: skip
    methods = [[s.interval.method for s in found.find("all", "run").scores] for found in (single, several)]
    assert methods == [["wilson", "bca-exact", "bca-exact"], ["bca-exact", "wilson", "bca-exact", "wilson", "wilson"]]


def test_judged_runs_with_a_slice_table(tmp_path: Path) -> None:
    """The command takes judgments, runs and a table; queries without a row are said, and are in no slice but all."""
    qrels, run, kinds = tmp_path / "qrels", tmp_path / "run", tmp_path / "kinds.csv"
    qrels.write_text("q1 0 a 1\nq2 0 b 1\nq3 0 c 1\n")
    run.write_text("q1 Q0 a 1 2 t\nq2 Q0 x 1 2 t\nq3 Q0 c 1 1 t\n")
    kinds.write_text('query_id,kind\n"q1",short\nq2,\nq7,long\n')
    printed = typed("slices", qrels, run, "--slices", kinds, "--k", 5, "-o", "csv")
    held = pl.read_csv(printed.stdout.encode())
    assert held.filter(pl.col("measure") == "R@5").select("slice", "n", "macro").rows() == [
        ("all", 3, approx(2 / 3)), ("kind=short", 1, 1.0), ("kind=long", 0, None),
    ]  # fmt: skip
    assert "1 query has no row in the slice table, and in no slice but all: q3" in printed.stderr


@pytest.mark.parametrize("kind", ["polars", "pandas", "mapping", "path"])
def test_slice_tables_of_every_kind(kind: str, tmp_path: Path) -> None:
    """A frame, a mapping and a file say the same, and nothing of them is changed."""
    rows = {"q1": {"n": "1", "s": "x"}, "q2": {"n": "2", "s": "x"}}
    frame = pl.DataFrame([{"query_id": query, **values} for query, values in rows.items()])
    frame.write_csv(tmp_path / "t.csv")
    source: Any = {
        "polars": frame,
        "pandas": pd.DataFrame(frame.to_dicts()),
        "mapping": rows,
        "path": tmp_path / "t.csv",
    }
    found = mp.slices(
        {"q1": {"a": 1}, "q2": {"b": 1}}, {"mine": {"q1": ["a"]}}, ["RR"], table=source[kind], cross=[("n", "s")]
    )
    assert found.names == ["all", "n=1", "n=2", "s=x", "n=1,s=x", "n=2,s=x"]
    assert [row.scores[0].macro for row in found.rows] == [0.5, 1.0, 0.0, 0.5, 1.0, 0.0]


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.integers(0, 4)), min_size=1, max_size=25))
def test_slices_are_what_a_loop_finds(questions: list[tuple[str, str, int]]) -> None:
    """Counts and means by slice, computed naively from the ranks (0: not found)."""
    lines = [HEAD + ",one,two"]
    for at, (one, two, rank) in enumerate(questions):
        ranked = ";".join(["w1", "w2", "w3", "w4"][: max(rank - 1, 0)] + (["e"] if rank else []))
        lines.append(f"v,q{at},e,{ranked},{one},{two}")
    items = read_known_items_text("\n".join(lines))
    found = mp.slices(items, measures=["R@2", "RR"], cross=[("one", "two")], resamples=100)
    for row in found.rows:
        ranks = [
            rank
            for one, two, rank in questions
            if all({"one": one, "two": two}[column] == value for column, value in row.slice.values)
        ]
        assert row.n == len(ranks) > 0
        assert row.scores[0].macro == approx(sum(0 < rank <= 2 for rank in ranks) / len(ranks))
        assert row.scores[1].macro == approx(sum(1 / rank for rank in ranks if rank) / len(ranks))


def read_known_items_text(text: str) -> Any:
    """Known items from text, by way of a file."""
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write(text)
        file.flush()
        return read_known_items(file.name)


BAD: Iterable[tuple[str, str, str]] = [
    ("", "the file is empty", ""),
    (HEAD + "\n", "a header and no row", ""),
    ("run,query_id,ranked_ids\nv,q,a\n", "no column 'expected_id'", ":1"),
    (f"{HEAD},run\nv,q,a,a,v\n", "two columns are called 'run'", ":1"),
    (f"{HEAD},\nv,q,a,a,v\n", "a column has no name", ":1"),
    (f"{HEAD}\nv,q,a,a\n\nv,p,a\n", "3 cells where the header has 4", ":4"),
    (f'{HEAD}\nv,q,a,"a\n', "is no CSV", ":2"),
    (f"{HEAD}\nv,q,a,a\nv,,a,a\n", "query_id is empty", ":3"),
    (f"{HEAD}\nv,q,,a\n", "expected_id is empty", ":2"),
    (f"{HEAD}\nv,q,a,a\nv,q,a,b\n", "run and question 'v', 'q' stands on line 2 too", ":3"),
    (f"{HEAD}\nv,q,a,a\nw,q,b,b\n", "expected_id of question 'q' is 'b', on line 2 it is 'a'", ":3"),
    (f"{HEAD},language\nv,q,a,a,en\nw,q,a,a,\n", "language of question 'q' is 'empty', on line 2 it is 'en'", ":3"),
    (f"{HEAD},response\nv,q,NONE,a,refused\n", "'refused' is not a response", ":2"),
    (f"{HEAD}\nv,q,None,a\n", "expected_id is 'None'", ":2"),
    (f"{HEAD},grades\nv,q,a,a,a:2;b\n", "'b' is not a grade", ":2"),
    (f"{HEAD},grades\nv,q,a,a,a:1.5\n", "'a:1.5' is not a grade", ":2"),
    (f"{HEAD}\nv,q,a,b;b\n", "document 'b'", ":2"),
    (f"{HEAD}\nv,q,NONE,b\n", "no question has an answer", ""),
]


@pytest.mark.parametrize(("text", "fact", "place"), BAD, ids=[fact for _, fact, _ in BAD])
def test_bad_tables_are_refused_with_file_and_line(text: str, fact: str, place: str, tmp_path: Path) -> None:
    """What cannot be right is named with its line; nothing is guessed, and no traceback is shown."""
    with pytest.raises(InputError) as caught:
        mp.slices(write(tmp_path, text), measures=["R@3"])
    assert fact in str(caught.value)
    assert f"runs.csv{place}: " in caught.value.fact


def test_a_table_that_is_not_utf8(tmp_path: Path) -> None:
    """The line with the first wrong byte is named."""
    (tmp_path / "runs.csv").write_bytes(HEAD.encode() + b"\nv,q,\xe9,a\n")
    with pytest.raises(InputError, match=r"runs\.csv:2: is not UTF-8"):
        mp.slices(tmp_path / "runs.csv")


def test_a_byte_order_mark_and_windows_lines_are_no_matter(tmp_path: Path) -> None:
    """A spreadsheet's file is read."""
    (tmp_path / "runs.csv").write_bytes(b"\xef\xbb\xbf" + f"{HEAD}\r\nv,q,a,a\r\n".encode())
    assert mp.slices(tmp_path / "runs.csv", measures="R@1").find("all", "v").scores[0].macro == 1.0


def test_a_run_without_a_row_for_a_question(tmp_path: Path) -> None:
    """It found nothing, and that is said."""
    path = write(tmp_path, f"{HEAD}\nv,q1,a,a\nv,q2,b,b\nw,q1,a,a\n")
    found = mp.slices(path, measures="R@1")
    assert found.find("all", "w").scores[0].macro == 0.5
    assert found.notes == ("w: 1 query has no row, which counts as nothing found: q2",)


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        ((EXAMPLE, "--by", "colour"), "there is no slice column 'colour'"),
        ((EXAMPLE, "--cross", "language"), "crosses nothing"),
        ((EXAMPLE, "--cross", "language,colour"), "there is no slice column 'colour'"),
        ((EXAMPLE, "--none-policy", "shrug"), "'shrug' is not one of"),
        ((EXAMPLE, "--confidence", "1.5"), "is not a confidence level"),
        ((EXAMPLE, "--k", "0"), "0 is not in the range"),
        ((EXAMPLE, "--k", "3", "R@5"), "--k belongs to the default measures"),
        ((EXAMPLE, "nDCG@3"), "nDCG@3 needs grades"),
        ((EXAMPLE, "--slices", "t.csv"), "no run is named"),
        ((EXAMPLE, EXAMPLE), "no slice table is named"),
        (("nowhere.csv",), "there is no such file"),
        (("-", "-", "--slices", "t.csv"), "standard input (-) can be read once only"),
    ],
    ids=str,
)  # fmt: skip
def test_wrong_lines_are_refused(arguments: tuple[object, ...], fact: str) -> None:
    """Wrong options and columns end with exit code 2, a fact and no traceback."""
    printed = metricpact("slices", *arguments, code=2)
    assert fact in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize(
    "table", [{"query_id": ["q"]}, pl.DataFrame({"q": ["a"]}), pl.DataFrame({"query_id": [1]}), 7,
              pl.DataFrame({"query_id": ["q", "q"]}), pl.DataFrame({"query_id": [None, "q"]})],
)  # fmt: skip
def test_bad_slice_tables_in_python(table: Any) -> None:
    """No query_id, numbers for ids, a query twice, an empty id, no table at all."""
    with pytest.raises(InputError):
        mp.slices({"q": {"a": 1}}, {"q": ["a"]}, table=table)


def test_other_refusals_in_python() -> None:
    """No table, a minimum below 1, extra queries that count as zeros, an unknown policy."""
    qrels, run, table = {"q": {"a": 1}}, {"q": ["a"], "p": ["b"]}, {"q": {"s": "x"}}
    with pytest.raises(ContractError, match="no slice table"):
        mp.slices(qrels, run)
    with pytest.raises(ContractError, match="a slice of 0 queries"):
        mp.slices(qrels, run, table=table, min_n=0)
    with pytest.raises(InputError, match="count as zeros"):
        mp.slices(qrels, run, table=table, set={"extra_query": "zero"})
    with pytest.raises(MetricpactError, match="not a policy"):
        mp.slices(str(EXAMPLE), none_policy="shrug")
