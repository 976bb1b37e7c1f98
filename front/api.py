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
from metricpact.contracts.measures import Measure, parse_measures
from metricpact.contracts.profiles import Profile, load_profile, profile_names
from metricpact.contracts.scores import Scores
from metricpact.contracts.tables import Judgments, Run

if TYPE_CHECKING:
    from metricpact.bridges.sinks.convert import Converted
    from metricpact.crosscheck.audit.audit import Audit
    from metricpact.crosscheck.audit.infer import Inference
    from metricpact.crosscheck.claims.verdicts import ClaimsReport
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
    bounds: bool = False,
    max_grade: int | None = None,
) -> Scores:
    """Score a run against judgments under a contract.

    ``qrels`` and ``run`` are what ``read_qrels`` and ``read_run`` take, or ``Judgments`` and ``Run``; nothing passed in
    is changed. ``contract`` is a profile's name, a TOML file, a ``Contract`` or a ``Profile``; ``set`` changes single
    fields of it (``{"gain": "linear"}``). ``bounds`` adds what P, R, RR, AP, nDCG and Success could be if unjudged
    documents of the prefix had grades up to ``max_grade`` (by default the largest in the judgments):
    ``scores.bounds``, ``scores.bounds_by_query(measure)``. Raises ``MetricpactError``: see
    ``metricpact.contracts.errors``.
    """
    profile = load_profile(contract if isinstance(contract, Contract | Profile) else str(contract))
    if set is not None and not isinstance(set, Mapping):
        raise ContractError(f"set={set!r} sets nothing", 'write set={"gain": "linear"}')
    if set:
        profile = profile.with_fields(set)
    judgments = _judgments(qrels)
    return evaluate(judgments, read_run_source(run), measures, profile, backend, bounds=bounds, max_grade=max_grade)


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


def audit(
    qrels: Any,
    runs: Any,
    measures: Measures | None = None,
    contract: str | PathLike[str] | Contract | Profile = "chapter",
    *,
    against: Iterable[str | PathLike[str] | Profile] | None = None,
    queries: Iterable[str] = (),
    top: int = 5,
    native: bool = True,
) -> Audit:
    """Hold runs under a contract against profiles: which convention makes which difference, and who wins then.

    ``runs`` is one run, or a mapping from names to runs (a mapping whose values are mappings or lists is a run).
    ``against`` names profiles (unless given all whose tool has the measure), ``queries`` are worked out line by line,
    ``top`` queries that move most are named; ``native`` also asks the installed libraries themselves, each in a
    process of its own. Raises ``MetricpactError``; data that a contract rejects is told in its place.
    """
    from metricpact.crosscheck.audit.audit import audit as held_against
    from metricpact.crosscheck.audit.native import has_measure, natives_of

    profile = load_profile(contract if isinstance(contract, Contract | Profile) else str(contract))
    names = profile_names() if against is None else against
    profiles = [load_profile(name if isinstance(name, Profile) else str(name)) for name in names]
    profiles = [one for one in profiles if one.base != profile.base or one.contract != profile.contract]
    judgments, read = _judgments(qrels), _named_runs(runs)
    wanted = parse_measures(DEFAULT_MEASURES if measures is None else measures)
    natives = natives_of(profiles, judgments, read, wanted) if native else {}
    asked = {one: [p for p in profiles if against is not None or has_measure(p, one)] for one in wanted}
    return held_against(judgments, read, wanted, profile, asked, natives=natives, queries=list(queries), top=top)


def _named_runs(runs: Any) -> dict[str, Run]:
    """Runs by name: a mapping of ``Run`` objects, paths or frames, or a single run under the name of its source."""
    if isinstance(runs, Mapping) and runs and not any(isinstance(one, Mapping | list | tuple) for one in runs.values()):
        return {str(name): read_run_source(one) for name, one in runs.items()}
    run = read_run_source(runs)
    return {run.origin.name: run}


def read_qrels(source: Any, *, format: str | None = None, split: str = "test") -> Judgments:  # noqa: A002 # the flag's name
    """Judgments from a file, a BEIR folder, an id of ir_datasets, or a Python object.

    ``source`` is a path (``-`` is standard input), an id such as ``beir/scifact/test``, a dict of dicts, a frame
    (pandas, polars, pyarrow, duckdb: columns query_id, doc_id, relevance under their usual names), named tuples, or a
    data set object. ``format`` forces a format by name, ``split`` chooses the qrels of a folder. Raises ``InputError``
    with file and line; warns (``InputWarning``) of what is odd and can be read.
    """
    return _judgments(source, format=format, split=split)


def read_run(source: Any, *, format: str | None = None) -> Run:  # noqa: A002 # the flag's name
    """A run from a file or a Python object; raises ``InputError`` with file and line.

    ``source`` is a path, a dict of dicts, a dict of lists of ids, a frame with a query, a document, and a score or rank
    column, or named tuples. ``format`` forces a format by name.
    """
    return read_run_source(source, format=format)


def infer(qrels: Any, run: Any, published: Mapping[Any, Any], *, changes: int = 2) -> Inference:
    """The contracts that give published means: ``infer(qrels, run, {"nDCG@10": "0.4973"})``.

    Numbers are read as they are written (see ``metricpact.crosscheck.audit.published``), so text keeps trailing
    zeros. The shipped profiles are tried, then their neighbours with up to ``changes`` fields changed (0, 1 or 2).
    """
    from metricpact.crosscheck.audit.infer import infer as search

    return search(_judgments(qrels), read_run_source(run), published, changes=changes)


def claims(path: str | PathLike[str]) -> ClaimsReport:
    """The claims of a TOML file (or of a shipped one: ``chapter``, ``cookbook``), recomputed; see its ``results``.

    ``metricpact.crosscheck.claims.check`` describes the file. Raises ``InputError`` with the line of what is wrong.
    """
    from metricpact.crosscheck.claims.check import check_claims

    return check_claims(str(path))


def _judgments(source: Any, *, format: str | None = None, split: str = "test") -> Judgments:  # noqa: A002 # the flag's name
    """The judgments, after warnings of what is odd about them; ``Judgments`` themselves were warned of before."""
    judgments = read_judgments(source, format=format, split=split)
    if not isinstance(source, Judgments):
        for note in judgments.origin.notes:
            warnings.warn(f"{judgments.origin.name}: {note}", InputWarning, stacklevel=3)
    return judgments


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
