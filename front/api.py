"""The functions that a Python program calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

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

Measures = str | Measure | Iterable[str | Measure]


def score(
    qrels: Any,
    run: Any,
    measures: Measures = DEFAULT_MEASURES,
    contract: str | PathLike[str] | Contract | Profile = "chapter",
    backend: str = DEFAULT_BACKEND,
    *,
    set: Mapping[str, Any] | None = None,  # noqa: A002 # the command line's word for it
    bounds: bool = False,
    max_grade: int | None = None,
    tie_bounds: bool = False,
) -> Scores:
    """Score a run against judgments under a contract.

    ``qrels`` and ``run`` are paths (``-`` is standard input), dicts of dicts, dicts of lists of ids, named tuples,
    ``Judgments`` and ``Run``; nothing passed in is changed. ``contract`` is a profile's name, a TOML file, a
    ``Contract`` or a ``Profile``; ``set`` changes single fields of it (``{"gain": "linear"}``). ``bounds`` adds what
    P, R, RR, AP, nDCG and Success could be if unjudged documents of the prefix had grades up to ``max_grade`` (by
    default the largest in the judgments): ``scores.bounds``, ``scores.bounds_by_query(measure)``. ``tie_bounds`` adds
    the least, greatest and expected value over all orders of tied documents: ``scores.tie_bounds``,
    ``scores.tie_bounds_by_query(measure)``. Raises ``MetricpactError``: see ``metricpact.contracts.errors``.
    """
    profile = load_profile(contract if isinstance(contract, Contract | Profile) else str(contract))
    if set is not None and not isinstance(set, Mapping):
        raise ContractError(f"set={set!r} sets nothing", 'write set={"gain": "linear"}')
    if set:
        profile = profile.with_fields(set)
    return evaluate(
        read_judgments(qrels),
        read_run_source(run),
        measures,
        profile,
        backend,
        bounds=bounds,
        max_grade=max_grade,
        tie_bounds=tie_bounds,
    )


def bounds(
    qrels: Any,
    run: Any,
    measures: Measures = DEFAULT_MEASURES,
    contract: str | PathLike[str] | Contract | Profile = "chapter",
    backend: str = DEFAULT_BACKEND,
    *,
    set: Mapping[str, Any] | None = None,  # noqa: A002 # the command line's word for it
    max_grade: int | None = None,
) -> Scores:
    """Scores with their bounds under missing judgments: ``score`` with ``bounds=True``."""
    return score(qrels, run, measures, contract, backend, set=set, bounds=True, max_grade=max_grade)


def tie_bounds(
    qrels: Any,
    run: Any,
    measures: Measures = DEFAULT_MEASURES,
    contract: str | PathLike[str] | Contract | Profile = "chapter",
    backend: str = DEFAULT_BACKEND,
    *,
    set: Mapping[str, Any] | None = None,  # noqa: A002 # the command line's word for it
) -> Scores:
    """Scores with their bounds over the orders of ties: ``score`` with ``tie_bounds=True``."""
    return score(qrels, run, measures, contract, backend, set=set, tie_bounds=True)


def read_qrels(source: Any, *, format: str | None = None, split: str = "test") -> Judgments:  # noqa: A002 # the flag's name
    """Judgments from a file, a BEIR folder or a Python object; raises ``InputError`` with file and line."""
    return read_judgments(source, format=format, split=split)


def read_run(source: Any, *, format: str | None = None) -> Run:  # noqa: A002 # the flag's name
    """A run from a file or a Python object; raises ``InputError`` with file and line."""
    return read_run_source(source, format=format)
