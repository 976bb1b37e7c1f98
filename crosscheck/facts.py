"""Surprising facts of the libraries, shown by running them again: programs and answers in ``facts.toml``.

The programs run in processes of their own: some end the process, some depend on PYTHONHASHSEED, and a library is
imported by no module but its bridge.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metricpact.contracts.contract import load_toml
from metricpact.contracts.errors import MetricpactError

FILE = Path(__file__).parent / "facts.toml"
_RUNNER = """
import json, sys
for code in json.load(sys.stdin):
    space = {}
    exec(code, space)
    print("answer " + json.dumps(str(space["answer"])), flush=True)
"""


class FactError(MetricpactError):
    """A stated fact that does not show any more."""


@dataclass(frozen=True)
class Fact:
    """A sentence on a library, the program that shows it, and the answer as text.

    ``seeds`` are the values of PYTHONHASHSEED to run it with; ``alone`` runs it in its own process.
    """

    backend: str
    sentence: str
    code: str
    expected: str
    alone: bool = False
    seeds: tuple[int, ...] = ()


def load_facts(path: Path = FILE) -> list[Fact]:
    """All facts, in the order of the file."""
    return [Fact(**{**entry, "seeds": tuple(entry.get("seeds", ()))}) for entry in load_toml(path)["fact"]]


def answers(facts: Sequence[Fact]) -> list[str]:
    """What the programs of some facts of one library answer now."""
    together = [fact for fact in facts if not fact.alone and not fact.seeds]
    shared = dict(zip([id(fact) for fact in together], _run([fact.code for fact in together]), strict=True))
    return [shared.get(id(fact)) or _by_itself(fact) for fact in facts]


def verify(facts: Sequence[Fact]) -> None:
    """Run some facts of one library; raises ``FactError`` for the first whose answer is not the expected one."""
    for fact, answer in zip(facts, answers(facts), strict=True):
        if answer != fact.expected:
            raise FactError(
                f"{fact.backend}: {fact.sentence} It answers {answer} and not {fact.expected}",
                f"if the library changed, correct {FILE.name} and generate the atlas again",
            )


def _by_itself(fact: Fact) -> str:
    if not fact.seeds:
        return _run([fact.code])[0]
    return "; ".join(f"{seed}: {_run([fact.code], {'PYTHONHASHSEED': str(seed)})[0]}" for seed in fact.seeds)


def _run(codes: Sequence[str], environment: Mapping[str, str] | None = None) -> list[str]:
    """The answers of programs run one after the other in one process; what ends it is the answer of the rest."""
    if not codes:
        return []
    done = subprocess.run(  # noqa: S603 # programs of our own, out of facts.toml
        [sys.executable, "-c", _RUNNER],
        input=json.dumps(list(codes)),
        env={**os.environ, **(environment or {})},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    found: list[Any] = [
        json.loads(line.removeprefix("answer ")) for line in done.stdout.splitlines() if line.startswith("answer ")
    ]
    end = f"killed, signal {-done.returncode}" if done.returncode < 0 else done.stderr.strip().rpartition("\n")[2]
    return found + [end] * (len(codes) - len(found))
