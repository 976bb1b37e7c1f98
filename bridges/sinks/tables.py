"""Tables under a header (tsv, csv, jsonl, parquet, arrow): query_id, doc_id and grade, or score and rank."""

from __future__ import annotations

from typing import IO

import polars as pl
from metricpact.bridges.sinks.rows import frame_of, refuse_empty, refuse_ids
from metricpact.contracts.tables import Judgments, Run, Table


def write_tsv(table: Judgments | Run, file: IO[bytes]) -> None:
    """Write columns between tabs, unquoted; raises ``InputError`` for ids that cannot stand there."""
    refuse_empty(table, "tsv")
    refuse_untabbed(table, "tsv")
    write_tabbed(frame_of(table), file)


def write_csv(table: Judgments | Run, file: IO[bytes]) -> None:
    """Write columns between commas, quoted where need be."""
    refuse_empty(table, "csv")
    refuse_ids(table, r"\x00", "csv", "no text holds a zero byte")
    frame_of(table).write_csv(file)


def write_jsonl(table: Judgments | Run, file: IO[bytes]) -> None:
    """Write a JSON object a row."""
    refuse_empty(table, "jsonl")
    frame_of(table).write_ndjson(file)


def write_parquet(table: Judgments | Run, file: IO[bytes]) -> None:
    """Write Parquet."""
    refuse_empty(table, "parquet")
    frame_of(table).write_parquet(file)


def write_arrow(table: Judgments | Run, file: IO[bytes]) -> None:
    """Write an Arrow IPC file (Feather 2)."""
    refuse_empty(table, "arrow")
    frame_of(table).write_ipc(file)


def refuse_untabbed(table: Table, name: str) -> None:
    """Raise ``InputError`` for ids that hold what ends a field, or begin with a quote, which some readers take off."""
    refuse_ids(table, r"[\x00-\x1f\x7f]", name, "control characters end a field there")
    refuse_ids(table, r'^"', name, "some readers take a quote at its start as the mark of a quoted field")


def write_tabbed(frame: pl.DataFrame, file: IO[bytes]) -> None:
    """Write a frame between tabs under its header, unquoted."""
    frame.write_csv(file, separator="\t", quote_style="never")
