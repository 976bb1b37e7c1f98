"""MS MARCO: runs of three columns, query, document and rank. Its qrels are TREC's.

There is no score, so the ranks alone say the order, and a file of scores under that shape would be read upside down:
the ranks of a query have to be 1, 2, 3, … each of them once.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from metricpact.bridges.sources.layout import Layout
from metricpact.bridges.sources.lines import read_lines
from metricpact.bridges.sources.streams import Opened
from metricpact.bridges.sources.trec import origin_of, run_from
from metricpact.contracts.errors import InputError
from metricpact.contracts.tables import Run

RUN = Layout("MS MARCO run file", {"query": "id", "document": "id", "rank": "integer"})
_HINT = "a run with scores in three columns needs a header, such as query_id, doc_id, score"


def read_msmarco_run(opened: Opened) -> Run:
    """A run from an MS MARCO file, in the order of its ranks; raises ``InputError`` with the line at fault."""
    columns = read_lines(opened.stream, opened.slices, RUN)
    text = columns.column("rank")
    if text.dtype == pl.String:
        at = int(np.flatnonzero(~text.str.contains(r"^[+-]?[0-9]{1,18}$").to_numpy())[0])
        line = origin_of(columns, opened.stream).line(at)
        raise InputError(f"rank {text[at]!r} is not an integer", _HINT, source=opened.stream.name, line=line)
    run = run_from(columns, opened.stream)
    ranks = run.ranks
    assert ranks is not None  # noqa: S101 # the layout has them
    order = np.lexsort((ranks, run.codes))
    wanted = np.arange(1, len(run) + 1) - np.repeat(run.offsets[:-1], np.diff(run.offsets))
    wrong = np.flatnonzero(ranks[order] != wanted)
    if len(wrong):
        at = int(order[wrong[0]])
        raise run.error(at, f"rank {ranks[at]}, where the ranks of a query are 1, 2, 3, …, each of them once", _HINT)
    return run
