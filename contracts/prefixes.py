"""The evaluated prefix, settled once for all measures and backends: the chapter's "define the evaluated prefix".

Self matches, duplicates, order, ties, negative grades, condensing, missing and extra queries are decided here by
the contract; after it no backend can disagree about them. What is kept is sparse: the judged documents at their
ranks, how many documents were returned, and all judged grades.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from metricpact.contracts.contract import Contract
from metricpact.contracts.errors import InputError
from metricpact.contracts.judged import JudgedGrades, settle_judgments
from metricpact.contracts.ordering import Ordered, order_rankings
from metricpact.contracts.rows import find_rows
from metricpact.contracts.tables import Ints, Judgments, Run


@dataclass(frozen=True, eq=False)
class Hits:
    """Judged documents in the rankings, by query and then rank (one-based).

    ``judgment`` is the index of each one's row in ``Prefixes.judged``; ``returned`` counts every query's documents.
    ``tie_start`` and ``tie_size`` (only under ``ties=average``) give the ranks that each one's tie group takes.
    """

    query: npt.NDArray[np.int32]
    rank: Ints
    judgment: Ints
    returned: Ints
    tie_start: Ints | None = None
    tie_size: Ints | None = None


@dataclass(frozen=True, eq=False)
class Prefixes:
    """What every measure looks at, per judged query (``queries``, in the judgments' order).

    ``hits`` are the rankings that measures see (condensed under ``unjudged=removed``), ``listed`` those that
    Judged sees, before condensing. ``judged`` holds all judged grades. ``answered`` tells which queries the run
    has; ``missing`` and ``extra`` are the ids on only one side.
    """

    queries: pl.Series
    judged: JudgedGrades
    hits: Hits
    listed: Hits
    answered: npt.NDArray[np.bool_]
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    contract: Contract
    _memo: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def size(self) -> int:
        """The number of judged queries."""
        return len(self.queries)

    @property
    def hit_grades(self) -> npt.NDArray[Any]:
        """The grade of every hit."""
        return self.judged.grades[self.hits.judgment]

    def relevant(self, threshold: int) -> Ints:
        """|R| per query: judged documents with a grade of ``threshold`` or more."""
        return self.judged.count(self.judged.grades >= threshold)

    def relevant_hits(self, threshold: int) -> npt.NDArray[np.bool_]:
        """Whether each hit is relevant."""
        return np.asarray(self.hit_grades >= threshold)

    def remembered(self, key: Any, make: Any) -> Any:
        """The value kept under ``key``, made once by ``make()``: measures share ideals and gains this way."""
        if key not in self._memo:
            self._memo[key] = make()
        return self._memo[key]


def build_prefixes(judgments: Judgments, run: Run, contract: Contract) -> Prefixes:
    """Settle the evaluated prefixes of a run under a contract.

    Raises ``InputError`` (with file, line, query and document where known) for what the contract rejects:
    duplicates, ties, negative or fractional grades, rank conflicts, extra queries, no query in common.
    """
    if len(judgments.queries) == 0:
        raise InputError("no query is judged", "judgments hold at least one query", source=judgments.origin.name)
    place = _match_queries(judgments, run)
    extra = run.queries.filter(pl.Series(place < 0))
    if len(extra) and contract.extra_query == "error":
        raise InputError(
            f"{len(extra)} queries of the run are not judged: {', '.join(extra.head(5))}",
            "extra_query=ignore leaves them out and reports them",
            source=run.origin.name,
            query=extra[0],
        )
    answered = np.zeros(len(judgments.queries), np.bool_)
    answered[place[place >= 0]] = True
    judged = settle_judgments(judgments, contract)
    ordered = order_rankings(run, place, judgments.queries, contract)
    listed = _locate(judged, ordered)
    hits = _condense(listed) if contract.unjudged == "removed" else listed
    return Prefixes(
        queries=judgments.queries,
        judged=judged,
        hits=hits,
        listed=listed,
        answered=answered,
        missing=tuple(judgments.queries.filter(pl.Series(~answered))),
        extra=tuple(extra),
        contract=contract,
    )


def _match_queries(judgments: Judgments, run: Run) -> Ints:
    """The index among the judged queries of every query of the run, −1 for an extra one."""
    known = pl.DataFrame({"q": judgments.queries, "at": np.arange(len(judgments.queries), dtype=np.int64)})
    asked = pl.DataFrame({"q": run.queries})
    place = asked.join(known, on="q", how="left", maintain_order="left")["at"].fill_null(-1).to_numpy()
    if len(place) and (place < 0).all():
        raise InputError(
            f"mismatched labels: judgments and run share no query (judged: {judgments.queries[0]!r}, …; "
            f"run: {run.queries[0]!r}, …)",
            "query ids are compared as text, to the letter: look for prefixes, leading zeros, other letter case",
            source=run.origin.name,
            query=run.queries[0],
        )
    return place


def _locate(judged: JudgedGrades, ordered: Ordered) -> Hits:
    """The judged documents among the ordered rows, by query and rank."""
    rows, at = find_rows(ordered.keys, ordered.docs, judged.keys, judged.docs)
    query = judged.query[at]
    rank = ordered.rank_of(rows)
    by = np.lexsort((rank, query))
    ties = ordered.ties_of(rows)
    return Hits(
        query=query[by],
        rank=rank[by],
        judgment=at[by],
        returned=ordered.returned(judged.size),
        tie_start=None if ties is None else ties[0][by],
        tie_size=None if ties is None else ties[1][by],
    )


def _condense(listed: Hits) -> Hits:
    """The rankings without their unjudged documents (condensed lists: Sakai, "Alternatives to Bpref", SIGIR 2007).

    As with Bpref an unjudged document is not taken for a negative one. The judged documents move up to ranks that they
    did not have, so the value is of a ranking that nobody returned, the better the fewer documents were judged; it
    creates no missing judgments, and there is nothing left to bound it by.
    """
    size = len(listed.returned)
    counts = np.bincount(listed.query, minlength=size).astype(np.int64)
    starts = np.cumsum(counts) - counts
    at = np.arange(len(listed.query), dtype=np.int64)
    tie_start = tie_size = None
    if listed.tie_start is not None and len(at):
        new_group = np.r_[True, (np.diff(listed.query) != 0) | (np.diff(listed.tie_start) != 0)]
        group = np.cumsum(new_group) - 1
        first = np.flatnonzero(new_group)
        tie_start = (first - starts[listed.query[first]] + 1)[group]
        tie_size = np.bincount(group)[group]
    return Hits(
        query=listed.query,
        rank=at - starts[listed.query] + 1,
        judgment=listed.judgment,
        returned=counts,
        tie_start=tie_start if tie_start is not None else listed.tie_start,
        tie_size=tie_size if tie_size is not None else listed.tie_size,
    )
