"""What becomes of a claim: one of five verdicts, each with what a reader has to know beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from metricpact.contracts.errors import InputError

REPRODUCED = "reproduced"
ONLY_UNDER = "reproduced only under"
NOT_REPRODUCED = "not reproduced"
NOT_ATTAINABLE = "not attainable"
CANNOT_CHECK = "cannot check"
WORDS = (ONLY_UNDER, REPRODUCED, NOT_REPRODUCED, NOT_ATTAINABLE, CANNOT_CHECK)
"""All verdicts; a longer one comes before the one that it begins with."""


@dataclass(frozen=True)
class Number:
    """One number of a claim: what it is about, as it is stated, and what was computed (None: nothing, or undefined).

    ``signature`` says how a computed value was made, "" where it is plain arithmetic; ``reading`` names the ranking
    where a claim has several.
    """

    about: str
    stated: str
    computed: float | None
    holds: bool
    signature: str = ""
    reading: str = ""


@dataclass(frozen=True)
class Verdict:
    """A verdict: its word, what follows it, the numbers behind it, and notes on what would give the claim."""

    word: str
    detail: str = ""
    numbers: tuple[Number, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The verdict as it is printed."""
        if not self.detail:
            return self.word
        return f"{self.word} {self.detail}" if self.word == ONLY_UNDER else f"{self.word} ({self.detail})"


@dataclass(frozen=True)
class Expected:
    """The verdict that a claims file expects; ``detail`` is text that has to be in it, "" for any."""

    word: str = REPRODUCED
    detail: str = ""

    def met_by(self, verdict: Verdict) -> bool:
        """Whether a verdict is the expected one."""
        return verdict.word == self.word and self.detail in verdict.detail

    def __str__(self) -> str:
        return f"{self.word} {self.detail}".rstrip()


def read_expected(written: Any) -> Expected:
    """The expected verdict from its text; raises ``InputError`` for one that is none."""
    if isinstance(written, str):
        for word in WORDS:
            if written == word or written.startswith(word + " "):
                return Expected(word, written[len(word) :].strip().removesuffix(" …"))
    raise InputError(f"{written!r} is not a verdict", "verdicts: " + ", ".join(sorted(WORDS)))


@dataclass(frozen=True)
class Result:
    """A claim with its verdict; ``about`` is what the claims file says of it."""

    id: str
    kind: str
    about: str
    line: int
    verdict: Verdict
    expected: Expected

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the one that the file expects."""
        return self.expected.met_by(self.verdict)

    def to_document(self) -> dict[str, Any]:
        """The result as plain data."""
        return {
            "id": self.id,
            "kind": self.kind,
            "text": self.about,
            "line": self.line,
            "verdict": self.verdict.text,
            "word": self.verdict.word,
            "detail": self.verdict.detail,
            "expected": str(self.expected),
            "as_expected": self.as_expected,
            "numbers": [vars(number) for number in self.verdict.numbers],
            "notes": list(self.verdict.notes),
        }


@dataclass(frozen=True)
class ClaimsReport:
    """All claims of a file with their verdicts."""

    name: str
    title: str
    source: str
    results: list[Result]

    @property
    def passed(self) -> bool:
        """Whether every verdict is the expected one."""
        return all(result.as_expected for result in self.results)

    def to_document(self) -> dict[str, Any]:
        """The JSON document ``metricpact.claims/1``."""
        from metricpact.contracts.version import VERSION

        words = [result.verdict.word for result in self.results]
        return {
            "schema": "metricpact.claims/1",
            "metricpact": VERSION,
            "file": self.name,
            "title": self.title,
            "source": self.source,
            "passed": self.passed,
            "counts": {word: words.count(word) for word in sorted(WORDS)},
            "claims": [result.to_document() for result in self.results],
        }
