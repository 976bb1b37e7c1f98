"""The functions that a Python program calls."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from metricpact.bridges.evaluate import DEFAULT_MEASURES, evaluate
from metricpact.bridges.registry import DEFAULT_BACKEND
from metricpact.bridges.sources.choose import read_judgments
from metricpact.bridges.sources.choose import read_run as read_run_source
from metricpact.contracts.contract import Contract
from metricpact.contracts.errors import ContractError, InputError
from metricpact.contracts.measures import Measure, parse_measures
from metricpact.contracts.profiles import Profile, load_profile, profile_names
from metricpact.contracts.scores import Scores
from metricpact.contracts.tables import Judgments, Run

if TYPE_CHECKING:
    import polars as pl
    from metricpact.crosscheck.audit.audit import Audit
    from metricpact.crosscheck.audit.infer import Inference
    from metricpact.crosscheck.compare.comparison import Comparison
    from metricpact.crosscheck.gate.result import GateResult
    from metricpact.crosscheck.records.diff import RecordDiff
    from metricpact.crosscheck.records.record import Record
    from metricpact.crosscheck.slices.tabulate import SliceScores

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

    ``qrels`` and ``run`` are paths (``-`` is standard input), dicts of dicts, dicts of lists of ids, named tuples,
    ``Judgments`` and ``Run``; nothing passed in is changed. ``contract`` is a profile's name, a TOML file, a
    ``Contract`` or a ``Profile``; ``set`` changes single fields of it (``{"gain": "linear"}``). ``bounds`` adds what
    P, R, RR, AP, nDCG and Success could be if unjudged documents of the prefix had grades up to ``max_grade`` (by
    default the largest in the judgments): ``scores.bounds``, ``scores.bounds_by_query(measure)``. Raises
    ``MetricpactError``: see ``metricpact.contracts.errors``.
    """
    profile = _profile(contract, set)
    return evaluate(
        read_judgments(qrels), read_run_source(run), measures, profile, backend, bounds=bounds, max_grade=max_grade
    )


def _profile(contract: str | PathLike[str] | Contract | Profile, changes: Mapping[str, Any] | None) -> Profile:
    profile = load_profile(contract if isinstance(contract, Contract | Profile) else str(contract))
    if changes is not None and not isinstance(changes, Mapping):
        raise ContractError(f"set={changes!r} sets nothing", 'write set={"gain": "linear"}')
    return profile.with_fields(changes or {})


def slices(
    source: Any,
    runs: Any = None,
    measures: Measures | None = None,
    contract: str | PathLike[str] | Contract | Profile = "chapter",
    backend: str = DEFAULT_BACKEND,
    *,
    table: Any = None,
    by: Sequence[str] | None = None,
    cross: Sequence[Sequence[str]] = (),
    k: int = 10,
    min_n: int = 30,
    none_policy: str | None = None,
    across: Collection[str] = (),
    set: Mapping[str, Any] | None = None,  # noqa: A002 # the command line's word for it
    **intervals: Any,
) -> SliceScores:
    """Score runs by slice: means with their intervals and counts, NONE questions beside them.

    ``source`` is a known-item table (a path); or judgments, with ``runs`` (a path, a list of them, or a mapping of
    names to runs) and a slice ``table`` (a path, a frame with query_id, or {query: {column: value}}); or
    records, ``"record:ID@FILE"`` or ``Record``, one or a list. ``across`` admits records of other sets ("set",
    "judgments"), which then are told apart by name. ``by`` chooses
    slice columns, ``cross`` crosses some; ``measures`` default to R@1, R@k and RR. ``intervals`` are the fields of
    ``IntervalOptions``: confidence, proportion, resamples, seed. Raises ``MetricpactError``.
    """
    from metricpact.crosscheck.records.recorded_runs import holds_record, slice_recorded
    from metricpact.crosscheck.slices.intervals import IntervalOptions
    from metricpact.crosscheck.slices.sources import slice_judged_runs, slice_known_items

    wanted = None if measures is None else parse_measures(measures)
    records = source if isinstance(source, list | tuple) else [source]
    if runs is None and holds_record(records):
        ways: dict[str, Any] = {"table": table, "by": by, "cross": cross, "min_n": min_n, "across": across}
        ways["none_policy"] = none_policy
        return slice_recorded(records, wanted, options=IntervalOptions(**intervals), **ways)
    if across:
        raise ContractError("across is for records", "runs that are scored now have one set and one contract")
    how: dict[str, Any] = {"k": k, "by": by, "cross": cross, "min_n": min_n}
    how |= {"options": IntervalOptions(**intervals), "profile": _profile(contract, set), "backend": backend}
    if runs is None:
        return slice_known_items(source, wanted, none_policy=none_policy, **how)
    return slice_judged_runs(read_judgments(source), named_runs(runs), wanted, table, **how)


def compare(
    qrels: Any,
    base: Any = None,
    candidates: Any = (),
    measures: Measures | None = None,
    contract: str | PathLike[str] | Contract | Profile = "chapter",
    backend: str = DEFAULT_BACKEND,
    *,
    slices: Any = None,
    by: Sequence[str] | None = None,
    cross: Sequence[Sequence[str]] = (),
    k: int = 10,
    all_pairs: bool = False,
    across: Collection[str] = (),
    set: Mapping[str, Any] | None = None,  # noqa: A002 # the command line's word for it
    **options: Any,
) -> Comparison:
    """Compare candidates with a base, paired by query: differences with intervals, tests and one correction.

    ``base`` is a run or its path; ``candidates`` a path, a list of runs or paths, or a mapping of names to runs;
    ``slices`` a slice table as in ``slices``. Or ``qrels`` is a known-item table (a path) alone, whose first run is
    the base. ``all_pairs`` holds every run against every later one. ``options`` are the fields of
    ``ComparisonOptions`` (test, correction, alpha, power) and of ``IntervalOptions`` (confidence, proportion,
    resamples, seed). ``"record:ID@FILE"`` or a ``Record`` may stand for any run, and ``qrels`` is None where all are;
    ``across`` admits records whose "set", "judgments" or "signature" differ, and labels their numbers. Raises
    ``MetricpactError``.
    """
    from metricpact.bridges.sources.known_item_table import KnownItems, read_known_items
    from metricpact.crosscheck.compare.options import ComparisonOptions
    from metricpact.crosscheck.compare.sources import compare_judged_runs, compare_known_items
    from metricpact.crosscheck.records.recorded_runs import compare_recorded, holds_record

    wanted = None if measures is None else parse_measures(measures)
    how: dict[str, Any] = {"by": by, "cross": cross, "all_pairs": all_pairs, "options": ComparisonOptions.of(**options)}
    how |= {"profile": _profile(contract, set), "backend": backend}
    sources = [base, *(candidates if isinstance(candidates, list | tuple) else [candidates])]
    if holds_record(sources):
        return compare_recorded(qrels, sources, wanted, table=slices, across=across, **how)
    if across:
        raise ContractError("across is for records", "runs that are scored now have one set and one contract")
    if base is None:
        items = qrels if isinstance(qrels, KnownItems) else read_known_items(str(qrels))
        return compare_known_items(items, wanted, k=k, **how)
    runs = named_runs([base], "base")
    for name, run in named_runs(candidates, "candidate").items():
        if name in runs:
            raise InputError(f"two runs are called {name!r}", "give every run a name of its own")
        runs[name] = run
    return compare_judged_runs(
        read_judgments(qrels), runs, wanted or parse_measures(DEFAULT_MEASURES), table=slices, **how
    )


def named_runs(runs: Any, word: str = "run") -> dict[str, Run]:
    """Runs by name: of a mapping of names to runs or paths, of a list of them, or of one.

    A path names its run; an object in a list is called by ``word`` and its place.
    """
    if not isinstance(runs, Mapping) or _is_run(runs):
        listed = runs if isinstance(runs, list | tuple) else [runs]
        runs = {
            str(run) if isinstance(run, str | PathLike) else word + (f" {at}" if len(listed) > 1 else ""): run
            for at, run in enumerate(listed, 1)
        }
    return {name: read_run_source(run) for name, run in runs.items()}


def _is_run(value: Mapping[Any, Any]) -> bool:
    """Whether a mapping is a run itself ({query: {document: score}}, {query: [ids]}), and not names with runs."""
    first = next(iter(value.values()), None)
    if isinstance(first, Mapping):
        return not isinstance(next(iter(first.values()), None), Mapping | list | tuple)
    return isinstance(first, list | tuple)


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
    judgments, read = read_judgments(qrels), _named_runs(runs)
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
    """Judgments from a file, a BEIR folder or a Python object; raises ``InputError`` with file and line."""
    return read_judgments(source, format=format, split=split)


def read_run(source: Any, *, format: str | None = None) -> Run:  # noqa: A002 # the flag's name
    """A run from a file or a Python object; raises ``InputError`` with file and line."""
    return read_run_source(source, format=format)


def gate(
    rules: str | PathLike[str] | Mapping[str, Any], qrels: Any, base: Any, candidate: Any, *, slices: Any = None
) -> GateResult:
    """Judge a candidate against a base: ``.verdict`` is pass, fail or cannot judge, ``.to_polars()`` a row a rule.

    ``rules`` is a TOML file, or the same as a dict. ``base`` and ``candidate`` are runs, ``Scores``, ``Record`` or
    "record:ID@FILE"; ``qrels`` may be None where both are scored already. Where ``qrels`` is the path of a known-item
    table, they are names of runs in it. Raises ``MetricpactError``.
    """
    from metricpact.crosscheck.gate.gate_file import load_gate
    from metricpact.crosscheck.gate.inputs import gate_inputs
    from metricpact.crosscheck.gate.judge import judge_gate

    loaded = load_gate(rules)
    found = gate_inputs(loaded, qrels, base, candidate, slices)
    return judge_gate(loaded, found.base, found.candidate, found.slices, found.none)


def add_record(
    file: str | PathLike[str],
    scores: Scores,
    *,
    component: str,
    component_version: str,
    set_name: str,
    set_version: str,
    note: str = "",
    slices: Any = None,
) -> int:
    """Keep scores in a records file, made where there is none; returns the record's id once it is on the disk.

    ``slices`` is a slice table: a path, a frame with query_id, or {query: {column: value}}. Safe beside other processes
    that add to the same file. Raises ``InputError`` for a file that is no records file (which stays as it is) and for
    labels that name nothing.
    """
    from metricpact.bridges.sources.slice_table import read_slice_table
    from metricpact.crosscheck.records.keep import add_record as add
    from metricpact.crosscheck.records.record import Labels

    labels = Labels(component, component_version, set_name, set_version, note)
    return add(str(file), scores, labels, None if slices is None else read_slice_table(slices)).id


def list_records(file: str | PathLike[str], **labels: str) -> pl.DataFrame:
    """The records of a file as a table of means: one row a record and measure, with counts and signature.

    ``component="search"``, ``component_version``, ``set_name``, ``set_version`` and ``note`` keep those that are so.
    """
    from metricpact.crosscheck.records.recall import list_records as listed

    return listed(str(file), labels)


def load_record(record: int | str, file: str | PathLike[str] | None = None) -> Record:
    """One record: ``.scores`` are ``Scores`` like fresh ones; raises ``InputError`` for one that is not there.

    ``record`` is an id in ``file``, or ``"record:ID@FILE"``.
    """
    from metricpact.crosscheck.records.recall import load_record as load
    from metricpact.crosscheck.records.reference import parse_reference

    return load(parse_reference(str(record), None if file is None else str(file)))


def diff_records(
    base: int | str | Record,
    candidate: int | str | Record,
    file: str | PathLike[str] | None = None,
    *,
    across: Iterable[str] = (),
) -> RecordDiff:
    """Two records paired by query id: ``.means`` a row a measure, ``.by_query`` a row a query and measure.

    Raises ``InputError`` where the set's version, the judgments or the signatures differ and ``across`` does not name
    that kind ("set", "judgments", "signature"); where it does, every number is labelled.
    """
    from metricpact.crosscheck.records.diff import diff_records as diff

    sides = [load_record(one, file) if isinstance(one, int | str) else one for one in (base, candidate)]
    return diff(sides[0], sides[1], list(across))


def export_records(file: str | PathLike[str], ids: Iterable[int] | None = None) -> pl.DataFrame:
    """Whole records as one table: a row a record, query and measure, with labels, hashes, signature and slices."""
    from metricpact.crosscheck.records.flat import flat
    from metricpact.crosscheck.records.recall import load_records

    return flat(load_records(str(file), None if ids is None else list(ids)))


def infer(qrels: Any, run: Any, published: Mapping[Any, Any], *, changes: int = 2) -> Inference:
    """The contracts that give published means: ``infer(qrels, run, {"nDCG@10": "0.4973"})``.

    Numbers are read as they are written (see ``metricpact.crosscheck.audit.published``), so text keeps trailing
    zeros. The shipped profiles are tried, then their neighbours with up to ``changes`` fields changed (0, 1 or 2).
    """
    from metricpact.crosscheck.audit.infer import infer as search

    return search(read_judgments(qrels), read_run_source(run), published, changes=changes)
