"""A claims report: one row a claim, what was computed, and what would give a claim that is not reproduced."""

from __future__ import annotations

from typing import Any

import polars as pl
from metricpact.crosscheck.claims.verdicts import ClaimsReport, Number, Result
from metricpact.render.report import Report, Table

SHOWN = 5
"""Numbers of a claim that stand in the table; all are in the other forms."""


def claims_report(report: ClaimsReport, places: int) -> Report:
    """The table, lines and forms of a claims report; what was computed is shown at some number of decimals."""
    rows = [
        {
            "claim": result.id,
            "stated": _some(list(dict.fromkeys(f"{one.about} = {one.stated}" for one in result.verdict.numbers))),
            "computed": _some([_computed(number.computed, places) for number in result.verdict.numbers]),
            "verdict": result.verdict.text + ("" if result.as_expected else f" — expected: {result.expected}"),
        }
        for result in report.results
    ]
    notes = [f"{result.id}: {note}" for result in report.results for note in result.verdict.notes]
    unexpected = sum(not result.as_expected for result in report.results)
    counted = f"{len(report.results)} claims, " + (
        f"{unexpected} not as expected" if unexpected else "all verdicts as expected"
    )
    return Report(
        tables=[Table(report.title, pl.DataFrame(rows))],
        lines=[*notes, *_signatures(report.results), counted],
        document=report.to_document,
        records=lambda: [{"file": report.name, **result.to_document()} for result in report.results],
        frame=lambda: pl.DataFrame(
            [row for result in report.results for row in _flat(result)],
            schema_overrides={"computed": pl.Float64},
            infer_schema_length=None,
        ),
    )


def _some(texts: list[str]) -> str:
    return ", ".join(texts[:SHOWN]) + (f", and {len(texts) - SHOWN} more" if len(texts) > SHOWN else "")


def _computed(value: float | None, places: int) -> str:
    if value is None:
        return "–"
    return f"{value:.0f}" if value.is_integer() else f"{value:.{places}f}"


def _signatures(results: list[Result]) -> list[str]:
    """How the numbers were made, measures apart: one line for each contract and backend."""
    tails = {
        number.signature.partition("|")[2]: None
        for result in results
        for number in result.verdict.numbers
        if number.signature
    }
    return [f"signature MEASURE|{tail}" for tail in tails]


def _flat(result: Result) -> list[dict[str, Any]]:
    """One row a number of a claim, and one for a claim of which none could be read."""
    about = {"claim": result.id, "kind": result.kind, "verdict": result.verdict.text, "as_expected": result.as_expected}
    return [{**about, **vars(number)} for number in result.verdict.numbers or [Number("", "", None, holds=False)]]
