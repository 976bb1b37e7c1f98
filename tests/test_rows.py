"""Rows by key: repeats and matches are found exactly, also in parts, and sorting stays inside queries."""

from __future__ import annotations

import random

import numpy as np
import polars as pl
import pytest
from metricpact.contracts import parallel
from metricpact.contracts.rows import find_rows, first_or_last, first_pair, repeated_rows, row_keys
from metricpact.contracts.sorting import queries_of, sort_rows, within


@pytest.fixture(params=[1 << 20, 1])
def parted(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once in one part, once in as many as there can be."""
    monkeypatch.setattr(parallel, "_LARGE", request.param)
    monkeypatch.setattr(parallel.os, "cpu_count", lambda: 4)


@pytest.mark.usefixtures("parted")
def test_repeated_rows_are_found_wherever_they_are() -> None:
    """Against counting pairs: repeats inside and across the parts, and equal documents of different queries."""
    rng = random.Random(7)
    for attempt in range(300):
        if attempt % 2:  # rankings of one depth are looked at in another way
            depth = rng.randrange(1, 6)
            pairs = [(query, rng.choice("abcdefgh")) for query in range(rng.randrange(6)) for _ in range(depth)]
        else:
            pairs = sorted((rng.randrange(6), rng.choice("abcde")) for _ in range(rng.randrange(25)))
        codes = np.array([query for query, _ in pairs], np.int32)
        docs = pl.Series([doc for _, doc in pairs], dtype=pl.String)
        keys = row_keys(docs, codes)
        expected = [row for row, pair in enumerate(pairs) if pairs.count(pair) > 1]
        repeated = repeated_rows(keys, docs, codes)
        assert repeated.tolist() == expected
        if expected:
            twins = [row for row, pair in enumerate(pairs) if pair == pairs[expected[0]]]
            assert list(first_pair(repeated, docs, codes)) == twins[:2]
            kept = {"first": min, "last": max}
            for which, choose in kept.items():
                dropped = first_or_last(repeated, docs, codes, which).tolist()
                stay = {choose(row for row in expected if pairs[row] == pairs[one]) for one in expected}
                assert sorted(dropped) == sorted(set(expected) - stay)


@pytest.mark.usefixtures("parted")
def test_wanted_pairs_are_found_and_no_other() -> None:
    """Against looking pairs up in a dict."""
    rng = random.Random(8)
    for _ in range(300):
        have = sorted({(rng.randrange(5), rng.choice("abcdefg")) for _ in range(rng.randrange(20))})
        want = sorted({(rng.randrange(5), rng.choice("abcdefg")) for _ in range(rng.randrange(20))})

        def columns(pairs: list[tuple[int, str]]) -> tuple[pl.Series, np.ndarray[tuple[int], np.dtype[np.int32]]]:
            docs = pl.Series([doc for _, doc in pairs], dtype=pl.String)
            return docs, np.array([query for query, _ in pairs], np.int32)

        (docs, codes), (wanted, wanted_codes) = columns(have), columns(want)
        rows, at = find_rows(row_keys(docs, codes), docs, row_keys(wanted, wanted_codes), wanted)
        expected = [(row, want.index(pair)) for row, pair in enumerate(have) if pair in want]
        assert list(zip(rows.tolist(), at.tolist(), strict=True)) == expected


def test_equal_keys_of_different_pairs_decide_nothing() -> None:
    """With every key the same, the ids alone tell the pairs apart."""
    docs, codes = pl.Series(["a", "b", "a", "b", "b"]), np.array([0, 0, 1, 1, 1], np.int32)
    keys = np.zeros(5, np.uint64)
    assert repeated_rows(keys, docs, codes).tolist() == [3, 4]


def test_sorting_stays_inside_queries_and_is_stable() -> None:
    """Against Python's sort, query by query, with one and with two keys."""
    rng = random.Random(9)
    for _ in range(200):
        lengths = [rng.randrange(1, 6) for _ in range(rng.randrange(1, 7))]
        starts = np.cumsum([0, *lengths[:-1]])
        size = sum(lengths)
        high, low = np.array([rng.randrange(3) for _ in range(size)]), np.array([rng.randrange(3) for _ in range(size)])
        order = np.arange(size)
        astray = within((high[1:] < high[:-1]) | ((high[1:] == high[:-1]) & (low[1:] < low[:-1])), starts)
        sort_rows(order, starts, queries_of(np.flatnonzero(astray), starts), low, high)
        expected = [
            row
            for start, length in zip(starts.tolist(), lengths, strict=True)
            for row in sorted(range(start, start + length), key=lambda row: (high[row], low[row]))
        ]
        assert order.tolist() == expected
