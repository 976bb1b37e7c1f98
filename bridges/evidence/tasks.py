"""Tasks from files and Python objects: the project's own form, groups of documents, and the forms of data sets."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from metricpact.bridges.evidence.adapters import ADAPTERS
from metricpact.bridges.evidence.documents import Record, checked, json_records, object_records, read_source
from metricpact.contracts.errors import InputError
from metricpact.contracts.evidence.tables import ANCHOR, Columns, Tasks, check_tasks

TASKS = "tasks"
_HINT = 'a line reads {"task": …, "bundles": [{"anchors": [{"document": …}]}]} or {"task": …, "groups": [[…]]}'


def read_tasks(source: Any, *, format: str | None = None, underscores: bool = False) -> Tasks:  # noqa: A002 # the flag's name
    """Tasks from a path (JSON lines or JSON; ``-`` is standard input) or from dicts of the same form.

    ``format`` names a data set's form (see ``ADAPTERS``); without it a record is a task with bundles or with
    groups. ``underscores`` writes blanks in document ids as ``_``, as TREC files have to. Raises ``InputError`` with
    file, line and task.
    """
    if isinstance(source, Tasks):
        return source
    if format is not None and format not in ADAPTERS:
        raise InputError(f"{format!r} is not a form of tasks", f"choose from: {', '.join(ADAPTERS)}")
    if isinstance(source, str | os.PathLike):
        text = read_source(source)
        if text.first not in (b"{", b"["):
            raise text.error("is not a file of tasks: it is not JSON", _HINT)
        name, digest, records = text.name, text.sha256, json_records(text)
    else:
        name, digest, records = TASKS, None, object_records(source, TASKS)
    if not records:
        raise InputError("there is no task", _HINT, source=name)
    notes: tuple[str, ...] = ()
    if format is not None:
        records, notes = ADAPTERS[format](records, name)
        if not records:
            raise InputError(f"no record has evidence ({'; '.join(notes)})", "check the form", source=name)
    tasks = _tasks(records, name)
    if underscores:
        tasks = [_underscored(task) for task in tasks]
    return check_tasks(_tables(tasks, name, notes, digest))


def _tasks(records: Iterable[Record], name: str) -> list[Record]:
    """The records as tasks with bundles, each checked against its schema."""
    made = []
    for record in records:
        if isinstance(record.value, Mapping) and "groups" in record.value and "bundles" not in record.value:
            identity = "task" if "task" in record.value else "query_id"
            (fine,) = checked([record], "groups", name, identity)
            bundles = [
                {"anchors": [{"document": one} for one in dict.fromkeys(group)]} for group in fine.value["groups"]
            ]
            made.append(Record(record.line, {"task": fine.value[identity], "bundles": bundles}))
        else:
            made += checked([record], "task", name, "task", "; a data set's own file needs --format")
    return made


def _underscored(task: Record) -> Record:
    """A task whose document ids hold no blanks."""

    def mended(anchor: Mapping[str, Any]) -> dict[str, Any]:
        return {**anchor, "document": anchor["document"].replace(" ", "_")} if "document" in anchor else dict(anchor)

    bundles = [{**one, "anchors": [mended(anchor) for anchor in one["anchors"]]} for one in task.value["bundles"]]
    conflicts = [
        {side: [mended(anchor) for anchor in one[side]] for side in ("opposing", "resolved_by") if side in one}
        for one in task.value.get("conflicts", [])
    ]
    value = {**task.value, "bundles": bundles}
    return Record(task.line, value | ({"conflicts": conflicts} if "conflicts" in task.value else {}))


_NUMBER = pl.UInt32
_TASK: Columns = {"task": pl.String, "line": pl.Int64, "examined": pl.Boolean}
_COMPONENT: Columns = {
    **{"component": _NUMBER, "bundle": _NUMBER, "task": _NUMBER},
    **{"bundle_name": pl.String, "name": pl.String, "absent": pl.String},
}
_ANCHOR: Columns = {"anchor": _NUMBER, "component": _NUMBER, "bundle": _NUMBER, "task": _NUMBER, **ANCHOR}
_OPPOSITION: Columns = {"conflict": _NUMBER, "task": _NUMBER, "resolves": pl.Boolean, **ANCHOR}


def _tables(records: list[Record], name: str, notes: tuple[str, ...], digest: str | None) -> Tasks:
    """The records, which have the form of tasks, as tables that number bundles, components, anchors and conflicts."""
    rows = _Rows()
    for code, record in enumerate(records):
        value = record.value
        rows.tasks.append((value["task"], record.line, "conflicts" in value))
        for place, bundle in enumerate(value["bundles"], 1):
            fault = rows.add_bundle(code, bundle.get("bundle", str(place)), bundle["anchors"])
            if fault:
                raise InputError(
                    f"task {value['task']!r}: component {fault!r} is declared absent and has another entry",
                    "a component has anchors, or is declared absent once",
                    source=name,
                    line=record.line,
                    query=value["task"],
                )
        for rule in value.get("conflicts", []):
            rows.add_conflict(code, rule)
    return Tasks(
        name,
        pl.DataFrame(rows.tasks, _TASK, orient="row"),
        pl.DataFrame(rows.components, _COMPONENT, orient="row"),
        pl.DataFrame(rows.anchors, _ANCHOR, orient="row"),
        pl.DataFrame(rows.oppositions, _OPPOSITION, orient="row"),
        notes,
        digest,
    )


@dataclass
class _Rows:
    """The rows of the four tables while they are collected."""

    tasks: list[tuple[Any, ...]] = field(default_factory=list)
    components: list[tuple[Any, ...]] = field(default_factory=list)
    anchors: list[tuple[Any, ...]] = field(default_factory=list)
    oppositions: list[tuple[Any, ...]] = field(default_factory=list)
    bundles: int = 0
    conflicts: int = 0

    def add_bundle(self, task: int, name: str, entries: list[Mapping[str, Any]]) -> str | None:
        """Add a bundle; returns the component that is declared absent and has another entry, if there is one."""
        numbers: dict[str, int] = {}
        absent: set[str] = set()
        for place, entry in enumerate(entries, 1):
            part = entry.get("component", str(place))
            if part in absent or (part in numbers and "absent" in entry):
                return str(part)
            if part not in numbers:
                numbers[part] = len(self.components)
                self.components.append((numbers[part], self.bundles, task, name, part, entry.get("absent")))
            if "absent" in entry:
                absent.add(part)
            else:
                self.anchors.append((len(self.anchors), numbers[part], self.bundles, task, *_anchor(entry)))
        self.bundles += 1
        return None

    def add_conflict(self, task: int, rule: Mapping[str, Any]) -> None:
        """Add a conflict rule."""
        for side, resolves in (("opposing", False), ("resolved_by", True)):
            self.oppositions += [(self.conflicts, task, resolves, *_anchor(entry)) for entry in rule.get(side, [])]
        self.conflicts += 1


def _anchor(anchor: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(whole(anchor.get(key)) if key in ("start", "end") else anchor.get(key) for key in ANCHOR)


def whole(value: Any) -> int | None:
    """An offset as an integer: JSON may write 12 as 12.0."""
    return None if value is None else int(value)
