"""What is wrong or odd with an input, as data. Readers hand every fault and oddity to a ``Reading``: the plain one
raises the first fault, ``Findings`` keeps them all for ``metricpact lint``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from metricpact.bridges.sources.kinds import KINDS
from metricpact.contracts.errors import InputError

_MOST_VALUES = 10


@dataclass(frozen=True)
class Finding:
    """One finding: a code of ``KINDS``, what is the case and where.

    ``lines`` are one-based, the line at fault first (a duplicate has two); empty where there are none. ``count`` says
    how many rows, rankings or queries it stands for, ``queries`` names all of them where they are queries.
    """

    code: str
    message: str
    file: str
    lines: tuple[int, ...] = ()
    query: str | None = None
    document: str | None = None
    count: int = 1
    queries: tuple[str, ...] = ()
    hint: str = ""

    @property
    def severity(self) -> str:
        """``error``, ``warning`` or ``note``."""
        return KINDS[self.code].severity

    @property
    def line(self) -> int | None:
        """The line at fault, None where there is none."""
        return self.lines[0] if self.lines else None

    @property
    def place(self) -> str:
        """``file:line``, as far as known."""
        return f"{self.file}:{self.line}" if self.lines else self.file

    def to_document(self) -> dict[str, Any]:
        """The finding as one JSON object."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "file": self.file,
            "line": self.line,
            "lines": list(self.lines),
            "query": self.query,
            "document": self.document,
            "count": self.count,
            "queries": list(self.queries),
            "hint": self.hint or KINDS[self.code].hint,
        }


class Reading:
    """How a reader takes what it finds: this one raises the first fault and passes over the rest.

    ``watching`` tells a reader whether oddities that it reads rightly are of interest at all.
    """

    watching = False

    def shape(self, *, blank_free: bool, ascii_only: bool) -> None:
        """What the text was seen to be: whether ids cannot hold white space, whether all of it is ASCII."""

    def fault(self, error: InputError) -> None:
        """A part that cannot be read; returns only where reading goes on without it."""
        try:
            raise error
        finally:
            del error  # else this frame and the error hold each other, and the file open, until garbage is collected

    def notice(self, code: str, line: int, count: int = 1) -> None:
        """Lines that are read rightly and are odd all the same; ``line`` is the first of ``count``."""

    def value(self, column: str, value: str, line: int) -> None:
        """A value of a column that is not kept, with the line on which it is first seen."""


PLAIN = Reading()
"""Reading as everything but lint does it."""


@dataclass
class Findings(Reading):
    """Everything that was found in one input; of one code at most ``limit`` are kept (0: all), all are counted.

    ``values`` holds the first few distinct values of columns that are not kept, with their lines; ``blank_free`` and
    ``ascii_only`` say what ids are known not to hold.
    """

    file: str
    limit: int = 0
    kept: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    values: dict[str, dict[str, int]] = field(default_factory=dict)
    blank_free: bool = False
    ascii_only: bool = False
    _noticed: dict[str, tuple[int, int]] = field(default_factory=dict)

    watching = True

    def shape(self, *, blank_free: bool, ascii_only: bool) -> None:
        """Remember it: what cannot be there need not be looked for."""
        self.blank_free, self.ascii_only = blank_free, ascii_only

    def fault(self, error: InputError) -> None:
        """Keep the fault as a finding."""
        code = error.code or ("malformed-line" if error.line is not None else "unreadable")
        lines = () if error.line is None else (error.line,)
        self.add(
            code,
            error.bare,
            file=error.source or self.file,
            lines=lines,
            query=error.query,
            document=error.document,
            hint=error.hint,
        )

    def notice(self, code: str, line: int, count: int = 1) -> None:
        """Count the lines; ``settle`` makes one finding of all of them."""
        first, before = self._noticed.get(code, (line, 0))
        self._noticed[code] = (min(first, line), before + count)

    def noticed(self, code: str) -> tuple[int, int] | None:
        """The first line and the number of lines of what was noticed and not settled yet, or None."""
        return self._noticed.get(code)

    def value(self, column: str, value: str, line: int) -> None:
        """Remember the value, if it is one of the first few."""
        held = self.values.setdefault(column, {})
        if value not in held and len(held) < _MOST_VALUES:
            held[value] = line

    def add(self, code: str, message: str, **rest: Any) -> None:
        """Count a finding, and keep it if there is room; the arguments are those of ``Finding``."""
        self.add_some(code, 1, [(message, rest)])

    def add_some(self, code: str, total: int, made: Iterable[tuple[str, dict[str, Any]]]) -> None:
        """Count ``total`` findings of one code, and make no more of them than there is room for."""
        room = self.limit - self.counts[code] if self.limit else total
        self.counts[code] += total
        for _, (message, rest) in zip(range(room), made, strict=False):
            self.kept.append(Finding(code, message, **{"file": self.file, **rest}))

    def settle(self) -> None:
        """Turn what was noticed line by line into findings."""
        for code, (line, count) in self._noticed.items():
            self.add(code, f"{KINDS[code].noticed}: {count}", lines=(line,), count=count)
        self._noticed.clear()
