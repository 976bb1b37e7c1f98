"""BEIR's ``EvaluateRetrieval``: ``evaluate`` and then ``evaluate_custom`` on the same results, as its README shows.

``evaluate`` takes documents whose id is the query's out of the results that it is given, so ``evaluate_custom`` sees
them without. It gives means only, rounded to five decimals.
"""

from __future__ import annotations

from collections.abc import Sequence

from metricpact.bridges.observed.guards import refuse_empty_ranking
from metricpact.bridges.observed.tool import Native, Tool
from metricpact.bridges.raw import as_dicts
from metricpact.bridges.trec_eval_input import refuse_judgments
from metricpact.contracts.tables import Judgments, Run

NAMES = {
    "nDCG@": "NDCG@{k}",
    "AP@": "MAP@{k}",
    "R@": "Recall@{k}",
    "P@": "P@{k}",
    "RR@": "MRR@{k}",
    "Success@": "Accuracy@{k}",
}
_CUSTOM = {"MRR": "mrr", "Accuracy": "accuracy"}


def _call(judgments: Judgments, run: Run, names: Sequence[str]) -> Native:
    from beir.retrieval.evaluation import EvaluateRetrieval

    refuse_judgments(judgments)
    qrels, results = as_dicts(judgments, run, "beir")
    cutoffs = sorted({int(name.partition("@")[2]) for name in names})
    refuse_empty_ranking(run, "beir")
    tables = list(EvaluateRetrieval.evaluate(qrels, results, cutoffs))
    for family, metric in _CUSTOM.items():
        if any(name.startswith(family) for name in names):
            tables.append(EvaluateRetrieval.evaluate_custom(qrels, results, cutoffs, metric))
    means = {name: mean for table in tables for name, mean in table.items()}
    return Native(means={name: float(means[name]) for name in names})


TOOL = Tool("beir", "beir", "beir-2.2.0", NAMES, _call, rounding=5e-6)
