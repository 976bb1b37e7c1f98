"""Scores as a report: what ``metricpact score`` shows in every format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
from metricpact.contracts.bounds.values import PARTS, SCOPE, Bounds
from metricpact.contracts.scores import Scores
from metricpact.render.report import Report, Table


def score_report(scored: Sequence[tuple[str, Scores]], *, by_query: bool) -> Report:
    """The scores of runs (with the path of each) as a report; ``by_query`` adds the values of single queries."""
    several = len(scored) > 1

    def labelled(frame: pl.DataFrame, path: str, *, always: bool) -> pl.DataFrame:
        return frame.select(pl.lit(path).alias("run"), pl.all()) if always or several else frame

    means = [labelled(means_frame(scores), path, always=False) for path, scores in scored]
    tables = [Table("", _without_tight(pl.concat(means), "tight"))]
    if by_query:
        tables += [Table(path if several else "by query", by_query_frame(scores)) for path, scores in scored]
    return Report(
        tables=tables,
        lines=[*_signatures(scored[0][1]), *_scope_of_bounds(scored[0][1])],
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
    """One row a measure with all that a program needs: its bounds' largest grade and the signature too."""
    grades = list(_max_grades(scores).values())
    extra = [pl.Series("max_grade", grades, dtype=pl.Float64)] if grades else []
    signatures = pl.Series("signature", list(scores.signatures.values()), dtype=pl.String)
    return scores.means().with_columns(*extra, signatures)


def by_query_frame(scores: Scores) -> pl.DataFrame:
    """One row a query, one column a measure, and one more for each part of its bounds."""
    frame, columns = scores.to_polars(), [scores.queries.alias("query")]
    for name in scores.measures:
        own = frame.filter(pl.col("measure") == name)
        columns.append(own["value"].alias(name))
        parts = [part for kind in PARTS.values() for part in kind if part in own.columns]
        named = own.select(pl.col(part).alias(f"{name} {part}") for part in parts)
        columns += _without_tight(named, f"{name} tight").get_columns()
    return pl.DataFrame(columns)


def _without_tight(frame: pl.DataFrame, column: str) -> pl.DataFrame:
    """The table without the column of what is tight, where all is."""
    return frame.drop(column) if column in frame.columns and frame[column].all() else frame


def _max_grades(scores: Scores) -> dict[str, float]:
    """Measure → the largest grade that its bounds give to unjudged documents, if there are bounds."""
    bounds = {str(column.measure): column.beside.get("bounds") for column in scores.columns}
    return {name: bound.max_grade for name, bound in bounds.items() if isinstance(bound, Bounds)}


def _scope_of_bounds(scores: Scores) -> list[str]:
    """What the bounds take unjudged documents for, and which of them hold when."""
    grades = _max_grades(scores)
    if not grades:
        return []
    same = len(set(grades.values())) == 1
    upto = [f"{value:g}" if same else f"{value:g} in {name}" for name, value in grades.items()]
    return [f"bounds: unjudged documents of the prefix have grades up to {', '.join(dict.fromkeys(upto))}; {SCOPE}"]


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
        about = {key: document[key] for key in document if key not in ("measures", "per_query")}
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
