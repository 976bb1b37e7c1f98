"""Decisions from CSV, JSON lines, JSON or Python objects, and endpoints from TOML or NAME=STATE,STATE."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import polars as pl
from metricpact.bridges.evidence.documents import (
    Record,
    checked,
    csv_records,
    json_records,
    named,
    object_records,
    read_source,
)
from metricpact.bridges.evidence.shape import first_fault
from metricpact.bridges.sources.toml_lines import key_lines
from metricpact.contracts.errors import ContractError, InputError
from metricpact.contracts.evidence.decisions import ITEM, NEGATIVE, POSITIVE, Decisions, Endpoints

_COLUMNS = ("item", "state", "label", "label_source")
_LABELS = {
    POSITIVE: POSITIVE,
    NEGATIVE: NEGATIVE,
    "1": POSITIVE,
    "0": NEGATIVE,
    "true": POSITIVE,
    "false": NEGATIVE,
}
"""Spellings of labels; in JSON true, false, 1 and 0 too."""
_HINT = "columns or keys: item, state, label (positive or negative), label_source"


def read_decisions(source: Any) -> Decisions:
    """Items with their decision states and labels; raises ``InputError`` with file, line and item.

    Other columns are left alone, unless one looks like a misspelt column that is missing.
    """
    if isinstance(source, Decisions):
        return source
    if isinstance(source, str | os.PathLike):
        text = read_source(source)
        name, digest = text.name, text.sha256
        records = json_records(text) if text.first in (b"{", b"[") else csv_records(text)
    else:
        name, digest, records = "decisions", None, object_records(source, "decisions")
    if not records:
        raise InputError("there is no item", _HINT, source=name)
    fine = checked([_spelled(record, name) for record in records], "decision", name, "item")
    rows = [(*(record.value.get(column) for column in _COLUMNS), record.line) for record in fine]
    return Decisions(name, pl.DataFrame(rows, ITEM, orient="row"), digest)


def read_endpoints(path: str | os.PathLike[str]) -> Endpoints:
    """Endpoints from a TOML file: ``states``, ``unresolved`` and a table ``[endpoints]`` of lists of states.

    Raises ``ContractError``, naming the file and, where a key is at fault, its line.
    """
    source = read_source(path)
    text = source.text()
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ContractError(f"{source.name} is not TOML: {error}", _TOML) from error
    fault = first_fault("endpoints", table)
    if fault is not None:
        raise ContractError(f"{_place(source.name, text, fault)}: {fault}", _TOML)
    ends = {name: tuple(states) for name, states in table["endpoints"].items()}
    try:
        return Endpoints(tuple(table["states"]), ends, tuple(table.get("unresolved", ())))
    except ContractError as error:
        raise ContractError(f"{_place(source.name, text, error.fact)}: {error.fact}", error.hint) from error


def _place(name: str, text: str, fault: str) -> str:
    """The file with the line of the first key that a fault names, or the file alone where it names none."""
    lines = {".".join(map(str, path)): line for path, line in key_lines(text).items()}
    words = re.findall(r"'([^']*)'|([\w.-]+)", fault)
    for word in (quoted or plain for quoted, plain in words):
        for key in (word, f"endpoints.{word}"):
            if key in lines:
                return f"{name}:{lines[key]}"
    return f"{name}:{lines['states']}" if "state" in fault and "states" in lines else name


_TOML = 'write states = ["validated", "rejected"], unresolved = [], and [endpoints] with promotion = ["validated"]'


def _spelled(record: Record, name: str) -> Record:
    """The record with its label in the schema's spelling and without cells that are empty."""
    if not isinstance(record.value, Mapping):
        return record
    value = {key: cell for key, cell in record.value.items() if cell is not None or key not in _COLUMNS}
    for column in _COLUMNS:
        near = get_close_matches(column, [key for key in value if key not in _COLUMNS], 1, 0.85)
        if column not in record.value and near:
            raise InputError(
                f"{named(record, 'item')}there is {near[0]!r} and no {column!r}", _HINT, source=name, line=record.line
            )
    label = value.get("label")
    spelled = str(label).strip().lower() if isinstance(label, str | bool | int) else None
    if spelled in _LABELS:
        value["label"] = _LABELS[spelled]
    return Record(record.line, value)
