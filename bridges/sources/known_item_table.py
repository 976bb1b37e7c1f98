"""Known-item results as one table: a row a run and question, with the expected id and the returned ids.

Columns: ``run``, ``query_id``, ``expected_id`` (``NONE`` for a question without an answer), ``ranked_ids`` (separated
by ``;``); where there are: ``grades`` (``id:2;id:1``), ``response`` (what the search did: declined, noted, answered)
and ``nearest_id`` (what it should show for a NONE question). All other columns are slice columns.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np
import polars as pl
from metricpact.bridges.sources.csv_table import CsvTable, read_csv_table
from metricpact.bridges.sources.streams import open_stream
from metricpact.contracts.errors import InputError
from metricpact.contracts.tables import Judgments, Origin, Run

REQUIRED = ("run", "query_id", "expected_id", "ranked_ids")
NONE = "NONE"
RESPONSES = ("declined", "noted", "answered")
_OWN = {*REQUIRED, "grades", "response", "nearest_id"}


@dataclass(frozen=True, eq=False)
class KnownItems:
    """What a known-item table holds.

    ``runs`` are the rankings of answerable questions, in order of appearance. ``expected`` judges each question's
    expected id 1; ``graded`` holds the ``grades`` (a question without any has no row), None without the column.
    Both list the same questions in the same order. ``slices`` has ``query_id`` and the slice columns of every
    question; ``none_rows`` a row a run and NONE question, in the table or not: run, query_id, ranked_ids (a list),
    response and nearest_id (null where absent), and ``listed``, whether it is in the table; ``has_response`` tells
    whether the table has that column. ``questions_sha256`` is the digest of what all runs were asked: every question
    with its expected id, grades and nearest id, whatever the order of rows.
    """

    name: str
    runs: dict[str, Run]
    expected: Judgments
    graded: Judgments | None
    slices: pl.DataFrame
    none_rows: pl.DataFrame
    has_response: bool
    questions_sha256: str
    sha256: str | None = None

    def chosen(self, names: Sequence[str]) -> KnownItems:
        """The table with some of its runs, in the order of their names; raises ``InputError`` for one it lacks."""
        for name in names:
            if name not in self.runs:
                raise InputError(
                    f"there is no run {name!r}", f"the table has: {', '.join(self.runs)}", source=self.name
                )
        kept = self.none_rows.filter(pl.col("run").is_in(list(names)))
        return replace(self, runs={name: self.runs[name] for name in names}, none_rows=kept)


def read_known_items(path: str | os.PathLike[str], *, hashing: bool = False) -> KnownItems:
    """Known-item results from a CSV or TSV file (``-`` is standard input); raises ``InputError`` with file and line.

    Refused are a run with two rows for a question, a question whose expected id, grades or slices differ between
    runs (that is another set), an unknown response, and grades that are no integers.
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(
            f"a known-item table is read from a file, not from {type(path).__name__}",
            "write it as CSV and pass the path; judgments in Python go with runs and a slice table",
        )
    table = read_csv_table(os.fspath(path), REQUIRED, hashing=hashing)
    table.no_empty(["run", "query_id", "expected_id"])
    table.no_twins(["run", "query_id"], "run and question")
    frame = table.frame.with_columns(
        pl.lit(None, pl.String).alias(name) for name in ("grades", "response", "nearest_id") if name not in table.frame
    )
    slices = [name for name in table.frame.columns if name not in _OWN]
    _check_cells(table, frame)
    _check_one_set(table, frame, ["expected_id", "grades", "nearest_id", *slices])
    frame = frame.with_columns(_listed("ranked_ids"), line=pl.Series(table.lines, dtype=pl.Int64))
    answerable = frame.filter(pl.col("expected_id") != NONE)
    questions = answerable.unique("query_id", keep="first", maintain_order=True)
    return KnownItems(
        name=table.name,
        runs={
            name: _run(answerable.filter(pl.col("run") == name), table.name)
            for name in frame["run"].unique(maintain_order=True)
        },
        expected=Judgments.from_columns(
            questions["query_id"],
            questions["expected_id"],
            np.ones(len(questions)),
            origin=_origin(questions, table.name),
        ),
        graded=_graded(questions, table) if "grades" in table.frame.columns else None,
        slices=frame.unique("query_id", keep="first", maintain_order=True).select("query_id", *slices),
        none_rows=_none_rows(frame),
        has_response="response" in table.frame.columns,
        questions_sha256=_digest(frame),
        sha256=table.sha256,
    )


def is_known_items(source: Any) -> bool:
    """Whether a file's first line names the columns of a known-item table."""
    if not isinstance(source, str | os.PathLike) or str(source) == "-" or not os.path.isfile(source):
        return False
    stream = open_stream(str(source))
    head = next(stream.slices(), b"").split(b"\n", 1)[0]
    stream.close()
    return all(name.encode() in head for name in REQUIRED)


def _none_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """Every NONE question of every run; one that a run has no row for stands there without a response."""
    asked = frame.filter(pl.col("expected_id") == NONE)
    rows = asked.select("run", "query_id", "ranked_ids", "response", listed=pl.lit(True))
    return (
        frame.select(pl.col("run").unique(maintain_order=True))
        .join(asked.select("query_id", "nearest_id").unique("query_id", maintain_order=True), how="cross")
        .join(rows, on=["run", "query_id"], how="left", maintain_order="left")
        .with_columns(pl.col("ranked_ids").fill_null([]), pl.col("listed").fill_null(False))
        .select("run", "query_id", "ranked_ids", "response", "nearest_id", "listed")
    )


def _digest(frame: pl.DataFrame) -> str:
    """The SHA-256 of the questions, as JSON rows by query id."""
    questions = frame.unique("query_id").sort("query_id").select("query_id", "expected_id", "grades", "nearest_id")
    return sha256(json.dumps(questions.rows()).encode()).hexdigest()


def _listed(column: str) -> pl.Expr:
    """Ids between semicolons as a list, without empty ones."""
    parts = pl.col(column).fill_null("").str.split(";").list.eval(pl.element().str.strip_chars())
    return parts.list.eval(pl.element().filter(pl.element() != ""))


def _origin(rows: pl.DataFrame, name: str) -> Origin:
    return Origin(name, lines=rows["line"].to_numpy())


def _run(rows: pl.DataFrame, name: str) -> Run:
    filled = rows.filter(pl.col("ranked_ids").list.len() > 0).explode("ranked_ids")
    empty = rows.filter(pl.col("ranked_ids").list.len() == 0)["query_id"]
    return Run.from_columns(filled["query_id"], filled["ranked_ids"], empty=empty, origin=_origin(filled, name))


def _graded(questions: pl.DataFrame, table: CsvTable) -> Judgments:
    rows = questions.with_columns(_listed("grades")).filter(pl.col("grades").list.len() > 0).explode("grades")
    parts = rows["grades"].str.extract_groups(r"^(.*\S)\s*:\s*([+-]?\d{1,9})$").struct.unnest()
    bad = parts["1"].is_null().arg_true()
    if len(bad):
        row = table.lines.index(rows["line"][bad[0]])
        raise table.error(row, f"{rows['grades'][bad[0]]!r} is not a grade", "grades read id:2;id:1")
    return Judgments.from_columns(
        rows["query_id"],
        parts["1"],
        parts["2"].cast(pl.Int64).to_numpy(),
        empty=questions["query_id"],
        origin=_origin(rows, table.name),
    )


def _check_cells(table: CsvTable, frame: pl.DataFrame) -> None:
    unknown = (~frame["response"].is_in(list(RESPONSES))).fill_null(False).arg_true()
    if len(unknown):
        row = unknown[0]
        raise table.error(row, f"{frame['response'][row]!r} is not a response", f"write {', '.join(RESPONSES)}")
    expected = frame["expected_id"]
    almost = ((expected.str.to_uppercase() == NONE) & (expected != NONE)).arg_true()
    if len(almost):
        row = almost[0]
        raise table.error(row, f"expected_id is {expected[row]!r}", f"a question without an answer has {NONE}")


def _check_one_set(table: CsvTable, frame: pl.DataFrame, columns: list[str]) -> None:
    first = pl.DataFrame({"query_id": frame["query_id"]}).join(
        frame.unique("query_id", keep="first", maintain_order=True), on="query_id", how="left", maintain_order="left"
    )
    for column in columns:
        differs = frame[column].ne_missing(first[column]).arg_true()
        if len(differs):
            row = differs[0]
            query = frame["query_id"][row]
            before = frame["query_id"].to_list().index(query)
            raise table.error(
                row,
                f"{column} of question {query!r} is {frame[column][row] or 'empty'!r}, on line {table.lines[before]} "
                f"it is {frame[column][before] or 'empty'!r}",
                "all runs answer one set: compare records of two set versions to see what a change of the set does",
                query,
            )
