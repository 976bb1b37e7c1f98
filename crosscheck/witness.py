"""The smallest input on which one convention of a library shows, found by search over small inputs by their size.

Size is the number of rows of judgments and run. An input and measure is a witness for a field where the contract,
with only this field changed to what the library does, gives another answer than the contract itself, the library's
other conventions change nothing there, and the library itself, asked natively, gives that other answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations, islice, permutations, product
from typing import Any

from metricpact.bridges.evaluate import evaluate
from metricpact.bridges.registry import get_bridge
from metricpact.contracts.contract import Contract
from metricpact.contracts.errors import InputError
from metricpact.contracts.measures import Measure, parse_measure
from metricpact.crosscheck.check import answer_from, native_answer
from metricpact.crosscheck.corpus import Answer, judgments_of, profile_of, run_of, same_answer
from metricpact.crosscheck.guard import Reply, Request, ask_natively
from metricpact.crosscheck.known import Convention, Known, with_conventions

MEASURES = ("P@1", "R@1", "RR@1", "RR", "AP", "nDCG@1", "nDCG", "Bpref", "Judged@1", "P@2")
"""The measures that are searched, in the order in which one of two equally small witnesses is taken."""
LARGEST = 5
TRIED = (8, 64, 256)
"""How many candidates are asked natively, in rounds; the first that the library confirms is the witness."""
MEANS = ("queries", "extra_query")
"""Fields that show in the mean and not in a query's value."""

Rows = Mapping[str, Any]


@dataclass(frozen=True)
class Witness:
    """An input and measure on which a library's convention shows: the contract's answer and the library's own."""

    convention: Convention
    rows: Rows
    measure: str
    contract: Answer
    library: Answer

    @property
    def size(self) -> int:
        """Rows of judgments and run."""
        return len(self.rows["judgments"]) + len(self.rows["run"])


@dataclass(frozen=True)
class Candidate:
    """A witness of the reference's: what the contract says, and what it says with the field changed."""

    rows: Rows = field(repr=False)
    measure: Measure
    contract: Answer
    changed: Answer


def find_witnesses(known: Known, version: str) -> list[tuple[Convention, Witness | None]]:
    """Each convention of a library that departs from ``chapter``, with its smallest witness (None: none was found)."""
    chapter = Contract()
    departing = [
        one for one in known.conventions if one.holds_for(version) and getattr(chapter, one.field) != one.value
    ]
    candidates = {id(one): _candidates(known, version, one) for one in departing}
    found: dict[int, Witness] = {}
    for count in TRIED:
        tried = [(one, list(islice(candidates[id(one)], count))) for one in departing if id(one) not in found]
        requests = [
            Request(candidate.rows, known.native_name(candidate.measure) or "")
            for _, several in tried
            for candidate in several
        ]
        replies = iter(ask_natively(known.backend, requests))
        for one, several in tried:
            witness = _first(one, several, [next(replies) for _ in several])
            if witness is not None:
                found[id(one)] = witness
    return [(one, found.get(id(one))) for one in departing]


def _candidates(known: Known, version: str, convention: Convention) -> Iterator[Candidate]:
    """Small inputs on which the field shows, and the library's other conventions do not."""
    named = tuple(
        measure
        for measure in map(parse_measure, MEASURES)
        if known.native_name(measure) is not None and convention.applies_to(measure)
    )
    for candidate in differing(convention.field, convention.value, named):
        measure = candidate.measure
        whole = with_conventions(Contract(), known.defaults(measure, version))
        told = _answers(candidate.rows, (measure,), whole, mean=convention.field in MEANS)[measure]
        if _alike(told, candidate.changed):
            yield candidate


def _first(convention: Convention, candidates: Sequence[Candidate], replies: Sequence[Reply]) -> Witness | None:
    for candidate, reply in zip(candidates, replies, strict=True):
        got = native_answer(reply, None if convention.field in MEANS else "q")
        if not reply.refused and _alike(candidate.changed, got):
            return Witness(convention, candidate.rows, str(candidate.measure), candidate.contract, got)
    return None


def _alike(told: Answer, got: Answer) -> bool:
    """The same number; reasons and the number of undefined queries are nothing that a library says."""
    return same_answer(replace(told, undefined=None, reason=""), replace(got, undefined=None, reason=""))


@cache
def _found(name: str, value: Any, measures: tuple[Measure, ...]) -> tuple[list[Candidate], Iterator[Candidate]]:
    return [], _search(name, value, measures)


def differing(name: str, value: Any, measures: tuple[Measure, ...]) -> Iterator[Candidate]:
    """Inputs by size on which the ``chapter`` contract and the same with one field changed differ (remembered)."""
    seen, rest = _found(name, value, measures)
    at = 0
    while True:
        if at == len(seen):
            following = next(rest, None)
            if following is None:
                return
            seen.append(following)
        yield seen[at]
        at += 1


def _search(name: str, value: Any, measures: tuple[Measure, ...]) -> Iterator[Candidate]:
    chapter = Contract()
    changed = chapter.replace(**{name: value})
    for size in range(2, LARGEST + 1):
        for rows in inputs(size, name):
            if not _could_show(rows, name):
                continue
            before = _answers(rows, measures, chapter, mean=name in MEANS)
            after = _answers(rows, measures, changed, mean=name in MEANS)
            for measure in measures:
                if not same_answer(before[measure], after[measure]) and not after[measure].error:
                    yield Candidate(rows, measure, before[measure], after[measure])


def _answers(rows: Rows, measures: Sequence[Measure], contract: Contract, *, mean: bool) -> dict[Measure, Answer]:
    try:
        scores = evaluate(judgments_of(rows), run_of(rows), measures, profile_of(contract), "reference")
    except InputError as error:
        return dict.fromkeys(measures, Answer(error="input", message=error.fact))
    return {measure: answer_from(scores, measure, None if mean else "q") for measure in measures}


# ---------------------------------------------------------------- small inputs

CLOSE = 1.00000001
"""Above 1 in double precision, and 1 in single precision."""


def inputs(size: int, name: str) -> Iterator[Rows]:
    """All inputs of a size in which the field ``name`` could show, fewer judgments first."""
    for judged in range(1, size):
        returned = size - judged
        for judgments in _judgments(judged, name):
            for run in _runs(returned, name):
                yield {"judgments": judgments, "run": run}


def _could_show(rows: Rows, name: str) -> bool:
    """Whether an input has what the field is about; without it no value of the field could matter."""
    judgments, run = rows["judgments"], rows["run"]
    judged, returned = ([(row["query"], row["document"]) for row in listed] for listed in (judgments, run))
    asked, answered = {query for query, _ in judged}, {query for query, _ in returned}
    grades, scores = [row["grade"] for row in judgments], [row["score"] for row in run]
    has = {
        "ties": len(set(scores)) < len(scores),
        "score_width": CLOSE in scores,
        "rank_conflict": scores != sorted(scores, reverse=True),
        "gain": max(grades) > 1,
        "negative_grade": min(grades) < 0,
        "duplicate": any(len(set(pairs)) < len(pairs) for pairs in (judged, returned)),
        "queries": not asked <= answered,
        "extra_query": not answered <= asked,
        "unjudged": not set(returned) <= set(judged),
        "self_match": any(query == doc for query, doc in returned),
    }
    return bool(has.get(name, True))


def _judgments(count: int, name: str) -> Iterator[list[dict[str, Any]]]:
    grades = {"negative_grade": (1, 0, 2, -1)}.get(name, (1, 0, 2))
    keys = [(query, doc) for query in _queries(name) for doc in "AB"]
    for chosen in combinations(keys, count) if name != "duplicate" else product(keys, repeat=count):
        if chosen[0][0] != "q":
            continue
        for held in product(grades, repeat=count):
            if max(held) < 0:  # a query of negative grades only kills trec_eval, and is refused before it
                continue
            yield [
                {"query": query, "document": doc, "grade": grade}
                for (query, doc), grade in zip(chosen, held, strict=True)
            ]


def _runs(count: int, name: str) -> Iterator[list[dict[str, Any]]]:
    docs = {"self_match": ("q", "A", "B")}.get(name, ("A", "B", "C"))
    keys = [(query, doc) for query in _queries(name) for doc in docs]
    listings = product(keys, repeat=count) if name == "duplicate" else permutations(keys, count)
    for listing in listings:
        for scores in _scores(count, name):
            rows = [
                {"query": query, "document": doc, "score": score}
                for (query, doc), score in zip(listing, scores, strict=True)
            ]
            if name in ("rank_conflict", "order"):
                rows = [{**row, "rank": rank} for rank, row in enumerate(rows, 1)]
            yield rows


def _queries(name: str) -> tuple[str, ...]:
    return ("q", "r") if name in MEANS else ("q",)


def _scores(count: int, name: str) -> Iterator[tuple[float, ...]]:
    """Falling, rising and equal scores, and such as are equal in single precision only."""
    falling = tuple(float(count - place) for place in range(count))
    yield falling
    if count > 1:
        yield falling[::-1]
        yield (1.0,) * count
        if name == "score_width":
            yield (1.0, CLOSE, *falling[2:])
            yield (CLOSE, 1.0, *falling[2:])


def version_of(backend: str) -> str:
    """The installed version of a backend's library."""
    return get_bridge(backend).versions()["version"]
