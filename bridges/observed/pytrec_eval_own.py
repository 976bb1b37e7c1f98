"""pytrec_eval by itself: its evaluator on dicts, and its own mean of what comes back."""

from __future__ import annotations

from collections.abc import Sequence

from metricpact.bridges.observed.guards import refuse_empty_ranking
from metricpact.bridges.observed.tool import Native, Tool
from metricpact.bridges.pytrec_eval_bridge import BRIDGE
from metricpact.contracts.tables import Judgments, Run

NAMES = {
    "P@": "P_{k}",
    "R@": "recall_{k}",
    "R": "set_recall",
    "RR": "recip_rank",
    "AP@": "map_cut_{k}",
    "AP": "map",
    "nDCG@": "ndcg_cut_{k}",
    "nDCG": "ndcg",
    "Success@": "success_{k}",
    "Rprec": "Rprec",
    "SetP": "set_P",
    "SetR": "set_recall",
    "SetF": "set_F",
    "SetF(beta)": "set_F_{beta2:g}",
    "Bpref": "bpref",
}


def _call(judgments: Judgments, run: Run, names: Sequence[str]) -> Native:
    """Values for the queries in both; means by ``compute_aggregated_measure``. set_F takes one β² in a call."""
    import pytrec_eval

    refuse_empty_ranking(run, "pytrec_eval")
    weighted = [name for name in names if name.startswith("set_F")]
    values = BRIDGE.native(judgments, run, [name for name in names if name not in weighted])
    for name in weighted:
        values |= BRIDGE.native(judgments, run, [name])
    means = {
        name: float(pytrec_eval.compute_aggregated_measure(name, list(found.values())))
        for name, found in values.items()
        if found
    }
    return Native(values, means)


TOOL = Tool("pytrec_eval", "pytrec-eval-terrier", "pytrec_eval-0.5.11", NAMES, _call)
