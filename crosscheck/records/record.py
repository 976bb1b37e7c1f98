"""A record: scores, with the versions of what was scored and of what it was scored on."""

from __future__ import annotations

import platform
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from metricpact.contracts.errors import InputError
from metricpact.contracts.version import VERSION
from metricpact.crosscheck.records.reference import Reference

if TYPE_CHECKING:
    import polars as pl
    from metricpact.contracts.scores import Scores

SCHEMA = "metricpact.record/1"
LABELS = ("component", "component_version", "set_name", "set_version", "note")
"""The fields of ``Labels``, as the columns of tables."""


@dataclass(frozen=True)
class Labels:
    """What was scored (a component and its version), on what (a query set and its version), and a free note.

    Raises ``InputError`` for a name or version that is empty or has control characters.
    """

    component: str
    component_version: str
    set_name: str
    set_version: str
    note: str = ""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not isinstance(value, str) or not value.isprintable() or (not value.strip() and name != "note"):
                raise InputError(f"{name} {value!r} is no name", "name it by text on one line that is not empty")

    @property
    def query_set(self) -> str:
        """The set's name and version."""
        return f"{self.set_name} {self.set_version}"


@dataclass(frozen=True, eq=False)
class Record:
    """One record as kept.

    ``recorded`` is the time in UTC; ``environment`` what it was recorded in; ``slices`` has the column query_id and one
    text column a slice; ``none_questions`` query_id, ranked_ids (lists), response and nearest_id. Both may be None.
    """

    reference: Reference
    recorded: str
    labels: Labels
    environment: Mapping[str, Any]
    scores: Scores
    slices: pl.DataFrame | None = None
    none_questions: pl.DataFrame | None = None

    def about(self) -> dict[str, Any]:
        """What stands at the head of the record's documents: id, time and labels."""
        labels = self.labels
        return {
            "id": self.reference.id,
            "recorded": self.recorded,
            "component": {"name": labels.component, "version": labels.component_version},
            "set": {"name": labels.set_name, "version": labels.set_version},
            "note": labels.note,
            "environment": dict(self.environment),
        }

    def to_document(self, *, by_query: bool = True) -> dict[str, Any]:
        """The record as ``metricpact.record/1``, its scores within as ``metricpact.scores/1``."""
        document = {"schema": SCHEMA, **self.about(), "scores": self.scores.to_document(by_query=by_query)}
        if by_query:
            for name, table in (("slices", self.slices), ("none_questions", self.none_questions)):
                document[name] = None if table is None else table.to_dicts()
        return document


def environment() -> dict[str, Any]:
    """The software of this process. What computed the scores is said by themselves: ``backend``, signatures."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "metricpact": VERSION,
        **{name: version(name) for name in ("numpy", "polars")},
        "sqlite": sqlite3.sqlite_version,
    }
