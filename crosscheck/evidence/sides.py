"""One set of units settled against the tasks: cut, examined, and where it meets their anchors."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
from metricpact.contracts.errors import InputError
from metricpact.contracts.evidence.contacts import contacts, with_lengths
from metricpact.contracts.evidence.integrity import examine, lengths
from metricpact.contracts.evidence.tables import DOCUMENT, Inventory, Selection, Tasks, check_sources


@dataclass(frozen=True, eq=False)
class Side:
    """Units of known tasks within the cutoff, with ``refusal`` and ``text_checked``; those that count (``eligible``);
    their contacts with the anchors (``found``) and the rows of ``tasks.oppositions`` that they contain (``opposing``).
    """

    units: pl.DataFrame
    eligible: pl.DataFrame
    found: pl.DataFrame
    opposing: pl.Series


def settle(tasks: Tasks, selection: Selection, k: int | None, inventory: Inventory | None) -> Side:
    """Cut at ``k``, refuse what the inventory refuses (a refused unit keeps its rank), and meet the anchors.

    Raises ``InputError`` for a selection that shares no task with the tasks, or names sources where they do not.
    """
    if not selection.answered.is_in(tasks.tasks["task"].implode()).any():
        raise InputError(
            f"{selection.name} and {tasks.name} share no task",
            f"ids look like {tasks.tasks['task'][0]!r} there, and like {_first(selection.answered)} here",
            source=selection.name,
        )
    check_sources(tasks, selection)
    units = selection.with_codes(tasks, k)
    if inventory is None:
        known = None
        unexamined = (pl.lit(None, dtype=pl.String).alias("refusal"), pl.lit(value=False).alias("text_checked"))
        units = units.with_columns(unexamined)
        eligible = units
    else:
        known = lengths(inventory)
        units = examine(units, inventory)
        eligible = _versioned(units.filter(pl.col("refusal").is_null()), inventory)
    measured = with_lengths(eligible, known)
    rules = tasks.oppositions.with_row_index("anchor").with_columns(pl.lit(0, dtype=pl.UInt32).alias("bundle"))
    met = contacts(with_lengths(rules, known), measured)
    return Side(
        units,
        eligible,
        contacts(with_lengths(tasks.anchors, known), measured),
        met.filter(pl.col("agrees") & pl.col("contained"))["anchor"].unique(),
    )


def _versioned(units: pl.DataFrame, inventory: Inventory) -> pl.DataFrame:
    """A reference without a revision means the current one."""
    current = inventory.documents.select(*DOCUMENT, pl.col("revision").alias("current"))
    joined = units.join(current, on=DOCUMENT, how="left", nulls_equal=True, maintain_order="left")
    return joined.with_columns(pl.coalesce("revision", "current").alias("revision")).drop("current")


def _first(ids: pl.Series) -> str:
    return repr(ids[0]) if len(ids) else "nothing"
