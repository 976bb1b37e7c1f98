"""Slices on real data: the benchmarks' page shows what the command prints for query variations of TREC DL 2019."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "../shared/data"
PAGE = (ROOT / "benchmarks/README.md").read_text(encoding="utf-8")
SHOWN = PAGE.split("<!-- begin query variations -->\n")[1].split("<!-- end query variations -->")[0]


def rows() -> dict[str, list[str]]:
    """The cells of the page's table by slice."""
    lines = [line.strip("|").split("|") for line in SHOWN.splitlines() if line.startswith("|")][2:]
    return {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in lines}


def test_the_pages_slices_add_up() -> None:
    """Kept and changed queries of every kind are no more than all, and their means surround the whole's."""
    shown = rows()
    kinds = sorted({name.partition("=")[0] for name in shown} - {"all"})
    assert kinds == ["back_translation", "near_word", "paraphrase", "synonym"]
    for kind in kinds:
        kept, changed = shown[f"{kind}=kept"], shown[f"{kind}=changed"]
        n = [int(kept[1]), int(changed[1])]
        assert sum(n) in (42, 43)
        assert all(cells[-1] == "direction, not evidence" for cells in (kept, changed))
        if sum(n) == 43:
            for at in (2, 4, 6):
                pooled = (n[0] * float(kept[at]) + n[1] * float(changed[at])) / 43
                assert abs(pooled - float(shown["all"][at])) < 1.5e-3


@pytest.mark.skipif(not (DATA / "query_variations").is_dir(), reason="../shared/data/query_variations is not there")
def test_the_page_is_what_the_command_prints() -> None:
    """The slices come from the labels of the variations, the values from the judgments and the run."""
    command = [sys.executable, "benchmarks/query_variations.py", str(DATA)]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout == SHOWN
    labels = pl.read_csv(DATA / "query_variations/data/variations_trec2019_labeled.csv", infer_schema=False)
    kept = labels.filter(pl.col("method") == "WordSwapEmbedding", pl.col("valid") == "True")
    assert int(rows()["near_word=kept"][1]) == len(kept)
