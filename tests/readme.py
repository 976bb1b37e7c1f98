"""The generated parts of the README: ``python tests/readme.py --write`` writes them, a test compares them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from metricpact.bridges.registry import BACKENDS, get_bridge
from metricpact.bridges.sources.kinds import KINDS, SEVERITIES
from metricpact.bridges.sources.registry import FORMATS, QRELS, RUN
from metricpact.contracts.contract import FIELDS, Contract
from metricpact.contracts.families import FAMILIES
from metricpact.contracts.profiles import load_profile, profile_names

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
CODES = ROOT / "crosscheck" / "lint" / "CODES.md"


def generated(text: str) -> str:
    """The README with its generated parts made anew."""
    for name, make in PARTS.items():
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{make()}\n{end}{rest.split(end)[1]}"
    return text


def _shown(command: str, *, code: int = 0) -> str:
    """A command line that ends with an exit code, and what it prints."""
    arguments = [sys.executable, "-m", *command.split()]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return f"```\n$ {command}\n{done.stdout.strip(chr(10))}\n```"


def codes() -> str:
    """The page of lint's codes."""
    rows = ["| code | severity | meaning | hint |", "|---|---|---|---|"]
    rows += [f"| `{code}` | {kind.severity} | {kind.meaning} | {kind.hint} |" for code, kind in KINDS.items()]
    severities = [f"- **{severity}**: {meaning}" for severity, meaning in SEVERITIES.items()]
    return "\n".join(["# What `metricpact lint` finds", "", *severities, "", *rows, ""])


def _score() -> str:
    return _shown("metricpact score front/example/qrels.txt front/example/run.txt P@3 R@3 RR@3 AP@3 nDCG@3 -o table")


def _profiles() -> str:
    return _shown("metricpact contracts ir_measures --diff trec_eval-9.0.8-c")


def _lint() -> str:
    return _shown("metricpact lint front/example/qrels.txt front/example/run.txt -k 3 --quiet -o table")


def _slices() -> str:
    options = "--k 3 --by language --none-policy nearest-with-note -p 2 -o table"
    return _shown(f"metricpact slices front/example/slices/known_items.csv {options}")


def _gate() -> str:
    where = "front/example/slices"
    return _shown(f"metricpact gate {where}/gate.toml {where}/known_items.csv v1 v2 -p 2 -o table", code=2)


def _bounds() -> str:
    return _shown("metricpact score front/example/qrels.txt front/example/run.txt P@3 AP@3 nDCG@3 --bounds -o table")


def _audit() -> str:
    files = "front/example/qrels.txt front/example/run.txt"
    return _shown(f"metricpact audit {files} nDCG@3 --against trec_eval-9.0.8 -o table")


def _infer() -> str:
    """The search for a number, without the lines on what the data lacks and how many were tried."""
    command = "metricpact infer front/example/qrels.txt front/example/run.txt nDCG@3=.4620 -o table --quiet"
    told = ("cannot be told", "same values also", "refuse the data", "contracts tried")
    kept = [line for line in _shown(command).splitlines() if not any(words in line for words in told)]
    return "\n".join(kept)


def _claims() -> str:
    chosen = ("own-figure-as-recall", "mean-reciprocal-ranks", "mean-recalls")
    return _shown("metricpact claims chapter -o table " + " ".join(f"--claim {name}" for name in chosen))


def _evidence() -> str:
    """The second table of what `coverage` prints: hit rules side by side."""
    shown = "metricpact coverage tasks.jsonl selection.jsonl --inventory inventory.jsonl -o table"
    folder = ROOT / "front/example/evidence"
    done = subprocess.run(
        [sys.executable, "-m", *shown.split()], cwd=folder, capture_output=True, text=True, check=True
    )
    rules = done.stdout[done.stdout.index("  rule ") :].split("units that do not count")[0]
    return f"```\n$ {shown}\n…\n{rules.strip(chr(10))}\n```"


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


def _formats() -> str:
    rows = ["| format | what it is | judgments | runs |", "|---|---|---|---|"]
    for format_ in FORMATS.values():
        cells = ["yes" if format_.reads(kind) else "" for kind in (QRELS, RUN)]
        rows.append(f"| `{format_.name}` | {format_.summary} | {' | '.join(cells)} |")
    return "\n".join(rows)


PARTS: dict[str, Callable[[], str]] = {
    "score": _score,
    "lint": _lint,
    "formats": _formats,
    "audit": _audit,
    "infer": _infer,
    "claims": _claims,
    "slices": _slices,
    "gate": _gate,
    "bounds": _bounds,
    "evidence": _evidence,
    "conventions": _conventions,
    "contracts": _contracts,
    "profiles": _profiles,
    "backends": _backends,
}

if __name__ == "__main__":
    made = generated(README.read_text(encoding="utf-8"))
    if sys.argv[1:] == ["--write"]:
        README.write_text(made, encoding="utf-8")
        CODES.write_text(codes(), encoding="utf-8")
    else:
        print(made, end="")
