"""ranx as its documentation shows it: `Qrels.from_file`, `Run.from_file`, `evaluate`, the means printed."""

from __future__ import annotations

import sys

from ranx import Qrels, Run, evaluate

NAMES = {
    "P@10": "precision@10",
    "R@100": "recall@100",
    "RR@10": "mrr@10",
    "AP@100": "map@100",
    "nDCG@10": "ndcg@10",
}


def main(qrels_path: str, run_path: str) -> None:
    """Score the files and print one line a measure."""
    qrels = Qrels.from_file(qrels_path, kind="trec")
    run = Run.from_file(run_path, kind="trec")
    results = evaluate(qrels, run, list(NAMES.values()), make_comparable=True)
    for measure, name in NAMES.items():
        print(f"{measure}\t{results[name]:.6f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
