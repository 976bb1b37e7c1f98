"""What a gate finds: a verdict on every rule, in the words pass, fail and cannot judge, each with its numbers and why.

A rule allows the mean over a slice to drop by d at most. With the interval of the difference (candidate − base, paired
by query) at confidence 1 − alpha, the rule

- passes where the interval begins at −d or above: a larger drop is excluded;
- fails where the interval ends below −d: the drop is larger than d. To blame a candidate that is fine, one false alarm
  among m verdicts is enough, so this end is taken at confidence 1 − alpha/m (Bonferroni). Passing needs no such
  care, because the gate passes only if every rule does (an intersection–union test: Berger, Technometrics 24, 1982);
- cannot be judged otherwise: the queries are too few to tell, or the numbers are not about the same.

Where all n differences are equal (no query changed, for one) there is no spread to make an interval of. Then their
value decides, if n is so large that chance would hardly bring it about: 2^(1 − n) ≤ alpha, as in a sign test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

PASS, FAIL, CANNOT_JUDGE = "pass", "fail", "cannot judge"
VERDICTS = (PASS, FAIL, CANNOT_JUDGE)
EXIT_CODES = {PASS: 0, FAIL: 1, CANNOT_JUDGE: 2}
KINDS = ("signature", "judgments", "queries", "set")
"""What may differ between base and candidate where ``across`` names it."""
SPARE = 1e-12
"""How far below −d an end may lie for rounding's sake."""


@dataclass(frozen=True)
class Limits:
    """The intervals of a quantity that must not lie below a floor: at 1 − alpha, and the upper end at 1 − alpha/m.

    All are None where there is no interval, and ``reason`` says why.
    """

    lower: float | None
    upper: float | None
    strict_upper: float | None
    reason: str = ""


@dataclass(frozen=True)
class Quantity:
    """What a verdict is about, in words, and the least that it may be; ``sign`` is "+" for a difference."""

    what: str
    floor: float
    sign: str = ""

    def show(self, value: float) -> str:
        """A number in a sentence."""
        return f"{value:{self.sign}.4g}"

    def holds(self, value: float) -> bool:
        """Whether a value is not below the floor, but for rounding."""
        return value >= self.floor - SPARE


def by_interval(asked: Quantity, limits: Limits) -> tuple[str, str]:
    """Verdict and why, from intervals."""
    floor = asked.show(asked.floor)
    if limits.lower is None or limits.upper is None:
        return CANNOT_JUDGE, f"{asked.what} has no interval: {limits.reason}"
    if asked.holds(limits.lower):
        return PASS, f"{asked.what} is {floor} at least: the interval begins at {asked.show(limits.lower)}"
    if limits.strict_upper is not None and not asked.holds(limits.strict_upper):
        return FAIL, f"{asked.what} is below {floor}: the interval ends at {asked.show(limits.strict_upper)}"
    if not asked.holds(limits.upper):
        return CANNOT_JUDGE, (
            f"{asked.what} seems below {floor} (the interval ends at {asked.show(limits.upper)}), but among so many "
            "verdicts that may be chance: more queries would tell"
        )
    interval = f"[{asked.show(limits.lower)}, {asked.show(limits.upper)}]"
    return CANNOT_JUDGE, f"the interval {interval} holds {floor}: more queries would tell"


def by_value(asked: Quantity, value: float, n: int) -> tuple[str, str]:
    """Verdict and why, from what was observed alone."""
    passed = asked.holds(value)
    relation = "at least" if passed else "below"
    told = f"{asked.what} {asked.show(value)} is {relation} {asked.show(asked.floor)}"
    these = "this 1 query" if n == 1 else f"these {n} queries"
    return PASS if passed else FAIL, f"{told} on {these}; nothing is said of others"


def by_equal_values(asked: Quantity, value: float, n: int, alpha: float) -> tuple[str, str]:
    """Verdict and why, where the quantity is the same on every query."""
    if 2.0 ** (1 - n) > alpha:
        few = "1 query is" if n == 1 else f"{n} queries are"
        return CANNOT_JUDGE, f"{asked.what} is {asked.show(value)} on every query, and {few} too few to build on"
    return PASS if asked.holds(value) else FAIL, f"{asked.what} is {asked.show(value)} on every one of {n} queries"


def in_total(verdicts: Sequence[str]) -> str:
    """The verdict of all: fail where one fails, else cannot judge where one cannot be judged, else pass."""
    return next((word for word in (FAIL, CANNOT_JUDGE) if word in verdicts), PASS)
