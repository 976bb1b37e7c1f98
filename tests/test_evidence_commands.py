"""The commands coverage, decisions and absence as a user types them: documents, formats, notes, bad input."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typed import typed

EXAMPLES = Path(__file__).resolve().parents[1] / "front/example/evidence"
TASKS, SELECTION, POOL, INVENTORY = (
    str(EXAMPLES / f"{name}.jsonl") for name in ("tasks", "selection", "pool", "inventory")
)
COVERAGE = ["coverage", TASKS, SELECTION, "--pool", POOL, "--inventory", INVENTORY]
DECISIONS = ["decisions", str(EXAMPLES / "decisions.csv"), "--endpoints", str(EXAMPLES / "endpoints.toml")]
ABSENCE = ["absence", str(EXAMPLES / "absence.jsonl")]


def document(*arguments: object) -> dict[str, Any]:
    """The JSON document that a command prints."""
    loaded: dict[str, Any] = json.loads(typed(*arguments, "-o", "json").stdout)
    return loaded


def test_the_coverage_document() -> None:
    """The chapter's controls in one document: totals with n, rules side by side, refused units, every task."""
    made = document(*COVERAGE, "-q")
    assert made["schema"] == "metricpact.coverage/1"
    tasks = {row["task"]: row for row in made["per_task"]}
    assert {name: (row["covered"], row["decision"], row["reason"]) for name, row in tasks.items()} == {
        "partial-absence": (False, "refused", "not covered"),
        "three-clauses": (True, "refused", "unresolved opposition"),
        "lost-by-selection": (False, "refused", "not covered"),
        "jointly": (True, "accepted", None),
        "part-of-a-span": (False, "refused", "not covered"),
        "one-unit": (True, "accepted", None),
    }
    assert (tasks["partial-absence"]["components_covered"], tasks["partial-absence"]["components"]) == (1, 2)
    assert (tasks["partial-absence"]["coverable"], tasks["jointly"]["single_unit"]) == (False, False)
    lost = tasks["lost-by-selection"]
    assert (lost["candidate_components"], lost["components_covered"], lost["lost"]) == (2, 1, True)
    assert {row["refusal"] for row in made["units"]["refused"]} == {
        "fabricated", "revoked", "stale", "restricted", "altered",
    }  # fmt: skip
    assert all(row["line"] == 6 and row["meaning"] for row in made["units"]["refused"])
    totals = {row["quantity"]: (row["count"], row["n"]) for row in made["totals"]}
    assert totals["bundle-coverage"] == (3, 6)
    assert [row["covered"] for row in made["rules"]] == [3, 4, 4, 2, 4, 6, 4]
    assert all(row["signature"].endswith(f"||metricpact:{_version()}") for row in made["totals"] + made["rules"])
    assert set(made["inputs"]) == {"tasks", "selection", "pool", "inventory"}
    assert len(made["inputs"]["tasks"]["sha256"]) == 64
    assert "per_task" not in document(*COVERAGE)


def _version() -> str:
    import metricpact

    version: str = metricpact.__version__
    return version


def test_the_other_documents() -> None:
    """Decisions keep what is conditional under its own key; absence keeps control flow and quality apart."""
    decisions, absence = document(*DECISIONS), document(*ABSENCE, "-q")
    assert (decisions["schema"], absence["schema"]) == ("metricpact.decisions/1", "metricpact.absence/1")
    assert {(row["numerator"], row["denominator"]) for row in decisions["endpoints"]} == {
        (21, 21), (21, 43), (27, 28), (27, 43),
    }  # fmt: skip
    assert [row["value"] for row in decisions["conditional"]] == [21 / 37, None]
    assert decisions["label_sources"] == {"heuristic": 50}
    assert {row["quantity"].startswith("control-flow") for row in absence["evidence_quality"]} == {False}
    assert len(absence["per_need"]) == 7


@pytest.mark.parametrize("command", [COVERAGE, DECISIONS, ABSENCE], ids=["coverage", "decisions", "absence"])
def test_every_format(command: list[str]) -> None:
    """table, json, jsonl, csv, parquet, markdown hold the same numbers; trec is refused."""
    rows = list(csv.DictReader(io.StringIO(typed(*command, "-o", "csv").stdout)))
    shown = [sys.executable, "-m", "metricpact", *command, "-o", "parquet"]
    parquet = pl.read_parquet(io.BytesIO(subprocess.run(shown, capture_output=True, check=True).stdout))
    assert [float(row["value"]) if row["value"] else None for row in rows] == parquet["value"].to_list()
    records = [json.loads(line) for line in typed(*command, "-o", "jsonl").stdout.splitlines()]
    assert [record["value"] for record in records if "value" in record][:3] == parquet["value"].to_list()[:3]
    assert all("record" in record for record in records)
    table, markdown = (typed(*command, "-o", name).stdout for name in ("table", "markdown"))
    number = next(f"{value:.4f}" for value in parquet["value"].to_list() if value not in (None, 1.0))
    assert number in table
    assert f"| {number} |" in markdown
    assert "NaN" not in table + markdown
    typed(*command, "-o", "trec", code=2)


def test_by_task_in_flat_formats() -> None:
    """-q gives a row a task, or a need."""
    assert pl.read_csv(io.StringIO(typed(*COVERAGE, "-q", "-o", "csv").stdout)).height == 6
    assert pl.read_csv(io.StringIO(typed(*ABSENCE, "-q", "-o", "csv").stdout)).height == 7
    kinds = [json.loads(line)["record"] for line in typed(*COVERAGE, "-q", "-o", "jsonl").stdout.splitlines()]
    assert kinds.count("task") == 6


def test_places_are_for_people_alone() -> None:
    """-p rules the table and not the document."""
    assert "0.488372" in typed(*DECISIONS, "-o", "table", "-p", "6").stdout
    assert "0.4883720930232558" in typed(*DECISIONS, "-o", "csv", "-p", "2").stdout


def test_notes_are_on_standard_error_alone(tmp_path: Path) -> None:
    """Missing and extra packets, units outside the pool; --quiet leaves them out."""
    selection = tmp_path / "s.jsonl"
    selection.write_text('{"task": "jointly", "units": []}\n{"task": "nobody", "units": []}\n')
    out, err = typed("coverage", TASKS, selection, "--pool", POOL)
    assert "tasks without a packet, which counts as an empty one: 5 (partial-absence, three-clauses," in err
    assert "packets of no task, ignored: 1 (nobody)" in err
    assert json.loads(out)["tasks"]["extra"] == ["nobody"]
    assert typed("coverage", TASKS, selection, "--quiet").stderr == ""


def test_flags_of_endpoints_are_the_file() -> None:
    """--states, --endpoint and --unresolved say what the TOML file says."""
    flags = ["--states", "validated,deferred,rejected", "--unresolved", "deferred"]
    ends = ["--endpoint", "promotion=validated", "--endpoint", "retention=validated,deferred"]
    by_flags = document(*DECISIONS[:2], *flags, *ends)
    assert by_flags == document(*DECISIONS)


def test_standard_input() -> None:
    """- is standard input, for one of the files."""
    shown = [sys.executable, "-m", "metricpact", "coverage", TASKS, "-", "-o", "csv"]
    text = Path(SELECTION).read_text(encoding="utf-8")
    done = subprocess.run(shown, input=text, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1].startswith("bundle-coverage,0.5,3,6,")
    typed("coverage", "-", "-", code=2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["coverage", TASKS], "Missing argument 'SELECTION'"),
        (["coverage", TASKS, SELECTION, "--k", "0"], "0 is not in the range x>=1"),
        (["coverage", TASKS, SELECTION, "--k", "2", "--unranked"], "units without an order"),
        (["coverage", TASKS, SELECTION, "--overlap", "0"], "overlap = 0.0 is no share"),
        (["coverage", TASKS, SELECTION, "--format", "squad"], "not a form of tasks"),
        (["coverage", SELECTION, TASKS], "task 'partial-absence': the record has no 'bundles'"),
        (["coverage", TASKS, str(EXAMPLES / "decisions.csv")], "is no selection"),
        (["coverage", TASKS, SELECTION, "--inventory", TASKS], "the record has no 'document'"),
        (["decisions", DECISIONS[1]], "the states are not declared"),
        ([*DECISIONS, "--states", "a"], "--endpoints goes without"),
        (["decisions", "-", "--endpoints", "-"], "standard input (-) can be read once only"),
        ([*DECISIONS[:2], "--states", "a", "--endpoint", "a"], "'a' is no new endpoint"),
        ([*DECISIONS[:2], "--states", "validated", "--endpoint", "p=validated"], "'deferred', which is not declared"),
        ([*DECISIONS[:2], "--states", "validated"], "an endpoint"),
        ([*DECISIONS, "--confidence", "95"], "not a confidence level"),
        (["absence", TASKS], "the record has no 'need'"),
        (["absence", str(EXAMPLES / "decisions.csv")], "not JSON"),
    ],
)
def test_usage_and_input_errors(arguments: list[str], said: str) -> None:
    """Exit code 2, one block on standard error: what is the case, and a hint."""
    out, err = typed(*arguments, code=2)
    assert out == ""
    assert err.startswith("error: ")
    assert "Traceback" not in err
    assert said in err
