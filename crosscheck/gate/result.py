"""A gate's result as data: verdicts with their numbers, the total, and what they rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl
from metricpact.crosscheck.gate.verdicts import EXIT_CODES, VERDICTS, in_total

SCHEMA = "metricpact.gate/1"
NONE_MEASURE = "NONE pass rate"


@dataclass(frozen=True)
class RuleVerdict:
    """One rule on one measure and slice.

    ``rule`` counts from 1 and is 0 for the floor of NONE questions; ``line`` is where it stands in the gate's file.
    ``n`` queries have a value on both sides, ``undefined`` ones lack one. ``base`` and ``candidate`` are means over
    the n queries, ``difference`` is candidate − base, ``lower`` to ``upper`` its interval by ``method``;
    ``strict_upper`` is the upper end at the confidence that a failure needs, where it was looked at. All are None where
    there are none. ``floor`` is what the difference (of NONE questions: the rate) must not lie below.
    ``judged`` is the smaller mean judged fraction of both sides. ``note`` labels numbers that differ in what they mean.
    """

    rule: int
    measure: str
    slice: str
    verdict: str
    why: str
    n: int = 0
    undefined: int = 0
    base: float | None = None
    candidate: float | None = None
    difference: float | None = None
    lower: float | None = None
    upper: float | None = None
    strict_upper: float | None = None
    method: str = ""
    floor: float | None = None
    min_n: int = 0
    judged: float | None = None
    decide_by: str = ""
    note: str = ""
    base_signature: str = ""
    candidate_signature: str = ""
    line: int | None = None


_TYPES = {
    **dict.fromkeys(("rule", "n", "undefined", "min_n", "line"), pl.Int64),
    **dict.fromkeys(
        ("base", "candidate", "difference", "lower", "upper", "strict_upper", "floor", "judged"), pl.Float64
    ),
}
COLUMNS = {name: _TYPES.get(name, pl.String) for name in RuleVerdict.__dataclass_fields__}


@dataclass(frozen=True, eq=False)
class GateResult:
    """All verdicts of a gate. ``settings`` are alpha, resamples, seed and the number of verdicts m, as plain data.

    ``base`` and ``candidate`` say where the numbers come from, ``notes`` what else a reader should know.
    """

    source: str
    base: str
    candidate: str
    verdicts: Sequence[RuleVerdict]
    settings: Mapping[str, Any]
    notes: Sequence[str] = ()

    @property
    def verdict(self) -> str:
        """Fail where one rule fails, else cannot judge where one cannot be judged, else pass."""
        return in_total([one.verdict for one in self.verdicts])

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail, 2 cannot judge."""
        return EXIT_CODES[self.verdict]

    @property
    def counts(self) -> dict[str, int]:
        """Verdict → number of rules with it."""
        return {word: sum(one.verdict == word for one in self.verdicts) for word in VERDICTS}

    def to_polars(self) -> pl.DataFrame:
        """One row a verdict."""
        return pl.DataFrame([asdict(one) for one in self.verdicts], schema=COLUMNS)

    def to_document(self) -> dict[str, Any]:
        """The result as ``metricpact.gate/1``."""
        return {
            "schema": SCHEMA,
            "verdict": self.verdict,
            "counts": self.counts,
            "gate": self.source,
            "base": self.base,
            "candidate": self.candidate,
            "settings": dict(self.settings),
            "rules": [asdict(one) for one in self.verdicts],
            "notes": list(self.notes),
        }
