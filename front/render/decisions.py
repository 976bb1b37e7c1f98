"""Decisions as a report: what ``metricpact decisions`` shows in every format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl
from metricpact.crosscheck.evidence.decisions import DecisionReport
from metricpact.render.evidence import with_dashes
from metricpact.render.report import Report, Table


def decision_report(report: DecisionReport) -> Report:
    """States, endpoints, the conditional recalls apart from them, and where labels come from."""
    tables = [
        Table("", with_dashes(report.states)),
        Table("over the whole cohort", _readable(report.endpoints)),
    ]
    if report.conditional.height:
        title = "conditional on a decision: unresolved items are left out, so this is not recall over the cohort"
        tables.append(Table(title, _readable(report.conditional)))
    return Report(
        tables=tables,
        lines=[
            *_lines(report),
            *(f"signature {one}" for one in _flat(report)["signature"].unique(maintain_order=True)),
        ],
        document=lambda: _document(report),
        records=lambda: _records(report),
        frame=lambda: _flat(report),
    )


def _lines(report: DecisionReport) -> list[str]:
    open_items = report.unresolved
    labels = ", ".join(f"{source} ({count})" for source, count in report.label_sources.items())
    pending = f"{open_items['items']} items, {open_items['positive']} positive, {open_items['negative']} negative"
    return [
        f"unresolved: {pending}",
        f"labels: {labels}",
        f"intervals: Wilson at {report.confidence:g}, as if the items were a sample of more",
    ]


def _readable(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(
        "endpoint",
        "measure",
        "labels",
        pl.when(pl.col("denominator") > 0)
        .then(pl.format("{}/{}", "numerator", "denominator"))
        .otherwise(pl.lit("–"))
        .alias("fraction"),
        "value",
        "lower",
        "upper",
        *([pl.col("reason").fill_null("–")] if frame["reason"].count() else []),
    )


def _flat(report: DecisionReport) -> pl.DataFrame:
    return pl.concat([report.endpoints, report.conditional])


def _about(report: DecisionReport) -> dict[str, Any]:
    declared = report.declared
    return {
        "schema": "metricpact.decisions/1",
        "inputs": dict(report.inputs),
        "declared": {
            "states": list(declared.states),
            "unresolved": list(declared.unresolved),
            "endpoints": {name: list(states) for name, states in declared.endpoints.items()},
        },
        "label_sources": dict(report.label_sources),
    }


def _document(report: DecisionReport) -> dict[str, Any]:
    return _about(report) | {
        "confidence": report.confidence,
        "states": report.states.to_dicts(),
        "unresolved": dict(report.unresolved),
        "endpoints": report.endpoints.to_dicts(),
        "conditional": report.conditional.to_dicts(),
    }


def _records(report: DecisionReport) -> Iterator[dict[str, Any]]:
    """One record a number, what is conditional named as such, then one a state."""
    about = _about(report)
    for kind, frame in (("endpoint", report.endpoints), ("conditional", report.conditional)):
        for row in frame.iter_rows(named=True):
            yield {"record": kind, **row, **about}
    for row in report.states.iter_rows(named=True):
        yield {"record": "state", **row}
