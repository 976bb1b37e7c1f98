"""No-answer behaviour under a declared absence: what was returned, and whether the controller kept its own rules.

Control flow and evidence quality are two questions: a controller that follows every rule can return weak evidence,
and a proxy that claims sufficiency may be wrong (the chapter, "Score the decision without making it the answer").
Absence is declared for a scope; judgments without a positive document do not establish it.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

STOPS = {
    "exhausted": "nothing was left to try",
    "budget": "the budget was spent",
    "declined": "the best candidate was too weak",
    "sufficiency-proxy": "a proxy claimed that the evidence suffices",
    "error": "something failed",
}
"""Why a controller says that it stopped."""
CORRECT, WRONG, CANNOT_JUDGE = "correct", "wrong", "cannot judge"
NEED = {
    **{"need": pl.String, "line": pl.Int64, "judgement": pl.String, "declared_by": pl.String, "scope": pl.String},
    **{"date": pl.String, "stop": pl.String, "budget": pl.Float64, "sufficient_at": pl.Float64},
    **{"decline_below": pl.Float64, "returned": pl.Int64},
}
"""A need, its judgement (absent or present), its controller's rules (null where it has none), the end of its trace."""
STEP = {
    **{"at": pl.UInt32, "step": pl.Int64, "cost": pl.Float64, "next_cost": pl.Float64, "sufficiency": pl.Float64},
    **{"best": pl.Float64, "remaining": pl.Int64},
}
"""A step of the need in row ``at``, counted from 1: what it spent and what it left behind."""
_ROUNDING = 1e-9
"""Costs are sums of decimals: 0.1 + 0.2 does not pass a budget of 0.3."""


@dataclass(frozen=True, eq=False)
class Absence:
    """Needs (``NEED``), the steps of their traces (``STEP``) and the units returned (at, source, document, …)."""

    name: str
    needs: pl.DataFrame
    steps: pl.DataFrame
    returned: pl.DataFrame
    sha256: str | None = None


def control_flow(needs: pl.DataFrame, steps: pl.DataFrame) -> pl.DataFrame:
    """One row a need: control (correct, wrong, cannot judge) and why.

    Wrong: it spent more than its budget; it went on after a step at which a rule of its own said stop; it returned
    candidates though it declined, or should have; or the reason that it gives does not hold at its last step. A budget
    is due when it is spent or the next step would not fit; the proxy's threshold and exhaustion when they are reached.
    Where rule or record is missing, nothing is judged; so too for errors, which no rule foresees.
    """
    rows = needs.with_row_index("at")
    walked = steps.join(rows.select("at", "budget", "sufficient_at"), on="at", how="left", maintain_order="left")
    spent = pl.col("cost").cum_sum().over("at", order_by="step")
    walked = walked.with_columns(spent.alias("spent")).with_columns(
        ((pl.col("spent") >= pl.col("budget") - _ROUNDING) | _no_fit()).fill_null(value=False).alias("spent_up"),
        (pl.col("sufficiency") >= pl.col("sufficient_at")).fill_null(value=False).alias("sufficed"),
        (pl.col("remaining") == 0).fill_null(value=False).alias("ran_out"),
    )
    is_last = pl.col("step") == pl.col("step").max().over("at")
    went_on = walked.filter(~is_last & (pl.col("spent_up") | pl.col("sufficed") | pl.col("ran_out")))
    due = (
        pl.when("spent_up")
        .then(pl.lit("the budget was spent"))
        .when("sufficed")
        .then(pl.lit("its proxy claimed sufficiency"))
        .otherwise(pl.lit("nothing was left to try"))
    )
    told = pl.format("went on after step {}, when {}", "step", due).alias("went_on")
    first = (
        went_on.with_columns(told).sort("at", "step").group_by("at", maintain_order=True).agg(pl.col("went_on").first())
    )
    ends = walked.filter(is_last).drop("budget", "sufficient_at")
    joined = rows.join(ends, on="at", how="left", maintain_order="left").join(
        first, on="at", how="left", maintain_order="left"
    )
    # A controller that took no step has spent nothing.
    joined = joined.with_columns(pl.col("spent").fill_null(0.0))
    overspent = (pl.col("spent") > pl.col("budget") + _ROUNDING).fill_null(value=False)
    declined = pl.col("stop") == "declined"
    too_weak = (pl.col("best") < pl.col("decline_below")).fill_null(value=False)
    answered = (pl.col("returned") > 0) & (declined | too_weak)
    weak = (
        pl.when(declined).then(pl.lit("declined")).otherwise(pl.lit("its best score was below its rule for declining"))
    )
    holds, unknown = _reason_holds()
    unfounded = pl.format("stopped for '{}', which did not hold at its last step", "stop")
    why = (
        pl.when(overspent)
        .then(pl.format("spent {} of a budget of {}", pl.col("spent").round(9), "budget"))
        .when(pl.col("went_on").is_not_null())
        .then("went_on")
        .when(answered)
        .then(pl.format("{}, and {} candidate(s) were returned all the same", weak, "returned"))
        .when(holds.is_null())
        .then(unknown)
        .when(~holds)
        .then(unfounded)
    )
    control = (
        pl.when(overspent | pl.col("went_on").is_not_null() | answered)
        .then(pl.lit(WRONG))
        .when(holds.is_null())
        .then(pl.lit(CANNOT_JUDGE))
        .when(holds)
        .then(pl.lit(CORRECT))
        .otherwise(pl.lit(WRONG))
    )
    return joined.select(control.alias("control"), why.alias("why"))


def _no_fit() -> pl.Expr:
    return pl.col("spent") + pl.col("next_cost") > pl.col("budget") + _ROUNDING


def _reason_holds() -> tuple[pl.Expr, pl.Expr]:
    """Whether the stop reason holds at the last step (null where that cannot be told), and what is missing then."""
    stop = pl.col("stop")
    enough = pl.when(pl.col("budget").is_not_null()).then(
        (pl.col("spent") >= pl.col("budget") - _ROUNDING) | _no_fit().fill_null(value=False)
    )
    holds = (
        pl.when(stop == "budget")
        .then(enough)
        .when(stop == "exhausted")
        .then(pl.col("remaining") == 0)
        .when(stop == "sufficiency-proxy")
        .then(pl.col("sufficiency") >= pl.col("sufficient_at"))
        .when(stop == "declined")
        .then(pl.col("best") < pl.col("decline_below"))
    )
    unknown = (
        pl.when(stop == "budget")
        .then(pl.lit("no budget is declared"))
        .when(stop == "exhausted")
        .then(pl.lit("the last step does not say what remained"))
        .when(stop == "sufficiency-proxy")
        .then(pl.lit("the proxy's threshold or last value is not recorded"))
        .when(stop == "declined")
        .then(pl.lit("the rule for declining or the best score is not recorded"))
        .otherwise(pl.lit("an error is no rule's outcome"))
    )
    return holds, unknown
