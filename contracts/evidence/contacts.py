"""Where anchors and units of one document meet: every pair with how much of the anchor the unit holds.

A whole document without a known length is a span whose end nobody knows: what depends on that end is null. A unit with
an id and no span is a part of its document, nobody knows which: it holds what is asked for by its id, no other span.
"""

from __future__ import annotations

import polars as pl
from metricpact.contracts.evidence.tables import DOCUMENT

WHOLE = 2**62
"""Stands for the end of a document whose length is not known; beyond every end that can be stated."""


def with_lengths(frame: pl.DataFrame, lengths: pl.DataFrame | None) -> pl.DataFrame:
    """Anchors or units with ``begin`` and ``until`` for start and end, ``WHOLE`` where the end is not known.

    ``lengths`` (source, document, revision, length) tells how long the current revisions are; the whole of one is a
    span of that length.
    """
    begin = pl.col("start").fill_null(0).alias("begin")
    if lengths is None:
        return frame.with_columns(begin, pl.col("end").fill_null(WHOLE).alias("until"))
    known = frame.join(
        lengths.rename({"revision": "current"}), on=DOCUMENT, how="left", nulls_equal=True, maintain_order="left"
    )
    is_current = (pl.col("revision") == pl.col("current")) | pl.col("revision").is_null() | pl.col("current").is_null()
    length = pl.when(is_current).then(pl.col("length"))
    return known.with_columns(begin, pl.coalesce("end", length, pl.lit(WHOLE)).alias("until")).drop("current", "length")


def contacts(anchors: pl.DataFrame, units: pl.DataFrame) -> pl.DataFrame:
    """One row for every anchor and every unit of the same task, source and document.

    Both sides bear ``begin`` and ``until``. Columns: anchor, bundle, task, rank, revision (the unit's), agrees (the
    unit is of the revision that the anchor names, or it names none), contained (the whole anchor lies in the unit),
    low and high (the part of the anchor that the unit holds), begin and until (the anchor's), share (of the
    anchor that lies in the unit) and iou (intersection over union); the last two are null where they depend on a
    place or a length that is not known.
    """
    pairs = anchors.select("anchor", "bundle", "task", *DOCUMENT, "revision", "unit", "start", "begin", "until").join(
        units.select(
            "task",
            *DOCUMENT,
            pl.col("rank"),
            pl.col("revision").alias("of_revision"),
            pl.col("unit").alias("of_unit"),
            (pl.col("unit").is_not_null() & pl.col("start").is_null()).alias("unplaced"),
            pl.col("begin").alias("from"),
            pl.col("until").alias("to"),
        ),
        on=["task", *DOCUMENT],
        how="inner",
        nulls_equal=True,
    )
    by_unit = pl.col("unit").is_not_null()
    same_unit = (pl.col("unit") == pl.col("of_unit")).fill_null(value=False)
    # A unit named by its id alone is met as a whole or not at all.
    by_id_only = by_unit & pl.col("start").is_null()
    inside = (pl.col("from") <= pl.col("begin")) & (pl.col("until") <= pl.col("to"))
    agrees = pl.col("revision").is_null() | (pl.col("revision") == pl.col("of_revision")).fill_null(value=False)
    low, high = pl.max_horizontal("from", "begin"), pl.min_horizontal("to", "until")
    common = (high - low).clip(0)
    size = pl.col("until") - pl.col("begin")
    joint = pl.max_horizontal("to", "until") - pl.min_horizontal("from", "begin")
    unknown_size = pl.col("until") == WHOLE
    unknown_joint = (pl.col("until") == WHOLE) != (pl.col("to") == WHOLE)
    share = pl.when(inside).then(1.0).when(common == 0).then(0.0).when(~unknown_size).then(common / size)
    iou = pl.when(common == 0).then(0.0).when(~unknown_joint).then(common / joint)
    whole_unit = pl.when(same_unit).then(1.0).otherwise(0.0)
    elsewhere = by_unit & ~same_unit
    anywhere = pl.col("unplaced") & ~by_unit
    inside = inside | pl.col("unplaced")  # what is left is a span inside the very unit
    return pairs.select(
        "anchor",
        "bundle",
        "task",
        "rank",
        pl.col("of_revision").alias("revision"),
        agrees.alias("agrees"),
        pl.when(by_id_only)
        .then(same_unit)
        .when(elsewhere | anywhere)
        .then(statement=False)
        .otherwise(inside)
        .alias("contained"),
        pl.when(elsewhere | anywhere).then(0).otherwise(low).alias("low"),
        pl.when(elsewhere | anywhere).then(0).otherwise(high).alias("high"),
        "begin",
        "until",
        pl.when(by_id_only | elsewhere).then(whole_unit).when(~anywhere).then(share).alias("share"),
        pl.when(by_id_only | elsewhere).then(whole_unit).when(~pl.col("unplaced")).then(iou).alias("iou"),
    )
