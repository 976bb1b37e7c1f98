"""Scores from the JSON document that ``metricpact score -o json -q`` writes: read back whole, or refused.

A document states its means and its signatures beside the values that they are made of; both are computed again, so
that one that was edited, cut or joined by hand is not taken for what a backend gave.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from metricpact.bridges.sources.streams import open_stream
from metricpact.contracts.contract import Contract, contract_from
from metricpact.contracts.definitions import REASONS
from metricpact.contracts.errors import ContractError, InputError, MetricpactError
from metricpact.contracts.measures import Measure, parse_measure
from metricpact.contracts.profiles import Profile, load_profile
from metricpact.contracts.scores import Column, Scores
from metricpact.contracts.signature import parse_signature, sign

SCHEMA = "metricpact.scores/1"
_HINT = "write it anew: metricpact score QRELS RUN MEASURE… -q -o json > scores.json"
_ROW = {
    "query_id": pl.String,
    "measure": pl.String,
    "value": pl.Float64,
    "reason": pl.String,
    "judged_fraction": pl.Float64,
    "denominator": pl.Float64,
}
"""The columns of a row; ``denominator`` stands in records alone."""


def read_scores(path: str) -> Scores:
    """Scores from a file (``-`` is standard input); raises ``InputError`` for what is no whole scores document."""
    stream = open_stream(path)
    try:
        document = json.loads(stream.read_all())
    except json.JSONDecodeError as error:
        raise InputError(f"is not JSON: {error.msg}", _HINT, source=stream.name, line=error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON: {error}", _HINT, source=stream.name) from error
    return scores_from_document(document, stream.name)


def scores_from_document(document: Any, source: str) -> Scores:
    """Scores from a parsed document of ``metricpact.scores/1`` with its per-query rows.

    Raises ``InputError`` naming ``source`` for another schema, missing rows, and means or signatures that do not
    follow from the rows and the contract.
    """
    schema = document.get("schema") if isinstance(document, Mapping) else None
    if schema == "metricpact.score-list/1":
        raise InputError("holds the scores of several runs", "score one run at a time", source=source)
    if schema != SCHEMA:
        raise InputError(f"is no document of {SCHEMA} (its schema is {schema!r})", _HINT, source=source)
    if "per_query" not in document:
        raise InputError("holds means without the values of single queries", _HINT, source=source)
    try:
        return _scores(document)
    except MetricpactError as error:
        raise InputError(error.fact, error.hint or _HINT, source=source) from error
    except (KeyError, TypeError, ValueError, AttributeError, pl.exceptions.PolarsError) as error:
        raise InputError(f"lacks what a scores document has ({_short(error)})", _HINT, source=source) from error


def _scores(document: Mapping[str, Any]) -> Scores:
    stated = {parse_measure(entry["measure"]): entry for entry in document["measures"]}
    if not stated:
        raise InputError("holds no measure", _HINT)
    rows = pl.DataFrame(document["per_query"], schema=_ROW, orient="row")
    by_measure = rows.partition_by("measure", as_dict=True, maintain_order=True)
    queries = rows["query_id"].unique(maintain_order=True)
    if rows["query_id"].null_count() or len(queries) != document["queries"]["judged"]:
        raise InputError(
            f"has values of {len(queries)} queries where {document['queries']['judged']} are judged", _HINT
        )
    profile = _profile(document["contract"], stated)
    missing, extra = (tuple(document["queries"][name]) for name in ("missing", "extra"))
    columns = []
    for measure, entry in stated.items():
        mine = by_measure.pop((entry["measure"],), rows.clear())
        if len(mine) != len(queries) or not mine["query_id"].equals(queries):
            raise InputError(f"has not one value of {measure} for every judged query", _HINT)
        column = _column(measure, entry, mine, profile, missing, extra)
        _hold(column, entry, missing, extra, profile)
        columns.append(column)
    if by_measure:
        raise InputError(f"has values of {next(iter(by_measure))[0]!r}, of which it states no mean", _HINT)
    return Scores(
        profile=profile,
        queries=queries.alias(""),
        missing=missing,
        extra=extra,
        columns=columns,
        backend=dict(document["backend"]),
        inputs={name: dict(value) for name, value in document["inputs"].items()},
    )


def _profile(stated: Mapping[str, Any], measures: Mapping[Measure, Mapping[str, Any]]) -> Profile:
    """The profile of a document: its fields, and the overrides of the measures that were scored."""
    bases = {parse_signature(entry["signature"]).base for entry in measures.values()}
    if len(bases) != 1:
        raise InputError(f"its measures were scored under several contracts: {', '.join(sorted(bases))}", _HINT)
    overrides = {
        measure.family + (f"@{measure.cutoff}" if measure.cutoff else ""): entry["fields"]
        for measure, entry in measures.items()
        if entry["fields"]
    }
    contract = contract_from(stated["fields"])
    checked = {
        pattern: {name: getattr(contract_from(fields, contract), name) for name in fields}
        for pattern, fields in overrides.items()
    }
    return Profile(stated["name"], stated["version"], contract, base=bases.pop(), overrides=checked)


def _column(
    measure: Measure,
    entry: Mapping[str, Any],
    rows: pl.DataFrame,
    profile: Profile,
    missing: Sequence[str],
    extra: Sequence[str],
) -> Column:
    codes = {reason: code for code, reason in enumerate(REASONS) if code}
    unknown = set(rows["reason"].drop_nulls()) - set(codes)
    if unknown:
        raise InputError(f"gives {unknown.pop()!r} as the reason of an undefined value", f"known: {', '.join(codes)}")
    defined, number = rows["reason"].is_null(), rows["value"].is_not_null()
    finite = rows["value"].drop_nulls().is_finite().all() and rows["judged_fraction"].drop_nulls().is_finite().all()
    if not defined.equals(number) or not finite:
        raise InputError(f"has a value of {measure} that is neither a number nor undefined with a reason", _HINT)
    reason = rows["reason"].replace_strict(codes, default=0, return_dtype=pl.Int8).to_numpy()
    contract = profile.for_measure(measure)
    zeros = extra if contract.extra_query == "zero" else ()
    return Column(
        measure=measure,
        values=rows["value"].fill_null(0.0).to_numpy(),
        reason=reason,
        fraction=rows["judged_fraction"].fill_null(0.0).to_numpy(),
        has_fraction=rows["judged_fraction"].is_not_null().to_numpy(),
        in_mean=_in_mean(rows["query_id"], contract, missing),
        extra_zeros=len(zeros if isinstance(contract.queries, str) else set(zeros) & set(contract.queries)),
        fields=profile.overrides_for(measure),
        signature=entry["signature"],
        denominator=None if rows["denominator"].null_count() else rows["denominator"].to_numpy(),
    )


def _in_mean(queries: pl.Series, contract: Contract, missing: Sequence[str]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    if contract.queries == "judged":
        return np.ones(len(queries), np.bool_)
    if contract.queries == "answered":
        return ~queries.is_in(list(missing)).to_numpy()
    return queries.is_in(list(contract.queries)).to_numpy()


def _hold(
    column: Column, entry: Mapping[str, Any], missing: Sequence[str], extra: Sequence[str], profile: Profile
) -> None:
    """Raise where the mean or the signature that a document states does not follow from what else it says."""
    mean = column.mean(len(missing), len(extra))
    found = (mean.value, mean.n, mean.undefined, mean.judged_fraction)
    told = tuple(entry[name] for name in ("mean", "n", "undefined", "judged_fraction"))
    for mine, theirs in zip(found, told, strict=True):
        agree = mine is None if theirs is None else mine is not None and math.isclose(mine, theirs, rel_tol=1e-12)
        if not agree:
            raise InputError(
                f"states a mean of {entry['measure']} that is not that of its values "
                f"(mean, n, undefined, judged fraction: {told}; of the values: {found})",
                _HINT,
            )
    signature = parse_signature(entry["signature"])
    try:
        version = load_profile(signature.base.rpartition("/")[0]).base
    except ContractError:
        version = ""
    # A contract that is not known here, or of another version, cannot be held against the signature.
    if signature.measure != column.measure or (
        version == signature.base and sign(column.measure, profile, ()).contract_part != signature.contract_part
    ):
        raise InputError(f"the signature of {entry['measure']} is not that of its contract's fields", _HINT)


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".split("\n")[0][:120]
