"""What a backend will be asked to do for a measure under a contract, as printable data, or why it cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from metricpact.contracts.contract import FIELDS, Contract
from metricpact.contracts.measures import Measure
from metricpact.contracts.prefixes import Prefixes
from metricpact.contracts.tables import Floats, Judgments, Run


@dataclass(frozen=True)
class Plan:
    """One measure on one backend: what is changed in the input, what is called, and what is repaired after.

    ``transforms`` and ``repairs`` are named steps in their order; ``contract`` has the measure's parameters applied.
    """

    backend: str
    measure: Measure
    contract: Contract
    call: str
    transforms: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()

    def __str__(self) -> str:
        steps = [*self.transforms, f"call {self.call}", *self.repairs, "undefined as the contract says"]
        return f"{self.backend}: " + " → ".join(steps)


@dataclass(frozen=True)
class Unsupported:
    """What a backend cannot give exactly, and why; ``field`` and ``value`` name the convention at fault, if any."""

    backend: str
    measure: Measure
    reason: str
    field: str = ""
    value: Any = None

    def __str__(self) -> str:
        return f"{self.backend}: unsupported, {self.reason}"


class Bridge(Protocol):
    """One backend: planning, scoring from prefixes, and its library as its own documentation shows it."""

    name: str
    package: str
    """The distribution that the backend needs."""
    extra: str
    """The extra of metricpact that installs it, "" where metricpact itself does."""

    def versions(self) -> dict[str, str]:
        """``package``, ``version`` and ``engine`` of the library, as in the JSON document."""
        ...

    def capabilities(self) -> Capabilities:
        """What the backend can and cannot give: the source of plans, error texts and the documentation table."""
        ...

    def plan(self, measure: Measure, contract: Contract) -> Plan | Unsupported:
        """How the measure is computed under the contract (measure parameters not yet applied)."""
        ...

    def score(self, prefixes: Prefixes, plans: Sequence[Plan]) -> list[Floats]:
        """One value per judged query for every plan; raises ``LimitError`` before a call that could do harm."""
        ...

    def native(self, judgments: Judgments, run: Run, measures: Sequence[str]) -> dict[str, dict[str, float]]:
        """Measure → query → value from the library called on the raw input, as its own documentation shows."""
        ...


@dataclass(frozen=True)
class Capabilities:
    """What a backend gives exactly, and the reason for everything that it does not.

    ``measures`` maps a family to "" or the reason why it is not there. ``fields`` maps a field and value to "" or
    the reason; a free value (a threshold, a gain table, a list of queries) stands under the key "*". ``partly``
    says, by family or field, which parameters and free values are refused all the same: the bridge's plan does.
    """

    measures: Mapping[str, str]
    fields: Mapping[str, Mapping[str, str]]
    partly: Mapping[str, str] = field(default_factory=dict)

    def refusal(self, backend: str, measure: Measure, contract: Contract) -> Unsupported | None:
        """Why the measure cannot be had under the contract, or None if it can."""
        reason = self.measures[measure.family]
        if reason:
            return Unsupported(backend, measure, reason)
        for name, value in contract.fields().items():
            if not matters(measure, name):
                continue
            known = self.fields[name]
            reason = known.get(value, known.get("*", "")) if isinstance(value, str) else known.get("*", "")
            if reason:
                return Unsupported(backend, measure, reason, name, value)
        return None


def every_value(refused: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """The ``fields`` of a capability table in which all is given but what is refused: field → value → reason."""
    return {
        name: dict.fromkeys((*known.values, "*"), "") | dict(refused.get(name, {})) for name, known in FIELDS.items()
    }


_ONLY_FOR = {
    "precision_denominator": {"P"},
    "recall_denominator": {"R"},
    "ap_denominator": {"AP"},
    "gain": {"nDCG", "DCG", "IDCG"},
    "discount": {"nDCG", "DCG", "IDCG"},
    "ideal": {"nDCG", "IDCG"},
    "ideal_depth": {"nDCG", "IDCG"},
}


def matters(measure: Measure, field: str) -> bool:
    """Whether a convention can touch a measure: gains are nothing to recall, a denominator belongs to one family."""
    return measure.family in _ONLY_FOR.get(field, {measure.family})
