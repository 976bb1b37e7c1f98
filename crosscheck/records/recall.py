"""Reading records back: as tables of means, or whole, with scores that compare like fresh ones."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping

import polars as pl
from metricpact.bridges.sources.scores_document import SCHEMA as SCORES
from metricpact.bridges.sources.scores_document import scores_from_document
from metricpact.contracts.errors import InputError
from metricpact.crosscheck.records.record import LABELS, Labels, Record
from metricpact.crosscheck.records.reference import Reference
from metricpact.crosscheck.records.store import MEAN, NONE_QUESTION, reading


def load_record(reference: Reference) -> Record:
    """One record, its values held against its means; raises ``InputError`` for an id that is not there."""
    with reading(reference.file) as connection:
        return _load(connection, reference)


def load_records(file: str, ids: Iterable[int] | None = None) -> list[Record]:
    """Several records of a file, by id (default: all), as they are at one moment."""
    with reading(file) as connection:
        wanted = [row[0] for row in connection.execute("SELECT id FROM record ORDER BY id")] if ids is None else ids
        return [_load(connection, Reference(id_, file)) for id_ in wanted]


def list_records(file: str, labels: Mapping[str, str | None] | None = None) -> pl.DataFrame:
    """One row a record and measure: id, recorded, the labels, the mean with its counts, signature.

    ``labels`` keeps the records whose component, component_version, set_name or set_version is this.
    """
    asked = {name: value for name, value in (labels or {}).items() if value is not None}
    for name in asked:
        if name not in LABELS:
            raise InputError(f"records have no label {name!r}", f"labels: {', '.join(LABELS)}")
    columns = [name for name in MEAN if name != "fields"]
    where = " AND ".join(f"record.{name} = ?" for name in asked) or "1"
    query = (
        f"SELECT id, recorded, {', '.join(LABELS)}, {', '.join(columns)} "  # noqa: S608 # names of ours alone
        f"FROM record JOIN mean ON mean.record = record.id WHERE {where} ORDER BY id, place"
    )
    whole = dict.fromkeys(("n", "undefined", "missing", "extra"), pl.Int64)
    number = dict.fromkeys(("mean", "judged_fraction"), pl.Float64)
    types = {"id": pl.Int64, **whole, **number}
    schema = {name: types.get(name, pl.String) for name in ("id", "recorded", *LABELS, *columns)}
    with reading(file) as connection:
        return pl.DataFrame(connection.execute(query, list(asked.values())).fetchall(), schema=schema, orient="row")


def _load(connection: sqlite3.Connection, reference: Reference) -> Record:
    names = ("recorded", *LABELS, "about")
    found = connection.execute(f"SELECT {', '.join(names)} FROM record WHERE id = ?", [reference.id]).fetchone()  # noqa: S608
    if found is None:
        raise InputError(
            f"there is no record {reference.id}", "'metricpact record list' shows them", source=reference.file
        )
    row = dict(zip(names, found, strict=True))
    about = json.loads(row["about"])
    means = connection.execute(
        f"SELECT {', '.join(MEAN)} FROM mean WHERE record = ? ORDER BY place",  # noqa: S608 # names of ours alone
        [reference.id],
    ).fetchall()
    entries = [dict(zip(MEAN, mean, strict=True)) for mean in means]
    queries = [
        query
        for (query,) in connection.execute("SELECT query_id FROM query WHERE record = ? ORDER BY place", [reference.id])
    ]
    values = connection.execute(
        "SELECT mean, query, value, reason, judged_fraction, denominator "
        "FROM value WHERE record = ? ORDER BY query, mean",
        [reference.id],
    ).fetchall()
    document = {
        "schema": SCORES,
        **{name: about[name] for name in ("contract", "backend", "inputs", "queries")},
        "measures": [{**entry, "fields": json.loads(entry["fields"])} for entry in entries],
        "per_query": [(queries[query], entries[mean]["measure"], *rest) for mean, query, *rest in values],
    }
    return Record(
        reference,
        row["recorded"],
        Labels(*(row[name] for name in LABELS)),
        about["environment"],
        scores_from_document(document, str(reference)),
        _slices(connection, reference),
        _none_questions(connection, reference),
    )


def _slices(connection: sqlite3.Connection, reference: Reference) -> pl.DataFrame | None:
    rows = connection.execute(
        "SELECT name, query_id, value FROM slice WHERE record = ? ORDER BY place, row", [reference.id]
    ).fetchall()
    if not rows:
        return None
    columns: dict[str, dict[str, str | None]] = {}
    for name, query, value in rows:
        columns.setdefault(name, {})[query] = value
    first = list(next(iter(columns.values())))
    return pl.DataFrame(
        {"query_id": first, **{name: list(values.values()) for name, values in columns.items()}},
        schema=dict.fromkeys(["query_id", *columns], pl.String),
    )


def _none_questions(connection: sqlite3.Connection, reference: Reference) -> pl.DataFrame | None:
    rows = connection.execute(
        f"SELECT {', '.join(NONE_QUESTION)} FROM none_question WHERE record = ? ORDER BY place",  # noqa: S608 # ours
        [reference.id],
    ).fetchall()
    if not rows:
        return None
    schema = {name: pl.List(pl.String) if name == "ranked_ids" else pl.String for name in NONE_QUESTION}
    return pl.DataFrame(
        [(query, json.loads(ranked), *rest) for query, ranked, *rest in rows], schema=schema, orient="row"
    )
