"""Scores as a report: what ``metricpact score`` shows in every format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
from metricpact.contracts.scores import Scores
from metricpact.render.report import Report, Table


def score_report(scored: Sequence[tuple[str, Scores]], *, by_query: bool) -> Report:
    """The scores of runs (with the path of each) as a report; ``by_query`` adds the values of single queries."""
    several = len(scored) > 1

    def labelled(frame: pl.DataFrame, path: str, *, always: bool) -> pl.DataFrame:
        return frame.select(pl.lit(path).alias("run"), pl.all()) if always or several else frame

    means = [labelled(means_frame(scores), path, always=False) for path, scores in scored]
    tables = [Table("", pl.concat(means))]
    if by_query:
        tables += [Table(path if several else "by query", by_query_frame(scores)) for path, scores in scored]
    return Report(
        tables=tables,
        lines=_signatures(scored[0][1]),
        document=lambda: _document(scored, by_query=by_query),
        records=lambda: _records(scored, by_query=by_query),
        frame=lambda: pl.concat(
            [
                labelled(scores.to_polars() if by_query else _signed(scores), path, always=True)
                for path, scores in scored
            ]
        ),
        trec=lambda places: _trec(scored, places, by_query=by_query),
    )


def means_frame(scores: Scores) -> pl.DataFrame:
    """One row a measure, with short column names."""
    return scores.means().rename({"judged_fraction": "judged"})


def _signed(scores: Scores) -> pl.DataFrame:
    return scores.means().with_columns(pl.Series("signature", list(scores.signatures.values()), dtype=pl.String))


def by_query_frame(scores: Scores) -> pl.DataFrame:
    """One row a query, one column a measure."""
    by_measure = {name: scores.by_query(name) for name in scores.measures}
    return pl.DataFrame(
        {"query": scores.queries, **{name: list(values.values()) for name, values in by_measure.items()}},
        schema={"query": pl.String} | dict.fromkeys(by_measure, pl.Float64),
    )


def _signatures(scores: Scores) -> list[str]:
    """The contract's name and how the numbers were made: one line where all measures share it."""
    tails = {name: signature.partition("|")[2] for name, signature in scores.signatures.items()}
    changed = ", changed" if any(scores.profile.changes(column.measure) for column in scores.columns) else ""
    contract = f"contract {scores.profile.name}/{scores.profile.version}{changed}"
    if len(set(tails.values())) == 1:
        return [f"{contract}, signature MEASURE|{next(iter(tails.values()))}"]
    return [contract, *(f"signature {signature}" for signature in scores.signatures.values())]


def _document(scored: Sequence[tuple[str, Scores]], *, by_query: bool) -> dict[str, Any]:
    documents = [scores.to_document(by_query=by_query) for _, scores in scored]
    return documents[0] if len(documents) == 1 else {"schema": "metricpact.score-list/1", "runs": documents}


def _records(scored: Sequence[tuple[str, Scores]], *, by_query: bool) -> list[dict[str, Any]]:
    """One record a run and measure, then (with ``-q``) one a run, query and measure."""
    records: list[dict[str, Any]] = []
    for path, scores in scored:
        document = scores.to_document(by_query=by_query)
        about = {key: document[key] for key in ("schema", "contract", "backend", "inputs", "queries")}
        records += [{"record": "mean", "run": path, **measure, **about} for measure in document["measures"]]
        records += [{"record": "query", "run": path, **row} for row in document.get("per_query", [])]
    return records


def _trec(scored: Sequence[tuple[str, Scores]], places: int, *, by_query: bool) -> str:
    lines: list[str] = []

    def line(measure: str, query: str, value: float | None) -> None:
        lines.append(f"{measure}\t{query}\t{'undef' if value is None else f'{value:.{places}f}'}")

    for path, scores in scored:
        if len(scored) > 1:
            lines.append(f"runid\tall\t{path}")
        if by_query:
            columns = {name: scores.by_query(name) for name in scores.measures}
            counted = {name: scores.column(name).in_mean.tolist() for name in columns}
            for place, query in enumerate(scores.queries):
                for name, values in columns.items():
                    if counted[name][place]:  # trec_eval prints the queries that its mean is over
                        line(name, query, values[query])
        for name, mean in scores.mean.items():
            line(name, "all", mean.value)
    return "\n".join(lines) + "\n"
