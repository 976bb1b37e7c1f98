"""MS MARCO: runs of three columns, query, document and rank. Its qrels are TREC's.

There is no score, so the ranks alone say the order, and a file of scores under that shape would be read upside down:
the ranks of a query have to be 1, 2, 3, … each of them once.
"""

from __future__ import annotations

import numpy as np
from metricpact.bridges.sources.lines import Layout, read_lines
from metricpact.bridges.sources.streams import Opened
from metricpact.bridges.sources.trec import run_from
from metricpact.contracts.errors import InputError
from metricpact.contracts.tables import Run

RUN = Layout("MS MARCO run file", {"query": "id", "document": "id", "rank": "integer"})
_HINT = "a run with scores in three columns needs a header, such as query_id, doc_id, score"


def read_msmarco_run(opened: Opened) -> Run:
    """A run from an MS MARCO file, in the order of its ranks; raises ``InputError`` with the line at fault."""
    run = run_from(read_lines(opened.stream, opened.slices, RUN), opened.stream)
    if run.rank_fault is not None:
        fault = run.rank_fault
        raise InputError(fault.fact, _HINT, source=fault.source, line=fault.line)
    ranks = run.ranks
    assert ranks is not None  # noqa: S101 # the layout has them, and there is no fault
    order = np.lexsort((ranks, run.codes))
    wanted = np.arange(1, len(run) + 1) - np.repeat(run.offsets[:-1], np.diff(run.offsets))
    wrong = np.flatnonzero(ranks[order] != wanted)
    if len(wrong):
        at = int(order[wrong[0]])
        raise run.error(at, f"rank {ranks[at]}, where the ranks of a query are 1, 2, 3, …, each of them once", _HINT)
    return run
