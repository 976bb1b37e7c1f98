"""Coverage reports: integrity first, then one packet under every hit rule, the decision, the candidates beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl
from metricpact.contracts.errors import ContractError
from metricpact.contracts.evidence.coverage import (
    completion,
    coverable,
    covered_components,
    lacking,
    lost_anchors,
    single_unit,
    standing_oppositions,
)
from metricpact.contracts.evidence.integrity import examine_anchors
from metricpact.contracts.evidence.rules import YES, Thresholds, exact_hits, rules
from metricpact.contracts.evidence.tables import Inventory, Selection, Tasks
from metricpact.contracts.version import VERSION
from metricpact.crosscheck.evidence.coverage_tables import (
    decision_columns,
    lost_rows,
    refused_units,
    totals,
    unit_columns,
)
from metricpact.crosscheck.evidence.side_by_side import claims, rule_table
from metricpact.crosscheck.evidence.sides import Side, settle


@dataclass(frozen=True, eq=False)
class Coverage:
    """What a selection covers.

    ``tasks`` has a row a task: task, covered, single_unit, components and components_covered (of the bundle that is
    nearest to being covered, ``bundle``; ``lacking`` names the others), completed_at (a rank, null where not covered or
    unranked), coverable, decision (accepted, refused, unexamined) and reason, units and refused_units; with a pool
    candidate_covered, candidate_components (covered ones) and lost. ``totals`` has a row a number about all tasks:
    quantity, value (null where n is 0), count (null for means), n, signature. ``rules`` has a row a hit rule,
    ``refusals`` a refused unit.

    ``lost_anchors`` (with a pool) has a row an anchor of an uncovered task that a candidate holds and no selected unit.
    ``missing`` are tasks without a packet (an empty one), ``extra`` packets without a task (ignored). ``unversioned``
    counts units that named no revision and were taken as current, ``unchecked`` eligible units whose text could not
    be compared, ``outside_pool`` selected units that the pool does not have.
    """

    tasks: pl.DataFrame
    totals: pl.DataFrame
    rules: pl.DataFrame
    refusals: pl.DataFrame
    lost_anchors: pl.DataFrame | None
    settings: Mapping[str, Any]
    inputs: Mapping[str, Mapping[str, Any]]
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    unversioned: int
    unchecked: int
    outside_pool: int | None
    notes: tuple[str, ...]


def cover(
    tasks: Tasks,
    selection: Selection,
    *,
    pool: Selection | None = None,
    inventory: Inventory | None = None,
    k: int | None = None,
    thresholds: Thresholds | None = None,
) -> Coverage:
    """Hold a selection against obligations.

    The first ``k`` units of each packet are looked at; the pool is taken whole. With an inventory a refused unit
    keeps its rank and counts for nothing. Raises ``InputError`` for sides that share no task and for anchors that the
    inventory contradicts, ``ContractError`` for a cutoff that is none.
    """
    _check_cutoff(k, selection)
    listed = rules(thresholds or Thresholds())
    barred, standing = None, pl.Series("anchor", [], dtype=pl.UInt32)
    if inventory is not None:
        anchors, oppositions = examine_anchors(tasks, inventory)
        barred = anchors.filter(pl.col("refusal").is_not_null())
        # What is restricted may not be shown, and opposes all the same.
        current = oppositions["refusal"].is_null() | (oppositions["refusal"] == "restricted").fill_null(value=False)
        standing = current.arg_true().alias("anchor")
    chosen = settle(tasks, selection, k, inventory)
    claimed = claims(tasks, chosen, listed)
    exact = claimed["exact"]
    hit = exact["hit"] == YES
    found = pl.concat([chosen.opposing, standing]).unique().alias("opposition").to_frame()
    table = pl.DataFrame(
        [
            tasks.tasks["task"],
            hit.alias("covered"),
            single_unit(tasks, chosen.found)["single_unit"],
            exact["components"],
            exact["found"].alias("components_covered"),
            exact["nearest"].alias("bundle"),
            lacking(tasks, covered_components(tasks, exact_hits(chosen.found)), exact),
            _completed_at(tasks, chosen, ranked=selection.ranked),
            coverable(tasks, barred),
            *decision_columns(tasks, hit, standing_oppositions(tasks, found)),
            *unit_columns(tasks, chosen),
        ]
    )
    outside = lost = None
    if pool is not None:
        candidates = settle(tasks, pool, None, inventory)
        theirs = claims(tasks, candidates, listed[:1])["exact"]
        table = table.with_columns(
            (theirs["hit"] == YES).alias("candidate_covered"),
            theirs["found"].alias("candidate_components"),
            ((theirs["hit"] == YES) & ~hit).alias("lost"),
        )
        keys = ["task", "source", "document", "revision", "unit", "start", "end"]
        lost = lost_rows(tasks, table, lost_anchors(tasks, candidates.found, chosen.found))
        outside = chosen.units.join(candidates.units, on=keys, how="anti", nulls_equal=True).height
    packet = f"@{k}" if k is not None else ""
    integrity = f"inventory:{inventory.sha256[:16]}" if inventory is not None else "none"
    tail = f"integrity={integrity}||metricpact:{VERSION}"
    ids = tasks.tasks["task"]
    return Coverage(
        tasks=table,
        totals=totals(table.with_columns(tasks.tasks["examined"]), lambda name: f"{name}{packet}|rule=exact|{tail}"),
        rules=rule_table(tasks, chosen, listed, claimed).with_columns(
            pl.format(f"bundle-coverage{packet}|rule={{}}|{tail}", "rule").alias("signature")
        ),
        refusals=refused_units(chosen),
        lost_anchors=lost,
        settings={"k": k, "ranked": selection.ranked, "rule": "exact", "integrity": integrity},
        inputs=_inputs(tasks=tasks, selection=selection, pool=pool, inventory=inventory),
        missing=tuple(ids.filter(~ids.is_in(selection.answered.implode()))),
        extra=tuple(selection.answered.filter(~selection.answered.is_in(ids.implode()))),
        unversioned=chosen.units["revision"].null_count() if inventory is not None else 0,
        unchecked=chosen.eligible.height - int(chosen.eligible["text_checked"].sum()) if inventory is not None else 0,
        outside_pool=outside,
        notes=(*tasks.notes, *_revision_note(tasks, chosen, inventory), *_unit_notes(chosen)),
    )


def _inputs(**sides: Tasks | Selection | Inventory | None) -> dict[str, dict[str, Any]]:
    return {name: {"path": side.name, "sha256": side.sha256} for name, side in sides.items() if side is not None}


def _revision_note(tasks: Tasks, side: Side, inventory: Inventory | None) -> tuple[str, ...]:
    """What to know where anchors name revisions and no unit does: only an inventory could say what units are of."""
    named = tasks.anchors["revision"].count()
    if inventory is not None or not named or not side.units.height or side.units["revision"].count():
        return ()
    return (f"{named} anchors name a revision and no unit does: without an inventory none of them is found whole",)


def _unit_notes(side: Side) -> Iterator[str]:
    """What to know about units whose place is not told, and about units that contradict themselves."""
    unplaced = (pl.col("unit").is_not_null() & pl.col("start").is_null()).sum()
    longer = (pl.col("text").str.len_chars() != pl.col("end") - pl.col("start")).sum()
    without, contrary = side.eligible.select(unplaced, longer.alias("contrary")).row(0)
    if without:
        yield f"{without} units have an id and no span: they hold what is asked for by that id, and no other span"
    if contrary:
        yield f"{contrary} units have a text of another length than their span; with an inventory they are refused"


def _check_cutoff(k: int | None, selection: Selection) -> None:
    if k is None:
        return
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ContractError(f"k = {k!r} is no cutoff", "a cutoff is an integer of at least 1")
    if not selection.ranked:
        raise ContractError("a cutoff on units without an order means nothing", "leave out k, or give ranked units")


def _completed_at(tasks: Tasks, side: Side, *, ranked: bool) -> pl.Series:
    at = completion(tasks, side.found)["completed_at"]
    return at if ranked else pl.Series("completed_at", [None] * len(at), dtype=at.dtype)
