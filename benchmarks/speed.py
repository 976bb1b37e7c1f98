"""Measures metricpact beside every installed peer, each as a whole process from file to printed means, one
after the other in several rounds, and prints medians, the medians of each round's ratios and what the project
promises. It measures and does not judge: it ends with 0 unless a process fails. Only the standard library is
imported here, because the peak memory that the system reports for a child starts from the parent's.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
MEASURES = ["P@10", "R@100", "RR@10", "AP@100", "nDCG@10"]
# They pin one CPU's kernels for linear algebra, which no peer needs: every child runs without them.
DROPPED_FROM_ENVIRONMENT = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
DISTRIBUTIONS = ("metricpact", "pytrec-eval-terrier", "ir-measures", "ranx", "numpy", "polars")
QUANTITIES = ("wall", "cpu", "memory")


@dataclass(frozen=True)
class Peer:
    """One program to run on a pair of files: its name and the words before and after the two paths."""

    name: str
    before: tuple[str, ...]
    after: tuple[str, ...] = ()

    def command(self, qrels: Path, run: Path) -> list[str]:
        """The whole command line."""
        return [*self.before, str(qrels), str(run), *self.after]


@dataclass(frozen=True)
class Cost:
    """What one process took: seconds on the clock, seconds of CPU, megabytes at its peak."""

    wall: float
    cpu: float
    memory: float

    def of(self, quantity: str) -> float:
        """The one of the three that bears this name."""
        return {"wall": self.wall, "cpu": self.cpu, "memory": self.memory}[quantity]


@dataclass(frozen=True)
class Target:
    """A promise: metricpact's `quantity` is at most `limit` times that of `peer` in `scenario`."""

    scenario: str
    quantity: str
    peer: str
    limit: float


LARGE, SHUFFLED, SMALL = "6980 x 1000", "6980 x 1000 shuffled", "50 x 1000"
SCENARIOS = ["large", "shuffled", "small"]
TARGETS = (
    Target(LARGE, "wall", "pytrec_eval", 0.30),
    Target(LARGE, "cpu", "pytrec_eval", 0.40),
    Target(LARGE, "memory", "pytrec_eval", 0.80),
    Target(LARGE, "wall", "ir_measures", 0.10),
    Target(SHUFFLED, "wall", "pytrec_eval", 1.00),
    Target(SMALL, "wall", "pytrec_eval", 2.50),
)


def peers() -> tuple[list[Peer], list[str]]:
    """The peers that can be run here, metricpact first, and the names of those that are not installed."""
    python = sys.executable
    ours = (python, "-m", "metricpact", "score")
    found = [
        Peer("metricpact", ours, (*MEASURES, "--quiet", "-o", "table")),
        Peer("metricpact json", ours, (*MEASURES, "--quiet")),
    ]
    absent = []
    for name, before, after in (
        ("pytrec_eval", (python, str(HERE / "peers" / "run_pytrec_eval.py")), ()),
        ("ir_measures", (python, "-m", "ir_measures"), (" ".join(MEASURES),)),
        ("ranx", (python, str(HERE / "peers" / "run_ranx.py")), ()),
    ):
        if importlib.util.find_spec(name) is None:
            absent.append(name)
        else:
            found.append(Peer(name, before, after))
    return found, absent


def child_environment() -> dict[str, str]:
    """The environment of every process that is measured."""
    return {key: value for key, value in os.environ.items() if key not in DROPPED_FROM_ENVIRONMENT}


def measured(command: list[str]) -> tuple[Cost, str]:
    """Run one process to its end and return its cost and what it printed."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=err, env=child_environment())
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode != 0:
            message = err.read().decode(errors="replace").strip()
            raise SystemExit(f"{' '.join(command)}\nended with {process.returncode}\n{message}")
        unit = 1 if platform.system() == "Darwin" else 1024
        cost = Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6)
        return cost, out.read().decode()


def printed_means(text: str) -> dict[str, float]:
    """The means in a peer's output: a JSON document, or lines of name and value."""
    if text.startswith("{"):
        return {row["measure"]: float(row["mean"]) for row in json.loads(text)["measures"]}
    return {name: float(value) for name, value in (line.split() for line in text.splitlines())}


def disagreements(outputs: dict[str, str], qrels: Path, run: Path) -> list[str]:
    """Where a peer prints another mean than metricpact at four decimals.

    The peers' nDCG has linear gain and the contract's has not, so metricpact runs once more with theirs, untimed.
    """
    command = [sys.executable, "-m", "metricpact", "score", str(qrels), str(run), *MEASURES]
    ours = printed_means(measured([*command, "--set", "gain=linear", "--quiet", "-o", "json"])[1])
    theirs = {name: printed_means(text) for name, text in outputs.items() if not name.startswith("metricpact")}
    return [
        f"  {measure}: {name} {means[measure]}, metricpact {ours[measure]:.6f}"
        for name, means in theirs.items()
        for measure in MEASURES
        if abs(means[measure] - ours[measure]) > 0.5001e-4
    ]


def ratio(costs: dict[str, list[Cost]], quantity: str, ours: str, peer: str) -> float:
    """The median over the rounds of our cost over the peer's cost in the same round."""
    rounds = zip(costs[ours], costs[peer], strict=True)
    return statistics.median(mine.of(quantity) / theirs.of(quantity) for mine, theirs in rounds)


def warm(path: Path) -> None:
    """Read a file once, so that the first peer finds it in the page cache as the others do.

    In pieces: what this process holds would count as the peak memory of its children.
    """
    with path.open("rb") as file:
        while file.read(1 << 20):
            pass


def show(headers: list[str], rows: list[list[str]]) -> None:
    """Print a table with aligned columns, the first to the left and the others to the right."""
    widths = [max(len(row[column]) for row in [headers, *rows]) for column in range(len(headers))]
    for row in [headers, *rows]:
        numbers = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print("  " + "   ".join([row[0].ljust(widths[0]), *numbers]).rstrip())


def scenario(title: str, qrels: Path, run: Path, runners: list[Peer], rounds: int) -> dict[str, list[Cost]]:
    """Run every peer in turn, `rounds` times; print what each took and metricpact's ratios to the others."""
    print(f"\n{title}", flush=True)
    for path in (qrels, run):
        warm(path)
    costs: dict[str, list[Cost]] = {peer.name: [] for peer in runners}
    outputs: dict[str, str] = {}
    for _ in range(rounds):
        for peer in runners:
            cost, outputs[peer.name] = measured(peer.command(qrels, run))
            costs[peer.name].append(cost)
    rows = []
    for name, taken in costs.items():
        medians = [statistics.median(cost.of(quantity) for cost in taken) for quantity in QUANTITIES]
        rows.append([name, f"{medians[0]:.3f}", f"{medians[1]:.3f}", f"{medians[2]:.0f}"])
    show(["median of the rounds", "wall s", "CPU s", "peak MB"], rows)
    others = [name for name in costs if not name.startswith("metricpact")]
    rows = [
        [f"{ours} / {other}", *(f"{ratio(costs, quantity, ours, other):.3f}" for quantity in QUANTITIES)]
        for other in others
        for ours in costs
        if ours.startswith("metricpact")
    ]
    print()
    show(["median of the ratios", "wall", "CPU", "memory"], rows)
    differing = disagreements(outputs, qrels, run)
    print(
        "\n".join(["  the printed means differ:", *differing])
        if differing
        else "  the printed means agree (nDCG: under linear gain, which the peers have)"
    )
    return costs


def show_targets(measurements: dict[str, dict[str, list[Cost]]], absent: list[str]) -> None:
    """Print each promise beside what was measured: of the printed means (the table output), and of the json output,
    which takes the digests of both files besides."""
    rows = []
    for target in TARGETS:
        what = f"{target.scenario}: {target.quantity} / {target.peer}"
        costs = measurements.get(target.scenario, {})
        if target.peer not in costs:
            reason = "not installed" if target.peer in absent else "not run"
            rows.append([what, f"{target.limit:.2f}", "-", reason, "-", "-"])
            continue
        row = [what, f"{target.limit:.2f}"]
        for name in ("metricpact", "metricpact json"):
            found = ratio(costs, target.quantity, name, target.peer)
            row += [f"{found:.3f}", "yes" if found <= target.limit else "no"]
        rows.append(row)
    print("\nTargets")
    show(["ratio", "target", "table", "met", "json", "met"], rows)


def make_files(folder: Path, *options: str) -> None:
    """Make one pair of files in a process of its own, which keeps numpy out of this one."""
    command = [sys.executable, str(HERE / "make_files.py"), str(folder), *options]
    subprocess.run(command, check=True, env=child_environment())


def versions() -> str:
    """The versions of everything that takes part."""
    parts = [f"Python {platform.python_version()}"]
    for name in DISTRIBUTIONS:
        try:
            parts.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return ", ".join(parts)


def main() -> None:
    """Read the options, make the files, run the scenarios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds on the large files (default 5)")
    parser.add_argument("--small-rounds", type=int, default=11, help="rounds on 50 x 1000 (default 11)")
    parser.add_argument("--only", choices=SCENARIOS, action="append", help="run this scenario alone")
    parser.add_argument("--without", action="append", default=[], help="leave a peer out, by name")
    parser.add_argument("--files", type=Path, help="folder that keeps the files (default: a temporary one)")
    options = parser.parse_args()
    chosen = options.only or SCENARIOS

    runners, absent = peers()
    runners = [peer for peer in runners if peer.name not in options.without]
    print(f"{versions()}; {platform.system()} {platform.machine()}, {os.cpu_count()} CPUs")
    print(f"{' '.join(MEASURES)} from file to printed means; not installed: {', '.join(absent) or 'none'}")
    if any(peer.name == "ranx" for peer in runners):
        print("ranx finds a warm cache of compiled functions from its second round on; its median shows that")

    with tempfile.TemporaryDirectory() as temporary:
        folder = options.files or Path(temporary)
        large, small = folder / "6980x1000", folder / "50x1000"
        if ("large" in chosen or "shuffled" in chosen) and not (large / "run.shuffled.txt").exists():
            make_files(large, "--shuffled")
        if "small" in chosen and not (small / "run.txt").exists():
            make_files(small, "--queries", "50", "--judged", "1000")
        measurements = {}
        near = [peer for peer in runners if peer.name.startswith(("metricpact", "pytrec_eval"))]
        for key, name, qrels, run, who, rounds in (
            ("large", LARGE, large / "qrels.txt", large / "run.txt", runners, options.rounds),
            ("shuffled", SHUFFLED, large / "qrels.txt", large / "run.shuffled.txt", near, options.rounds),
            ("small", SMALL, small / "qrels.txt", small / "run.txt", runners, options.small_rounds),
        ):
            if key in chosen:
                measurements[name] = scenario(name, qrels, run, who, rounds)
        show_targets(measurements, absent)


if __name__ == "__main__":
    main()
