"""Rows identified by (query, document): 64-bit keys to find candidates fast, the ids themselves to decide.

Keys may collide; nothing is concluded from equal keys until the ids were compared.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
from metricpact.contracts.parallel import in_parts
from metricpact.contracts.tables import Ints

Keys = npt.NDArray[np.uint64]
Codes = npt.NDArray[np.int32]
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio, odd: different queries shift a document differently
_PIECE = 1 << 18


def row_keys(docs: pl.Series, codes: Codes) -> Keys:
    """A 64-bit key for every (query, document), equal for equal pairs within this process."""
    keys = codes.astype(np.uint64)
    keys *= SPREAD

    def part(begin: int, end: int) -> None:
        # In pieces that stay in the processor's cache: the hashes of all rows at once would be another large array.
        for at in range(begin, end, _PIECE):
            step = min(_PIECE, end - at)
            keys[at : at + step] += docs.slice(at, step).hash(seed=0).to_numpy()

    in_parts(len(docs), part)
    return keys


def repeated_rows(keys: Keys, docs: pl.Series, codes: Codes) -> Ints:
    """The rows of every (query, document) that occurs more than once, in row order."""

    def part(begin: int, end: int) -> Keys:
        depth = _common_depth(codes[begin:end])
        if not depth:
            return _doubled(np.sort(keys[begin:end]))
        # Repeats are within a query: short sorts that stay in the cache take half the time of a long one.
        table = keys[begin:end].reshape(-1, depth)
        step = max(1, _PIECE // depth)
        return np.concatenate([_doubled(np.sort(table[at : at + step], axis=1)) for at in range(0, len(table), step)])

    def after_its_query(row: int) -> int:
        return row + int(np.argmax(np.append(codes[row:] != codes[row], True)))

    suspects = np.concatenate(in_parts(len(keys), part, after_its_query))
    if not len(suspects):
        return np.empty(0, np.int64)
    rows = np.flatnonzero(np.isin(keys, suspects))
    frame = pl.DataFrame({"q": codes[rows], "d": docs.gather(rows)})
    return np.asarray(rows[frame.is_duplicated().to_numpy()])


def _doubled(ordered: Keys) -> Keys:
    """Values that equal their neighbour, along the last axis of sorted keys."""
    return np.asarray(ordered[..., 1:][ordered[..., 1:] == ordered[..., :-1]])


def _common_depth(codes: Codes) -> int:
    """The number of rows that every query has, 0 where they differ in it."""
    borders = np.flatnonzero(codes[1:] != codes[:-1]) + 1
    depth = int(borders[0]) if len(borders) else len(codes)
    regular = depth and len(codes) % depth == 0 and np.array_equal(borders, np.arange(depth, len(codes), depth))
    return depth if regular else 0


def first_pair(rows: Ints, docs: pl.Series, codes: Codes) -> tuple[int, int]:
    """The first two of the repeated rows that are the same (query, document)."""
    same = (docs.gather(rows) == docs[int(rows[0])]).to_numpy() & (codes[rows] == codes[rows[0]])
    first, second = rows[same][:2]
    return int(first), int(second)


def first_or_last(rows: Ints, docs: pl.Series, codes: Codes, which: str) -> Ints:
    """Of repeated rows, those to drop so that the first (or last) one of each (query, document) stays."""
    pairs = pl.struct(pl.Series("q", codes[rows]), pl.Series("d", docs.gather(rows)), eager=True)
    stays = pairs.is_first_distinct() if which == "first" else pairs.is_last_distinct()
    return np.asarray(rows[~stays.to_numpy()])


def find_rows(keys: Keys, docs: pl.Series, wanted_keys: Keys, wanted_docs: pl.Series) -> tuple[Ints, Ints]:
    """Where wanted (query, document) pairs occur: (row, index into the wanted) of each match, by row.

    Neither side holds a pair twice. Equal documents with equal keys are equal pairs: a query shifts the hash of
    one document by an amount of its own.
    """
    rows = pl.Series(keys).is_in(pl.Series(wanted_keys).implode()).arg_true().to_numpy().astype(np.int64)
    left = pl.DataFrame({"k": keys[rows], "d": docs.gather(rows), "row": rows})
    right = pl.DataFrame({"k": wanted_keys, "d": wanted_docs, "at": np.arange(len(wanted_keys), dtype=np.int64)})
    found = left.join(right, on=["k", "d"], how="inner", maintain_order="left")
    return found["row"].to_numpy(), found["at"].to_numpy()
