"""Every kind of finding: its code, how grave it is, what it means, what to do. The README's table is made of it."""

from __future__ import annotations

from dataclasses import dataclass

SEVERITIES = {
    "error": "the chapter contract refuses the data, or a part of them is not read or matches nothing",
    "warning": "the data are scored, and a number may be bent or may differ between tools",
    "note": "worth knowing; no number is at risk by itself",
}
"""What a severity says, the gravest first."""


@dataclass(frozen=True)
class Kind:
    """What all findings of one code have in common; ``noticed`` heads a count of lines."""

    severity: str
    meaning: str
    hint: str
    noticed: str = ""


KINDS: dict[str, Kind] = {
    # A file, and its lines.
    "cannot-open": Kind("error", "the file cannot be opened", "check the path"),
    "unreadable": Kind("error", "the file is damaged, or of no format that is read", "convert it, or force --format"),
    "how-read": Kind(
        "warning",
        "a reader tells how it took the input: no header, queries that a BEIR folder does not list, a data set's codes",
        "see that it is meant so",
    ),
    "no-rows": Kind("error", "the file holds no row", "name a file that holds rows"),
    "malformed-line": Kind("error", "a line is no row of the format: columns, an empty id, no number", "mend the line"),
    "words-behind-tag": Kind("error", "a line of a run goes on behind the tag", "write the tag as one word"),
    "not-utf8": Kind("error", "a line is not UTF-8, or holds a zero byte", "iconv -f latin1 -t utf-8"),
    "not-finite": Kind("error", "a score or grade is NaN, infinite or beyond double precision", "scores are finite"),
    "header-line": Kind("error", "a line of column names in a format that has none", "remove the line"),
    "comment-line": Kind(
        "warning",
        "lines that begin with # are skipped; other tools read them as rows, or stop",
        "remove them before other tools read the file",
        "lines that begin with #",
    ),
    "blank-line": Kind("note", "blank lines are skipped", "", "blank lines"),
    "byte-order-mark": Kind(
        "warning",
        "the file begins with a byte order mark; other tools read it as part of the first id",
        "save the file as UTF-8 without it",
        "a byte order mark at the start",
    ),
    "crlf": Kind(
        "warning",
        "lines end with CR LF; tools that split at LF keep the CR in the last column",
        "convert the line ends: tr -d '\\r'",
        "lines that end with CR LF",
    ),
    # Ids.
    "byte-order-mark-inside": Kind(
        "error", "an id holds a byte order mark: files were joined; it matches nothing", "remove the three bytes"
    ),
    "blank-in-id": Kind("warning", "an id begins or ends with a blank or an invisible character", "trim the ids"),
    "near-query": Kind(
        "warning", "a query on one side would match one on the other but for its spelling", "spell the id alike"
    ),
    "near-document": Kind(
        "warning", "a judged document would match a returned one but for its spelling", "spell the id alike"
    ),
    "document-is-query": Kind(
        "warning", "a document has the id of its query; BEIR's tools drop it", "--set self_match=remove drops it"
    ),
    # Judgments.
    "duplicate-judgment": Kind("error", "a document is judged twice for a query, with one grade", "remove one"),
    "conflicting-judgment": Kind("error", "a document is judged twice for a query, with other grades", "decide on one"),
    "negative-grade": Kind(
        "error", "grades below 0, which tools take differently", "--set negative_grade=unjudged or nonrelevant"
    ),
    "fractional-grade": Kind("error", "grades that are no integers", "a gain table admits them, other tools cut them"),
    "no-positive-query": Kind(
        "warning",
        "no document is known to be relevant to the query: most measures have no value",
        "--set undefined=… says what counts then",
    ),
    "grade-scale": Kind("note", "the grades and how often each was given", ""),
    "reversed-grades": Kind(
        "warning",
        "the grades look as if 1 was the best. With a run: over queries, higher grades stand lower in the rankings "
        "(sign test, z ≥ 3). Without: three or more positive grades, none 0, and the lowest is the rarest",
        "turn the codes around, or write a gain table",
    ),
    # Runs.
    "duplicate-document": Kind("error", "a document is returned twice for a query", "remove one"),
    "rank-conflict": Kind(
        "error", "the rank column contradicts the scores", "--set rank_conflict=ignore or --set order=rank"
    ),
    "bad-rank": Kind("error", "the rank column holds something other than integers", "--set rank_conflict=ignore"),
    "repeated-rank": Kind(
        "error", "two documents of a ranking without scores have one rank", "number the ranks 1, 2, 3, …"
    ),
    "scattered-query": Kind("warning", "the rows of a query do not lie together", "sort the file by query"),
    "unsorted-ranking": Kind(
        "warning", "the rows of a query are not in the order of their scores", "sort by falling score"
    ),
    "tied-scores": Kind("note", "documents of a ranking with the same score", ""),
    "tie-at-relevance": Kind(
        "warning",
        "tied documents of different relevance inside the cutoff: their order decides the value",
        "choose their order: --set ties=…",
    ),
    "float32-ties": Kind(
        "warning",
        "scores that differ in double precision and not in single, in which trec_eval 9 compares",
        "--set score_width=float32 scores as trec_eval 9 does",
    ),
    "constant-scores": Kind(
        "warning", "all documents of a ranking have the same score", "see whether scores were lost"
    ),
    "identical-rankings": Kind(
        "warning", "all queries have the same ranking", "see whether the queries reached the system"
    ),
    "several-tags": Kind("warning", "a run holds more than one tag: runs may have been joined", "split the file"),
    "short-ranking": Kind("note", "rankings with fewer documents than the cutoff", ""),
    "depth": Kind("note", "how many documents the rankings hold, and how many go beyond the cutoff", ""),
    # Judgments and a run together.
    "mismatched-queries": Kind(
        "error", "judgments and run share no query", "look for prefixes, leading zeros, other letter case"
    ),
    "mismatched-documents": Kind(
        "warning", "the run returns not one of the judged documents", "look for prefixes, or another collection"
    ),
    "missing-query": Kind(
        "warning",
        "judged queries that are not in the run; tools count them as 0, or leave them out",
        "they count as empty rankings; --set queries=answered leaves them out",
    ),
    "extra-query": Kind(
        "warning", "queries of the run that are not judged are left out", "--set extra_query=error or zero else"
    ),
    "unjudged": Kind("note", "the share of unjudged documents inside the cutoff", ""),
}
"""Every code, in the order of the table. Codes are stable: one is never given another meaning."""
