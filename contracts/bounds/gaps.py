"""The unjudged documents of the evaluated prefixes: how many, where, and as matrices for formulas along ranks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from metricpact.contracts.prefixes import Prefixes
from metricpact.contracts.tables import Floats, Ints

Bools = npt.NDArray[np.bool_]
_CELLS = 1 << 20
"""Cells of one block's matrices: a few of them fit into the processor's cache or little more."""


@dataclass(frozen=True, eq=False)
class Gaps:
    """What is unjudged in each query's prefix.

    ``depth`` is the number of documents in the prefix, ``count`` how many of them are unjudged, ``first`` and
    ``last`` the ranks of the first and last one (they mean nothing where the count is 0); ``inside`` tells which
    hits are in the prefix.
    """

    depth: Ints
    count: Ints
    first: Ints
    last: Ints
    inside: Bools


@dataclass(frozen=True, eq=False)
class Block:
    """Some queries (ascending) as matrices, a row a query and a column a rank.

    ``unjudged`` marks the unjudged documents of the prefix; ``hit`` lists the hits in these prefixes, ``row`` and
    ``column`` their cells.
    """

    queries: Ints
    unjudged: Bools
    hit: Ints
    row: Ints
    column: Ints

    def spread(self, values: npt.NDArray[np.float64 | np.bool_]) -> Floats:
        """One value a hit (of all hits of the prefixes) as a matrix, 0 where there is no hit."""
        matrix = np.zeros(self.unjudged.shape)
        matrix[self.row, self.column] = values[self.hit]
        return matrix


def find_gaps(prefixes: Prefixes, cutoff: int | None) -> Gaps:
    """The unjudged documents up to a cutoff, or of the whole rankings."""
    hits = prefixes.hits
    depth = hits.returned if cutoff is None else np.minimum(cutoff, hits.returned)
    inside = hits.rank <= depth[hits.query]
    query, rank = hits.query[inside], hits.rank[inside]
    judged = np.bincount(query, minlength=prefixes.size)
    place = np.arange(1, len(query) + 1) - (np.cumsum(judged) - judged)[query]
    # A hit stands at its place from the top only if all ranks above it are judged, and so from the end.
    leading = np.bincount(query[rank == place], minlength=prefixes.size)
    trailing = np.bincount(query[depth[query] - rank == judged[query] - place], minlength=prefixes.size)
    return Gaps(depth, depth - judged, leading + 1, depth - trailing, inside)


def blocks(prefixes: Prefixes, gaps: Gaps, layers: int = 1) -> Iterator[Block]:
    """The queries that have unjudged documents in their prefixes, those of similar depth together.

    ``layers`` is how many rows a query takes at most in the matrices that are made of a block.
    """
    hits = prefixes.hits
    open_queries = np.flatnonzero(gaps.count > 0)
    deepest_first = open_queries[np.argsort(-gaps.depth[open_queries], kind="stable")]
    at = 0
    while at < len(deepest_first):
        depth = int(gaps.depth[deepest_first[at]])
        queries = np.sort(deepest_first[at : at + max(1, _CELLS // (depth * layers))])
        at += len(queries)
        row_of = np.full(prefixes.size, -1, np.int64)
        row_of[queries] = np.arange(len(queries))
        hit = np.flatnonzero(gaps.inside & (row_of[hits.query] >= 0))
        row, column = row_of[hits.query[hit]], hits.rank[hit] - 1
        unjudged = np.arange(depth) < gaps.depth[queries][:, None]
        unjudged[row, column] = False
        yield Block(queries, unjudged, hit, row, column)
