"""The functions about evidence that a Python program calls: coverage, decisions, absence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metricpact.contracts.evidence.decisions import Endpoints
    from metricpact.crosscheck.evidence.absence import AbsenceReport
    from metricpact.crosscheck.evidence.coverage import Coverage
    from metricpact.crosscheck.evidence.decisions import DecisionReport


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


def decisions(
    source: Any,
    endpoints: str | PathLike[str] | Endpoints | Mapping[str, Sequence[str]],
    *,
    states: Sequence[str] | None = None,
    unresolved: Sequence[str] = (),
    confidence: float = 0.95,
) -> DecisionReport:
    """Precision and recall of decisions for each endpoint, over all items.

    ``source`` is a path or dicts with item, state, label, label_source; ``endpoints`` a TOML file, or names with their
    states, for which ``states`` are all that there are and ``unresolved`` those that are no decision yet. Raises
    ``MetricpactError``; ``DependencyError`` where scipy, which the intervals need, is not installed.
    """
    from metricpact.bridges.evidence.decisions import read_decisions, read_endpoints
    from metricpact.contracts.errors import ContractError
    from metricpact.contracts.evidence.decisions import Endpoints
    from metricpact.crosscheck.evidence.decisions import audit_decisions
    from metricpact.crosscheck.slices.intervals import IntervalOptions

    lists = [states or (), unresolved, *(endpoints.values() if isinstance(endpoints, Mapping) else ())]
    if not isinstance(endpoints, str | PathLike | Mapping | Endpoints) or any(isinstance(one, str) for one in lists):
        raise ContractError("states are lists of names", 'write {"promotion": ["validated"]}, states=["validated", …]')
    if isinstance(endpoints, Mapping):
        read = read_decisions(source)
        if not states:
            seen = ",".join(read.items["state"].unique(maintain_order=True))
            raise ContractError("the states are not declared", f"declare all that there are; the items are in: {seen}")
        ends = Endpoints(tuple(states), {name: tuple(of) for name, of in endpoints.items()}, tuple(unresolved))
    else:
        ends = endpoints if isinstance(endpoints, Endpoints) else read_endpoints(endpoints)
        read = read_decisions(source)
    return audit_decisions(read, ends, IntervalOptions(confidence))


def absence(source: Any) -> AbsenceReport:
    """What a controller did where an answer is declared absent or present, and whether it kept its own rules.

    ``source`` is a path or dicts: needs with a declared judgement and a trace. Raises ``InputError``, also for qrels,
    which do not declare absence.
    """
    from metricpact.bridges.evidence.absence import read_absence
    from metricpact.crosscheck.evidence.absence import audit_absence

    return audit_absence(read_absence(source))
