"""Frames of any library: pandas, polars, pyarrow, duckdb and whatever else narwhals or the Arrow interface knows.

Columns are known by their names (``columns.py``). Only those that are needed are taken, without a copy where the
library never writes to its memory (pandas does), and nothing passed in is changed. Ids have to be text: what an id of
another type would look like as text is for its owner to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from metricpact.bridges.sources import columns
from metricpact.contracts.errors import InputError, MetricpactError
from metricpact.contracts.tables import Floats, Judgments, Origin, Run, whole_grades, whole_ranks

if TYPE_CHECKING:
    import narwhals as nw

_EXACT = 2**53
_NUMERIC_TEXT = "cast the column to numbers first"


def is_frame(value: Any) -> bool:
    """Whether a value is a frame: it has columns, or gives them through the Arrow interface."""
    kind = type(value)  # the type's: asking a lazy frame itself for its columns may start work
    return any(
        hasattr(kind, name) for name in ("__arrow_c_stream__", "columns", "column_names", "__narwhals_dataframe__")
    )


def judgments_from_frame(value: Any) -> Judgments:
    """Judgments from a frame with a query, a document and a grade column; raises ``InputError``."""
    return judgments_from_polars(_taken(value, columns.JUDGMENTS, "judgments"), Origin("judgments"))


def run_from_frame(value: Any) -> Run:
    """A run from a frame with a query and a document column, and score or rank where it has them."""
    return run_from_polars(_taken(value, columns.RUN, "run"), Origin("run"))


def judgments_from_polars(frame: pl.DataFrame, origin: Origin) -> Judgments:
    """Judgments from the columns query, document and grade; raises ``InputError`` naming the row."""
    grades = _numbers(frame["grade"], origin)
    queries, docs = _ids(frame["query"], origin), _ids(frame["document"], origin)
    return Judgments.from_blocks(queries.rle(), docs, whole_grades(grades, origin), origin=origin)


def run_from_polars(frame: pl.DataFrame, origin: Origin) -> Run:
    """A run from the columns query and document, and score and rank where there are any."""
    scores = _numbers(frame["score"], origin) if "score" in frame.columns else None
    ranks = whole_ranks(_numbers(frame["rank"], origin), origin) if "rank" in frame.columns else None
    queries, docs = _ids(frame["query"], origin), _ids(frame["document"], origin)
    return Run.from_blocks(queries.rle(), docs, scores, ranks, origin=origin)


def _taken(value: Any, wanted: columns.Wanted, word: str) -> pl.DataFrame:
    """The columns that are needed, under their meanings, as a polars frame."""
    import narwhals as nw

    try:
        frame = nw.from_native(value, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            found = columns.meanings(frame.collect_schema().names(), wanted, word)
            frame = frame.select(*found.values()).collect()
        elif not isinstance(frame, nw.DataFrame):
            frame = nw.from_native(pl.DataFrame(value), eager_only=True)
    except MetricpactError:
        raise
    except Exception as error:  # two columns of one name, a column that is no table: every library raises its own
        raise InputError(
            f"{type(value).__name__} cannot be read as a frame ({' '.join(str(error).split())[:200]})",
            "pass a frame of pandas, polars, pyarrow or duckdb whose columns have names of their own",
            source=word,
        ) from error
    found = columns.meanings(frame.columns, wanted, word)
    taken = {}
    for meaning, column in found.items():
        try:
            taken[meaning] = _as_polars(frame[column], word)
        except MetricpactError:
            raise
        except Exception as error:  # sparse and complex columns: what cannot become Arrow
            raise InputError(
                f"column {column} cannot be read ({' '.join(str(error).split())[:200]})",
                "cast the column: ids are text, grades and scores are numbers",
                source=word,
            ) from error
    return pl.DataFrame(taken)


def _as_polars(series: nw.Series[Any], word: str) -> pl.Series:
    """One column as polars has it, without a copy where its library never writes to its memory."""
    import narwhals as nw

    if not series.implementation.is_pandas_like():
        return series.to_polars()
    native = series.to_native()
    if native.dtype == object:
        return _from_objects(series.name, native.tolist(), word)
    if native.dtype.kind in "iufb":
        native = native.copy()  # who writes into the frame later must not change what was read of it
        if isinstance(native.dtype, np.dtype):
            return pl.Series(series.name, native.to_numpy())
    taken: pl.Series = nw.from_native(native, series_only=True).to_polars()
    return taken


def _from_objects(name: str, listed: list[Any], word: str) -> pl.Series:
    """A column of Python objects: text, or numbers, or what is neither and left for an error to name."""
    if all(isinstance(held, str) for held in listed):
        try:
            return pl.Series(name, listed, dtype=pl.String)
        except UnicodeEncodeError as error:
            raise InputError(
                f"{error.object!r} is not valid Unicode (a lone surrogate)", "ids are valid text", source=word
            ) from error
    if all(isinstance(held, int | float | np.number) for held in listed):
        return pl.Series(name, np.array(listed))
    return pl.Series(name, listed, dtype=pl.Object)


def _ids(column: pl.Series, origin: Origin) -> pl.Series:
    """A column of ids as text; raises ``InputError`` naming the entry at fault."""
    word = column.name
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    if column.dtype != pl.String and column.null_count() < len(column):
        at = int(np.flatnonzero(column.is_not_null().to_numpy())[0])
        if column.dtype == pl.Object:
            at = next(i for i, held in enumerate(column) if not isinstance(held, str))
        raise InputError(
            f"{word} id {_shown(column[at])} (entry {at}) is not text: the column holds {column.dtype}",
            "ids are text: cast the column first: frame[c].astype(str) in pandas, pl.col(c).cast(pl.String) in polars",
            source=origin.name,
        )
    column = column.cast(pl.String)  # a column without any value may be of any type
    empty = column.is_null() | (column == "")
    if empty.any():
        at = int(np.flatnonzero(empty.to_numpy())[0])
        what = "missing" if column[at] is None else "empty"
        raise InputError(
            f"a {word} id is {what} (entry {at})", "every row has a query and a document", source=origin.name
        )
    return column


def _numbers(column: pl.Series, origin: Origin) -> Floats:
    """A column of finite numbers in double precision (booleans count 0 and 1); raises ``InputError``."""
    word, hint = column.name, f"every {column.name} is a finite number"
    if column.null_count():
        at = int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise InputError(f"a {word} is missing (entry {at})", hint, source=origin.name)
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean) and len(column):
        raise InputError(
            f"{word} {_shown(column[0])} (entry 0) is not a number: the column holds {column.dtype}",
            _NUMERIC_TEXT,
            source=origin.name,
        )
    if column.dtype.is_integer() and bool((column.cast(pl.Int128).abs() > _EXACT).any()):
        raise InputError(
            f"a {word} is beyond 2^53, where doubles are not exact", "scale the column", source=origin.name
        )
    values = column.cast(pl.Float64).to_numpy()
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise InputError(
            f"{word} {values[bad[0]]} (entry {int(bad[0])}) is not a finite number", hint, source=origin.name
        )
    return values


def _shown(value: Any) -> str:
    """A value in a message: on one line, whatever it holds."""
    return " ".join(repr(value.to_list() if isinstance(value, pl.Series) else value).split())[:80]
