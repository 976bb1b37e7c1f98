"""Selections: JSON lines, JSON, CSV, a TREC or JSON run (whole documents), Python objects."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from metricpact.bridges.evidence.documents import (
    Record,
    Source,
    checked,
    json_records,
    object_records,
    read_source,
)
from metricpact.bridges.evidence.selection_csv import header_of, read_csv
from metricpact.bridges.evidence.selection_lines import read_clean_lines
from metricpact.bridges.evidence.tasks import whole
from metricpact.bridges.sources.json_file import read_json_run
from metricpact.bridges.sources.streams import Stream
from metricpact.bridges.sources.trec import read_trec_run
from metricpact.contracts.contract import Contract
from metricpact.contracts.errors import InputError
from metricpact.contracts.evidence.tables import OFFSETS, UNIT, UNIT_FIELDS, Selection, check_selection
from metricpact.contracts.ordering import order_rankings
from metricpact.contracts.tables import Run

SELECTION = "selection"
TREC_COLUMNS = (5, 6)
"""A TREC run has a tag or has none."""
_HINT = (
    'a line reads {"task": …, "units": [{"document": …, "start": 0, "end": 9}]}; a CSV file has the columns task, '
    "document and, where they are known, unit, source, revision, start, end, text, rank; a TREC run is taken as whole "
    "documents"
)


def read_selection(source: Any, *, ranked: bool = True, name: str = SELECTION) -> Selection:
    """A selection from a path (``-`` is standard input), dicts ({"task", "units"}), {task: units}, or a ``Run``.

    Units stand in the order given (a CSV file may have a rank column; a run is ordered by score, as the default
    contract says); ``ranked=False`` says that the order means nothing. ``name`` stands for a Python object in
    errors. Raises ``InputError`` with file, line and task.
    """
    if isinstance(source, Selection):
        return source
    if isinstance(source, Run):
        made = _from_run(source, source.origin.sha256)
    elif isinstance(source, str | os.PathLike):
        made = _from_text(read_source(source))
    else:
        if isinstance(source, Mapping) and "units" not in source:
            source = [{"task": task, "units": units} for task, units in source.items()]
        made = _from_records(object_records(source, name), name, None)
    if not ranked:
        made = replace(made, ranked=False)
    return check_selection(made)


def _from_text(source: Source) -> Selection:
    if source.first in (b"{", b"["):
        clean = read_clean_lines(source)
        if clean is not None:
            return clean
        records = json_records(source)
        first = records[0].value
        if source.first == b"{" and isinstance(first, Mapping) and not {"task", "units"} & first.keys():
            run = read_json_run(Stream(source.name, io.BytesIO(source.data)), source.data)
            return _from_run(run, source.sha256)
        return _from_records(records, source.name, source.sha256)
    columns = header_of(source)
    if "task" in columns or "document" in columns:
        return read_csv(source)
    if len(source.data.split(b"\n", 1)[0].split()) not in TREC_COLUMNS:
        raise source.error("is no selection", _HINT, 1)
    stream = Stream(source.name, io.BytesIO(source.data))
    return _from_run(read_trec_run(stream, stream.slices(), None), source.sha256)


def _from_records(records: list[Record], name: str, sha256: str | None) -> Selection:
    """The exact reader: every record is held against the schema."""
    if not records:
        raise InputError("the selection holds no task", _HINT, source=name)
    rows: list[tuple[Any, ...]] = []
    answered: dict[str, int | None] = {}
    for record in checked(records, "selection", name, "task"):
        task = record.value["task"]
        if task in answered:
            raise _task_twice(task, name, record.line, answered[task])
        answered[task] = record.line
        rows += [(task, record.line, *_unit(unit)) for unit in record.value["units"]]
    units = pl.DataFrame(rows, UNIT, orient="row")
    return Selection(name, units, pl.Series("task", list(answered), dtype=pl.String), sha256=sha256)


def _unit(unit: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(whole(unit.get(key)) if key in OFFSETS else unit.get(key) for key in UNIT_FIELDS)


def _task_twice(task: str, name: str, line: int | None, first: int | None) -> InputError:
    where = f" (first on line {first})" if first is not None else ""
    return InputError(
        f"task {task!r}: is there twice{where}",
        "give all units of a task in one record",
        source=name,
        line=line,
        query=task,
    )


def _from_run(run: Run, sha256: str | None) -> Selection:
    """The documents of a run as whole documents, ordered as the default contract says."""
    queries = np.arange(len(run.queries))
    ordered = order_rankings(run, queries, run.queries, Contract())
    rank = ordered.rank_of(np.arange(len(ordered.docs)))
    units = pl.DataFrame({"task": run.queries.gather(ordered.codes), "document": ordered.docs, "rank": rank})
    units = units.sort("rank", maintain_order=True).drop("rank")
    missing = [pl.lit(None, dtype=kind).alias(name) for name, kind in UNIT.items() if name not in units.columns]
    units = units.with_columns(missing).select(*UNIT)
    return Selection(run.origin.name, units, run.queries.alias("task"), sha256=sha256)
