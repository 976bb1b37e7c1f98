"""What the reports about evidence share: numbers with their fractions, cells without a value."""

from __future__ import annotations

import polars as pl


def numbers_for_people(numbers: pl.DataFrame) -> pl.DataFrame:
    """quantity, value, count and n as quantity, value, the fraction that it is (or that it is a mean), and n."""
    fraction = pl.when(pl.col("count").is_null()).then(pl.lit("mean")).otherwise(pl.format("{}/{}", "count", "n"))
    return numbers.select("quantity", "value", fraction.alias("fraction"), "n")


def with_dashes(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with yes and no for truth values, and a dash where there is nothing to say (undefined is for numbers
    that could have had a value)."""
    shown = []
    for name, dtype in frame.schema.items():
        column = pl.col(name)
        if dtype == pl.Boolean:
            column = pl.when(column).then(pl.lit("yes")).otherwise(pl.lit("no")).alias(name)
        elif frame[name].null_count():
            column = column.cast(pl.String).fill_null("–")
        shown.append(column)
    return frame.select(shown)
