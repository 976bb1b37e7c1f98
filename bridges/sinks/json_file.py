"""JSON: an object of objects, query → document → number, or of lists of ids for a run without scores."""

from __future__ import annotations

import json
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from metricpact.bridges.sinks.rows import ranks_by_score
from metricpact.contracts.errors import InputError
from metricpact.contracts.rows import first_pair, repeated_rows, row_keys
from metricpact.contracts.tables import Judgments, Run, Table


def write_qrels(judgments: Judgments, file: IO[bytes]) -> None:
    """Write judgments; raises ``InputError`` for scattered queries, and for documents judged twice."""
    _write(judgments, judgments.grades, file)


def write_run(run: Run, file: IO[bytes]) -> None:
    """Write a run; raises ``InputError`` for scattered queries, repeated documents, and ranks beside the scores'."""
    if run.ranks is not None and not np.array_equal(run.ranks, ranks_by_score(run)):
        row = int(np.flatnonzero(run.ranks != ranks_by_score(run))[0])
        raise run.error(
            row,
            f"rank {run.ranks[row]} is not what the scores say, and json has no place for it",
            "trec, csv and parquet hold ranks; --drop rank leaves them out",
        )
    _write(run, run.scores, file)


def _write(table: Table, numbers: npt.NDArray[Any] | None, file: IO[bytes]) -> None:
    if table.origin.moved is not None:
        raise InputError(
            "the rows of a query do not lie together, and json names every query once",
            "--drop order brings the rows of each query together",
            source=table.origin.name,
        )
    repeated = repeated_rows(row_keys(table.docs, table.codes), table.docs, table.codes)
    if len(repeated) and numbers is not None:
        _, second = first_pair(repeated, table.docs, table.codes)
        raise table.error(
            second,
            f"document {table.docs[second]!r} comes twice for one query, and readers of json keep one of the two",
            "remove one, or write another format",
        )
    file.write(b"{")
    for place, query in enumerate(table.queries):
        rows = slice(int(table.offsets[place]), int(table.offsets[place + 1]))
        docs = table.docs[rows].to_list()
        ranking = docs if numbers is None else dict(zip(docs, numbers[rows].tolist(), strict=True))
        text = f"{json.dumps(query, ensure_ascii=False)}: {json.dumps(ranking, ensure_ascii=False, allow_nan=False)}"
        file.write(f"{',' if place else ''}\n{text}".encode())
    file.write(b"\n}\n")
