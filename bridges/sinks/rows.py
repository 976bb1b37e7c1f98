"""What all writers share: the rows in the order of the input, and refusals of what a format cannot hold."""

from __future__ import annotations

import numpy as np
import polars as pl
from metricpact.contracts.errors import InputError
from metricpact.contracts.tables import Ints, Judgments, Run, Table


def input_order(table: Table) -> Ints | None:
    """The stored row at every place of the input, None where rows are stored in input order."""
    return None if table.origin.moved is None else np.argsort(table.origin.moved)


def frame_of(table: Judgments | Run) -> pl.DataFrame:
    """The rows in input order: query_id, doc_id, and grade, or score and rank where the run has them."""
    frame = table.to_polars()
    if isinstance(table, Run):
        absent = [name for name, held in (("score", table.scores), ("rank", table.ranks)) if held is None]
        frame = frame.drop(absent)
    order = input_order(table)
    return frame if order is None else frame[order]


def ranks_by_score(run: Run) -> Ints:
    """The rank that every stored row has by falling score, ties as listed; without scores as listed."""
    place = np.arange(len(run)) - np.repeat(run.offsets[:-1], np.diff(run.offsets)) + 1
    if run.scores is None:
        return place
    frame = pl.DataFrame({"query": run.codes, "score": run.scores})
    ranks = frame.select(pl.col("score").rank("ordinal", descending=True).over("query"))["score"]
    return ranks.to_numpy().astype(np.int64)


def refuse_empty(table: Table, name: str) -> None:
    """Raise ``InputError`` for a query without rows, which a format of rows cannot hold."""
    empty = np.flatnonzero(np.diff(table.offsets) == 0)
    if len(empty):
        query = table.queries[int(empty[0])]
        raise InputError(
            f"query {query!r} has no row, and {name} has no place for it ({len(empty)} such queries)",
            "json holds it; --drop empty leaves these queries out",
            source=table.origin.name,
            query=query,
        )


def refuse_ids(table: Table, pattern: str, name: str, why: str, *, of: str = "both") -> None:
    """Raise ``InputError`` for the first query or document id that matches a pattern."""
    for word, ids in (("query", table.queries), ("document", table.docs)):
        if of not in ("both", word):
            continue
        found = ids.str.contains(pattern)
        if found.any():
            at = int(found.arg_max() or 0)
            row = int(table.offsets[at]) if word == "query" else at
            raise InputError(
                f"{word} id {ids[at]!r} cannot be written as {name}: {why}",
                "json and parquet hold any id",
                source=table.origin.name,
                line=table.origin.line(row) if row < len(table) else None,
            )


def refuse_fractions(judgments: Judgments, name: str) -> None:
    """Raise ``InputError`` for a grade that is no integer."""
    if judgments.grades.dtype.kind == "f":
        row = int(np.flatnonzero(judgments.grades != np.floor(judgments.grades))[0])
        raise judgments.error(
            row,
            f"grade {judgments.grades[row]} cannot be written as {name}: tools read whole numbers there",
            "json, jsonl, csv, tsv, parquet and arrow hold fractions",
        )
