"""Selections laid out as pytrec_eval takes them (dicts), and the limits of trec_eval's C code, for every bridge
whose library ends in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt
from metricpact.bridges.feeds import Feed, Selection, graded, rounded, select
from metricpact.bridges.plan import Unsupported
from metricpact.contracts.contract import Contract
from metricpact.contracts.errors import LimitError
from metricpact.contracts.measures import Measure
from metricpact.contracts.prefixes import Prefixes
from metricpact.contracts.tables import Ints, Judgments

MAX_GRADE = 2**24
"""Largest mapped grade: trec_eval allocates 8 bytes for every grade up to it (here 128 MiB)."""
MAX_DEPTH = 2**21
"""Deepest rank handed over: fillers take some 200 bytes each, and beyond 2^24 its float scores would tie."""
MAX_SCALE = 10**6
"""Largest factor by which a gain table is multiplied to make its gains integers."""
REFUSED_TABLES = f"tables that need a factor beyond {MAX_SCALE} to become integers: trec_eval's gains are integers"


def refuse_table(backend: str, measure: Measure, contract: Contract) -> Unsupported | None:
    """Why a gain table cannot be made one of integers, or None if it can or there is none."""
    if measure.family != "nDCG" or not isinstance(contract.gain, tuple):
        return None
    scale = gain_scale(contract.gain)
    if scale <= MAX_SCALE:
        return None
    reason = f"trec_eval's gains are integers, and this table would have to be multiplied by {scale}"
    return Unsupported(backend, measure, reason, "gain", contract.gain)


def refuse_judgments(judgments: Judgments) -> None:
    """Refuse judgments that would kill the process or take gigabytes when given to pytrec_eval as they are."""
    grades = judgments.grades
    if grades.dtype.kind == "f":
        raise LimitError("pytrec_eval takes integer grades only", "map the grades to integers")
    for query, (begin, end) in enumerate(zip(judgments.offsets, judgments.offsets[1:], strict=False)):
        if end > begin and grades[begin:end].max() < 0:
            raise LimitError(
                f"trec_eval crashes on a query with only negative grades ({judgments.queries[query]!r})",
                "leave the query out",
            )
    if len(grades) and grades.max() > MAX_GRADE:
        raise LimitError(f"grade {grades.max()} is too large for trec_eval", f"grades up to {MAX_GRADE} can be scored")


@cache
def gain_scale(table: tuple[tuple[float, float], ...]) -> int:
    """The smallest factor that makes every gain of a table an integer, gains read as the decimals they print as."""
    return lcm(*(Fraction(repr(gain)).denominator for _, gain in table))


@dataclass(frozen=True, eq=False)
class Groups:
    """Judgments and ranking lengths for one feed, by query index; queries that are not handed over have length 0."""

    qrels: dict[str, dict[str, int]]
    lengths: Ints

    def __iter__(self) -> Iterator[tuple[list[int], dict[str, float]]]:
        """Queries by the length of their ranking, and the ranking: one for all, which only grows."""
        ranking: dict[str, float] = {}
        order = np.argsort(self.lengths, kind="stable")
        lengths = self.lengths[order]
        # numpy's own unique would load numpy.ma, which costs a small run more than all its scoring.
        first = np.flatnonzero(np.diff(lengths, prepend=0) > 0)
        for length in lengths[first].tolist():
            ranking.update((str(rank), -float(rank)) for rank in range(len(ranking) + 1, length + 1))
            begin, end = np.searchsorted(lengths, [length, length + 1])
            yield order[begin:end].tolist(), ranking


def prepare(prefixes: Prefixes, feed: Feed, depth: int | None, backend: str) -> Groups:
    """The judgments and rankings of a feed; raises ``LimitError`` for what trec_eval could not take."""
    selected = select(prefixes, feed, depth, _whole_grades(prefixes, feed, backend))
    if feed.merged and selected.grade.max(initial=0) > MAX_GRADE:
        raise LimitError(
            f"the gains of two documents add up to {int(selected.grade.max())}, and trec_eval needs 8 bytes for every "
            "number up to that",
            f"{backend} is given gains up to {MAX_GRADE}; use --backend reference, or another gain",
        )
    lengths = selected.lengths if feed.exact else rounded(selected.lengths)
    if len(lengths) and lengths.max() > MAX_DEPTH:
        worst = int(lengths.argmax())
        raise LimitError(
            f"query {prefixes.queries[worst]!r} needs {int(lengths[worst])} documents handed to trec_eval",
            f"{backend} is given up to {MAX_DEPTH}; --backend reference has no such limit",
        )
    return Groups(_qrels(selected), lengths)


def _whole_grades(prefixes: Prefixes, feed: Feed, backend: str) -> npt.NDArray[Any]:
    """The grades of a feed as integers, a gain table's gains multiplied until they are."""
    worth = graded(prefixes, feed)
    if feed.grading != "gain":
        return worth
    grades = prefixes.judged.grades
    scale = gain_scale(feed.parameter) if isinstance(feed.parameter, tuple) else 1
    if len(worth) and worth.max() * scale > MAX_GRADE:
        worst = int(worth.argmax())
        raise LimitError(
            f"grade {grades[worst]} (query {prefixes.queries[int(prefixes.judged.query[worst])]!r}) is worth "
            f"{worth[worst] * scale:.17g}, and trec_eval needs 8 bytes for every number up to that",
            f"{backend} is given gains up to {MAX_GRADE}; use --backend reference, or another gain",
        )
    return np.asarray(np.rint(worth * scale), np.int64)


def _qrels(selected: Selection) -> dict[str, dict[str, int]]:
    """Judgments as pytrec_eval takes them: a document at rank r is called "r", one outside the ranking "-n"."""
    rank, handed = selected.rank, np.flatnonzero(selected.lengths)
    place = np.arange(1, len(rank) + 1) - np.searchsorted(selected.query, selected.query)
    ids = np.where(rank > 0, rank, -place)
    names, values = ids.astype(np.str_).tolist(), selected.grade.tolist()
    begins, ends = (np.searchsorted(selected.query, handed, side=side).tolist() for side in ("left", "right"))
    return {
        str(code): dict(zip(names[begin:end], values[begin:end], strict=True))
        for code, begin, end in zip(handed.tolist(), begins, ends, strict=True)
    }
