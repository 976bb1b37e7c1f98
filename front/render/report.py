"""What a command has to say, apart from how it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Table:
    """A titled table: text, integer and float columns; null is shown as undefined."""

    title: str
    frame: pl.DataFrame


@dataclass(frozen=True)
class Report:
    """One command's result.

    ``tables`` and ``lines`` are what people read. ``document`` is the JSON document, ``records`` its rows one by
    one, ``frame`` one flat table, ``trec`` trec_eval's lines at some number of decimals; None where a command has
    no such form. ``texts`` are forms of single commands, by the name of the format.
    """

    tables: list[Table]
    document: Callable[[], Mapping[str, Any]]
    records: Callable[[], Iterable[Mapping[str, Any]]]
    frame: Callable[[], pl.DataFrame]
    lines: list[str] = field(default_factory=list)
    trec: Callable[[int], str] | None = None
    texts: Mapping[str, Callable[[], str]] = field(default_factory=dict)
