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
    import polars as pl
    from metricpact.crosscheck.records.diff import RecordDiff
    from metricpact.crosscheck.records.record import Record

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


def add_record(
    file: str | PathLike[str],
    scores: Scores,
    *,
    component: str,
    component_version: str,
    set_name: str,
    set_version: str,
    note: str = "",
    slices: pl.DataFrame | None = None,
) -> int:
    """Keep scores in a records file, made where there is none; returns the record's id once it is on the disk.

    ``slices`` has the column query_id and text columns. Safe beside other processes that add to the same file. Raises
    ``InputError`` for a file that is no records file (which stays as it is) and for labels that name nothing.
    """
    from metricpact.crosscheck.records.keep import add_record as add
    from metricpact.crosscheck.records.record import Labels

    return add(str(file), scores, Labels(component, component_version, set_name, set_version, note), slices).id


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
