"""The command `record` as a user types it, and records where runs could stand: in slices and comparisons."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import metricpact as mp
import polars as pl
import pytest
from metricpact.cli import main
from metricpact.contracts.errors import ContractError, InputError, MeasureError

EXAMPLE = Path(__file__).resolve().parents[1] / "front/example"
QRELS, RUN, TABLE = EXAMPLE / "qrels.txt", EXAMPLE / "run.txt", EXAMPLE / "slices/known_items.csv"


def typed(*arguments: object, code: int = 0) -> tuple[str, str]:
    """Run the command in this process, expect its exit code, and return what it printed on both streams."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(list(map(str, arguments)))
    printed = [stream.detach().getvalue() for stream in (out, err)]  # type: ignore[attr-defined] # BytesIO
    assert ended.value.code == code, printed
    return printed[0].decode("utf-8", "replace"), printed[1].decode()


def labels(version: str, set_version: str = "1.2") -> list[str]:
    """The labels that a record needs."""
    return [
        "--component", "search", "--component-version", version, "--set-name", "faq", "--set-version", set_version,
    ]  # fmt: skip


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A records file that the environment names."""
    path = tmp_path / "scores.sqlite"
    monkeypatch.setenv("METRICPACT_RECORDS", str(path))
    return path


@pytest.fixture
def table(file: Path) -> Path:
    """A records file with both runs of the example's known-item table."""
    for run, version in (("v1", "1.0"), ("v2", "2.0")):
        typed("record", "add", TABLE, "--run", run, "R@1", "R@3", "RR", *labels(version))
    return file


def test_add_show_list_and_export(file: Path) -> None:
    """The id comes back; the hashes are those of the files; every format holds the same means."""
    added = json.loads(typed("record", "add", QRELS, RUN, "P@3", "RR", *labels("1.0"), "--note", "first")[0])
    assert (added["id"], added["note"], added["set"]) == (1, "first", {"name": "faq", "version": "1.2"})
    import hashlib

    for name, path in (("qrels", QRELS), ("run", RUN)):
        assert added["scores"]["inputs"][name]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    fresh = mp.score(str(QRELS), str(RUN), ["P@3", "RR"])
    shown = json.loads(typed("record", "show", 1, "-q")[0])
    assert shown["scores"]["per_query"] == fresh.to_document(by_query=True)["per_query"]
    assert shown["scores"]["measures"] == added["scores"]["measures"]
    listed = json.loads(typed("record", "list", "-o", "json")[0])
    assert listed["schema"] == "metricpact.records/1"
    assert [row["mean"] for row in listed["records"]] == [fresh.mean["P@3"], fresh.mean["RR"]]
    (line,) = typed("record", "export")[0].splitlines()
    assert json.loads(line)["scores"]["per_query"] == shown["scores"]["per_query"]
    assert file.exists()


def test_tables_name_versions_and_signatures(table: Path) -> None:
    """What people read: labels, counts, hashes, the reference, and how each number was made."""
    shown = typed("record", "show", f"record:2@{table}", "-o", "table", "-q", "-p", 2)[0]
    for word in (
        "record 2: search 2.0 on faq 1.2",
        "0.90",
        f"record:2@{table}",
        "sha256 ",
        "python 3",
        "signature MEASURE|chapter/1||",
    ):
        assert word in shown
    listed = typed("record", "list", "-o", "table", "--component-version", "1.0")[0]
    assert "0.6000" in listed and "0.9000" not in listed and "signature MEASURE|chapter/1||" in listed
    diff = typed("record", "diff", 1, 2, "-o", "table")[0]
    assert "record 1: search 1.0 on faq 1.2 → record 2: search 2.0 on faq 1.2" in diff
    assert "0.3000" in diff and "signature MEASURE|chapter/1||" in diff and "label" not in diff


def test_parquet_and_csv_exports_read_back(table: Path, tmp_path: Path) -> None:
    """A row a record, query and measure, slices and signatures beside the values."""
    command = [sys.executable, "-m", "metricpact", "record", "export", "--records", table, "-o"]
    done = subprocess.run([*command, "parquet"], capture_output=True, check=True)
    frame = pl.read_parquet(io.BytesIO(done.stdout))
    assert frame.equals(mp.export_records(table))
    assert (len(frame), frame["slice.language"].n_unique()) == (2 * 3 * 10, 2)
    assert pl.read_csv(io.StringIO(typed("record", "export", 2, "-o", "csv")[0])).height == 30


def test_scores_come_through_a_pipe(file: Path) -> None:
    """`score -q -o json` into `record add --scores -`, as a shell pipes it."""
    scored = subprocess.run(
        [sys.executable, "-m", "metricpact", "score", QRELS, RUN, "nDCG@3", "-q", "-o", "json", "--quiet"],
        capture_output=True, check=True,
    )  # fmt: skip
    add = [sys.executable, "-m", "metricpact", "record", "add", "--scores", "-", "--records", file, *labels("1.0")]
    assert subprocess.run(add, input=scored.stdout, capture_output=True, check=True).stderr == b""
    fresh = mp.score(str(QRELS), str(RUN), ["nDCG@3"])
    assert mp.load_record(1, file).scores.to_polars().equals(fresh.to_polars())


def test_slices_are_kept_beside_the_scores(file: Path, tmp_path: Path) -> None:
    """--slices TABLE; rows of queries that are not judged stay behind."""
    slices = tmp_path / "slices.csv"
    slices.write_text("query_id,kind\nebooks,digital\n3d-printer,digital\nopening-hours,place\nnobody,place\n")
    typed("record", "add", QRELS, RUN, "RR", "--slices", slices, *labels("1.0"))
    kept = mp.load_record(1, file).slices
    assert kept is not None
    assert dict(kept.rows()) == {"ebooks": "digital", "3d-printer": "digital", "opening-hours": "place"}
    slices.write_text("query_id,kind\nnobody,place\n")
    assert (
        "slices none of the scored queries"
        in typed("record", "add", QRELS, RUN, "--slices", slices, *labels("1"), code=2)[1]
    )


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        (["add", QRELS, RUN], "Missing option '--component'"),
        (["add", QRELS, *labels("1")], "a record holds one run, and 0 are named"),
        (["add", QRELS, RUN, RUN, *labels("1")], "a record holds one run, and 2 are named"),
        (["add", *labels("1")], "nothing to keep"),
        (["add", "--scores", RUN, QRELS, *labels("1")], "goes without QRELS"),
        (["add", "--scores", RUN, *labels("1")], "is not JSON"),
        (["add", QRELS, RUN, "nDCG@0", *labels("1")], "nDCG@0"),
        (["add", QRELS, RUN, *labels("  ")], "is no name"),
        (["add", TABLE, "--run", "v9", *labels("1")], "there is no run 'v9'"),
        (["add", QRELS, RUN, "--run", "v1", *labels("1")], "2 are named"),
        (["list"], "no such records file"),
        (["show", "1"], "no such records file"),
        (["show", "one"], "'one' names no record"),
        (["diff", "1"], "Missing argument 'CANDIDATE'"),
        (["export", "0"], "0"),
        (["list", "--records", RUN], "is not a records file"),
        (["add", QRELS, RUN, "--records", RUN, *labels("1")], "is not a records file"),
    ],
)
def test_wrong_usage_is_told_and_nothing_is_made(file: Path, arguments: list[Any], fact: str) -> None:
    """A fact and a hint, exit code 2, and no file."""
    before = RUN.read_bytes()
    out, err = typed("record", *arguments, code=2)
    assert out == ""
    assert fact in err and "hint: " in err and "Traceback" not in err
    assert not file.exists()
    assert RUN.read_bytes() == before


def test_without_a_records_file_none_is_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    """--records, or the environment."""
    monkeypatch.delenv("METRICPACT_RECORDS", raising=False)
    for arguments in (["list"], ["export"], ["add", QRELS, RUN, *labels("1")]):
        assert "no records file is named" in typed("record", *arguments, code=2)[1]
    assert "record of no file" in typed("record", "show", "1", code=2)[1]


def test_other_set_versions_are_refused_or_labelled(table: Path) -> None:
    """diff and compare refuse; --across set labels every number; slices name the set beside each run."""
    typed("record", "add", TABLE, "--run", "v2", "R@1", "RR", *labels("2.0", "1.3"))
    names = f"record:1@{table}", f"record:3@{table}"
    for command in (["record", "diff", 1, 3], ["compare", *names], ["slices", *names]):
        err = typed(*command, code=2)[1]
        assert "not comparable: set versions differ: faq 1.2 / faq 1.3" in err and "--across set" in err
    diff = json.loads(typed("record", "diff", 1, 3, "--across", "set", "-o", "json")[0])
    assert [row["label"] for row in diff["measures"]] == ["set versions differ: faq 1.2 / faq 1.3"] * 2
    compared = mp.compare(None, names[0], [names[1]], across=["set"])
    assert {one.note for one in compared.differences} == {"set versions differ: faq 1.2 / faq 1.3"}
    assert "set versions differ" in typed("compare", *names, "--across", "set", "-o", "table")[0]
    sliced = mp.slices([*names], across=["set"])
    assert sliced.runs == (f"{names[0]} [faq 1.2]", f"{names[1]} [faq 1.3]")
    assert "set versions differ: faq 1.2 / faq 1.3" in sliced.notes


def test_records_slice_and_compare_like_the_runs_that_they_keep(table: Path) -> None:
    """Means, intervals, p-values and NONE pass rates are those of the table itself."""
    names = [f"record:{at}@{table}" for at in (1, 2)]
    measures = ["R@1", "R@3", "RR"]
    kept = mp.slices(names, None, measures, none_policy="nearest-with-note").to_polars()
    fresh = mp.slices(str(TABLE), None, measures, none_policy="nearest-with-note").to_polars()
    assert kept.drop("run").equals(fresh.drop("run"))
    assert 0.6 in kept.filter(pl.col("measure") == "NONE pass rate")["macro"].to_list()
    compared = mp.compare(None, names[0], names[1:]).to_polars()
    assert compared.drop("base", "candidate").equals(
        mp.compare(str(TABLE), measures=measures).to_polars().drop("base", "candidate")
    )
    shown = json.loads(typed("slices", *names, "R@1", "--by", "language", "-o", "json")[0])
    assert shown["inputs"]["runs"] == [{"path": name} for name in names]
    assert "cannot resolve at this n" in typed("compare", *names, "-o", "table")[0]


def test_records_are_gated_like_the_table_that_they_keep(table: Path) -> None:
    """Every verdict with its numbers, that on NONE questions too, by slices that were kept with the records."""
    rules, names = EXAMPLE / "slices/gate.toml", [f"record:{at}@{table}" for at in (1, 2)]
    from_table, from_records = mp.gate(rules, TABLE, "v1", "v2"), mp.gate(rules, None, *names)
    assert from_records.to_polars().equals(from_table.to_polars())
    assert from_records.base == f"search 1.0 ({names[0]})"
    printed = json.loads(typed("gate", rules, *names, "-o", "json", code=2)[0])
    assert printed["rules"][-1]["candidate"] == 0.6


def test_records_of_tables_that_ask_for_other_answers_are_refused(table: Path, tmp_path: Path) -> None:
    """One set version, and another expected id: no comparison and no verdict, unless asked for and labelled."""
    other = tmp_path / "other.csv"
    other.write_text(TABLE.read_text().replace("pop-total,pop-total;tax-rev", "tax-rev,pop-total;tax-rev"))
    typed("record", "add", other, "--run", "v2", "R@1", "R@3", "RR", *labels("2.0"))
    names = [f"record:{at}@{table}" for at in (1, 3)]
    for command in ("slices", "compare"):
        assert "judgments differ" in typed(command, *names, code=2)[1]
    assert "judgments differ" in typed("record", "diff", 1, 3, code=2)[1]
    labelled = json.loads(typed("compare", *names, "--across", "judgments", "-o", "json")[0])
    assert all("judgments differ" in row["note"] for row in labelled["differences"])
    found = mp.gate(EXAMPLE / "slices/gate.toml", None, *names)
    assert all("judgments differ" in one.why for one in found.verdicts if one.rule)
    shuffled = tmp_path / "shuffled.csv"
    head, *rows = TABLE.read_text().splitlines()
    shuffled.write_text("\n".join([head, *sorted(rows, reverse=True)]) + "\n")
    typed("record", "add", shuffled, "--run", "v2", "R@1", "R@3", "RR", *labels("2.0"))
    assert typed("record", "diff", 2, 4, "-o", "json")[1] == ""


def test_that_nobody_knows_the_judgments_is_said_everywhere(file: Path) -> None:
    """Scores of Python objects have no digest of their judgments: a diff, a comparison, slices and a gate say so."""
    told = "whether the judgments are the same is not known"
    for run in (["a"], ["b"]):
        scores = mp.score({"q": {"a": 1}}, {"q": run}, "RR", backend="reference")
        mp.add_record(file, scores, component="c", component_version="1", set_name="s", set_version="1")
    names = [f"record:{at}@{file}" for at in (1, 2)]
    gate = mp.gate({"rule": [{"measures": "RR", "max_drop": 0.1}], "backend": "reference"}, None, *names)
    notes = [mp.diff_records(1, 2, file).notes, mp.compare(None, *names).notes, mp.slices(names).notes, gate.notes]
    assert all(any(told in note for note in each) for each in notes)


def test_runs_in_python_stand_beside_records_by_name(file: Path) -> None:
    """A mapping names its runs, an object has a name and not its contents; one name is for one run."""
    qrels, run = {"q": {"a": 1}}, {"q": ["a"]}
    scores = mp.score(qrels, run, "RR", backend="reference")
    mp.add_record(file, scores, component="c", component_version="1", set_name="s", set_version="1")
    record, text = mp.load_record(1, file), f"record:1@{file}"
    assert mp.compare(qrels, record, {"new": run}, backend="reference").pairs == ((text, "new"),)
    assert mp.compare(qrels, text, [run, {"q": ["b"]}], backend="reference").pairs == (
        (text, "candidate 1"), (text, "candidate 2"),
    )  # fmt: skip
    assert mp.compare(qrels, run, {"kept": text}, backend="reference").pairs == (("base", "kept"),)
    with pytest.raises(InputError, match="two runs are called"):
        mp.compare(None, record, [text, text])
    with pytest.raises(InputError, match="a dict is no record"):
        mp.compare(None, record, run)
    with pytest.raises(InputError, match="no record is named"):
        mp.export_records(file, [])


def test_a_fresh_run_is_compared_with_a_record(file: Path, tmp_path: Path) -> None:
    """QRELS score the run; the record's judgments must be the same file."""
    typed("record", "add", QRELS, RUN, "RR", "P@3", *labels("1.0"))
    worse = tmp_path / "worse.run"
    worse.write_text(RUN.read_text().replace(" holidays ", " elsewhere "))
    base = f"record:1@{file}"
    found = json.loads(typed("compare", QRELS, base, worse, "-o", "json")[0])
    assert {row["measure"] for row in found["differences"]} == {"RR", "P@3"}
    by_hand = mp.score(str(QRELS), str(worse), "P@3").mean["P@3"] - mp.score(str(QRELS), str(RUN), "P@3").mean["P@3"]
    (row,) = [row for row in found["differences"] if row["measure"] == "P@3"]
    assert row["difference"] == pytest.approx(by_hand, abs=1e-15)
    changed = tmp_path / "qrels.txt"
    changed.write_text(QRELS.read_text() + "\n")
    assert "judgments differ" in typed("compare", changed, base, worse, code=2)[1]
    labelled = json.loads(typed("compare", changed, base, worse, "--across", "judgments", "-o", "json")[0])
    assert all("judgments differ" in row["note"] for row in labelled["differences"])


def test_what_records_cannot_give(table: Path, tmp_path: Path) -> None:
    """Rankings, measures that were not kept, runs without judgments, and across without a record."""
    names = [f"record:{at}@{table}" for at in (1, 2)]
    assert "records hold no rankings" in typed("compare", *names, "--show", "q01", code=2)[1]
    assert "--across is for records" in typed("compare", QRELS, RUN, "x.run", "--across", "set", code=2)[1]
    with pytest.raises(MeasureError, match="has no values of nDCG@10"):
        mp.compare(None, names[0], names[1:], ["nDCG@10"])
    with pytest.raises(InputError, match="no judgments to score it by"):
        mp.compare(None, names[0], ["x.run"])
    with pytest.raises(InputError, match="do not stand in one table"):
        mp.slices([names[0], str(RUN)])
    with pytest.raises(InputError, match="names no record"):
        mp.slices("record:one")
    for use in (lambda: mp.slices(str(TABLE), across=["set"]), lambda: mp.compare(str(TABLE), across=["set"])):
        with pytest.raises(ContractError, match="across is for records"):
            use()
    with pytest.raises(InputError, match="'color' is nothing to compare across"):
        mp.diff_records(names[0], names[1], across=["color"])


def test_all_pairs_of_records(table: Path) -> None:
    """Three records make three pairs; the same one twice is refused."""
    typed("record", "add", TABLE, "--run", "v2", "RR", *labels("2.1"))
    names = [f"record:{at}@{table}" for at in (1, 2, 3)]
    found = mp.compare(None, names[0], names[1:], all_pairs=True)
    assert len(found.pairs) == 3 and {one.measure for one in found.differences} == {"RR"}
    with pytest.raises(InputError, match="two runs are called"):
        mp.compare(None, names[0], [names[0]])
