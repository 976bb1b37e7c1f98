"""Large arrays worked on in parts at once: numpy and polars leave Python's lock free while they compute."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_LARGE = 1 << 20
_MOST_PARTS = 4


def in_parts(size: int, work: Callable[[int, int], T], cut: Callable[[int], int] = int) -> list[T]:
    """``work(begin, end)`` for consecutive ranges that cover ``size`` rows, in their order.

    ``cut`` moves a proposed border to one where rows may be parted. Small sizes are one part, in this thread.
    """
    parts = min(os.cpu_count() or 1, _MOST_PARTS) if size >= _LARGE else 1
    borders = sorted({0, size, *(cut(size * part // parts) for part in range(1, parts))})
    ranges = list(itertools.pairwise(borders)) or [(0, size)]
    if len(ranges) == 1:
        return [work(*ranges[0])]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(len(ranges)) as pool:
        return list(pool.map(work, *zip(*ranges, strict=True)))
