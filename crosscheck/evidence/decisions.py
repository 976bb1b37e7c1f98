"""The decision report: every endpoint's precision and recall over the cohort, what is conditional shown apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import polars as pl
from metricpact.contracts.evidence.decisions import (
    POSITIVE,
    Decisions,
    Endpoints,
    Ratio,
    check_states,
    conditional_recall,
    precision,
    recall,
)
from metricpact.contracts.version import VERSION
from metricpact.crosscheck.slices.intervals import IntervalOptions, proportion_interval

UNSTATED = "not stated"


@dataclass(frozen=True, eq=False)
class DecisionReport:
    """What a set of decisions amounts to.

    ``states`` has a row a state: state, unresolved, positive, negative, items. ``endpoints`` has a row an endpoint,
    measure (precision, recall) and label source: endpoint, measure, labels, value, numerator, denominator, lower,
    upper, reason, signature; ``conditional`` the recalls that leave unresolved items out, in the same columns.
    ``unresolved`` counts items, positive and negative among those without a decision. ``label_sources`` counts items.
    Value and interval are null, with the reason, where the denominator is 0.
    """

    states: pl.DataFrame
    endpoints: pl.DataFrame
    conditional: pl.DataFrame
    unresolved: Mapping[str, int]
    label_sources: Mapping[str, int]
    declared: Endpoints
    confidence: float
    inputs: Mapping[str, Any]


def audit_decisions(
    decisions: Decisions, endpoints: Endpoints, options: IntervalOptions | None = None
) -> DecisionReport:
    """Count; raises ``InputError`` where states are not mutually exclusive or not complete.

    Where labels come from several sources, each has rows of its own below those of all items. The intervals treat the
    items as drawn from what they are to stand for; over a whole recorded cohort the fraction itself is the fact.
    """
    check_states(decisions, endpoints)
    options = options or IntervalOptions()
    items = decisions.items.with_columns(pl.col("label_source").fill_null(UNSTATED))
    sources = items["label_source"].unique(maintain_order=True).to_list()
    parts = {" + ".join(sources): items}
    if len(sources) > 1:
        parts |= {source: items.filter(pl.col("label_source") == source) for source in sources}
    made = _Rows(endpoints, options)
    plain, conditional = [], []
    for labels, part in parts.items():
        for name, states in endpoints.endpoints.items():
            plain.append(made.row(name, "precision", labels, precision(part, states)))
            plain.append(made.row(name, "recall", labels, recall(part, states)))
            if endpoints.unresolved:
                ratio = conditional_recall(part, states, endpoints.unresolved)
                conditional.append(made.row(name, "conditional recall", labels, ratio))
    open_items = items.filter(pl.col("state").is_in(endpoints.unresolved))
    positive = open_items.filter(pl.col("label") == POSITIVE).height
    return DecisionReport(
        states=_states(items, endpoints),
        endpoints=pl.DataFrame(plain, _SCHEMA),
        conditional=pl.DataFrame(conditional, _SCHEMA),
        unresolved={"items": open_items.height, "positive": positive, "negative": open_items.height - positive},
        label_sources={source: items.filter(pl.col("label_source") == source).height for source in sources},
        declared=endpoints,
        confidence=options.confidence,
        inputs={"decisions": {"path": decisions.name, "sha256": decisions.sha256}},
    )


_SCHEMA = {
    **{"endpoint": pl.String, "measure": pl.String, "labels": pl.String, "value": pl.Float64},
    **{"numerator": pl.Int64, "denominator": pl.Int64, "lower": pl.Float64, "upper": pl.Float64},
    **{"reason": pl.String, "signature": pl.String},
}


@dataclass(frozen=True)
class _Rows:
    """Makes the rows of one report."""

    endpoints: Endpoints
    options: IntervalOptions

    def row(self, endpoint: str, measure: str, labels: str, ratio: Ratio) -> dict[str, Any]:
        """One number with its fraction, interval and signature."""
        interval = proportion_interval(ratio.numerator, ratio.denominator, self.options) if not ratio.reason else None
        states = self.endpoints.endpoints[endpoint]
        parts = [
            measure.replace(" ", "-"),
            f"endpoint={'+'.join(sorted(states))}",
            f"states={_hash(self.endpoints.states)}",
        ]
        if measure.startswith("conditional"):
            parts.append(f"unresolved={'+'.join(sorted(self.endpoints.unresolved))}")
        return {
            "endpoint": endpoint,
            "measure": measure,
            "labels": labels,
            "value": ratio.value,
            "numerator": ratio.numerator,
            "denominator": ratio.denominator,
            "lower": interval.lower if interval else None,
            "upper": interval.upper if interval else None,
            "reason": ratio.reason or None,
            "signature": f"{'|'.join(parts)}||metricpact:{VERSION}",
        }


def _hash(states: tuple[str, ...]) -> str:
    return f"list:{sha256(chr(0).join(sorted(states)).encode()).hexdigest()[:16]}"


def _states(items: pl.DataFrame, endpoints: Endpoints) -> pl.DataFrame:
    """Every declared state with its labels, those without an item too."""
    is_positive = pl.col("label") == POSITIVE
    counted = items.group_by("state").agg(
        is_positive.sum().cast(pl.Int64).alias("positive"),
        (~is_positive).sum().cast(pl.Int64).alias("negative"),
        pl.len().cast(pl.Int64).alias("items"),
    )
    states = pl.DataFrame({"state": list(endpoints.states)})
    return states.join(counted, on="state", how="left", maintain_order="left").select(
        "state",
        pl.col("state").is_in(endpoints.unresolved).alias("unresolved"),
        pl.col("positive", "negative", "items").fill_null(0),
    )
