"""Adding a record: one transaction, and its id only after everything is on the disk."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import repeat
from typing import Any

import polars as pl
from metricpact.contracts.errors import InputError
from metricpact.contracts.scores import Scores
from metricpact.crosscheck.records.record import LABELS, Labels, environment
from metricpact.crosscheck.records.reference import Reference
from metricpact.crosscheck.records.store import MEAN, NONE_QUESTION, writing


def add_record(
    file: str,
    scores: Scores,
    labels: Labels,
    slices: pl.DataFrame | None = None,
    none_questions: pl.DataFrame | None = None,
) -> Reference:
    """Keep scores with their per-query values; returns once they are flushed to the disk.

    ``slices`` is as ``read_slice_table`` gives it; its rows of judged queries and NONE questions are kept.
    ``none_questions`` has the columns query_id, ranked_ids (lists), response and nearest_id. Raises ``InputError`` (see
    ``store.writing``) for what cannot be kept, and nothing is.
    """
    document = scores.to_document()
    about = {name: document[name] for name in ("contract", "backend", "inputs", "queries")}
    about["environment"] = environment()
    place = {query: number for number, query in enumerate(scores.queries)}
    means = scores.means().select(MEAN[:-2]).rows()
    asked = [] if none_questions is None else none_questions.select(*NONE_QUESTION).rows()
    sliced = [] if slices is None else _slice_rows(slices, [*place, *(row[0] for row in asked)])
    with writing(file) as connection:
        cursor = connection.execute(
            f"INSERT INTO record (recorded, {', '.join(LABELS)}, about) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
            [
                datetime.now(UTC).isoformat(timespec="milliseconds"),
                *(getattr(labels, name) for name in LABELS),
                _json(about),
            ],
        )
        id_ = cursor.lastrowid
        assert id_ is not None  # noqa: S101 # a row was inserted
        signed = zip(means, document["measures"], strict=True)
        _insert(
            connection,
            "mean",
            (
                (id_, number, *mean, _json(entry["fields"]), entry["signature"])
                for number, (mean, entry) in enumerate(signed)
            ),
            2 + len(MEAN),
        )
        _insert(connection, "query", ((id_, number, query) for query, number in place.items()), 3)
        for number, column in enumerate(scores.columns):
            measure = str(column.measure)
            values = scores.by_query(measure).values()
            reasons, shares = scores.reasons(measure).values(), scores.judged_fraction(measure).values()
            whole = repeat(None) if column.denominator is None else column.denominator.tolist()
            rows = enumerate(zip(values, reasons, shares, whole, strict=False))
            _insert(connection, "value", ((id_, number, query, *row) for query, row in rows), 7)
        _insert(connection, "slice", ((id_, *row) for row in sliced), 6)
        answers = ((query, _json(ranked), *rest) for query, ranked, *rest in asked)
        _insert(connection, "none_question", ((id_, number, *row) for number, row in enumerate(answers)), 6)
    return Reference(id_, file)


def _slice_rows(slices: pl.DataFrame, queries: Sequence[str]) -> list[tuple[int, int, str, str, str | None]]:
    """Rows of the table slice: place of the column, number of the row, name of the column, query, value."""
    kept = slices.filter(pl.col("query_id").is_in(list(queries)))
    if kept.is_empty() or kept.width < 2:
        raise InputError(
            "the slice table slices none of the scored queries",
            "it has query_id and a column a way to slice; query ids are compared to the letter",
        )
    names = [name for name in kept.columns if name != "query_id"]
    return [
        (place, row, name, query, value)
        for place, name in enumerate(names)
        for row, (query, value) in enumerate(zip(kept["query_id"], kept[name], strict=True))
    ]


def _insert(connection: sqlite3.Connection, table: str, rows: Iterable[tuple[Any, ...]], width: int) -> None:
    connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * width)})", rows)  # noqa: S608 # our tables


def _json(value: Any) -> str:
    """JSON that SQLite can hold: a file's name need not be UTF-8."""
    return json.dumps(value, allow_nan=False)
