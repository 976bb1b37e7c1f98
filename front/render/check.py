"""A check as a report: counts, what is wrong, and where libraries differ by themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import polars as pl
from metricpact.crosscheck.check import OUTCOMES
from metricpact.crosscheck.report import BAD, CheckReport
from metricpact.render.report import Report, Table


def check_report(report: CheckReport) -> Report:
    """The tables, lines and forms of a check's report."""
    tables = [_counts(report)]
    wrong = [record for record in report.records if record["outcome"] in BAD]
    if wrong:
        tables.append(Table("wrong", pl.DataFrame([_wrong(record) for record in wrong], infer_schema_length=None)))
    if report.footer["stale"]:
        tables.append(Table("known differences that are none any more", pl.DataFrame(report.footer["stale"])))
    known = _known(report)
    if known:
        tables.append(Table("what the libraries do by themselves, where a case asks otherwise", pl.DataFrame(known)))
    return Report(
        tables=tables,
        lines=_lines(report, wrong),
        document=report.document,
        records=report.lines,
        frame=lambda: pl.DataFrame([_flat(record) for record in report.records], infer_schema_length=None),
    )


def _counts(report: CheckReport) -> Table:
    rows = [
        {"backend": backend, "asked": {"contract": "under the contract", "default": "by itself"}[mode]} | counts
        for backend, modes in report.footer["counts"].items()
        for mode, counts in modes.items()
    ]
    return Table("", pl.DataFrame(rows).select("backend", "asked", *reversed(OUTCOMES)))


def _wrong(record: Mapping[str, Any]) -> dict[str, str]:
    mode = "contract" if record["contract"]["outcome"] in BAD else "default"
    side = record[mode]
    return {
        "case": record["case"],
        "backend": record["backend"],
        "outcome": f"{side['outcome']} ({'under the contract' if mode == 'contract' else 'by itself'})",
        "measure": record["measure"],
        "query": record["query"] or "",
        "expected": _shown(record["expected"]),
        "got": _shown(side["got"]) if side["got"] else side.get("reason", ""),
        "call": side.get("call", ""),
        "reproduce": record["reproduce"],
    }


def _shown(answer: Mapping[str, Any]) -> str:
    """An answer in few words."""
    if "error" in answer:
        return (
            "refused" if answer["error"] in ("input", "measure") else f"{answer['error']}: {answer.get('message', '')}"
        )
    value = answer.get("value", answer.get("mean"))
    if value is None:
        return f"undefined ({answer.get('reason', 'no query')})"
    shown = f"{value:.10g}" if isinstance(value, float | int) else str(value)
    return shown + (f" over {answer['n']}" if "n" in answer else "")


def _known(report: CheckReport) -> list[dict[str, Any]]:
    """Backend, what the library does, in how many cases that shows, and the line that shows the first of them."""
    counts: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], str] = {}
    for record in report.records:
        for mode in ("contract", "default"):
            for name in (record[mode] or {}).get("known", ()):
                counts[record["backend"], name] += 1
                first.setdefault((record["backend"], name), record["reproduce"])
    return [
        {"backend": backend, "does": name, "cases": count, "see": first[backend, name]}
        for (backend, name), count in counts.items()
    ]


def _lines(report: CheckReport, wrong: list[Mapping[str, Any]]) -> list[str]:
    lines = [f"{backend}: {found['sentence']}" for backend, found in report.footer["blame"].items()]
    lines += [f"not installed: {name}: {how}" for name, how in report.header["missing"].items()]
    failed = f"{len(wrong)} wrong, {len(report.footer['stale'])} stale"
    return [*lines, "passed" if report.passed else f"not passed: {failed}"]


def _flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as one row of text."""
    default = record["default"] or {}
    return {
        **{name: record[name] for name in ("case", "backend", "outcome", "measure", "query", "pins")},
        "expected": _shown(record["expected"]),
        "contract": record["contract"]["outcome"],
        "contract_got": _shown(record["contract"]["got"]) if record["contract"]["got"] else None,
        "default": default.get("outcome"),
        "default_got": _shown(default["got"]) if default.get("got") else None,
        "known": "; ".join(default.get("known", ())) or None,
        "call": default.get("call"),
        "reproduce": record["reproduce"],
    }
