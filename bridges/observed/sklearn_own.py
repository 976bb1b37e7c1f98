"""scikit-learn's ``ndcg_score`` by itself: each query's returned documents as candidates, unjudged ones worth 0."""

from __future__ import annotations

from collections.abc import Sequence

from metricpact.bridges.observed.tool import Native, Tool
from metricpact.bridges.sklearn_bridge import BRIDGE
from metricpact.contracts.tables import Judgments, Run

NAMES = {"nDCG@": "ndcg_score@{k}", "nDCG": "ndcg_score"}


def _call(judgments: Judgments, run: Run, names: Sequence[str]) -> Native:
    """One row a query, because rankings differ in length; the mean is over the rows, as ``ndcg_score`` averages."""
    import numpy as np

    values = BRIDGE.native(judgments, run, names)
    return Native(values, {name: float(np.average(list(found.values()))) for name, found in values.items() if found})


TOOL = Tool("sklearn", "scikit-learn", "sklearn-1.9", NAMES, _call)
