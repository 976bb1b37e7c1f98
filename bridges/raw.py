"""Judgments and runs as the plain dicts that libraries document, for their native calls only: never for scoring."""

from __future__ import annotations

from metricpact.contracts.errors import UnsupportedError
from metricpact.contracts.tables import Judgments, Run

Graded = dict[str, dict[str, int]]
Scored = dict[str, dict[str, float]]


def as_dicts(judgments: Judgments, run: Run, backend: str) -> tuple[Graded, Scored]:
    """query → document → grade, and query → document → score, in input order.

    Raises ``UnsupportedError`` for a run without scores, which no library takes.
    """
    if run.scores is None:
        raise UnsupportedError(
            f"unsupported: {backend} takes rankings with scores only",
            "give the run scores",
            backend=backend,
            reason="the run has no scores",
        )
    graded: Graded = {query: {} for query in judgments.queries}
    for query, doc, grade in judgments.to_polars().iter_rows():
        graded[query][doc] = grade
    scored: Scored = {query: {} for query in run.queries}
    for query, doc, score, _ in run.to_polars().iter_rows():
        scored[query][doc] = score
    return graded, scored
