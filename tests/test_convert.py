"""Convert: through every pair of formats ids, grades, scores and order stay bit for bit, or it is refused."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from itertools import product
from pathlib import Path

import metricpact as mp
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from metricpact.bridges.sinks.choose import SINKS
from metricpact.cli import main
from metricpact.contracts.errors import InputError, MetricpactError

FOR_RUNS = [name for name, sink in SINKS.items() if sink.write_run is not None]
QRELS = {"q1": {"d2": 2, "d1": 0, "d é": 1}, "#q2": {"x": 1}, "007": {"7": 3, "007": 0}}
PLAIN_QRELS = {"q1": {"d2": 2, "d1": 0}, "q2": {"x": 1}, "007": {"7": 3, "007": -1}}
PLAIN_RUN = {
    "q2": {"b": 1.5, "a": 1.5, "c": 0.1},
    "q1": {"z": 1e-300, "y": -0.0, "x": -1e22, "w": -1.7976931348623157e308},
}
DATA = Path(__file__).resolve().parents[1] / "../shared/data"


def rows(table: object) -> list[tuple[object, ...]]:
    """The rows in order, floats as their bits."""
    frame = table.to_polars()  # type: ignore[attr-defined]
    kept = [name for name in ("query_id", "doc_id", "grade", "score") if name in frame.columns]
    return [
        tuple(struct.pack("<d", cell) if isinstance(cell, float) else cell for cell in row)
        for row in frame.select(kept).rows()
    ]


@pytest.mark.parametrize(("first", "second"), [*product(SINKS, SINKS)])
def test_judgments_go_through_every_pair_of_formats(tmp_path: Path, first: str, second: str) -> None:
    """Plain judgments are refused by no format, and come back as they were."""
    one, two = tmp_path / "one", tmp_path / "two"
    mp.convert(PLAIN_QRELS, one, to=first, kind="qrels")
    done = mp.convert(one, two, to=second, kind="qrels")
    assert (done.kind, done.format, done.rows, done.queries) == ("qrels", second, 5, 3)
    assert rows(mp.read_qrels(two)) == rows(mp.read_qrels(PLAIN_QRELS))


@pytest.mark.parametrize(("first", "second"), [*product(FOR_RUNS, FOR_RUNS)])
def test_runs_go_through_every_pair_of_formats(tmp_path: Path, first: str, second: str) -> None:
    """Plain runs too: ties keep their order, scores their bits, minus zero its sign."""
    one, two = tmp_path / "one", tmp_path / "two"
    mp.convert(PLAIN_RUN, one, to=first, kind="run")
    mp.convert(one, two, to=second, kind="run")
    assert rows(mp.read_run(two)) == rows(mp.read_run(PLAIN_RUN))


IDS = st.one_of(
    st.text(min_size=1, max_size=6),
    st.sampled_from(
        ["\ufeffq", "#q", "{q", "q 1", "q\t1", '"q"', "q,1", "q\n1", "0", "nan", "query_id", "BZh9", "\x85"]
    ),
)
FLOATS = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([-0.0, 5e-324, 2**53 + 1.0, 0.1]))


@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_nasty_tables_come_back_or_are_refused(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Any ids and numbers: what is written reads back bit for bit, what is refused leaves no file."""
    kind = data.draw(st.sampled_from(["qrels", "run"]))
    numbers = FLOATS if kind == "run" else st.one_of(st.integers(-3, 5), st.sampled_from([0.5, 1.25]))
    table = data.draw(st.dictionaries(IDS, st.dictionaries(IDS, numbers, max_size=3), min_size=1, max_size=3))
    names = list(SINKS) if kind == "qrels" else FOR_RUNS
    folder = tmp_path_factory.mktemp("pair")
    read = mp.read_qrels if kind == "qrels" else mp.read_run
    source: object = table
    try:
        held = read(table)
        for step in ("one", "two"):
            mp.convert(source, folder / step, to=data.draw(st.sampled_from(names)), kind=kind)
            source = folder / step
    except InputError:
        left = {path.name for path in folder.iterdir()}
        assert left in (set(), {"one"})
        return
    back = read(source)
    assert rows(back) == rows(held)
    assert list(back.queries) == list(held.queries)


REFUSED: list[tuple[str, object, str, str, str]] = [
    ("qrels", {"q 1": {"d": 1}}, "trec", "'q 1'", "blank"),
    ("run", {"q": {"d\t1": 1.0}}, "trec", "'d\\t1'", "blank"),
    ("qrels", {"#q": {"d": 1}}, "trec", "'#q'", "no row"),
    ("qrels", {"q": {"d": 0.5}}, "trec", "0.5", "whole numbers"),
    ("qrels", {"q": {"d": 0.5}}, "beir", "0.5", "whole numbers"),
    ("qrels", {"q": {"a\tb": 1}}, "beir", "'a\\tb'", "control"),
    ("qrels", {"q": {'"a': 1}}, "beir", "'\"a'", "quote"),
    ("qrels", {"q": {"d": 1}, "e": {}}, "trec", "'e'", "no row"),
    ("run", {"q": {"d": 1.0}, "e": {}}, "parquet", "'e'", "no row"),
    ("run", {"q": ["d", "e"]}, "trec", "", "no scores"),
    ("run", {"q": {"d": 1.0}}, "beir", "", "no format for runs"),
    ("run", {"q": {"d": 1.0}}, "pdf", "'pdf'", "not a format"),
]


@pytest.mark.parametrize(("kind", "table", "to", "named", "why"), REFUSED)
def test_what_a_format_cannot_hold_is_refused(
    tmp_path: Path, kind: str, table: object, to: str, named: str, why: str
) -> None:
    """The refusal names the id or number and the reason; no file appears."""
    with pytest.raises(InputError, match=why) as caught:
        mp.convert(table, tmp_path / "out", to=to, kind=kind)
    assert named in caught.value.fact
    assert caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_a_refused_row_is_named_with_its_line(tmp_path: Path) -> None:
    """From a file, the line that cannot be written."""
    (tmp_path / "in.tsv").write_text("query-id\tcorpus-id\tscore\nq\ta\t1\nq\tb c\t1\n")
    with pytest.raises(InputError, match=r"in\.tsv:3: document id 'b c'"):
        mp.convert(tmp_path / "in.tsv", tmp_path / "out.txt")


def test_the_order_of_scattered_rows_is_kept_or_refused(tmp_path: Path) -> None:
    """TREC and tables keep the order of the file; JSON names a query once, so it refuses unless told."""
    lines = ["q1 Q0 a 1 3.0 t", "q2 Q0 b 1 2.0 t", "q1 Q0 c 2 1.0 t"]
    source = tmp_path / "in.run"
    source.write_text("\n".join(lines) + "\n")
    mp.convert(source, tmp_path / "out.run")
    assert (tmp_path / "out.run").read_text().splitlines() == lines
    mp.convert(source, tmp_path / "out.parquet")
    mp.convert(tmp_path / "out.parquet", tmp_path / "back.run", tag="t")
    assert (tmp_path / "back.run").read_text().splitlines() == lines
    with pytest.raises(InputError, match="do not lie together"):
        mp.convert(source, tmp_path / "out.json")
    mp.convert(source, tmp_path / "out.json", drop=["order"])
    assert json.loads((tmp_path / "out.json").read_text()) == {"q1": {"a": 3.0, "c": 1.0}, "q2": {"b": 2.0}}


def test_queries_without_rows_are_kept_in_json_or_left_out_on_request(tmp_path: Path) -> None:
    """An empty ranking is a result: it does not vanish unless it is asked for."""
    run = {"q": {"a": 1.0}, "e": {}}
    mp.convert(run, tmp_path / "out.json", kind="run")
    assert json.loads((tmp_path / "out.json").read_text()) == run
    mp.convert(tmp_path / "out.json", tmp_path / "out.run", kind="run", drop=["empty"])
    assert (tmp_path / "out.run").read_text() == "q Q0 a 1 1.0 metricpact\n"
    mp.convert({"q": ["b", "a"], "p": ["c"]}, tmp_path / "lists.json", kind="run")
    assert json.loads((tmp_path / "lists.json").read_text()) == {"q": ["b", "a"], "p": ["c"]}


def test_ranks_are_kept_or_refused(tmp_path: Path) -> None:
    """A rank column that the scores do not tell is not lost without a word."""
    source = tmp_path / "in.run"
    source.write_text("q Q0 a 0 2.0 t\nq Q0 b 1 1.0 t\n")
    with pytest.raises(InputError, match="rank 0 is not what the scores say"):
        mp.convert(source, tmp_path / "out.json")
    mp.convert(source, tmp_path / "out.json", drop=["rank"])
    mp.convert(source, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "query_id,doc_id,score,rank\nq,a,2.0,0\nq,b,1.0,1\n"
    unscored = tmp_path / "unscored.csv"
    unscored.write_text("query_id,doc_id,rank\nq,b,2\nq,a,1\n")
    mp.convert(unscored, tmp_path / "unscored.parquet")
    assert list(mp.read_run(tmp_path / "unscored.parquet").to_polars()["rank"]) == [2, 1]
    with pytest.raises(InputError, match="all that orders"):
        mp.convert(unscored, tmp_path / "unscored.json", drop=["rank"])
    source.write_text("q Q0 a x 2.0 t\n")
    with pytest.raises(InputError, match="rank 'x'"):
        mp.convert(source, tmp_path / "again.run")
    mp.convert(source, tmp_path / "again.run", drop=["rank"])
    assert (tmp_path / "again.run").read_text() == "q Q0 a 1 2.0 t\n"


def test_ranks_are_made_from_scores_and_not_from_places(tmp_path: Path) -> None:
    """A run whose rows are not sorted gets ranks that agree with its scores; its rows stay where they are."""
    mp.convert({"q": {"a": 1.0, "b": 3.0, "c": 1.0}}, tmp_path / "out.run", kind="run", tag="t")
    assert (tmp_path / "out.run").read_text() == "q Q0 a 2 1.0 t\nq Q0 b 1 3.0 t\nq Q0 c 3 1.0 t\n"


def test_tags_and_other_columns_are_kept_or_told(tmp_path: Path) -> None:
    """One tag stays in TREC and is told elsewhere; several are refused; iteration and comments are told."""
    run = tmp_path / "in.run"
    run.write_text("q Q0 a 1 2.0 mine\n")
    assert mp.convert(run, tmp_path / "same.run").notes == ()
    assert (tmp_path / "same.run").read_text() == run.read_text()
    assert "the tag 'mine' is not kept" in mp.convert(run, tmp_path / "out.json").notes[0]
    run.write_text("q Q0 a 1 2.0 mine\nq Q0 b 2 1.0 yours\n")
    with pytest.raises(InputError, match="'mine' from line 1, 'yours' from line 2"):
        mp.convert(run, tmp_path / "two.run")
    mp.convert(run, tmp_path / "two.run", tag="ours")
    assert (tmp_path / "two.run").read_text().split()[5::6] == ["ours", "ours"]
    with pytest.raises(InputError, match="not one word"):
        mp.convert(run, tmp_path / "three.run", tag="two words")
    with pytest.raises(InputError, match="tag '' is not one word"):
        mp.convert(run, tmp_path / "three.run", tag="")
    qrels = tmp_path / "in.qrels"
    qrels.write_text("# by hand\nq 7 a 1\n")
    notes = mp.convert(qrels, tmp_path / "out.qrels").notes
    assert "comment lines (line 1, 1 in all) not kept" in notes
    assert "the second column of the qrels (7) is not kept" in notes


def test_a_document_returned_twice_is_refused_by_json_only(tmp_path: Path) -> None:
    """A JSON reader keeps one of two equal keys."""
    (tmp_path / "in.run").write_text("q Q0 a 1 2.0 t\nq Q0 a 2 1.0 t\n")
    with pytest.raises(InputError, match=r":2: document 'a' comes twice"):
        mp.convert(tmp_path / "in.run", tmp_path / "out.json")
    mp.convert(tmp_path / "in.run", tmp_path / "out.parquet")
    assert len(mp.read_run(tmp_path / "out.parquet")) == 2


def test_nothing_is_overwritten_and_nothing_half_written(tmp_path: Path) -> None:
    """An existing file stays unless forced, also where the conversion fails; no partial file is left."""
    target = tmp_path / "out.json"
    target.write_text("mine")
    with pytest.raises(InputError, match="already"):
        mp.convert(PLAIN_RUN, target, kind="run")
    with pytest.raises(InputError):
        mp.convert({"q": {"a": float("nan")}}, target, kind="run", force=True)
    with pytest.raises(InputError, match="whole numbers"):
        mp.convert({"q": {"a": 0.5}}, tmp_path / "out.txt", kind="qrels")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("out.json", "mine")]
    mp.convert(PLAIN_RUN, target, kind="run", force=True)
    assert rows(mp.read_run(target)) == rows(mp.read_run(PLAIN_RUN))
    with pytest.raises(InputError, match="no regular file"):
        mp.convert(PLAIN_RUN, "/dev/null", to="json", kind="run", force=True)
    assert (target.stat().st_mode & 0o777) == 0o666 & ~_umask()
    with pytest.raises(InputError, match="cannot be written"):
        mp.convert(PLAIN_RUN, target / "below.json", kind="run")


def _umask() -> int:
    held = os.umask(0)
    os.umask(held)
    return held


def test_a_link_is_followed_and_the_source_may_be_the_target(tmp_path: Path) -> None:
    """--force through a symbolic link changes the file that it points to; a file may be converted in place."""
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    mp.convert(PLAIN_RUN, real, kind="run")
    link.symlink_to(real)
    mp.convert(link, link, kind="run", to="trec", force=True)
    assert link.is_symlink()
    assert real.read_text().startswith("q2 Q0 b 1 1.5 metricpact\n")


@pytest.mark.parametrize(
    "name", ["out.run", "out.txt.gz", "out.json.bz2", "out.parquet", "out.csv.xz", "out.tsv", "out.arrow"]
)
def test_the_name_says_the_format_and_the_compression(tmp_path: Path, name: str) -> None:
    """The same run by every kind of name; two writings give the same bytes."""
    for place in ("a", "b"):
        mp.convert(PLAIN_RUN, tmp_path / place / name, kind="run")
    assert rows(mp.read_run(tmp_path / "a" / name)) == rows(mp.read_run(PLAIN_RUN))
    assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_qrels_by_tsv_and_folder_are_beir(tmp_path: Path) -> None:
    """A .tsv of judgments has BEIR's header, and a folder gets qrels/SPLIT.tsv."""
    mp.convert(PLAIN_QRELS, tmp_path / "q.tsv", kind="qrels")
    assert (tmp_path / "q.tsv").read_text().splitlines()[:2] == ["query-id\tcorpus-id\tscore", "q1\td2\t2"]
    mp.convert(PLAIN_QRELS, f"{tmp_path}/folder/", split="dev")
    assert rows(mp.read_qrels(tmp_path / "folder", split="dev")) == rows(mp.read_qrels(PLAIN_QRELS))
    assert mp.convert(tmp_path / "folder", tmp_path / "back.txt", split="dev").kind == "qrels"
    with pytest.raises(InputError, match="a folder becomes BEIR's, and not json"):
        mp.convert(PLAIN_QRELS, tmp_path / "folder", to="json")


def command(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[object, str, str]:
    """``metricpact convert …``: exit code, standard output, standard error."""
    with pytest.raises(SystemExit) as ended:
        main(["convert", *map(str, arguments)])
    captured = capsys.readouterr()
    return ended.value.code, captured.out, captured.err


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was written is told on standard error, --quiet is silent, refusals end with 2."""
    source, target = tmp_path / "in.qrels", tmp_path / "out.tsv"
    source.write_text("q 0 a 1\nq 0 b 0\n")
    assert command(capsys, source, target) == (0, "", f"{target}: 2 judgments of 1 queries as beir\n")
    code, out, err = command(capsys, source, target)
    assert (code, out) == (2, "")
    assert "--force" in err
    assert command(capsys, source, target, "--force", "--quiet") == (0, "", "")
    for wrong in (
        [source, tmp_path / "out"], [source, tmp_path / "out.pdf"], [tmp_path / "absent", target, "--force"],
        [source, tmp_path / "o.json", "--to", "no"], [source, tmp_path / "o.run", "--kind", "run"], [source],
        ["-", tmp_path / "o.json"], [source, tmp_path / "o.json", "--drop", "ids"], [source, tmp_path / "o.json.zst"],
    ):  # fmt: skip
        code, out, err = command(capsys, *wrong)
        assert (code, out, err[:7]) == (2, "", "error: "), wrong
    assert {path.name for path in tmp_path.iterdir()} == {"in.qrels", "out.tsv"}


def test_what_could_be_both_needs_a_word(tmp_path: Path) -> None:
    """Whole numbers in JSON are grades or scores; fractions and ranks are a run's, and the columns of TREC tell."""
    both = tmp_path / "both.json"
    both.write_text('{"q": {"a": 2, "b": 1}}')
    with pytest.raises(InputError, match="as qrels and as a run"):
        mp.convert(both, tmp_path / "out.txt")
    assert mp.convert(both, tmp_path / "one.txt", kind="qrels").kind == "qrels"
    assert mp.convert(both, tmp_path / "two.txt", kind="run").kind == "run"
    both.write_text('{"q": {"a": 2.5, "b": 1}}')
    assert mp.convert(both, tmp_path / "three.txt").kind == "run"
    broken = tmp_path / "broken.run"
    broken.write_text("q Q0 a 1 2.0 t\nq Q0 b 2 x t\n")
    with pytest.raises(InputError, match=r"broken\.run:2: score 'x'"):
        mp.convert(broken, tmp_path / "four.txt")


def test_standard_input_and_output() -> None:
    """A pipe at both ends, as a user types it."""
    done = subprocess.run(
        [sys.executable, "-m", "metricpact", "convert", "-", "-", "--kind", "run", "--to", "json"],
        input=b"q Q0 a 1 2.5 t\n", capture_output=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout) == {"q": {"a": 2.5}}
    assert b"the tag 't' is not kept" in done.stderr


def test_scores_of_every_size_keep_their_bits(tmp_path: Path) -> None:
    """A hundred thousand random bit patterns go through the two formats of text that polars writes."""
    rng = np.random.default_rng(5)
    scores = rng.integers(0, 2**64, 100_000, dtype=np.uint64).view(np.float64)
    scores = scores[np.isfinite(scores)]
    run = mp.Run.from_columns(["q"] * len(scores), [f"d{i}" for i in range(len(scores))], scores)
    for name in ("out.run", "out.csv"):
        mp.convert(run, tmp_path / name)
        back = mp.read_run(tmp_path / name).scores
        assert back is not None
        assert back.tobytes() == scores.tobytes()


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the files under ../shared/data")
@pytest.mark.parametrize(
    "name",
    [
        "bm25_runs/scifact.bm25s-A.run",
        "bm25_runs/cranfield.rawcodes.qrels",
        "trec_eval/test/results.test",
        "beir_scifact_rebuilt",
    ],
)
def test_real_files_come_back(tmp_path: Path, name: str) -> None:
    """Real runs and judgments through Parquet and back score as before."""
    try:
        source = DATA / name
        kind = mp.convert(source, tmp_path / "one.parquet").kind
        mp.convert(tmp_path / "one.parquet", tmp_path / "two.txt", kind=kind)
    except MetricpactError as error:
        pytest.fail(str(error))
    read = mp.read_run if kind == "run" else mp.read_qrels
    assert rows(read(tmp_path / "two.txt")) == rows(read(source))
