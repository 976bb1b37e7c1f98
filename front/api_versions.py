"""The functions that a Python program calls on versions of a system: slices, comparisons, gates, records."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from metricpact.bridges.evaluate import DEFAULT_MEASURES
from metricpact.bridges.registry import DEFAULT_BACKEND
from metricpact.contracts.errors import ContractError, InputError
from metricpact.contracts.measures import parse_measures
from metricpact.contracts.scores import Scores
from metricpact.inputs import ContractLike, Measures, judgments_from, named_runs, named_sources, profile_under, texts

if TYPE_CHECKING:
    import polars as pl
    from metricpact.crosscheck.compare.comparison import Comparison
    from metricpact.crosscheck.gate.result import GateResult
    from metricpact.crosscheck.records.diff import RecordDiff
    from metricpact.crosscheck.records.record import Record
    from metricpact.crosscheck.slices.tabulate import SliceScores


def slices(
    source: Any,
    runs: Any = None,
    measures: Measures | None = None,
    contract: ContractLike = "chapter",
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
    by, cross, across = _columns(by), _crossings(cross), texts(across)
    records = source if isinstance(source, list | tuple) else [source]
    if runs is None and holds_record(records):
        ways: dict[str, Any] = {"table": table, "by": by, "cross": cross, "min_n": min_n, "across": across}
        ways["none_policy"] = none_policy
        return slice_recorded(records, wanted, options=IntervalOptions(**intervals), **ways)
    if across:
        raise ContractError("across is for records", "runs that are scored now have one set and one contract")
    how: dict[str, Any] = {"k": k, "by": by, "cross": cross, "min_n": min_n}
    how |= {"options": IntervalOptions(**intervals), "profile": profile_under(contract, set), "backend": backend}
    if runs is None:
        return slice_known_items(source, wanted, none_policy=none_policy, **how)
    if none_policy is not None:
        raise ContractError("none_policy is for a table with NONE questions", "judgments hold none: leave it out")
    return slice_judged_runs(judgments_from(source), named_runs(runs), wanted, table, **how)


def compare(
    qrels: Any,
    base: Any = None,
    candidates: Any = (),
    measures: Measures | None = None,
    contract: ContractLike = "chapter",
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
    from metricpact.crosscheck.records.record import Record
    from metricpact.crosscheck.records.recorded_runs import compare_recorded, holds_record

    wanted = None if measures is None else parse_measures(measures)
    across = texts(across)
    how: dict[str, Any] = {"by": _columns(by), "cross": _crossings(cross), "all_pairs": all_pairs}
    how["options"] = ComparisonOptions.of(**options)
    how |= {"profile": profile_under(contract, set), "backend": backend}
    others = named_sources(candidates, "candidate")
    sources = [base, *others.values()]
    if holds_record(sources):
        mapped = isinstance(candidates, Mapping)
        plain = ["base", *others]
        names = [
            name if (mapped and at) or not isinstance(source, str | PathLike | Record) else None
            for at, (name, source) in enumerate(zip(plain, sources, strict=True))
        ]
        return compare_recorded(qrels, sources, wanted, table=slices, across=across, names=names, **how)
    if across:
        raise ContractError("across is for records", "runs that are scored now have one set and one contract")
    if base is None:
        items = qrels if isinstance(qrels, KnownItems) else read_known_items(qrels)
        return compare_known_items(items, wanted, k=k, **how)
    runs = named_runs([base], "base")
    for name, run in named_runs(candidates, "candidate").items():
        if name in runs:
            raise InputError(f"two runs are called {name!r}", "give every run a name of its own")
        runs[name] = run
    return compare_judged_runs(
        judgments_from(qrels), runs, wanted or parse_measures(DEFAULT_MEASURES), table=slices, **how
    )


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
    return diff(sides[0], sides[1], texts(across))


def export_records(file: str | PathLike[str], ids: Iterable[int] | None = None) -> pl.DataFrame:
    """Whole records as one table: a row a record, query and measure, with labels, hashes, signature and slices."""
    from metricpact.crosscheck.records.flat import flat
    from metricpact.crosscheck.records.recall import load_records

    wanted = None if ids is None else list(ids)
    if wanted == []:
        raise InputError("no record is named", "leave out ids for all of them")
    return flat(load_records(str(file), wanted))


def _columns(by: Iterable[str] | None) -> list[str] | None:
    return None if by is None else texts(by)


def _crossings(cross: Iterable[Sequence[str]]) -> list[Sequence[str]]:
    """Crossings, each a list of columns or, as on the command line, their names between commas."""
    return [one.split(",") if isinstance(one, str) else one for one in ([cross] if isinstance(cross, str) else cross)]
