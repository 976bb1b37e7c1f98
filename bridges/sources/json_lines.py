"""JSON lines: an object a line, one a row, whose keys are named as columns are."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
from metricpact.bridges.sources import columns
from metricpact.bridges.sources.streams import Opened
from metricpact.contracts.errors import InputError
from metricpact.contracts.tables import Judgments, Origin, Run

_HINT = 'a line reads: {"query_id": "q", "doc_id": "d", "relevance": 1}, or "score" in a run'


def read_jsonl_qrels(opened: Opened) -> Judgments:
    """Judgments from JSON lines; raises ``InputError`` with the line at fault."""
    held, origin = _read(opened, columns.JUDGMENTS)
    return Judgments.from_columns(held["query"], held["document"], held["grade"], origin=origin)


def read_jsonl_run(opened: Opened) -> Run:
    """A run from JSON lines; raises ``InputError`` with the line at fault."""
    held, origin = _read(opened, columns.RUN)
    return Run.from_columns(held["query"], held["document"], held.get("score"), held.get("rank"), origin=origin)


def _read(opened: Opened, wanted: columns.Wanted) -> tuple[dict[str, list[Any]], Origin]:
    """The columns by meaning, as the first line names them: every line has the same keys for them."""
    name = opened.stream.name
    held: dict[str, list[Any]] = {}
    keys: dict[str, str] = {}
    lines: list[int] = []
    for number, line in enumerate(opened.data().split(b"\n"), 1):
        if not line.strip():
            continue
        row = _row(line, name, number)
        if not keys:
            keys = columns.meanings(list(row), wanted, name, number)
            held = {meaning: [] for meaning in keys}
        for meaning, key in keys.items():
            if key not in row:
                raise InputError(f"the row has no {key!r}", _HINT, source=name, line=number)
            _check(row[key], meaning, name, number)
            held[meaning].append(row[key])
        lines.append(number)
    return held, Origin(name, lines=np.array(lines, np.int64), sha256=opened.stream.sha256)


def _row(line: bytes, name: str, number: int) -> dict[str, Any]:
    try:
        row: Any = json.loads(line, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        said = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise InputError(f"is not JSON: {said}", _HINT, source=name, line=number) from error
    if not isinstance(row, dict):
        raise InputError("the line is no JSON object", _HINT, source=name, line=number)
    return row


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object in which no key stands twice: the later one would win in silence."""
    row = dict(pairs)
    if len(row) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return row


def _check(value: Any, meaning: str, name: str, number: int) -> None:
    if meaning in ("query", "document"):
        fits, what = isinstance(value, str) and value != "", "text that is not empty"
    else:
        fits = isinstance(value, int | float) and abs(value) <= sys.float_info.max  # neither NaN nor infinite
        what = "a finite number"
    if not fits:
        raise InputError(f"the {meaning} {value!r:.40} is not {what}", _HINT, source=name, line=number)
