"""One correction for all the tests of a comparison: Holm's, or Benjamini and Hochberg's."""

from __future__ import annotations

import numpy as np
from metricpact.contracts.tables import Floats, Ints

CORRECTIONS = ("holm", "bh", "none")


def correct(p: Floats, correction: str) -> Floats:
    """The corrected p-values of a family, in its order.

    ``holm`` holds the chance of any false finding (Holm, Scandinavian Journal of Statistics 6, 1979), ``bh`` the
    share of false ones among the findings (Benjamini and Hochberg, JRSS B 57, 1995); ``none`` leaves them alone.
    """
    m, order = len(p), np.argsort(p, kind="stable")
    if correction == "none" or not m:
        return p.copy()
    if correction == "holm":
        steps = np.maximum.accumulate(p[order] * np.arange(m, 0, -1))
    else:
        steps = np.minimum.accumulate((p[order] * m / np.arange(1, m + 1))[::-1])[::-1]
    corrected = np.empty(m)
    corrected[order] = np.minimum(steps, 1.0)
    return corrected


def corrected_if(p: Floats, instead: Floats, correction: str) -> Floats:
    """What the correction would make of each p-value, were that one alone ``instead``.

    A changed value moves from its place in the order to another, and those between the two by one place. The extremes
    over what stays and over what moves are looked up, so that a large family takes no longer than sorting it.
    """
    m = len(p)
    if correction == "none" or not m:
        return instead.copy()
    order, places = np.argsort(p, kind="stable"), np.arange(m)
    ordered, old = p[order], np.empty(m, np.int64)
    old[order] = places
    new = np.searchsorted(ordered, instead, side="left") - (p < instead)
    if correction == "holm":
        before = np.maximum.accumulate(np.concatenate([[0.0], ordered * (m - places)]))[np.minimum(new, old)]
        moved = -_least(-ordered * (m - places + 1), old + 1, new + 1)
        return np.asarray(np.minimum(np.maximum(np.maximum(before, moved), instead * (m - new)), 1.0))
    steps = np.concatenate([ordered * m / (places + 1), [np.inf]])
    after = np.minimum.accumulate(steps[::-1])[::-1][np.maximum(new, old) + 1]
    moved = _least(ordered * m / (places + 2), new, old)
    return np.asarray(np.minimum(np.minimum(np.minimum(after, moved), instead * m / (new + 1)), 1.0))


def _least(values: Floats, begin: Ints, end: Ints) -> Floats:
    """The least of ``values[begin:end]`` for many ranges, infinite for an empty one, by doubling windows."""
    least, length, window, width = np.full(len(begin), np.inf), end - begin, values, 1
    while width <= length.max():
        fits = (length >= width) & (length < 2 * width)
        least[fits] = np.minimum(window[begin[fits]], window[end[fits] - width])
        window, width = np.minimum(window[:-width], window[width:]), 2 * width
    return least
