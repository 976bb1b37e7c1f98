"""Measures as small values that print as you would type them: ``nDCG@10``, ``P(rel=2)@5``, ``SetF(beta=0.5)``."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from metricpact.contracts.contract import Contract, GainTable, check_gains, format_gains
from metricpact.contracts.errors import ContractError, MeasureError
from metricpact.contracts.families import FAMILIES, Family

MAX_CUTOFF = 2**31 - 1
_DCG_NAMES = {"exponential": "exp-log2", "linear": "log2"}


@dataclass(frozen=True)
class Measure:
    """A measure with its cutoff and parameters; ``str()`` is its canonical name.

    ``rel`` overrides the contract's threshold, ``gain`` ("exponential", "linear" or a table) its gain;
    ``beta`` is SetF's weight. Raises ``MeasureError`` when a part does not fit the family.
    """

    family: str
    cutoff: int | None = None
    rel: int | None = None
    gain: str | GainTable | None = None
    beta: float | None = None

    def __post_init__(self) -> None:
        known = FAMILIES.get(self.family)
        if known is None:
            raise MeasureError(f"{self.family!r} is not a measure", "known: " + ", ".join(FAMILIES))
        _check_cutoff(known, self.cutoff)
        for name in ("rel", "gain", "beta"):
            if getattr(self, name) is not None and name not in known.parameters:
                takes = ", ".join(known.parameters) or "no parameters"
                raise MeasureError(f"{self.family} has no parameter {name!r}", f"{self.family} takes: {takes}")
        if "beta" in known.parameters:
            object.__setattr__(self, "beta", _check_beta(self.beta))
        try:
            if self.gain is not None and not isinstance(self.gain, str):
                object.__setattr__(self, "gain", check_gains(self.gain))
            self.apply(Contract())
        except ContractError as error:
            raise MeasureError(f"{self.family}: {error.fact}", error.hint) from error

    @property
    def known(self) -> Family:
        """What is known of the measure's family."""
        return FAMILIES[self.family]

    def apply(self, contract: Contract) -> Contract:
        """The contract as this measure's parameters override it."""
        changes: dict[str, Any] = {}
        if self.rel is not None:
            changes["threshold"] = self.rel
        if self.gain is not None:
            changes["gain"] = self.gain
        return contract.replace(**changes) if changes else contract

    def __str__(self) -> str:
        parameters = []
        if self.rel is not None:
            parameters.append(f"rel={self.rel}")
        if isinstance(self.gain, str):
            parameters.append(f"dcg='{_DCG_NAMES[self.gain]}'")
        elif self.gain is not None:
            parameters.append(f"gains={format_gains(self.gain)}")
        if self.beta is not None and self.beta != 1:
            parameters.append(f"beta={self.beta:g}" if float(f"{self.beta:g}") == self.beta else f"beta={self.beta!r}")
        inner = f"({','.join(parameters)})" if parameters else ""
        return self.family + inner + (f"@{self.cutoff}" if self.cutoff is not None else "")


def parse_measure(name: str | Measure) -> Measure:
    """The measure that a name means, in any accepted spelling.

    Raises ``MeasureError`` with the choices for an ambiguous name and with the nearest name for an unknown one.
    """
    if isinstance(name, Measure):
        return name
    if not isinstance(name, str):
        raise MeasureError(f"{name!r} is not a measure's name", "name measures by text, such as 'nDCG@10'")
    from metricpact.contracts.spellings import read_spelling

    return read_spelling(name)


def parse_measures(names: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    """The measures that names mean, each once, in the order of their first mention."""
    several = [names] if isinstance(names, str | Measure) else names
    if not isinstance(several, Iterable):
        raise MeasureError(f"{names!r} is not a list of measures", "name measures by text, such as ['nDCG@10']")
    return list(dict.fromkeys(parse_measure(name) for name in several))


def _check_cutoff(family: Family, cutoff: object) -> None:
    if cutoff is None:
        if family.cutoff == "required":
            other = "; SetP divides by the number of documents returned" if family.name == "P" else ""
            raise MeasureError(f"{family.name} needs a cutoff", f"write {family.name}@10 or another cutoff{other}")
        return
    if isinstance(cutoff, bool) or not isinstance(cutoff, int) or not 1 <= cutoff <= MAX_CUTOFF:
        raise MeasureError(
            f"{family.name}@{cutoff}: the cutoff is not an integer from 1 to {MAX_CUTOFF}",
            f"write {family.name}@10 or another cutoff",
        )
    if family.cutoff == "none":
        raise MeasureError(f"{family.name} takes no cutoff", f"write {family.name}")


def _check_beta(beta: object) -> float:
    if beta is None:
        return 1.0
    if isinstance(beta, bool) or not isinstance(beta, int | float) or not math.isfinite(beta) or not 0 < beta <= 1e6:
        raise MeasureError(f"SetF: beta {beta!r} is not a weight", "beta is a number above 0, at most 1000000")
    return float(beta)
