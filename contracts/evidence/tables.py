"""Tasks, selections and inventories as frozen columnar tables: what coverage is computed from.

A task has bundles (any one suffices), a bundle has components (all are required), a component has anchors (all are
required) or is declared absent. Identity is (source, document); a missing source is a source of its own. Rows are
linked by zero-based numbers that count through the whole file.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
from metricpact.contracts.errors import InputError

Columns = dict[str, type[pl.DataType]]
PLACE: Columns = {"source": pl.String, "document": pl.String, "revision": pl.String}
SPAN: Columns = {"start": pl.Int64, "end": pl.Int64, "text": pl.String}
ANCHOR: Columns = {**PLACE, "unit": pl.String, **SPAN}
"""An anchor's own columns: a span (start, end), a whole unit, or a whole document."""
UNIT: Columns = {"task": pl.String, "line": pl.Int64, "unit": pl.String, **PLACE, **SPAN}
"""The columns of a selection, in order of rank within a task; ``line`` is null where there are no lines."""
UNIT_FIELDS = [name for name in UNIT if name not in ("task", "line")]
"""What is said of a unit by itself."""
OFFSETS = ("start", "end")
DOCUMENT = ["source", "document"]
"""What identifies a document."""
EMPTY_SPAN = (pl.col("end") <= pl.col("start")) | (pl.col("end").is_null() != pl.col("start").is_null())
SPAN_HINT = "start counts characters from 0, end is the character after the last one; give both or none"


@dataclass(frozen=True, eq=False)
class Tasks:
    """Obligations.

    ``tasks``: task (id), line, examined (a conflict rule is declared, be it empty). ``components``: component,
    bundle, task (row of ``tasks``), bundle_name, name, absent (the reason, or null). ``anchors``: anchor, component,
    bundle, task and ``ANCHOR``. ``oppositions``: conflict, task, resolves (else it opposes) and ``ANCHOR``.
    """

    name: str
    tasks: pl.DataFrame
    components: pl.DataFrame
    anchors: pl.DataFrame
    oppositions: pl.DataFrame
    notes: tuple[str, ...] = ()
    sha256: str | None = None

    def __len__(self) -> int:
        return self.tasks.height

    def error(self, task: int, fact: str, hint: str = "", *, document: str | None = None) -> InputError:
        """An error at one task, naming file, line and task."""
        row = self.tasks.row(task, named=True)
        return InputError(
            f"task {row['task']!r}: {fact}",
            hint,
            source=self.name,
            line=row["line"],
            query=row["task"],
            document=document,
        )


@dataclass(frozen=True, eq=False)
class Selection:
    """Returned units (``UNIT``), and every task that was answered at all, an empty packet included.

    ``ranked`` says whether the order within a task means anything.
    """

    name: str
    units: pl.DataFrame
    answered: pl.Series
    ranked: bool = True
    sha256: str | None = None

    def with_codes(self, tasks: Tasks, k: int | None) -> pl.DataFrame:
        """The units of known tasks among the first ``k`` of each: task (row of ``tasks``), id, rank (from 1), unit …"""
        codes = tasks.tasks.select(pl.col("task").alias("id"), pl.int_range(pl.len(), dtype=pl.UInt32).alias("task"))
        ranked = self.units.rename({"task": "id"}).with_columns(
            pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("id").alias("rank")
        )
        first = ranked if k is None else ranked.filter(pl.col("rank") <= k)
        return first.join(codes, on="id", how="inner", maintain_order="left")

    def error(self, row: dict[str, object], fact: str, hint: str = "") -> InputError:
        """An error at one unit (a row of ``units``), naming file, line, task and document."""
        task, line, document = row["task"], row["line"], row["document"]
        return InputError(
            f"task {task!r}: {fact}",
            hint,
            source=self.name,
            line=line if isinstance(line, int) else None,
            query=str(task),
            document=str(document),
        )


@dataclass(frozen=True, eq=False)
class Inventory:
    """The declared sources.

    ``documents``: line, source, document, revision (the current one or null), revisions and revoked_revisions (lists or
    null), revoked, restricted, length, text, sha256. ``spans``: source, document, start, end, sha256.
    """

    name: str
    documents: pl.DataFrame
    spans: pl.DataFrame
    sha256: str


def check_tasks(tasks: Tasks) -> Tasks:
    """The tasks, if no contract could reject them; raises ``InputError`` for a task twice or a span that is empty."""
    twice = tasks.tasks.with_row_index("at").filter(~pl.col("task").is_first_distinct())
    if twice.height:
        first = tasks.tasks.filter(pl.col("task") == twice["task"][0])["line"][0]
        where = f" (first on line {first})" if first is not None else ""
        raise tasks.error(twice["at"][0], f"is there twice{where}", "give every task once, with all its bundles")
    for frame, word in ((tasks.anchors, "anchor"), (tasks.oppositions, "anchor of the conflict rule")):
        empty = frame.filter(EMPTY_SPAN).head(1)
        for row in empty.iter_rows(named=True):
            raise tasks.error(
                row["task"], f"{word} {_span(row)} holds no character", SPAN_HINT, document=row["document"]
            )
        wrong = frame.filter(pl.col("text").str.len_chars() != pl.col("end") - pl.col("start")).head(1)
        for row in wrong.iter_rows(named=True):
            raise tasks.error(
                row["task"],
                f"{word} {_span(row)} has a text of {len(row['text'])} characters",
                "a span's text is what stands from start to end",
                document=row["document"],
            )
    return tasks


def check_selection(selection: Selection) -> Selection:
    """The selection, if no contract could reject it; raises ``InputError`` for a unit twice or an empty span."""
    units = selection.units
    for row in units.filter(EMPTY_SPAN).head(1).iter_rows(named=True):
        raise selection.error(row, f"unit {_span(row)} holds no character", SPAN_HINT)
    # A unit is known by its id within its document, else by its span.
    by_id = pl.col("unit").is_not_null()
    for keyed, keys in (
        (units.filter(by_id), ["task", *DOCUMENT, "unit"]),
        (units.filter(~by_id), ["task", *PLACE, "start", "end"]),
    ):
        twice = keyed.filter(~pl.struct(keys).is_first_distinct()).head(1)
        for row in twice.iter_rows(named=True):
            raise selection.error(
                row,
                f"unit {row['unit'] or _span(row)!r} of {_document(row)} is there twice",
                "the same unit cannot be found twice; drop the second one",
            )
    return selection


def check_inventory(inventory: Inventory) -> Inventory:
    """The inventory, if it is one; raises ``InputError`` for a document twice or a current revision that is revoked."""
    documents = inventory.documents
    for row in documents.filter(~pl.struct(DOCUMENT).is_first_distinct()).head(1).iter_rows(named=True):
        raise InputError(
            f"{_document(row)} is there twice",
            "give every (source, document) once, with its current revision",
            source=inventory.name,
            line=row["line"],
            document=row["document"],
        )
    wrong = documents.filter(pl.col("revision").is_in(pl.col("revoked_revisions")) & ~pl.col("revoked"))
    for row in wrong.head(1).iter_rows(named=True):
        raise InputError(
            f"the current revision {row['revision']!r} of {_document(row)} is among the revoked ones",
            "name the revision that holds now, or mark the document as revoked",
            source=inventory.name,
            line=row["line"],
            document=row["document"],
        )
    return inventory


def check_sources(tasks: Tasks, selection: Selection) -> None:
    """Refuse two sides of which one names sources and the other does not: nothing could match."""
    sides = {side.name: _sources(frame) for side, frame in ((tasks, tasks.anchors), (selection, selection.units))}
    named = [name for name, sources in sides.items() if sources]
    if len(sides) == 2 and len(named) == 1 and tasks.anchors.height and selection.units.height:
        silent = next(name for name in sides if name not in named)
        raise InputError(
            f"{named[0]} names sources ({', '.join(sides[named[0]][:3])}), {silent} does not",
            "a document is known by its source and id: name the source on both sides, or on neither",
            source=silent,
        )


def _sources(frame: pl.DataFrame) -> list[str]:
    return frame["source"].drop_nulls().unique(maintain_order=True).to_list()


def _span(row: dict[str, object]) -> str:
    return "(whole)" if row["start"] is None and row["end"] is None else f"[{row['start']}, {row['end']})"


def _document(row: dict[str, object]) -> str:
    source = f" of source {row['source']!r}" if row["source"] is not None else ""
    return f"document {row['document']!r}{source}"
