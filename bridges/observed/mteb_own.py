"""MTEB's ``calculate_retrieval_scores``, which every retrieval task of it ends in. Needs torch, which mteb imports."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from metricpact.bridges.observed.guards import refuse_empty_ranking
from metricpact.bridges.observed.tool import Native, Tool, Values
from metricpact.bridges.raw import as_dicts
from metricpact.bridges.trec_eval_input import refuse_judgments
from metricpact.contracts.tables import Judgments, Run

NAMES = {
    "nDCG@": "NDCG@{k}",
    "AP@": "MAP@{k}",
    "R@": "Recall@{k}",
    "P@": "P@{k}",
    "Success@": "HitRate@{k}",
    "RR@": "MRR@{k}",
}
_TREC_EVAL = {"NDCG": "ndcg_cut", "MAP": "map_cut", "Recall": "recall", "P": "P", "HitRate": "success"}


def _call(judgments: Judgments, run: Run, names: Sequence[str]) -> Native:
    refuse_judgments(judgments)
    refuse_empty_ranking(run, "mteb")
    qrels, results = as_dicts(judgments, run, "mteb")
    cutoffs = sorted({int(name.partition("@")[2]) for name in names})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its imports warn, and so do its abstention curves of few queries
        from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores, mrr

        found = calculate_retrieval_scores(results, qrels, cutoffs)
    ranks = mrr(qrels, results, cutoffs)
    values: Values = {}
    for name in names:
        family, _, cutoff = name.partition("@")
        if family == "MRR":
            values[name] = dict(zip(results, ranks[name], strict=True))
        else:
            key = f"{_TREC_EVAL[family]}_{cutoff}"
            values[name] = {query: scores[key] for query, scores in found.all_scores.items()}
    means = {**found.ndcg, **found.map, **found.recall, **found.precision, **found.hit_rate, **found.mrr}
    return Native(values, {name: float(means[name]) for name in names})


TOOL = Tool("mteb", "mteb", "mteb-2", NAMES, _call, rounding=5e-6)
