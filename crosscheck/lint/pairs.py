"""Judgments and a run beside each other: queries and documents on one side only, what is unjudged, ties that matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from metricpact.bridges.sources.findings import Findings
from metricpact.contracts.rows import find_rows, row_keys
from metricpact.contracts.tables import Ints, Judgments
from metricpact.crosscheck.lint.near import check_near_documents, check_near_queries
from metricpact.crosscheck.lint.rankings import Flags, Rankings
from metricpact.crosscheck.lint.repeats import counted, named, over_queries

_Z = 3.0  # a sign test this sure is wrong about once in 700


@dataclass(frozen=True)
class Hits:
    """Judged documents that the run returns: their rows in the run, places, ranks, and rows in the judgments."""

    rows: Ints
    places: Ints
    ranks: Ints
    judgments: Ints


def check_pair(judgments: Judgments, rankings: Rankings, cutoffs: Sequence[int], findings: Findings) -> None:
    """Find what shows only when a run lies beside its judgments."""
    run = rankings.run
    missing = judgments.queries.filter(~judgments.queries.is_in(run.queries.implode()))
    extra = run.queries.filter(~run.queries.is_in(judgments.queries.implode()))
    check_near_queries(missing, extra, rankings, findings)
    if len(extra) == len(run.queries) or len(missing) == len(judgments.queries):
        findings.add(
            "mismatched-queries",
            f"no query of the run is judged (judged: {named(judgments.queries[:2])}; run: {named(run.queries[:2])})",
            count=len(run.queries),
        )
        return
    over_queries(findings, "missing-query", "judged queries that are not in the run", missing)
    first = int(run.offsets[_place(run.queries, extra[0])]) if len(extra) else 0
    line = run.origin.line(first) if len(extra) and first < len(run) else None
    over_queries(findings, "extra-query", "queries of the run that are not judged", extra, line)
    hits = _hits(judgments, rankings)
    if not len(hits.rows) and len(run) and len(judgments):
        findings.add(
            "mismatched-documents",
            f"not one judged document is returned (judged: {judgments.docs[0]}, …; run: {run.docs[0]}, …)",
            count=len(judgments),
        )
    for cutoff in cutoffs:
        _check_unjudged(judgments, rankings, hits, cutoff, findings)
        _check_straddling(judgments, rankings, hits, cutoff, findings)
    _check_direction(judgments, hits, findings)
    check_near_documents(judgments, rankings, hits.rows, hits.judgments, findings)


def _place(series: pl.Series, value: str) -> int:
    return int((series == value).arg_max() or 0)


def _hits(judgments: Judgments, rankings: Rankings) -> Hits:
    """The judged documents among the returned; of several judgments of one document the first."""
    run = rankings.run
    known = pl.DataFrame({"query": run.queries, "code": np.arange(len(run.queries), dtype=np.int32)})
    codes = judgments.queries.to_frame("query").join(known, on="query", how="left", maintain_order="left")["code"]
    of_rows = codes.fill_null(-1).to_numpy()[judgments.codes]
    rows = np.flatnonzero(of_rows >= 0)
    wanted = pl.DataFrame({"code": of_rows[rows], "doc": judgments.docs.gather(rows)})
    if wanted.is_duplicated().any():
        rows = rows[wanted.to_struct().is_first_distinct().to_numpy()]
    docs = judgments.docs.gather(rows)
    found, at = find_rows(rankings.keys, run.docs, row_keys(docs, of_rows[rows].astype(np.int32)), docs)
    places = rankings.places(found)
    starts = rankings.starts[np.searchsorted(rankings.starts, places, side="right") - 1] if len(places) else places
    return Hits(found, places, places - starts + 1, rows[at])


def _check_unjudged(judgments: Judgments, rankings: Rankings, hits: Hits, cutoff: int, findings: Findings) -> None:
    """The share of the documents in the prefixes of the judged queries that have no judgment."""
    judged_query = rankings.run.queries.is_in(judgments.queries.implode()).to_numpy()
    returned = int(np.minimum(rankings.depths[judged_query], cutoff).sum())
    unjudged = returned - int(np.count_nonzero(hits.ranks <= cutoff))
    if returned:
        findings.add(
            "unjudged",
            f"{unjudged} of {returned} documents in the first {cutoff} of judged queries are unjudged "
            f"({unjudged / returned:.1%})",
            count=unjudged,
        )


def _check_straddling(judgments: Judgments, rankings: Rankings, hits: Hits, cutoff: int, findings: Findings) -> None:
    """Ties that begin inside the cutoff and hold documents of different grades (unjudged and negative count as 0)."""
    for flags, extent in ((rankings.tied, ""), (rankings.narrowly_tied, " in single precision only")):
        if extent and not (rankings.narrowly_tied & ~rankings.tied).any():
            continue
        groups = _straddling(judgments, flags, hits, rankings.starts, cutoff)
        if extent:
            groups = groups[~np.isin(groups, _straddling(judgments, rankings.tied, hits, rankings.starts, cutoff))]
        if len(groups):
            rows = [rankings.row(int(groups[0]) + 1), rankings.row(int(groups[0]))]
            queries = rankings.run.queries[np.unique(rankings.codes[groups])]
            findings.add(
                "tie-at-relevance",
                f"{counted(len(groups), 'tie')}{extent} inside the first {cutoff} "
                f"with documents of different relevance, in {len(queries)} of {len(rankings.starts)} rankings",
                lines=rankings.lines(*rows),
                query=rankings.query(rows[0]),
                count=len(groups),
                queries=tuple(queries),
            )


def _straddling(judgments: Judgments, tied: Flags, hits: Hits, starts: Ints, cutoff: int) -> Ints:
    """The first place of every tie that begins inside the cutoff and holds different grades."""
    grades = np.maximum(judgments.grades[hits.judgments], 0)
    positive = np.flatnonzero(grades > 0)
    if not tied.any() or not len(positive):
        return np.empty(0, np.int64)
    begins = np.flatnonzero(tied & ~np.concatenate([[False], tied[:-1]]))
    lasts = np.flatnonzero(tied & ~np.concatenate([tied[1:], [False]])) + 1
    sizes = lasts - begins + 1
    group = np.searchsorted(begins, hits.places[positive], side="right") - 1
    inside = (group >= 0) & (hits.places[positive] <= lasts[group])
    frame = (
        pl.DataFrame({"group": group[inside], "grade": grades[positive][inside]})
        .group_by("group")
        .agg(pl.len().alias("count"), pl.col("grade").min().alias("least"), pl.col("grade").max().alias("most"))
        .sort("group")
    )
    at = frame["group"].to_numpy()
    mixed = (frame["count"].to_numpy() < sizes[at]) | (frame["least"] != frame["most"]).to_numpy()
    first = begins[at[mixed]]
    ranks = first - starts[np.searchsorted(starts, first, side="right") - 1] + 1
    return np.asarray(first[ranks <= cutoff])


def _check_direction(judgments: Judgments, hits: Hits, findings: Findings) -> None:
    """Whether higher grades stand lower in the rankings, by a sign test over queries.

    A query's sign is that of Spearman's rank correlation between grade and rank over its returned documents of
    positive grade; queries without one (a single grade) say nothing.
    """
    frame = pl.DataFrame(
        {
            "query": judgments.codes[hits.judgments],
            "grade": judgments.grades[hits.judgments].astype(np.float64),
            "rank": hits.ranks,
        }
    ).filter(pl.col("grade") > 0)
    signs = (
        frame.with_columns(pl.col("grade").rank().over("query"), pl.col("rank").rank().over("query"))
        .group_by("query")
        .agg(pl.cov("grade", "rank").alias("together"))
        .filter(pl.col("together").is_not_null() & (pl.col("together").abs() > 1e-9))["together"]
    )
    wrong, right = int((signs > 0).sum()), int((signs < 0).sum())
    if wrong > right and (wrong - right) / np.sqrt(wrong + right) >= _Z:
        findings.add(
            "reversed-grades",
            f"in {wrong} of {wrong + right} queries documents of higher grades stand lower in the ranking",
            count=wrong,
        )
