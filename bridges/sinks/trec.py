"""TREC: qrels of four columns, runs of six, one blank between two."""

from __future__ import annotations

from typing import IO

import polars as pl
from metricpact.bridges.sinks.rows import frame_of, ranks_by_score, refuse_empty, refuse_fractions, refuse_ids
from metricpact.contracts.errors import InputError
from metricpact.contracts.tables import Judgments, Run, Table

NAME = "trec"
DEFAULT_TAG = "metricpact"


def write_qrels(judgments: Judgments, file: IO[bytes]) -> None:
    """Write judgments; raises ``InputError`` for ids with blanks, fractional grades, and queries without rows."""
    _check(judgments)
    refuse_fractions(judgments, NAME)
    frame = frame_of(judgments).select("query_id", pl.lit("0").alias("iteration"), "doc_id", "grade")
    _write(frame, file)


def write_run(run: Run, file: IO[bytes]) -> None:
    """Write a run; raises ``InputError`` for ids with blanks, rankings without scores, and queries without rows.

    A run without ranks gets those of its scores, one without a tag gets ``DEFAULT_TAG``.
    """
    _check(run)
    if run.scores is None:
        raise InputError(
            "the run has no scores, and trec does not go without", "json and parquet do", source=run.origin.name
        )
    tag = run.origin.tag or DEFAULT_TAG
    if tag.split() != [tag]:
        raise InputError(f"tag {tag!r} is not one word", "name one with --tag", source=run.origin.name)
    ranked = run if run.ranks is not None else _ranked(run)
    frame = frame_of(ranked).select(
        "query_id", pl.lit("Q0").alias("Q0"), "doc_id", "rank", "score", pl.lit(tag).alias("tag")
    )
    _write(frame, file)


def _ranked(run: Run) -> Run:
    from dataclasses import replace

    return replace(run, ranks=ranks_by_score(run))


def _check(table: Table) -> None:
    refuse_empty(table, NAME)
    refuse_ids(table, r"[ \t\r\n\x0b\x0c\x00]", NAME, "a blank ends an id there")
    refuse_ids(table, r"^[#\ufeff]", NAME, "a line that begins so is no row", of="query")


def _write(frame: pl.DataFrame, file: IO[bytes]) -> None:
    frame.write_csv(file, separator=" ", include_header=False, quote_style="never")
