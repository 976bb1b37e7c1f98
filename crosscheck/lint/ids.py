"""Ids that look like what they are not: byte order marks and blanks in them, documents that are their own query."""

from __future__ import annotations

import numpy as np
import polars as pl
from metricpact.bridges.sources.findings import Findings
from metricpact.contracts.parallel import in_parts
from metricpact.contracts.rows import SPREAD, Codes, Keys
from metricpact.contracts.tables import Ints, Table
from metricpact.crosscheck.lint.repeats import Some, at_rows, counted

MARK = "\ufeff"
# White space of Unicode, and what is not seen: soft hyphen, zero-width space and joiners, marks of direction.
INVISIBLE = r"[\s\u00ad\u180e\u200b-\u200f\u2060\ufeff]"
_PIECE = 1 << 18
_EDGES = rf"^{INVISIBLE}|{INVISIBLE}$"


def check_ids(table: Table, findings: Findings) -> None:
    """Byte order marks inside of ids, and blanks or invisible characters at their ends."""
    for ids, word in ((table.queries, "query"), (table.docs, "document")):
        if findings.blank_free and findings.ascii_only:
            return  # nothing of the kind can be there
        suspects = _suspects(ids, blank_free=findings.blank_free)
        some = ids.gather(suspects)
        marked = some.str.contains(MARK, literal=True)
        for code, flags, what in (
            ("byte-order-mark-inside", marked, "holds a byte order mark"),
            ("blank-in-id", some.str.contains(_EDGES) & ~marked, "begins or ends with a blank or invisible character"),
        ):
            found = suspects[flags.to_numpy()]
            findings.add_some(code, len(found), _told(table, ids, found, word, what))


def _suspects(ids: pl.Series, *, blank_free: bool) -> Ints:
    """Ids that are not plain ASCII, and, unless the format has no blanks in ids, those that begin or end with one."""

    def part(begin: int, end: int) -> Ints:
        some = ids.slice(begin, end - begin)
        flags = some.str.len_bytes() != some.str.len_chars()
        if not blank_free:
            flags |= some.str.contains(_EDGES)
        return np.asarray(flags.arg_true().to_numpy().astype(np.int64) + begin)

    return np.concatenate(in_parts(len(ids), part))


def _told(table: Table, ids: pl.Series, places: Ints, word: str, what: str) -> Some:
    for place in places.tolist():
        row = int(table.offsets[place]) if word == "query" else place
        # A query whose ranking is empty has no row.
        has_row = row < len(table) and (word == "document" or table.offsets[place + 1] > row)
        at = at_rows(table, row) if has_row else {"query": ids[place]}
        if word == "query":
            at.pop("document", None)
        yield f"{word} id {ids[place]!r} {what}", at


def check_self_matches(table: Table, keys: Keys, codes: Codes, findings: Findings) -> None:
    """Documents whose id is that of their query; ``keys`` are of the table's ``codes``."""
    own = table.queries.hash(seed=0).to_numpy() + np.arange(len(table.queries), dtype=np.uint64) * SPREAD
    # In pieces: the hash of every row's query at once would be another large array.
    rows = np.concatenate(
        [
            np.flatnonzero(keys[begin : begin + _PIECE] == own[codes[begin : begin + _PIECE]]) + begin
            for begin in range(0, max(len(codes), 1), _PIECE)
        ]
    )
    rows = rows[(table.docs.gather(rows) == table.queries.gather(codes[rows])).to_numpy()]
    if len(rows):
        findings.add(
            "document-is-query",
            f"{counted(len(rows), 'document')} with the id of the query",
            **at_rows(table, int(rows[0])),
            count=len(rows),
        )
