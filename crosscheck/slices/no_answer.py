"""Questions without an answer: how often the search did what was decided for them."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
from metricpact.contracts.errors import ContractError
from metricpact.crosscheck.slices.intervals import Interval, IntervalOptions, proportion_interval

POLICIES = ("decline", "nearest-with-note")
NO_QUESTIONS = "no NONE questions"
NO_RESPONSES = "not scored: there is no response column"
NO_POLICY = "not scored: the decided behaviour is not named"


@dataclass(frozen=True)
class PassRate:
    """The share of NONE questions that passed: ``passed`` of ``n``; ``unscored`` ones say not what the search did.

    ``rate`` is None where nothing was scored, and ``reason`` says why.
    """

    n: int
    passed: int
    unscored: int
    rate: float | None
    interval: Interval
    reason: str = ""


def judge_responses(rows: pl.DataFrame, policy: str | None) -> pl.DataFrame:
    """NONE rows (run, query_id, ranked_ids, response, nearest_id) with ``passed``: true, false, null for unscored.

    Under ``decline`` a row passes where the search declined. Under ``nearest-with-note`` it passes where the search
    noted that nothing matches and showed something, first of all the nearest id where one is given. Raises
    ``ContractError`` for another policy.
    """
    if policy is None:
        return rows.with_columns(passed=pl.lit(None, pl.Boolean))
    if policy not in POLICIES:
        raise ContractError(f"{policy!r} is not a policy for NONE questions", f"choose from: {', '.join(POLICIES)}")
    response, first = pl.col("response"), pl.col("ranked_ids").list.first()
    if policy == "decline":
        return rows.with_columns(passed=response == "declined")
    shown = first.is_not_null() & (pl.col("nearest_id").is_null() | (first == pl.col("nearest_id")).fill_null(False))
    return rows.with_columns(passed=(response == "noted") & pl.when(response.is_not_null()).then(shown))


def pass_rate(rows: pl.DataFrame, reason: str, options: IntervalOptions) -> PassRate:
    """The pass rate of judged rows; ``reason`` says why nothing is scored, where that is so for all of them."""
    scored = rows["passed"].drop_nulls()
    n, passed, unscored = len(scored), int(scored.sum()), len(rows) - len(scored)
    if not n:
        why = NO_QUESTIONS if not len(rows) else reason or "not scored: no response is given"
        return PassRate(0, 0, unscored, None, Interval(None, None, "none", why), why)
    return PassRate(n, passed, unscored, passed / n, proportion_interval(passed, n, options))
