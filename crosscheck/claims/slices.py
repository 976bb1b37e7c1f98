"""Claims of kind ``slices``: a table of slices and runs, recomputed from rankings of known-item queries.

The file is a known-item table (``bridges/sources/known_item_table.py``): run, query_id, expected_id, ranked_ids (ids
between ";") and one column for each way to slice. Queries whose expected_id is NONE have no answer and are not scored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
from metricpact.bridges.evaluate import evaluate
from metricpact.bridges.sources.known_item_table import KnownItems, read_known_items
from metricpact.contracts.errors import InputError, MetricpactError
from metricpact.contracts.measures import Measure, parse_measure
from metricpact.contracts.profiles import Profile
from metricpact.crosscheck.audit.infer import BACKEND
from metricpact.crosscheck.claims.document import Claim
from metricpact.crosscheck.claims.inputs import profile_of, statements
from metricpact.crosscheck.claims.verdicts import CANNOT_CHECK, NOT_REPRODUCED, REPRODUCED, Number, Verdict
from metricpact.crosscheck.slices.slicing import Slicing


def check_slices(claim: Claim) -> Verdict:
    """Whether every cell of a table is what the rankings give."""
    measures, rows = _table(claim)
    profile = profile_of(claim)
    if not isinstance(claim.keys.get("file"), str):
        raise claim.error("has no file", 'write file = "runs.csv"')
    numbers: list[Number] = []
    try:
        items = read_known_items(claim.path(claim.keys["file"]))
        for name, run, cells in rows:
            numbers += _row(items, name, run, cells, measures, profile)
    except MetricpactError as error:
        return Verdict(CANNOT_CHECK, error.fact, tuple(numbers))
    wrong = [number for number in numbers if not number.holds]
    if not wrong:
        return Verdict(REPRODUCED, "", tuple(numbers))
    computed = "undefined" if wrong[0].computed is None else f"{wrong[0].computed:.4f}"
    detail = f"nearest: {wrong[0].about} {computed}; {len(wrong)} of {len(numbers)} cells differ"
    return Verdict(NOT_REPRODUCED, detail, tuple(numbers))


def _row(
    items: KnownItems,
    name: str,
    run: str,
    cells: Mapping[str, list[Any]],
    measures: Mapping[str, Measure],
    profile: Profile,
) -> list[Number]:
    queries = _members(items, name, run)
    within = profile.with_fields({"queries": queries})
    scores = evaluate(items.expected, items.runs[run], list(measures.values()), within, BACKEND)
    # n is the queries of the slice, whether a measure has a value on them or not.
    values: dict[str, float | None] = {"n": float(len(queries))}
    values |= {column: scores.mean[str(measure)].value for column, measure in measures.items()}
    signatures = {column: scores.signatures[str(measure)] for column, measure in measures.items()}
    return [
        Number(
            f"{name} {run} {column}", one.text, values[column], one.holds(values[column]), signatures.get(column, "")
        )
        for column, several in cells.items()
        for one in several
    ]


def _members(items: KnownItems, name: str, run: str) -> list[str]:
    """The queries of a slice that have an answer; raises ``InputError`` for a run or slice that is not there."""
    if run not in items.runs:
        raise InputError(f"there is no run {run!r}", f"runs: {', '.join(items.runs)}", source=items.name)
    masks = {part.name: mask for part, mask in Slicing.of(items.slices).members(items.expected.queries)}
    if name not in masks or not masks[name].any():
        raise InputError(f"there is no slice {name!r}", f"slices: {', '.join(masks)}", source=items.name)
    return items.expected.queries.filter(pl.Series(masks[name])).to_list()


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
