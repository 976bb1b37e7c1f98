"""What a bridge costs: for every installed backend the time inside metricpact around the library's own calls, on the
files of `speed.py`, and for ranx and ir_measures the whole process beside the same library reading and scoring the
same files itself. Like `speed.py` it measures and does not judge.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from speed import HERE, MEASURES, Cost, Peer, child_environment, make_files, measured, printed_means, ratio, show

QUANTITIES = ("wall", "cpu", "memory")
LIMIT = 0.50
"""The promise: metricpact through a library takes at most this share of the library's own time, from file to means."""


class Stopwatch:
    """The seconds spent inside the calls that it wraps."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """The same call, timed; an iterator is run to its end inside."""

        def timed(*args: Any, **kwargs: Any) -> Any:
            started = time.perf_counter()
            answer = call(*args, **kwargs)
            if isinstance(answer, Iterator):
                answer = list(answer)
            self.seconds += time.perf_counter() - started
            return answer

        return timed


@contextmanager
def watched(backend: str) -> Iterator[Stopwatch]:
    """A stopwatch on every call that a bridge makes into its library (none for the reference, which has no library)."""
    watch = Stopwatch()
    with ExitStack() as stack:
        if backend == "pytrec_eval":
            import pytrec_eval

            evaluator = pytrec_eval.RelevanceEvaluator
            for name in ("__init__", "evaluate"):
                stack.enter_context(mock.patch.object(evaluator, name, watch.around(getattr(evaluator, name))))
        elif backend == "ir_measures":
            from ir_measures.providers import pytrec_eval_provider as provider

            for owner, name in (
                (provider.PytrecEvalProvider, "evaluator"),
                (provider.PytrecEvalEvaluator, "iter_calc"),
            ):
                stack.enter_context(mock.patch.object(owner, name, watch.around(getattr(owner, name))))
        elif backend == "ranx":
            import ranx.metrics

            switch = ranx.metrics.metric_switch
            stack.enter_context(mock.patch("ranx.metrics.metric_switch", lambda metric: watch.around(switch(metric))))
        elif backend == "sklearn":
            import sklearn.metrics

            score = watch.around(sklearn.metrics.ndcg_score)
            stack.enter_context(mock.patch("sklearn.metrics.ndcg_score", score))
        yield watch


def inside(backend: str, qrels: str, run: str, rounds: int) -> list[str]:
    """One row: seconds to read, to settle the prefixes, and of each scoring call, in the library and around it."""
    import metricpact as mp
    from metricpact.bridges.plan import Plan
    from metricpact.bridges.registry import get_bridge
    from metricpact.contracts.contract import Contract
    from metricpact.contracts.measures import parse_measure
    from metricpact.contracts.prefixes import build_prefixes

    contract, bridge = Contract(gain="linear"), get_bridge(backend)
    asked = [bridge.plan(parse_measure(name), contract) for name in MEASURES]
    plans = [plan for plan in asked if isinstance(plan, Plan)]
    marks = [time.perf_counter()]
    judgments, ranked = mp.read_qrels(qrels), mp.read_run(run)
    marks.append(time.perf_counter())
    prefixes = build_prefixes(judgments, ranked, contract)
    marks.append(time.perf_counter())
    native, around = [], []
    with watched(backend) as watch:
        bridge.score(prefixes, plans)  # the first call loads the library
        for _ in range(rounds):
            watch.seconds, started = 0.0, time.perf_counter()
            bridge.score(prefixes, plans)
            native.append(watch.seconds)
            around.append(time.perf_counter() - started - watch.seconds)
    seconds = [marks[1] - marks[0], marks[2] - marks[1], statistics.median(native), statistics.median(around)]
    return [backend, str(len(plans)), *(f"{value:.4f}" for value in seconds)]


def pairs() -> list[tuple[Peer, Peer]]:
    """metricpact through a library, and that library by itself, for the two that read files slowly."""
    python = sys.executable
    ours = (python, "-m", "metricpact", "score")
    settings = (*MEASURES, "--set", "gain=linear", "--quiet", "-o", "json", "--backend")
    return [
        (
            Peer("metricpact through ranx", ours, (*settings, "ranx")),
            Peer("ranx", (python, str(HERE / "peers" / "run_ranx.py"))),
        ),
        (
            Peer("metricpact through ir_measures", ours, (*settings, "ir_measures")),
            Peer("ir_measures", (python, "-m", "ir_measures"), (" ".join(MEASURES),)),
        ),
    ]


def end_to_end(qrels: Path, run: Path, rounds: int, installed: list[str]) -> None:
    """Run each pair in turn, once to warm the caches and then `rounds` times; print medians and ratios."""
    rows = []
    for ours, theirs in pairs():
        if theirs.name not in installed:
            continue
        costs: dict[str, list[Cost]] = {ours.name: [], theirs.name: []}
        for number in range(rounds + 1):
            means = []
            for peer in (ours, theirs):
                cost, printed = measured(peer.command(qrels, run))
                means.append(printed_means(printed))
                if number:
                    costs[peer.name].append(cost)
            if any(abs(means[0][name] - means[1][name]) > 0.5001e-4 for name in MEASURES):
                print(f"  {ours.name} and {theirs.name} print different means: {means}")
        for name, taken in costs.items():
            medians = [statistics.median(cost.of(quantity) for cost in taken) for quantity in QUANTITIES]
            rows.append([name, *(f"{median:.2f}" for median in medians)])
        ratios = [ratio(costs, quantity, ours.name, theirs.name) for quantity in QUANTITIES]
        rows.append([f"ratio (promised: wall at most {LIMIT:.2f})", *(f"{value:.3f}" for value in ratios)])
    show(["from file to means, caches warm", "wall s", "CPU s", "peak MB"], rows)


def main() -> None:
    """Read the options, make the files, run everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="rounds of everything (default 3)")
    parser.add_argument("--files", type=Path, help="folder that keeps the files (default: a temporary one)")
    parser.add_argument("--inside", nargs=3, metavar=("BACKEND", "QRELS", "RUN"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        print("\t".join(inside(*options.inside, options.rounds)))
        return
    from metricpact.bridges.registry import installed_backends

    installed = installed_backends()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.files or Path(temporary)) / "6980x1000"
        qrels, run = folder / "qrels.txt", folder / "run.txt"
        if not run.exists():
            make_files(folder)
        rows = []
        for backend in installed:
            arguments = ["--rounds", str(options.rounds), "--inside", backend, str(qrels), str(run)]
            command = [sys.executable, str(Path(__file__).resolve()), *arguments]
            done = subprocess.run(command, check=True, env=child_environment(), stdout=subprocess.PIPE, text=True)
            rows.append(done.stdout.rstrip("\n").split("\t"))
        print("6980 x 1000: seconds in one process, the library loaded")
        show(["backend", "measures", "read", "prefixes", "in the library", "around it"], rows)
        print()
        end_to_end(qrels, run, options.rounds, installed)


if __name__ == "__main__":
    main()
