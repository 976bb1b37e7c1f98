"""Records as one flat table, for spreadsheets and databases."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from metricpact.crosscheck.records.record import Record


def flat(records: Sequence[Record]) -> pl.DataFrame:
    """One row a record, query and measure, with the record's labels, hashes, signature and slice columns."""
    return pl.concat([_flat(one) for one in records], how="diagonal")


def _flat(record: Record) -> pl.DataFrame:
    signatures = record.scores.signatures
    rows = record.scores.to_polars().with_columns(
        pl.col("measure").replace_strict(dict(signatures), return_dtype=pl.String).alias("signature"),
    )
    if record.slices is not None:
        named = {name: f"slice.{name}" for name in record.slices.columns if name != "query_id"}
        rows = rows.join(record.slices.rename(named), on="query_id", how="left", maintain_order="left")
    hashes = {f"{name}_sha256": record.scores.inputs.get(name, {}).get("sha256") for name in ("qrels", "run")}
    return rows.select(
        *label_columns(record), *(pl.lit(value, pl.String).alias(name) for name, value in hashes.items()), pl.all()
    )


def label_columns(record: Record) -> list[pl.Expr]:
    """The id, time and labels of a record, as columns for its rows."""
    text = {"recorded": record.recorded, **vars(record.labels)}
    return [
        pl.lit(record.reference.id, pl.Int64).alias("id"),
        *(pl.lit(value).alias(name) for name, value in text.items()),
    ]
