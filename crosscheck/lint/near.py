"""Ids on two sides that would match if they were spelled alike: other Unicode form, letter case, blanks, zeros.

Candidates are found in columns by a form that takes all differences away; which difference it is is told for the
few that match.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

import numpy as np
import polars as pl
from metricpact.bridges.sources.findings import Findings
from metricpact.contracts.parallel import in_parts
from metricpact.contracts.tables import Ints, Judgments
from metricpact.crosscheck.lint.ids import INVISIBLE, MARK
from metricpact.crosscheck.lint.rankings import Rankings
from metricpact.crosscheck.lint.repeats import Some, at_rows

_EDGES = re.compile(rf"^{INVISIBLE}+|{INVISIBLE}+$")
_STEPS: dict[str, Callable[[str], str]] = {
    "blanks or a byte order mark": lambda text: _EDGES.sub("", text.replace(MARK, "")),
    "Unicode NFC": lambda text: unicodedata.normalize("NFC", text),
    "Unicode NFKC": lambda text: unicodedata.normalize("NFKC", text),
    "letter case": str.casefold,
    "leading zeros": lambda text: text.lstrip("0"),
}


def difference(one: str, other: str) -> str:
    """What two ids differ in: the one step that makes them equal, or all that are needed."""
    for name, step in _STEPS.items():
        if step(one) == step(other):
            return name
    needed = []
    for name, step in _STEPS.items():
        before = one, other
        one, other = step(one), step(other)
        if (one, other) != before:
            needed.append(name)
    return " and ".join(needed)


def check_near_queries(missing: pl.Series, extra: pl.Series, rankings: Rankings, findings: Findings) -> None:
    """Judged queries that are not in the run, and queries of the run that are not judged, but for their spelling."""
    if not len(missing) or not len(extra):
        return
    left = pl.DataFrame({"key": loosest(missing), "judged": missing})
    right = pl.DataFrame({"key": loosest(extra), "returned": extra})
    pairs = left.join(right, on="key", maintain_order="left_right")
    run = rankings.run

    def told() -> Some:
        for _, judged, returned in pairs.iter_rows():
            row = int(run.offsets[int((run.queries == returned).arg_max() or 0)])
            lines = rankings.lines(row) if row < len(run) else ()
            yield (
                f"query {returned!r} would match the judged {judged!r} but for {difference(judged, returned)}",
                {"lines": lines, "query": returned},
            )

    findings.add_some("near-query", len(pairs), told())


def check_near_documents(
    judgments: Judgments, rankings: Rankings, hit_rows: Ints, hit_judgments: Ints, findings: Findings
) -> None:
    """Judged documents that are not returned, where an unjudged one of the same query differs in spelling only."""
    run = rankings.run
    missed = np.ones(len(judgments), np.bool_)
    missed[hit_judgments] = False
    known = pl.DataFrame({"query": run.queries, "code": np.arange(len(run.queries), dtype=np.int32)})
    codes = judgments.queries.to_frame("query").join(known, on="query", how="left", maintain_order="left")["code"]
    of_rows = codes.fill_null(-1).to_numpy()[judgments.codes]
    sought = np.flatnonzero(missed & (of_rows >= 0))
    if not len(sought):
        return
    concerned = np.zeros(len(run.queries), np.bool_)
    concerned[of_rows[sought]] = True
    unjudged = np.repeat(concerned, rankings.depths)
    unjudged[hit_rows] = False
    wanted = judgments.docs.gather(sought)
    if not _could_be_near(wanted, run.docs, plain=findings.blank_free and findings.ascii_only):
        return
    rows = np.flatnonzero(unjudged)
    docs = run.docs.gather(rows)
    left = pl.DataFrame({"code": of_rows[sought], "key": loosest(wanted), "judged": sought})
    right = pl.DataFrame({"code": rankings.codes[rows], "key": loosest(docs), "returned": rows})
    pairs = left.join(right.join(left, on=["code", "key"], how="semi"), on=["code", "key"], maintain_order="left_right")
    # A judged document may stand twice in the judgments: its second judgment is missed and not near anything.
    same = judgments.docs.gather(pairs["judged"]) == run.docs.gather(pairs["returned"])
    pairs = pairs.filter(~same)

    def told() -> Some:
        for judged, returned in pairs.select("judged", "returned").iter_rows():
            one, other = judgments.docs[judged], run.docs[returned]
            yield (
                f"document {other!r} would match the judged {one!r} but for {difference(one, other)}",
                at_rows(run, returned),
            )

    findings.add_some("near-document", len(pairs), told())


def _could_be_near(wanted: pl.Series, docs: pl.Series, *, plain: bool) -> bool:
    """Whether any two ids could differ in spelling only; cheap, as it is asked about millions of ids.

    Of ids without blanks and beyond ASCII (``plain``), letters differ in case only if the sought ones have any, and
    zeros only if one side begins with one.
    """
    if not plain or bool(wanted.str.contains("[A-Za-z]|^0|[^ -~]").any()):
        return True

    def part(begin: int, end: int) -> bool:
        return bool(docs.slice(begin, end - begin).str.starts_with("0").any())

    return any(in_parts(len(docs), part))


def loosest(ids: pl.Series) -> pl.Series:
    """The ids without letter case, leading zeros, Unicode forms, invisible characters and blanks around them."""

    def plain(begin: int, end: int) -> pl.Series:
        return (
            ids.slice(begin, end - begin).str.to_lowercase().str.strip_chars(" \t\r\n\v\f").str.strip_chars_start("0")
        )

    made = pl.concat(in_parts(len(ids), plain)).alias("key") if len(ids) else ids.alias("key")
    odd = np.flatnonzero((ids.str.len_bytes() != ids.str.len_chars()).to_numpy())
    if len(odd):
        made = made.scatter(odd, [_loosest(text) for text in ids.gather(odd)])
    return made


def _loosest(text: str) -> str:
    for _ in range(2):  # folding a letter can leave a form that is not normal
        for step in _STEPS.values():
            text = step(text)
    return text
