"""Slices as a report: what ``metricpact slices`` shows in every format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import polars as pl
from metricpact.crosscheck.slices.no_answer import PassRate
from metricpact.crosscheck.slices.tabulate import DIRECTION, SliceAverage, SliceRow, SliceScores
from metricpact.render.intervals import ABSENT, interval_text, methods_line, number, signature_lines
from metricpact.render.report import Report, Table


def slices_report(
    table: SliceScores, places: int, *, inputs: Mapping[str, Any] | None = None, averages: bool = False
) -> Report:
    """The slices as a report; ``averages`` adds the pooled values and the means over slices to what people read."""
    tables = [Table("", _frame(table, places))]
    if averages:
        tables += [Table("averages", _averages(table))]
    return Report(
        tables=tables,
        lines=_lines(table, places),
        document=lambda: _document(table, inputs or {}),
        records=lambda: table.to_polars().iter_rows(named=True),
        frame=table.to_polars,
    )


def _frame(table: SliceScores, places: int) -> pl.DataFrame:
    """One row a slice and run; a measure is a number and its interval, and its own n where that is another."""
    rows = []
    has_none = any(row.none.n or row.none.unscored for row in table.rows)
    for row in table.rows:
        cells: dict[str, Any] = {"slice": row.slice.name, "run": row.run, "n": row.n}
        for score in row.scores:
            own = f" n={score.n}" if score.n != row.n else ""
            cells[score.measure] = number(score.macro, places)
            cells[f"{score.measure} interval"] = interval_text(score.interval, places) + own
        if has_none:
            cells["NONE pass rate"] = pass_rate_text(row.none, places)
            cells["NONE interval"] = ABSENT if row.none.rate is None else interval_text(row.none.interval, places)
        few = [score.measure for score in row.scores if score.n < table.min_n]
        alone = f"{DIRECTION}: {', '.join(few)}" if few else ""
        cells["note"] = DIRECTION if row.direction_only else alone
        rows.append(cells)
    return pl.DataFrame(rows)


def pass_rate_text(rate: PassRate, places: int) -> str:
    """``0.60 (n=5)``, or why nothing was scored."""
    if rate.rate is None:
        return ABSENT if not rate.unscored else f"not scored (n={rate.unscored})"
    left = f", {rate.unscored} not scored" if rate.unscored else ""
    return f"{rate.rate:.{places}f} (n={rate.n}{left})"


def _averages(table: SliceScores) -> pl.DataFrame:
    """One row a run, measure and way to average over all queries."""
    rows: list[tuple[str, str, str, float | None, str]] = []
    for row in table.rows:
        if row.slice.values:
            continue
        for score in row.scores:
            rows.append((row.run, score.measure, "macro: mean over queries", score.macro, f"{score.n} queries"))
            if score.denominator is not None:
                pooled = f"{score.numerator:g} of {score.denominator:g}"
                rows.append((row.run, score.measure, "micro: counts pooled over queries", score.micro, pooled))
            rows += [
                (row.run, score.measure, f"macro: mean over slices of {a.column}", a.macro, _slices_text(a))
                for a in table.averages
                if (a.run, a.measure) == (row.run, score.measure)
            ]
    schema = {"run": pl.String, "measure": pl.String, "average": pl.String, "value": pl.Float64, "over": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _slices_text(average: SliceAverage) -> str:
    return f"{average.slices} slices" + (f", {average.undefined} undefined" if average.undefined else "")


def _lines(table: SliceScores, places: int) -> list[str]:
    whole = [row for row in table.rows if not row.slice.values]
    used = [(score.measure, score.interval) for row in table.rows for score in row.scores]
    if any(row.none.rate is not None for row in table.rows):
        used += [("NONE pass rate", row.none.interval) for row in table.rows]
    lines = [methods_line(used, table.intervals)]
    if any(row.none.n or row.none.unscored for row in whole):
        lines += [_none_line(row, table, places) for row in whole]
    else:
        lines.append("NONE pass rate undefined: the set has no NONE questions, so declining is not measured")
    if any(score.n < table.min_n for row in table.rows for score in row.scores):
        lines.append(
            f"With fewer than {table.min_n} queries a slice points in a direction and proves nothing: "
            "read n and the interval first, and metricpact compare for a difference between runs."
        )
    return [*lines, *signature_lines(table.signatures)]


def _none_line(row: SliceRow, table: SliceScores, places: int) -> str:
    none = row.none
    if none.rate is None:
        many = f" ({none.unscored} of them)" if none.unscored else ""
        return f"{row.run}: NONE pass rate undefined{many}: {none.reason}"
    beside = ", ".join(f"{score.measure} {number(score.macro, places)}" for score in row.scores)
    return f"{row.run}: NONE pass rate {pass_rate_text(none, places)} against {table.none_policy}, beside {beside}"


def _document(table: SliceScores, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "schema": "metricpact.slices/1",
        "inputs": dict(inputs),
        "runs": list(table.runs),
        "measures": list(table.measures),
        "signatures": dict(table.signatures),
        "min_n": table.min_n,
        "none_policy": table.none_policy,
        "intervals": asdict(table.intervals),
        "notes": list(table.notes),
        "rows": [
            {
                "slice": row.slice.name,
                "values": dict(row.slice.values),
                "run": row.run,
                "n": row.n,
                "direction_only": row.direction_only,
                "measures": [asdict(score) for score in row.scores],
                "none": asdict(row.none),
            }
            for row in table.rows
        ],
        "over_slices": [asdict(average) for average in table.averages],
    }
