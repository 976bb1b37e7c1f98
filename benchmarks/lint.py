"""How long lint takes beside reading alone: makes the files, does both in turn, prints the ratio of each round.

Reading is ``read_qrels`` and ``read_run``; lint reads the same files, and finds. Each runs in a process of its own,
which imports, and then times the work alone. The target: lint takes at most 1.5 times as long.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from make_files import make

TARGET = 1.5
_TIMED = """
import json, sys, time
import metricpact as mp
from metricpact.bridges.sources import arrow_files, lines  # what both import late
from metricpact.crosscheck.lint import lint
qrels, run, what = sys.argv[1:]
begun, cpu = time.perf_counter(), time.process_time()
if what == "read":
    held = mp.read_qrels(qrels), mp.read_run(run)
else:
    held = mp.lint(qrels, run)
print(json.dumps([time.perf_counter() - begun, time.process_time() - cpu]))
"""


def timed(qrels: Path, run: Path, what: str) -> tuple[float, float]:
    """Seconds of wall and CPU time that ``read`` or ``lint`` takes."""
    done = subprocess.run(
        [sys.executable, "-c", _TIMED, str(qrels), str(run), what], capture_output=True, text=True, check=True
    )
    wall, cpu = json.loads(done.stdout)
    return wall, cpu


def main() -> None:
    """Make the files, run the rounds, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=Path, help="a folder with qrels.txt and run.txt (default: made, and removed)")
    parser.add_argument("--queries", type=int, default=6980)
    parser.add_argument("--documents", type=int, default=1000, help="documents a query in the run")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = options.files or Path(made)
        if not (folder / "run.txt").exists():
            make(folder, queries=options.queries, depth=options.documents, judged=None, shuffled=False, seed=20261130)
        qrels, run = folder / "qrels.txt", folder / "run.txt"
        timed(qrels, run, "read")  # the files are in the page cache from here on
        rounds = [(timed(qrels, run, "read"), timed(qrels, run, "lint")) for _ in range(options.rounds)]
    print("      read s        lint s        ratio")
    print("   wall    CPU   wall    CPU   wall    CPU")
    for read, lint in rounds:
        ratio = [late / early for early, late in zip(read, lint, strict=True)]
        print("".join(f"{value:7.2f}" for value in (*read, *lint, *ratio)))
    wall, cpu = (statistics.median(lint[i] / read[i] for read, lint in rounds) for i in (0, 1))
    print(f"median ratio: {wall:.2f} wall, {cpu:.2f} CPU (target: at most {TARGET})")


if __name__ == "__main__":
    main()
