"""What the tools themselves answer on the user's data, each in a process of its own: some end the process they run in.

The data goes to the child as Arrow files in a temporary folder, so that nothing of it is turned into text.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
from metricpact.bridges.observed.registry import TOOLS, get_tool, installed_tools, native_means, own_name, version_of
from metricpact.contracts.errors import MetricpactError
from metricpact.contracts.measures import Measure
from metricpact.contracts.profiles import Profile
from metricpact.contracts.tables import Judgments, Run

TOLERANCE = 1e-9
"""How far a tool's number may be from its profile's: it sums in another order."""
AT_ONCE = 2
"""How many tools are asked at once: each holds the whole data."""
SECONDS = 900
"""How long one tool may take: some compile themselves for half a minute before they begin."""


@dataclass(frozen=True)
class NativeNumber:
    """A tool's own mean of one measure, and the version that gave it; None with ``error`` where it gives none.

    ``rounding`` is how far it can lie from what the tool computed.
    """

    mean: float | None
    error: str = ""
    version: str = ""
    rounding: float = 0.0

    def agrees(self, claimed: float | None) -> bool | None:
        """Whether it is what its profile says, to within 1e-9 and the tool's rounding; None where one is missing."""
        if self.mean is None or claimed is None:
            return None
        return abs(self.mean - claimed) <= self.rounding + TOLERANCE

    def to_document(self, claimed: float | None) -> dict[str, Any]:
        """The number as plain data, held against what the profile says."""
        return {
            "value": self.mean,
            "version": self.version,
            "agrees": self.agrees(claimed),
            "error": self.error or None,
        }


def has_measure(profile: Profile, measure: Measure) -> bool:
    """Whether the tool that a profile speaks of has the measure; a profile of no watched tool may have any."""
    tools = [tool for tool in TOOLS if get_tool(tool).profile == profile.name]
    return not tools or any(own_name(tool, measure) is not None for tool in tools)


def natives_of(
    profiles: Sequence[Profile], judgments: Judgments, runs: Mapping[str, Run], measures: Sequence[Measure]
) -> dict[str, dict[str, dict[str, NativeNumber]]]:
    """Run → profile's name → measure → number, for the profiles whose library is installed and has the measure."""
    wanted = {profile.name for profile in profiles}
    tools = {}
    for tool in installed_tools():
        if get_tool(tool).profile in wanted:
            tools[tool] = [str(measure) for measure in measures if own_name(tool, measure) is not None]
    return {
        name: {
            get_tool(tool).profile: numbers
            for tool, numbers in native_numbers({t: own for t, own in tools.items() if own}, judgments, run).items()
        }
        for name, run in runs.items()
    }


def native_numbers(
    tools: Mapping[str, Sequence[str]], judgments: Judgments, run: Run
) -> dict[str, dict[str, NativeNumber]]:
    """Tool → measure → number, for each tool's measures; what stops a tool is told in place of its number."""
    with TemporaryDirectory(prefix="metricpact-") as folder:
        _lay(Path(folder), judgments, run)
        with ThreadPoolExecutor(AT_ONCE) as pool:  # a thread waits for a process
            answers = pool.map(lambda tool: _ask(tool, folder, tools[tool]), tools)
            return dict(zip(tools, answers, strict=True))


def _ask(tool: str, folder: str, measures: Sequence[str]) -> dict[str, NativeNumber]:
    """One child for all measures; one for each measure that a dead child left unanswered."""
    found, end = _child(tool, folder, measures)
    left = [measure for measure in measures if measure not in found]
    if end and len(measures) > 1:
        for measure in left:
            found |= _ask(tool, folder, [measure])
    elif end:
        found |= {measure: NativeNumber(None, f"{tool} ended its process: {end}") for measure in left}
    return found


def _child(tool: str, folder: str, measures: Sequence[str]) -> tuple[dict[str, NativeNumber], str]:
    """The numbers of one child, and how it ended where it did not end well."""
    command = [sys.executable, "-m", "metricpact.crosscheck.audit.native", tool, folder, *measures]
    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, timeout=SECONDS)  # noqa: S603 # our own module
    except subprocess.TimeoutExpired:
        return {}, f"no answer in {SECONDS} s"
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.endswith("}")]
    version, rounding = version_of(tool), get_tool(tool).rounding
    found = {line["measure"]: NativeNumber(line["mean"], line["error"], version, rounding) for line in lines}
    if done.returncode < 0:
        return found, f"signal {-done.returncode}"
    last = done.stderr.strip().splitlines()[-1:]
    return found, " ".join([f"exit code {done.returncode}", *last]) if done.returncode else ""


def _lay(folder: Path, judgments: Judgments, run: Run) -> None:
    judgments.to_polars().write_ipc(folder / "judgments.arrow")
    run.to_polars().write_ipc(folder / "run.arrow")
    queries = {"judgments": judgments.queries.to_list(), "run": run.queries.to_list()}
    has = {"scores": run.scores is not None, "ranks": run.ranks is not None}
    (folder / "about.json").write_text(json.dumps(queries | has), encoding="utf-8")


def _taken(folder: Path) -> tuple[Judgments, Run]:
    about: Mapping[str, Any] = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    judged, ranked = pl.read_ipc(folder / "judgments.arrow"), pl.read_ipc(folder / "run.arrow")
    judgments = Judgments.from_columns(judged["query_id"], judged["doc_id"], judged["grade"], empty=about["judgments"])
    scores = ranked["score"] if about["scores"] else None
    ranks = ranked["rank"] if about["ranks"] else None
    return judgments, Run.from_columns(ranked["query_id"], ranked["doc_id"], scores, ranks, empty=about["run"])


def _serve(tool: str, folder: str, measures: Sequence[str]) -> None:
    """Answer one measure a line, on the standard output that this process began with: libraries print."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    judgments, run = _taken(Path(folder))
    for measure in measures:
        answers.write(json.dumps(_answer(tool, judgments, run, measure)) + "\n")
        answers.flush()


def _answer(tool: str, judgments: Judgments, run: Run, measure: str) -> dict[str, Any]:
    try:
        mean = native_means(tool, judgments, run, [measure])[measure]
    except MetricpactError as raised:
        return {"measure": measure, "mean": None, "error": raised.fact.splitlines()[0][:200]}
    return {"measure": measure, "mean": mean, "error": "" if mean is not None else "it gives no number"}


if __name__ == "__main__":
    _serve(sys.argv[1], sys.argv[2], sys.argv[3:])
