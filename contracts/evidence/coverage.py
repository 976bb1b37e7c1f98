"""Coverage of obligations: from hits on anchors to components, bundles and tasks.

A bundle is covered when the units jointly hold every anchor of it; single-unit sufficiency asks that one unit holds
them all; a component that is declared absent is never covered. Source: the chapter, "Cover the obligation, not merely
a label".
"""

from __future__ import annotations

import polars as pl
from metricpact.contracts.evidence.rules import NO, YES
from metricpact.contracts.evidence.tables import DOCUMENT, Tasks


def covered_components(tasks: Tasks, hits: pl.DataFrame) -> pl.DataFrame:
    """The components with ``hit``: the least hit among their anchors; ``NO`` where they are declared absent.

    ``hits`` holds anchor and hit; an anchor that is not in it was not found.
    """
    by_component = (
        tasks.anchors.select("anchor", "component")
        .join(hits, on="anchor", how="left")
        .group_by("component")
        .agg(pl.col("hit").fill_null(NO).min())
    )
    return tasks.components.join(by_component, on="component", how="left", maintain_order="left").with_columns(
        pl.col("hit").fill_null(NO)
    )


def covered_tasks(tasks: Tasks, components: pl.DataFrame) -> pl.DataFrame:
    """One row a task, in order: hit (over its bundles); bundle and nearest (number and name of the bundle with the
    greatest share of components covered, the first of equals); components and found (how many it has, and covered).
    """
    bundles = components.group_by("bundle", "task", "bundle_name").agg(
        pl.col("hit").min(), pl.len().alias("components"), (pl.col("hit") == YES).sum().alias("found")
    )
    share = pl.col("found") / pl.col("components")
    nearest = bundles.sort("task", share, "bundle", descending=[False, True, False])
    by_task = nearest.group_by("task", maintain_order=True).agg(
        pl.col("hit").max(),
        pl.col("bundle").first(),
        pl.col("bundle_name").first().alias("nearest"),
        pl.col("components").first().cast(pl.Int64),
        pl.col("found").first().cast(pl.Int64),
    )
    return _per_task(tasks).join(by_task, on="task", how="left", maintain_order="left")


def lacking(tasks: Tasks, components: pl.DataFrame, covered: pl.DataFrame) -> pl.Series:
    """For every task, the components of its nearest bundle that are not covered, named in one text; null for none.

    ``components`` and ``covered`` are what ``covered_components`` and ``covered_tasks`` give.
    """
    name = pl.when(pl.col("absent").is_null()).then("name").otherwise(pl.format("{} (absent)", "name"))
    open_ones = components.filter(pl.col("hit") != YES).join(covered.select("bundle"), on="bundle", how="semi")
    by_task = open_ones.group_by("task").agg(name.sort_by("component").str.join(", ").alias("lacking"))
    return _per_task(tasks).join(by_task, on="task", how="left", maintain_order="left")["lacking"]


def lost_anchors(tasks: Tasks, candidates: pl.DataFrame, selected: pl.DataFrame) -> pl.DataFrame:
    """The anchors that some candidate contains and no selected unit does: the rows of ``tasks.anchors``, with
    candidate_rank. Both sides are contacts."""
    holds = pl.col("agrees") & pl.col("contained")
    first = candidates.filter(holds).group_by("anchor").agg(pl.col("rank").min().alias("candidate_rank"))
    kept = selected.filter(holds).select("anchor").unique()
    return tasks.anchors.join(first.join(kept, on="anchor", how="anti"), on="anchor", maintain_order="left")


def completion(tasks: Tasks, found: pl.DataFrame) -> pl.DataFrame:
    """One row a task: completed_at, the least rank at which one of its bundles has every anchor inside some unit, or
    null. ``found`` are contacts (see ``contacts``)."""
    first = (
        found.filter(pl.col("agrees") & pl.col("contained")).group_by("anchor").agg(pl.col("rank").min().alias("rank"))
    )
    at = tasks.anchors.select("anchor", "bundle", "task").join(first, on="anchor", how="left")
    at = at.join(_possible_bundles(tasks), on="bundle", how="semi")
    by_bundle = at.group_by("bundle", "task").agg(
        pl.when(pl.col("rank").null_count() == 0).then(pl.col("rank").max()).alias("completed_at")
    )
    by_task = by_bundle.group_by("task").agg(pl.col("completed_at").min())
    return _per_task(tasks).join(by_task, on="task", how="left", maintain_order="left")


def single_unit(tasks: Tasks, found: pl.DataFrame) -> pl.DataFrame:
    """One row a task: single_unit, whether one unit holds every anchor of one of its bundles."""
    held = (
        found.filter(pl.col("agrees") & pl.col("contained"))
        .group_by("task", "bundle", "rank")
        .agg(pl.col("anchor").n_unique().alias("held"))
    )
    needed = (
        tasks.anchors.group_by("bundle")
        .agg(pl.len().alias("needed"))
        .join(_possible_bundles(tasks), on="bundle", how="semi")
    )
    sufficient = held.join(needed, on="bundle", how="inner").filter(pl.col("held") == pl.col("needed"))
    return _per_task(tasks).select(
        "task", pl.col("task").is_in(sufficient["task"].unique().implode()).alias("single_unit")
    )


def document_recall(tasks: Tasks, units: pl.DataFrame) -> pl.DataFrame:
    """One row a task: documents (that any of its bundles names) and returned (how many of them the units are of).

    That is what flat judgments see: alternatives and declared absence vanish in them.
    """
    wanted = tasks.anchors.select("task", *DOCUMENT).unique()
    there = units.select("task", *DOCUMENT).unique().with_columns(pl.lit(value=True).alias("there"))
    by_task = (
        wanted.join(there, on=["task", *DOCUMENT], how="left", nulls_equal=True)
        .group_by("task")
        .agg(pl.len().cast(pl.Int64).alias("documents"), pl.col("there").count().cast(pl.Int64).alias("returned"))
    )
    return (
        _per_task(tasks)
        .join(by_task, on="task", how="left", maintain_order="left")
        .with_columns(pl.col("documents").fill_null(0), pl.col("returned").fill_null(0))
    )


def coverable(tasks: Tasks, ineligible: pl.DataFrame | None = None) -> pl.Series:
    """For every task, whether any unit could cover it: a bundle without absent components and ineligible anchors."""
    possible = _possible_bundles(tasks)
    if ineligible is not None:
        barred = tasks.anchors.join(ineligible.select("anchor"), on="anchor", how="semi")
        possible = possible.join(barred, on="bundle", how="anti")
    return _per_task(tasks)["task"].is_in(possible["task"].unique().implode()).alias("coverable")


def standing_oppositions(tasks: Tasks, contained: pl.DataFrame) -> pl.DataFrame:
    """The conflicts (task, conflict) of which an opposing anchor was found and no resolving one.

    ``contained`` holds the numbers (column opposition, rows of ``tasks.oppositions``) of the anchors that were found.
    """
    rows = tasks.oppositions.with_row_index("opposition").join(
        contained.with_columns(pl.lit(value=True).alias("found")), on="opposition", how="left"
    )
    found = pl.col("found").fill_null(value=False)
    by_conflict = rows.group_by("task", "conflict").agg(
        (found & ~pl.col("resolves")).any().alias("opposed"), (found & pl.col("resolves")).any().alias("resolved")
    )
    return by_conflict.filter(pl.col("opposed") & ~pl.col("resolved")).select("task", "conflict")


def _possible_bundles(tasks: Tasks) -> pl.DataFrame:
    """The bundles (bundle, task) in which no component is declared absent."""
    return tasks.components.group_by("bundle", "task").agg(pl.col("absent").count()).filter(pl.col("absent") == 0)


def _per_task(tasks: Tasks) -> pl.DataFrame:
    return tasks.tasks.select(pl.int_range(pl.len(), dtype=pl.UInt32).alias("task"))
