"""pytrec_eval as its documentation shows it: its own readers, one evaluator, the means printed.

It has no RR@10. The uncut reciprocal rank decides it without another pass: a first relevant document below
rank ten counts as none. No way is cheaper for pytrec_eval, so the comparison does not flatter metricpact.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytrec_eval

NAMES = {
    "P@10": "P_10",
    "R@100": "recall_100",
    "RR@10": "recip_rank",
    "AP@100": "map_cut_100",
    "nDCG@10": "ndcg_cut_10",
}


def main(qrels_path: str, run_path: str) -> None:
    """Score the files and print one line a measure."""
    with Path(qrels_path).open() as file:
        qrels = pytrec_eval.parse_qrel(file)
    with Path(run_path).open() as file:
        run = pytrec_eval.parse_run(file)
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, {"P.10", "recall.100", "recip_rank", "map_cut.100", "ndcg_cut.10"}
    )
    results = evaluator.evaluate(run)
    for measure, name in NAMES.items():
        values = [result[name] for result in results.values()]
        if measure == "RR@10":
            values = [value if value >= 0.1 else 0.0 for value in values]
        print(f"{measure}\t{sum(values) / len(values):.6f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
