"""Coverage as a report: what ``metricpact coverage`` shows in every format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl
from metricpact.crosscheck.evidence.coverage import Coverage
from metricpact.render.evidence import numbers_for_people, with_dashes
from metricpact.render.report import Report, Table


def coverage_report(coverage: Coverage, *, by_task: bool) -> Report:
    """The totals, the hit rules side by side, refused units, and with ``by_task`` every task."""
    tables = [
        Table("", numbers_for_people(coverage.totals)),
        Table("what each hit rule would have claimed", coverage.rules.drop("signature", "meaning")),
    ]
    if coverage.refusals.height:
        counted = coverage.refusals.group_by("refusal", "meaning", maintain_order=True).agg(pl.len().alias("units"))
        tables.append(Table("units that do not count", counted.select("refusal", "units", "meaning")))
    if coverage.lost_anchors is not None and coverage.lost_anchors.height:
        tables.append(Table("anchors that the selection lost", with_dashes(coverage.lost_anchors)))
    if by_task:
        tables.append(Table("by task", with_dashes(coverage.tasks)))
    return Report(
        tables=tables,
        lines=[_signature(coverage)],
        document=lambda: _document(coverage, by_task=by_task),
        records=lambda: _records(coverage, by_task=by_task),
        frame=lambda: coverage.tasks if by_task else _flat(coverage),
    )


def _signature(coverage: Coverage) -> str:
    # The rules' signatures differ in the rule alone.
    head, _, tail = coverage.rules["signature"][0].partition("|rule=exact|")
    return f"signature {head.replace('bundle-coverage', 'QUANTITY')}|rule=RULE|{tail}"


def _flat(coverage: Coverage) -> pl.DataFrame:
    """Totals and rules in one table."""
    rules = coverage.rules.select(
        pl.format("bundle-coverage by {}", "rule").alias("quantity"),
        pl.col("coverage").alias("value"),
        pl.col("covered").cast(pl.Int64).alias("count"),
        pl.col("n").cast(pl.Int64),
        "signature",
    )
    return pl.concat([coverage.totals, rules])


def _about(coverage: Coverage) -> dict[str, Any]:
    return {
        "schema": "metricpact.coverage/1",
        "settings": dict(coverage.settings),
        "inputs": {name: dict(about) for name, about in coverage.inputs.items()},
    }


def _document(coverage: Coverage, *, by_task: bool) -> dict[str, Any]:
    document = _about(coverage) | {
        "tasks": {"n": coverage.tasks.height, "missing": list(coverage.missing), "extra": list(coverage.extra)},
        "units": {
            "unversioned": coverage.unversioned,
            "unchecked": coverage.unchecked,
            "outside_pool": coverage.outside_pool,
            "refused": coverage.refusals.to_dicts(),
        },
        "totals": coverage.totals.to_dicts(),
        "rules": coverage.rules.to_dicts(),
        "notes": list(coverage.notes),
    }
    if coverage.lost_anchors is not None:
        document["lost_anchors"] = coverage.lost_anchors.to_dicts()
    return document | ({"per_task": coverage.tasks.to_dicts()} if by_task else {})


def _records(coverage: Coverage, *, by_task: bool) -> Iterator[dict[str, Any]]:
    """One record a total, one a rule, one a refused unit, with ``by_task`` one a task."""
    about = _about(coverage)
    kinds = [("total", coverage.totals), ("rule", coverage.rules), ("refused-unit", coverage.refusals)]
    if coverage.lost_anchors is not None:
        kinds.append(("lost-anchor", coverage.lost_anchors))
    if by_task:
        kinds.append(("task", coverage.tasks))
    for kind, frame in kinds:
        for row in frame.iter_rows(named=True):
            yield {"record": kind, **row, **(about if kind in ("total", "rule") else {})}
