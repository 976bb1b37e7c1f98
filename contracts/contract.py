"""A contract: every metric convention as data, one field each. Everything that scores is told what to mean by one."""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from numbers import Integral
from pathlib import Path
from typing import Any

from metricpact.contracts.errors import ContractError

GainTable = tuple[tuple[float, float], ...]
"""A gain table: (grade, gain) pairs by ascending grade."""


@dataclass(frozen=True)
class Convention:
    """One field of a contract: what it settles, its closed set of values, and the kind of any free value."""

    summary: str
    values: Mapping[str, str]
    free: str = ""


FIELDS: dict[str, Convention] = {
    "order": Convention(
        "what orders a ranking",
        {
            "score": "by descending score; without scores by the rank column, and a list of ids alone as given",
            "rank": "by the file's rank column; equal ranks are an error",
            "given": "as listed",
        },
    ),
    "ties": Convention(
        "the order of equal scores (only where scores order)",
        {
            "given": "as listed",
            "docid_desc": "document id descending, by bytes",
            "docid_asc": "document id ascending, by bytes",
            "error": "any tie in a ranking is an error",
            "average": "the expected value over all orders of the tied documents",
        },
    ),
    "score_width": Convention(
        "the width at which scores are compared",
        {"float64": "double precision", "float32": "narrowed to single precision first"},
    ),
    "rank_conflict": Convention(
        "a rank column that strictly contradicts the scores",
        {"error": "an error", "ignore": "the rank column is not looked at"},
    ),
    "threshold": Convention("the smallest grade that counts as relevant", {}, "a grade, 0 or more"),
    "precision_denominator": Convention(
        "what P@k divides by",
        {"cutoff": "k, even where fewer documents are returned", "returned": "min(k, number returned)"},
    ),
    "recall_denominator": Convention(
        "what R@k divides by",
        {"relevant": "|R|, all known relevant documents", "capped": "min(k, |R|)"},
    ),
    "ap_denominator": Convention(
        "what AP@k divides by",
        {
            "relevant": "|R|, all known relevant documents",
            "capped": "min(k, |R|)",
            "hits": "the relevant documents in the prefix; 0 without a hit",
        },
    ),
    "gain": Convention(
        "what a grade g is worth in DCG",
        {"exponential": "2^g − 1", "linear": "g"},
        "a table grade → gain; unlisted grades keep themselves",
    ),
    "discount": Convention(
        "how DCG discounts rank i",
        {"log2": "1 / log2(i + 1)", "jk": "none up to rank 2, then 1 / log2(i)"},
    ),
    "ideal": Convention(
        "the documents that the ideal ranking is made of",
        {"judgments": "all judged documents", "returned": "the judged documents of the whole ranking"},
    ),
    "ideal_depth": Convention(
        "how deep the ideal ranking is summed", {"cutoff": "to the cutoff", "full": "to its end"}
    ),
    "unjudged": Convention(
        "documents without a judgment",
        {"zero": "count as not relevant", "removed": "leave the ranking first (a condensed list)"},
    ),
    "undefined": Convention(
        "a measure that has no value for a query",
        {
            "null": "stays undefined and out of the mean",
            "zero": "counts as 0",
            "one": "counts as 1",
            "skip": "the query is dropped for every measure",
        },
    ),
    "queries": Convention(
        "the queries that a mean is over",
        {
            "judged": "all judged queries; one that is missing from the run has an empty ranking",
            "answered": "the judged queries that are in the run",
        },
        "a list of query ids",
    ),
    "extra_query": Convention(
        "a query of the run that is not judged",
        {"ignore": "left out, and reported", "error": "an error", "zero": "added to the mean as 0"},
    ),
    "negative_grade": Convention(
        "a grade below 0",
        {
            "error": "an error",
            "nonrelevant": "becomes 0 before any gain",
            "unjudged": "the judgment is removed; the query stays judged",
        },
    ),
    "duplicate": Convention(
        "a document twice in a ranking, or judged twice for a query",
        {"error": "an error", "first": "the first one listed counts", "last": "the last one listed counts"},
    ),
    "self_match": Convention(
        "a returned document whose id equals the query's",
        {"keep": "stays", "remove": "leaves the ranking"},
    ),
}
"""Every convention by name, in the order in which they are printed."""

PREFIX_FIELDS = (
    "order",
    "ties",
    "score_width",
    "rank_conflict",
    "unjudged",
    "negative_grade",
    "duplicate",
    "self_match",
)
"""The conventions that settle the evaluated prefix; contracts equal in these (and in fractional grades) share one."""


@dataclass(frozen=True)
class Contract:
    """Every convention as one frozen value; the defaults are the ``chapter`` contract.

    ``gain`` also takes a table ``{grade: gain}`` and ``queries`` a list of ids. Raises ``ContractError`` for a value
    outside a field's closed set.
    """

    order: str = "score"
    ties: str = "given"
    score_width: str = "float64"
    rank_conflict: str = "error"
    threshold: int = 1
    precision_denominator: str = "cutoff"
    recall_denominator: str = "relevant"
    ap_denominator: str = "relevant"
    gain: str | GainTable = "exponential"
    discount: str = "log2"
    ideal: str = "judgments"
    ideal_depth: str = "cutoff"
    unjudged: str = "zero"
    undefined: str = "null"
    queries: str | tuple[str, ...] = "judged"
    extra_query: str = "ignore"
    negative_grade: str = "error"
    duplicate: str = "error"
    self_match: str = "keep"

    def __post_init__(self) -> None:
        for name in FIELDS:
            object.__setattr__(self, name, check_value(name, getattr(self, name)))

    def replace(self, **changes: Any) -> Contract:
        """The same contract with some fields changed; raises ``ContractError`` for an unknown field."""
        return contract_from({**self.fields(), **changes})

    def fields(self) -> dict[str, Any]:
        """Field name → value, in the order of ``FIELDS``."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def diff(self, other: Contract) -> dict[str, tuple[Any, Any]]:
        """The fields that differ: name → (value here, value there)."""
        theirs = other.fields()
        return {name: (mine, theirs[name]) for name, mine in self.fields().items() if mine != theirs[name]}

    def digest(self) -> str:
        """SHA-256 (hex) of the fields; equal contracts have equal digests on every machine."""
        plain = {name: plain_value(value) for name, value in self.fields().items()}
        return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()

    def to_toml(self) -> str:
        """The contract as a TOML document, with a line of documentation above each field."""
        return fields_to_toml(self.fields())

    @classmethod
    def from_toml(cls, path: str | Path) -> Contract:
        """Read a contract from a TOML file: a table ``[fields]``, and the contract that it is based on.

        Raises ``ContractError`` naming the file and the key at fault. A file with ``[overrides]`` (fields per
        measure) is a profile, not a contract: ``Profile.from_toml`` reads it.
        """
        from metricpact.contracts.profiles import Profile

        profile = Profile.from_toml(path)
        if profile.overrides:
            raise ContractError(
                f"{path}: has overrides per measure, so it is a profile and not one contract",
                "read it with metricpact.Profile.from_toml, or pass its path as contract=",
            )
        return profile.contract


def contract_from(values: Mapping[str, Any], base: Contract | None = None) -> Contract:
    """A contract from field values over ``base`` (default: ``chapter``); raises ``ContractError``."""
    for name in values:
        if name not in FIELDS:
            raise ContractError(f"{name!r} is not a field of a contract", _nearest(name, FIELDS))
    return Contract(**{**(base.fields() if base else {}), **values})


def check_value(name: str, value: Any) -> Any:
    """The value of a field in its one accepted form; raises ``ContractError`` with the choices."""
    convention = FIELDS[name]
    if name == "threshold":
        return _check_threshold(value)
    if name == "gain" and not isinstance(value, str):
        return check_gains(value)
    if name == "queries" and not isinstance(value, str):
        return _check_queries(value)
    if isinstance(value, str) and value in convention.values:
        return value
    choices = ", ".join(convention.values) + (f", or {convention.free}" if convention.free else "")
    raise ContractError(f"{value!r} is not a value of {name}", f"choose one of: {choices}")


def check_gains(value: Any) -> GainTable:
    """A gain table in its one accepted form (pairs by grade); raises ``ContractError``.

    Gains are finite and not negative, and grade 0 (so an unjudged document too) is worth 0.
    """
    items: Iterable[Any] = value.items() if isinstance(value, Mapping) else value
    table: dict[float, float] = {}
    hint = "a gain table maps grades to gains, such as {0: 0, 1: 1, 2: 3}; gains are not negative, gain(0) is 0"
    try:
        for grade, gain in items:
            key = float(grade)
            if key in table:
                raise ContractError(f"the gain table lists grade {grade} twice", hint)
            table[key] = float(gain)
    except (TypeError, ValueError, OverflowError) as error:
        raise ContractError(f"{str(value)[:80]} is not a gain table", hint) from error
    if not table:
        raise ContractError("the gain table is empty", hint)
    for key, worth in table.items():
        if not (math.isfinite(key) and math.isfinite(worth)) or worth < 0:
            raise ContractError(f"gain {_number(worth)} of grade {_number(key)} is not a gain", hint)
    if table.get(0.0, 0.0) != 0.0:
        raise ContractError("the gain table gives grade 0 a gain", hint)
    return tuple(sorted(table.items()))


def _check_threshold(value: Any) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, Integral) or not 0 <= int(value) < 2**53:
        raise ContractError(f"{value!r} is not a threshold", "a threshold is a grade: an integer, 0 or more")
    return int(value)


def _check_queries(value: Any) -> tuple[str, ...]:
    hint = "name 'judged', 'answered', or a list of query ids (text)"
    if not isinstance(value, Iterable):
        raise ContractError(f"{value!r} is not a list of queries", hint)
    ids = tuple(value)
    if not ids or not all(isinstance(item, str) and item for item in ids):
        raise ContractError("a list of queries holds at least one id, and only text that is not empty", hint)
    return tuple(sorted(set(ids)))


def plain_value(value: Any) -> Any:
    """A field's value as JSON and TOML know it: a gain table as {grade: gain}, a query list as a list."""
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return {_number(grade): _shortest(gain) for grade, gain in value}
    return list(value) if isinstance(value, tuple) else value


def format_gains(table: GainTable) -> str:
    """A gain table as it is typed in a measure's name: ``{0:0,1:1,2:3}``."""
    return "{" + ",".join(f"{_number(grade)}:{_number(gain)}" for grade, gain in table) + "}"


def fields_to_toml(values: Mapping[str, Any]) -> str:
    """The ``[fields]`` table of a contract file, each field under a comment that says what it settles."""
    import tomli_w

    lines, tables = ["[fields]"], []
    for name, value in values.items():
        convention, plain = FIELDS[name], plain_value(value)
        chosen = convention.values.get(value) if isinstance(value, str) else convention.free
        comment = f"# {convention.summary}" + (f": {chosen}" if chosen else "")
        if isinstance(plain, dict):
            tables += ["", comment, tomli_w.dumps({"fields": {name: plain}}).replace("[fields]\n", "").strip()]
        else:
            lines += ["", comment, tomli_w.dumps({name: plain}).strip()]
    return "\n".join(lines + tables) + "\n"


def load_toml(path: str | Path) -> dict[str, Any]:
    """A TOML file as plain data; raises ``ContractError`` naming the file (and the line, where it is known)."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except TypeError as error:
        raise ContractError(f"{path!r} is not a path", "name a TOML file") from error
    except OSError as error:
        raise ContractError(f"{path}: cannot be read ({error.strerror})", "name a contract or a TOML file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ContractError(
            f"{path}: is not TOML: {error}", "write it as 'metricpact contracts chapter' prints one"
        ) from error


def _number(value: float) -> str:
    return str(_shortest(value))


def _shortest(value: float) -> int | float:
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _nearest(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), 1)
    return (f"did you mean {near[0]!r}? " if near else "") + "'metricpact contracts chapter' lists all fields"
