"""What lint found as a report: a table by file, one JSON document, and SARIF 2.1.0 for code scanners."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import polars as pl
from metricpact.bridges.sources.findings import Finding
from metricpact.bridges.sources.kinds import KINDS, SEVERITIES
from metricpact.contracts.version import VERSION
from metricpact.crosscheck.lint.lint import LintReport
from metricpact.crosscheck.lint.repeats import counted
from metricpact.render.registry import dumped
from metricpact.render.report import Report, Table

_SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def lint_report(report: LintReport, *, notes: bool) -> Report:
    """The findings as a report; without ``notes`` people are shown errors and warnings only."""
    shown = [finding for finding in report.findings if notes or finding.severity != "note"]
    tables = [Table("", pl.DataFrame([_row(finding) for finding in shown]))] if shown else []
    return Report(
        tables=tables,
        lines=_lines(report, shown),
        document=report.to_document,
        records=lambda: [{"record": "finding", **finding.to_document()} for finding in report.findings],
        frame=lambda: _frame(report),
        texts={"sarif": lambda: dumped(_sarif(report))},
    )


def codes_report() -> Report:
    """All codes, their severity and meaning."""
    rows = [{"code": code, "severity": kind.severity, "meaning": kind.meaning} for code, kind in KINDS.items()]
    frame = pl.DataFrame(rows)
    return Report([Table("", frame)], lambda: {"codes": rows}, lambda: rows, lambda: frame)


def _row(finding: Finding) -> dict[str, str]:
    return {
        "severity": finding.severity,
        "code": finding.code,
        "where": ":".join([finding.file, ", ".join(map(str, finding.lines))]) if finding.lines else finding.file,
        "finding": _visible(finding.message),
    }


def _visible(text: str) -> str:
    """Text without control characters, which would move the cursor of a terminal."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def _lines(report: LintReport, shown: list[Finding]) -> list[str]:
    hints = {
        f"{finding.code}: {finding.hint or KINDS[finding.code].hint}" for finding in shown if KINDS[finding.code].hint
    }
    lines = [
        *(f"hint: {hint}" for hint in sorted(hints)),
        *([""] if hints else []),
    ]
    lines += [
        f"{linted.kind} {linted.name}: "
        + ("not read" if linted.rows is None else f"{linted.rows} rows, {linted.queries} queries")
        for linted in report.inputs
    ]
    listed = {code: sum(finding.code == code for finding in shown) for code in report.counts}
    lines += [
        f"{code}: {listed[code]} of {count} are listed; --limit 0 lists all"
        for code, count in report.counts.items()
        if 0 < listed[code] < count
    ]
    totals = ", ".join(counted(report.total(severity), severity) for severity in SEVERITIES)
    return [*lines, totals]


def _frame(report: LintReport) -> pl.DataFrame:
    rows = [
        {**finding.to_document(), "lines": " ".join(map(str, finding.lines)), "queries": len(finding.queries)}
        for finding in report.findings
    ]
    schema = {
        name: pl.Int64 if name in ("line", "count", "queries") else pl.String
        for name in (
            "code",
            "severity",
            "message",
            "file",
            "line",
            "lines",
            "query",
            "document",
            "count",
            "queries",
            "hint",
        )
    }
    return pl.DataFrame(rows, schema=schema)


def _sarif(report: LintReport) -> dict[str, Any]:
    """A SARIF 2.1.0 log (OASIS, sections 3.13 to 3.27): one run, a rule a code, a result a finding."""
    codes = list(KINDS)
    rules = [
        {
            "id": code,
            "shortDescription": {"text": kind.meaning},
            "defaultConfiguration": {"level": kind.severity},
            **({"help": {"text": kind.hint}} if kind.hint else {}),
        }
        for code, kind in KINDS.items()
    ]
    results = []
    for finding in report.findings:
        places = [_location(finding.file, line) for line in finding.lines] or [_location(finding.file, None)]
        hint = finding.hint or KINDS[finding.code].hint
        results.append(
            {
                "ruleId": finding.code,
                "ruleIndex": codes.index(finding.code),
                "level": finding.severity,
                "message": {"text": f"{finding.message}. {hint}".rstrip(". ") + "."},
                "locations": places[:1],
                **({"relatedLocations": places[1:]} if places[1:] else {}),
            }
        )
    driver = {"name": "metricpact", "version": VERSION, "semanticVersion": VERSION, "rules": rules}
    return {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}


def _location(file: str, line: int | None) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(file.replace("\\", "/"), safe="/")}}
    if line is not None:
        place["region"] = {"startLine": line}
    return {"physicalLocation": place}
