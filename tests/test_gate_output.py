"""What `metricpact gate` prints and writes: exit codes, tables, JUnit XML, workflow commands; the composite action."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import metricpact as mp
import polars as pl
import pytest
import yaml
from metricpact.cli import main
from metricpact.render.gate import junit, workflow_commands

EXAMPLE = Path(__file__).resolve().parents[1] / "front/example"
GATE = '[[rule]]\nmeasures = "RR"\nmax_drop = 0.1\n\n[[rule]]\nmeasures = "P@1"\nslices = "half=*"\nmax_drop = 0.2\n'
N = 40
COVID = Path(__file__).resolve().parents[2] / "shared/data/trec_covid_r1/round1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judgments, a base, a worse candidate, slices and a gate."""
    made = tmp_path_factory.mktemp("gate")
    queries = [f"q{at:02}" for at in range(N)]
    (made / "qrels.txt").write_text("".join(f"{query} 0 yes 1\n{query} 0 no 0\n" for query in queries))
    for name, worse in (("base.run", 0), ("same.run", 0), ("worse.run", 20)):
        lines = [
            f"{query} Q0 {document} {rank} {10 - rank}.0 t\n"
            for at, query in enumerate(queries)
            for rank, document in enumerate(["no", "yes"] if at < worse else ["yes", "no"], 1)
        ]
        (made / name).write_text("".join(lines))
    (made / "slices.csv").write_text(
        "query_id,half\n" + "".join(f"{query},{'a' if at < 20 else 'b'}\n" for at, query in enumerate(queries))
    )
    (made / "gate.toml").write_text(GATE.replace("[[rule]]", "min_n = 20\n\n[[rule]]", 1))
    return made


def gate(folder: Path, *arguments: object, code: int) -> tuple[str, str]:
    """Run the command in this process, expect its exit code, and return what it printed on both streams."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(["gate", *map(str, arguments)])
    printed = [stream.detach().getvalue().decode() for stream in (out, err)]  # type: ignore[attr-defined] # BytesIO
    assert ended.value.code == code, printed
    return printed[0], printed[1]


def named(folder: Path, candidate: str) -> list[Path | str]:
    """The arguments of a gate on a candidate."""
    paths = [folder / name for name in ("gate.toml", "qrels.txt", "base.run", candidate)]
    return [*paths, "--slices", folder / "slices.csv"]


def test_exit_codes(folder: Path, tmp_path: Path) -> None:
    """0 all pass, 1 one fails, 2 one cannot be judged; 2 with an error block for wrong input."""
    passed, _ = gate(folder, *named(folder, "same.run"), "-o", "json", code=0)
    assert json.loads(passed)["verdict"] == "pass"
    failed, _ = gate(folder, *named(folder, "worse.run"), "-o", "json", code=1)
    assert json.loads(failed)["counts"] == {"pass": 1, "fail": 2, "cannot judge": 0}
    (tmp_path / "many.toml").write_text('min_n = 41\n[[rule]]\nmeasures = "RR"\nmax_drop = 0.1\n')
    undecided, said = gate(folder, tmp_path / "many.toml", *named(folder, "worse.run")[1:], "-o", "json", code=2)
    assert (json.loads(undecided)["verdict"], said) == ("cannot judge", "")


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        (["gate.toml", "qrels.txt", "base.run"], "name QRELS, BASE and CANDIDATE"),
        (["gate.toml", "qrels.txt", "base.run", "same.run", "nDCG@10"], "there are 4 after the gate"),
        (["no.toml", "qrels.txt", "base.run", "same.run"], "no such file"),
        (["gate.toml", "qrels.txt", "no.run", "same.run"], "no such file"),
        (["gate.toml", "qrels.txt", "base.run", "same.run"], "there is no slice table"),
        (["gate.toml", "qrels.txt", "base.run", "record:1@no.sqlite"], "no such records file"),
        (["gate.toml", "qrels.txt", "base.run", "record:x"], "names no record"),
        (["gate.toml", "record:1@base.run", "record:2@base.run"], "is not a records file"),
        (["gate.toml", "-", "-", "same.run"], "read once only"),
        (["gate.toml", "qrels.txt", "base.run", "same.run", "--write", "pdf=x"], "not FORMAT=FILE"),
        (["gate.toml", "qrels.txt", "base.run", "same.run", "-o", "trec"], "trec"),
        (
            ["gate.toml", "qrels.txt", "base.run", "same.run", "--slices", "slices.csv", "--write", "json=no/x"],
            "no/x: ",
        ),
    ],
)
def test_wrong_usage_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], fact: str) -> None:
    """A fact and a hint on standard error, nothing on standard output."""
    monkeypatch.chdir(folder)
    out, err = gate(folder, *arguments, code=2)
    assert out == ""
    assert fact in err and "hint: " in err and "Traceback" not in err


def test_every_format(folder: Path) -> None:
    """Each verdict with its numbers in each format; a line of signatures where people read."""
    shown = {
        name: gate(folder, *named(folder, "worse.run"), "-o", name, code=1)[0]
        for name in ("table", "markdown", "csv", "jsonl")
    }
    for name in ("table", "markdown"):
        assert all(
            word in shown[name] for word in ("half=a", "half=b", "-0.2500", "fail: 1 pass, 2 fail, 0 cannot judge")
        )
        assert "signature MEASURE|chapter/1||pytrec_eval" in shown[name]
    assert shown["markdown"].startswith("### ") and "| fail |" in shown["markdown"]
    rows = pl.read_csv(io.StringIO(shown["csv"]))
    assert rows["verdict"].to_list() == ["fail", "fail", "pass"]
    assert [json.loads(line)["slice"] for line in shown["jsonl"].splitlines()] == ["all", "half=a", "half=b"]


def test_files_are_written_beside_what_is_printed(folder: Path, tmp_path: Path) -> None:
    """--write may stand several times; Markdown is added to what is there, as a job's summary wants it."""
    summary, report = tmp_path / "summary.md", tmp_path / "gate.xml"
    summary.write_text("before\n")
    report.write_text("an old report that is longer than the new one" * 200)
    writes = [
        "--write",
        f"markdown={summary}",
        "--write",
        f"junit={report}",
        "--write",
        f"json={tmp_path / 'a=b.json'}",
    ]
    out, _ = gate(folder, *named(folder, "worse.run"), *writes, "-o", "github", code=1)
    assert out.startswith("::error ")
    assert summary.read_text().startswith("before\n### ")
    assert ElementTree.parse(report).getroot().tag == "testsuites"  # noqa: S314 # ours
    assert json.loads((tmp_path / "a=b.json").read_text())["schema"] == "metricpact.gate/1"


def hostile() -> Any:
    """A result whose names hold everything that a format could trip over."""
    qrels = {f"q{at}": {"yes": 1} for at in range(N)}
    run = {query: ["yes"] for query in qrels}
    nasty = "50%, a:b\r\n<&\"'>]]>\x00\x0b🙂"
    slices = {query: {"x": nasty} for query in qrels}
    worse = {query: ["no"] for query in qrels}
    rules = [{"measures": "RR", "max_drop": 0.1, "slices": ["x=*", "x=never"]}]
    return mp.gate({"rule": rules, "backend": "reference"}, qrels, run, worse, slices=slices)


def test_junit_has_the_usual_shape(folder: Path) -> None:
    """testsuites, testsuite and testcase with counts that add up; failure and error carry message and type."""
    text, _ = gate(folder, *named(folder, "worse.run"), "-o", "junit", code=1)
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ')
    for root in (ElementTree.fromstring(text), ElementTree.fromstring(junit(hostile()))):  # noqa: S314 # ours
        assert root.tag == "testsuites" and [suite.tag for suite in root] == ["testsuite"]
        cases = root[0].findall("testcase")
        assert len(cases) == len(root[0])
        for element in (root, root[0]):
            found = {name: sum(case.find(one) is not None for case in cases) for name, one in
                     (("failures", "failure"), ("errors", "error"))}  # fmt: skip
            assert {name: int(element.attrib[name]) for name in found} == found
            assert int(element.attrib["tests"]) == len(cases)
        for case in cases:
            assert case.attrib["name"] and case.attrib["classname"]
            for child in case:
                assert child.tag in ("failure", "error", "system-out")
                assert child.tag == "system-out" or (child.attrib["message"] and child.attrib["type"])
    hostile_cases = [case.attrib["name"] for case in root[0].findall("testcase")]
    assert "🙂" in hostile_cases[0] and "\ufffd" in hostile_cases[0]
    assert [child.tag for case in root[0] for child in case] == ["failure", "error"]


def test_workflow_commands_are_escaped() -> None:
    """One command a line whatever the names hold; unescaping gives back the names."""
    lines = workflow_commands(hostile()).split("\n")
    assert lines.pop() == ""
    commands = [re.fullmatch(r"::(error|warning|notice) ([^:]*)::(.*)", line) for line in lines]
    assert [found and found[1] for found in commands] == ["error", "warning", "notice"]
    first = commands[0]
    assert first is not None
    properties = dict(part.split("=", 1) for part in first[2].split(","))
    title = properties["title"]
    for code, plain in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        title = title.replace(code, plain)
    assert title.startswith("fail: RR on x=50%, a:b\r\n<&")
    assert "\n" not in first[3] and "%0D%0A" not in first[3]


def test_annotations_stand_at_the_rule(folder: Path) -> None:
    """File and line of the rule that fails; the total as a notice."""
    out, _ = gate(folder, *named(folder, "worse.run"), "-o", "github", code=1)
    lines = out.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith(f"::error file={folder / 'gate.toml'},line=3,title=fail%3A RR on all::")
    assert "line=7" in lines[1] and "half=a" in lines[1]
    assert lines[2].startswith("::notice ") and lines[2].endswith("worse.run")


@pytest.mark.skipif(not COVID.exists(), reason="the TREC-COVID round 1 runs are not there")
def test_real_runs_and_their_records_are_judged_alike(folder: Path, tmp_path: Path) -> None:
    """Two submitted runs over thirty topics: the same verdicts from files and from records of them."""
    qrels, rules = COVID / "qrels/qrels-rnd1.txt", tmp_path / "gate.toml"
    rules.write_text('[[rule]]\nmeasures = ["nDCG@10", "P@5"]\nmax_drop = 0.05\n[[rule]]\nmeasures = "P@10"\n'
                     "max_drop = 0.05\njudged_floor = 0.95\n")  # fmt: skip
    runs = [COVID / "runs/sab20.1.blind", COVID / "runs/udel_fang_run1"]
    from_files = json.loads(gate(folder, rules, qrels, *runs, "-o", "json", code=2)[0])
    assert [one["verdict"] for one in from_files["rules"]] == ["pass", "cannot judge", "cannot judge"]
    assert "0.6433 of what was returned is judged" in from_files["rules"][2]["why"]
    file = tmp_path / "scores.sqlite"
    for version, run in enumerate(runs):
        scores = mp.score(str(qrels), str(run), ["nDCG@10", "P@5", "P@10"])
        mp.add_record(
            file, scores, component="run", component_version=str(version), set_name="covid", set_version="round 1"
        )
    names = [f"record:{at}@{file}" for at in (1, 2)]
    assert json.loads(gate(folder, rules, *names, "-o", "json", code=2)[0])["rules"] == from_files["rules"]


def load_yaml(name: str) -> Any:
    """A YAML file of the example."""
    return yaml.safe_load((EXAMPLE / "action" / name).read_text(encoding="utf-8"))


def run_action(folder: Path, given: dict[str, str], place: Path) -> tuple[int, str, dict[str, str]]:
    """Run the gate step of the action as a runner does; its exit code, what it printed, and its outputs."""
    action = load_yaml("action.yml")
    inputs = {name: str(about.get("default", "")) for name, about in action["inputs"].items()} | given
    step = next(step for step in action["runs"]["steps"] if step.get("id") == "gate")
    environment = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: inputs[found[1]], value)
        for name, value in step["env"].items()
    }
    assert "${{" not in step["run"] + "".join(environment.values()), "inputs reach a script as variables only"
    command = place / "metricpact"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m metricpact "$@"\n')
    command.chmod(0o755)
    environment |= {"GITHUB_OUTPUT": str(place / "output"), "GITHUB_STEP_SUMMARY": str(place / "summary.md")}
    environment["PATH"] = f"{place}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip
    output = (place / "output").read_text().splitlines() if (place / "output").exists() else []
    return done.returncode, done.stdout + done.stderr, dict(line.split("=", 1) for line in output)


ACTION = {"gate": "gate.toml", "qrels": "qrels.txt", "base": "base.run", "slices": "slices.csv"}


@pytest.mark.parametrize(
    ("given", "code", "verdict"),
    [
        ({"candidate": "same.run"}, 0, "pass"),
        ({"candidate": "worse.run"}, 1, "fail"),
        ({"candidate": "same.run", "gate": "none.toml", "slices": ""}, 2, "cannot judge"),
        ({"candidate": "same.run", "gate": "none.toml", "slices": "", "cannot-judge": "pass"}, 0, "cannot judge"),
        ({"candidate": "absent $(run)", "cannot-judge": "pass"}, 2, None),
    ],
)
def test_the_action_runs(folder: Path, tmp_path: Path, given: dict[str, str], code: int, verdict: str | None) -> None:
    """The shell step itself: exit code, verdict, summary and reports; wrong input never counts as undecided."""
    (folder / "none.toml").write_text('[[rule]]\nmeasures = "RR"\nmax_drop = 0.1\nmin_n = 99\n')
    reports = tmp_path / "reports with a blank"
    returned, printed, outputs = run_action(folder, ACTION | given | {"reports": str(reports)}, tmp_path)
    assert (returned, outputs.get("verdict")) == (code, verdict), printed
    if verdict is None:
        assert "no such file" in printed
        assert not list(reports.iterdir())
        return
    assert f"gate%3A {verdict}" in printed
    assert json.loads((reports / "gate.json").read_text())["verdict"] == verdict
    assert ElementTree.parse(reports / "gate.xml").getroot().tag == "testsuites"  # noqa: S314 # ours
    assert (tmp_path / "summary.md").read_text().startswith("### gate.toml" if "gate" not in given else "### none.toml")


def test_the_action_and_the_workflow_fit() -> None:
    """Valid YAML in the shape that GitHub reads; the workflow gives the action inputs that it has."""
    action, workflow = load_yaml("action.yml"), load_yaml("workflow.yml")
    assert action["runs"]["using"] == "composite"
    assert all(step["shell"] == "bash" for step in action["runs"]["steps"])
    assert all(about["description"] for about in [*action["inputs"].values(), *action["outputs"].values()])
    (job,) = workflow["jobs"].values()
    assert workflow[True] == "pull_request"  # YAML 1.1 reads the key `on` as a truth value, and GitHub does not
    uses = [step for step in job["steps"] if "front/example/action" in step.get("uses", "")]
    assert len(uses) == 1
    required = {name for name, about in action["inputs"].items() if about.get("required")}
    assert required <= set(uses[0]["with"]) <= set(action["inputs"])
