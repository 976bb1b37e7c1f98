"""Hit rules side by side: what each of them would have claimed about the same units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl
from metricpact.contracts.evidence.coverage import covered_components, covered_tasks, document_recall
from metricpact.contracts.evidence.rules import UNKNOWN, YES, Rule, document_hits
from metricpact.contracts.evidence.tables import Tasks
from metricpact.crosscheck.evidence.sides import Side

ANY_DOCUMENT = ("any-document", "one document of any bundle is there")
ALL_DOCUMENTS = ("all-documents", "every document of all bundles together is there: recall 1 on flat labels")


def claims(tasks: Tasks, side: Side, rules: Sequence[Rule]) -> dict[str, pl.DataFrame]:
    """What each rule says: one row a task with ``hit`` (``NO``, ``UNKNOWN``, ``YES``), nearest, components, found."""
    return {rule.name: covered_tasks(tasks, covered_components(tasks, rule.hits(side.found))) for rule in rules}


def rule_table(tasks: Tasks, side: Side, rules: Sequence[Rule], claimed: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """One row a rule: rule, covered, n, coverage, share, more, fewer, unknown, meaning.

    ``coverage`` is covered / n over the n tasks about which the rule can tell (the others are ``unknown``); ``share``
    the mean share of components that the rule finds (of documents, for the flat rules); ``more`` and ``fewer`` count
    the tasks that it claims and the exact rule does not, and the reverse.
    """
    exact = claimed["exact"]["hit"] == YES
    rows = [
        _row(
            rule.name,
            rule.meaning,
            claimed[rule.name]["hit"],
            claimed[rule.name]["found"] / claimed[rule.name]["components"],
            exact,
        )
        for rule in rules
    ]
    flat = document_recall(tasks, side.eligible)
    recall = flat.select(pl.when(pl.col("documents") > 0).then(pl.col("returned") / pl.col("documents"))).to_series()
    reached = tasks.anchors.join(document_hits(side.found), on="anchor", how="semi")["task"].unique()
    some = flat.select(pl.col("task").is_in(reached.implode()).cast(pl.Int8) * YES).to_series()
    # Without a single document there is no flat recall: the rule cannot tell.
    every = pl.select(pl.when(recall.is_null()).then(UNKNOWN).when(recall == 1).then(YES).otherwise(0)).to_series()
    rows += [_row(*ANY_DOCUMENT, some, some / YES, exact), _row(*ALL_DOCUMENTS, every, recall, exact)]
    return pl.DataFrame(rows, schema_overrides={"coverage": pl.Float64, "share": pl.Float64})


def _row(name: str, meaning: str, hit: pl.Series, share: pl.Series, exact: pl.Series) -> dict[str, object]:
    claimed, told = hit == YES, hit != UNKNOWN
    n, covered = int(told.sum()), int(claimed.sum())
    return {
        "rule": name,
        "covered": covered,
        "n": n,
        "coverage": covered / n if n else None,
        "share": share.mean(),
        "more": int((claimed & ~exact).sum()),
        "fewer": int((exact & told & ~claimed).sum()),
        "unknown": len(hit) - n,
        "meaning": meaning,
    }
