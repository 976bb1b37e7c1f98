"""What bounds cost: on the large files of `speed.py` the CPU seconds to score P, R, RR, AP, nDCG and Success, the CPU
seconds that bounds and tie bounds add in the same process, and the ratios. It measures and does not judge.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from speed import make_files, show

FAMILIES = ("P", "R", "RR", "AP", "nDCG", "Success")
PROMISED = 3.0
"""Bounds at cutoff 10 add at most this many times what scoring takes."""


def seconds(judgments: Any, run: Any, measures: list[str], **asked: bool) -> float:
    """The CPU time of one evaluation, from tables in memory to values of every query."""
    from metricpact.bridges.evaluate import evaluate

    started = time.process_time()
    evaluate(judgments, run, measures, backend="reference", **asked)  # type: ignore[arg-type]
    return time.process_time() - started


def definitions_alone(judgments: Any, run: Any, measures: list[str]) -> tuple[float, float]:
    """The seconds of the definitions and of the bounds by themselves, from prefixes that are settled."""
    from metricpact.contracts.bounds.missing import bound
    from metricpact.contracts.contract import Contract
    from metricpact.contracts.definitions import define
    from metricpact.contracts.measures import parse_measures
    from metricpact.contracts.prefixes import build_prefixes

    contract = Contract()
    prefixes = build_prefixes(judgments, run, contract)
    started = time.process_time()
    values = {measure: define(prefixes, measure, contract) for measure in parse_measures(measures)}
    defined = time.process_time()
    for measure, value in values.items():
        bound(prefixes, measure, contract, value)
    return defined - started, time.process_time() - defined


def main() -> None:
    """Read the options, make the files, measure at each cutoff."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds of everything (default 5)")
    parser.add_argument("--files", type=Path, help="folder that keeps the files (default: a temporary one)")
    parser.add_argument("--cutoffs", type=int, nargs="+", default=[10, 20, 100], metavar="K")
    options = parser.parse_args()
    import metricpact as mp

    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.files or Path(temporary)) / "6980x1000"
        if not (folder / "run.txt").exists():
            make_files(folder)
        judgments, run = mp.read_qrels(folder / "qrels.txt"), mp.read_run(folder / "run.txt")
    rows, inner = [], []
    for cutoff in options.cutoffs:
        measures = [f"{family}@{cutoff}" for family in FAMILIES]
        taken, alone = [], []
        for number in range(options.rounds + 1):
            plain = seconds(judgments, run, measures)
            bounds = seconds(judgments, run, measures, bounds=True) - plain
            ties = seconds(judgments, run, measures, tie_bounds=True) - plain
            pair = definitions_alone(judgments, run, measures)
            if number:  # the first round loads what it uses
                taken.append((plain, bounds, ties, bounds / plain, ties / plain))
                alone.append((*pair, pair[1] / pair[0]))
        rows.append([str(cutoff), *(f"{statistics.median(column):.3f}" for column in zip(*taken, strict=True))])
        inner.append([str(cutoff), *(f"{statistics.median(column):.4f}" for column in zip(*alone, strict=True))])
    print(f"{len(run):,} rows, CPU seconds from tables to values")
    print(f"promised at k = 10: bounds / scoring at most {PROMISED}")
    show(["k", "scoring", "bounds add", "tie bounds add", "bounds / scoring", "tie bounds / scoring"], rows)
    print("\nthe formulas alone, from settled prefixes")
    show(["k", "values", "bounds", "bounds / values"], inner)


if __name__ == "__main__":
    main()
