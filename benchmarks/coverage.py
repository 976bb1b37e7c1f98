"""Makes tasks and a selection from a seed and measures `metricpact coverage` on them as a whole process.

`python benchmarks/coverage.py` makes 10,000 tasks with 100 units each (ninety megabytes) in a temporary folder;
`--keep FOLDER` leaves the files there. Half the anchors are hit by a unit, others by two halves, by a part, by another
revision or by nothing, so that every rule has something to tell.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any


def make(folder: Path, tasks: int, units: int, seed: int = 23) -> tuple[Path, Path]:
    """Write the two files; two bundles of two anchors a task, the rest of a packet beside them."""
    chance = random.Random(seed)
    task_file, selection_file = folder / "tasks.jsonl", folder / "selection.jsonl"
    with task_file.open("w") as wanted, selection_file.open("w") as given:
        for number in range(tasks):
            name, bundles, packet = f"task-{number}", [], []
            for bundle in range(2):
                anchors = []
                for part in range(2):
                    document, start = f"doc-{number}-{bundle}-{part}", chance.randrange(1_000)
                    anchor = {"document": document, "revision": "2", "start": start, "end": start + 60}
                    anchors.append(anchor)
                    packet += hits(anchor, chance.randrange(10))
                bundles.append({"anchors": anchors})
            while len(packet) < units:
                document, start = f"doc-{number}-0-{chance.randrange(2)}", 2_000 + 100 * len(packet)
                packet.append({"document": document, "revision": "2", "start": start, "end": start + 90})
            chance.shuffle(packet)
            for place, unit in enumerate(packet):
                unit["unit"] = f"u{place}"
            wanted.write(json.dumps({"task": name, "bundles": bundles, "conflicts": []}) + "\n")
            given.write(json.dumps({"task": name, "units": packet[:units]}) + "\n")
    return task_file, selection_file


def hits(anchor: dict[str, Any], kind: int) -> list[dict[str, Any]]:
    """Units that hold an anchor whole, in two halves, in part, in another revision, or no unit."""
    start, end, base = anchor["start"], anchor["end"], {"document": anchor["document"], "revision": "2"}
    if kind < 5:
        return [{**base, "start": start - min(start, 20), "end": end + 40}]
    if kind == 5:
        return [{**base, "start": start, "end": start + 30}, {**base, "start": start + 30, "end": end}]
    if kind == 6:
        return [{**base, "start": start + 15, "end": end + 30}]
    if kind == 7:
        return [{**base, "revision": "1", "start": start, "end": end}]
    return []


def cpu_of_children() -> float:
    """Seconds of CPU, user and system, of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Make the files, run the command, print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--units", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        tasks, selection = make(folder, given.tasks, given.units)
        command = [sys.executable, "-m", "metricpact", "coverage", str(tasks), str(selection), "--quiet", "-o", "table"]
        size = selection.stat().st_size / 1e6
        print(f"{given.tasks:,} tasks, {given.tasks * given.units:,} units, {size:.0f} MB of selection")
        took, cpu, printed = [], [], ""
        for _ in range(given.rounds):
            began, spent = time.perf_counter(), cpu_of_children()
            printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            took.append(time.perf_counter() - began)
            cpu.append(cpu_of_children() - spent)
        for what, seconds in (("seconds on the clock", took), ("seconds of CPU", cpu)):
            print(f"{what}:", ", ".join(f"{one:.2f}" for one in seconds))
        print(printed)


if __name__ == "__main__":
    main()
