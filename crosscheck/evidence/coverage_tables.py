"""The tables that a coverage report is made of: decisions, unit counts, refused units, lost anchors, totals."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
from metricpact.contracts.evidence.integrity import REASONS
from metricpact.contracts.evidence.tables import Tasks
from metricpact.crosscheck.evidence.sides import Side

ACCEPTED, REFUSED, UNEXAMINED = "accepted", "refused", "unexamined"


def decision_columns(tasks: Tasks, covered: pl.Series, opposed: pl.DataFrame) -> list[pl.Series]:
    """The validator's decision apart from coverage, and its reason."""
    frame = tasks.tasks.select(
        "examined", pl.int_range(pl.len(), dtype=pl.UInt32).is_in(opposed["task"].unique().implode()).alias("opposed")
    ).with_columns(covered.alias("covered"))
    decision = (
        pl.when(~pl.col("covered") | pl.col("opposed"))
        .then(pl.lit(REFUSED))
        .when("examined")
        .then(pl.lit(ACCEPTED))
        .otherwise(pl.lit(UNEXAMINED))
    )
    reason = (
        pl.when(~pl.col("covered"))
        .then(pl.lit("not covered"))
        .when("opposed")
        .then(pl.lit("unresolved opposition"))
        .when(~pl.col("examined"))
        .then(pl.lit("no conflict rule declared"))
    )
    return frame.select(decision.alias("decision"), reason.alias("reason")).get_columns()


def unit_columns(tasks: Tasks, side: Side) -> list[pl.Series]:
    """How many units of each task were looked at, and how many of them are refused: units, refused_units."""
    counts = side.units.group_by("task").agg(
        pl.len().cast(pl.Int64).alias("units"), pl.col("refusal").count().cast(pl.Int64).alias("refused_units")
    )
    rows = pl.select(pl.int_range(len(tasks), dtype=pl.UInt32).alias("task"))
    joined = rows.join(counts, on="task", how="left", maintain_order="left")
    return joined.select(pl.col("units", "refused_units").fill_null(0)).get_columns()


def lost_rows(tasks: Tasks, table: pl.DataFrame, lost: pl.DataFrame) -> pl.DataFrame:
    """One row a lost anchor of a task that is not covered: task, bundle, component, candidate_rank, the anchor."""
    names = tasks.components.select("component", "bundle_name", "name")
    codes = table.select(pl.int_range(pl.len(), dtype=pl.UInt32).alias("task"), pl.col("task").alias("id"), "covered")
    told = lost.join(codes.filter(~pl.col("covered")), on="task", maintain_order="left")
    told = told.join(names, on="component", maintain_order="left")
    return told.select(
        pl.col("id").alias("task"),
        pl.col("bundle_name").alias("bundle"),
        pl.col("name").alias("component"),
        "candidate_rank",
        "source",
        "document",
        "revision",
        "unit",
        "start",
        "end",
    )


def refused_units(side: Side) -> pl.DataFrame:
    """One row a refused unit: task, rank, line, unit, source, document, revision, start, end, refusal, meaning."""
    refused = side.units.filter(pl.col("refusal").is_not_null())
    return refused.select(
        pl.col("id").alias("task"),
        "rank",
        "line",
        "unit",
        "source",
        "document",
        "revision",
        "start",
        "end",
        "refusal",
        pl.col("refusal").replace_strict(REASONS, return_dtype=pl.String).alias("meaning"),
    )


def totals(table: pl.DataFrame, signature: Callable[[str], str]) -> pl.DataFrame:
    """The numbers about all tasks; decisions are counted over the tasks that declare a conflict rule."""
    rows: list[tuple[str, float | None, int | None, int, str]] = []

    def add_count(quantity: str, flags: pl.Series) -> None:
        n, count = len(flags), int(flags.sum())
        rows.append((quantity, count / n if n else None, count, n, signature(quantity)))

    def add_mean(quantity: str, values: pl.Series) -> None:
        known = values.drop_nulls()
        mean = known.mean() if len(known) else None
        rows.append((quantity, mean if isinstance(mean, float) else None, None, len(known), signature(quantity)))

    add_count("bundle-coverage", table["covered"])
    add_count("single-unit-sufficiency", table["single_unit"])
    add_mean("components-covered", table["components_covered"] / table["components"])
    add_mean("completion-rank", table["completed_at"].cast(pl.Float64))
    add_count("coverable", table["coverable"])
    judged = table.filter(table["examined"])
    add_count("accepted", judged["decision"] == ACCEPTED)
    add_count("refused-though-covered", (judged["decision"] == REFUSED) & judged["covered"])
    if "lost" in table.columns:
        add_count("candidate-coverage", table["candidate_covered"])
        add_mean("candidate-components-covered", table["candidate_components"] / table["components"])
        add_count("lost-by-selection", table["lost"])
    schema = {"quantity": pl.String, "value": pl.Float64, "count": pl.Int64, "n": pl.Int64, "signature": pl.String}
    return pl.DataFrame(rows, schema, orient="row")
