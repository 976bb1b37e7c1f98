"""``metricpact check``: what it finds, the report that it leaves, its exit codes, and native calls kept apart."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from metricpact.bridges import registry
from metricpact.cli import _run
from metricpact.contracts.errors import InputError
from metricpact.crosscheck import check as checking
from metricpact.crosscheck.check import AGREES, DIFFERS, FAILED, KNOWN, OUTCOMES, UNSUPPORTED, run_check
from metricpact.crosscheck.corpus import Case, load_cases
from metricpact.crosscheck.guard import Reply, Request, ask_natively
from metricpact.crosscheck.known import Known, load_known
from metricpact.crosscheck.report import CheckReport, from_json_lines, make_report, to_json_lines

CASES = load_cases()
BOTH = ["pytrec_eval", "reference"]


def some(*names: str) -> list[Case]:
    """The smoke cases and the named ones."""
    return [case for case in CASES if case.smoke or case.id in names]


def report_on(cases: list[Case], backends: list[str] = BOTH) -> CheckReport:
    """The report of a check that is not whole."""
    return make_report(run_check(cases, backends, whole=False), backends, {"cases": [], "fields": []})


@pytest.fixture(scope="module")
def small() -> CheckReport:
    """A report on a few cases and two backends."""
    return report_on(some("gain-exponential-one-place", "ties-average-graded", "measure-ap", "order-rank-not-listing"))


@pytest.mark.slow
def test_every_installed_backend_passes() -> None:
    """On all cases: bridges answer or refuse, what libraries do by themselves is known, and nothing is stale."""
    backends = registry.installed_backends()
    check = run_check(CASES, backends, whole=True)
    assert [
        (one.case.id, one.backend, one.contract) for one in check.records if one.contract.outcome in (DIFFERS, FAILED)
    ] == []
    assert [(one.case.id, one.backend, one.default) for one in check.records if one.outcome in (DIFFERS, FAILED)] == []
    assert check.stale == []
    assert len(check.records) == len(CASES) * len(backends)
    assert make_report(check, backends, {}).passed


def test_each_record_says_what_was_asked_and_given(small: CheckReport) -> None:
    """A record holds case, backend, measure, query, expected and given values, the native call, and how to see it."""
    record = next(
        one for one in small.records if one["case"] == "gain-exponential-one-place" and one["backend"] == "pytrec_eval"
    )
    assert record["outcome"] == KNOWN
    assert record["measure"] == "nDCG@1"
    assert record["query"] == "q"
    assert record["expected"] == {"query": "q", "value": pytest.approx(1 / 3)}
    assert record["contract"]["outcome"] == AGREES
    assert record["default"]["got"] == {"query": "q", "value": 0.5}
    assert record["default"]["known"] == ["gain=linear"]
    assert record["default"]["call"] == "pytrec_eval.RelevanceEvaluator(qrels, {'ndcg_cut_1'}).evaluate(run)"
    assert record["reproduce"] == "metricpact explain gain-exponential-one-place --backend pytrec_eval"


def test_unsupported_comes_with_its_reason(small: CheckReport) -> None:
    """A refusal is told apart from a wrong answer, in both modes."""
    by_case = {record["case"]: record for record in small.records if record["backend"] == "pytrec_eval"}
    under = by_case["ties-average-graded"]["contract"]
    reason = "one ranking is scored at a time: there is no expected value over tie orders"
    assert under == {"outcome": UNSUPPORTED, "got": None, "reason": reason}
    itself = by_case["order-rank-not-listing"]["default"]
    assert itself["outcome"] == UNSUPPORTED
    assert "with scores only" in itself["reason"]


def test_an_unknown_difference_fails_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without what is known of a library, its difference is a difference, and the exit code is 1."""

    def nothing_known(backend: str) -> Known:
        return replace(load_known(backend), conventions=(), differences=())

    monkeypatch.setattr(checking, "load_known", nothing_known)
    report = report_on(some("gain-exponential-one-place"), ["pytrec_eval"])
    assert [record["default"]["outcome"] for record in report.records] == [AGREES, AGREES, AGREES, DIFFERS]
    assert not report.passed
    assert (
        _run(["check", "--backend", "pytrec_eval", "--case", "gain-exponential-one-place", "-o", "json"], debug=True)
        == 1
    )


def test_a_false_convention_explains_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A known difference has to give the very number: a wrong statement of the library's convention hides nothing."""

    def wrongly_known(backend: str) -> Known:
        known = load_known(backend)
        false = tuple(
            replace(one, value=((1.0, 2.0), (2.0, 7.0))) if one.field == "gain" else one for one in known.conventions
        )
        return replace(known, conventions=false)

    monkeypatch.setattr(checking, "load_known", wrongly_known)
    records = run_check(some("gain-exponential-one-place"), ["pytrec_eval"], whole=False).records
    assert [one.default.outcome for one in records if one.default][-1] == DIFFERS


def test_a_native_call_that_is_not_connected_is_not_taken_for_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the library's own call fails a smoke case, no other case is held against the library."""

    def nonsense(backend: str, asked: list[Request]) -> list[Reply]:
        return [Reply(values={"q": 0.125, "a": 0.125, "b": 0.125})] * len(asked)

    monkeypatch.setattr(checking, "ask_natively", nonsense)
    records = run_check(some("measure-ap"), ["pytrec_eval"], whole=False).records
    assert [one.contract.outcome for one in records] == [AGREES] * 4
    assert [one.default.outcome for one in records if one.default] == [DIFFERS] * 3 + [FAILED]
    assert records[-1].default is not None
    assert "the adapter is at fault and not the library" in records[-1].default.reason


# ---------------------------------------------------------------- the report


def test_the_report_reads_back(small: CheckReport) -> None:
    """Header, records and footer survive writing and reading."""
    back = from_json_lines(to_json_lines(small), "report.jsonl")
    assert back.document() == small.document()
    assert back.header["backends"]["pytrec_eval"]["engine"] == "trec_eval 9.0.8"
    assert back.footer["records"] == len(small.records) == 14
    assert sum(back.footer["counts"]["reference"]["contract"].values()) == 7
    assert list(back.footer["counts"]["reference"]["contract"]) == list(reversed(OUTCOMES))


def test_a_report_that_was_cut_off_is_refused(small: CheckReport) -> None:
    """At whatever line or character the text ends, it is not taken for a report."""
    text = to_json_lines(small)
    lines = text.splitlines(keepends=True)
    ends = [len("".join(lines[:count])) for count in range(len(lines))] + [len(text) - 1, len(text) // 2, len(text) - 7]
    for end in ends:
        with pytest.raises(InputError):
            from_json_lines(text[:end], "report.jsonl")


@pytest.mark.parametrize(
    ("spoil", "fact"),
    [
        (lambda lines: [], "is empty"),
        (lambda lines: lines + lines, "two headers"),
        (lambda lines: lines[1:], "does not begin with a header"),
        (lambda lines: [*lines, lines[-1]], "two footers"),
        (lambda lines: [*lines[:2], lines[1], *lines[2:]], "is there twice"),
        (lambda lines: [*lines[:2], *lines[3:]], "the footer counts"),
        (lambda lines: [lines[0], lines[1].replace('"agrees"', '"differs"'), *lines[2:]], "counts are not those"),
        (lambda lines: [*lines[:2], "{'no': 'json'}\n", *lines[2:]], "is not JSON"),
        (lambda lines: [*lines[:2], '{"record": "remark"}\n', *lines[2:]], "no header, case or footer"),
    ],
)
def test_a_spoiled_report_is_refused(small: CheckReport, spoil: Any, fact: str) -> None:
    """Empty, doubled, shortened or edited: a report is whole or none."""
    with pytest.raises(InputError, match=fact):
        from_json_lines("".join(spoil(to_json_lines(small).splitlines(keepends=True))), "report.jsonl")


def test_a_report_is_shown_again(
    small: CheckReport, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Table, Markdown, JSON and JSON lines are all made from the report file, with the exit code of the check."""
    path = tmp_path / "report.jsonl"
    path.write_text(to_json_lines(small), encoding="utf-8")
    shown = {}
    for output in ("table", "markdown", "json", "jsonl", "csv"):
        assert _run(["check", "--report", str(path), "-o", output], debug=True) == 0
        shown[output] = capsysbinary.readouterr().out.decode()
    assert json.loads(shown["json"]) == small.document()
    assert shown["jsonl"] == path.read_text(encoding="utf-8")
    assert "gain=linear" in shown["table"]
    assert "| pytrec_eval | gain=linear | 1 |" in shown["markdown"]
    assert len(shown["csv"].splitlines()) == 1 + len(small.records)
    path.write_text(to_json_lines(small)[:-20], encoding="utf-8")
    assert _run(["check", "--report", str(path)], debug=False) == 2


# ---------------------------------------------------------------- the command


@pytest.mark.parametrize(
    "arguments",
    [
        ["--case", "no-such-case"],
        ["--field", "no_such_field"],
        ["--backend", "no_such_backend"],
        ["--report", "no-such-file"],
        ["--report", "-", "--case", "measure-ap"],
    ],
)
def test_what_cannot_be_checked_is_a_usage_error(arguments: list[str]) -> None:
    """An unknown name is exit code 2, never a check that passes because nothing ran."""
    assert _run(["check", *arguments], debug=False) == 2


def test_cases_are_chosen_by_field(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """--field runs the cases that pin the field, after the smoke cases."""
    assert _run(["check", "--backend", "reference", "--field", "discount", "-o", "json"], debug=True) == 0
    cases = json.loads(capsysbinary.readouterr().out)["cases"]
    assert {case["pins"].partition("=")[0] for case in cases[3:]} == {"discount"}
    assert [case["case"] for case in cases[:3]] == [case.id for case in CASES if case.smoke]


@pytest.mark.parametrize(
    "absent",
    [
        subset
        for size in range(len(registry.BACKENDS))
        for subset in combinations(sorted({*registry.BACKENDS} - {"reference"}), size)
    ],
    ids="-".join,
)
def test_any_backend_may_be_absent(
    absent: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """The others are checked; what is missing is named with the command that installs it."""
    ask = {*filter(registry.is_installed, registry.BACKENDS)} - {*absent}
    monkeypatch.setattr(checking, "ask_natively", lambda backend, asked: [Reply(refused="not asked here")] * len(asked))
    monkeypatch.setattr(registry, "is_installed", lambda name: name in ask)
    monkeypatch.setattr("metricpact.crosscheck.report.is_installed", lambda name: name in ask)
    assert _run(["check", "--case", "measure-ap", "-o", "json"], debug=True) == 0
    out, err = capsysbinary.readouterr()
    report = json.loads(out)
    assert set(report["header"]["backends"]) == ask
    assert set(report["header"]["missing"]) == {*registry.BACKENDS} - ask
    for name in {*registry.BACKENDS} - ask:
        assert f"note: backend {name} is not installed and not checked: {registry.how_to_install(name)}" in err.decode()


def test_a_named_backend_has_to_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for by name, a missing backend is an error and not left out."""
    monkeypatch.setattr(registry, "is_installed", lambda name: name == "reference")
    assert _run(["check", "--backend", "pytrec_eval", "--case", "measure-ap"], debug=False) == 2


def test_explain_shows_a_case(capsys: pytest.CaptureFixture[str]) -> None:
    """The line of a record shows the question, the answer, the plan, both values, the call and the known convention."""
    assert _run(["explain", "gain-exponential-one-place", "--backend", "pytrec_eval"], debug=True) == 0
    text = capsys.readouterr().out
    for part in (
        "Grade 1 in place of grade 2 is worth a third.",
        "gain=exponential: 2^g − 1",
        "expected  0.333333333333",
        "grades to gains → call ndcg_cut_1",
        "RelevanceEvaluator(qrels, {'ndcg_cut_1'}).evaluate(run)",
        "got     0.5",
        "known difference",
        "gain=linear (never): ndcg and ndcg_cut take the grade itself as gain; https://",
    ):
        assert part in text


def test_explain_shows_a_refusal(capsys: pytest.CaptureFixture[str]) -> None:
    """A case that expects a refusal shows who refuses what."""
    assert _run(["explain", "duplicate-error-run", "--backend", "reference"], debug=True) == 0
    text = capsys.readouterr().out
    assert "expected  refused (input, query q, document a)" in text
    assert "result  agrees" in text


# ---------------------------------------------------------------- native calls in a process of their own

ROWS = CASES[0].question.rows
KILLER = """
import os, signal
class Bridge:
    name, package, extra = "killer", "metricpact", ""
    def native(self, judgments, run, measures):
        if measures == ["die"]:
            os.kill(os.getpid(), signal.SIGSEGV)
        if measures == ["raise"]:
            raise ValueError("no")
        print("a library that talks")
        return {measures[0]: {"q": 0.25}}
BRIDGE = Bridge()
"""
REGISTER = "import metricpact.bridges.registry as r\nr.BACKENDS['killer'] = 'killer_bridge'\n"


@pytest.fixture
def killer(tmp_path: Path) -> dict[str, str]:
    """An environment whose processes know a backend that can end them."""
    (tmp_path / "killer_bridge.py").write_text(KILLER)
    (tmp_path / "sitecustomize.py").write_text(REGISTER)
    return {"PYTHONPATH": str(tmp_path)}


def test_a_call_that_kills_its_process_is_one_reply(killer: dict[str, str]) -> None:
    """The others are answered: before it, and after it in another process; talk on standard output is no answer."""
    asked = [Request(ROWS, name) for name in ("fine", "die", "fine", "raise", "die")]
    fine = Reply(values={"q": 0.25})
    assert ask_natively("killer", asked, killer) == [
        fine,
        Reply(killed="signal 11"),
        fine,
        Reply(raised="ValueError: no"),
        Reply(killed="signal 11"),
    ]


def test_a_process_that_does_not_start_is_said() -> None:
    """No reply is made up where the child cannot even begin."""
    replies = ask_natively("no_such_backend", [Request(ROWS, "P_1")] * 2)
    assert [reply.killed[:21] for reply in replies] == ["no start: exit code 1"] * 2


def test_harmful_input_is_refused_before_the_library() -> None:
    """A query with only negative grades kills trec_eval: the bridge's limit answers instead."""
    rows = {
        "judgments": [
            {"query": "p", "document": "A", "grade": 1},
            {"query": "q", "document": "A", "grade": -2},
        ],
        "run": [{"query": "p", "document": "A", "score": 1}, {"query": "q", "document": "A", "score": 1}],
    }
    (reply,) = ask_natively("pytrec_eval", [Request(rows, "P_1")])
    assert "only negative grades" in reply.refused
