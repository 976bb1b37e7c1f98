"""The case corpus: questions with known answers, read from ``cases/*.json``.

A case is cut in two: the ``Question`` is all that a backend ever gets, the ``Answer`` stays here and is compared
with what came back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from metricpact.contracts.contract import FIELDS, Contract, contract_from
from metricpact.contracts.errors import InputError, MetricpactError
from metricpact.contracts.profiles import Profile, load_profile
from metricpact.contracts.tables import Judgments, Run

CASES = Path(__file__).parent / "cases"
OTHER_PINS = ("cutoff", "measure", "independence", "input")
"""What a case may pin besides a field of the contract."""
TOLERANCE = 1e-12


@dataclass(frozen=True)
class Answer:
    """An expected or given answer: one query's value, a mean with its counts, or a refusal.

    ``query`` is None for a mean. ``value`` is None where there is no value, and ``reason`` says why. ``error`` is
    "" or the kind of refusal ("input" or "measure"; anything else is an error of the library).
    """

    query: str | None = None
    value: float | None = None
    reason: str = ""
    n: int | None = None
    undefined: int | None = None
    error: str = ""
    document: str | None = None
    message: str = ""

    def plain(self) -> dict[str, Any]:
        """The answer as JSON: what is empty is left out, a value that is no finite number is written as text."""
        if self.error:
            known = {"error": self.error, "query": self.query, "document": self.document, "message": self.message}
            return {name: value for name, value in known.items() if value}
        value = self.value
        shown = value if value is None or abs(value) < float("inf") else repr(value)
        if self.query is None:
            counts = {"n": self.n, "undefined": self.undefined}
            return {"mean": shown} | {name: count for name, count in counts.items() if count is not None}
        return {"query": self.query, "value": shown} | ({"reason": self.reason} if self.reason else {})

    def __str__(self) -> str:
        if self.error:
            place = "".join(f", {word} {given}" for word, given in self._place() if given)
            return f"refused ({self.error}{place})" + (f": {self.message}" if self.message else "")
        if self.value is None:
            return f"undefined ({self.reason or 'no query'})"
        return f"{self.value:.12g}" + (f" over {self.n}" if self.n is not None else "")

    def _place(self) -> Sequence[tuple[str, str | None]]:
        return (("query", self.query), ("document", self.document))


def same_answer(expected: Answer, got: Answer) -> bool:
    """Whether an answer is the expected one: numbers to 1e-12, reasons, counts, and what a refusal names."""
    if expected.error or got.error:
        named = (expected.query in (None, got.query)) and (expected.document in (None, got.document))
        return expected.error == got.error and named
    if expected.query != got.query or (expected.n is not None and expected.n != got.n):
        return False
    if expected.undefined is not None and expected.undefined != got.undefined:
        return False
    return same_number(expected.value, got.value) and (expected.value is not None or expected.reason == got.reason)


def same_number(one: float | None, other: float | None) -> bool:
    """Both undefined, or no further apart than 1e-12 (of a number above 1: that part of it); NaN is never the same."""
    if one is None or other is None:
        return one is other
    return abs(one - other) <= TOLERANCE * max(1.0, abs(one))


@dataclass(frozen=True)
class Question:
    """What a backend is asked: judgments, a run, a measure and a contract, and which number is looked at.

    ``rows`` is the plain form (judgments, run and the queries without rows) in which it travels between processes.
    """

    rows: Mapping[str, Any]
    measure: str
    contract: Contract
    query: str | None

    @property
    def profile(self) -> Profile:
        """The contract as a profile based on ``chapter``."""
        return profile_of(self.contract)

    @cached_property
    def judgments(self) -> Judgments:
        """The judgments as a table."""
        return judgments_of(self.rows)

    @cached_property
    def run(self) -> Run:
        """The run as a table."""
        return run_of(self.rows)


def profile_of(contract: Contract) -> Profile:
    """A contract as a profile based on ``chapter``."""
    chapter = load_profile("chapter")
    return chapter.with_fields({name: there for name, (_, there) in chapter.contract.diff(contract).items()})


def judgments_of(rows: Mapping[str, Any]) -> Judgments:
    """The judgments of a case as a table; raises ``InputError``."""
    listed = rows["judgments"]
    return Judgments.from_columns(
        [row["query"] for row in listed],
        [row["document"] for row in listed],
        [row["grade"] for row in listed],
        empty=rows.get("judged_without_rows", ()),
    )


def run_of(rows: Mapping[str, Any]) -> Run:
    """The run of a case as a table, without scores or ranks where the rows have none; raises ``InputError``."""
    listed = rows["run"]

    def column(name: str) -> list[Any] | None:
        return [row[name] for row in listed] if listed and all(name in row for row in listed) else None

    return Run.from_columns(
        [row["query"] for row in listed],
        [row["document"] for row in listed],
        # A run of empty rankings only has no score column to tell apart from none: take it as scored.
        column("score") if listed else [],
        column("rank"),
        empty=rows.get("returned_without_rows", ()),
    )


@dataclass(frozen=True)
class Case:
    """A question, its answer, and what it is about."""

    id: str
    sentence: str
    field: str
    value: str
    why: str
    smoke: bool
    question: Question
    expected: Answer

    @property
    def pins(self) -> str:
        """The convention that the case pins, as ``field=value``."""
        return f"{self.field}={self.value}"


def load_cases(folder: Path = CASES) -> list[Case]:
    """All cases, smoke cases first, then by file and place; raises ``InputError`` naming the file and case."""
    cases: dict[str, Case] = {}
    for path in sorted(folder.glob("*.json")):
        if path.name.endswith(".schema.json"):
            continue
        for document in json.loads(path.read_text(encoding="utf-8")):
            case = _case(document, path)
            if case.id in cases:
                raise InputError(f"two cases are called {case.id!r}", "rename one of them", source=path.name)
            cases[case.id] = case
    if not cases:
        raise InputError("there is no case", "cases are JSON files as case.schema.json describes", source=str(folder))
    return sorted(cases.values(), key=lambda case: not case.smoke)


def find_case(name: str) -> Case | None:
    """The case of an id, or None."""
    return next((case for case in load_cases() if case.id == name), None)


def _case(document: Mapping[str, Any], path: Path) -> Case:
    name = document.get("id", "a case without an id")
    try:
        pins, expected = document["pins"], document["expected"]
        if pins["field"] not in (*FIELDS, *OTHER_PINS):
            raise InputError(f"{pins['field']!r} cannot be pinned", f"pin a field, or one of {', '.join(OTHER_PINS)}")
        rows = {
            key: document[key]
            for key in ("judgments", "run", "judged_without_rows", "returned_without_rows")
            if key in document
        }
        return Case(
            id=name,
            sentence=document["sentence"],
            field=pins["field"],
            value=pins["value"],
            why=document["why"],
            smoke=document.get("smoke", False),
            question=Question(
                rows=rows,
                measure=document["measure"],
                contract=contract_from(document["contract"]),
                query=None if "error" in expected or "mean" in expected else expected["query"],
            ),
            expected=_answer(expected),
        )
    except KeyError as error:
        raise InputError(
            f"{name}: {error} is not there", "case.schema.json lists all keys", source=path.name
        ) from error
    except MetricpactError as error:
        raise InputError(f"{name}: {error.fact}", error.hint, source=path.name) from error


def _answer(expected: Mapping[str, Any]) -> Answer:
    if "error" in expected:
        return Answer(error=expected["error"], query=expected.get("query"), document=expected.get("document"))
    if "mean" in expected:
        return Answer(value=expected["mean"], n=expected["n"], undefined=expected["undefined"])
    return Answer(query=expected["query"], value=expected["value"], reason=expected.get("reason", ""))
