"""sentence-transformers' ``InformationRetrievalEvaluator``: its metrics of results, as its call ends. Needs torch.

The evaluator makes the results from embeddings; here they are the run's. It gives means; each query by itself gives
its value.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from metricpact.bridges.observed.tool import Native, Tool, Values
from metricpact.bridges.raw import Graded, Scored, as_dicts
from metricpact.contracts.tables import Judgments, Run

NAMES = {
    "Success@": "accuracy@{k}",
    "P@": "precision@{k}",
    "R@": "recall@{k}",
    "nDCG@": "ndcg@{k}",
    "RR@": "mrr@{k}",
    "AP@": "map@{k}",
}


def _call(judgments: Judgments, run: Run, names: Sequence[str]) -> Native:
    grades, ranked = as_dicts(judgments, run, "sentence-transformers")
    means = _metrics(grades, ranked, names)
    values: Values = {name: {} for name in names}
    for query, judged in grades.items():
        for name, value in _metrics({query: judged}, ranked, names).items():
            values[name][query] = value
    return Native(values, means)


def _metrics(grades: Graded, ranked: Scored, names: Sequence[str]) -> dict[str, float]:
    """The evaluator's metrics over some queries, without those that have nothing relevant: it drops them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it imports warns
        from sentence_transformers.evaluation import InformationRetrievalEvaluator

    relevant = {query: {doc for doc, grade in docs.items() if grade >= 1} for query, docs in grades.items()}
    if not any(relevant.values()):
        return {}
    cutoffs = sorted({int(name.partition("@")[2]) for name in names})
    evaluator = InformationRetrievalEvaluator(
        queries={query: query for query in grades},
        corpus={"": ""},
        relevant_docs=relevant,
        mrr_at_k=cutoffs,
        ndcg_at_k=cutoffs,
        accuracy_at_k=cutoffs,
        precision_recall_at_k=cutoffs,
        map_at_k=cutoffs,
    )
    results = [
        [{"corpus_id": doc, "score": score} for doc, score in ranked.get(query, {}).items()]
        for query in evaluator.queries_ids
    ]
    found = evaluator.compute_metrics(results)
    means = {}
    for name in names:
        family, _, cutoff = name.partition("@")
        means[name] = float(found[f"{family}@k"][int(cutoff)])
    return means


TOOL = Tool("sentence-transformers", "sentence-transformers", "sentence-transformers-6", NAMES, _call)
