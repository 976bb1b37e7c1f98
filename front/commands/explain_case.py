"""The text of ``metricpact explain CASE``: the question, the answer, and what each backend makes of it."""

from __future__ import annotations

from typing import Any

from metricpact.bridges.plan import Unsupported
from metricpact.bridges.registry import get_bridge, how_to_install, installed_backends, is_installed
from metricpact.contracts.contract import FIELDS, plain_value
from metricpact.contracts.errors import ContractError, MeasureError
from metricpact.contracts.measures import parse_measure
from metricpact.crosscheck.check import Record, Side, conformance, default_side, native_replies
from metricpact.crosscheck.corpus import Case
from metricpact.crosscheck.known import Known, load_known


def explain_case(case: Case, backend: str | None) -> str:
    """A case, and its result on one backend or on all that are installed; raises ``ContractError``."""
    lines = _question(case)
    for name in [backend] if backend else installed_backends():
        lines += ["", *_on_backend(case, name)]
    return "\n".join(lines) + "\n"


def _question(case: Case) -> list[str]:
    convention = FIELDS.get(case.field)
    meaning = convention.values.get(case.value, convention.free) if convention else ""
    rows = case.question.rows
    return [
        f"case {case.id}",
        f"  {case.sentence}",
        f"  {'pins':<10}{case.pins}" + (f": {meaning}" if meaning else ""),
        f"  {'why':<10}{case.why}",
        "",
        "judgments (query, document, grade)",
        *_rows(rows["judgments"], ("query", "document", "grade")),
        *(f"  {query}  judged without a document" for query in rows.get("judged_without_rows", ())),
        "run, as listed (query, document, score, rank)",
        *_rows(rows["run"], ("query", "document", "score", "rank")),
        *(f"  {query}  an empty ranking" for query in rows.get("returned_without_rows", ())),
        "",
        f"  {'measure':<10}{case.question.measure}"
        + (f" of query {case.question.query}" if case.question.query else ""),
        f"  {'contract':<10}{_contract(case)}",
        f"  {'expected':<10}{case.expected}",
    ]


def _rows(rows: list[dict[str, Any]], names: tuple[str, ...]) -> list[str]:
    """Rows as lines; a column that no row has is left out."""
    shown = [name for name in names if any(name in row for row in rows)]
    return ["  " + "  ".join(str(row.get(name, "")) for name in shown) for row in rows]


def _contract(case: Case) -> str:
    from metricpact.contracts.contract import Contract

    changes = Contract().diff(case.question.contract)
    return "chapter" + "".join(f", {name}={plain_value(value)}" for name, (_, value) in changes.items())


def _on_backend(case: Case, backend: str) -> list[str]:
    bridge = get_bridge(backend)
    if not is_installed(backend):
        return [f"{backend}: not installed: {how_to_install(backend)}"]
    known, version = load_known(backend), bridge.versions()["version"]
    contract = conformance(backend, [case], known)[0]
    reply = native_replies(known, [case])[0]
    default = default_side(case, known, version, reply)
    lines = [f"{backend} {version}", "  under the contract", f"    {'plan':<8}{_plan(case, backend)}"]
    lines += _side(contract)
    if known.names:
        lines += ["  by itself", *([f"    {'call':<8}{default.call}"] if default.call else []), *_side(default)]
        lines += _entries(known, default, version)
    return [*lines, f"  again: {Record(case, backend, contract, default).reproduce}"]


def _plan(case: Case, backend: str) -> str:
    try:
        plan = get_bridge(backend).plan(parse_measure(case.question.measure), case.question.contract)
    except (MeasureError, ContractError) as error:
        return f"none: {error.fact}"
    return f"none: {plan.reason}" if isinstance(plan, Unsupported) else str(plan).partition(": ")[2]


def _side(side: Side) -> list[str]:
    got = [f"    {'got':<8}{side.got}"] if side.got is not None else []
    return [*got, f"    {'result':<8}{side.outcome}" + (f": {side.reason}" if side.reason else "")]


def _entries(known: Known, side: Side, version: str) -> list[str]:
    return [
        f"    {'known':<8}{entry.name} ({entry.kind}): {entry.reason}; {entry.link}"
        for entry in known.entries(version)
        if entry.name in side.known
    ]
