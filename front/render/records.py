"""Records as reports: what ``metricpact record`` shows in every format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
from metricpact.crosscheck.records.diff import RecordDiff
from metricpact.crosscheck.records.flat import flat, label_columns
from metricpact.crosscheck.records.record import Record
from metricpact.render.intervals import signature_lines
from metricpact.render.report import Report, Table
from metricpact.render.scores import by_query_frame, means_frame

_SHORT = {"judged_fraction": "judged", "component_version": "version", "set_name": "set", "set_version": "set version"}


def record_report(record: Record, *, by_query: bool = False) -> Report:
    """One record: its labels, its means and, with ``by_query``, single values."""
    tables = [Table(_title(record), means_frame(record.scores))]
    if by_query:
        tables.append(Table("by query", by_query_frame(record.scores)))
        if record.slices is not None:
            tables.append(Table("slices", record.slices))
    return Report(
        tables=tables,
        lines=[*_about(record), *signature_lines(record.scores.signatures)],
        document=lambda: record.to_document(by_query=by_query),
        records=lambda: [record.to_document(by_query=by_query)],
        frame=lambda: flat([record]) if by_query else _means([record]),
    )


def list_report(listed: pl.DataFrame) -> Report:
    """The records of a file, a row a measure."""
    shown = listed.drop("signature", "note").rename(_SHORT)
    return Report(
        tables=[Table("", shown)],
        lines=signature_lines({one: one for one in listed["signature"]}) if len(listed) else ["no record"],
        document=lambda: {"schema": "metricpact.records/1", "records": listed.to_dicts()},
        records=listed.to_dicts,
        frame=lambda: listed,
    )


def diff_report(found: RecordDiff, *, by_query: bool = False) -> Report:
    """Two records held together; what differs between them stands beside every number."""
    dropped = ["base_signature", "candidate_signature"]
    if not any(found.means["label"]):
        dropped.append("label")
    title = f"{_title(found.base)} → {_title(found.candidate)}"
    tables = [Table(title, found.means.drop(dropped))]
    if by_query:
        tables.append(Table("by query", found.by_query))
    signatures = zip(found.means["base_signature"], found.means["candidate_signature"], strict=True)
    return Report(
        tables=tables,
        lines=signature_lines({one: one for pair in signatures for one in pair}),
        document=lambda: found.to_document(by_query=by_query),
        records=(found.by_query if by_query else found.means).to_dicts,
        frame=lambda: found.by_query if by_query else found.means,
    )


def export_report(records: Sequence[Record]) -> Report:
    """Whole records: a document a line, or one flat frame."""
    return Report(
        tables=[],
        document=lambda: {"schema": "metricpact.record-list/1", "records": [one.to_document() for one in records]},
        records=lambda: (one.to_document() for one in records),
        frame=lambda: flat(records),
    )


def _means(records: Sequence[Record]) -> pl.DataFrame:
    return pl.concat(
        [
            record.scores.means()
            .with_columns(pl.Series("signature", list(record.scores.signatures.values()), dtype=pl.String))
            .select(*label_columns(record), pl.all())
            for record in records
        ]
    )


def _title(record: Record) -> str:
    labels = record.labels
    return (
        f"record {record.reference.id}: {labels.component} {labels.component_version} "
        f"on {labels.set_name} {labels.set_version}"
    )


def _about(record: Record) -> list[str]:
    lines = [f"recorded {record.recorded}" + (f": {record.labels.note}" if record.labels.note else "")]
    for name, about in record.scores.inputs.items():
        known: dict[str, Any] = dict(about)
        lines.append(f"{name} {known.get('path')}, sha256 {known.get('sha256') or 'not taken'}")
    lines.append("environment " + ", ".join(f"{name} {value}" for name, value in record.environment.items()))
    return [*lines, f"name it elsewhere as {record.reference}"]
