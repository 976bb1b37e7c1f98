"""Formats: each is known by its content, read alike, forced by name, and refused with the line where it is faulty."""

from __future__ import annotations

import bz2
import csv
import gzip
import hashlib
import io
import json
import lzma
import sys
from collections.abc import Callable
from pathlib import Path

import metricpact as mp
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from metricpact.bridges.sources import compression, ranx_file, streams
from metricpact.bridges.sources.choose import read_judgments
from metricpact.bridges.sources.registry import FORMATS, by_name
from metricpact.bridges.sources.streams import open_stream
from metricpact.cli import cli
from metricpact.commands import options
from metricpact.contracts.errors import InputError, LimitError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

lz4_frame = pytest.importorskip("lz4.frame")
cbor2 = pytest.importorskip("cbor2")

QRELS = [("q1", "a", 1), ("q1", "b", 0), ("q2", "c", 2)]
RUN = [("q1", "a", 2.5), ("q1", "b", 1.0), ("q2", "c", 1.0)]
Q_FRAME = pl.DataFrame(QRELS, schema=["query-id", "corpus-id", "score"], orient="row")
R_FRAME = pl.DataFrame(RUN, schema=["qid", "docno", "score"], orient="row")


def nested(rows: list[tuple[str, str, float]]) -> dict[str, dict[str, float]]:
    """query → document → number."""
    made: dict[str, dict[str, float]] = {}
    for query, document, number in rows:
        made.setdefault(query, {})[document] = number
    return made


def lines(rows: list[tuple[str, str, float]], pattern: str, header: str = "") -> bytes:
    """A text file with a line a row."""
    return (header + "".join(pattern.format(*row) for row in rows)).encode()


def written(write: Callable[[io.BytesIO], object]) -> bytes:
    """The bytes that a writer writes."""
    held = io.BytesIO()
    write(held)
    return held.getvalue()


def ranx_bytes(rows: list[tuple[str, str, float]]) -> bytes:
    """As ranx saves it: CBOR, compressed, in a compressed file."""
    inner: bytes = lz4_frame.compress(cbor2.dumps(nested(rows)))
    return bytes(lz4_frame.compress(inner))


QRELS_FILES = {
    "trec": lines(QRELS, "{0} 0 {1} {2}\n"),
    "trec tabs": lines(QRELS, "{0}\t0\t{1}\t{2}\n"),
    "beir": lines(QRELS, "{0}\t{1}\t{2}\n", "query-id\tcorpus-id\tscore\n"),
    "beir bare": lines(QRELS, "{0}\t{1}\t{2}\n"),
    "beir turned": lines(QRELS, "{2}\t{1}\t{0}\n", "rel\tdocno\tqid\n"),
    "tsv": lines(QRELS, "x\t{1}\t{0}\t{2}\n", "iteration\tdoc_id\tquery_id\trelevance\n"),
    "csv": lines(QRELS, "{0},{1},{2}\n", "query_id, doc_id, relevance\n"),
    "csv quoted": lines(QRELS, '"{0}","{1}",{2}\r\n', '"Query ID","Doc ID","label"\r\n'),
    "json": json.dumps(nested(QRELS)).encode(),
    "json spread": json.dumps(nested(QRELS), indent=2).encode(),
    "jsonl": lines(QRELS, '{{"query-id": "{0}", "corpus-id": "{1}", "score": {2}}}\n'),
    "parquet": written(Q_FRAME.write_parquet),
    "arrow": written(Q_FRAME.write_ipc),
    "arrow stream": written(Q_FRAME.write_ipc_stream),
    "ranx": ranx_bytes(QRELS),
    "known-item": b"query_id,expected_id,ranked_ids\nq1,a,b;a\nq2,c,\nq3,NONE,x;y\n",
}
RUN_FILES = {
    "trec": lines(RUN, "{0} Q0 {1} 1 {2} t\n").replace(b"b 1", b"b 2"),
    "trec bare": lines(RUN, "{0} Q0 {1} 1 {2}\n").replace(b"b 1", b"b 2"),
    "msmarco": b"q1\ta\t1\nq1\tb\t2\nq2\tc\t1\n",
    "tsv": lines(RUN, "{2}\t{1}\t{0}\n", "score\tdocno\tqid\n"),
    "csv": lines(RUN, "{0},{1},{2},some text\n", "qid,docno,score,query\n"),
    "json": json.dumps(nested(RUN)).encode(),
    "json lists": b'{"q1": ["a", "b"], "q2": ["c"]}',
    "jsonl": lines(RUN, '{{"qid": "{0}", "docno": "{1}", "score": {2}}}\n'),
    "parquet": written(R_FRAME.write_parquet),
    "arrow": written(R_FRAME.write_ipc),
    "ranx": ranx_bytes(RUN),
    "known-item": b"query_id,expected_id,ranked_ids\nq1,a,a;b\nq2,c,c\n",
}
COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd.compress,
    "lz4": lz4_frame.compress,
}


@pytest.mark.parametrize("name", ["named.anyhow", "named.csv", "named.parquet"])
@pytest.mark.parametrize("kind", [kind for kind in QRELS_FILES if kind != "known-item"])
def test_judgments_are_known_by_their_content(tmp_path: Path, kind: str, name: str) -> None:
    """Whatever the file is called, its content says what it is; forcing its own format changes nothing."""
    path = tmp_path / name
    path.write_bytes(QRELS_FILES[kind])
    assert mp.read_qrels(path).to_polars().rows() == QRELS
    assert mp.read_qrels(path, format=kind.partition(" ")[0]).to_polars().rows() == QRELS


@pytest.mark.parametrize("kind", RUN_FILES)
def test_runs_are_known_by_their_content(tmp_path: Path, kind: str) -> None:
    """The same rankings in every format, with scores where it has any; the format can be forced."""
    path = tmp_path / "named.anyhow"
    path.write_bytes(RUN_FILES[kind])
    for run in (mp.read_run(path), mp.read_run(path, format=kind.partition(" ")[0])):
        assert [row[:2] for row in run.to_polars().rows()] == [row[:2] for row in RUN]
        if run.scores is not None:
            assert [row[2] for row in run.to_polars().rows()] == [row[2] for row in RUN]
        assert (run.scores is None) == (kind in ("msmarco", "json lists", "known-item"))
    scored = mp.score(nested(QRELS), path, ["nDCG@2", "AP"])
    assert scored.mean == mp.score(nested(QRELS), nested(RUN), ["nDCG@2", "AP"]).mean


@pytest.mark.parametrize("how", COMPRESSORS)
def test_compressed_files_are_known_by_their_content(tmp_path: Path, how: str) -> None:
    """Every text format in every compression, whatever the name says, in several pieces too; cut off is told."""
    path = tmp_path / "named.txt"
    for kind in ("trec", "beir", "csv quoted", "json", "jsonl"):
        path.write_bytes(COMPRESSORS[how](QRELS_FILES[kind]))
        assert mp.read_qrels(path).to_polars().rows() == QRELS
    whole = QRELS_FILES["trec"]
    path.write_bytes(COMPRESSORS[how](whole[:12]) + COMPRESSORS[how](whole[12:]))
    assert mp.read_qrels(path).to_polars().rows() == QRELS
    path.write_bytes(COMPRESSORS[how](whole * 1000)[:-5])
    with pytest.raises(InputError, match="damaged or cut off"):
        mp.read_qrels(path)
    path.write_bytes(COMPRESSORS[how](b""))
    with pytest.raises(InputError, match="empty"):
        mp.read_qrels(path)


@pytest.mark.parametrize("how", COMPRESSORS)
def test_a_decompression_bomb_is_refused(tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some kilobytes that expand beyond 256 MiB and 200 times their length: refused, and the limit can be raised."""
    piece = COMPRESSORS[how](b"\n" * (1 << 24))
    bomb = tmp_path / "bomb"
    bomb.write_bytes(piece * 17)
    assert bomb.stat().st_size * compression.EXPANSION < compression.ALWAYS
    with pytest.raises(LimitError, match=f"more than {compression.ALWAYS} bytes") as caught:
        mp.read_qrels(bomb)
    assert "METRICPACT_MAX_EXPANSION=2000" in caught.value.hint
    if how == "gz":
        monkeypatch.setenv(compression.LIMIT_VARIABLE, "100000")
        assert sum(len(part) for part in open_stream(bomb).slices()) == 17 << 24
        for nonsense in ("-1", "0", "much", ""):
            monkeypatch.setenv(compression.LIMIT_VARIABLE, nonsense)
            with pytest.raises(InputError, match="not a factor"):
                mp.read_qrels(bomb)


def test_a_parquet_bomb_is_refused(tmp_path: Path) -> None:
    """Millions of rows in a few kilobytes are counted before they are read."""
    path = tmp_path / "bomb"
    pl.select(pl.repeat(1, 20_000_000, dtype=pl.Int8).alias("label")).write_parquet(path, statistics=False)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(LimitError, match="expand to more than"):
        mp.read_qrels(path)


@pytest.mark.parametrize("write", ["write_parquet", "write_ipc"])
def test_a_bomb_of_few_long_rows_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: str) -> None:
    """Text that was compressed inside of a file of columns is measured before it is held."""
    path = tmp_path / "bomb"
    monkeypatch.setattr(compression, "ALWAYS", 1 << 20)
    frame = pl.DataFrame({"qid": ["q" * (1 << 21), "r"], "docno": ["a", "b"], "label": [1, 0]})
    getattr(frame, write)(path, compression="zstd")
    assert path.stat().st_size < 4000
    with pytest.raises(LimitError, match=f"more than {1 << 20} bytes"):
        mp.read_qrels(path)
    packed = tmp_path / "bomb.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(LimitError, match=f"{packed.stat().st_size} bytes expand to more than {1 << 20} bytes"):
        mp.read_qrels(packed)
    monkeypatch.setenv(compression.LIMIT_VARIABLE, "2000")
    assert len(mp.read_qrels(path)) == 2


def test_what_is_compressed_twice_expands_no_further(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The inner compression of ranx's files has the limit of the whole file, and is read in pieces up to it."""
    path = tmp_path / "bomb.lz4"
    path.write_bytes(lz4_frame.compress(lz4_frame.compress(b"\0" * (1 << 24))))
    stored = path.stat().st_size
    monkeypatch.setattr(compression, "ALWAYS", 1 << 20)
    monkeypatch.setattr(ranx_file, "SLICE", 1 << 16)
    asked: list[int] = []

    def watched(length: int, stored: int, name: str) -> None:
        asked.append(length)
        compression.check_expansion(length, stored, name)

    monkeypatch.setattr(ranx_file, "check_expansion", watched)
    with pytest.raises(LimitError, match=f"{stored} bytes expand to more than {1 << 20} bytes"):
        mp.read_run(path)
    assert asked[-1] == (1 << 20) + (1 << 16)


@pytest.mark.parametrize(
    ("inner", "said"),
    [
        (cbor2.dumps({"q": {"a": 1}}) + b"rest", "4 bytes follow the object of queries"),
        (cbor2.dumps({"q": 1}), "holds no object of queries"),
        (cbor2.dumps(["q"]), "holds no object of queries"),
        (b"\xa1\x61q\xd8\x24\x61x", "holds no object of queries"),  # a MIME message, which can be iterated over
    ],
)
def test_cbor_that_ranx_did_not_write_is_refused(tmp_path: Path, inner: bytes, said: str) -> None:
    """What follows the object, or is none, is not passed over."""
    path = tmp_path / "qrels.lz4"
    path.write_bytes(lz4_frame.compress(lz4_frame.compress(inner)))
    with pytest.raises(InputError, match=said):
        mp.read_qrels(path)


def test_json_on_one_line_may_be_longer_than_a_line_of_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole run may stand on one line there; a line of text that long is no text."""
    monkeypatch.setattr(streams, "LONGEST_LINE", 1000)
    monkeypatch.setattr(streams, "SLICE", 100)
    path = tmp_path / "qrels"
    path.write_text("\ufeff" + json.dumps({f"q{place}": {"d": 1} for place in range(1000)}), encoding="utf-8")
    assert len(mp.read_qrels(path)) == 1000
    path.write_text("q" * 2000 + " 0 d 1\n")
    with pytest.raises(InputError, match="longer than 1000 bytes"):
        mp.read_qrels(path)


def test_what_can_be_read_in_two_ways_is_refused_with_the_choices(tmp_path: Path) -> None:
    """Four columns with blanks are three with tabs: the choices are told, and forcing either reads it."""
    path = tmp_path / "qrels"
    path.write_text("1\t 0 317\t1\n")
    with pytest.raises(InputError, match="trec or beir") as caught:
        mp.read_qrels(path)
    assert caught.value.line == 1
    assert caught.value.hint == "--format trec or --format beir"
    assert mp.read_qrels(path, format="trec").to_polars().rows() == [("1", "317", 1)]
    assert mp.read_qrels(path, format="beir").to_polars().rows() == [("1", " 0 317", 1)]


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        (b"query_id,doc_id\nq,d\n", "no column is the grade", 1),
        (b"query_id,doc_id,rel,label\nq,d,1,1\n", "2 columns could be the grade: rel, label", 1),
        (b"query_id,qid,doc_id,rel\nq,q,d,1\n", "2 columns could be the query", 1),
        (b"query_id,doc_id,rel\nq,d\n", "2 columns where", 2),
        (b"query_id,doc_id,rel\nq,d,1,2\n", "4 columns where", 2),
        (b"query_id,doc_id,rel\n\nq,d,1\nq,,1\n", "document id is empty", 4),
        (b"query_id,doc_id,rel\nq,d,one\n", "'one' is not a number", 2),
        (b"query_id,doc_id,rel\nq,d,nan\n", "not a finite number", 2),
        (b"query_id,doc_id,rel\nq,d, 1\n", "' 1' is not a number", 2),
        (b"query_id,doc_id,rel\nq,\xff,1\n", "not UTF-8", 2),
        (b"query_id,doc_id,rel\n", "a header and no row", 1),
        (b'query_id,doc_id,rel\n"q",d,1\n"q",d\n', "2 columns where the header has 3", 3),
        (b'query_id,doc_id,rel\n"q\n\n",d,1\n"q",,1\n', "document id is empty", 5),
        (b'query_id,doc_id,rel\n"q",d,inf\n', "'inf' is not a finite number", 2),
        (b'query_id,doc_id,rel\n"q",d,1e999\n', "'1e999' is not a finite number", 2),
        (b'query_id,doc_id,rel\n"q",d,1\n"q"x,d,1\n', "is no CSV", 3),
        (b'query_id,doc_id,rel\n"q,d,1\n', "is no CSV", 2),
        (b'query_id,doc_id,rel\n"q",\xff,1\n', "not UTF-8", 2),
        (b'query_id,doc_id,"rel"\n', "a header and no row", None),
        (b'{"query_id": "q", "doc_id": "d"}\n', "no column is the grade", 1),
        (b'{"query_id": "q", "doc_id": "d", "rel": 1}\n{"query_id": 7, "doc_id": "d", "rel": 1}\n', "7 is not text", 2),
        (b'{"query_id": "q", "doc_id": "d", "rel": 1}\n\n{"query_id": "q", "doc_id": "d"}\n', "has no 'rel'", 3),
        (b'{"query_id": "q", "doc_id": "d", "rel": "1"}\n', "'1' is not a finite number", 1),
        (b'{"query_id": "q", "doc_id": "d", "rel": NaN}\n', "nan is not a finite number", 1),
        (b'{"query_id": "q", "doc_id": "d", "rel": 1' + b"0" * 400 + b"}\n", "0 is not a finite number", 1),
        (b'{"query_id": "\xff", "doc_id": "d", "rel": 1}\n', "not UTF-8", 1),
        (b'{"query_id": "q", "doc_id": "d", "rel": 1}\n{"query_id": "\\ud800", "doc_id": "d", "rel": 1}', "lone", 2),
        (b'{"q":\n{"\xff": 1}}\n', "not UTF-8", 2),
        (b'{"query_id": "q", "doc_id": "d", "rel": 1}\n{"query_id": "q", \n', "is not JSON", 2),
        (b'{"query_id": "q", "doc_id": "d", "rel": 1}\n[1]\n', "no JSON object", 2),
        (b'{"query_id": "q", "doc_id": "d", "rel": 1, "rel": 2}\n{}', "stands twice", 1),
        (b"query_id,expected_id,ranked_ids\n", "a header and no row", None),
        (b"query_id,expected_id,ranked_ids\nq,a,b\nq,c,b\n", "expects 'c' here and 'a' on line 2", 3),
        (b"query_id,expected_id,ranked_ids\nq,a\n", "2 columns where the header has 3", 2),
        (b"query_id,expected_id,ranked_ids\n,a,b\n", "query id is empty", 2),
        (b"query_id,expected_id,ranked_ids,query_id\nq,a,b,q\n", "names query_id 2 times", 1),
    ],
)
def test_faulty_tables_are_refused_with_the_line(tmp_path: Path, text: bytes, said: str, line: int | None) -> None:
    """A fact with the line on which the row begins, for every text format with named columns."""
    path = tmp_path / "qrels"
    path.write_bytes(text)
    with pytest.raises(InputError, match=said) as caught:
        mp.read_qrels(path)
    assert (caught.value.source, caught.value.line) == (str(path), line)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1),
            st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1),
            st.integers(0, 9),
        ),
        min_size=1,
        max_size=8,
        unique_by=lambda row: row[0],
    )
)
def test_whatever_a_csv_writer_quotes_comes_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, int]]
) -> None:
    """Commas, quotes, blanks and line ends in ids survive; rows keep their order."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerows([("query_id", "doc_id", "relevance"), *rows])
    path = tmp_path_factory.mktemp("csv") / "qrels.csv"
    path.write_bytes(text.getvalue().encode())
    assert mp.read_qrels(path).to_polars().rows() == rows


def test_between_tabs_nothing_is_quoted(tmp_path: Path) -> None:
    """A quote belongs to an id there, and so do blanks."""
    path = tmp_path / "run.tsv"
    path.write_text('query_id\tdoc_id\tscore\trank\n"q\t a "b"\t2\t1\n"q\t#c\t1\t2\n')
    assert mp.read_run(path).to_polars().rows() == [('"q', ' a "b"', 2.0, 1), ('"q', "#c", 1.0, 2)]


def test_ms_marco_runs_are_ordered_by_their_ranks(tmp_path: Path) -> None:
    """In any order of lines; ranks that are not 1, 2, 3, … could be scores, and are refused with the line."""
    path = tmp_path / "run.tsv"
    path.write_text("q\tb\t2\nq\ta\t1\np\tx\t1\nq\tc\t3\n")
    assert mp.score({"q": {"a": 1}}, path, ["RR"]).mean["RR"] == 1.0
    assert mp.score({"q": {"c": 1}}, path, ["RR"]).mean["RR"] == 1 / 3
    for text, line in [
        ("q a 1\nq b 1\n", 2),
        ("q a 24\nq b 13\n", 2),
        ("q a 0\nq b 1\n", 1),
        ("q a 1\nq b 3\n", 2),
        ("q a 2.5\nq b 1.5\n", 1),
    ]:
        path.write_text(text)
        with pytest.raises(InputError, match="rank") as caught:
            mp.read_run(path)
        assert caught.value.line == line
        assert "needs a header" in caught.value.hint


def test_ranks_order_a_table_without_scores(tmp_path: Path) -> None:
    """Rows may stand in any order there; equal ranks are an error, and --set order=given takes the rows as they are."""
    path = tmp_path / "run.csv"
    path.write_text("qid,docno,rank\nq,b,20\nq,a,10\n")
    assert mp.score({"q": {"a": 1}}, path, ["RR"]).mean["RR"] == 1.0
    assert mp.score({"q": {"a": 1}}, path, ["RR"], set={"order": "given"}).mean["RR"] == 0.5
    path.write_text("qid,docno,rank\nq,b,10\nq,a,10\n")
    with pytest.raises(InputError, match="same rank 10"):
        mp.score({"q": {"a": 1}}, path, ["RR"])
    path.write_text("qid,docno,rank\nq,b,first\nq,a,10\n")
    with pytest.raises(InputError, match="'first' is not an integer"):
        mp.score({"q": {"a": 1}}, path, ["RR"])


@pytest.mark.parametrize(
    "text",
    [
        b"query_id,doc_id,relevance\nq,b,0\nq,a,1\n",  # judgments in the place of a run
        b"query_id,doc_id,bm25\nq,b,1.5\nq,a,2.5\n",
        b"query_id\tdoc_id\tbm25\nq\tb\t1.5\nq\ta\t2.5\n",
        b'{"query_id": "q", "doc_id": "b", "bm25": 1.5}\n{"query_id": "q", "doc_id": "a", "bm25": 2.5}\n',
        written(pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["b", "a"], "bm25": [1.5, 2.5]}).write_parquet),
    ],
)
def test_a_score_by_another_name_is_not_passed_over(tmp_path: Path, text: bytes) -> None:
    """The order of the rows does not stand in for it in silence; query and document alone are a ranking as listed."""
    path = tmp_path / "run"
    path.write_bytes(text)
    with pytest.raises(
        InputError, match="no column is the score or the rank: the columns are query_id, doc_id, "
    ) as caught:
        mp.read_run(path)
    assert "call it one of score, sim, similarity, rank" in caught.value.hint
    path.write_bytes(b"query_id,doc_id\nq,b\nq,a\n")
    assert mp.read_run(path).to_polars().rows() == [("q", "b", None, None), ("q", "a", None, None)]


KNOWN_ITEM = """run,query_id,language,expected_id,ranked_ids
first,q1,en,A,A;B
first,q2,fr,B,C; B;
first,q3,fr,NONE,A
first,q4,en,D,
"""


def test_a_known_item_table_is_judgments_and_a_run(tmp_path: Path) -> None:
    """One expected document a question; NONE has no answer and no recall; nothing returned is a miss."""
    path = tmp_path / "runs.csv"
    path.write_text(KNOWN_ITEM)
    scores = mp.score(path, path, ["R@1", "RR"])
    assert scores.by_query("R@1") == {"q1": 1.0, "q2": 0.0, "q4": 0.0, "q3": None}
    assert scores.by_query("RR") == {"q1": 1.0, "q2": 0.5, "q4": 0.0, "q3": None}
    assert scores.mean["RR"].n == 3
    assert mp.read_run(path).origin.tag == "first"
    path.write_text(KNOWN_ITEM + "second,q1,en,A,B;A\n")
    assert len(mp.read_qrels(path)) == 3
    with pytest.raises(InputError, match="holds 2 runs: first, second"):
        mp.read_run(path)
    path.write_text(KNOWN_ITEM + "first,q1,en,A,B;A\n")
    with pytest.raises(InputError, match="stands on line 2 already") as caught:
        mp.read_run(path)
    assert caught.value.line == 6


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (pl.DataFrame({"qid": [1], "docno": ["a"], "label": [1]}), r"query id 1 \(entry 0\) is not text"),
        (pl.DataFrame({"qid": ["q", None], "docno": ["a", "b"], "label": [1, 1]}), r"query id is missing \(entry 1\)"),
        (pl.DataFrame({"qid": ["q"], "docno": ["a"]}), "no column is the grade"),
        (pl.DataFrame({"qid": ["q"], "docno": ["a"], "label": ["1"]}), "is not a number"),
        (pl.DataFrame({"qid": ["q"], "docno": ["a"], "label": [float("nan")]}), "not a finite number"),
        (pl.DataFrame({"qid": ["q"], "docno": [b"a"], "label": [1]}), "is not text"),
    ],
)
@pytest.mark.parametrize("write", ["write_parquet", "write_ipc", "write_ipc_stream"])
def test_faulty_columns_in_files_are_refused_with_the_row(
    tmp_path: Path, frame: pl.DataFrame, said: str, write: str
) -> None:
    """The same rules as for frames, with the file's name."""
    path = tmp_path / "qrels"
    getattr(frame, write)(path)
    with pytest.raises(InputError, match=said) as caught:
        mp.read_qrels(path)
    assert caught.value.source == str(path)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "arrow stream", "ranx"])
def test_binary_files_that_are_cut_off_or_damaged_are_refused(tmp_path: Path, kind: str) -> None:
    """At every length: an input error, never a crash."""
    path = tmp_path / "qrels"
    whole = QRELS_FILES[kind]
    for cut in range(8, len(whole), 37):
        path.write_bytes(whole[:cut])
        try:
            found = mp.read_qrels(path).to_polars().rows()
        except InputError:
            continue
        assert found == QRELS


def test_archives_that_are_not_read_are_named(tmp_path: Path) -> None:
    """zip, compress and Feather 1 are told for what they are."""
    for start, said in [(b"PK\x03\x04", "zip"), (b"\x1f\x9d", "compress"), (b"FEA1", "Feather 1")]:
        path = tmp_path / "qrels"
        path.write_bytes(start + b"x" * 40)
        with pytest.raises(InputError, match=said):
            mp.read_qrels(path)


@pytest.mark.parametrize(
    "files",
    [
        ["qrels/test.tsv"],
        ["qrels/test.jsonl"],
        ["qrels/test.parquet"],
        ["qrels/test-00000-of-00002.parquet", "qrels/test-00001-of-00002.parquet"],
        ["data/test-00000-of-00001.parquet"],
        ["default/test/0000.parquet"],
        ["default/test/0000.parquet", "default/test/0001.parquet", "default/train/0000.parquet"],
    ],
)
def test_folders_in_the_layouts_of_beir_and_hugging_face(tmp_path: Path, files: list[str]) -> None:
    """The judgments of a split in one file or several shards, beside a corpus and queries that are left alone."""
    shards = [name for name in files if "test" in name]
    for place, name in enumerate(shards):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        part = Q_FRAME if len(shards) == 1 else Q_FRAME[place * 2 : place * 2 + 2]
        if name.endswith("parquet"):
            part.with_columns(pl.col("score").cast(pl.Float64)).write_parquet(path)
        else:
            path.write_bytes(QRELS_FILES["beir" if name.endswith("tsv") else "jsonl"])
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "corpus-00000-of-00001.parquet").write_bytes(b"nothing that is read")
    assert mp.read_qrels(tmp_path).to_polars().rows() == QRELS
    with pytest.raises(InputError, match="no split 'dev'"):
        mp.read_qrels(tmp_path, split="dev")


def test_shards_are_all_there_and_hashed_together(tmp_path: Path) -> None:
    """A part of the judgments does not pass for all of them, and a record can tell other shards apart."""
    folder = tmp_path / "qrels"
    folder.mkdir()
    hashes = ""
    for place in (0, 1):
        path = folder / f"test-0000{place}-of-00002.parquet"
        Q_FRAME[place * 2 : place * 2 + 2].write_parquet(path)
        hashes += hashlib.sha256(path.read_bytes()).hexdigest() + "\n"
    whole = read_judgments(tmp_path, hashing=True)
    assert whole.origin.sha256 == hashlib.sha256(hashes.encode()).hexdigest()
    assert read_judgments(tmp_path).origin.sha256 is None
    path.unlink()
    with pytest.raises(InputError, match="has 1 files that are named as shards of 2"):
        mp.read_qrels(tmp_path)
    for name in ("test-00001-of-00003.parquet", "test-00002-of-00003.parquet"):
        Q_FRAME.write_parquet(folder / name)
    with pytest.raises(InputError, match="has 3 files that are named as shards of 2 and 3"):
        mp.read_qrels(tmp_path)


def test_queries_that_are_listed_as_parquet_are_compared(tmp_path: Path) -> None:
    """In all shards; a list that cannot be read is told too."""
    for place in ("data", "queries"):
        (tmp_path / place).mkdir()
    Q_FRAME.write_parquet(tmp_path / "data" / "test-00000-of-00001.parquet")
    pl.DataFrame({"_id": ["q1"]}).write_parquet(tmp_path / "queries" / "queries-00000-of-00002.parquet")
    with pytest.warns(
        mp.InputWarning, match=r"1 of 2 judged queries are not in queries/queries-00000-of-00002\.parquet: q2"
    ):
        mp.read_qrels(tmp_path)
    pl.DataFrame({"_id": ["q2"]}).write_parquet(tmp_path / "queries" / "queries-00001-of-00002.parquet")
    assert mp.read_qrels(tmp_path).to_polars().rows() == QRELS
    (tmp_path / "queries" / "queries-00001-of-00002.parquet").write_bytes(b"PAR1")
    with pytest.warns(mp.InputWarning, match="cannot be read"):
        mp.read_qrels(tmp_path)


def test_a_split_in_two_places_is_refused(tmp_path: Path) -> None:
    """Which of them counts is not guessed."""
    for name in ("qrels/test.tsv", "data/test.parquet"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(QRELS_FILES["beir" if name.endswith("tsv") else "parquet"])
    with pytest.raises(InputError, match=r"lie in 2 places: qrels/test\.tsv, data/test\.parquet"):
        mp.read_qrels(tmp_path)


def test_judged_queries_that_a_folder_does_not_list_are_told(tmp_path: Path) -> None:
    """Python warns, the command line notes it, and --quiet does not."""
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_bytes(QRELS_FILES["beir bare"])
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "one"}\n')
    with pytest.warns(mp.InputWarning) as caught:
        mp.read_qrels(tmp_path)
    assert [str(warning.message).partition(": ")[2] for warning in caught] == [
        "test.tsv has no header line: its first line is read as a judgment, which BEIR's own loader drops",
        "1 of 2 judged queries are not in queries.jsonl: q2",
    ]
    (tmp_path / "run").write_bytes(RUN_FILES["trec"])
    told = CliRunner().invoke(cli, ["score", str(tmp_path), str(tmp_path / "run"), "RR"])
    assert told.exit_code == 0
    assert "not in queries.jsonl: q2" in told.stderr
    assert CliRunner().invoke(cli, ["score", str(tmp_path), str(tmp_path / "run"), "RR", "--quiet"]).stderr == ""


def test_the_command_line_forces_formats(tmp_path: Path) -> None:
    """--format for both where the format has runs, --run-format for runs; a wrong name is told with the choices."""
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("1\t 0 317\t1\n")
    run.write_text("1\tQ0\t317\t1\t1.0\n")
    base = ["score", str(qrels), str(run), "RR", "-o", "trec"]
    runner = CliRunner()
    assert runner.invoke(cli, [*base, "--format", "trec"]).stdout == "RR\tall\t1.0000\n"
    forced = runner.invoke(cli, [*base, "--format", "beir", "--run-format", "trec"], catch_exceptions=True)
    assert "RR\tall\t0.0000" in forced.stdout
    for option, value, said in [
        ("--format", "xml", "'xml' is not a format"),
        ("--run-format", "beir", "the format beir has no runs"),
        ("--run-format", "xml", "'xml' is not a format"),
    ]:
        arguments = [*base, option, value] if option == "--format" else [*base, "--format", "trec", option, value]
        error = runner.invoke(cli, arguments).exception
        assert isinstance(error, InputError)
        assert said in error.fact


def test_the_formats_of_the_help_are_those_of_the_registry() -> None:
    """Help shows them without loading the readers."""
    assert tuple(FORMATS) == options.FORMATS


@pytest.mark.parametrize(
    ("name", "expected"),
    [("run.csv", "csv"), ("RUN.TSV.gz", "tsv"), ("a/b.parq", "parquet"), ("x.json.zst", "json"), ("run.txt", None)],
)
def test_names_stand_for_formats(name: str, expected: str | None) -> None:
    """Below the ending of a compression."""
    found = by_name(name)
    assert (found.name if found else None) == expected


def test_an_arrow_stream_that_expands_too_far_is_refused_before_it_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batch by batch: the reader of whole streams is not even asked."""
    path = tmp_path / "run.arrows"
    frame = pl.DataFrame({"qid": ["q" * 1000] * 2000, "docno": ["d" * 1000] * 2000, "score": [1.0] * 2000})
    frame.write_ipc_stream(path, compression="zstd")
    monkeypatch.setattr(compression, "ALWAYS", 1 << 20)
    monkeypatch.setattr(pl, "read_ipc_stream", None)
    with pytest.raises(LimitError, match="expand to more than"):
        mp.read_run(path)
