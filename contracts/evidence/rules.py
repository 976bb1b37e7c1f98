"""Hit rules: when an anchor counts as found. Tools differ in them, and the same units give other figures.

A rule gives every anchor ``NO``, ``UNKNOWN`` (a length that nobody stated decides) or ``YES``; all of a bundle is
the least of its anchors, any of several bundles the greatest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl
from metricpact.contracts.errors import ContractError

NO, UNKNOWN, YES = 0, 1, 2


@dataclass(frozen=True)
class Thresholds:
    """The least share of an anchor, and the least intersection over union, that count as a hit (above 0, up to 1)."""

    overlap: float = 0.5
    iou: float = 0.5

    def __post_init__(self) -> None:
        for name, value in (("overlap", self.overlap), ("iou", self.iou)):
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
                raise ContractError(f"{name} = {value!r} is no share", "give a number above 0 and up to 1")


@dataclass(frozen=True)
class Rule:
    """A hit rule: its name, what it asks of one anchor, and the hits (``anchor``, ``hit``) that contacts give."""

    name: str
    meaning: str
    hits: Callable[[pl.DataFrame], pl.DataFrame]


def rules(thresholds: Thresholds) -> list[Rule]:
    """The rules under which every required anchor has to be found, strictest first."""
    return [
        Rule("exact", "each anchor wholly inside one unit", exact_hits),
        Rule("union", "each anchor inside the units of its document taken together", union_hits),
        Rule(
            f"overlap>={thresholds.overlap:g}",
            f"one unit holds at least {thresholds.overlap:g} of each anchor",
            lambda found: _graded(found, "share", thresholds.overlap),
        ),
        Rule(
            f"iou>={thresholds.iou:g}",
            f"one unit meets each anchor with intersection over union of at least {thresholds.iou:g}",
            lambda found: _graded(found, "iou", thresholds.iou),
        ),
        Rule("document", "each anchor's document is there, whatever its revision and span", document_hits),
    ]


def exact_hits(found: pl.DataFrame) -> pl.DataFrame:
    """An anchor is hit where one unit of its revision contains all of it: the project's rule."""
    return _best(found, pl.when(pl.col("agrees") & pl.col("contained")).then(YES).otherwise(NO))


def document_hits(found: pl.DataFrame) -> pl.DataFrame:
    """An anchor is hit where any unit is of its document."""
    return found.select("anchor").unique().with_columns(pl.lit(YES, dtype=pl.Int8).alias("hit"))


def union_hits(found: pl.DataFrame) -> pl.DataFrame:
    """An anchor is hit where units of one revision, taken together, leave no character of it out."""
    of_revision = ["anchor", "revision"]
    parts = found.filter(pl.col("agrees") & ((pl.col("high") > pl.col("low")) | pl.col("contained")))
    # From left to right: a gap is where a part begins after everything before it has ended.
    reached = pl.col("high").cum_max().shift(1).over(of_revision, order_by="low")
    joined = parts.with_columns((pl.col("low") > pl.coalesce(reached, "begin")).alias("gap"))
    whole = (~pl.col("gap").any() & (pl.col("high").max() >= pl.col("until").first())) | pl.col("contained").any()
    by_revision = joined.group_by(of_revision).agg(whole.alias("whole"))
    return _best(by_revision, pl.when("whole").then(YES).otherwise(NO))


def _graded(found: pl.DataFrame, quantity: str, threshold: float) -> pl.DataFrame:
    """An anchor is hit where one unit of its revision reaches a threshold."""
    reached = (
        pl.when(~pl.col("agrees"))
        .then(NO)
        .when(pl.col(quantity).is_null())
        .then(UNKNOWN)
        # Shares are quotients of integers: 0.3 of 10 characters is not to fail by the last bit.
        .when(pl.col(quantity) >= threshold - 1e-12)
        .then(YES)
        .otherwise(NO)
    )
    return _best(found, reached)


def _best(frame: pl.DataFrame, hit: pl.Expr) -> pl.DataFrame:
    """The best hit of every anchor."""
    return frame.group_by("anchor").agg(hit.cast(pl.Int8).max().alias("hit"))
