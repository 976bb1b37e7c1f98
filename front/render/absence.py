"""No-answer behaviour as a report: what ``metricpact absence`` shows in every format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl
from metricpact.crosscheck.evidence.absence import AbsenceReport
from metricpact.render.evidence import numbers_for_people, with_dashes
from metricpact.render.report import Report, Table


def absence_report(report: AbsenceReport, *, by_need: bool) -> Report:
    """Evidence quality and control flow apart, stop reasons, declarations; with ``by_need`` every need."""
    tables = [
        Table("evidence quality: what was returned", numbers_for_people(report.quality)),
        Table("control flow: whether the controller kept its own rules", numbers_for_people(report.control)),
        Table("why it stopped", report.stops.drop("meaning")),
        Table("declared by", report.declarations),
    ]
    if report.returned.height:
        tables.append(Table("returned where nothing should be", with_dashes(report.returned)))
    if by_need:
        tables.append(Table("by need", with_dashes(report.needs)))
    signature = f"signature QUANTITY|{report.quality['signature'][0].partition('|')[2]}"
    return Report(
        tables=tables,
        lines=[signature],
        document=lambda: _document(report, by_need=by_need),
        records=lambda: _records(report, by_need=by_need),
        frame=lambda: report.needs if by_need else pl.concat([report.quality, report.control]),
    )


def _document(report: AbsenceReport, *, by_need: bool) -> dict[str, Any]:
    document = _about(report) | {
        "evidence_quality": report.quality.to_dicts(),
        "control_flow": report.control.to_dicts(),
        "stops": report.stops.to_dicts(),
        "declarations": report.declarations.to_dicts(),
        "returned_where_absent": report.returned.to_dicts(),
    }
    return document | ({"per_need": report.needs.to_dicts()} if by_need else {})


def _records(report: AbsenceReport, *, by_need: bool) -> Iterator[dict[str, Any]]:
    """One record a number, a stop reason, a declaration, a wrongly returned candidate; with ``by_need`` one a need."""
    about = _about(report)
    kinds = {
        "evidence-quality": report.quality,
        "control-flow": report.control,
        "stop": report.stops,
        "declaration": report.declarations,
        "returned-where-absent": report.returned,
    }
    if by_need:
        kinds["need"] = report.needs
    for kind, frame in kinds.items():
        for row in frame.iter_rows(named=True):
            yield {"record": kind, **row, **(about if "signature" in row else {})}


def _about(report: AbsenceReport) -> dict[str, Any]:
    return {"schema": "metricpact.absence/1", "inputs": dict(report.inputs)}
