"""trectools' ``TrecEval`` on a run and judgments that it reads from files, as its README shows."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from metricpact.bridges.observed.tool import Native, Tool, Values
from metricpact.contracts.errors import UnsupportedError
from metricpact.contracts.tables import Judgments, Run

UNCUT = 10**9
"""The depth that stands for no cutoff; left to itself trectools stops at 1,000 documents."""
NAMES = {
    "P@": "get_precision(depth={k})",
    "R@": "get_recall(depth={k})",
    "R": f"get_recall(depth={UNCUT})",
    "RR@": "get_reciprocal_rank(depth={k})",
    "RR": f"get_reciprocal_rank(depth={UNCUT})",
    "AP@": "get_map(depth={k})",
    "AP": f"get_map(depth={UNCUT})",
    "nDCG@": "get_ndcg(depth={k})",
    "nDCG": f"get_ndcg(depth={UNCUT})",
    "nDCG(exponential)@": "get_ndcg(depth={k}, trec_eval=False)",
    "nDCG(exponential)": f"get_ndcg(depth={UNCUT}, trec_eval=False)",
    "SetR": f"get_recall(depth={UNCUT})",
    "Bpref": f"get_bpref(depth={UNCUT})",
}


def _call(judgments: Judgments, run: Run, names: Sequence[str]) -> Native:
    if run.scores is None:
        raise UnsupportedError("trectools reads runs with scores only", "give the run scores", backend="trectools")
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        # Its sources hold escapes that Python warns of, and calls that pandas warns of: neither is the caller's.
        warnings.simplefilter("ignore")
        from trectools import TrecEval, TrecQrel, TrecRun

        qrels_path, run_path = Path(folder, "qrels"), Path(folder, "run")
        _write(qrels_path, (f"{q} 0 {d} {grade}" for q, d, grade in judgments.to_polars().iter_rows()))
        rows = enumerate(run.to_polars().iter_rows())
        _write(run_path, (f"{q} Q0 {d} {i} {score!r} run" for i, (q, d, score, _) in rows))
        evaluation = TrecEval(TrecRun(str(run_path)), TrecQrel(str(qrels_path)))
        values: Values = {}
        means: dict[str, float] = {}
        for name in names:
            method, arguments = _parsed(name)
            table = getattr(evaluation, method)(**arguments, per_query=True)
            values[name] = {str(query): float(value) for query, value in table.itertuples()}
            means[name] = float(getattr(evaluation, method)(**arguments))
    return Native(values, means)


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _parsed(name: str) -> tuple[str, dict[str, Any]]:
    """The method and its arguments that an own name spells."""
    match = re.fullmatch(r"(\w+)\(depth=(\d+)(, trec_eval=False)?\)", name)
    if match is None:
        raise ValueError(f"{name!r} is not a call of trectools")
    return match[1], {"depth": int(match[2]), **({"trec_eval": False} if match[3] else {})}


TOOL = Tool("trectools", "trectools", "trectools-0.0.50", NAMES, _call)
