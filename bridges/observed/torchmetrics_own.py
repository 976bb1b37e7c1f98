"""torchmetrics' retrieval classes on the returned documents, unjudged ones worth 0. Needs torch.

The classes give means; each query by itself gives its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from metricpact.bridges.observed.tool import Native, Tool, Values
from metricpact.bridges.raw import as_dicts
from metricpact.contracts.tables import Judgments, Run

NAMES = {
    "P@": "RetrievalPrecision(top_k={k})",
    "SetP": "RetrievalPrecision(top_k=None)",
    "R@": "RetrievalRecall(top_k={k})",
    "RR@": "RetrievalMRR(top_k={k})",
    "RR": "RetrievalMRR(top_k=None)",
    "AP@": "RetrievalMAP(top_k={k})",
    "AP": "RetrievalMAP(top_k=None)",
    "Success@": "RetrievalHitRate(top_k={k})",
    "Rprec": "RetrievalRPrecision()",
    "nDCG@": "RetrievalNormalizedDCG(top_k={k})",
    "nDCG": "RetrievalNormalizedDCG(top_k=None)",
}


def _call(judgments: Judgments, run: Run, names: Sequence[str]) -> Native:
    grades, ranked = as_dicts(judgments, run, "torchmetrics")
    candidates = {query: docs for query, docs in ranked.items() if docs and query in grades}
    scores = {query: list(docs.values()) for query, docs in candidates.items()}
    truth = {query: [grades[query].get(doc, 0) for doc in docs] for query, docs in candidates.items()}
    values: Values = {}
    means: dict[str, float] = {}
    for name in names if candidates else ():
        means[name] = _value(name, list(scores.values()), list(truth.values()))
        values[name] = {query: _value(name, [scores[query]], [truth[query]]) for query in candidates}
    return Native(values, means)


def _value(name: str, scores: Sequence[Sequence[float]], truth: Sequence[Sequence[int]]) -> float:
    """A class on some queries; all but nDCG are given whether a document is relevant, because they take no grades."""
    import torch
    from torchmetrics import retrieval

    family, _, argument = name.rstrip(")").partition("(")
    depth = argument.partition("=")[2]
    options: dict[str, Any] = {"top_k": None if depth == "None" else int(depth)} if argument else {}
    target = torch.tensor(list(chain.from_iterable(truth)))
    indexes = torch.tensor([at for at, one in enumerate(scores) for _ in one])
    metric = getattr(retrieval, family)(**options)
    graded = target if family == "RetrievalNormalizedDCG" else (target >= 1).long()
    return float(metric(torch.tensor(list(chain.from_iterable(scores))), graded, indexes=indexes))


TOOL = Tool("torchmetrics", "torchmetrics", "torchmetrics-1.9", NAMES, _call, rounding=1e-5)
