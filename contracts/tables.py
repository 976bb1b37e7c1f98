"""Judgments and runs as frozen columnar tables, grouped by query, with the way back to the lines they came from.

Rows of one query lie together in input order (compressed sparse rows): ``offsets[i]:offsets[i + 1]`` are the rows
of ``queries[i]``. Query ids stand beside the rows, since an empty ranking has none. What the rows *mean* (ties,
duplicates, negative grades) is for a contract to say; here only what no contract could accept is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import polars as pl
from metricpact.contracts.errors import InputError

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

MAX_GRADE = 2**53
ID_HINT = "ids are text that is not empty; cast them first, such as {str(query): …}"


@dataclass(frozen=True)
class Origin:
    """Where a table came from: a file or a word for a Python object, and the line of each row.

    ``lines`` holds the one-based line of each input row; with None, row i stands on line ``first_line + i``
    (or nowhere, where ``first_line`` is 0). ``moved`` maps rows as stored to input rows, None where they agree.
    ``notes`` are what a reader has to know about how the input was taken, ``labels`` what a data set says that its
    grades mean, the highest first.
    """

    name: str
    first_line: int = 0
    lines: Ints | None = None
    moved: Ints | None = None
    sha256: str | None = None
    tag: str | None = None
    notes: tuple[str, ...] = ()
    labels: Mapping[int, str] = field(default_factory=dict)

    def line(self, row: int) -> int | None:
        """The one-based line that a stored row came from, or None where there are no lines."""
        if self.moved is not None:
            row = int(self.moved[row])
        if self.lines is not None:
            return int(self.lines[row])
        return self.first_line + row if self.first_line else None


@dataclass(frozen=True, eq=False)
class Table:
    """What judgments and runs share: queries, their rows and the documents in them."""

    queries: pl.Series
    offsets: Ints
    docs: pl.Series
    origin: Origin

    def __len__(self) -> int:
        return len(self.docs)

    def noted(self, *notes: str) -> Self:
        """The same table with notes on its origin."""
        return replace(self, origin=replace(self.origin, notes=(*self.origin.notes, *notes)))

    @property
    def codes(self) -> npt.NDArray[np.int32]:
        """The index of each row's query."""
        return np.repeat(np.arange(len(self.queries), dtype=np.int32), np.diff(self.offsets))

    def error(self, row: int, fact: str, hint: str = "") -> InputError:
        """An error at one row, naming its file, line, query and document."""
        query = int(np.searchsorted(self.offsets, row, side="right")) - 1
        return InputError(
            fact,
            hint,
            source=self.origin.name,
            line=self.origin.line(row),
            query=self.queries[query],
            document=self.docs[row],
        )


@dataclass(frozen=True, eq=False)
class Judgments(Table):
    """Grades of documents for queries; ``grades`` are integers, or floats where the input has fractions."""

    grades: npt.NDArray[Any] = field(default_factory=lambda: np.empty(0, np.int64))

    @classmethod
    def from_columns(
        cls,
        query_ids: Iterable[str],
        doc_ids: Iterable[str],
        grades: Iterable[float],
        *,
        empty: Iterable[str] = (),
        origin: Origin | None = None,
    ) -> Self:
        """Build from one entry per row, in input order; ``empty`` lists queries judged without any row.

        Raises ``InputError`` for ids that are not text or are empty, and for grades that are not finite numbers.
        """
        origin = origin or Origin("judgments")
        queries, docs = _id_column(query_ids, "query", origin), _id_column(doc_ids, "document", origin)
        values = _numbers(grades, "grade", origin)
        _same_length(origin, queries, docs, values)
        return cls.from_blocks(queries.rle(), docs, whole_grades(values, origin), empty=empty, origin=origin)

    @classmethod
    def from_blocks(
        cls,
        blocks: pl.Series,
        docs: pl.Series,
        grades: npt.NDArray[Any],
        *,
        empty: Iterable[str] = (),
        origin: Origin,
    ) -> Self:
        """Build from run-length encoded query ids (a series of ``{len, value}``) and the other columns."""
        queries, offsets, moved = group_blocks(blocks, empty, origin)
        if moved is not None:
            docs, grades, origin = docs.rechunk().gather(moved), grades[moved], _moved(origin, moved)
        return cls(queries, _frozen(offsets), docs, origin, _frozen(grades))

    def to_polars(self) -> pl.DataFrame:
        """The rows as a frame: query_id, doc_id, grade."""
        return pl.DataFrame({"query_id": self.queries.gather(self.codes), "doc_id": self.docs, "grade": self.grades})


@dataclass(frozen=True, eq=False)
class Run(Table):
    """The rankings of a system: documents per query, with scores and ranks where the input has them.

    ``rank_fault`` is the error to raise where a contract needs the rank column and the file's cannot be read.
    """

    scores: Floats | None = None
    ranks: Ints | None = None
    rank_fault: InputError | None = None

    @classmethod
    def from_columns(
        cls,
        query_ids: Iterable[str],
        doc_ids: Iterable[str],
        scores: Iterable[float] | None = None,
        ranks: Iterable[int] | None = None,
        *,
        empty: Iterable[str] = (),
        origin: Origin | None = None,
    ) -> Self:
        """Build from one entry per row, in input order; ``empty`` lists queries with an empty ranking.

        Raises ``InputError`` for ids that are not text or are empty, and for scores that are not finite numbers.
        """
        origin = origin or Origin("run")
        queries, docs = _id_column(query_ids, "query", origin), _id_column(doc_ids, "document", origin)
        score_column = None if scores is None else _numbers(scores, "score", origin)
        rank_column = None
        if ranks is not None:
            rank_column = whole_ranks(_numbers(ranks, "rank", origin), origin)
        _same_length(origin, queries, docs, score_column, rank_column)
        return cls.from_blocks(queries.rle(), docs, score_column, rank_column, empty=empty, origin=origin)

    @classmethod
    def from_blocks(
        cls,
        blocks: pl.Series,
        docs: pl.Series,
        scores: Floats | None,
        ranks: Ints | None,
        *,
        empty: Iterable[str] = (),
        origin: Origin,
        rank_fault: InputError | None = None,
    ) -> Self:
        """Build from run-length encoded query ids (a series of ``{len, value}``) and the other columns."""
        queries, offsets, moved = group_blocks(blocks, empty, origin)
        if moved is not None:
            docs, origin = docs.rechunk().gather(moved), _moved(origin, moved)
            scores = None if scores is None else scores[moved]
            ranks = None if ranks is None else ranks[moved]
        return cls(
            queries,
            _frozen(offsets),
            docs,
            origin,
            None if scores is None else _frozen(scores),
            None if ranks is None else _frozen(ranks),
            rank_fault,
        )

    def to_polars(self) -> pl.DataFrame:
        """The rows as a frame: query_id, doc_id, and score and rank (null where the input has none)."""
        return pl.DataFrame(
            {
                "query_id": self.queries.gather(self.codes),
                "doc_id": self.docs,
                "score": pl.Series(self.scores, dtype=pl.Float64) if self.scores is not None else [None] * len(self),
                "rank": pl.Series(self.ranks, dtype=pl.Int64) if self.ranks is not None else [None] * len(self),
            },
            schema_overrides={"score": pl.Float64, "rank": pl.Int64},
        )


def group_blocks(blocks: pl.Series, empty: Iterable[str], origin: Origin) -> tuple[pl.Series, Ints, Ints | None]:
    """Query ids in order of first mention, row offsets, and the stable order that brings rows of a query together.

    ``blocks`` is a run-length encoding of the query column. The order is None where the rows lie together already.
    """
    # Slices of a file may cut a query in two: neighbouring blocks of one query are one block.
    merged = blocks.struct.field("value").rle()
    names, spans = merged.struct.field("value"), merged.struct.field("len").to_numpy().astype(np.int64)
    lengths = blocks.struct.field("len").to_numpy().astype(np.int64)
    if len(lengths):
        lengths = np.add.reduceat(lengths, np.cumsum(spans) - spans)
    queries = names.unique(maintain_order=True).alias("query_id")
    order: Ints | None = None
    if len(queries) != len(names):
        index = pl.DataFrame({"query_id": queries, "code": np.arange(len(queries), dtype=np.uint32)})
        codes = names.to_frame("query_id").join(index, on="query_id", how="left", maintain_order="left")["code"]
        order = stable_order(np.repeat(codes.to_numpy(), lengths))
        lengths = np.bincount(codes.to_numpy(), weights=lengths, minlength=len(queries)).astype(np.int64)
    extra = _id_column(empty, "query", origin)
    if len(extra):
        fresh = extra.unique(maintain_order=True)
        fresh = fresh.filter(~fresh.is_in(queries.implode()))
        queries = pl.concat([queries, fresh.alias("query_id")])
        lengths = np.concatenate([lengths, np.zeros(len(fresh), np.int64)])
    return queries, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), order


def stable_order(codes: npt.NDArray[np.uint32]) -> Ints:
    """The stable order that sorts small codes; numpy has a radix sort for 16 bits, far faster than for 32."""
    narrow = codes.astype(np.uint16) if len(codes) and int(codes.max()) < 2**16 else codes
    return np.argsort(narrow, kind="stable")


def _moved(origin: Origin, moved: Ints) -> Origin:
    return replace(origin, moved=moved)


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.flags.writeable = False
    return array


def _same_length(origin: Origin, *columns: Sequence[Any] | pl.Series | npt.NDArray[Any] | None) -> None:
    lengths = {len(column) for column in columns if column is not None}
    if len(lengths) > 1:
        raise InputError(f"columns of {origin.name} differ in length: {sorted(lengths)}", "give one entry per row")


def _id_column(values: Iterable[str], word: str, origin: Origin) -> pl.Series:
    """Ids as a string column; raises ``InputError`` for what is not text, or is empty."""
    if isinstance(values, pl.Series) and values.dtype == pl.String:
        column = values
    else:
        listed = values.to_list() if isinstance(values, pl.Series) else list(values)
        for position, value in enumerate(listed):
            if not isinstance(value, str):
                raise InputError(
                    f"{word} id {value!r} (entry {position}) is not text but {type(value).__name__}",
                    ID_HINT,
                    source=origin.name,
                )
        try:
            column = pl.Series(f"{word}_id", listed, dtype=pl.String)
        except UnicodeEncodeError as error:
            raise InputError(
                f"{word} id {error.object!r} is not valid Unicode (a lone surrogate)",
                ID_HINT,
                source=origin.name,
                line=origin.line(listed.index(error.object)),
            ) from error
    if column.null_count() or (len(column) and bool((column == "").any())):
        raise InputError(f"a {word} id is empty", ID_HINT, source=origin.name)
    return column


def _numbers(values: Iterable[float], word: str, origin: Origin) -> npt.NDArray[Any]:
    """A column of finite numbers (booleans count 0 and 1); raises ``InputError`` naming the entry at fault."""
    listed: Any = values if isinstance(values, np.ndarray) else list(values)
    hint = f"every {word} is a finite number"
    if isinstance(listed, list):
        for position, value in enumerate(listed):
            if value is None:
                raise InputError(f"a {word} is missing (entry {position})", hint, source=origin.name)
            if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
                raise InputError(f"{word} {value!r} (entry {position}) is not a number", hint, source=origin.name)
    try:
        array = np.array(listed, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"a {word} is not a number of double precision ({error})", hint, source=origin.name) from error
    if array.ndim != 1:
        raise InputError(f"{word}s are not one number per row", hint, source=origin.name)
    bad = np.flatnonzero(~np.isfinite(array))
    if len(bad):
        raise InputError(
            f"{word} {array[bad[0]]} (entry {int(bad[0])}) is not a finite number", hint, source=origin.name
        )
    return array


def whole_ranks(ranks: Floats, origin: Origin) -> Ints:
    """Ranks as integers; raises ``InputError`` for one that is none, or that no double holds exactly."""
    wrong = np.flatnonzero((ranks != np.floor(ranks)) | (np.abs(ranks) >= MAX_GRADE))
    if len(wrong):
        at = int(wrong[0])
        line = origin.line(at)
        raise InputError(
            f"rank {ranks[at]:g}{'' if line else f' (entry {at})'} is not an integer of at most 2^53",
            "ranks count 1, 2, 3, …",
            source=origin.name,
            line=line,
        )
    return ranks.astype(np.int64)


def whole_grades(grades: npt.NDArray[Any], origin: Origin) -> npt.NDArray[Any]:
    """Grades as integers where all of them are; raises ``InputError`` for one that no double holds exactly."""
    beyond = np.flatnonzero(np.abs(grades) >= MAX_GRADE)
    if len(beyond):
        raise InputError(
            f"grade {grades[beyond[0]]} is beyond 2^53",
            "grades are small integers such as 0, 1, 2, 3",
            source=origin.name,
            line=origin.line(int(beyond[0])),
        )
    whole = grades.astype(np.int64)
    return whole if np.array_equal(whole, grades) else grades
