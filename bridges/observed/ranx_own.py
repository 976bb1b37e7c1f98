"""ranx by itself, twice: on ``Qrels`` and ``Run`` made comparable, and on plain dicts, which it treats otherwise."""

from __future__ import annotations

from collections.abc import Sequence

from metricpact.bridges.observed.tool import Native, Tool
from metricpact.bridges.ranx_bridge import BRIDGE, calling, library
from metricpact.bridges.raw import as_dicts
from metricpact.contracts.tables import Judgments, Run

NAMES = {
    "P@": "precision@{k}",
    "P(rel)@": "precision@{k}-l{rel}",
    "R@": "recall@{k}",
    "R": "recall",
    "RR@": "mrr@{k}",
    "RR": "mrr",
    "AP@": "map@{k}",
    "AP": "map",
    "nDCG@": "ndcg@{k}",
    "nDCG": "ndcg",
    "nDCG(exponential)@": "ndcg_burges@{k}",
    "nDCG(exponential)": "ndcg_burges",
    "DCG@": "dcg@{k}",
    "DCG": "dcg",
    "Success@": "hit_rate@{k}",
    "Rprec": "r-precision",
    "SetP": "precision",
    "SetR": "recall",
    "SetF": "f1",
    "Bpref": "bpref",
}


def _call(judgments: Judgments, run: Run, names: Sequence[str]) -> Native:
    """What ``evaluate`` leaves in the ``Run``, and numpy's mean of it, which is what it returns."""
    import numpy as np

    values = BRIDGE.native(judgments, run, names)
    return Native(values, {name: float(np.mean(list(found.values()))) for name, found in values.items()})


def _call_on_dicts(judgments: Judgments, run: Run, names: Sequence[str]) -> Native:
    """``evaluate`` on dicts, of which it returns values by position in the run.

    It is asked for two metrics at least: one alone that has a cutoff is a ``KeyError`` with ``return_mean=False``.
    """
    qrels, ranked = as_dicts(judgments, run, "ranx-dicts")
    asked = list(dict.fromkeys([*names, "mrr", "map"]))
    with calling():
        found = library().evaluate(qrels, ranked, asked, return_mean=False)
        mean = library().evaluate(qrels, ranked, asked)
    values = {name: dict(zip(ranked, map(float, found[name]), strict=True)) for name in names}
    return Native(values, {name: float(mean[name]) for name in names})


TOOL = Tool("ranx", "ranx", "ranx-0.3.21", NAMES, _call)
DICTS = Tool("ranx-dicts", "ranx", "ranx-dicts-0.3.21", NAMES, _call_on_dicts)
