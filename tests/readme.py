"""The generated parts of the README: ``python tests/readme.py --write`` writes them, a test compares them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from metricpact.bridges.registry import BACKENDS, get_bridge
from metricpact.contracts.contract import FIELDS, Contract
from metricpact.contracts.families import FAMILIES
from metricpact.contracts.profiles import load_profile, profile_names

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"


def generated(text: str) -> str:
    """The README with its generated parts made anew."""
    for name, make in PARTS.items():
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{make()}\n{end}{rest.split(end)[1]}"
    return text


def _score() -> str:
    return _shown("metricpact score front/example/qrels.txt front/example/run.txt P@3 R@3 RR@3 AP@3 nDCG@3 -o table")


def _profiles() -> str:
    return _shown("metricpact contracts ir_measures --diff trec_eval-9.0.8-c")


def _shown(shown: str) -> str:
    """A command as typed in the checkout, and what it prints."""
    arguments = [sys.executable, "-m", *shown.split()]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=True)
    return f"```\n$ {shown}\n{done.stdout.strip(chr(10))}\n```"


def _conventions() -> str:
    rows = ["| convention | what it settles | values |", "|---|---|---|"]
    for name, convention in FIELDS.items():
        chosen = getattr(Contract(), name)
        values = [
            f"**{value}** ({meaning})" if value == chosen else f"{value} ({meaning})"
            for value, meaning in convention.values.items()
        ]
        if convention.free:
            values.append(f"{convention.free}: **{chosen}**" if name == "threshold" else convention.free)
        rows.append(f"| `{name}` | {convention.summary} | {'; '.join(values)} |".replace("|R|", "\\|R\\|"))
    return "\n".join(rows)


def _contracts() -> str:
    rows = ["| contract | what it is | status |", "|---|---|---|"]
    for name in profile_names():
        profile = load_profile(name)
        rows.append(f"| `{name}` | {profile.summary} | {profile.status or 'the default'} |")
    return "\n".join(rows)


def _backends() -> str:
    """One row a measure and convention; reasons stand below, each once."""
    tables = {name: get_bridge(name).capabilities() for name in BACKENDS}
    reasons: dict[str, int] = {}

    def note(text: str, reason: str) -> str:
        return f"{text} ({reasons.setdefault(reason, len(reasons) + 1)})" if reason else text

    rows = [f"| | {' | '.join(tables)} |", "|---|" + "---|" * len(tables)]
    for family in FAMILIES:
        cells = []
        for table in tables.values():
            refused, partly = table.measures[family], table.partly.get(family, "")
            cells.append(note("no", refused) if refused else note("yes", partly and f"all but {partly}"))
        rows.append(f"| {family} | {' | '.join(cells)} |")
    for field in FIELDS:
        cells = []
        for table in tables.values():
            refusals = {value: reason for value, reason in table.fields[field].items() if reason}
            named = [note(f"all but {value}", reason) for value, reason in refusals.items()]
            cells.append(
                ", ".join(named) or note("all", table.partly.get(field, "") and f"all but {table.partly[field]}")
            )
        rows.append(f"| `{field}` | {' | '.join(cells)} |")
    return "\n".join([*rows, "", *(f"{number}. {reason}" for reason, number in reasons.items())])


PARTS: dict[str, Callable[[], str]] = {
    "score": _score,
    "conventions": _conventions,
    "contracts": _contracts,
    "profiles": _profiles,
    "backends": _backends,
}

if __name__ == "__main__":
    made = generated(README.read_text(encoding="utf-8"))
    if sys.argv[1:] == ["--write"]:
        README.write_text(made, encoding="utf-8")
    else:
        print(made, end="")
