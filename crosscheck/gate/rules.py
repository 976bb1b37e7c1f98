"""What a gate asks: rules on measures and slices, a floor for questions without an answer, and what may differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from metricpact.contracts.measures import Measure
from metricpact.contracts.profiles import Profile
from metricpact.crosscheck.slices.slicing import ALL, Slice

INTERVAL, OBSERVED = "interval", "observed"
DECIDE_BY = (INTERVAL, OBSERVED)
"""What a verdict rests on: the interval of the difference, or the difference on these very queries alone."""
ANY = "*"


@dataclass(frozen=True)
class Pattern:
    """Slices by column: ``(("language", "fr"),)``, with ``*`` for every value; empty means all queries."""

    parts: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Pattern | None:
        """The pattern of ``all``, ``language=fr``, ``language=*``, ``language=fr,flag=yes``; None for another text."""
        if text == ALL:
            return cls()
        parts: list[tuple[str, str]] = []
        for piece in text.split(","):
            column, equals, value = piece.partition("=")
            if equals and column.strip():
                parts.append((column.strip(), value.strip()))
            elif parts:  # a comma within a value
                parts[-1] = (parts[-1][0], f"{parts[-1][1]},{piece}")
            else:
                return None
        return cls(tuple(parts))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are looked at."""
        return tuple(column for column, _ in self.parts)

    def matches(self, part: Slice) -> bool:
        """Whether a slice is one of these."""
        return part.columns == self.columns and all(
            value in (ANY, found) for (_, value), (_, found) in zip(self.parts, part.values, strict=True)
        )

    def __str__(self) -> str:
        return ",".join(f"{column}={value}" for column, value in self.parts) or ALL


@dataclass(frozen=True)
class Rule:
    """No more than an allowed drop of some measures on some slices.

    ``max_drop`` is absolute, or a share of the base's mean where ``relative``. A verdict needs ``min_n`` queries, and
    of either run's documents at least ``judged_floor`` judged. ``line`` is where the rule stands in its file.
    """

    measures: tuple[Measure, ...]
    slices: tuple[Pattern, ...]
    max_drop: float
    relative: bool
    min_n: int
    judged_floor: float
    decide_by: str
    line: int | None = None


@dataclass(frozen=True)
class NoneRule:
    """The least pass rate of questions without an answer, under the decided behaviour ``policy``."""

    min_pass_rate: float
    policy: str
    min_n: int
    decide_by: str
    line: int | None = None


@dataclass(frozen=True)
class Gate:
    """All that a gate asks.

    ``alpha``: intervals have confidence 1 − alpha. ``across`` names what may differ between base and candidate
    (``verdicts.KINDS``). ``profile`` and ``backend`` score what is not scored yet. ``source`` is the file's name.
    """

    rules: Sequence[Rule]
    none: NoneRule | None
    profile: Profile
    backend: str
    alpha: float
    resamples: int
    seed: int
    across: frozenset[str] = field(default_factory=frozenset)
    source: str = "gate"

    @property
    def measures(self) -> list[Measure]:
        """The measures of all rules, each once."""
        return list(dict.fromkeys(measure for rule in self.rules for measure in rule.measures))

    @property
    def patterns(self) -> list[Pattern]:
        """The slices of all rules, each once."""
        return list(dict.fromkeys(pattern for rule in self.rules for pattern in rule.slices))
