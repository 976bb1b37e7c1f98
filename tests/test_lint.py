"""Lint: every code is planted in a clean pair of files and found, alone but for what it implies; nothing else is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import metricpact as mp
import pytest
import readme
from metricpact.bridges.sources.kinds import KINDS, SEVERITIES
from metricpact.cli import main
from metricpact.contracts.errors import InputError, MeasureError, MetricpactError
from metricpact.crosscheck.lint.lint import LintReport

QUERIES = [f"q{number}" for number in range(1, 13)]
NOTES = {"grade-scale", "depth", "unjudged"}
"""What is said about every pair of files, clean ones included."""
DATA = Path(__file__).resolve().parents[1] / "../shared/data"

Files = tuple[list[str], list[str]]


def clean() -> Files:
    """Twelve queries with twelve documents each, all judged; better ones stand higher."""
    qrels = [f"{query} 0 {query}-d{i} {2 if i == 1 else int(i < 4)}" for query in QUERIES for i in range(1, 13)]
    run = [f"{query} Q0 {query}-d{i} {i} {20 - i}.5 tag" for query in QUERIES for i in range(1, 13)]
    return qrels, run


def lint(tmp_path: Path, qrels: str | bytes, run: str | bytes, **options: object) -> LintReport:
    """Lint two files of the given texts."""
    paths = [tmp_path / "qrels.txt", tmp_path / "run.txt"]
    for path, text in zip(paths, (qrels, run), strict=True):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return mp.lint(*paths, **options)


def text(lines: list[str]) -> str:
    """Lines as a file."""
    return "\n".join(lines) + "\n"


def test_a_clean_pair_has_notes_only(tmp_path: Path) -> None:
    """Nothing is wrong with it, so nothing is said but what is said of every pair."""
    qrels, run = map(text, clean())
    report = lint(tmp_path, qrels, run)
    assert set(report.counts) == NOTES
    assert report.passed(strict=True)
    assert [linted.rows for linted in report.inputs] == [144, 144]


def edit(which: str, line: int, new: str | Callable[[str], str] | None) -> Callable[[Files], Files]:
    """A mutation that changes one line (from 1) of the qrels or the run, or drops it (None)."""

    def change(files: Files) -> Files:
        qrels, run = files
        lines = qrels if which == "qrels" else run
        if new is None:
            del lines[line - 1]
        else:
            lines[line - 1] = new(lines[line - 1]) if callable(new) else new
        return qrels, run

    return change


def every(which: str, change: Callable[[str], str], query: str = "") -> Callable[[Files], Files]:
    """A mutation that changes all lines (of a query)."""

    def changed(files: Files) -> Files:
        made = [
            [
                change(line) if name == which and line.startswith(f"{query} " if query else "") else line
                for line in lines
            ]
            for name, lines in zip(("qrels", "run"), files, strict=True)
        ]
        return made[0], made[1]

    return changed


def insert(which: str, line: int, *new: str) -> Callable[[Files], Files]:
    """A mutation that puts lines before one line (from 1)."""

    def change(files: Files) -> Files:
        (files[0] if which == "qrels" else files[1])[line - 1 : line - 1] = new
        return files

    return change


def swap(which: str, one: int, other: int) -> Callable[[Files], Files]:
    """A mutation that exchanges two lines."""

    def change(files: Files) -> Files:
        lines = files[0] if which == "qrels" else files[1]
        lines[one - 1], lines[other - 1] = lines[other - 1], lines[one - 1]
        return files

    return change


def field(place: int, new: str | Callable[[str], str]) -> Callable[[str], str]:
    """A change of one field of a line."""

    def change(line: str) -> str:
        fields = line.split(" ")
        fields[place] = new(fields[place]) if callable(new) else new
        return " ".join(fields)

    return change


def same_ranking(files: Files) -> Files:
    """All queries get the documents of the first, and are judged on them."""
    return tuple([line.replace(f" {line.split()[0]}-", " q1-") for line in lines] for lines in files)  # type: ignore[return-value]


def reversed_codes(line: str) -> str:
    """Grades 1 to 4, 1 the best, given by place."""
    document = int(line.split()[2].partition("-d")[2])
    return field(3, str(min(4, (document + 2) // 3)))(line)


# code → what plants it, what else it brings along, and the line at which it is found (None: it has none).
PLANTED: dict[str, tuple[Callable[[Files], Files], set[str], int | None]] = {
    "malformed-line": (edit("run", 7, "q1 Q0 q1-d7"), {"unjudged"}, 7),
    "words-behind-tag": (edit("run", 7, lambda line: line + " and more"), set(), 7),
    "not-finite": (edit("run", 12, field(4, "nan")), set(), 12),
    "header-line": (insert("run", 1, "qid Q0 docno rank score tag"), set(), 1),
    "comment-line": (insert("qrels", 3, "# a comment", "# another"), set(), 3),
    "blank-line": (insert("run", 5, ""), set(), 5),
    "byte-order-mark": (edit("qrels", 1, lambda line: "\ufeff" + line), set(), 1),
    "crlf": (every("run", lambda line: line + "\r"), set(), 1),
    "byte-order-mark-inside": (
        edit("run", 13, lambda line: "\ufeff" + line),
        {"near-query", "extra-query", "short-ranking"},
        13,
    ),
    "blank-in-id": (edit("qrels", 12, field(2, "q1-d12\u3000")), {"near-document"}, 12),
    "near-query": (every("run", field(0, "Q2"), "q2"), {"missing-query", "extra-query"}, 13),
    "near-document": (edit("run", 14, field(2, "Q2-D2")), set(), 14),
    "document-is-query": (edit("run", 12, field(2, "q1")), set(), 12),
    "duplicate-judgment": (insert("qrels", 5, "q1 0 q1-d2 1"), set(), 5),
    "conflicting-judgment": (insert("qrels", 5, "q1 0 q1-d2 0"), set(), 5),
    "negative-grade": (edit("qrels", 12, field(3, "-2")), set(), 12),
    "fractional-grade": (edit("qrels", 12, field(3, "0.5")), set(), 12),
    "no-positive-query": (every("qrels", field(3, "0"), "q3"), set(), 25),
    "reversed-grades": (every("qrels", reversed_codes), set(), None),
    "duplicate-document": (edit("run", 12, field(2, "q1-d11")), set(), 12),
    "rank-conflict": (edit("run", 12, field(3, "1")), set(), None),
    "bad-rank": (edit("run", 12, field(3, "x")), set(), 12),
    "scattered-query": (swap("qrels", 12, 24), set(), 24),
    "unsorted-ranking": (swap("run", 4, 5), set(), 5),
    "tied-scores": (edit("run", 12, field(4, "9.5")), set(), 12),
    "tie-at-relevance": (edit("run", 4, field(4, "17.5")), {"tied-scores"}, 4),
    "float32-ties": (edit("run", 12, field(4, "9.499999999")), set(), 12),
    "constant-scores": (every("run", field(4, "3.5"), "q2"), {"tied-scores", "tie-at-relevance"}, 13),
    "identical-rankings": (same_ranking, set(), 13),
    "several-tags": (edit("run", 140, field(5, "other")), set(), 140),
    "short-ranking": (lambda files: (files[0], files[1][:8] + files[1][12:]), set(), 1),
    "mismatched-queries": (every("run", lambda line: "x" + line), {"unjudged"}, None),
    "mismatched-documents": (every("run", field(2, lambda doc: "x" + doc)), set(), None),
    "missing-query": (lambda files: (files[0], files[1][12:]), set(), None),
    "extra-query": (lambda files: (files[0][:-12], files[1]), set(), 133),
}
ELSEWHERE = {"repeated-rank"} | {"cannot-open", "unreadable", "how-read", "no-rows", "not-utf8"} | NOTES
"""Codes that other tests plant."""


def test_every_code_is_planted_somewhere() -> None:
    """A code that no test plants could be dead."""
    assert set(PLANTED) | ELSEWHERE == set(KINDS)


def test_the_page_of_codes_is_fresh() -> None:
    """`make docs` would change nothing."""
    assert readme.CODES.read_text(encoding="utf-8") == readme.codes()


@pytest.mark.parametrize("code", PLANTED)
def test_a_planted_defect_is_found_alone(tmp_path: Path, code: str) -> None:
    """Exactly the planted code appears, at its line, besides what it implies."""
    plant, implied, line = PLANTED[code]
    qrels, run = map(text, plant(clean()))
    report = lint(tmp_path, qrels, run)
    assert set(report.counts) - NOTES - implied == {code}
    found = [finding for finding in report.findings if finding.code == code]
    if line is not None:
        assert line in [finding.line for finding in found]
    assert report.passed() == (not any(KINDS[each].severity == "error" for each in report.counts))
    assert all(finding.message and finding.file for finding in found)


def codes(report: LintReport) -> dict[str, int]:
    """The counts without what is said of every pair."""
    return {code: count for code, count in report.counts.items() if code not in NOTES}


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """What cannot be opened, is damaged, empty or no text is a finding; only where nothing opens is it an error."""
    qrels, run = map(text, clean())
    good = tmp_path / "good.txt"
    good.write_text(run)
    assert codes(lint(tmp_path, "", run)) == {"no-rows": 1}
    assert codes(lint(tmp_path, qrels, "\n \n")) == {"no-rows": 1}
    assert codes(lint(tmp_path, qrels, b"\x1f\x8b\x08\0\0\0\0\0\0\0")) == {"unreadable": 1}
    assert codes(lint(tmp_path, qrels, "{")) == {"malformed-line": 1}
    damaged = run.encode().replace(b"q2-d3 ", b"q2-\xe9 ", 1).replace(b"q2-d4 ", b"q2-\0 ", 1)
    report = lint(tmp_path, qrels, damaged)
    assert codes(report) == {"not-utf8": 2}
    assert [finding.line for finding in report.findings if finding.severity == "error"] == [15, 16]
    report = mp.lint(tmp_path / "absent", good)
    assert report.inputs[0].rows is None
    assert codes(report) == {"cannot-open": 1}
    assert not report.passed()
    with pytest.raises(InputError, match="no such file"):
        mp.lint(tmp_path / "absent", tmp_path / "absent2")


def test_no_defect_hides_another(tmp_path: Path) -> None:
    """Many defects in one file are all found, in one pass."""
    files = clean()
    for code in ("malformed-line", "not-finite", "comment-line", "duplicate-judgment", "several-tags", "crlf"):
        files = PLANTED[code][0](files)
    report = lint(tmp_path, *map(text, files))
    assert set(codes(report)) == {
        "malformed-line", "not-finite", "comment-line", "duplicate-judgment", "several-tags", "crlf"
    }  # fmt: skip


def test_a_file_of_nothing_but_malformed_lines_is_counted_whole(tmp_path: Path) -> None:
    """The list is limited, the counts are not; without a limit all are listed."""
    qrels, _ = clean()
    report = lint(tmp_path, text(qrels), "broken\n" * 5_000, limit=3)
    assert (report.counts["malformed-line"], report.total("error")) == (5_000, 5_001)
    assert [finding.code for finding in report.findings if finding.severity == "error"] == [
        "no-rows", "malformed-line", "malformed-line", "malformed-line"
    ]  # fmt: skip
    assert len(lint(tmp_path, text(qrels), "broken\n" * 50, limit=0).findings) == 52


def test_faults_far_apart_in_a_large_file_keep_their_lines(tmp_path: Path) -> None:
    """A file of several slices and morsels, with faults, comments and carriage returns in the middle of it."""
    rows = [f"q{number // 50} Q0 d{number} {number % 50 + 1} {50 - number % 50}.25 tag" for number in range(500_000)]
    rows[123_456], rows[400_000], rows[400_001] = "q2469 broken", "# note", ""
    rows[499_999] += "\r"
    report = lint(tmp_path, "q1 0 d50 1\nq1 0 d51 0\n", text(rows))
    lines = {finding.code: finding.line for finding in report.findings if finding.file.endswith("run.txt")}
    assert (lines["malformed-line"], lines["comment-line"], lines["blank-line"], lines["crlf"]) == (
        123_457, 400_001, 400_002, 500_000
    )  # fmt: skip
    assert report.inputs[1].rows == 499_997


@pytest.mark.parametrize(
    ("judged", "returned", "difference"),
    [
        ("é1", "e\u03011", "Unicode NFC"),
        ("ﬁ1", "fi1", "Unicode NFKC"),
        ("Doc1", "doc1", "letter case"),
        ("Straße", "STRASSE", "letter case"),
        ("007", "7", "leading zeros"),
        ("7", "007", "leading zeros"),
        ("d1", "d1\u00a0", "blanks or a byte order mark"),
        ("d1", "\ufeffd1", "blanks or a byte order mark"),
        ("0D1\u3000", "d1", "blanks or a byte order mark and letter case and leading zeros"),
    ],
)
def test_ids_that_would_match_are_told_with_their_difference(judged: str, returned: str, difference: str) -> None:
    """For documents and for queries, on objects as on files."""
    report = mp.lint({"q": {judged: 1, "x": 0}}, {"q": {returned: 2.0, "x": 1.0}})
    told = [finding for finding in report.findings if finding.code == "near-document"]
    assert [(one.document, one.query) for one in told] == [(returned, "q")]
    assert told[0].message.endswith(f"but for {difference}")
    report = mp.lint({judged: {"d": 1}, "q": {"d": 1}}, {returned: {"d": 2.0}, "q": {"d": 1.0}})
    told = [finding for finding in report.findings if finding.code == "near-query"]
    assert [one.message.partition(" but for ")[2] for one in told] == [difference]


def test_two_spellings_that_are_both_judged_are_not_near() -> None:
    """Ids that differ in case only and both occur on both sides are different documents."""
    report = mp.lint({"q": {"a": 1, "A": 0}}, {"q": {"a": 2.0, "A": 1.0}})
    assert "near-document" not in report.counts


def test_numbers_in_messages_are_right() -> None:
    """Ties, straddling ties, unjudged shares and depths, worked out by hand."""
    qrels = {"q": {"a": 1, "b": 0, "c": 2, "z": 1}}
    run = {"q": {"a": 3.0, "u": 3.0, "c": 2.0, "v": 1.0, "w": 1.0}, "extra": {"a": 1.0}}
    found = {}
    for finding in mp.lint(qrels, run, cutoffs=[1, 4]).findings:
        found.setdefault(finding.code, []).append(finding)
    assert [one.count for one in found["tied-scores"]] == [4]
    assert [one.count for one in found["tie-at-relevance"]] == [1, 1]
    assert "2 of 4 documents in the first 4" in found["unjudged"][1].message
    assert "0 of 1 documents in the first 1" in found["unjudged"][0].message
    assert "2 rankings of 1 to 5 documents, median 3; 1 go beyond 1, 1 go beyond 4" in found["depth"][0].message
    assert found["extra-query"][0].queries == ("extra",)
    assert [one.queries for one in found["short-ranking"]] == [("extra",)]


def test_ties_of_equal_grades_do_not_straddle() -> None:
    """Tied documents of one grade may stand in any order, and unjudged ones count as grade 0."""
    assert "tie-at-relevance" not in mp.lint({"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0, "b": 1.0}}).counts
    assert "tie-at-relevance" not in mp.lint({"q": {"a": 0, "x": 1}}, {"q": {"a": 1.0, "b": 1.0}}).counts
    assert "tie-at-relevance" in mp.lint({"q": {"a": 1, "b": 2}}, {"q": {"a": 1.0, "b": 1.0}}).counts


def test_a_run_without_scores_is_ordered_by_its_ranks(tmp_path: Path) -> None:
    """As scoring does it: the prefix is that of the ranks, equal ranks are an error, and nothing is tied."""
    path = tmp_path / "run.csv"
    path.write_text("query_id,doc_id,rank\nq,u,2\nq,a,1\n")
    report = mp.lint({"q": {"a": 1, "b": 0}}, path, cutoffs=[1])
    assert "0 of 1 documents" in next(each.message for each in report.findings if each.code == "unjudged")
    assert codes(report) == {}
    path.write_text("query_id,doc_id,rank\nq,u,2\nq,a,1\nq,v,2\n")
    (found,) = [each for each in mp.lint({"q": {"a": 1}}, path, cutoffs=[1]).findings if each.severity == "error"]
    assert (found.code, found.lines, found.document) == ("repeated-rank", (4, 2), "v")
    assert codes(mp.lint({"q": {"a": 1, "u": 0}}, {"q": ["a", "u"]}, cutoffs=[1])) == {}


def test_a_grade_beyond_2_53_is_a_malformed_line_and_stops_nothing(tmp_path: Path) -> None:
    """The other judgments are looked at all the same."""
    qrels, run = clean()
    qrels[4], qrels[11] = "q1 0 q1-d5 1e30", "q1 0 q1-d12 -1"
    assert codes(lint(tmp_path, text(qrels), text(run))) == {"malformed-line": 1, "negative-grade": 1}


def test_queries_and_rankings_without_rows() -> None:
    """An empty ranking or judgment has no row, no line, and is looked at all the same."""
    report = mp.lint({"q": {"a": 1}, "none": {}}, {"q": {}, "none": {}, "\u00a0e": {}})
    assert {"no-positive-query", "extra-query", "blank-in-id", "short-ranking"} <= set(report.counts)
    assert mp.lint({"q": {"a": 1}}, {}).counts["mismatched-queries"] == 1
    assert "mismatched-queries" not in mp.lint({"q": {"a": 1}}).counts


def test_lint_says_what_scoring_refuses(tmp_path: Path) -> None:
    """Every error of lint is what the chapter contract or a reader refuses, for each planted defect."""
    for code, (plant, implied, _) in PLANTED.items():
        files = plant(clean())
        report = lint(tmp_path, *map(text, files))
        try:
            mp.score(tmp_path / "qrels.txt", tmp_path / "run.txt", ["nDCG@10"], backend="reference")
            refused = False
        except MetricpactError:
            refused = True
        errors = {each for each in report.counts if KINDS[each].severity == "error"}
        # An id with a byte order mark inside is read as it stands.
        assert bool(errors - {"byte-order-mark-inside"}) == refused, (code, implied)


def run_command(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """``metricpact lint …``: exit code, standard output, standard error."""
    with pytest.raises(SystemExit) as ended:
        main(["lint", *map(str, arguments)])
    captured = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, captured.out, captured.err


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, Path]:
    """Two clean files."""
    for name, lines in zip(("qrels.txt", "run.txt"), clean(), strict=True):
        (tmp_path / name).write_text(text(lines))
    return tmp_path / "qrels.txt", tmp_path / "run.txt"


def test_exit_codes(paths: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """0 without errors, 1 with them, 1 with warnings under --strict, 2 where nothing opens or the usage is wrong."""
    qrels, run = paths
    assert run_command(capsys, qrels, run)[0] == 0
    assert run_command(capsys, qrels, run, "--strict")[0] == 0
    run.write_text(run.read_text().replace("\n", "\r\n"))
    assert run_command(capsys, qrels, run)[0] == 0
    assert run_command(capsys, qrels, run, "--strict")[0] == 1
    run.write_text("broken\n")
    assert run_command(capsys, qrels, run)[0] == 1
    for wrong in ([tmp_path / "absent"], [qrels, run, "-k", "0"], ["-", "-"], [qrels, "--format", "no"], []):
        code, out, err = run_command(capsys, *wrong)
        assert (code, out, err[:7]) == (2, "", "error: "), wrong
    with pytest.raises(MeasureError):
        mp.lint(qrels, run, cutoffs=[True])


def test_the_json_document(paths: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """Schema, totals and findings with all their fields."""
    qrels, run = paths
    qrels.write_text(qrels.read_text() + "q1 0 q1-d1 0\n")
    document = json.loads(run_command(capsys, qrels, run, "-o", "json", "-k", "3", "-k", "5")[1])
    assert document["schema"] == "metricpact.lint/1"
    assert document["cutoffs"] == [3, 5]
    assert document["totals"] == {"error": 1, "warning": 1, "note": 4}
    (finding,) = [each for each in document["findings"] if each["severity"] == "error"]
    assert finding == {
        "code": "conflicting-judgment",
        "severity": "error",
        "message": "document 'q1-d1' is judged twice for query 'q1', in conflict: grade 0 here, 2 on line 1",
        "file": str(qrels),
        "line": 145,
        "lines": [145, 1],
        "query": "q1",
        "document": "q1-d1",
        "count": 1,
        "queries": [],
        "hint": "decide on one",
    }


def test_sarif(paths: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """SARIF 2.1.0: every result names a rule by id and index, a level, a message and a place."""
    qrels, run = paths
    odd = qrels.with_name("ä b.txt")
    odd.write_text(qrels.read_text() + "q1 0 q1-d1 0\n")
    log = json.loads(run_command(capsys, odd, run, "-o", "sarif")[1])
    assert (log["version"], len(log["runs"])) == ("2.1.0", 1)
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(KINDS)
    for result in log["runs"][0]["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in SEVERITIES
        assert result["message"]["text"]
        for place in [*result["locations"], *result.get("relatedLocations", [])]:
            held = place["physicalLocation"]
            assert held["artifactLocation"]["uri"].isascii()
            assert held.get("region", {"startLine": 1})["startLine"] >= 1
    (error,) = [result for result in log["runs"][0]["results"] if result["level"] == "error"]
    assert error["locations"][0]["physicalLocation"]["region"] == {"startLine": 145}
    assert error["relatedLocations"][0]["physicalLocation"]["region"] == {"startLine": 1}
    assert error["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].endswith("%C3%A4%20b.txt")


@pytest.mark.parametrize("output", ["table", "markdown", "jsonl", "csv"])
def test_other_outputs_name_code_and_line(
    paths: tuple[Path, Path], capsys: pytest.CaptureFixture[str], output: str
) -> None:
    """What people and tables are shown holds each finding; --quiet leaves notes out of what people read."""
    qrels, run = paths
    run.write_text(run.read_text() + "broken\x1b[31m\n")
    code, out, _ = run_command(capsys, qrels, run, "-o", output)
    assert code == 1
    assert "malformed-line" in out
    assert "145" in out
    assert "\x1b" not in out
    if output == "table":
        assert "grade-scale" in out
        assert "grade-scale" not in run_command(capsys, qrels, run, "-o", output, "--quiet")[1]


def test_the_codes_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """--codes shows each with its severity and meaning, and needs no file."""
    code, out, _ = run_command(capsys, "--codes")
    assert code == 0
    assert all(name in out and kind.meaning in out for name, kind in KINDS.items())


def test_formats_that_are_not_lines(tmp_path: Path) -> None:
    """JSON and Parquet are linted too; the BEIR folder tells how it was read."""
    qrels, run = tmp_path / "qrels.json", tmp_path / "run.json"
    qrels.write_text('{"q": {"a": 1, "b": 0, "a": 0}}')
    run.write_text('{"q": {"a ": 2, "b": 1, "b": 1}}')
    assert {"conflicting-judgment", "duplicate-document", "near-document", "blank-in-id"} <= set(
        mp.lint(qrels, run).counts
    )
    mp.convert({"q": {"a": 1.5, "b": 1.5, "c": 0.5}}, tmp_path / "run.parquet", kind="run")
    assert "tied-scores" in mp.lint({"q": {"a": 1, "c": 0}}, tmp_path / "run.parquet").counts
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("q\ta\t1\nq\tb\tx\n")
    report = mp.lint(tmp_path)
    assert set(codes(report)) == {"how-read", "malformed-line"}


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the files under ../shared/data")
@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("bm25_runs/cranfield.rawcodes.qrels bm25_runs/cranfield.bm25s-A.run",
         {"negative-grade": 1, "reversed-grades": 2, "document-is-query": 2, "tie-at-relevance": 1, "tied-scores": 1}),
        ("bm25_runs/cranfield.graded.qrels bm25_runs/cranfield.bm25s-A.run",
         {"document-is-query": 2, "tie-at-relevance": 1, "tied-scores": 1}),
        ("trec_eval/test/qrels.test trec_eval/test/results.trunc",
         {"words-behind-tag": 5, "missing-query": 1, "scattered-query": 1, "unsorted-ranking": 1, "tied-scores": 1}),
    ],
)  # fmt: skip
def test_real_files(folder: str, expected: dict[str, int]) -> None:
    """What is known of real files: Cranfield's codes run from 1, the best, to 4; a run of trec_eval's is ragged."""
    assert codes(mp.lint(*(DATA / name for name in folder.split()))) == expected


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the files under ../shared/data")
def test_the_defects_of_beir_folders_as_found() -> None:
    """No header, four columns with the document twice, a header only, judged queries that are not listed."""
    folders = DATA / "beir_layout_small" / "datasets"
    expected: dict[str, dict[str, int]] = {
        "arcd": {"how-read": 1},
        "business-reports": {},
        "dbpedia": {},
        "fiqa": {"malformed-line": 1},
        "msmarco": {"how-read": 1},
        "pg": {"no-rows": 1},
        "scifact": {"malformed-line": 1},
    }
    found = {name: mp.lint(folders / name) for name in expected}
    assert {name: codes(report) for name, report in found.items()} == expected
    told = {name: report.findings[0].message for name, report in found.items()}
    assert told["arcd"].startswith("652 of 702 judged queries are not in queries.jsonl")
    assert "the second and third are the same" in told["fiqa"]
    assert "no header line" in told["msmarco"]
    assert found["pg"].findings[0].place.endswith("pg/qrels/test.tsv:1")
