"""One correction for all the tests of a comparison: Holm's, or Benjamini and Hochberg's."""

from __future__ import annotations

import numpy as np
from metricpact.contracts.tables import Floats

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
    """What the correction would make of each p-value, were that one alone ``instead``."""
    best = np.empty(len(p))
    for at, value in enumerate(instead):
        changed = p.copy()
        changed[at] = value
        best[at] = correct(changed, correction)[at]
    return best
