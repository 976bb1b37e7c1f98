"""Claims of kind ``slices``: a table of slices and runs, recomputed from rankings of known-item queries.

The file is CSV with the columns run, query_id, expected_id, ranked_ids (ids between ";") and one column for each way
to slice. Queries whose expected_id is NONE have no answer and are not scored here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from metricpact.bridges.evaluate import evaluate
from metricpact.bridges.sources.choose import read_judgments, read_run
from metricpact.contracts.errors import InputError, MetricpactError
from metricpact.contracts.measures import Measure, parse_measure
from metricpact.contracts.profiles import Profile
from metricpact.contracts.scores import Scores
from metricpact.crosscheck.audit.infer import BACKEND
from metricpact.crosscheck.claims.document import Claim
from metricpact.crosscheck.claims.inputs import profile_of, statements
from metricpact.crosscheck.claims.verdicts import CANNOT_CHECK, NOT_REPRODUCED, REPRODUCED, Number, Verdict

COLUMNS = ("run", "query_id", "expected_id", "ranked_ids")
NO_ANSWER = "NONE"
ALL = "all"


def check_slices(claim: Claim) -> Verdict:
    """Whether every cell of a table is what the rankings give."""
    measures, rows = _table(claim)
    profile = profile_of(claim)
    if not isinstance(claim.keys.get("file"), str):
        raise claim.error("has no file", 'write file = "runs.csv"')
    try:
        frame = read_known_items(claim.path(claim.keys["file"]))
    except (OSError, pl.exceptions.PolarsError) as error:
        return Verdict(CANNOT_CHECK, f"{claim.keys['file']} cannot be read: {str(error).partition(chr(10))[0]}")
    lacking = [column for column in COLUMNS if column not in frame.columns]
    if lacking:
        return Verdict(CANNOT_CHECK, f"{claim.keys['file']} has no column {', '.join(lacking)}")
    numbers: list[Number] = []
    try:
        for name, run, cells in rows:
            numbers += _row(frame, name, run, cells, measures, profile)
    except MetricpactError as error:
        return Verdict(CANNOT_CHECK, error.fact, tuple(numbers))
    wrong = [number for number in numbers if not number.holds]
    if not wrong:
        return Verdict(REPRODUCED, "", tuple(numbers))
    computed = "undefined" if wrong[0].computed is None else f"{wrong[0].computed:.4f}"
    detail = f"nearest: {wrong[0].about} {computed}; {len(wrong)} of {len(numbers)} cells differ"
    return Verdict(NOT_REPRODUCED, detail, tuple(numbers))


def read_known_items(path: str) -> pl.DataFrame:
    """The rows with an answer, all columns as text."""
    frame = pl.read_csv(path, infer_schema=False).fill_null("")
    return frame.filter(pl.col("expected_id") != NO_ANSWER) if "expected_id" in frame.columns else frame


def _row(
    frame: pl.DataFrame,
    name: str,
    run: str,
    cells: Mapping[str, list[Any]],
    measures: Mapping[str, Measure],
    profile: Profile,
) -> list[Number]:
    scores = score_slice(frame, name, run, list(measures.values()), profile)
    numbers = []
    for column, several in cells.items():
        if column == "n":
            # The queries of the slice, whatever has a value on them.
            value: float | None = float(len(scores.queries))
            signature = ""
        else:
            value = scores.mean[str(measures[column])].value
            signature = scores.signatures[str(measures[column])]
        about = f"{name} {run} {column}"
        numbers += [Number(about, one.text, value, one.holds(value), signature) for one in several]
    return numbers


def score_slice(frame: pl.DataFrame, name: str, run: str, measures: Sequence[Measure], profile: Profile) -> Scores:
    """The scores of a run's queries in a slice (``all`` or ``column=value``); raises ``InputError``."""
    rows = frame.filter(pl.col("run") == run)
    if name != ALL:
        column, _, value = name.partition("=")
        if column not in frame.columns:
            raise InputError(f"there is no column {column!r} to slice by", f"columns: {', '.join(frame.columns)}")
        rows = rows.filter(pl.col(column) == value)
    if not len(rows):
        raise InputError(f"run {run!r} has no query in slice {name!r}", "look at the file's values")
    twice = rows.filter(pl.col("query_id").is_duplicated())
    if len(twice):
        raise InputError(f"run {run!r} has query {twice['query_id'][0]!r} twice", "every query has one line a run")
    ranked = rows["ranked_ids"].str.split(";").to_list()
    queries = rows["query_id"].to_list()
    judgments = read_judgments({query: {item: 1} for query, item in zip(queries, rows["expected_id"], strict=True)})
    rankings = read_run({query: [one for one in ids if one] for query, ids in zip(queries, ranked, strict=True)})
    return evaluate(judgments, rankings, measures, profile, BACKEND)


def _table(claim: Claim) -> tuple[dict[str, Measure], list[tuple[str, str, dict[str, list[Any]]]]]:
    """The measures by column name, and the rows: slice, run, and what is stated in each column."""
    columns, rows = claim.keys.get("columns"), claim.keys.get("rows")
    if not isinstance(columns, list) or not {"slice", "run"} <= set(map(str, columns)):
        raise claim.error("has no columns", 'write columns = ["slice", "run", "n", "R@1"]', "columns")
    measures: dict[str, Measure] = {}
    for column in columns:
        if column not in ("slice", "run", "n"):
            try:
                measures[column] = parse_measure(column)
            except MetricpactError as error:
                raise claim.error(error.fact, error.hint, "columns") from error
    if not measures:
        raise claim.error("the table has no measure", 'write columns = ["slice", "run", "n", "R@1"]', "columns")
    if not isinstance(rows, list) or not rows:
        raise claim.error("has no rows", 'write rows = [["all", "v1", 10, 0.60]]', "rows")
    read = []
    for row in rows:
        if not isinstance(row, list) or len(row) != len(columns):
            raise claim.error(
                f"row {row!r} has not the columns {', '.join(columns)}", "give every column a cell", "rows"
            )
        cells = dict(zip(columns, row, strict=True))
        name, run = str(cells.pop("slice")), str(cells.pop("run"))
        read.append((name, run, {column: statements(claim, cell, "rows") for column, cell in cells.items()}))
    return measures, read
