"""One query worked out by hand: its prefix, the grades, and the computation line by line, under one contract."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from metricpact.contracts.contract import Contract
from metricpact.contracts.definitions import REASONS, gains, reasons
from metricpact.contracts.errors import InputError
from metricpact.contracts.measures import Measure
from metricpact.contracts.ordering import order_rankings
from metricpact.contracts.positions import discount_inside, inside
from metricpact.contracts.prefixes import Prefixes, build_prefixes
from metricpact.contracts.tables import Judgments, Run
from metricpact.crosscheck.audit.variants import Outcome

SHOWN = 20
"""Ranks that are shown where a measure looks at more: the terms of the others are in the sums all the same."""
_DISCOUNTED = ("nDCG", "DCG", "IDCG")


@dataclass(frozen=True)
class Working:
    """A value of one query worked out: the rows of its prefix and the lines of the computation.

    ``rows`` has rank, document, score, grade (null: unjudged) and what the measure takes from each row. ``value``
    is what the backend gives, None where it is undefined.
    """

    measure: Measure
    query: str
    names: list[str]
    rows: pl.DataFrame
    lines: list[str]
    value: float | None
    signature: str

    def to_document(self) -> dict[str, Any]:
        """The working as plain data."""
        return {
            "measure": str(self.measure),
            "query_id": self.query,
            "under": self.names,
            "value": self.value,
            "signature": self.signature,
            "prefix": self.rows.to_dicts(),
            "lines": self.lines,
        }


def one_query(table: Any, query: str) -> Any:
    """The judgments or the run of a single query; a query that the table lacks has no rows."""
    frame = table.to_polars().filter(pl.col("query_id") == query)
    if isinstance(table, Judgments):
        return Judgments.from_columns(frame["query_id"], frame["doc_id"], frame["grade"], empty=[query])
    scores = None if table.scores is None else frame["score"]
    ranks = None if table.ranks is None else frame["rank"]
    return Run.from_columns(frame["query_id"], frame["doc_id"], scores, ranks, empty=[query])


def check_judged(query: str, judged: Container[str] | pl.Series) -> None:
    """Raise ``InputError`` for a query that is not among the judged ones."""
    if query not in judged:
        raise InputError(f"query {query!r} is not judged", "name a judged query", query=query)


def work_out(
    judgments: Judgments, run: Run, query: str, measure: Measure, contract: Contract, outcome: Outcome, names: list[str]
) -> Working:
    """Work out a measure for one query under a contract (the measure's parameters applied).

    ``judgments`` and ``run`` hold that query alone, ``outcome`` the scored run. Raises ``InputError`` for a query
    that is not judged.
    """
    check_judged(query, outcome.queries)
    if outcome.column is None:
        return Working(measure, query, names, pl.DataFrame(), [f"refused: {outcome.error}"], None, "")
    at = list(outcome.queries).index(query)
    reason = REASONS[int(outcome.column.reason[at])]
    value = None if reason else float(outcome.column.values[at])
    prefixes = build_prefixes(judgments, run, contract)
    rows = _rows(judgments, run, prefixes, measure, contract)
    lines = _LINES[measure.family](prefixes, measure, contract)
    if contract.ties == "average":
        lines = ["tied scores: the expected value over all their orders; the ranks here are one of these", *lines]
    own = REASONS[int(reasons(prefixes, measure, contract)[0])]
    if own:
        lines = [*lines, f"no value ({own}): undefined={contract.undefined}"]
    counted = "" if bool(outcome.column.in_mean[at]) else ", not in the mean"
    lines = [*lines, f"{measure} = {'undefined' if value is None else _number(value)}{counted}"]
    return Working(measure, query, names, rows, lines, value, outcome.signature)


def _rows(judgments: Judgments, run: Run, prefixes: Prefixes, measure: Measure, contract: Contract) -> pl.DataFrame:
    """The ranks that the measure looks at, with what it takes from each."""
    ordered = order_rankings(run, np.zeros(len(run.queries), np.int64), judgments.queries, contract)
    every = np.arange(len(ordered.codes))
    rank, ties = ordered.rank_of(every), ordered.ties_of(every)
    scores = run.to_polars().select("doc_id", "score")
    # Rows of one tie group share it; without averaging each row is a group of its own.
    group = rank if ties is None else ties[0]
    listed = pl.DataFrame({"doc_id": ordered.docs, "rank": rank, "group": group}).join(
        scores.unique("doc_id", keep="last" if contract.duplicate == "last" else "first"), on="doc_id", how="left"
    )
    judged = pl.DataFrame({"doc_id": prefixes.judged.docs, "grade": prefixes.judged.grades})
    frame = listed.join(judged, on="doc_id", how="left").sort("rank")
    if contract.unjudged == "removed" and measure.family != "Judged":
        frame = frame.drop_nulls("grade").with_columns(pl.int_range(1, pl.len() + 1).alias("rank"))
    depth = min(measure.cutoff or SHOWN, SHOWN)
    # A tie group that straddles the cutoff is in the prefix in part, with all of its documents.
    frame = frame.filter(pl.col("group").is_in(frame.head(depth)["group"].implode()))
    frame = frame.select("rank", pl.col("doc_id").alias("document"), "score", "grade")
    grade = frame["grade"].fill_null(0).to_numpy()
    if measure.family in _DISCOUNTED:
        hits = prefixes.hits
        found = pl.DataFrame(
            {
                "document": prefixes.judged.docs.gather(hits.judgment),
                "discount": discount_inside(hits, measure.cutoff, contract),
            }
        )
        frame = frame.with_columns(pl.Series("gain", gains(grade, contract))).join(
            found, on="document", how="left", maintain_order="left"
        )
        frame = frame.with_columns((pl.col("gain") * pl.col("discount").fill_null(0.0)).alias("term"))
    elif measure.family != "Judged":
        frame = frame.with_columns(relevant=pl.Series(grade >= contract.threshold))
    return frame


def _found(prefixes: Prefixes, measure: Measure, contract: Contract, cutoff: int | None) -> float:
    return float((prefixes.relevant_hits(contract.threshold) * inside(prefixes.hits, cutoff)).sum())


def _known(prefixes: Prefixes, contract: Contract) -> int:
    return int(prefixes.relevant(contract.threshold)[0])


def _counting(what: str) -> Callable[[Prefixes, Measure, Contract], list[str]]:
    def lines(prefixes: Prefixes, measure: Measure, contract: Contract) -> list[str]:
        known, returned = _known(prefixes, contract), int(prefixes.hits.returned[0])
        cutoff = known if measure.family == "Rprec" else measure.cutoff
        found = _number(_found(prefixes, measure, contract, cutoff))
        denominators = {
            "P": f"k = {measure.cutoff}"
            if contract.precision_denominator == "cutoff"
            else f"min(k, returned) = {min(measure.cutoff or returned, returned)}",
            "R": f"|R| = {known}"
            if contract.recall_denominator == "relevant" or measure.cutoff is None
            else f"min(k, |R|) = {min(measure.cutoff, known)}",
            "Rprec": f"|R| = {known}",
            "SetP": f"returned = {returned}",
            "SetR": f"|R| = {known}",
        }
        return [
            f"relevant: grade ≥ {contract.threshold}; |R| = {known}, returned = {returned}",
            f"relevant {what} = {found}, divided by {denominators[measure.family]}",
        ]

    return lines


def _reciprocal(prefixes: Prefixes, measure: Measure, contract: Contract) -> list[str]:
    ranks = _relevant_ranks(prefixes, measure, contract)
    first = f"first relevant rank = {ranks[0]}: 1/{ranks[0]}" if ranks else "no relevant document in the prefix: 0"
    return [f"relevant: grade ≥ {contract.threshold}; |R| = {_known(prefixes, contract)}", first]


def _average(prefixes: Prefixes, measure: Measure, contract: Contract) -> list[str]:
    ranks, known = _relevant_ranks(prefixes, measure, contract), _known(prefixes, contract)
    terms = " + ".join(f"{place}/{rank}" for place, rank in enumerate(ranks[:SHOWN], start=1)) or "0"
    more = f" + {len(ranks) - SHOWN} more terms" if len(ranks) > SHOWN else ""
    denominator = {
        "relevant": f"|R| = {known}",
        "capped": f"min(k, |R|) = {known if measure.cutoff is None else min(measure.cutoff, known)}",
        "hits": f"the hits = {len(ranks)}",
    }[contract.ap_denominator]
    return [
        f"relevant: grade ≥ {contract.threshold}; at ranks {', '.join(map(str, ranks[:SHOWN])) or 'none'}",
        f"precision at these ranks: {terms}{more}, divided by {denominator}",
    ]


def _relevant_ranks(prefixes: Prefixes, measure: Measure, contract: Contract) -> list[int]:
    chosen = prefixes.relevant_hits(contract.threshold) & (prefixes.hits.rank <= (measure.cutoff or np.inf))
    return [int(rank) for rank in prefixes.hits.rank[chosen]]


def _discounted(prefixes: Prefixes, measure: Measure, contract: Contract) -> list[str]:
    from metricpact.contracts.definitions import discounted_gain, ideal_discounted_gain

    total = float(discounted_gain(prefixes, measure, contract)[0])
    ideal = float(ideal_discounted_gain(prefixes, measure, contract)[0])
    depth = "all" if contract.ideal_depth == "full" or measure.cutoff is None else f"the best {measure.cutoff}"
    lines = [f"gain {contract.gain if isinstance(contract.gain, str) else 'by table'}, discount {contract.discount}"]
    if measure.family != "IDCG":
        lines.append(f"DCG = sum of gain × discount = {_number(total)}")
    if measure.family != "DCG":
        among = "judged" if contract.ideal == "judgments" else "returned"
        grades = sorted(prefixes.judged.grades.tolist(), reverse=True)
        shown = ", ".join(f"{grade:g}" for grade in grades[:SHOWN] if grade > 0) or "none above 0"
        lines.append(f"ideal DCG = {depth} of the {among} documents (judged grades: {shown}) = {_number(ideal)}")
    return lines


def _success(prefixes: Prefixes, measure: Measure, contract: Contract) -> list[str]:
    found = _number(_found(prefixes, measure, contract, measure.cutoff))
    return [f"relevant (grade ≥ {contract.threshold}) in the prefix = {found}: 1 if there is one, else 0"]


def _set_f(prefixes: Prefixes, measure: Measure, contract: Contract) -> list[str]:
    found, known = _found(prefixes, measure, contract, None), _known(prefixes, contract)
    returned = int(prefixes.hits.returned[0])
    return [
        f"relevant returned = {_number(found)}: P = {_number(found)}/{returned}, R = {_number(found)}/{known}, "
        f"β = {measure.beta or 1:g}"
    ]


def _bpref(prefixes: Prefixes, measure: Measure, contract: Contract) -> list[str]:
    known = _known(prefixes, contract)
    negatives = int((prefixes.judged.grades < contract.threshold).sum())
    return [
        f"|R| = {known}, judged non-relevant N = {negatives}, divisor min(|R|, N) = {min(known, negatives)}",
        f"relevant at ranks {', '.join(map(str, _relevant_ranks(prefixes, measure, contract)[:SHOWN])) or 'none'}",
    ]


def _judged(prefixes: Prefixes, measure: Measure, contract: Contract) -> list[str]:
    listed = prefixes.listed
    depth = min(measure.cutoff or int(listed.returned[0]), int(listed.returned[0]))
    return [f"judged in the prefix = {_number(float(inside(listed, measure.cutoff).sum()))}, documents in it = {depth}"]


_LINES: dict[str, Callable[[Prefixes, Measure, Contract], list[str]]] = {
    "P": _counting("in the prefix"),
    "R": _counting("in the prefix"),
    "Rprec": _counting("in the first |R|"),
    "SetP": _counting("returned"),
    "SetR": _counting("returned"),
    "RR": _reciprocal,
    "AP": _average,
    "nDCG": _discounted,
    "DCG": _discounted,
    "IDCG": _discounted,
    "Success": _success,
    "SetF": _set_f,
    "Bpref": _bpref,
    "Judged": _judged,
}


def _number(value: float) -> str:
    return f"{value:.6g}"
