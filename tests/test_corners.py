"""Corners that once went wrong: ids that look compressed, closed pipes, spent generators, copies of contracts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import metricpact as mp
import pytest
from metricpact.contracts.errors import ContractError, InputError, MeasureError

COMMAND = [sys.executable, "-m", "metricpact"]


def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own."""
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload,no-any-return] # options are subprocess's own


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Judgments and a run with a query that is judged only."""
    qrels, run_file = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("q 0 a 1\nm 0 b 1\n")
    run_file.write_text("q Q0 a 1 1 t\n")
    return str(qrels), str(run_file)


@pytest.mark.parametrize("start", ["x^", "x\x7f", "x^2", "(", "BZh"])
def test_an_id_may_begin_like_compressed_data(start: str, tmp_path: Path) -> None:
    """A parser that looks for zlib's first bytes in every slice does not get these."""
    (tmp_path / "q").write_text(f"{start} 0 a 1\n{start} 0 b 0\n")
    (tmp_path / "r").write_text(f"{start}\tQ0 b 1 2 t\n{start} Q0  a 2 1 t\n")
    assert mp.score(tmp_path / "q", tmp_path / "r", ["RR"]).by_query("RR") == {start: 0.5}


@pytest.mark.parametrize("arguments", [["doctor"], ["contracts"], ["explain", "nDCG@10"]])
def test_a_closed_pipe_is_neither_fine_nor_a_failed_check(arguments: list[str]) -> None:
    """Whoever read the output has left: the exit code is the shell's for that, and there is no traceback."""
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.Popen([*COMMAND, *arguments], stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    _, error = process.communicate()
    assert (process.returncode, error) == (141, "")


def test_a_spent_generator_is_not_an_empty_run() -> None:
    """Rows that were read before are missed, and not scored as nothing returned."""
    rows = iter([])
    with pytest.raises(InputError, match="no item"):
        mp.score({"q": {"a": 1}}, rows, ["P@1"])
    with pytest.raises(InputError, match="no item"):
        mp.score([], {"q": ["a"]}, ["P@1"])


def test_an_empty_json_object_is_refused(tmp_path: Path, files: tuple[str, str]) -> None:
    """A file that holds nothing is refused in every format."""
    path = tmp_path / "run.json"
    path.write_text("{}")
    done = run("score", files[0], str(path), "P@1")
    assert (done.returncode, "holds no query" in done.stderr) == (2, True)


def test_trec_output_has_the_queries_of_the_mean(files: tuple[str, str]) -> None:
    """As trec_eval prints it: a query that the mean is not over has no line."""
    answered = run("score", *files, "P@1", "-q", "-o", "trec", "--quiet", "--contract", "trec_eval-9.0.8")
    judged = run("score", *files, "P@1", "-q", "-o", "trec", "--quiet", "--contract", "trec_eval-9.0.8-c")
    assert answered.stdout == "P@1\tq\t1.0000\nP@1\tall\t1.0000\n"
    assert judged.stdout == "P@1\tq\t1.0000\nP@1\tm\t0.0000\nP@1\tall\t0.5000\n"


def test_a_changed_copy_of_a_contract_does_not_bear_its_name(files: tuple[str, str], tmp_path: Path) -> None:
    """What `contracts NAME` prints, edited, is the user's own: it keeps neither the name nor "verified"."""
    text = run("contracts", "trec_eval-9.0.8").stdout
    path = tmp_path / "ours.toml"
    path.write_text(text, encoding="utf-8")
    assert mp.Profile.from_toml(path).name == "trec_eval-9.0.8"
    path.write_text(text.replace('"linear"', '"exponential"'), encoding="utf-8")
    changed = mp.Profile.from_toml(path)
    assert (changed.name, changed.status, changed.base) == ("ours", "", "trec_eval-9.0.8/1")
    shown = run("score", *files, "nDCG@1", "--contract", str(path), "-o", "table").stdout
    assert "contract ours/1, changed, signature MEASURE|trec_eval-9.0.8/1|gain=exponential||" in shown


def test_a_hashed_value_is_named_to_explain_a_signature() -> None:
    """--set gives the table that a signature has as a hash; a contract of one's own is refused there."""
    scores = mp.score({"q": {"a": 1}}, {"q": ["a"]}, ["nDCG@3"], set={"gain": {1: 2.5}}, backend="reference")
    signature = scores.signatures["nDCG@3"]
    done = run("explain", signature, "--set", "gain={1:2.5}")
    assert (done.returncode, "gain = {'1': 2.5}" in done.stdout) == (0, True)
    assert run("explain", signature).returncode == 2
    assert run("explain", signature, "--contract", "chapter").returncode == 2


def test_explain_states_the_denominator_of_the_contract() -> None:
    """The formula says what the denominator says."""
    shown = run("explain", "AP@3", "--set", "ap_denominator=hits").stdout
    assert "/ the relevant documents in the prefix" in shown
    assert "threshold" not in run("explain", "nDCG@3").stdout.partition("conventions")[2].partition("signature")[0]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--set", "gain=linear", "--set", "gain=exponential"],
        ["--contract", "self.toml"],
        ["nDCG(gains={1:1" + "0" * 400 + "})"],
    ],
)
def test_plain_mistakes_are_no_internal_errors(arguments: list[str], files: tuple[str, str], tmp_path: Path) -> None:
    """A field set twice, a contract based on itself, a gain beyond any double: a fact and a hint."""
    (tmp_path / "self.toml").write_text('base = "self.toml"\n')
    done = run("score", *files, "nDCG@1", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "internal" not in done.stderr
    assert "hint:" in done.stderr


def test_wrong_types_in_python_are_told() -> None:
    """None for measures, a list for set, a number for a path."""
    with pytest.raises(MeasureError):
        mp.score({"q": {"a": 1}}, {"q": ["a"]}, None)  # type: ignore[arg-type] # that is what is tested
    with pytest.raises(ContractError):
        mp.score({"q": {"a": 1}}, {"q": ["a"]}, ["P@1"], set=["gain"])  # type: ignore[arg-type] # likewise
    with pytest.raises(ContractError):
        mp.Contract.from_toml(3)  # type: ignore[arg-type] # likewise


def test_means_are_found_under_every_spelling() -> None:
    """Looking for a measure, getting it and indexing it agree."""
    mean = mp.score({"q": {"a": 1}}, {"q": ["a"]}, ["nDCG@3"]).mean
    assert "ndcg_cut_3" in mean
    assert mean.get("ndcg@3") == mean["nDCG@3"] == 1.0
    assert mean.get("P@1") is None
    assert "no measure" not in mean


def test_query_lists_split_like_files(tmp_path: Path) -> None:
    """Blanks and line ends of Unicode belong to ids, as in runs and judgments."""
    (tmp_path / "ids").write_text("q\u0085x\n q2 \r\nq3\ttext\n\n", encoding="utf-8")
    from metricpact.commands.options import read_query_list

    assert read_query_list(str(tmp_path / "ids")) == ["q\u0085x", "q2", "q3"]
