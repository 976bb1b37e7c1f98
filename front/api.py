"""The functions that a Python program calls."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from metricpact.bridges.evaluate import DEFAULT_MEASURES, evaluate
from metricpact.bridges.registry import DEFAULT_BACKEND
from metricpact.bridges.sources.choose import read_judgments
from metricpact.bridges.sources.choose import read_run as read_run_source
from metricpact.contracts.contract import Contract
from metricpact.contracts.errors import ContractError, InputWarning
from metricpact.contracts.measures import Measure
from metricpact.contracts.profiles import Profile, load_profile
from metricpact.contracts.scores import Scores
from metricpact.contracts.tables import Judgments, Run

if TYPE_CHECKING:
    from metricpact.bridges.sinks.convert import Converted
    from metricpact.crosscheck.lint.lint import LintReport

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

    ``qrels`` and ``run`` are what ``read_qrels`` and ``read_run`` take, or ``Judgments`` and ``Run``; nothing passed in
    is changed. ``contract`` is a profile's name, a TOML file, a ``Contract`` or a ``Profile``; ``set`` changes single
    fields of it (``{"gain": "linear"}``). Raises ``MetricpactError``: see ``metricpact.contracts.errors``.
    """
    profile = load_profile(contract if isinstance(contract, Contract | Profile) else str(contract))
    if set is not None and not isinstance(set, Mapping):
        raise ContractError(f"set={set!r} sets nothing", 'write set={"gain": "linear"}')
    if set:
        profile = profile.with_fields(set)
    return evaluate(_told(read_judgments(qrels)), read_run_source(run), measures, profile, backend)


def read_qrels(source: Any, *, format: str | None = None, split: str = "test") -> Judgments:  # noqa: A002 # the flag's name
    """Judgments from a file, a BEIR folder, an id of ir_datasets, or a Python object.

    ``source`` is a path (``-`` is standard input), an id such as ``beir/scifact/test``, a dict of dicts, a frame
    (pandas, polars, pyarrow, duckdb: columns query_id, doc_id, relevance under their usual names), named tuples, or a
    data set object. ``format`` forces a format by name, ``split`` chooses the qrels of a folder. Raises ``InputError``
    with file and line; warns (``InputWarning``) of what is odd and can be read.
    """
    return _told(read_judgments(source, format=format, split=split))


def read_run(source: Any, *, format: str | None = None) -> Run:  # noqa: A002 # the flag's name
    """A run from a file or a Python object; raises ``InputError`` with file and line.

    ``source`` is a path, a dict of dicts, a dict of lists of ids, a frame with a query, a document, and a score or rank
    column, or named tuples. ``format`` forces a format by name.
    """
    return read_run_source(source, format=format)


def lint(
    qrels: Any,
    *runs: Any,
    cutoffs: Iterable[int] = (10,),
    format: str | None = None,  # noqa: A002 # the flag's name
    run_format: str | None = None,
    split: str = "test",
    limit: int = 20,
) -> LintReport:
    """Every finding in judgments and runs (whatever ``score`` takes), none of them fatal to the next.

    ``report.findings`` have a code, severity, message, file, lines and hint; ``report.passed(strict=True)`` says
    whether there is none that is graver than a note. Raises ``InputError`` only where no input can be opened.
    """
    from metricpact.crosscheck.lint.lint import lint as find

    return find(qrels, runs, cutoffs=tuple(cutoffs), format=format, run_format=run_format, split=split, limit=limit)


def convert(
    source: Any,
    target: str | PathLike[str],
    *,
    to: str | None = None,
    kind: str | None = None,
    format: str | None = None,  # noqa: A002 # the flag's name
    split: str = "test",
    tag: str | None = None,
    drop: Iterable[str] = (),
    force: bool = False,
) -> Converted:
    """Write judgments or a run (whatever ``score`` takes) in another format, lossless or refused.

    See ``metricpact convert --help`` for the formats. Raises ``InputError``, and then nothing is written.
    """
    from metricpact.bridges.sinks.convert import convert as write

    return write(source, target, to=to, kind=kind, format=format, split=split, tag=tag, drop=tuple(drop), force=force)


def _told(judgments: Judgments) -> Judgments:
    """The judgments, after warnings of what is odd about where they came from."""
    for note in judgments.origin.notes:
        warnings.warn(f"{judgments.origin.name}: {note}", InputWarning, stacklevel=3)
    return judgments
