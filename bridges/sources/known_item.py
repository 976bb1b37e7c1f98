"""Known-item tables: a CSV row a question, with the one document that answers it and what was returned.

``expected_id`` is the judgment (grade 1; ``NONE`` or nothing: the question has no answer, so it is judged and has no
relevant document) and ``ranked_ids`` the ranking, ids between semicolons. With a column ``run`` a table holds several
runs: the judgments are what all of them agree on, and a run has to be the only one.
"""

from __future__ import annotations

import numpy as np
from metricpact.bridges.sources.delimited import csv_rows
from metricpact.bridges.sources.registry import KNOWN_ITEM_COLUMNS
from metricpact.bridges.sources.streams import Opened
from metricpact.contracts.errors import InputError
from metricpact.contracts.tables import Judgments, Origin, Run

NO_ANSWER = ("NONE", "")
_Row = tuple[int, str, str, list[str], str]
"""Line, query, expected document, ranking, run."""


def read_known_item_qrels(opened: Opened) -> Judgments:
    """Judgments of a known-item table; raises ``InputError`` with the line, also where two rows disagree."""
    expected: dict[str, tuple[int, str]] = {}
    for line, query, answer, _, _ in _rows(opened):
        before = expected.setdefault(query, (line, answer))
        if before[1] != answer:
            raise InputError(
                f"query {query!r} expects {answer!r} here and {before[1]!r} on line {before[0]}",
                "a question has one expected document",
                source=opened.stream.name,
                line=line,
                query=query,
            )
    answered = {query: pair for query, pair in expected.items() if pair[1] not in NO_ANSWER}
    return Judgments.from_columns(
        list(answered),
        [answer for _, answer in answered.values()],
        [1] * len(answered),
        empty=[query for query in expected if query not in answered],
        origin=_origin(opened, [line for line, _ in answered.values()]),
    )


def read_known_item_run(opened: Opened) -> Run:
    """The rankings of a known-item table; raises ``InputError`` for one that holds several runs."""
    rows = _rows(opened)
    runs = list(dict.fromkeys(run for *_, run in rows))
    if len(runs) > 1:
        raise InputError(
            f"the table holds {len(runs)} runs: {', '.join(runs[:5])}",
            "keep the rows of one run in the file",
            source=opened.stream.name,
        )
    first: dict[str, int] = {}
    for line, query, *_ in rows:
        if first.setdefault(query, line) != line:
            raise InputError(
                f"query {query!r} stands on line {first[query]} already",
                "a run has one row a question",
                source=opened.stream.name,
                line=line,
                query=query,
            )
    return Run.from_columns(
        [query for _, query, _, ranking, _ in rows for _ in ranking],
        [document for _, _, _, ranking, _ in rows for document in ranking],
        empty=[query for _, query, _, ranking, _ in rows if not ranking],
        origin=_origin(opened, [line for line, _, _, ranking, _ in rows for _ in ranking], runs[0] or None),
    )


def _origin(opened: Opened, lines: list[int], tag: str | None = None) -> Origin:
    return Origin(opened.stream.name, lines=np.array(lines, np.int64), sha256=opened.stream.sha256, tag=tag)


def _rows(opened: Opened) -> list[_Row]:
    name = opened.stream.name
    found = csv_rows(opened.data(), name)
    line, header = next(found)
    names = [column.strip().lower() for column in header]
    for column in KNOWN_ITEM_COLUMNS:
        if names.count(column) != 1:
            raise InputError(
                f"the header names {column} {names.count(column)} times",
                f"a known-item table has the columns {', '.join(KNOWN_ITEM_COLUMNS)}, and run where it holds several",
                source=name,
                line=line,
            )
    query, answer, ranked = (names.index(column) for column in KNOWN_ITEM_COLUMNS)
    run = names.index("run") if "run" in names else None
    rows: list[_Row] = []
    for line, row in found:
        if len(row) != len(names):
            raise InputError(
                f"{len(row)} columns where the header has {len(names)}", "fill every column", source=name, line=line
            )
        if not row[query].strip():
            raise InputError("the query id is empty", "give every question an id", source=name, line=line)
        ranking = [document.strip() for document in row[ranked].split(";") if document.strip()]
        rows.append(
            (line, row[query].strip(), row[answer].strip(), ranking, row[run].strip() if run is not None else "")
        )
    if not rows:
        raise InputError("there is a header and no row", "name a file that holds rows", source=name)
    return rows
