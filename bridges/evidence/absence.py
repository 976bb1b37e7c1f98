"""Needs with declared absence and controllers' traces, from JSON lines, JSON or Python objects."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import polars as pl
from metricpact.bridges.evidence.documents import Record, Source, checked, json_records, object_records, read_source
from metricpact.contracts.errors import InputError
from metricpact.contracts.evidence.absence import NEED, STEP, Absence
from metricpact.contracts.evidence.tables import PLACE, Columns

NOT_QRELS = (
    "judgments without a positive document are no proof that the collection lacks an answer: some positives may simply "
    'be unjudged. Declare the absence: {"need": …, "absence": {"judgement": "absent", "declared_by": …, "scope": …, '
    '"date": …}, "trace": {"steps": […], "returned": […], "stop": …}}'
)
_QUERY = {"query_id", "query-id", "qid"}
"""What names the query in qrels that are JSON lines."""
_RETURNED: Columns = {"at": pl.UInt32, "need": pl.String, **PLACE, "unit": pl.String}


def read_absence(source: Any) -> Absence:
    """Needs with their judgements and traces; raises ``InputError`` with file, line and need.

    Qrels are refused with the explanation, and so is a need of which nobody declared that an answer is absent or
    present.
    """
    if isinstance(source, Absence):
        return source
    if isinstance(source, str | os.PathLike):
        text = read_source(source)
        if text.first not in (b"{", b"["):
            raise _not_json(text)
        name, digest, records = text.name, text.sha256, json_records(text)
    else:
        name, digest, records = "needs", None, object_records(source, "needs")
    for record in records:
        _refuse_undeclared(record, name)
    return _tables(checked(records, "absence", name, "need"), name, digest)


def _not_json(text: Source) -> InputError:
    fields = len(text.data.split(b"\n", 1)[0].split())
    if fields in (3, 4):
        return text.error("these are qrels, and qrels do not declare absence", NOT_QRELS, 1)
    return text.error("is no file of needs: it is not JSON", NOT_QRELS, 1)


def _refuse_undeclared(record: Record, name: str) -> None:
    """Refuse qrels in JSON, and a need without a declaration."""
    value = record.value
    if not isinstance(value, Mapping) or "absence" in value:
        return
    judged = [one for one in value.values() if isinstance(one, Mapping)]
    graded = [grade for one in judged for grade in one.values()]
    nested = bool(judged) and all(isinstance(grade, int | float) for grade in graded)
    if "need" not in value and (nested or _QUERY & value.keys()):
        raise InputError("these are qrels, and qrels do not declare absence", NOT_QRELS, source=name, line=record.line)
    if "need" in value:
        raise InputError(
            f"need {value['need']!r}: nobody declares that an answer is absent or present",
            NOT_QRELS,
            source=name,
            line=record.line,
            query=str(value["need"]),
        )


def _tables(records: list[Record], name: str, digest: str | None) -> Absence:
    needs: list[tuple[Any, ...]] = []
    steps: list[tuple[Any, ...]] = []
    returned: list[tuple[Any, ...]] = []
    lines: dict[str, int | None] = {}
    for at, record in enumerate(records):
        value = record.value
        need, absence, trace, rules = value["need"], value["absence"], value["trace"], value.get("rules", {})
        if need in lines:
            where = f" (first on line {lines[need]})" if lines[need] is not None else ""
            raise InputError(
                f"need {need!r}: is there twice{where}",
                "give every need once",
                source=name,
                line=record.line,
                query=need,
            )
        lines[need] = record.line
        declared = (absence["judgement"], absence["declared_by"], absence["scope"], absence["date"])
        limits = (rules.get("budget"), rules.get("sufficient_at"), rules.get("decline_below"))
        needs.append((need, record.line, *declared, trace["stop"], *limits, len(trace["returned"])))
        for number, step in enumerate(trace["steps"], 1):
            cost = step.get("cost")
            measured = (step.get("next_cost"), step.get("sufficiency"), step.get("best"), step.get("remaining"))
            steps.append((at, number, 1.0 if cost is None else cost, *measured))
        returned += [(at, need, *(unit.get(key) for key in PLACE), unit.get("unit")) for unit in trace["returned"]]
    if not needs:
        raise InputError("there is no need", NOT_QRELS, source=name)
    return Absence(
        name,
        pl.DataFrame([_floats(row, NEED) for row in needs], NEED, orient="row"),
        pl.DataFrame([_floats(row, STEP) for row in steps], STEP, orient="row"),
        pl.DataFrame(returned, _RETURNED, orient="row"),
        digest,
    )


def _floats(row: tuple[Any, ...], schema: Mapping[str, Any]) -> tuple[Any, ...]:
    """The row with its numbers in the columns' types: JSON writes 3 for 3.0 and 3.0 for 3."""
    types = {pl.Float64: float, pl.Int64: int}
    return tuple(
        types[kind](cell) if kind in types and cell is not None else cell
        for cell, kind in zip(row, schema.values(), strict=True)
    )
