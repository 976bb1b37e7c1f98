"""Frames in and out: pandas 2 and 3 (in a second environment), polars, pyarrow, duckdb, the Arrow interface."""

from __future__ import annotations

import collections
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import metricpact as mp
import numpy as np
import polars as pl
import pytest
from metricpact.contracts.errors import InputError

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

QRELS = {"qid": ["q1", "q1", "q2"], "docno": ["a", "b", "c"], "label": [1, 0, 2]}
# As PyTerrier has it: the text of the query and a number of the document stand beside their ids.
RUN = {
    "qid": ["q1", "q1", "q2"],
    "docid": [7, 8, 9],
    "docno": ["a", "b", "c"],
    "rank": [0, 1, 0],
    "score": [2.5, 1.0, 1.0],
    "query": ["one", "one", "two"],
}
ROWS = [("q1", "a", 1), ("q1", "b", 0), ("q2", "c", 2)]
RUN_ROWS = [("q1", "a", 2.5, 0), ("q1", "b", 1.0, 1), ("q2", "c", 1.0, 0)]


class Capsule:
    """Something that has the Arrow interface and nothing else."""

    def __init__(self, held: dict[str, list[Any]]) -> None:
        self.table = pa.table(held)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def with_ids(cast: Callable[[Any], Any]) -> Callable[[dict[str, list[Any]]], Any]:
    """A pyarrow table whose ids are of another type of text."""

    def make(held: dict[str, list[Any]]) -> Any:
        return pa.table({name: cast(column) if name in ("qid", "docno") else column for name, column in held.items()})

    return make


def converted(held: dict[str, list[Any]], backend: str) -> Any:
    """A pandas frame with nullable types; pandas 2 warns while it makes them of an infinite number."""
    with np.errstate(invalid="ignore"):
        return pd.DataFrame(held).convert_dtypes(dtype_backend=backend)


def duckdb_relation(held: dict[str, list[Any]]) -> Any:
    """A relation of duckdb's, which is lazy."""
    return pytest.importorskip("duckdb").from_arrow(pa.table(held))


FRAMES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas object": lambda held: pd.DataFrame(held).astype({"qid": object, "docno": object}),
    "pandas object numbers": lambda held: pd.DataFrame(held, dtype=object),
    "pandas category": lambda held: pd.DataFrame(held).astype({"qid": "category", "docno": "category"}),
    "pandas nullable": lambda held: converted(held, "numpy_nullable"),
    "pandas of Arrow": lambda held: converted(held, "pyarrow"),
    "pandas indexed": lambda held: pd.DataFrame(held, index=[5, 5, 1]),
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "polars category": lambda held: pl.DataFrame(held).with_columns(pl.col("qid", "docno").cast(pl.Categorical)),
    "arrow": pa.table,
    "arrow large": with_ids(lambda column: pa.array(column, pa.large_string())),
    "arrow view": with_ids(lambda column: pa.array(column, pa.string_view())),
    "arrow dictionary": with_ids(lambda column: pa.array(column).dictionary_encode()),
    "arrow chunks": lambda held: pa.concat_tables([pa.table(held)[:1], pa.table(held)[1:]]),
    "arrow batch": pa.RecordBatch.from_pydict,
    "arrow reader": lambda held: pa.table(held).to_reader(),
    "arrow interface": Capsule,
    "duckdb": duckdb_relation,
}


def bits(frame: Any) -> bytes:
    """All that a frame holds; of pandas' the values, types and labels, without the caches that pandas keeps in it."""
    if isinstance(frame, pd.DataFrame):
        columns = [(str(frame[name].dtype), frame[name].tolist()) for name in frame.columns]
        return pickle.dumps((list(frame.columns), list(frame.index), columns))
    return pickle.dumps(frame)


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_of_every_library_are_the_same_judgments_and_runs(kind: str) -> None:
    """Columns by PyTerrier's names, in every type of text; scores are those of the plain dicts."""
    make = FRAMES[kind]
    assert mp.read_qrels(make(QRELS)).to_polars().rows() == ROWS
    assert mp.read_run(make(RUN)).to_polars().rows() == RUN_ROWS
    plain = mp.score({"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}, {"q1": {"a": 2.5, "b": 1.0}, "q2": {"c": 1.0}})
    assert mp.score(make(QRELS), make(RUN)).mean == plain.mean


@pytest.mark.parametrize("kind", [kind for kind in FRAMES if kind not in ("arrow reader", "duckdb", "polars lazy")])
def test_nothing_passed_in_is_changed(kind: str) -> None:
    """Bit for bit, and what is passed in stays writable."""
    frames = [FRAMES[kind](QRELS), FRAMES[kind](RUN)]
    held = [frame.table if isinstance(frame, Capsule) else frame for frame in frames]
    before = [bits(frame) for frame in held]
    mp.score(*frames, ["nDCG@2", "AP"], set={"self_match": "remove", "ties": "docid_desc", "rank_conflict": "ignore"})
    assert [bits(frame) for frame in held] == before
    if kind.startswith("pandas"):
        run = mp.read_run(frames[1])
        frames[1].iloc[0, list(RUN).index("score")] = 9.0
        assert run.to_polars().rows() == RUN_ROWS


def test_numbers_are_shared_and_never_written_to() -> None:
    """A polars frame of doubles and text is taken without a copy."""
    frame = pl.DataFrame(RUN)
    run = mp.read_run(frame)
    assert run.scores is not None
    shared = frame["score"].to_numpy()
    assert np.shares_memory(run.scores, shared)
    assert not run.scores.flags.writeable


def test_numbers_keep_their_value() -> None:
    """Narrow types are exact in double precision; what double precision cannot hold is refused."""
    for dtype in (np.int8, np.uint16, np.float32, np.float64, bool):
        frame = pd.DataFrame({"qid": ["q"], "docno": ["a"], "score": np.array([1], dtype)})
        assert mp.read_run(frame).to_polars().rows() == [("q", "a", 1.0, None)]
    third = np.float32(1 / 3)
    assert mp.read_run(pd.DataFrame({"qid": ["q"], "docno": ["a"], "sim": [third]})).scores.tolist() == [float(third)]
    with pytest.raises(InputError, match="beyond 2\\^53"):
        mp.read_run(pd.DataFrame({"qid": ["q"], "docno": ["a"], "score": [2**53 + 1]}))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"qid": [1, 2, 3]}, r"query id 1 \(entry 0\) is not text"),
        ({"docno": [1.5, 2, 3]}, r"document id 1.5 \(entry 0\) is not text"),
        ({"qid": ["q1", None, "q2"]}, r"query id.*\(entry 1\)"),
        ({"docno": ["a", "b", ""]}, r"document id is empty \(entry 2\)"),
        ({"qid": [None, None, None]}, r"query id.*\(entry 0\)"),
        ({"label": [1, None, 0]}, r"grade.*\(entry 1\)"),
        ({"label": [1.0, 0.0, float("inf")]}, r"grade inf \(entry 2\) is not a finite number"),
        ({"label": ["1", "0", "2"]}, r"grade '1' \(entry 0\) is not a number"),
        ({"relevance": [1, 0, 2]}, "2 columns could be the grade: label, relevance"),
        ({"query_id": ["q", "q", "q"]}, "2 columns could be the query: qid, query_id"),
        ({"label": None}, "no column is the grade: the columns are qid, docno"),
    ],
)
@pytest.mark.parametrize("kind", ["pandas", "pandas object", "pandas nullable", "polars", "arrow", "duckdb"])
def test_faulty_frames_are_refused(kind: str, changes: dict[str, Any], said: str) -> None:
    """Ids that are not text, nulls, text for numbers, and two columns for one meaning: a fact and a hint."""
    held = {name: column for name, column in {**QRELS, **changes}.items() if column is not None}
    with pytest.raises(InputError, match=said) as caught:
        mp.read_qrels(FRAMES[kind](held))
    assert caught.value.hint


def test_ids_of_mixed_types_in_an_object_column_are_refused() -> None:
    """The first that is not text is named."""
    for wrong in (3, None, float("nan"), b"q", np.int64(4)):
        frame = pd.DataFrame({"qid": pd.Series(["q1", wrong], dtype=object), "docno": ["a", "b"], "label": [1, 1]})
        with pytest.raises(InputError, match=r"query id .*\(entry 1\) is not text"):
            mp.read_qrels(frame)
    surrogate = pd.DataFrame({"qid": pd.Series(["\ud800"], dtype=object), "docno": ["a"], "label": [1]})
    with pytest.raises(InputError, match="lone surrogate"):
        mp.read_qrels(surrogate)


def test_frames_without_rows_are_empty_whatever_type_their_columns_have() -> None:
    """pandas takes the columns of an empty list for floats: no query is judged, and no query was answered."""
    empty = pd.DataFrame({"qid": [], "docno": [], "score": []})
    assert len(mp.read_run(empty)) == 0
    scores = mp.score({"q": {"d": 1}}, empty, ["P@1"])
    assert (scores.mean["P@1"].value, scores.mean["P@1"].missing) == (0.0, 1)
    with pytest.raises(mp.MetricpactError, match="no query is judged"):
        mp.score(empty, {"q": {"d": 1}}, ["P@1"])


@pytest.mark.parametrize(
    ("label", "said"),
    [
        (np.array([1j]), "column label cannot be read"),
        (pd.arrays.SparseArray([1]), "column label cannot be read"),
        (pd.Series([["a\nb", 1]]), r"grade \['a\\nb', 1\] \(entry 0\) is not a number"),
    ],
)
def test_columns_of_odd_types_are_refused_on_one_line(label: Any, said: str) -> None:
    """What cannot become Arrow, and what prints itself over several lines."""
    with pytest.raises(InputError, match=said):
        mp.read_qrels(pd.DataFrame({"qid": ["q"], "docno": ["a"], "label": label}))
    with pytest.raises(InputError, match=r"query id \['a'\] \(entry 0\) is not text"):
        mp.read_qrels(pl.DataFrame({"qid": [["a"]], "docno": ["a"], "label": [1]}))


@pytest.mark.parametrize(("rank", "said"), [(1.5, "rank 1.5"), (1e30, r"rank 1e\+30"), (2.0**53, r"rank 9\.0072e\+15")])
def test_ranks_that_are_no_integers_are_refused_with_their_place(tmp_path: Path, rank: float, said: str) -> None:
    """Alike in a frame and in a file of rows, without a warning of numpy's."""
    with pytest.raises(InputError, match=rf"{said} \(entry 1\) is not an integer"):
        mp.read_run(pl.DataFrame({"qid": ["q", "q"], "docno": ["a", "b"], "rank": [1, rank]}, strict=False))
    path = tmp_path / "run.jsonl"
    path.write_text(f'{{"qid": "q", "docno": "a", "rank": 1}}\n{{"qid": "q", "docno": "b", "rank": {rank}}}\n')
    with pytest.raises(InputError, match=rf"{said} is not an integer") as caught:
        mp.read_run(path)
    assert caught.value.line == 2


def test_two_columns_of_one_name_are_refused() -> None:
    """pandas allows them."""
    frame = pd.DataFrame([["q", "a", 1, 1]], columns=["qid", "docno", "label", "label"])
    with pytest.raises(InputError, match="label"):
        mp.read_qrels(frame)


@pytest.mark.parametrize("value", [pd.Series([1]), np.array([[1]]), pl.Series([1]), object(), 3])
def test_what_is_no_frame_is_refused(value: object) -> None:
    """A series or an array has no columns to know a query by."""
    with pytest.raises(InputError) as caught:
        mp.read_qrels(value)
    assert caught.value.hint


def test_plain_names_go_before_loose_ones() -> None:
    """`score` is a grade only where no column is called one; `query` a query id only without `qid`."""
    assert mp.read_qrels(pl.DataFrame({"query": ["q"], "document": ["a"], "score": [3]})).grades.tolist() == [3]
    both = pl.DataFrame({"Query-ID": ["q"], "query": ["text"], "Doc ID": ["a"], "score": [0.5], "rel": [2]})
    assert mp.read_qrels(both).to_polars().rows() == [("q", "a", 2)]
    assert mp.read_run(both).to_polars().rows() == [("q", "a", 0.5, None)]


def test_tuples_generators_and_scalars_of_numpy() -> None:
    """Named tuples under ir_measures' names, read once, with numpy's own numbers and text."""
    qrel = collections.namedtuple("qrel", "query_id doc_id relevance iteration")
    scored = collections.namedtuple("scored", "query_id doc_id score")

    def run() -> Iterator[Any]:
        yield from (scored(np.str_(query), doc, np.float32(score)) for query, doc, score, _ in RUN_ROWS)

    qrels = [qrel(query, np.str_(doc), np.int16(grade), "0") for query, doc, grade in ROWS]
    assert mp.score(iter(qrels), run()).mean == mp.score(pd.DataFrame(QRELS), pd.DataFrame(RUN)).mean


def test_results_come_back_as_polars_pandas_and_arrow() -> None:
    """The same rows with nulls where a value is undefined, never NaN."""
    scores = mp.score({"q1": {"a": 1}, "q2": {"b": 0}}, {"q1": {"a": 1.0}, "q2": {"b": 1.0}}, ["RR", "P@1"])
    rows = scores.to_polars().to_dicts()
    assert rows[2] == {
        "query_id": "q2",
        "measure": "RR",
        "value": None,
        "reason": "no-positives",
        "judged_fraction": 1.0,
    }
    table = scores.to_arrow()
    assert isinstance(table, pa.Table)
    assert table.to_pylist() == rows
    assert pa.table(scores).to_pylist() == rows  # by the Arrow interface
    frame = scores.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert frame["value"].isna().tolist() == [False, False, True, False]
    assert pl.from_pandas(frame).to_dicts() == rows
