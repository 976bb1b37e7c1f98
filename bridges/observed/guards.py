"""What must not reach a tool because it would end the process there."""

from __future__ import annotations

import numpy as np
from metricpact.contracts.errors import LimitError
from metricpact.contracts.tables import Run


def refuse_empty_ranking(run: Run, tool: str) -> None:
    """Refuse a run with an empty ranking: trec_eval inside Python can read freed memory on one."""
    empty = np.flatnonzero(np.diff(run.offsets) == 0)
    if len(empty):
        query = run.queries[int(empty[0])]
        raise LimitError(
            f"the ranking of query {query!r} is empty, which can end the process inside {tool}",
            "leave the query out of the run: a tool is asked only for rankings of something",
        )
