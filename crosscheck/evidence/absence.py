"""The absence report: what was returned where nothing should be, apart from whether the controller kept its rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl
from metricpact.contracts.evidence.absence import CANNOT_JUDGE, CORRECT, STOPS, WRONG, Absence, control_flow
from metricpact.contracts.version import VERSION


@dataclass(frozen=True, eq=False)
class AbsenceReport:
    """How a controller behaved where an answer is declared absent, or present.

    ``needs`` has a row a need: need, judgement, stop, returned (how many candidates), control and why. ``quality`` and
    ``control`` have a row a number: quantity, value (null where n is 0), count (null for means), n, signature; the
    first about what was returned, the second about the controller's own rules. ``stops`` has a row a stop reason,
    ``declarations`` one a declaration, ``returned`` one a candidate that was returned where nothing should be.
    """

    needs: pl.DataFrame
    quality: pl.DataFrame
    control: pl.DataFrame
    stops: pl.DataFrame
    declarations: pl.DataFrame
    returned: pl.DataFrame
    inputs: Mapping[str, Any]


def audit_absence(absence: Absence) -> AbsenceReport:
    """Count what was returned, why controllers stopped, and whether their rules say so."""
    verdicts = control_flow(absence.needs, absence.steps)
    needs = absence.needs.select("need", "judgement", "stop", "returned").hstack(verdicts)
    absent, present = (needs.filter(pl.col("judgement") == judgement) for judgement in ("absent", "present"))
    judged = needs.filter(pl.col("control") != CANNOT_JUDGE)
    claimed = "sufficiency-proxy"
    quality = [
        _share("nothing-returned-where-absent", absent, pl.col("returned") == 0),
        _mean("candidates-returned-where-absent", absent, "returned"),
        _share("sufficiency-claimed-where-absent", absent, pl.col("stop") == claimed),
        _share("nothing-returned-where-present", present, pl.col("returned") == 0),
    ]
    control = [
        _share("control-flow-correct", judged, pl.col("control") == CORRECT),
        _share("control-flow-cannot-judge", needs, pl.col("control") == CANNOT_JUDGE),
    ]
    wrongly = absence.needs.with_row_index("at").filter(pl.col("judgement") == "absent").select("at")
    return AbsenceReport(
        needs=needs,
        quality=pl.DataFrame(quality, _NUMBER),
        control=pl.DataFrame(control, _NUMBER),
        stops=_stops(needs),
        declarations=absence.needs.group_by("judgement", "declared_by", "scope", "date", maintain_order=True).agg(
            pl.len().cast(pl.Int64).alias("needs")
        ),
        returned=absence.returned.join(wrongly, on="at", how="semi", maintain_order="left").drop("at"),
        inputs={"needs": {"path": absence.name, "sha256": absence.sha256}},
    )


_NUMBER = {"quantity": pl.String, "value": pl.Float64, "count": pl.Int64, "n": pl.Int64, "signature": pl.String}


def _share(quantity: str, among: pl.DataFrame, counted: pl.Expr) -> dict[str, Any]:
    n, count = among.height, among.filter(counted).height
    return _number(quantity, count / n if n else None, count, n)


def _mean(quantity: str, among: pl.DataFrame, column: str) -> dict[str, Any]:
    mean = among[column].mean()
    return _number(quantity, mean if isinstance(mean, float) else None, None, among.height)


def _number(quantity: str, value: float | None, count: int | None, n: int) -> dict[str, Any]:
    signature = f"{quantity}|absence=declared||metricpact:{VERSION}"
    return {"quantity": quantity, "value": value, "count": count, "n": n, "signature": signature}


def _stops(needs: pl.DataFrame) -> pl.DataFrame:
    """One row a stop reason, those that did not occur too: stop, needs, absent, returned_where_absent (needs in which
    something was returned all the same), correct, wrong, cannot_judge, meaning."""
    is_absent = pl.col("judgement") == "absent"
    counts = {
        "needs": pl.len(),
        "absent": is_absent.sum(),
        "returned_where_absent": (is_absent & (pl.col("returned") > 0)).sum(),
        "correct": (pl.col("control") == CORRECT).sum(),
        "wrong": (pl.col("control") == WRONG).sum(),
        "cannot_judge": (pl.col("control") == CANNOT_JUDGE).sum(),
    }
    counted = needs.group_by("stop").agg(expression.cast(pl.Int64).alias(name) for name, expression in counts.items())
    reasons = pl.DataFrame({"stop": list(STOPS), "meaning": list(STOPS.values())})
    joined = reasons.join(counted, on="stop", how="left", maintain_order="left")
    return joined.select("stop", pl.col(*counts).fill_null(0), "meaning")
