"""Two runs brought together by query id, whatever the order of their queries."""

from __future__ import annotations

import polars as pl
from metricpact.contracts.errors import InputError
from metricpact.crosscheck.slices.scored import ScoredRun


def paired(first: ScoredRun, second: ScoredRun) -> tuple[ScoredRun, ScoredRun, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Two runs with their shared queries only, by id, and the ids that one side alone has.

    Raises ``InputError`` where they share none.
    """
    left = pl.DataFrame({"query_id": first.queries}).with_row_index("left")
    right = pl.DataFrame({"query_id": second.queries}).with_row_index("right")
    both = left.join(right, on="query_id", how="inner").sort("query_id")
    if not len(both):
        raise InputError(
            f"{first.name} and {second.name} share no query",
            "query ids are compared as text, to the letter: are these runs over one set of queries?",
        )
    alone = (
        tuple(left.join(right, on="query_id", how="anti")["query_id"].sort()),
        tuple(right.join(left, on="query_id", how="anti")["query_id"].sort()),
    )
    return first.take(both["left"].to_numpy()), second.take(both["right"].to_numpy()), alone
