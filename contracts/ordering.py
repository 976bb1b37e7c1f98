"""Rankings put in the order that a contract says: self matches, duplicates, order and ties, in this sequence.

A file is sorted most of the time: that is checked in one pass, and only the queries that offend are sorted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from metricpact.contracts.contract import Contract
from metricpact.contracts.errors import InputError
from metricpact.contracts.rows import Codes, Keys, first_or_last, first_pair, repeated_rows, row_keys
from metricpact.contracts.sorting import queries_of, sort_rows, within
from metricpact.contracts.tables import Floats, Ints, Run


@dataclass(frozen=True, eq=False)
class Ordered:
    """Rankings of the judged queries: rows with their query code, and the rank of each row.

    Rows of a query lie together from ``starts[i]`` on; ``position`` is the evaluated place of each row among all
    rows (None where rows stand in evaluated order already). ``groups`` (only under ``ties=average``) are the
    evaluated places where tie groups begin.
    """

    docs: pl.Series
    codes: Codes
    keys: Keys
    starts: Ints
    position: Ints | None
    groups: Ints | None = None

    def ties_of(self, rows: Ints) -> tuple[Ints, Ints] | None:
        """For some rows, the rank at which each one's tie group begins and the number of documents in it."""
        if self.groups is None:
            return None
        place = rows if self.position is None else self.position[rows]
        at = np.searchsorted(self.groups, place, side="right") - 1
        first, following = self.groups[at], np.minimum(at + 1, len(self.groups) - 1)
        after = np.where(following > at, self.groups[following], len(self.codes))
        return first - self.starts[np.searchsorted(self.starts, rows, side="right") - 1] + 1, after - first

    def rank_of(self, rows: Ints) -> Ints:
        """The one-based rank of some rows."""
        start = self.starts[np.searchsorted(self.starts, rows, side="right") - 1]
        place = rows if self.position is None else self.position[rows]
        return place - start + 1

    def returned(self, size: int) -> Ints:
        """How many documents each of ``size`` judged queries returns."""
        counts = np.zeros(size, np.int64)
        if len(self.starts):
            counts[self.codes[self.starts]] = np.diff(np.append(self.starts, len(self.codes)))
        return counts


@dataclass(eq=False)
class _Rows:
    """The rows that are left, with what is needed to order them and to name them in an error."""

    run: Run
    docs: pl.Series
    codes: Codes
    keys: Keys
    scores: Floats | None
    ranks: Ints | None
    origin_rows: Ints | None = None

    def keep(self, mask: npt.NDArray[np.bool_]) -> None:
        """Drop the rows outside the mask."""
        before = self.origin_rows if self.origin_rows is not None else np.arange(len(mask))
        self.docs, self.codes, self.keys = self.docs.filter(pl.Series(mask)), self.codes[mask], self.keys[mask]
        self.scores = None if self.scores is None else self.scores[mask]
        self.ranks = None if self.ranks is None else self.ranks[mask]
        self.origin_rows = before[mask]

    @property
    def starts(self) -> Ints:
        """The rows where queries begin."""
        if not len(self.codes):
            return np.empty(0, np.int64)
        return np.concatenate([[0], np.flatnonzero(self.codes[1:] != self.codes[:-1]) + 1]).astype(np.int64)

    def origin(self, row: int) -> int:
        """The row of the run that a row stands for."""
        return row if self.origin_rows is None else int(self.origin_rows[row])

    def line(self, row: int) -> str:
        """`` (line 7)``, or nothing where there are no lines."""
        number = self.run.origin.line(self.origin(row))
        return f" (line {number})" if number else ""

    def error(self, row: int, fact: str, hint: str) -> InputError:
        """An error at one row; the fact ends by naming the query."""
        error = self.run.error(self.origin(row), fact, hint)
        return self.run.error(self.origin(row), f"{fact}, query {error.query!r}", hint)


def order_rankings(run: Run, place: Ints, queries: pl.Series, contract: Contract) -> Ordered:
    """Order the rankings of a run under a contract; ``place`` maps its queries to judged ones (−1: to none).

    ``queries`` are the judged query ids. Raises ``InputError`` with file:line for duplicates, ties, rank conflicts
    and equal ranks where the contract rejects them.
    """
    codes = np.repeat(place.astype(np.int32), np.diff(run.offsets))
    rows = _Rows(run, run.docs, codes, np.empty(0, np.uint64), run.scores, run.ranks)
    rows.keys = row_keys(rows.docs, codes)
    if len(place) and place.min() < 0:
        rows.keep(codes >= 0)
    if contract.self_match == "remove":
        own = rows.docs == queries.gather(rows.codes)
        if own.any():
            rows.keep(~own.to_numpy())
    repeated = repeated_rows(rows.keys, rows.docs, rows.codes)
    if len(repeated):
        if contract.duplicate == "error":
            raise _returned_twice(rows, repeated)
        mask = np.ones(len(rows.codes), np.bool_)
        mask[first_or_last(repeated, rows.docs, rows.codes, contract.duplicate)] = False
        rows.keep(mask)
    starts = rows.starts
    position, groups = _order(rows, starts, contract)
    return Ordered(rows.docs, rows.codes, rows.keys, starts, position, groups)


def _order(rows: _Rows, starts: Ints, contract: Contract) -> tuple[Ints | None, Ints | None]:
    """The evaluated place of each row (None: as they stand), and where tie groups begin under ``ties=average``."""
    if contract.order == "given" or (rows.scores is None and rows.ranks is None and rows.run.rank_fault is None):
        return None, None
    # Without scores the ranks are all there is to say the order: rows may stand in any.
    if contract.order == "rank" or rows.scores is None:
        return _by_rank(rows, starts), None
    scores = _narrow(rows.scores) if contract.score_width == "float32" else rows.scores
    order: Ints | None = None
    rising = within(scores[1:] > scores[:-1], starts)
    if rising.any():
        order = np.arange(len(scores))
        sort_rows(order, starts, queries_of(np.flatnonzero(rising), starts), -scores)
    if contract.rank_conflict == "error":
        _check_ranks(rows, starts, scores, order)
    seen = scores if order is None else scores[order]
    tied = within(seen[1:] == seen[:-1], starts)
    if contract.ties == "error" and tied.any():
        at = int(np.flatnonzero(tied)[0])
        first, second = (at, at + 1) if order is None else (int(order[at]), int(order[at + 1]))
        raise rows.error(
            second,
            f"documents {rows.docs[first]!r}{rows.line(first)} and {rows.docs[second]!r} have the same score "
            f"{seen[at]}",
            "choose their order: --set ties=given, docid_desc or docid_asc",
        )
    if contract.ties in ("docid_desc", "docid_asc") and tied.any():
        order = _order_ties(rows, order, tied, starts, descending=contract.ties == "docid_desc")
    if contract.ties == "average":
        return _inverse(order), np.flatnonzero(np.append(True, ~tied)[: len(seen)])
    return _inverse(order), None


def _by_rank(rows: _Rows, starts: Ints) -> Ints | None:
    ranks = rows.ranks
    if ranks is None:
        raise rows.run.rank_fault or InputError(
            "the run has no rank column",
            "order=rank needs one; choose order=score or order=given",
            source=rows.run.origin.name,
        )
    order: Ints | None = None
    falling = within(ranks[1:] <= ranks[:-1], starts)
    if falling.any():
        order = np.arange(len(ranks))
        sort_rows(order, starts, queries_of(np.flatnonzero(falling), starts), ranks)
    seen = ranks if order is None else ranks[order]
    same = within(seen[1:] == seen[:-1], starts)
    if same.any():
        at = int(np.flatnonzero(same)[0])
        first, second = (at, at + 1) if order is None else (int(order[at]), int(order[at + 1]))
        raise rows.error(
            second,
            f"documents {rows.docs[first]!r}{rows.line(first)} and {rows.docs[second]!r} have the same rank {seen[at]}",
            "ranks have to differ where they order; choose order=score",
        )
    return _inverse(order)


def _check_ranks(rows: _Rows, starts: Ints, scores: npt.NDArray[Any], order: Ints | None) -> None:
    """Refuse a rank column that strictly contradicts the scores; ``order`` sorts the rows by falling score."""
    ranks = rows.ranks
    hint = "choose which counts: --set rank_conflict=ignore (the scores) or --set order=rank (the ranks)"
    if ranks is None:
        if rows.run.rank_fault is not None:
            raise rows.run.rank_fault
        return
    better, worse = rank_conflicts(ranks, scores, rows.codes, starts, order)
    if len(worse):
        first, second = int(better[0]), int(worse[0])
        raise rows.error(
            second,
            f"rank column contradicts the scores: rank {ranks[second]} scores {scores[second]}, "
            f"rank {ranks[first]}{rows.line(first)} only {scores[first]}",
            hint,
        )


def rank_conflicts(
    ranks: Ints, scores: npt.NDArray[Any], codes: Codes, starts: Ints, order: Ints | None
) -> tuple[Ints, Ints]:
    """Pairs of rows of one query, one with the better rank and one with the worse, where the worse scores higher.

    ``order`` sorts the rows by falling score (None: they stand so). A contradiction shows in one pair at least.
    """
    # Ranks that rise with falling scores contradict nothing; the rest is looked at more closely.
    seen = ranks if order is None else ranks[order]
    astray = within(seen[1:] < seen[:-1], starts)
    if not astray.any():
        return np.empty(0, np.int64), np.empty(0, np.int64)
    by_rank = np.arange(len(scores)) if order is None else order.copy()
    queries = queries_of(np.flatnonzero(astray), starts)
    sort_rows(by_rank, starts, queries, ranks)
    better, worse = by_rank[:-1], by_rank[1:]
    # By rank and, among equal ranks, by falling score: a contradiction shows between neighbours.
    conflict = (codes[better] == codes[worse]) & (ranks[better] < ranks[worse]) & (scores[better] < scores[worse])
    return better[conflict], worse[conflict]


def _order_ties(
    rows: _Rows, order: Ints | None, tied: npt.NDArray[np.bool_], starts: Ints, *, descending: bool
) -> Ints:
    """The order with every tie group sorted by document id."""
    result = np.arange(len(rows.codes)) if order is None else order
    member = np.zeros(len(result), np.bool_)
    member[1:] |= tied
    member[:-1] |= tied
    at = np.flatnonzero(member)
    begins = np.ones(len(at), np.bool_)
    begins[1:] = ~tied[at[1:] - 1] | (np.diff(at) > 1)
    frame = pl.DataFrame({"group": np.cumsum(begins), "doc": rows.docs.gather(result[at]), "row": result[at]})
    # Strings sort by their UTF-8 bytes, which is also trec_eval's strcmp.
    sorted_rows = frame.sort("group", "doc", descending=[False, descending])["row"].to_numpy()
    result = result.copy()
    result[at] = sorted_rows
    return result


def _inverse(order: Ints | None) -> Ints | None:
    if order is None:
        return None
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place


def _narrow(scores: Floats) -> npt.NDArray[Any]:
    with np.errstate(over="ignore"):  # beyond single precision all scores are equally infinite, as in trec_eval 9
        return scores.astype(np.float32)


def _returned_twice(rows: _Rows, repeated: Ints) -> InputError:
    first, second = first_pair(repeated, rows.docs, rows.codes)
    return rows.error(
        second,
        f"document {rows.docs[second]!r} is returned twice{', first' if rows.line(first) else ''}{rows.line(first)}",
        "remove one of the two, or choose which counts: --set duplicate=first or duplicate=last",
    )
