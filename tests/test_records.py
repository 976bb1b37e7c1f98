"""Records: scores come back as they were, files are refused untouched, and comparisons say what differs."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import metricpact as mp
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metricpact.bridges.sources.scores_document import scores_from_document
from metricpact.contracts.errors import InputError
from metricpact.crosscheck.records.reference import parse_reference
from metricpact.crosscheck.records.store import SCHEMA_VERSION

QRELS = {"q1": {"a": 2, "b": 1, "n": 0}, "q2": {"c": 0}, "q3": {"d": 1}, "q4": {"e": 1}}
RUN = {"q1": ["b", "u", "a"], "q2": ["c"], "q3": ["x", "d"], "q9": ["z"]}
BETTER = {"q4": ["e"], "q3": ["d", "x"], "q2": ["c"], "q1": ["b", "u", "a"]}
LABELS = {"component": "search", "component_version": "1.0", "set_name": "faq", "set_version": "1.2"}
CHANGES: list[dict[str, Any]] = [
    {}, {"gain": {0: 0, 1: 1, 2: 5}}, {"queries": ["q1", "q3"]}, {"queries": "answered"}, {"undefined": "zero"},
    {"extra_query": "zero"}, {"undefined": "skip"}, {"threshold": 2},
]  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A path for a records file."""
    return str(tmp_path / "scores.sqlite")


def scored(run: Any = RUN, measures: Any = ("nDCG@3", "RR", "Judged@2"), **how: Any) -> mp.Scores:
    """Scores by the reference."""
    return mp.score(QRELS, run, measures, backend="reference", **how)


def add(file: str, scores: mp.Scores, slices: Any = None, **labels: str) -> int:
    """Keep scores under the labels of this module, or others."""
    return mp.add_record(file, scores, **{**LABELS, **labels}, slices=slices)


@pytest.mark.parametrize("changes", CHANGES, ids=str)
@pytest.mark.parametrize("contract", ["chapter", "trec_eval-9.0.8"])
def test_a_record_gives_back_the_very_scores(file: str, contract: str, changes: dict[str, Any]) -> None:
    """Every value, reason, count, hash and signature, under contracts with overrides, tables and query lists."""
    measures = ["nDCG@3", "RR", "RR(rel=2)@2", "AP", "P@3", "Judged@2", "nDCG(gains={0:0,1:1,2:3})@3", "SetF(beta=0.5)"]
    scores = scored(measures=measures, contract=contract, set=changes)
    kept = mp.load_record(add(file, scores), file)
    assert kept.scores.to_document(by_query=True) == scores.to_document(by_query=True)
    assert kept.scores.means().equals(scores.means())
    assert kept.scores.to_polars().equals(scores.to_polars())
    for mine, theirs in zip(kept.scores.columns, scores.columns, strict=True):
        assert (mine.in_mean.tolist(), mine.extra_zeros) == (theirs.in_mean.tolist(), theirs.extra_zeros)
        assert _listed(mine.denominator) == _listed(theirs.denominator)


def test_every_named_contract_comes_back(file: str) -> None:
    """The profiles with all their overrides, measure by measure; bounds that stand beside values stay behind."""
    from metricpact.contracts.errors import UnsupportedError
    from metricpact.contracts.profiles import profile_names

    found = 0
    for name in profile_names():
        for measure in ("nDCG@3", "P@2", "RR@2", "AP", "R@2"):
            try:
                scores = scored(measures=measure, contract=name)
            except (UnsupportedError, InputError):  # some contracts refuse what this data has
                continue
            document = json.loads(json.dumps(scores.to_document(by_query=True)))
            assert scores_from_document(document, name).to_document(by_query=True) == document
            found += 1
    assert found > 20
    bounded = json.loads(json.dumps(scored(measures="RR", bounds=True).to_document(by_query=True)))
    assert scores_from_document(bounded, "bounded").to_polars().equals(scored(measures="RR").to_polars())


def _listed(values: Any) -> list[float] | None:
    return None if values is None else list(values)


def test_a_record_says_what_when_and_in_what(file: str) -> None:
    """Labels, note, time in UTC, the software, and slices with gaps."""
    slices = pl.DataFrame({"query_id": ["q3", "q1"], "language": ["fr", "en"], "flag": [None, "yes"]})
    id_ = add(file, scored(), slices, note="after the reindex")
    kept = mp.load_record(f"record:{id_}@{file}")
    assert vars(kept.labels) == {**LABELS, "note": "after the reindex"}
    assert kept.recorded.endswith("+00:00")
    assert {"python", "platform", "metricpact", "numpy", "polars"} <= set(kept.environment)
    assert kept.slices is not None
    assert kept.slices.sort("query_id").equals(slices.sort("query_id"))
    assert mp.load_record(add(file, scored()), file).slices is None


def test_ids_count_up_and_are_never_used_again(file: str) -> None:
    """A record that somebody deleted does not give its id to another."""
    assert [add(file, scored()) for _ in range(3)] == [1, 2, 3]
    with sqlite3.connect(file) as connection:
        for table in ("value", "query", "mean"):
            connection.execute(f"DELETE FROM {table} WHERE record = 3")  # noqa: S608
        connection.execute("DELETE FROM record WHERE id = 3")
    connection.close()
    assert add(file, scored()) == 4
    with pytest.raises(InputError, match="there is no record 3"):
        mp.load_record(3, file)


def test_the_list_is_a_table_of_means_by_label(file: str) -> None:
    """One row a record and measure, an undefined mean as null, filtered by what is asked for."""
    add(file, scored())
    add(file, mp.score({"q": {"a": 0}}, {"q": ["a"]}, ["RR"], backend="reference"), component_version="2.0")
    listed = mp.list_records(file)
    assert listed.select("id", "measure").rows() == [(1, "nDCG@3"), (1, "RR"), (1, "Judged@2"), (2, "RR")]
    assert listed["mean"].to_list()[:3] == [scored().mean[name].value for name in ("nDCG@3", "RR", "Judged@2")]
    assert listed.row(3, named=True)["mean"] is None and listed["undefined"][3] == 1
    assert mp.list_records(file, component_version="2.0")["id"].to_list() == [2]
    assert mp.list_records(file, set_version="9").is_empty()


def test_permuted_queries_differ_by_nothing(file: str) -> None:
    """Records are paired by query id: another order of the queries gives differences of exactly 0."""
    turned = mp.score(dict(reversed(QRELS.items())), RUN, ["nDCG@3", "RR"], backend="reference")
    ids = [add(file, scored(measures=["nDCG@3", "RR"])), add(file, turned)]
    found = mp.diff_records(*ids, file)
    assert mp.load_record(2, file).scores.queries.to_list() == ["q4", "q3", "q2", "q1"]
    assert found.means["difference"].to_list() == [0.0, 0.0]
    assert found.by_query["difference"].drop_nulls().to_list() == [0.0] * 6


def test_a_diff_by_hand(file: str) -> None:
    """q3 rises from 1/2 to 1 and q4 from 0 to 1, q1 stays, q2 is undefined and counted: the mean rises by a half."""
    found = mp.diff_records(add(file, scored(measures=["RR"])), add(file, scored(BETTER, ["RR"])), file)
    row = found.means.row(0, named=True)
    assert (row["base"], row["candidate"], row["difference"]) == (0.5, 1.0, 0.5)
    assert (row["n"], row["better"], row["worse"], row["same"], row["undefined"], row["unpaired"]) == (3, 2, 0, 1, 1, 0)
    assert row["label"] == ""


def test_what_one_side_alone_has_is_counted_and_told(file: str) -> None:
    """Queries of one set only are unpaired; measures of one record only stand in the notes."""
    smaller = mp.score({"q1": QRELS["q1"], "q8": {"a": 1}}, BETTER, ["RR", "P@1"], backend="reference")
    found = mp.diff_records(add(file, scored()), add(file, smaller), file)
    assert found.means.select("measure", "n", "unpaired").rows() == [("RR", 1, 4)]
    assert any("only in" in note and "nDCG@3, Judged@2" in note for note in found.notes)


@pytest.mark.parametrize(
    ("kind", "labels", "changes"),
    [("set", {"set_version": "1.3"}, {}), ("set", {"set_name": "other"}, {}), ("signature", {}, {"gain": "linear"})],
)
def test_records_of_different_sets_or_contracts_are_compared_when_asked_for(
    file: str, kind: str, labels: dict[str, str], changes: dict[str, str]
) -> None:
    """Refused with the way out; asked for, every number says what differs."""
    ids = add(file, scored()), add(file, scored(set=changes), **labels)
    with pytest.raises(InputError, match="not comparable") as caught:
        mp.diff_records(*ids, file)
    assert f"across {kind}" in caught.value.hint
    with pytest.raises(InputError, match="not comparable"):
        mp.diff_records(*ids, file, across=[{"set": "signature", "signature": "set"}[kind]])
    found = mp.diff_records(*ids, file, across=[kind])
    assert all("differ" in label for label in found.means["label"])
    assert found.means["base_signature"].str.starts_with("nDCG@3|chapter/1||")[0]


def test_only_the_measures_whose_contract_differs_are_labelled(file: str) -> None:
    """Two means under one contract stay bare beside one that is not."""
    profile = mp.Profile.from_toml(_toml(Path(file).parent, '[overrides."RR"]\nthreshold = 2\n'))
    ids = add(file, scored()), add(file, scored(contract=profile))
    labels = mp.diff_records(*ids, file, across=["signature"]).means["label"].to_list()
    assert [bool(label) for label in labels] == [False, True, False]


def _toml(folder: Path, text: str) -> str:
    path = folder / "ours.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_other_software_is_a_note_and_no_obstacle(file: str) -> None:
    """Provenance may differ between comparable numbers; it is told."""
    other = mp.score(QRELS, RUN, ["RR"], backend="pytrec_eval")
    found = mp.diff_records(add(file, scored(measures=["RR"])), add(file, other), file)
    assert found.means["difference"].to_list() == [0.0]
    assert any("computed by different software" in note for note in found.notes)


@pytest.mark.parametrize("name", ["other.txt", "other.sqlite", "newer.sqlite", "folder", "half.sqlite"])
def test_a_file_that_is_no_records_file_is_refused_and_stays(tmp_path: Path, name: str) -> None:
    """Text, another program's database, a newer layout, a folder, a database that was cut off."""
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
    elif name == "other.txt":
        path.write_text("these are the notes of last summer, no records\n" * 40)
    elif name == "other.sqlite":
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE record (id INTEGER)")
        connection.close()
    else:
        add(str(path), scored())
        if name == "newer.sqlite":
            with sqlite3.connect(path) as connection:
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
            connection.close()
        else:
            path.write_bytes(path.read_bytes()[:5000])
    before = path.read_bytes() if path.is_file() else None
    for use in (lambda: add(str(path), scored()), lambda: mp.list_records(str(path))):
        with pytest.raises(InputError) as caught:
            use()
        assert name in caught.value.fact and caught.value.hint
        if name == "newer.sqlite":
            assert "version 2" in caught.value.fact and "newer" in caught.value.hint
    assert before is None or path.read_bytes() == before
    assert sorted(one.name for one in tmp_path.iterdir()) == [name]


def test_no_file_appears_for_what_cannot_be_kept(tmp_path: Path) -> None:
    """A wrong label, a slice of a query that is not judged, a missing folder, a file that is only read."""
    file = tmp_path / "scores.sqlite"
    for labels in ({"component": " "}, {"set_version": ""}, {"note": "two\nlines"}):
        with pytest.raises(InputError, match="is no name"):
            add(str(file), scored(), **labels)
    for slices in ({"query_id": ["q7"], "x": ["y"]}, {"query_id": ["q1", "q1"], "x": ["y", "z"]}, {"query_id": ["q1"]}):
        with pytest.raises(InputError, match="slice table"):
            add(str(file), scored(), pl.DataFrame(slices))
    with pytest.raises(InputError, match="there is no such records file"):
        mp.load_record(1, str(file))
    with pytest.raises(InputError, match="folder does not exist"):
        add(str(tmp_path / "no" / "scores.sqlite"), scored())
    assert list(tmp_path.iterdir()) == []


def test_a_writer_does_not_wait_for_ever(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program that holds the file is told of, and nothing is written."""
    add(file, scored())
    monkeypatch.setattr("metricpact.crosscheck.records.store.WAIT", 0.05)
    held = sqlite3.connect(file, isolation_level=None)
    held.execute("BEGIN EXCLUSIVE")
    try:
        for use in (lambda: add(file, scored()), lambda: mp.list_records(file)):
            with pytest.raises(InputError, match="others have been writing") as caught:
                use()
            assert "later" in caught.value.hint
    finally:
        held.close()
    assert mp.list_records(file)["id"].unique().to_list() == [1]


@settings(max_examples=25, derandomize=True, deadline=None)
@given(st.dictionaries(st.text(min_size=1, max_size=5), st.lists(st.sampled_from("abcde"), unique=True), min_size=1))
def test_any_query_ids_and_values_come_back(rankings: dict[str, list[str]]) -> None:
    """Ids of any characters, empty rankings, and values to the last bit."""
    qrels = {query: {"a": 1, "c": 2, "e": 0} for query in rankings}
    scores = mp.score(qrels, rankings, ["nDCG@3", "AP", "Judged@2"], backend="reference")
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "scores.sqlite")
        assert mp.load_record(add(file, scores), file).scores.to_document(by_query=True) == scores.to_document(
            by_query=True
        )


def test_an_empty_file_is_filled_and_not_read(file: str) -> None:
    """What a process leaves that was killed before its first commit is no obstacle for the next."""
    Path(file).touch()
    with pytest.raises(InputError, match="no records"):
        mp.list_records(file)
    assert add(file, scored()) == 1


def test_a_path_is_only_a_path(tmp_path: Path) -> None:
    """Characters that mean something in a URI are part of the name."""
    file = str(tmp_path / "a b?mode=memory#%41@home.sqlite")
    assert add(file, scored()) == 1
    assert mp.load_record(f"record:1@{file}").labels.component == "search"
    assert [one.name for one in tmp_path.iterdir()] == ["a b?mode=memory#%41@home.sqlite"]


@pytest.mark.parametrize(
    "text", ["record:", "record:0@f", "record:x@f", "record:1", "record:1@", "-1", "1.0", "", "1７"]
)
def test_what_names_no_record(text: str) -> None:
    """Only record:ID@FILE, or an id beside a file."""
    with pytest.raises(InputError, match="names no record"):
        parse_reference(text, "f")
    with pytest.raises(InputError, match="of no file"):
        parse_reference("3")


def tampered(change: Any) -> dict[str, Any]:
    """A scores document as JSON gives it back, with something changed."""
    document: dict[str, Any] = json.loads(json.dumps(scored().to_document(by_query=True)))
    change(document)
    return document


FAULTS: dict[str, Any] = {
    "schema": lambda d: d.update(schema="metricpact.scores/2"),
    "several runs": lambda d: d.update(schema="metricpact.score-list/1"),
    "without the values": lambda d: d.pop("per_query"),
    "is not that of its values": lambda d: d["measures"][0].update(mean=0.9),
    "n, undefined": lambda d: d["measures"][1].update(n=4),
    "judged fraction": lambda d: d["measures"][1].update(judged_fraction=None),
    "is not that of its contract": lambda d: d["contract"]["fields"].update(gain="linear"),
    "the signature of": lambda d: d["measures"][1].update(signature=d["measures"][1]["signature"].replace("RR", "AP")),
    "one value of": lambda d: d["per_query"].pop(),
    "for every judged query": lambda d: d["per_query"].append(d["per_query"][0]),
    "states no mean": lambda d: d["per_query"].append({**d["per_query"][0], "measure": "P@1"}),
    "queries where": lambda d: d["queries"].update(judged=9),
    "neither a number nor undefined": lambda d: d["per_query"][0].update(value=None),
    "reason of an undefined": lambda d: d["per_query"][3].update(reason="because"),
    "lacks what": lambda d: d.pop("contract"),
    "not a field": lambda d: d["contract"]["fields"].update(colour="blue"),
    "is not a signature": lambda d: d["measures"][0].update(signature="nDCG"),
    "no measure": lambda d: d.update(measures=[]),
}


@pytest.mark.parametrize("fact", FAULTS)
def test_a_scores_document_that_does_not_hold_is_refused(fact: str) -> None:
    """Means, signatures and rows are held against each other; the source is named."""
    with pytest.raises(InputError, match=fact) as caught:
        scores_from_document(tampered(FAULTS[fact]), "scores.json")
    assert caught.value.fact.startswith("scores.json: ")
    assert caught.value.hint


@pytest.mark.parametrize("document", [None, [], 3, {}, {"schema": 1}])
def test_what_is_no_scores_document_at_all(document: Any) -> None:
    """Any other JSON."""
    with pytest.raises(InputError, match=r"no document of metricpact\.scores/1"):
        scores_from_document(document, "scores.json")


def test_a_value_that_was_changed_in_the_file_is_noticed(file: str) -> None:
    """A record is read with its values held against its means."""
    add(file, scored())
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE value SET value = 1.0 WHERE mean = 0 AND query = 3")
    connection.close()
    with pytest.raises(InputError, match="is not that of its values"):
        mp.load_record(1, file)


def test_an_export_holds_everything(file: str, tmp_path: Path) -> None:
    """JSON lines can be read back into the very scores; the flat table has a row a record, query and measure."""
    slices = pl.DataFrame({"query_id": ["q1"], "language": ["en"]})
    add(file, scored(), slices)
    add(file, scored(BETTER), component_version="2.0")
    exported = mp.export_records(file)
    assert exported.select("id", "query_id", "measure").n_unique() == len(exported) == 24
    assert set(exported.filter(pl.col("query_id") == "q1", pl.col("id") == 1)["slice.language"]) == {"en"}
    assert exported.filter(pl.col("value").is_null())["reason"].null_count() == 0
    document = json.loads(json.dumps(mp.load_record(2, file).to_document()))
    assert scores_from_document(document["scores"], "x").to_polars().equals(scored(BETTER).to_polars())
    assert mp.export_records(file, [2])["component_version"].unique().to_list() == ["2.0"]
