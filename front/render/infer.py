"""An inference as a report: the contracts that give the published numbers, or what comes nearest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
from metricpact.crosscheck.audit.infer import Finding, Inference
from metricpact.render.report import Report, Table

SHOWN = 5
"""Findings of which a person is told what they cannot be told apart from; all are in the table."""

NAMED = 3
"""Profiles of one finding that stand in the table; all are in the lines."""


def infer_report(inference: Inference, inputs: Mapping[str, Any]) -> Report:
    """The table, lines and forms of an inference; ``inputs`` says what was read."""
    document = inference.to_document() | {"inputs": dict(inputs)}
    return Report(
        tables=[_table(inference)],
        lines=_lines(inference),
        document=lambda: document,
        records=lambda: [
            {"record": record, **finding} for record in ("found", "nearest") for finding in document[record]
        ],
        frame=lambda: _frame(inference),
    )


def _table(inference: Inference) -> Table:
    asked = ", ".join(f"{target} = {number}" for target, number in inference.published.items())
    title = f"{asked}: given by" if inference.found else f"{asked}: given by none; nearest"
    rows = [
        {
            "contract": _named(finding),
            **{str(target): value for target, value in finding.first.gives.items()},
            "n": "/".join(map(str, dict.fromkeys(finding.first.counts.values()))),
            "same values": len(finding.labels) - 1,
        }
        for finding in inference.found or inference.nearest
    ]
    values = dict.fromkeys((str(target) for target in inference.published), pl.Float64)
    return Table(title, pl.DataFrame(rows, schema_overrides=values, infer_schema_length=None))


def _named(finding: Finding) -> str:
    """The first candidate, and the other profiles that are the same as they are."""
    first = finding.first.candidate
    if first.changes:
        return first.label
    named = finding.profiles
    return ", ".join(named[:NAMED]) + (f" and {len(named) - NAMED} more" if len(named) > NAMED else "")


def _lines(inference: Inference) -> list[str]:
    findings = inference.found or inference.nearest
    lines = []
    for finding in findings[:SHOWN]:
        label = finding.first.candidate.label
        if len(finding.profiles) > NAMED and not finding.first.candidate.changes:
            lines.append(f"the same as {label} here: {', '.join(finding.profiles[1:])}")
        lines += [f"{label}: signature {signature}" for signature in finding.first.signatures.values()]
        if finding.untold:
            same = "; ".join(f"{name}={'|'.join(map(str, values))}" for name, values in finding.untold.items())
            lines.append(f"{label}: the same values also with {same}")
    if inference.inert.fields:
        told = "; ".join(f"{name} ({reason})" for name, reason in inference.inert.fields.items())
        lines.append(f"cannot be told on this data: {told}")
    lines += [f"{count} refuse the data: {reason}" for reason, count in inference.rejected.items()]
    lines += [f"{one.profile} gives {one.measure} with {one}" for one in inference.gains]
    if inference.gains_note:
        lines.append(f"gains: {inference.gains_note}")
    results = len(inference.found)
    counted = "1 result gives" if results == 1 else f"{results} different results give"
    lines.append(f"{inference.tried} contracts tried, {counted} {'it' if len(inference.published) == 1 else 'them'}")
    return lines


def _frame(inference: Inference) -> pl.DataFrame:
    """One row a finding and measure."""
    rows = [
        {
            "found": bool(inference.found),
            "contract": finding.first.candidate.label,
            "measure": str(target.measure),
            "query": target.query,
            "published": inference.published[target].text,
            "value": value,
            "n": finding.first.counts[target.measure],
            "signature": finding.first.signatures[target.measure],
            "same_values": ", ".join(finding.labels[1:]),
        }
        for finding in inference.found or inference.nearest
        for target, value in finding.first.gives.items()
    ]
    return pl.DataFrame(rows, schema_overrides={"query": pl.String, "value": pl.Float64}, infer_schema_length=None)
