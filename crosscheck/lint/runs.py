"""A run alone: repeats, order, ties, ranks, depth, tags."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from metricpact.bridges.sources.findings import Findings
from metricpact.contracts.ordering import rank_conflicts
from metricpact.contracts.sorting import queries_of, within
from metricpact.contracts.tables import Ints
from metricpact.crosscheck.lint.ids import check_ids, check_self_matches
from metricpact.crosscheck.lint.rankings import Rankings
from metricpact.crosscheck.lint.repeats import Some, at_rows, check_scattered, counted, named, over_queries, repeats


def check_run(rankings: Rankings, cutoffs: Sequence[int], findings: Findings) -> None:
    """Find what is to be found in a run."""
    run = rankings.run
    check_scattered(run, findings)
    check_ids(run, findings)
    check_self_matches(run, rankings.keys, rankings.codes, findings)
    _check_repeats(rankings, findings)
    _check_order(rankings, findings)
    _check_ranks(rankings, findings)
    _check_ties(rankings, findings)
    _check_sameness(rankings, findings)
    _check_depth(rankings, cutoffs, findings)
    _check_tags(findings)


def _check_repeats(rankings: Rankings, findings: Findings) -> None:
    run = rankings.run
    again, first = repeats(run, rankings.keys, rankings.codes)

    def told() -> Some:
        for row, before in zip(again.tolist(), first.tolist(), strict=True):
            where, at = run.origin.line(before), at_rows(run, row, before)
            yield (
                f"document {at['document']!r} is returned twice for query {at['query']!r}"
                + (f", first on line {where}" if where else ""),
                at,
            )

    findings.add_some("duplicate-document", len(again), told())


def _check_order(rankings: Rankings, findings: Findings) -> None:
    rows = np.flatnonzero(rankings.rising)
    if len(rows):
        queries = rankings.nonempty()[queries_of(rows, rankings.starts)]
        over_queries(
            findings,
            "unsorted-ranking",
            "rankings that are not in the order of their scores",
            queries,
            rankings.run.origin.line(int(rows[0]) + 1),
        )


def _check_ranks(rankings: Rankings, findings: Findings) -> None:
    run = rankings.run
    if run.rank_fault is not None:
        line = run.rank_fault.line
        findings.add("bad-rank", run.rank_fault.bare, lines=() if line is None else (line,))
    if run.ranks is None:
        return
    if run.scores is None:
        _check_repeated_ranks(rankings, run.ranks, findings)
        return
    better, worse = rank_conflicts(run.ranks, run.scores, rankings.codes, rankings.starts, rankings.order)
    if len(worse):
        first, second = int(better[0]), int(worse[0])
        queries = run.queries[np.unique(rankings.codes[worse])]
        findings.add(
            "rank-conflict",
            f"rank {run.ranks[second]} scores {run.scores[second]}, rank {run.ranks[first]} only {run.scores[first]} "
            f"(rankings with such ranks: {len(queries)}: {named(queries)})",
            **at_rows(run, second, first),
            count=len(queries),
            queries=tuple(queries),
        )


def _check_repeated_ranks(rankings: Rankings, ranks: Ints, findings: Findings) -> None:
    """Equal ranks in a run without scores, which has nothing else to order it."""
    seen = ranks if rankings.order is None else ranks[rankings.order]
    places = np.flatnonzero(within(seen[1:] == seen[:-1], rankings.starts))

    def told() -> Some:
        for place in places.tolist():
            first, second = rankings.row(place), rankings.row(place + 1)
            yield f"rank {seen[place]} stands twice in a ranking without scores", at_rows(rankings.run, second, first)

    findings.add_some("repeated-rank", len(places), told())


def _check_ties(rankings: Rankings, findings: Findings) -> None:
    size = len(rankings.run)
    if rankings.tied.any():
        count = int(np.count_nonzero(members(rankings.tied)))
        place = int(np.argmax(rankings.tied))
        queries = rankings.nonempty()[queries_of(np.flatnonzero(rankings.tied), rankings.starts)]
        findings.add(
            "tied-scores",
            f"{count} of {size} documents ({count / size:.1%}) share a score with another of the ranking, "
            f"in {len(queries)} of {len(rankings.starts)} rankings",
            lines=rankings.lines(rankings.row(place + 1), rankings.row(place)),
            count=count,
            queries=tuple(queries),
        )
    only = np.flatnonzero(rankings.narrowly_tied & ~rankings.tied)
    if len(only):
        place, scores = int(only[0]), rankings.scores
        assert scores is not None  # noqa: S101 # without scores nothing is tied
        queries = rankings.nonempty()[queries_of(only, rankings.starts)]
        findings.add(
            "float32-ties",
            f"{counted(len(only), 'pair')} of neighbours that only double precision tells apart "
            f"({scores[place]} and {scores[place + 1]}), "
            f"in {len(queries)} of {len(rankings.starts)} rankings",
            lines=rankings.lines(rankings.row(place + 1), rankings.row(place)),
            count=len(only),
            queries=tuple(queries),
        )


def members(tied: np.ndarray) -> np.ndarray:
    """The places that belong to a tie, from flags of neighbours."""
    member = np.zeros(len(tied) + 1, np.bool_)
    member[1:] |= tied
    member[:-1] |= tied
    return member


def _check_sameness(rankings: Rankings, findings: Findings) -> None:
    """Rankings whose documents all have one score, and rankings that are the same for all queries."""
    run, starts, depths = rankings.run, rankings.starts, rankings.depths[rankings.depths > 0]
    scores = rankings.scores
    if scores is not None and len(starts):
        flat = np.flatnonzero((depths > 1) & (scores[starts] == scores[starts + depths - 1]))
        line = run.origin.line(int(starts[flat[0]])) if len(flat) else None
        over_queries(
            findings,
            "constant-scores",
            "rankings in which all documents have one score",
            rankings.nonempty()[flat],
            line,
        )
    if len(starts) > 1 and (depths == depths[0]).all() and _same_documents(rankings, starts, int(depths[0])):
        findings.add(
            "identical-rankings",
            f"all {len(starts)} queries have the same ranking of {depths[0]} documents",
            lines=rankings.lines(int(starts[1])),
            count=len(starts),
        )


def _same_documents(rankings: Rankings, starts: Ints, depth: int) -> bool:
    """Whether all rankings list the same documents; most differ in the first, which is looked at first."""
    docs = rankings.run.docs
    for place in range(depth):
        rows = starts + place if rankings.order is None else rankings.order[starts + place]
        if docs.gather(rows).n_unique() > 1:
            return False
    return True


def _check_depth(rankings: Rankings, cutoffs: Sequence[int], findings: Findings) -> None:
    run, depths = rankings.run, rankings.depths
    if not len(depths):
        return
    deeper = ", ".join(f"{int(np.count_nonzero(depths > cutoff))} go beyond {cutoff}" for cutoff in cutoffs)
    findings.add(
        "depth",
        f"{counted(len(depths), 'ranking')} of {depths.min()} to {depths.max()} documents, "
        f"median {np.median(depths):g}; {deeper}",
        count=len(depths),
    )
    for cutoff in cutoffs:
        short = np.flatnonzero(depths < cutoff)
        begin = int(run.offsets[short[0]]) if len(short) else 0
        line = run.origin.line(begin) if len(short) and depths[short[0]] else None
        over_queries(
            findings, "short-ranking", f"rankings with fewer than {cutoff} documents", run.queries[short], line
        )


def _check_tags(findings: Findings) -> None:
    tags = findings.values.get("tag", {})
    if len(tags) > 1:
        shown = ", ".join(f"{tag or '(none)'} from line {line}" for tag, line in list(tags.items())[:5])
        findings.add("several-tags", f"more than one tag: {shown}", lines=tuple(tags.values())[1::-1], count=len(tags))
