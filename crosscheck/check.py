"""Every installed backend on every case: what it gives under the contract, and what its library gives by itself.

Smoke cases come first, so that an adapter that is not connected is not taken for a library that is wrong. Under the
contract a bridge must give the case's answer or say that it cannot. By default the library is called as its own
documentation shows it, in a process of its own; where that differs, the known conventions of the library must
explain the very number (see ``known``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from metricpact.bridges.evaluate import evaluate
from metricpact.bridges.plan import Unsupported
from metricpact.bridges.registry import get_bridge, require
from metricpact.contracts.contract import Contract
from metricpact.contracts.errors import (
    InputError,
    LimitError,
    MeasureError,
    UnsupportedError,
)
from metricpact.contracts.measures import Measure, parse_measure
from metricpact.contracts.scores import Scores
from metricpact.crosscheck.corpus import Answer, Case, Question, profile_of, same_answer
from metricpact.crosscheck.guard import Reply, Request, ask_natively
from metricpact.crosscheck.known import CaseDifference, Convention, Known, load_known, with_conventions

AGREES, DIFFERS, KNOWN, UNSUPPORTED, FAILED = "agrees", "differs", "known difference", "unsupported", "failed"
OUTCOMES = (FAILED, DIFFERS, KNOWN, UNSUPPORTED, AGREES)
"""The outcomes, worst first."""


@dataclass(frozen=True)
class Side:
    """One of the two results of a backend on a case: the outcome, what came back, what was called, and a reason.

    ``known`` names the entries that explain a known difference.
    """

    outcome: str
    got: Answer | None = None
    call: str = ""
    reason: str = ""
    known: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """The result as JSON."""
        document: dict[str, Any] = {"outcome": self.outcome, "got": None if self.got is None else self.got.plain()}
        document |= {"call": self.call} if self.call else {}
        document |= {"reason": self.reason} if self.reason else {}
        return document | ({"known": list(self.known)} if self.known else {})


@dataclass(frozen=True)
class Record:
    """One case on one backend: the result under the contract, and the library's own by default (None: not asked)."""

    case: Case
    backend: str
    contract: Side
    default: Side | None = None

    @property
    def outcome(self) -> str:
        """The worse of the two outcomes."""
        sides = [self.contract.outcome] + ([self.default.outcome] if self.default else [])
        return min(sides, key=OUTCOMES.index)

    @property
    def reproduce(self) -> str:
        """The line that shows this record again, in full."""
        return f"metricpact explain {self.case.id} --backend {self.backend}"

    def plain(self) -> dict[str, Any]:
        """The record as JSON."""
        return {
            "record": "case",
            "case": self.case.id,
            "backend": self.backend,
            "outcome": self.outcome,
            "measure": self.case.question.measure,
            "query": self.case.question.query,
            "pins": self.case.pins,
            "sentence": self.case.sentence,
            "expected": self.case.expected.plain(),
            "contract": self.contract.plain(),
            "default": None if self.default is None else self.default.plain(),
            "reproduce": self.reproduce,
        }


@dataclass(frozen=True)
class Stale:
    """An entry of a known-differences file that explains nothing any more."""

    backend: str
    entry: str
    why: str


@dataclass(frozen=True)
class Check:
    """All records, in the order of the backends and cases, and the entries that went stale (None: not looked for)."""

    records: list[Record]
    stale: list[Stale] | None = field(default_factory=list)


def run_check(
    cases: Sequence[Case],
    backends: Iterable[str],
    *,
    whole: bool,
    progress: Callable[[str], None] = lambda text: None,
) -> Check:
    """Every case on every backend, in both modes; ``whole`` says that no case was left out.

    Raises ``DependencyError`` for a backend that is not installed and ``ContractError`` for a faulty or missing
    known-differences file. Stale entries are looked for where all cases ran.
    """
    names = list(backends)
    for name in names:
        require(name)
    known = {name: load_known(name) for name in names}
    records: list[Record] = []
    with ThreadPoolExecutor(max_workers=2) as pool:
        replies = {name: pool.submit(native_replies, known[name], cases) for name in names}
        for name in names:
            progress(f"{name}: {len(cases)} cases under their contracts")
            under = conformance(name, cases, known[name])
            progress(f"{name}: the library by itself")
            defaults = default_sides(cases, known[name], replies[name].result())
            for case, contract, default in zip(cases, under, defaults, strict=True):
                records.append(Record(case, name, contract, default))
    return Check(records, stale_entries(records, known) if whole else None)


# ---------------------------------------------------------------- under the contract


def conformance(backend: str, cases: Sequence[Case], known: Known | None = None) -> list[Side]:
    """The backend's result under each case's contract; smoke cases first, and nothing else where one of them fails."""
    sides: dict[str, Side] = {}
    for case in (case for case in cases if case.smoke):
        sides[case.id] = contract_side(case, backend, known)
    broken = _broken(sides)
    for case in cases:
        if case.id not in sides:
            sides[case.id] = broken or contract_side(case, backend, known)
    return [sides[case.id] for case in cases]


def _broken(smoke: Mapping[str, Side]) -> Side | None:
    """What is to be said of every other case where a smoke case went wrong, else None."""
    for name, side in smoke.items():
        if side.outcome not in (AGREES, UNSUPPORTED):
            reason = f"not run: smoke case {name} failed, so the adapter is at fault and not the library"
            return Side(FAILED, reason=reason)
    return None


def contract_side(case: Case, backend: str, known: Known | None = None) -> Side:
    """One backend on one case under the case's contract."""
    question = case.question
    call = ""
    try:
        plan = get_bridge(backend).plan(parse_measure(question.measure), question.contract)
        if isinstance(plan, Unsupported):
            return Side(UNSUPPORTED, reason=plan.reason)
        call = plan.call
        got = answer_under(question, backend)
    except MeasureError:
        got = answer_under(question, backend)
    except (UnsupportedError, LimitError) as error:
        return Side(UNSUPPORTED, call=call, reason=error.fact)
    except Exception as error:  # whatever a bridge or library raises is a result, not the end of the check
        return Side(FAILED, call=call, reason=f"{type(error).__name__}: {error}".splitlines()[0])
    if same_answer(case.expected, got):
        return Side(AGREES, got, call)
    entry = known.difference(case.id, "contract", get_bridge(backend).versions()["version"]) if known else None
    if entry:
        return Side(KNOWN, got, call, entry.reason, (entry.name,))
    return Side(DIFFERS, got, call)


def answer_under(question: Question, backend: str, contract: Contract | None = None) -> Answer:
    """A backend's answer to a question, under its contract or another one; refusals are answers too.

    Raises ``UnsupportedError``, ``LimitError`` and whatever the library raises.
    """
    try:
        measure = parse_measure(question.measure)
    except MeasureError as error:
        return Answer(error="measure", message=error.fact)
    try:
        profile = profile_of(contract or question.contract)
        scores = evaluate(question.judgments, question.run, measure, profile, backend)
    except InputError as error:
        return Answer(error="input", query=error.query, document=error.document, message=error.fact)
    return answer_from(scores, measure, question.query)


def answer_from(scores: Scores, measure: Measure, query: str | None) -> Answer:
    """The number that a question looks at, out of scores."""
    if query is not None:
        return Answer(query=query, value=scores.by_query(measure)[query], reason=scores.reasons(measure)[query] or "")
    mean = scores.mean[str(measure)]
    return Answer(value=mean.value, n=mean.n, undefined=mean.undefined)


# ---------------------------------------------------------------- the library by itself


def native_replies(known: Known, cases: Sequence[Case]) -> list[Reply | None]:
    """The library's own reply to each case, None where it has no name for the measure."""
    names = [native_name(known, case.question) for case in cases]
    requests = [Request(case.question.rows, name) for case, name in zip(cases, names, strict=True) if name is not None]
    replies = iter(ask_natively(known.backend, requests))
    return [None if name is None else next(replies) for name in names]


def native_name(known: Known, question: Question) -> str | None:
    """The library's name for a question's measure, or None where it has none (or the name is refused)."""
    try:
        return known.native_name(parse_measure(question.measure))
    except MeasureError:
        return None


def default_sides(cases: Sequence[Case], known: Known, replies: Sequence[Reply | None]) -> list[Side]:
    """What a library's own replies amount to; nothing is said of it where a smoke case already went wrong."""
    version = get_bridge(known.backend).versions()["version"]
    pairs = list(zip(cases, replies, strict=True))
    smoke = {case.id: default_side(case, known, version, reply) for case, reply in pairs if case.smoke}
    broken = _broken(smoke)
    return [smoke.get(case.id) or broken or default_side(case, known, version, reply) for case, reply in pairs]


def default_side(case: Case, known: Known, version: str, reply: Reply | None) -> Side:
    """What the library's own reply to a case amounts to."""
    if reply is None:
        return Side(UNSUPPORTED, reason=_without_name(known, case))
    call = known.call.format(name=native_name(known, case.question))
    if reply.refused:
        return Side(UNSUPPORTED, call=call, reason=reply.refused)
    got = native_answer(reply, case.question.query)
    # How many queries are undefined is nothing that a library says; a refusal is one, however it is worded.
    expected = replace(case.expected, undefined=None)
    if same_answer(expected, got) or (got.error == "raised" and expected.error):
        return Side(AGREES, got, call)
    entries = explaining(case, got, known.defaults(parse_measure(case.question.measure), version))
    if entries:
        return Side(KNOWN, got, call, known=tuple(entry.name for entry in entries))
    entry = known.difference(case.id, "default", version)
    if entry:
        return Side(KNOWN, got, call, entry.reason, (entry.name,))
    return Side(FAILED if got.error else DIFFERS, got, call, got.message)


def _without_name(known: Known, case: Case) -> str:
    if not known.names:
        return "no library of its own"
    if case.expected.error == "measure":
        return "the name is refused before any library is asked"
    return f"{known.backend} has no name for {case.question.measure}"


def native_answer(reply: Reply, query: str | None) -> Answer:
    """A library's reply as an answer: the value of the query, or the plain mean of all values."""
    if reply.raised or reply.killed:
        return Answer(error="raised" if reply.raised else "killed", message=reply.raised or reply.killed)
    if query is not None:
        if query not in reply.values:
            return Answer(query=query, reason="absent")
        return Answer(query=query, value=reply.values[query])
    values = list(reply.values.values())
    return Answer(value=sum(values) / len(values) if values else None, n=len(values))


def explaining(case: Case, got: Answer, defaults: Sequence[Convention]) -> list[Convention]:
    """The conventions of a library that explain its own value; empty where they do not.

    The reference, told all of them, must give that very value. Named are only as many as are needed for it: the
    pinned one where it is enough by itself, else what is left when one after the other is dropped.
    """
    question = case.question
    fields = question.contract.fields()
    departing = [one for one in defaults if fields[one.field] != one.value]
    if not departing or not _reproduces(question, got, departing):
        return []
    pinned = [one for one in departing if one.field == case.field]
    if pinned and _reproduces(question, got, pinned):
        return pinned
    needed = departing
    for one in departing:
        fewer = [other for other in needed if other is not one]
        if fewer and _reproduces(question, got, fewer):
            needed = fewer
    return needed


def _reproduces(question: Question, got: Answer, conventions: Sequence[Convention]) -> bool:
    told = reference_answer(question, with_conventions(question.contract, conventions))
    if told.error or got.error:
        return bool(told.error) and got.error == "raised"
    return same_answer(replace(told, undefined=None, reason=""), replace(got, reason=""))


def reference_answer(question: Question, contract: Contract) -> Answer:
    """The reference's answer to a question under another contract (remembered)."""
    return _remembered(_Key(question), contract)


class _Key:
    """What an answer depends on besides the contract, as a key: rows are plain data that never change."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.parts = (id(question.rows), question.measure, question.query)

    def __hash__(self) -> int:
        return hash(self.parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.parts == other.parts


@lru_cache(maxsize=100_000)
def _remembered(key: _Key, contract: Contract) -> Answer:
    return answer_under(key.question, "reference", contract)


# ---------------------------------------------------------------- entries that explain nothing


def stale_entries(records: Sequence[Record], known: Mapping[str, Known]) -> list[Stale]:
    """Entries that explain no record, and cases that they list and that do not differ (any more)."""
    found: list[Stale] = []
    for backend, file in known.items():
        mine = [record for record in records if record.backend == backend]
        used = {name for record in mine for side in (record.contract, record.default) if side for name in side.known}
        for entry in file.entries(get_bridge(backend).versions()["version"]):
            if isinstance(entry, CaseDifference):
                by_case = {record.case.id: getattr(record, entry.mode) for record in mine}
                for case in entry.cases:
                    if case not in by_case:
                        found.append(Stale(backend, entry.name, f"there is no case {case}"))
                    elif entry.name not in by_case[case].known:
                        found.append(Stale(backend, entry.name, f"{case} {by_case[case].outcome}"))
            elif entry.name not in used:
                found.append(Stale(backend, entry.name, "it explains no case"))
    return found
