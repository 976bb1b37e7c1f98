"""What the functions of the package take: judgments, runs by name, and a contract with changes."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

from metricpact.bridges.sources.choose import read_judgments, read_run
from metricpact.contracts.contract import Contract
from metricpact.contracts.errors import ContractError, InputError, InputWarning
from metricpact.contracts.measures import Measure
from metricpact.contracts.profiles import Profile, load_profile
from metricpact.contracts.tables import Judgments, Run

Measures = str | Measure | Iterable[str | Measure]
ContractLike = str | PathLike[str] | Contract | Profile


def judgments_from(source: Any, *, format: str | None = None, split: str = "test", level: int = 3) -> Judgments:  # noqa: A002 # the flag's name
    """The judgments, after warnings of what is odd about them; ``Judgments`` themselves were warned of before.

    ``level`` is how many calls above this one the warning is about.
    """
    judgments = read_judgments(source, format=format, split=split)
    if not isinstance(source, Judgments):
        for note in judgments.origin.notes:
            warnings.warn(f"{judgments.origin.name}: {note}", InputWarning, stacklevel=level)
    return judgments


def profile_under(contract: ContractLike, changes: Mapping[str, Any] | None = None) -> Profile:
    """The profile that a function's ``contract`` and ``set`` describe; raises ``ContractError``."""
    profile = load_profile(contract if isinstance(contract, Contract | Profile) else str(contract))
    if changes is not None and not isinstance(changes, Mapping):
        raise ContractError(f"set={changes!r} sets nothing", 'write set={"gain": "linear"}')
    return profile.with_fields(changes or {})


def named_runs(runs: Any, word: str = "run") -> dict[str, Run]:
    """Runs by name: of a mapping of names to runs or paths, of a list of them, or of one.

    A path names its run; an object in a list is called by ``word`` and its place.
    """
    return {name: read_run(run) for name, run in named_sources(runs, word).items()}


def named_sources(runs: Any, word: str = "run") -> dict[str, Any]:
    """The same before anything is read; raises ``InputError`` for two runs of one name."""
    if isinstance(runs, Mapping) and not _is_run(runs):
        return dict(runs)
    listed = runs if isinstance(runs, list | tuple) else [runs]
    named: dict[str, Any] = {}
    for at, run in enumerate(listed, 1):
        name = str(run) if isinstance(run, str | PathLike) else word + (f" {at}" if len(listed) > 1 else "")
        if name in named:
            raise InputError(f"two runs are called {name!r}", "give every run a name of its own")
        named[name] = run
    return named


def texts(value: str | Iterable[str]) -> list[str]:
    """Names in a list, where one may stand by itself."""
    return [value] if isinstance(value, str) else list(value)


def _is_run(value: Mapping[Any, Any]) -> bool:
    """Whether a mapping is a run itself ({query: {document: score}}, {query: [ids]}), and not names with runs."""
    first = next(iter(value.values()), None)
    if isinstance(first, Mapping):
        return not isinstance(next(iter(first.values()), None), Mapping | list | tuple)
    return isinstance(first, list | tuple)
