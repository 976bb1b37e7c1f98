"""Bad input on the command line ends with exit code 2 and one clear block: a fact that names the place at
fault, a blank line, a hint. Never a traceback, never a number, and no file is touched.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from metricpact.cli import main

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 a 2\n"
RUN = "q1 Q0 a 1 2.0 t\nq1 Q0 b 2 1.0 t\nq2 Q0 c 1 3.0 t\nq2 Q0 a 2 1.5 t\n"
TREC_EVAL = ["--contract", "trec_eval-9.0.8"]


class Outcome(NamedTuple):
    """What a command left behind: exit code, standard output, standard error."""

    code: int
    out: str
    err: str


class Desk:
    """A folder with good judgments and a good run, in which a test spoils something and runs the command."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capture = folder, capture
        self.qrels, self.run = folder / "qrels.txt", folder / "run.txt"
        self.qrels.write_text(QRELS)
        self.run.write_text(RUN)

    def score(self, *arguments: str, qrels: str | Path | None = None, run: str | Path | None = None) -> Outcome:
        """`metricpact score QRELS RUN ARGUMENTS…` in this process."""
        given = ["score", str(qrels or self.qrels), str(run or self.run), *arguments]
        self.capture.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(given)
        captured = self.capture.readouterr()
        assert isinstance(ended.value.code, int)
        return Outcome(ended.value.code, captured.out, captured.err)

    def refused(self, *arguments: str, qrels: str | Path | None = None, run: str | Path | None = None) -> str:
        """The one block on standard error of a command that is refused."""
        return checked(self.score(*arguments, qrels=qrels, run=run))


def checked(outcome: Outcome) -> str:
    """The block on standard error, once its form is what every refusal has."""
    fact, _, hint = outcome.err.partition("\n\n")
    assert (outcome.code, outcome.out) == (2, "")
    assert re.fullmatch(r"error: [^\n]+", fact)
    assert re.fullmatch(r"hint: [^\n]+\n", hint)
    assert not re.search(r"Traceback|internal error|Error\(|site-packages|None", outcome.err)
    return outcome.err


@pytest.fixture
def desk(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Desk:
    """Good judgments and a good run in a folder of their own."""
    return Desk(tmp_path, capfd)


def test_the_desk_as_it_stands_is_scored(desk: Desk) -> None:
    """What every test below spoils is good: exit code 0, a document, and nothing to say."""
    outcome = desk.score("P@1", "-o", "json")
    assert (outcome.code, outcome.err) == (0, "")
    assert json.loads(outcome.out)["measures"][0]["mean"] == 0.5


@pytest.mark.parametrize(
    ("lines", "at", "says"),
    [
        (["q1 Q0 b 2"], 2, ["4 columns", "6"]),
        (["q1 Q0 b"], 2, ["3 columns"]),
        (["b"], 2, ["1 column"]),
        (["q1 Q0 b 2 1.0 t more"], 2, ["7 columns"]),
        (["", "# fine", "q1 Q0 b 2 1.0 t more words"], 4, ["8 columns"]),
        (["q1 Q0 b 2 high t"], 2, ["score", "high"]),
        (["q1 Q0 b 2 1,5 t"], 2, ["score", "1,5"]),
        (["q1 Q0 b 2 0x10 t"], 2, ["score", "0x10"]),
        (["q1 Q0 b 2 1_000 t"], 2, ["score", "1_000"]),
        (["q1 Q0 b 2 nan t"], 2, ["score", "nan", "finite"]),
        (["q1 Q0 b 2 -inf t"], 2, ["score", "inf", "finite"]),
        (["q1 Q0 b 2 1e999 t"], 2, ["score", "1e999"]),
        (["q1 Q0 b x 1.0 t"], 2, ["rank", "x", "rank_conflict=ignore"]),
        (["q1 Q0 b 1.5 1.0 t"], 2, ["rank", "1.5"]),
        (["q1 Q0 b 2 1.0 t", "q1 Q0 a 3 0.5 t"], 3, ["'a'", "'q1'", "twice", "line 1"]),
        (["q1 Q0 b 2 2.5 t"], 2, ["rank", "contradicts", "rank_conflict=ignore", "order=rank"]),
    ],
)
def test_a_bad_line_in_a_run_is_named(desk: Desk, lines: list[str], at: int, says: list[str]) -> None:
    """The block names file and line of the fault, and what is wrong there."""
    desk.run.write_text("\n".join(["q1 Q0 a 1 2.0 t", *lines, "q2 Q0 a 1 1.5 t"]) + "\n")
    block = desk.refused("P@1")
    assert f"{desk.run}:{at}: " in block
    assert [word for word in says if word not in block] == []


@pytest.mark.parametrize(
    ("lines", "at", "says"),
    [
        (["q1 0 b"], 2, ["3 columns", "4"]),
        (["b"], 2, ["1 column"]),
        (["q1 0 b 0 0.9"], 2, ["5 columns"]),
        (["", "#", "q1 0 b 0 0.9 x"], 4, ["6 columns"]),
        (["q1 0 b yes"], 2, ["grade", "yes"]),
        (["q1 0 b nan"], 2, ["grade", "nan"]),
        (["q1 0 b inf"], 2, ["grade", "inf"]),
        (["q1 0 b 0.5"], 2, ["grade", "0.5", "integer"]),
        (["q1 0 b -1"], 2, ["grade", "-1", "negative_grade"]),
        (["q1 0 b 99999999999999999999"], 2, ["grade"]),
        (["q1 0 b 0", "q1 0 a 1"], 3, ["'a'", "'q1'", "twice", "line 1"]),
        (["q1 0 b 0", "q1 0 a 0"], 3, ["'a'", "'q1'", "twice", "line 1"]),
    ],
)
def test_a_bad_line_in_judgments_is_named(desk: Desk, lines: list[str], at: int, says: list[str]) -> None:
    """The block names file and line of the fault, and what is wrong there."""
    desk.qrels.write_text("\n".join(["q1 0 a 1", *lines, "q2 0 a 2"]) + "\n")
    block = desk.refused("P@1")
    assert f"{desk.qrels}:{at}: " in block
    assert [word for word in says if word not in block] == []


def test_a_header_line_in_a_run_is_named(desk: Desk) -> None:
    """The names of columns are no row, and the hint says that the line has to go."""
    desk.run.write_text("query_id Q0 doc_id rank score tag\n" + RUN)
    block = desk.refused("P@1")
    assert f"{desk.run}:1: " in block
    assert "header" in block


def test_a_header_line_in_trec_judgments_is_named(desk: Desk) -> None:
    """The names of columns are no judgment, and the hint says that the line has to go."""
    desk.qrels.write_text("qid iter docid rel\n" + QRELS)
    block = desk.refused("P@1")
    assert f"{desk.qrels}:1: " in block
    assert "header" in block


GARBAGE = {
    "bytes of a program": b"\x7fELF\x02\x01\x01\x00" + bytes(range(256)) * 40,
    "random bytes": hashlib.sha256(b"seed").digest() * 300,
    "zeros": b"\0" * 5000,
    "an image": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10",
    "UTF-16": QRELS.encode("utf-16"),
    "a zip file": b"PK\x03\x04\x14\0\0\0\x08\0" + b"\x55" * 100,
    "HTML": b"<!DOCTYPE html>\n<html><body>not found</body></html>\n",
}


@pytest.mark.parametrize("name", GARBAGE)
@pytest.mark.parametrize("which", ["qrels", "run"])
def test_garbage_is_refused_with_the_file_named(desk: Desk, which: str, name: str) -> None:
    """No bytes that were never judgments or a run are taken for some."""
    path = desk.folder / "garbage"
    path.write_bytes(GARBAGE[name])
    assert str(path) in (desk.refused("P@1", qrels=path) if which == "qrels" else desk.refused("P@1", run=path))


def test_latin_1_is_refused_with_its_line(desk: Desk) -> None:
    """An id that is not UTF-8 is not guessed at; the hint says how to convert the file."""
    desk.run.write_bytes(RUN.encode() + "q2 Q0 caf\u00e9 3 1.0 t\n".encode("latin-1"))
    block = desk.refused("P@1")
    assert f"{desk.run}:5: " in block
    assert "UTF-8" in block


@pytest.mark.parametrize("content", ["", "\n\n  \n", "# only a comment\n", "\ufeff"])
@pytest.mark.parametrize("which", ["qrels", "run"])
def test_an_empty_file_is_refused(desk: Desk, which: str, content: str) -> None:
    """A file without a row is neither judgments nor a run."""
    path = desk.folder / "empty"
    path.write_text(content)
    assert str(path) in (desk.refused("P@1", qrels=path) if which == "qrels" else desk.refused("P@1", run=path))


@pytest.mark.parametrize("which", ["qrels", "run"])
def test_a_missing_file_is_refused(desk: Desk, which: str) -> None:
    """A path that leads nowhere is named."""
    path = desk.folder / "nowhere.txt"
    block = desk.refused("P@1", qrels=path) if which == "qrels" else desk.refused("P@1", run=path)
    assert f"{path}: there is no such file" in block


def test_a_path_that_cannot_be_opened_is_refused(desk: Desk) -> None:
    """A name longer than the system takes is a wrong path like any other."""
    assert "aaaa" in desk.refused("P@1", run="a" * 5000)
    assert "aaaa" in desk.refused("P@1", qrels="a" * 5000)


def test_a_folder_that_is_no_beir_folder_is_refused(desk: Desk) -> None:
    """A folder in place of the judgments has to hold qrels/SPLIT.tsv; in place of a run none will do."""
    other = desk.folder / "other"
    (other / "qrels").mkdir(parents=True)
    (other / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\t1\n")
    assert "BEIR" in desk.refused("P@1", qrels=desk.folder)
    assert "dev" in desk.refused("P@1", qrels=other)
    assert str(other) in desk.refused("P@1", run=other)
    assert desk.score("P@1", "--split", "dev", qrels=other).code == 0


@pytest.mark.parametrize("rows", [["q1\ta\t1", "q1\tb"], ["q1\ta\t1", "q1\tb\t0\tx"], ["q1\ta\t1", "q1\tb\tgood"]])
def test_a_bad_line_in_beir_judgments_is_named(desk: Desk, rows: list[str]) -> None:
    """The header counts as a line."""
    path = desk.folder / "test.tsv"
    path.write_text("\n".join(["query-id\tcorpus-id\tscore", *rows]) + "\n")
    assert f"{path}:3: " in desk.refused("P@1", qrels=path)


@pytest.mark.parametrize(
    "content",
    [
        '{"q1": {"a": 1}, "q2": {"a": 2}',
        '{"q1": {"a": 1}, "q2": 3}',
        '{"q1": {"a": "1"}}',
        '{"q1": {"a": null}}',
        '{"q1": {"a": NaN}}',
        '{"q1": {"a": 0.5}}',
        '{"q1": {"a": 1, "a": 0}}',
        '{"q1": {"": 1}}',
        '{"q1": {"\\ud800": 1}}',
        '{"\\udfff": {"a": 1}}',
        '{"q1": {"a": 1e999}}',
        '{"q1": {"a": ' + "1" * 5000 + "}}",
        '{"q1": ["a"]}',
        '{"q1": {"a": [1]}}',
        '{"q1":' * 100_000,
        '{"": {"a": 1}}',
        "{}",
    ],
)
def test_bad_json_is_refused_with_the_file_named(desk: Desk, content: str) -> None:
    """JSON that is broken, or no object of objects of whole grades, is no judgments."""
    path = desk.folder / "qrels.json"
    path.write_text(content)
    assert str(path) in desk.refused("P@1", qrels=path)


@pytest.mark.parametrize(
    "measure",
    [
        "P@0",
        "P@-1",
        "P@1.5",
        "P@true",
        "P@True",
        "P@",
        "P@ten",
        "P@1e1",
        "nDCG@0",
        "RR@-1",
        "P_0",
        "ndcg_cut_0",
        "AP@+5",
    ],
)
def test_a_cutoff_below_one_or_not_whole_is_refused(desk: Desk, measure: str) -> None:
    """A cutoff counts documents: an integer of 1 or more, and no truth value."""
    block = desk.refused(measure)
    assert [word for word in (re.split("@|_", measure)[-1], "cutoff") if word not in block] == []


@pytest.mark.parametrize(
    ("measure", "suggestion"),
    [
        ("ndgc@10", "nDCG@10"),
        ("nDGC@5", "nDCG@5"),
        ("sucess@1", "Success@1"),
        ("recal@100", "R@100"),
        ("bperf", "Bpref"),
        ("ndcg_cutt_10", "nDCG@10"),
        ("Judgd@10", "Judged@10"),
    ],
)
def test_an_unknown_measure_is_refused_with_the_nearest(desk: Desk, measure: str, suggestion: str) -> None:
    """A slip of the finger is answered with the name that was meant."""
    block = desk.refused(measure)
    assert repr(measure) in block
    assert f"did you mean {suggestion}?" in block


@pytest.mark.parametrize(
    ("measure", "choices"),
    [
        ("Accuracy@1", ["Success@1", "P@1"]),
        ("hits@5", ["Success@5", "R@5"]),
        ("Recall", ["R@10", "SetR"]),
        ("map_10", ["AP@10"]),
        ("recip_rank_10", ["RR@10"]),
    ],
)
def test_an_ambiguous_measure_is_refused_with_the_choices(desk: Desk, measure: str, choices: list[str]) -> None:
    """A name under which tools compute different things is not decided in silence."""
    block = desk.refused(measure)
    assert "ambiguous" in block
    assert [choice for choice in choices if choice not in block] == []


@pytest.mark.parametrize(
    "measure",
    [
        "P",
        "P(rel=x)@5",
        "P(rel=-1)@5",
        "P(rel=1,rel=2)@5",
        "nDCG(rel=2)@5",
        "SetF(beta=0)",
        "nDCG(gains={0:1})@5",
    ],
)
def test_a_measure_with_a_wrong_part_is_refused(desk: Desk, measure: str) -> None:
    """A cutoff that is missing and parameters that do not fit are no matter for guessing."""
    assert re.split(r"\(|@", measure)[0] in desk.refused(measure)


def test_judgments_and_run_without_a_common_query_are_refused(desk: Desk) -> None:
    """Labels that do not match at all are an error and no mean of zeros."""
    desk.run.write_text("Q1 Q0 a 1 2.0 t\n")
    block = desk.refused("P@1")
    assert [word for word in ("no query", "q1", "Q1") if word not in block] == []


@pytest.mark.parametrize("contract", [[], TREC_EVAL, ["--contract", "trec_eval-9.0.8-c"]])
def test_mismatched_labels_are_refused_under_every_contract(desk: Desk, contract: list[str]) -> None:
    """Not even trec_eval's profiles take judgments and a run of different topics."""
    desk.run.write_text("Q1 Q0 a 1 2.0 t\n")
    desk.refused("P@1", *contract)


@pytest.mark.parametrize("grade", [40, 31, 1000])
def test_an_exponential_gain_that_the_backend_cannot_take_is_refused(desk: Desk, grade: int) -> None:
    """trec_eval would take gigabytes or end the process: it is not called; the hint says what can."""
    desk.qrels.write_text(f"q1 0 a {grade}\nq2 0 a 1\n")
    block = desk.refused("nDCG@10")
    assert str(grade) in block
    assert "reference" in block


def test_a_linear_grade_that_the_backend_cannot_take_is_refused(desk: Desk) -> None:
    """The same for a grade that is too large as it stands."""
    desk.qrels.write_text(f"q1 0 a {2**40}\nq2 0 a 1\n")
    block = desk.refused("nDCG@10", "--set", "gain=linear")
    assert str(2**40) in block
    assert "reference" in block


def test_the_reference_takes_the_grades_that_the_backend_cannot(desk: Desk) -> None:
    """What the hint says is true."""
    desk.qrels.write_text(f"q1 0 a 40\nq2 0 a {2**40}\n")
    outcome = desk.score("nDCG@10", "--backend", "reference", "--set", "gain=linear", "-o", "json")
    assert outcome.code == 0


@pytest.mark.parametrize("which", ["qrels", "run"])
@pytest.mark.parametrize("keep", [0.3, 0.6, 0.99])
def test_a_gzip_file_that_is_cut_off_is_refused(desk: Desk, which: str, keep: float) -> None:
    """The rows before the cut are not taken for the whole file."""
    packed = gzip.compress("".join(f"q1 Q0 d{number} {number} {1000 - number} t\n" for number in range(999)).encode())
    path = desk.folder / "cut.gz"
    path.write_bytes(packed[: int(len(packed) * keep)])
    block = desk.refused("P@1", qrels=path) if which == "qrels" else desk.refused("P@1", run=path)
    assert [word for word in (str(path), "cut off") if word not in block] == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--contract", "chaptre"], ["chaptre", "chapter"]),
        (["--contract", "nowhere.toml"], ["nowhere.toml"]),
        (["--set", "gian=linear"], ["gian", "gain"]),
        (["--set", "gain=quadratic"], ["quadratic", "exponential", "linear"]),
        (["--set", "gain"], ["gain", "FIELD=VALUE"]),
        (["--set", "gain={0:0,1"], ["gain"]),
        (["--set", "threshold=-1"], ["threshold", "-1"]),
        (["--set", "threshold=1.5"], ["threshold", "1.5"]),
        (["--set", "ties=random"], ["random", "docid_desc", "docid_asc"]),
        (["--backend", "trec"], ["trec", "pytrec_eval", "reference"]),
        (["-o", "yaml"], ["yaml", "json", "csv"]),
        (["-p", "many"], ["many"]),
        (["-p", "-1"], ["-1"]),
        (["--format", "xml"], ["xml", "trec", "beir", "json"]),
        (["--no-such-option"], ["--no-such-option"]),
        (["--queries", "nowhere.txt"], ["nowhere.txt"]),
    ],
)
def test_a_wrong_option_is_refused_with_the_choices(desk: Desk, arguments: list[str], says: list[str]) -> None:
    """Unknown contracts, fields, values, backends and formats are named, and what there is instead."""
    block = desk.refused("P@1", *arguments)
    assert [word for word in says if word not in block] == []


@pytest.mark.parametrize(
    ("content", "says"),
    [("", ["empty"]), ("q1\nq7\n", ["q7", "not judged"]), ("caf\u00e9\n", ["caf\u00e9", "not judged"])],
)
def test_a_wrong_list_of_queries_is_refused(desk: Desk, content: str, says: list[str]) -> None:
    """A mean over listed queries needs a list, and judgments for everything on it."""
    path = desk.folder / "queries.txt"
    path.write_text(content)
    block = desk.refused("P@1", "--queries", str(path))
    assert [word for word in says if word not in block] == []


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[fields]\ngain = ", ["TOML"]),
        ('[fields]\ngian = "linear"\n', ["gian", "gain"]),
        ('[fields]\ngain = "cubic"\n', ["cubic"]),
        ("[fields]\nthreshold = true\n", ["threshold"]),
    ],
)
def test_a_wrong_contract_file_is_refused_with_its_name(desk: Desk, content: str, says: list[str]) -> None:
    """A contract file that cannot be read, or says what no contract says, is named."""
    path = desk.folder / "ours.toml"
    path.write_text(content)
    block = desk.refused("P@1", "--contract", str(path))
    assert [word for word in [str(path), *says] if word not in block] == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["DCG@10"], ["unsupported", "DCG", "reference"]),
        (["P@1", "--set", "ties=average"], ["unsupported", "ties=average", "reference"]),
    ],
)
def test_what_a_backend_cannot_give_is_refused_with_those_that_can(
    desk: Desk, arguments: list[str], says: list[str]
) -> None:
    """Nothing falls back to another library: standard error says unsupported, why, and where to turn."""
    block = desk.refused(*arguments)
    assert [word for word in says if word not in block] == []


def test_a_command_line_without_a_run_is_refused(desk: Desk) -> None:
    """Judgments alone, two readers of standard input, and an unknown command are usage errors."""
    outcomes = []
    for arguments in (
        ["score", str(desk.qrels)],
        ["score", str(desk.qrels), "P@1"],
        ["score", "-", "-"],
        ["scroe"],
    ):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        outcomes.append(checked(Outcome(int(str(ended.value.code)), *desk.capture.readouterr())))
    assert len(outcomes) == 4


@pytest.mark.parametrize(
    ("qrels", "run", "expected"),
    [
        (QRELS, "q1 Q0 b 1 1.0 t\nq1 Q0 a 2 2.0 t\nq2 Q0 a 1 1.0 t\n", {"q1": 1.0, "q2": 1.0}),
        (QRELS, "q1 Q0 b first 1.0 t\nq1 Q0 a ? 2.0 t\nq2 Q0 a - 1.0 t\n", {"q1": 1.0, "q2": 1.0}),
        ("q1 0 a 1\nq1 0 b -1\nq2 0 a -2\nq2 0 b 1\n", RUN, {"q1": 1.0, "q2": 0.0}),
        (QRELS, "q1 Q0 a 1 1.0 t\nq1 Q0 b 2 1.0 t\nq2 Q0 a 1 1.0 t\n", {"q1": 0.0, "q2": 1.0}),
        (QRELS, RUN + "q9 Q0 a 1 1.0 t\n", {"q1": 1.0, "q2": 0.0}),
        (QRELS, "q1 Q0 a 1 1.0 t\n", {"q1": 1.0, "q2": 0.0}),
    ],
    ids=["rank conflict", "garbage for ranks", "negative grades", "ties", "extra query", "missing query"],
)
@pytest.mark.parametrize("backend", ["pytrec_eval", "reference"])
def test_the_trec_eval_profile_takes_what_trec_eval_takes(
    desk: Desk, qrels: str, run: str, expected: dict[str, float], backend: str
) -> None:
    """Where it is not dangerous: ranks are not looked at, negative grades are no judgments, ties go by id."""
    desk.qrels.write_text(qrels)
    desk.run.write_text(run)
    outcome = desk.score("P@1", *TREC_EVAL, "--backend", backend, "-q", "-o", "json")
    assert outcome.code == 0
    assert {row["query_id"]: row["value"] for row in json.loads(outcome.out)["per_query"]} == expected


@pytest.mark.parametrize(
    ("line", "which"),
    [
        ("q1 0 c 0.5", "qrels"),
        ("q1 0 a 0", "qrels"),
        ("q1 Q0 a 3 0.5 t", "run"),
        ("q1 Q0 c 3 nan t", "run"),
        ("q1 Q0 c 3 high t", "run"),
        ("q1 Q0 c", "run"),
    ],
)
def test_the_trec_eval_profile_refuses_what_is_dangerous(desk: Desk, line: str, which: str) -> None:
    """Truncated grades, duplicates and scores that are no numbers stay errors under it."""
    path = {"qrels": desk.qrels, "run": desk.run}[which]
    path.write_text(path.read_text() + line + "\n")
    number = len(path.read_text().splitlines())
    assert f"{path}:{number}: " in desk.refused("P@1", *TREC_EVAL)


@pytest.mark.parametrize(
    ("setting", "expected"), [("rank_conflict=ignore", 0.5), ("order=rank", 1.0), ("order=given", 1.0)]
)
def test_the_hints_for_a_rank_conflict_work(desk: Desk, setting: str, expected: float) -> None:
    """Each choice that the block offers scores the same file, with another number."""
    desk.qrels.write_text("q1 0 a 1\n")
    desk.run.write_text("q1 Q0 a 1 1.0 t\nq1 Q0 b 2 9.0 t\n")
    assert "contradicts" in desk.refused("RR")
    outcome = desk.score("RR", "--set", setting, "-o", "json")
    assert json.loads(outcome.out)["measures"][0]["mean"] == expected


@pytest.mark.parametrize(("setting", "expected"), [("first", 0.5), ("last", 1 / 3)])
def test_the_hints_for_a_duplicate_work(desk: Desk, setting: str, expected: float) -> None:
    """Which of two rows of a document counts can be chosen, as the block says."""
    desk.qrels.write_text("q1 0 a 1\n")
    desk.run.write_text("q1 Q0 b 1 9 t\nq1 Q0 a 2 8 t\nq1 Q0 c 3 7 t\nq1 Q0 a 4 6 t\n")
    assert f"duplicate={setting}" in desk.refused("RR")
    outcome = desk.score("RR", "--set", f"duplicate={setting}", "-o", "json")
    assert json.loads(outcome.out)["measures"][0]["mean"] == expected


def test_a_real_process_ends_with_two_and_one_block(desk: Desk) -> None:
    """The same block and code from a process of its own, with nothing else on either stream."""
    desk.run.write_text(RUN + "q2 Q0 d 3\n")
    command = [sys.executable, "-m", "metricpact", "score", str(desk.qrels), str(desk.run), "P@1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert f"{desk.run}:5: " in checked(Outcome(done.returncode, done.stdout, done.stderr))


def test_garbage_on_standard_input_ends_with_two_and_one_block(desk: Desk) -> None:
    """Standard input has no name; the block says so, and still gives the line."""
    command = [sys.executable, "-m", "metricpact", "score", str(desk.qrels), "-", "P@1"]
    done = subprocess.run(command, input=b"q1 Q0 a 1 1.0 t\n\xff\xfe\n", capture_output=True, check=False)
    assert "standard input:2: " in checked(Outcome(done.returncode, done.stdout.decode(), done.stderr.decode()))


@pytest.mark.parametrize(
    ("grades", "measures"),
    [
        ([-2], ["P@1", "Bpref"]),
        ([-1, -5], ["Bpref", "Rprec"]),
        ([2**31 - 1], ["P@1", "nDCG"]),
        ([2**33], ["P@1", "Bpref"]),
    ],
)
def test_grades_that_kill_the_library_do_not_kill_the_process(
    desk: Desk, grades: list[int], measures: list[str]
) -> None:
    """Judgments that crash trec_eval, or make it take gigabytes, end in a document or in one block."""
    judged = "".join(f"q2 0 d{number} {grade}\n" for number, grade in enumerate(grades))
    desk.qrels.write_text("q1 0 a 1\n" + judged)
    command = [
        sys.executable,
        "-m",
        "metricpact",
        "score",
        str(desk.qrels),
        str(desk.run),
        *measures,
        *TREC_EVAL,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    outcome = Outcome(done.returncode, done.stdout, done.stderr)
    if done.returncode == 0:
        assert [row["measure"] for row in json.loads(done.stdout)["measures"]] == measures
    else:
        assert str(grades[0]) in checked(outcome)


def test_an_empty_ranking_does_not_kill_the_process(desk: Desk) -> None:
    """A first query without a document, asked for Bpref and more, is 0 and no crash of the library."""
    qrels, run = desk.folder / "qrels.json", desk.folder / "run.json"
    qrels.write_text('{"q1": {"a": 1}, "q2": {"a": 1}}')
    run.write_text('{"q1": {}, "q2": {"a": 1.0}}')
    command = [sys.executable, "-m", "metricpact", "score", str(qrels), str(run), "Bpref", "Rprec", "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    values = {(row["query_id"], row["measure"]): row["value"] for row in json.loads(done.stdout)["per_query"]}
    assert values == {("q1", "Bpref"): 0, ("q1", "Rprec"): 0, ("q2", "Bpref"): 1, ("q2", "Rprec"): 1}


def test_debug_shows_where_an_error_comes_from(desk: Desk) -> None:
    """Only `--debug` gives a traceback, and the exit code still says that it failed."""
    desk.run.write_text("word\n")
    command = [sys.executable, "-m", "metricpact", "--debug", "score", str(desk.qrels), str(desk.run), "P@1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    shown = [word for word in ("Traceback", "InputError") if word in done.stderr]
    assert (done.returncode != 0, shown) == (True, ["Traceback", "InputError"])


def test_no_file_is_changed(desk: Desk) -> None:
    """Scored or refused, the inputs keep their bytes and times, and nothing is left beside them."""
    (desk.folder / "bad.txt").write_text("q1 Q0 a 1 2.0 t\nq1 Q0 a 2 1.0 t\n")
    (desk.folder / "odd.txt").write_bytes(b"\xef\xbb\xbf" + RUN.replace(" ", "  ").replace("\n", "\r\n").encode())
    (desk.folder / "packed.gz").write_bytes(gzip.compress(RUN.encode()))

    def state() -> dict[str, tuple[bytes, int]]:
        return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in desk.folder.iterdir()}

    before = state()
    codes = [desk.score("P@1", run=path).code for path in sorted(desk.folder.glob("[bor]*"))]
    codes.append(desk.score("P@1", run=desk.folder / "packed.gz").code)
    assert codes == [2, 0, 0, 0]
    assert state() == before
