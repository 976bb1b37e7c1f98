"""The functions about evidence that a Python program calls: coverage, decisions, absence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metricpact.crosscheck.evidence.coverage import Coverage


def coverage(
    tasks: Any,
    selection: Any,
    *,
    pool: Any = None,
    inventory: Any = None,
    k: int | None = None,
    ranked: bool = True,
    overlap: float = 0.5,
    iou: float = 0.5,
    format: str | None = None,  # noqa: A002 # the flag's name
    underscores: bool = False,
) -> Coverage:
    """Whether selected units cover the evidence that tasks require.

    ``tasks``, ``selection``, ``pool`` and ``inventory`` are paths or dicts of the same form (see the schemas in
    ``metricpact/bridges/evidence/schemas``); a selection may be {task: units} or a ``Run`` too. ``k`` cuts every
    packet; ``ranked=False`` says that the order of units means nothing. ``overlap`` and ``iou`` are the thresholds of
    the rules so named; ``format`` and ``underscores`` are about the tasks. Raises ``MetricpactError``.
    """
    from metricpact.bridges.evidence.inventory import read_inventory
    from metricpact.bridges.evidence.selection import read_selection
    from metricpact.bridges.evidence.tasks import read_tasks
    from metricpact.contracts.evidence.rules import Thresholds
    from metricpact.crosscheck.evidence.coverage import cover

    return cover(
        read_tasks(tasks, format=format, underscores=underscores),
        read_selection(selection, ranked=ranked),
        pool=None if pool is None else read_selection(pool, name="pool"),
        inventory=None if inventory is None else read_inventory(inventory),
        k=k,
        thresholds=Thresholds(overlap, iou),
    )
