"""Slices by query variations, on real judgments: ``python benchmarks/query_variations.py DATA``.

``DATA`` holds ``query_variations`` (Penha, Câmara and Hauff, ECIR 2022: rewritings of the TREC Deep Learning 2019
queries, each with a label that says whether it still asks the same) and ``tilde_dl19`` (the passage judgments and a
BM25 run). The slices are the queries that a kind of rewriting keeps or changes; the Markdown that is printed stands on
the benchmarks' page.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl

KINDS = {
    "back_translation_pivot_language_de": "back_translation",
    "ramsrigouthamg/t5_paraphraser": "paraphrase",
    "WordSwapEmbedding": "near_word",
    "WordSwapWordNet": "synonym",
}
"""The kinds of rewriting that changed the meaning of at least ten queries, with a short name."""
ARGUMENTS = ["R@100", "RR@10", "nDCG@10", "--set", "threshold=2", "-p", "3", "-o", "markdown"]


def slice_table(variations: Path) -> pl.DataFrame:
    """One row a query: whether each kind of rewriting kept its meaning (null where there is no such variation)."""
    rows = pl.read_csv(variations, infer_schema=False)
    label = pl.when(pl.col("valid") == "True").then(pl.lit("kept")).otherwise(pl.lit("changed"))
    wide = rows.select("q_id", "method", label=label).pivot("method", index="q_id", values="label")
    return wide.select(pl.col("q_id").alias("query_id"), *(pl.col(name).alias(short) for name, short in KINDS.items()))


def markdown(data: Path) -> str:
    """The table of slices that the command prints, without its signature's versions."""
    judged = data / "tilde_dl19/data"
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "variations.csv"
        slice_table(data / "query_variations/data/variations_trec2019_labeled.csv").write_csv(table)
        qrels, run = judged / "qrels/2019qrels-pass.txt", judged / "runs/run.trec2019-bm25.res"
        command = [
            sys.executable,
            "-m",
            "metricpact",
            "slices",
            str(qrels),
            str(run),
            "--slices",
            str(table),
            *ARGUMENTS,
        ]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = io.StringIO(printed.replace(str(run), "bm25")).readlines()
    return "".join(line for line in lines if not line.startswith("`signature"))


if __name__ == "__main__":
    print(markdown(Path(sys.argv[1])), end="")
