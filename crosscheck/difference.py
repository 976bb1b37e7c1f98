"""How far apart two sets of scores of the same run are."""

from __future__ import annotations

from metricpact.contracts.scores import Scores


def largest_disagreement(first: Scores, second: Scores) -> float:
    """The largest difference of two values for the same query and measure; infinite where only one is defined."""
    worst = 0.0
    for name in first.measures:
        theirs = second.by_query(name)
        for query, value in first.by_query(name).items():
            other = theirs[query]
            if value is not None and other is not None:
                worst = max(worst, abs(value - other))
            elif value is not other:
                return float("inf")
    return worst
