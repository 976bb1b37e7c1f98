"""The functions that a Python program calls to read and to score; the others are in the modules beside this one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from metricpact.bridges.evaluate import DEFAULT_MEASURES, evaluate
from metricpact.bridges.registry import DEFAULT_BACKEND
from metricpact.bridges.sources.choose import read_run as read_run_from
from metricpact.contracts.scores import Scores
from metricpact.contracts.tables import Judgments, Run
from metricpact.inputs import ContractLike, Measures, judgments_from, profile_under


def score(
    qrels: Any,
    run: Any,
    measures: Measures = DEFAULT_MEASURES,
    contract: ContractLike = "chapter",
    backend: str = DEFAULT_BACKEND,
    *,
    set: Mapping[str, Any] | None = None,  # noqa: A002 # the command line's word for it
    bounds: bool = False,
    max_grade: int | None = None,
    tie_bounds: bool = False,
) -> Scores:
    """Score a run against judgments under a contract.

    ``qrels`` and ``run`` are what ``read_qrels`` and ``read_run`` take, or ``Judgments`` and ``Run``; nothing passed in
    is changed. ``contract`` is a profile's name, a TOML file, a ``Contract`` or a ``Profile``; ``set`` changes single
    fields of it (``{"gain": "linear"}``). ``bounds`` adds what P, R, RR, AP, nDCG and Success could be if unjudged
    documents of the prefix had grades up to ``max_grade`` (by default the largest in the judgments):
    ``scores.bounds``, ``scores.bounds_by_query(measure)``. ``tie_bounds`` adds the least, greatest and expected value
    over all orders of tied documents: ``scores.tie_bounds``, ``scores.tie_bounds_by_query(measure)``. Raises
    ``MetricpactError``: see ``metricpact.contracts.errors``.
    """
    return evaluate(
        judgments_from(qrels),
        read_run_from(run),
        measures,
        profile_under(contract, set),
        backend,
        bounds=bounds,
        max_grade=max_grade,
        tie_bounds=tie_bounds,
    )


def bounds(
    qrels: Any,
    run: Any,
    measures: Measures = DEFAULT_MEASURES,
    contract: ContractLike = "chapter",
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
    contract: ContractLike = "chapter",
    backend: str = DEFAULT_BACKEND,
    *,
    set: Mapping[str, Any] | None = None,  # noqa: A002 # the command line's word for it
) -> Scores:
    """Scores with their bounds over the orders of ties: ``score`` with ``tie_bounds=True``."""
    return score(qrels, run, measures, contract, backend, set=set, tie_bounds=True)


def read_qrels(source: Any, *, format: str | None = None, split: str = "test") -> Judgments:  # noqa: A002 # the flag's name
    """Judgments from a file, a BEIR folder, an id of ir_datasets, or a Python object.

    ``source`` is a path (``-`` is standard input), an id such as ``beir/scifact/test``, a dict of dicts, a frame
    (pandas, polars, pyarrow, duckdb: columns query_id, doc_id, relevance under their usual names), named tuples, or a
    data set object. ``format`` forces a format by name, ``split`` chooses the qrels of a folder. Raises ``InputError``
    with file and line; warns (``InputWarning``) of what is odd and can be read.
    """
    return judgments_from(source, format=format, split=split)


def read_run(source: Any, *, format: str | None = None) -> Run:  # noqa: A002 # the flag's name
    """A run from a file or a Python object; raises ``InputError`` with file and line.

    ``source`` is a path, a dict of dicts, a dict of lists of ids, a frame with a query, a document, and a score or rank
    column, or named tuples. ``format`` forces a format by name.
    """
    return read_run_from(source, format=format)
