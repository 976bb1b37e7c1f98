"""What the command line prints: the documents of `score` field by field and in every format, full precision where
programs read, messages on standard error alone, exit codes, and how little the small commands load.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from math import log2
from pathlib import Path
from typing import Any, NamedTuple

import metricpact as mp
import polars as pl
import pytest
from metricpact.cli import main
from metricpact.contracts.contract import FIELDS, Contract
from pytest import approx

QRELS = "q1 0 a 2\nq1 0 b 1\nq1 0 n 0\nq2 0 a 0\nq3 0 c 1\n"
RUN = "q1 Q0 b 1 3.5 first\nq1 Q0 new 2 2.5 first\nq1 Q0 a 3 1.5 first\nq2 Q0 a 1 1.0 first\nq9 Q0 z 1 1.0 first\n"
OTHER = "q1 Q0 a 1 2.0 second\nq3 Q0 new 1 2.0 second\nq3 Q0 x 2 1.0 second\nq3 Q0 c 3 0.5 second\n"
MEASURES = ["nDCG@3", "AP", "Judged@2"]

# The chapter's ranking [B, unjudged, A] with grades A = 2, B = 1; q2 has no positive judgment, q3 is not in the run.
NDCG = (1 + 3 / 2) / (3 + 1 / log2(3))
VALUES: dict[tuple[str, str], float | None] = {
    ("q1", "nDCG@3"):NDCG, ("q2", "nDCG@3"):None, ("q3", "nDCG@3"):0.0, ("q1", "AP"):5/6, ("q2", "AP"):None,
    ("q3", "AP"):0.0, ("q1", "Judged@2"):0.5, ("q2", "Judged@2"):1.0, ("q3", "Judged@2"):None,
}  # fmt: skip
MEANS = {"nDCG@3": NDCG / 2, "AP": 5 / 12, "Judged@2": 0.75}


class Paths:
    """A judgments file and two runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.qrels, self.run, self.other = folder / "qrels.txt", folder / "run.txt", folder / "other.run"
        self.qrels.write_text(QRELS)
        self.run.write_text(RUN)
        self.other.write_text(OTHER)


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> Paths:
    """The files of this module."""
    return Paths(tmp_path_factory.mktemp("documents"))


class Printed(NamedTuple):
    """What a command printed on its two streams."""

    stdout: bytes
    stderr: bytes


def metricpact(*arguments: object, code: int = 0) -> Printed:
    """Run the command in this process and expect its exit code."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(list(map(str, arguments)))
    printed = Printed(*(stream.detach().getvalue() for stream in (out, err)))
    assert (ended.value.code, printed.stderr if ended.value.code != code else b"") == (code, b"")
    return printed


def process(*arguments: object, given: bytes = b"", environment: Mapping[str, str] = {}) -> Printed:
    """Run the command in a process of its own and expect it to work."""
    command = [sys.executable, "-m", "metricpact", *map(str, arguments)]
    done = subprocess.run(command, input=given, capture_output=True, check=True, env={**os.environ, **environment})
    return Printed(done.stdout, done.stderr)


def document(*arguments: object) -> dict[str, Any]:
    """The JSON document that a command prints."""
    loaded: dict[str, Any] = json.loads(metricpact(*arguments).stdout)
    return loaded


def shape(value: Any) -> Any:
    """The fields and types of a document, with every list replaced by the set of its elements' shapes."""
    if isinstance(value, dict):
        return {key: shape(held) for key, held in value.items()}
    if isinstance(value, list):
        shapes: list[Any] = []
        for held in map(shape, value):
            if held not in shapes:
                shapes.append(held)
        return shapes
    return type(value).__name__


def test_the_document_of_one_run_field_by_field(paths: Paths) -> None:
    """Every field of the document has its name, its type and its value; nothing else is in it."""
    found = document("score", paths.qrels, paths.run, *MEASURES, "-o", "json")
    version = mp.__version__
    backend = {"name": "pytrec_eval", "package": "pytrec-eval-terrier", "version": "", "engine": "trec_eval 9.0.8"}
    backend["version"] = found["backend"]["version"]
    signature = f"|chapter/1||pytrec_eval-terrier:{backend['version']}|trec_eval:9.0.8|metricpact:{version}"
    assert list(found) == ["schema", "contract", "backend", "inputs", "queries", "measures"]
    assert found["schema"] == "metricpact.scores/1"
    assert found["contract"] == {"name": "chapter", "version": 1, "fields": Contract().fields()}
    assert list(found["contract"]["fields"]) == list(FIELDS)
    assert found["backend"] == backend
    assert re.fullmatch(r"\d+\.\d+(\.\d+)?", backend["version"])
    assert found["inputs"] == {
        "qrels": {"path": str(paths.qrels), "sha256": hashlib.sha256(QRELS.encode()).hexdigest()},
        "run": {"path": str(paths.run), "sha256": hashlib.sha256(RUN.encode()).hexdigest(), "tag": "first"},
    }
    assert found["queries"] == {"judged": 3, "answered": 2, "missing": ["q3"], "extra": ["q9"]}
    rows = {
        "nDCG@3": {"mean": MEANS["nDCG@3"], "n": 2, "undefined": 1, "judged_fraction": (2 / 3 + 1) / 2},
        "AP": {"mean": MEANS["AP"], "n": 2, "undefined": 1, "judged_fraction": (2 / 3 + 1) / 2},
        "Judged@2": {"mean": MEANS["Judged@2"], "n": 2, "undefined": 1, "judged_fraction": 0.75},
    }
    assert found["measures"] == [
        {"measure": name, **approx_floats(row), "fields": {}, "signature": name + signature}
        for name, row in rows.items()
    ]
    assert shape(found["measures"]) == [
        {
            "measure": "str", "mean": "float", "n": "int", "undefined": "int", "judged_fraction": "float",
            "fields": {}, "signature": "str",
        }
    ]  # fmt: skip


def approx_floats(row: dict[str, Any]) -> dict[str, Any]:
    """The row with its floats compared to within 1e-12."""
    return {key: approx(value, abs=1e-12) if isinstance(value, float) else value for key, value in row.items()}


def test_the_rows_of_single_queries(paths: Paths) -> None:
    """`-q` adds one row per judged query and measure, missing queries included, undefined with the reason."""
    found = document("score", paths.qrels, paths.run, *MEASURES, "-q", "-o", "json")
    rows = found["per_query"]
    assert list(found)[-1] == "per_query"
    assert {tuple(row) for row in rows} == {("query_id", "measure", "value", "reason", "judged_fraction")}
    assert {(row["query_id"], row["measure"]): row["value"] for row in rows} == {
        key: None if value is None else approx(value, abs=1e-12) for key, value in VALUES.items()
    }
    assert len(rows) == len(VALUES)
    reasons = {(row["query_id"], row["measure"]): row["reason"] for row in rows if row["value"] is None}
    assert reasons == {
        ("q2", "nDCG@3"): "no-gain",
        ("q2", "AP"): "no-positives",
        ("q3", "Judged@2"): "nothing-returned",
    }
    assert {row["reason"] for row in rows if row["value"] is not None} == {None}
    fractions = {(row["query_id"], row["measure"]): row["judged_fraction"] for row in rows}
    assert fractions["q1", "nDCG@3"] == approx(2 / 3, abs=1e-12)
    assert (fractions["q2", "AP"], fractions["q3", "AP"]) == (1.0, None)


def test_an_undefined_mean_is_null(paths: Paths) -> None:
    """A mean over no query is null with a count of 0, and never NaN or 0."""
    qrels = paths.folder / "none.txt"
    qrels.write_text("q1 0 a 0\n")
    done = metricpact("score", qrels, paths.run, "AP", "-o", "json")
    row = json.loads(done.stdout, parse_constant=pytest.fail)["measures"][0]
    assert (row["mean"], row["n"], row["undefined"]) == (None, 0, 1)


def test_changed_fields_stand_in_the_document_and_the_signature(paths: Paths) -> None:
    """`--set` shows in the contract's fields and, where it differs from the named contract, in the signature."""
    found = document(
        "score", paths.qrels, paths.run, "nDCG@3", "--set", "gain=linear", "--set", "threshold=2", "-o", "json"
    )
    expected = Contract().replace(gain="linear", threshold=2).fields()
    assert found["contract"]["fields"] == expected
    assert found["measures"][0]["signature"].startswith("nDCG@3|chapter/1|threshold=2|gain=linear||")


def test_parameters_of_a_measure_stand_in_its_name(paths: Paths) -> None:
    """A parameter is printed as it would be typed, and any accepted spelling becomes the canonical one."""
    asked = ["P(rel=2)@5", "nDCG(dcg='exp-log2')@3", "nDCG(gains={0:0,1:1,2:3})@3", "ndcg_cut_3", "map", "recip_rank"]
    found = document("score", paths.qrels, paths.run, *asked, "-o", "json")
    names = ["P(rel=2)@5", "nDCG(dcg='exp-log2')@3", "nDCG(gains={0:0,1:1,2:3})@3", "nDCG@3", "AP", "RR"]
    assert [row["measure"] for row in found["measures"]] == names


def test_a_gain_table_and_a_list_of_queries_are_hashes_in_a_signature(paths: Paths) -> None:
    """What is too long for a line is a hash there, and stands in full in the document."""
    listed = paths.folder / "listed.txt"
    listed.write_text("q3\nq1\n")
    found = document(
        "score", paths.qrels, paths.run, "nDCG@3", "--set", "gain={0:0,1:1,2:5}", "--queries", listed, "-o", "json"
    )
    assert found["contract"]["fields"]["gain"] == {"0": 0, "1": 1, "2": 5}
    assert found["contract"]["fields"]["queries"] == ["q1", "q3"]
    part = found["measures"][0]["signature"].partition("||")[0]
    assert re.fullmatch(r"nDCG@3\|chapter/1\|gain=table:[0-9a-f]+\|queries=list:[0-9a-f]+", part)
    assert found["measures"][0]["n"] == 2


def test_several_runs_are_a_list_of_documents(paths: Paths) -> None:
    """Each document of the list is what the run alone gives."""
    found = document("score", paths.qrels, paths.run, paths.other, *MEASURES, "-q", "-o", "json")
    alone = [document("score", paths.qrels, run, *MEASURES, "-q", "-o", "json") for run in (paths.run, paths.other)]
    assert found == {"schema": "metricpact.score-list/1", "runs": alone}


def test_the_reference_gives_the_same_document_but_for_its_name(paths: Paths) -> None:
    """Same fields, same numbers to within 1e-12; only the backend and the signatures' second part differ."""
    ours = document("score", paths.qrels, paths.run, *MEASURES, "-q", "-o", "json", "--backend", "reference")
    theirs = document("score", paths.qrels, paths.run, *MEASURES, "-q", "-o", "json")
    assert ours["backend"]["name"] == "reference"
    assert set(ours["backend"]) == set(theirs["backend"])
    assert [row["signature"].partition("||")[0] for row in ours["measures"]] == [
        row["signature"].partition("||")[0] for row in theirs["measures"]
    ]
    for key in ("contract", "inputs", "queries"):
        assert ours[key] == theirs[key]
    for mine, other in zip(ours["per_query"], theirs["per_query"], strict=True):
        assert mine == approx_floats(other)


def test_compressed_and_standard_input_are_named_in_the_document(paths: Paths) -> None:
    """The digest is of the bytes as stored; standard input has its digest too."""
    done = process("score", paths.qrels, "-", "AP", given=RUN.encode())
    entry = json.loads(done.stdout)["inputs"]["run"]
    assert entry == {"path": "-", "sha256": hashlib.sha256(RUN.encode()).hexdigest(), "tag": "first"}


def test_a_run_without_a_tag_has_none(paths: Paths) -> None:
    """Five columns, or JSON: the tag is null."""
    five, listed = paths.folder / "five.run", paths.folder / "run.json"
    five.write_text("q1 Q0 a 1 1.0\n")
    listed.write_text('{"q1": {"a": 1.0}}')
    assert [
        document("score", paths.qrels, run, "AP", "-o", "json")["inputs"]["run"]["tag"] for run in (five, listed)
    ] == [
        None,
        None,
    ]


def per_query(found: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The rows of single queries of a document."""
    return [tuple(row.values()) for row in found["per_query"]]


def test_json_lines_hold_the_document_row_by_row(paths: Paths) -> None:
    """One record a line; together they hold every row of the document, to the last bit."""
    found = document("score", paths.qrels, paths.run, *MEASURES, "-q", "-o", "json")
    lines = metricpact("score", paths.qrels, paths.run, *MEASURES, "-q", "-o", "jsonl").stdout.decode().splitlines()
    records = [json.loads(line) for line in lines]
    means = [record for record in records if "query_id" not in record]
    rows = [record for record in records if "query_id" in record]
    assert [{key: record[key] for key in found["measures"][0]} for record in means] == found["measures"]
    assert [{key: record[key] for key in found["per_query"][0]} for record in rows] == found["per_query"]
    assert len(records) == len(MEASURES) + len(VALUES)


def test_csv_holds_the_same_numbers(paths: Paths) -> None:
    """Floats in full, undefined as nothing, one header line."""
    found = document("score", paths.qrels, paths.run, *MEASURES, "-q", "-o", "json")
    text = metricpact("score", paths.qrels, paths.run, *MEASURES, "-q", "-o", "csv").stdout.decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [
        (row["query_id"], row["measure"], float(row["value"]) if row["value"] else None, row["reason"] or None)
        for row in rows
    ] == [row[:4] for row in per_query(found)]
    text = metricpact("score", paths.qrels, paths.run, *MEASURES, "-o", "csv").stdout.decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["measure"], float(row["mean"]), int(row["n"]), int(row["undefined"])) for row in rows] == [
        (row["measure"], row["mean"], row["n"], row["undefined"]) for row in found["measures"]
    ]


def test_parquet_holds_the_same_numbers(paths: Paths) -> None:
    """Doubles and nulls, not text."""
    found = document("score", paths.qrels, paths.run, *MEASURES, "-q", "-o", "json")
    data = metricpact("score", paths.qrels, paths.run, *MEASURES, "-q", "-o", "parquet").stdout
    frame = pl.read_parquet(io.BytesIO(data))
    assert frame.schema["value"] == pl.Float64
    columns = ["query_id", "measure", "value", "reason", "judged_fraction"]
    assert frame.select(columns).rows() == per_query(found)
    means = pl.read_parquet(io.BytesIO(metricpact("score", paths.qrels, paths.run, *MEASURES, "-o", "parquet").stdout))
    assert means.select("measure", "mean", "n").rows() == [
        (row["measure"], row["mean"], row["n"]) for row in found["measures"]
    ]


def test_several_runs_in_one_table_are_told_apart(paths: Paths) -> None:
    """CSV and Parquet of two runs say in every row which run it is of."""
    arguments = ("score", paths.qrels, paths.run, paths.other, "AP")
    rows = list(csv.DictReader(io.StringIO(metricpact(*arguments, "-o", "csv").stdout.decode())))
    assert [row["run"] for row in rows] == [str(paths.run), str(paths.other)]
    assert [float(row["mean"]) for row in rows] == approx([5 / 12, (1 / 2 + 1 / 3) / 2], abs=1e-12)


def markdown_rows(text: str) -> list[list[str]]:
    """The cells of every row of a Markdown table, the header first."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in lines if not re.fullmatch(r"[|:\- ]+", line)
    ]


def test_markdown_is_rounded_to_the_places_asked_for(paths: Paths) -> None:
    """A table with the counts beside each mean; undefined is a word."""
    text = metricpact("score", paths.qrels, paths.run, *MEASURES, "-o", "markdown", "-p", "2").stdout.decode()
    header, *rows = markdown_rows(text)
    table = [dict(zip(header, row, strict=True)) for row in rows]
    assert [
        (row["measure"], row["mean"], row["n"], row["undefined"], row["missing"], row["extra"]) for row in table
    ] == [
        ("nDCG@3", f"{NDCG / 2:.2f}", "2", "1", "1", "1"),
        ("AP", "0.42", "2", "1", "1", "1"),
        ("Judged@2", "0.75", "2", "1", "1", "1"),
    ]
    assert "chapter/1" in text
    assert "trec_eval:9.0.8" in text


def test_trec_lines_are_those_of_trec_eval(paths: Paths) -> None:
    """Measure, query and value with tabs between; `all` for means, `undef` where there is no value."""
    arguments = ("score", paths.qrels, paths.run, *MEASURES, "-o", "trec")
    text = metricpact(*arguments).stdout.decode()
    assert text == "".join(f"{name}\tall\t{mean:.4f}\n" for name, mean in MEANS.items())
    rows = [line.split("\t") for line in metricpact(*arguments, "-q").stdout.decode().splitlines()]
    found = {(query, name): value for name, query, value in rows}
    assert found == {
        **{key: "undef" if value is None else f"{value:.4f}" for key, value in VALUES.items()},
        **{("all", name): f"{mean:.4f}" for name, mean in MEANS.items()},
    }
    in_full = [line.split("\t") for line in metricpact(*arguments, "-q", "-p", "17").stdout.decode().splitlines()]
    exact = document("score", paths.qrels, paths.run, *MEASURES, "-q", "-o", "json")["per_query"]
    values = {(query, name): value for name, query, value in in_full}
    assert [(row["value"], values[row["query_id"], row["measure"]]) for row in exact if row["value"] is not None] == [
        (row["value"], f"{row['value']:.17f}") for row in exact if row["value"] is not None
    ]


def test_the_table_shows_counts_contract_and_signature(paths: Paths) -> None:
    """Beside each mean: n, undefined, missing, extra and the judged share; below, one line says how it was made."""
    text = metricpact("score", paths.qrels, paths.run, *MEASURES, "-o", "table", "-p", "3").stdout.decode()
    row = next(line for line in text.splitlines() if "nDCG@3" in line)
    assert row.split() == ["nDCG@3", f"{NDCG / 2:.3f}", "2", "1", "1", "1", f"{5 / 6:.3f}"]
    header = next(line for line in text.splitlines() if "measure" in line)
    assert header.split() == ["measure", "mean", "n", "undefined", "missing", "extra", "judged"]
    signed = [line for line in text.splitlines() if "chapter/1||" in line]
    assert len(signed) == 1
    assert "\x1b" not in text
    by_query = metricpact("score", paths.qrels, paths.run, *MEASURES, "-o", "table", "-q").stdout.decode()
    assert next(line for line in by_query.splitlines() if "q2" in line).split() == [
        "q2",
        "undefined",
        "undefined",
        "1.0000",
    ]


def test_piped_output_is_json_and_needs_no_flag(paths: Paths) -> None:
    """Without `-o`, what is not a terminal gets the document, over the five default measures."""
    found = json.loads(process("score", paths.qrels, paths.run).stdout)
    assert found == document("score", paths.qrels, paths.run)
    assert [row["measure"] for row in found["measures"]] == ["P@10", "R@100", "RR@10", "AP@100", "nDCG@10"]


@pytest.mark.parametrize("colourless", [False, True])
def test_a_terminal_gets_a_table(paths: Paths, colourless: bool) -> None:
    """Without `-o`, a terminal gets the table; NO_COLOR keeps it free of escape sequences."""
    leader, follower = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
    environment |= {"TERM": "xterm", "COLUMNS": "200", **({"NO_COLOR": "1"} if colourless else {})}
    command = [sys.executable, "-m", "metricpact", "score", str(paths.qrels), str(paths.run), "AP"]
    with subprocess.Popen(command, stdout=follower, stderr=subprocess.PIPE, env=environment):
        os.close(follower)
        shown = b""
        try:
            while piece := os.read(leader, 4096):
                shown += piece
        except OSError:  # the way in which Linux says that the other end is closed
            pass
        os.close(leader)
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode())
    row = next(line for line in text.splitlines() if "AP" in line.split())
    assert row.split()[:3] == ["AP", "0.4167", "2"]
    if colourless:
        assert not re.search(rb"\x1b\[[0-9;]*[34][0-9]", shown)


def test_messages_go_to_standard_error_alone(paths: Paths) -> None:
    """Missing and extra queries are told on standard error, not at all with `--quiet`; the document is the same."""
    loud = process("score", paths.qrels, paths.run, "AP")
    quiet = process("score", paths.qrels, paths.run, "AP", "--quiet")
    assert loud.stdout == quiet.stdout
    assert quiet.stderr == b""
    assert [word for word in (b"q3", b"q9") if word not in loud.stderr] == []


def test_json_is_utf_8_with_any_locale(paths: Paths) -> None:
    """Ids beyond ASCII arrive unharmed where the locale knows only ASCII."""
    qrels, run = paths.folder / "unicode.txt", paths.folder / "unicode.run"
    qrels.write_text("\u8cea\u554f 0 caf\u00e9 1\n", encoding="utf-8")
    run.write_text("\u8cea\u554f Q0 caf\u00e9 1 1.0 t\n", encoding="utf-8")
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for output in ("json", "trec", "table"):
        printed = process("score", qrels, run, "AP", "-q", "-o", output, environment=ascii_only).stdout
        assert "\u8cea\u554f" in printed.decode("utf-8")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--version"], 0),
        (["--help"], 0),
        (["score", "--help"], 0),
        (["demo"], 0),
        (["doctor"], 0),
        (["contracts"], 0),
        (["explain", "nDCG@10"], 0),
        (["contracts", "nothing"], 2),
        (["contracts", "chapter", "--diff", "nothing"], 2),
        (["explain", "nDCG"], 0),
        (["explain", "ndgc@10"], 2),
        (["score"], 2),
        (["nothing"], 2),
    ],
)
def test_exit_codes(arguments: list[str], code: int) -> None:
    """0 where it worked, 2 for wrong usage; and an error prints nothing on standard output."""
    done = metricpact(*arguments, code=code)
    assert (bool(done.stdout), bool(done.stderr)) == (code == 0, code == 2)


def loaded(*arguments: str) -> set[str]:
    """The top-level modules that a process has loaded when it ends, by Python's own account."""
    done = subprocess.run([sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True, check=True)
    names = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")]
    assert "site" in names
    return {name.partition(".")[0] for name in names}


HEAVY = {"pandas", "numba", "ranx", "ir_measures", "pytrec_eval", "pytrec_eval_ext", "scipy", "pyarrow", "torch"}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["score", "--help"], ["explain", "--help"], ["-h"]])
def test_help_and_version_load_neither_numpy_nor_polars(arguments: list[str]) -> None:
    """Asking what there is costs no heavy import."""
    assert loaded("-m", "metricpact", *arguments) & (HEAVY | {"numpy", "polars"}) == set()


def test_importing_the_package_loads_no_toolkit() -> None:
    """`import metricpact` alone loads neither pandas, numba, ranx, ir_measures nor pytrec_eval."""
    assert loaded("-c", "import metricpact") & HEAVY == set()
    assert loaded("-c", "import metricpact; metricpact.score, metricpact.Run, metricpact.Contract") & HEAVY == set()


def test_scoring_loads_only_the_backend_that_is_asked_for(paths: Paths) -> None:
    """A backend's library loads when it computes, and nothing that a plain score does not need."""
    arguments = ("-m", "metricpact", "score", str(paths.qrels), str(paths.run), "AP")
    assert loaded(*arguments) & HEAVY == {"pytrec_eval", "pytrec_eval_ext"}
    assert loaded(*arguments, "--backend", "reference") & HEAVY == set()
    assert "rich" not in loaded(*arguments)


def text_of(*arguments: str) -> str:
    """What a command prints, without more than one blank anywhere."""
    done = metricpact(*arguments)
    assert done.stderr == b""
    return re.sub(r"\s+", " ", done.stdout.decode())


def test_demo_shows_the_contract_beside_trec_eval() -> None:
    """The bundled example under the contract and trec_eval's profile, the fields that differ, the backends."""
    text = text_of("demo")
    wanted = ["chapter", "trec_eval-9.0.8", "P@3", "nDCG@3", "reference", "pytrec_eval", "ties", "gain", "undefined"]
    assert [word for word in wanted if word not in text] == []


@pytest.mark.parametrize(
    ("measure", "wanted"),
    [
        ("P@10", ["/ k", "cutoff", "reference", "pytrec_eval", "P_10"]),
        ("R@100", ["|R|", "recall_100", "threshold"]),
        ("RR@10", ["1 / rank", "recip_rank"]),
        ("AP@100", ["map_cut_100", "ap_denominator"]),
        ("ndcg_cut_10", ["nDCG@10", "ideal", "gain", "discount", "ndcg_cut_10"]),
        ("DCG@10", ["DCG@10", "unsupported"]),
        ("Bpref", ["Buckley", "bpref"]),
        ("SetF(beta=2)", ["SetF(beta=2)", "set_F"]),
        ("Judged@5", ["judged in the prefix"]),
    ],
)
def test_explain_tells_what_a_measure_is_and_is_not(measure: str, wanted: list[str]) -> None:
    """Formula, denominator, question, what it cannot report, the fields in force, the signature and each plan."""
    text = text_of("explain", measure)
    assert [word for word in [*wanted, "chapter/1", "||"] if word not in text] == []
    assert [word for word in ("question", "cannot", "denominator") if word not in text.lower()] == []


def test_explain_goes_by_the_contract_and_the_backend_that_are_named() -> None:
    """A field that is set shows as set, and one backend alone has its plan printed."""
    text = text_of("explain", "nDCG@5", "--set", "gain=linear", "--backend", "reference")
    assert "linear" in text
    assert "ndcg_cut_5" not in text


def test_contracts_lists_prints_and_compares() -> None:
    """The profiles by name; one of them as TOML that can be read back; the fields in which two differ."""
    listed = text_of("contracts")
    assert [name for name in ("chapter", "trec_eval-9.0.8", "trec_eval-9.0.8-c") if name not in listed] == []
    differing = metricpact("contracts", "trec_eval-9.0.8", "--diff", "trec_eval-9.0.8-c").stdout.decode()
    assert [line.split()[0] for line in differing.splitlines() if line.split()[0] in FIELDS] == ["queries"]
    wide = metricpact("contracts", "chapter", "--diff", "trec_eval-9.0.8").stdout.decode()
    assert {line.split()[0] for line in wide.splitlines() if line.split()[0] in FIELDS} == {
        "ties", "score_width", "rank_conflict", "gain", "undefined", "queries", "negative_grade",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["chapter", "trec_eval-9.0.8", "trec_eval-9.0.8-c"])
def test_a_printed_contract_is_the_contract(paths: Paths, name: str) -> None:
    """The TOML of a profile, saved and named in its place, is the same contract."""
    file = paths.folder / f"{name}.toml"
    file.write_bytes(metricpact("contracts", name).stdout)
    saved = document("score", paths.qrels, paths.run, "AP", "nDCG@3", "--contract", file, "-o", "json")
    named = document("score", paths.qrels, paths.run, "AP", "nDCG@3", "--contract", name, "-o", "json")
    assert Contract.from_toml(file).fields() == named["contract"]["fields"]
    assert [row["mean"] for row in saved["measures"]] == [row["mean"] for row in named["measures"]]


def test_doctor_names_versions_and_what_is_missing() -> None:
    """Python, the package, each backend with its engine."""
    text = text_of("doctor")
    python = ".".join(map(str, sys.version_info[:3]))
    wanted = [mp.__version__, python, "pytrec_eval", "trec_eval 9.0.8", "reference", "numpy", "polars"]
    assert [word for word in wanted if word not in text] == []


def test_html_is_one_page_of_escaped_cells(paths: Paths) -> None:
    """A table with a head and a row a measure; what a user named is text, never markup."""
    from xml.etree import ElementTree

    page = metricpact("score", paths.qrels, paths.run, *MEASURES, "-o", "html", "-p", "2").stdout.decode()
    assert page.startswith("<!DOCTYPE html>\n")
    root = ElementTree.fromstring(page.partition("\n")[2].replace('<meta charset="utf-8">', ""))  # noqa: S314 # the page is ours
    rows = [[cell.text for cell in row] for row in root.iter("tr")]
    assert rows[0][:3] == ["measure", "mean", "n"]
    assert [row[0] for row in rows[1:]] == MEASURES
    assert "src=" not in page and "http" not in page

    import polars as pl
    from metricpact.render.document import html_page, latex_tables
    from metricpact.render.report import Report, Table

    table = Table("<b>", pl.DataFrame({"a_b": ["<i> & 50%"], "x": [0.25]}))
    report = Report([table], dict, list, lambda: table.frame, ["a < b"])
    shown = html_page(report, 2)
    assert "<caption>&lt;b&gt;</caption>" in shown and "<td>&lt;i&gt; &amp; 50%</td>" in shown
    assert '<td class="n">0.25</td>' in shown and "a &lt; b" in shown
    assert r"\textless{}i\textgreater{} \& 50\% & 0.25 \\" in latex_tables(report, 2)


def test_latex_is_a_tabular_a_table(paths: Paths) -> None:
    """Names are escaped, numbers stand to the right, the signature is a comment."""
    text = metricpact("score", paths.qrels, paths.run, *MEASURES, "-o", "latex", "-p", "2").stdout.decode()
    lines = text.splitlines()
    assert lines[0] == r"% \usepackage{booktabs}"
    assert lines[2].startswith(r"\begin{tabular}{lr") and lines[3] == r"\toprule"
    assert lines[4].startswith("measure & mean & n & undefined") and lines[4].endswith(r"\\")
    body = lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]
    assert [line.split(" & ")[0] for line in body] == MEASURES
    assert lines[-1].startswith("% contract chapter/1, signature")
