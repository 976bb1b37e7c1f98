"""One candidate against one base on one measure and slice."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import polars as pl
from metricpact.crosscheck.compare.paired_tests import PValue
from metricpact.crosscheck.slices.intervals import Interval

BETTER, WORSE, NOT_SHOWN = "better", "worse", "no difference shown"
UNRESOLVED, FEW_RESAMPLES = "cannot resolve at this n", "cannot resolve with so few resamples"
UNTESTED = "no test"


@dataclass(frozen=True)
class Difference:
    """One candidate against the base on one measure and slice.

    ``n`` pairs of queries have a value on both sides; ``undefined`` pairs have none on one side at least.
    ``difference`` is candidate − base, of the means over the n pairs; None where there is no pair.
    ``minimum_detectable`` is described at ``minimum_detectable_difference``; ``note`` labels what is to be known.
    The means are over queries (macro); the micro values are pooled counts over the same n queries, for measures that
    are one count over another.
    """

    base: str
    candidate: str
    slice: str
    measure: str
    n: int
    undefined: int
    base_mean: float | None
    candidate_mean: float | None
    difference: float | None
    interval: Interval
    wins: int
    ties: int
    losses: int
    p: PValue
    corrected: float | None
    minimum_detectable: float | None
    verdict: str
    note: str = ""
    base_micro: float | None = None
    candidate_micro: float | None = None
    base_signature: str = ""
    candidate_signature: str = ""


SCHEMA = {
    **dict.fromkeys(("base", "candidate", "slice", "measure"), pl.String),
    **dict.fromkeys(("n", "undefined"), pl.Int64),
    **dict.fromkeys(("base_mean", "candidate_mean", "difference", "lower", "upper"), pl.Float64),
    **dict.fromkeys(("interval_method", "interval_reason"), pl.String),
    **dict.fromkeys(("wins", "ties", "losses"), pl.Int64),
    **dict.fromkeys(("p", "corrected_p", "least_p"), pl.Float64),
    **dict.fromkeys(("p_method", "p_reason"), pl.String),
    **dict.fromkeys(("minimum_detectable", "base_micro", "candidate_micro"), pl.Float64),
    **dict.fromkeys(("verdict", "note", "base_signature", "candidate_signature"), pl.String),
}
"""The columns of ``Comparison.to_polars``."""


def flat(found: Difference) -> dict[str, Any]:
    """A difference as one flat record."""
    held = asdict(found)
    interval, p = held.pop("interval"), held.pop("p")
    held |= {"lower": interval["lower"], "upper": interval["upper"]}
    held |= {"interval_method": interval["method"], "interval_reason": interval["reason"]}
    held |= {"p": p["p"], "corrected_p": held.pop("corrected"), "least_p": p["least"]}
    held |= {"p_method": p["method"], "p_reason": p["reason"]}
    return {name: held[name] for name in SCHEMA}
