"""The functions that a Python program calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from metricpact.bridges.evaluate import DEFAULT_MEASURES, evaluate
from metricpact.bridges.registry import DEFAULT_BACKEND
from metricpact.bridges.sources.choose import read_judgments
from metricpact.bridges.sources.choose import read_run as read_run_source
from metricpact.contracts.contract import Contract
from metricpact.contracts.errors import ContractError
from metricpact.contracts.measures import Measure
from metricpact.contracts.profiles import Profile, load_profile
from metricpact.contracts.scores import Scores
from metricpact.contracts.tables import Judgments, Run

if TYPE_CHECKING:
    from metricpact.crosscheck.evidence.coverage import Coverage

Measures = str | Measure | Iterable[str | Measure]


def score(
    qrels: Any,
    run: Any,
    measures: Measures = DEFAULT_MEASURES,
    contract: str | PathLike[str] | Contract | Profile = "chapter",
    backend: str = DEFAULT_BACKEND,
    *,
    set: Mapping[str, Any] | None = None,  # noqa: A002 # the command line's word for it
) -> Scores:
    """Score a run against judgments under a contract.

    ``qrels`` and ``run`` are paths (``-`` is standard input), dicts of dicts, dicts of lists of ids, named tuples,
    ``Judgments`` and ``Run``; nothing passed in is changed. ``contract`` is a profile's name, a TOML file, a
    ``Contract`` or a ``Profile``; ``set`` changes single fields of it (``{"gain": "linear"}``). Raises
    ``MetricpactError``: see ``metricpact.contracts.errors``.
    """
    profile = load_profile(contract if isinstance(contract, Contract | Profile) else str(contract))
    if set is not None and not isinstance(set, Mapping):
        raise ContractError(f"set={set!r} sets nothing", 'write set={"gain": "linear"}')
    if set:
        profile = profile.with_fields(set)
    return evaluate(read_judgments(qrels), read_run_source(run), measures, profile, backend)


def read_qrels(source: Any, *, format: str | None = None, split: str = "test") -> Judgments:  # noqa: A002 # the flag's name
    """Judgments from a file, a BEIR folder or a Python object; raises ``InputError`` with file and line."""
    return read_judgments(source, format=format, split=split)


def read_run(source: Any, *, format: str | None = None) -> Run:  # noqa: A002 # the flag's name
    """A run from a file or a Python object; raises ``InputError`` with file and line."""
    return read_run_source(source, format=format)


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
