"""How versions are compared."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from metricpact.contracts.errors import ContractError
from metricpact.crosscheck.compare.correction import CORRECTIONS
from metricpact.crosscheck.compare.paired_tests import TESTS
from metricpact.crosscheck.slices.intervals import IntervalOptions


@dataclass(frozen=True)
class ComparisonOptions:
    """How versions are compared; raises ``ContractError`` for a value that makes no comparison.

    ``alpha`` holds for corrected p-values; ``power`` is that of the minimum detectable difference.
    ``across_contracts`` admits numbers whose signatures differ in their contract part, which are then labelled.
    """

    test: str = "randomisation"
    correction: str = "holm"
    alpha: float = 0.05
    power: float = 0.8
    intervals: IntervalOptions = field(default_factory=IntervalOptions)
    across_contracts: bool = False

    def __post_init__(self) -> None:
        for word, value, choices in (("test", self.test, TESTS), ("correction", self.correction, CORRECTIONS)):
            if value not in choices:
                raise ContractError(f"{value!r} is not a {word}", f"choose from: {', '.join(choices)}")
        for word, share in (("alpha", self.alpha), ("power", self.power)):
            if not 0 < share < 1:
                raise ContractError(f"{word} {share} is not between 0 and 1", f"write for example {word} 0.05")

    @classmethod
    def of(cls, **values: Any) -> ComparisonOptions:
        """The options from one flat set of names, those of ``IntervalOptions`` among them."""
        inner = {field.name for field in fields(IntervalOptions)} & values.keys()
        intervals = IntervalOptions(**{name: values[name] for name in inner})
        return cls(intervals=intervals, **{name: value for name, value in values.items() if name not in inner})
