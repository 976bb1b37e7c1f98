"""Queries that flipped between two versions: both rankings, and which documents moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from metricpact.contracts.contract import Contract
from metricpact.contracts.errors import InputError
from metricpact.contracts.ordering import order_rankings
from metricpact.contracts.tables import Judgments, Run
from metricpact.crosscheck.compare.paired_tests import without_noise
from metricpact.crosscheck.compare.pairing import paired
from metricpact.crosscheck.slices.scored import ScoredRun

DEPTH = 10
"""How much of a ranking is shown where a measure has no cutoff."""


@dataclass(frozen=True)
class MovedDocument:
    """A document that one of two prefixes holds: its grade (None: unjudged) and its rank in each whole ranking.

    A rank is None where the document is not returned at all.
    """

    document: str
    grade: float | None
    base_rank: int | None
    candidate_rank: int | None

    @property
    def moved(self) -> bool:
        """Whether its two ranks differ."""
        return self.base_rank != self.candidate_rank


@dataclass(frozen=True)
class Flip:
    """A query whose value of a measure changed; ``depth`` ranks of each ranking are among the ``documents``.

    ``kind`` is gained (from 0), lost (to 0), up or down.
    """

    base: str
    candidate: str
    measure: str
    query: str
    base_value: float
    candidate_value: float
    kind: str
    depth: int
    documents: tuple[MovedDocument, ...]


@dataclass(frozen=True)
class ShownQuery:
    """One query of a pair: every measure's values (None: undefined) and both rankings to ``depth``."""

    base: str
    candidate: str
    query: str
    values: Mapping[str, tuple[float | None, float | None]]
    depth: int
    documents: tuple[MovedDocument, ...]


@dataclass(frozen=True, eq=False)
class Rankings:
    """What the rankings of compared runs are read from: judgments, runs by name, and the contract that orders them.

    ``graded`` judges for the measures with a gain, where they have judgments of their own.
    """

    judgments: Judgments
    runs: Mapping[str, Run]
    contract: Contract
    graded: Judgments | None = None

    def documents(
        self, base: str, candidate: str, depths: Mapping[str, int], *, by_gain: bool
    ) -> dict[str, tuple[MovedDocument, ...]]:
        """For some queries, each with its depth, the documents of both prefixes, by rank in the candidate's first.

        ``by_gain`` takes grades from ``graded``, where a query has any there.
        """
        queries = list(depths)
        before, after = (self._ranked(name, queries) for name in (base, candidate))
        known = self._grades(self.judgments, queries)
        if by_gain and self.graded is not None:
            graded = self._grades(self.graded, queries)
            asked = {query for query, _ in graded}
            known = {pair: grade for pair, grade in known.items() if pair[0] not in asked} | graded
        found = {}
        for query, depth in depths.items():
            old, new = before[query], after[query]
            inside = dict.fromkeys([*list(new)[:depth], *list(old)[:depth]])
            found[query] = tuple(
                MovedDocument(document, known.get((query, document)), old.get(document), new.get(document))
                for document in inside
            )
        return found

    @staticmethod
    def _grades(judgments: Judgments, queries: list[str]) -> dict[tuple[str, str], float]:
        rows = judgments.to_polars().filter(pl.col("query_id").is_in(queries)).rows()
        return {(query, document): grade for query, document, grade in rows}

    def _ranked(self, name: str, queries: list[str]) -> dict[str, dict[str, int]]:
        """Document → rank of some queries, in the order of rank."""
        run = self.runs[name]
        places = pl.DataFrame({"query_id": queries}).with_row_index("at")
        at = pl.DataFrame({"query_id": run.queries}).join(places, on="query_id", how="left", maintain_order="left")[
            "at"
        ]
        ordered = order_rankings(
            run, at.cast(pl.Int64).fill_null(-1).to_numpy(), pl.Series("query_id", queries), self.contract
        )
        ranked: dict[str, dict[str, int]] = {query: {} for query in queries}
        ends = [*ordered.starts[1:], len(ordered.codes)]
        for start, end in zip(ordered.starts, ends, strict=True):
            rows = np.arange(start, end)
            ranks = ordered.rank_of(rows)
            by_rank = np.argsort(ranks, kind="stable")
            documents = ordered.docs.gather(rows[by_rank]).to_list()
            ranked[queries[ordered.codes[start]]] = dict(zip(documents, ranks[by_rank].tolist(), strict=True))
        return ranked


def find_flips(
    base: ScoredRun, candidate: ScoredRun, rankings: Rankings, *, most: int, measures: Sequence[str] | None = None
) -> list[Flip]:
    """For each measure the ``most`` queries whose values differ most, the largest change first, equal ones by id."""
    left, right, _ = paired(base, candidate)
    chosen: list[tuple[str, int, int]] = []
    for measure in measures or left.measures:
        old, new = left.column(measure), right.column(measure)
        both = old.in_mean & new.in_mean & (old.reason == 0) & (new.reason == 0)
        change = without_noise(np.where(both, new.values - old.values, 0.0))
        order = np.argsort(-np.abs(change), kind="stable")[:most]
        chosen += [(measure, int(at), old.measure.cutoff or DEPTH) for at in order if change[at]]
    depths: dict[bool, dict[str, int]] = {}
    for measure, at, depth in chosen:
        queries = depths.setdefault(_by_gain(left, measure), {})
        queries[left.queries[at]] = max(depth, queries.get(left.queries[at], 0))
    documents = {
        by_gain: rankings.documents(base.name, candidate.name, wanted, by_gain=by_gain)
        for by_gain, wanted in depths.items()
    }
    flips = []
    for measure, at, depth in chosen:
        old_value, new_value = float(left.column(measure).values[at]), float(right.column(measure).values[at])
        query = left.queries[at]
        inside = tuple(
            moved
            for moved in documents[_by_gain(left, measure)][query]
            if min(moved.base_rank or depth + 1, moved.candidate_rank or depth + 1) <= depth
        )
        kind = _kind(old_value, new_value)
        flips.append(Flip(base.name, candidate.name, measure, query, old_value, new_value, kind, depth, inside))
    return flips


def _by_gain(run: ScoredRun, measure: str) -> bool:
    return "gain" in run.column(measure).measure.known.parameters


def _kind(old: float, new: float) -> str:
    if new > old:
        return "up" if old else "gained"
    return "down" if new else "lost"


def show_query(base: ScoredRun, candidate: ScoredRun, rankings: Rankings, query: str) -> ShownQuery:
    """One query's values and rankings on both sides; raises ``InputError`` for one that is not judged."""
    values: dict[str, tuple[float | None, float | None]] = {}
    for measure in base.measures:
        values[measure] = (_value(base, measure, query), _value(candidate, measure, query))
    depth = max((column.measure.cutoff or DEPTH for column in base.columns), default=DEPTH)
    depth = min(depth, 2 * DEPTH)
    by_gain = any(_by_gain(base, measure) for measure in base.measures)
    documents = rankings.documents(base.name, candidate.name, {query: depth}, by_gain=by_gain)[query]
    return ShownQuery(base.name, candidate.name, query, values, depth, documents)


def _value(run: ScoredRun, measure: str, query: str) -> float | None:
    at = run.queries.index_of(query)
    if at is None:
        raise InputError(
            f"query {query!r} is not judged", f"judged are: {', '.join(run.queries.head(5))}, …", query=query
        )
    column = run.column(measure)
    return None if column.reason[at] else float(column.values[at])
