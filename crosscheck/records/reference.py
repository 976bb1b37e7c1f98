"""How a record is named where a run could stand: ``record:ID@FILE``, such as ``record:3@scores.sqlite``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from metricpact.contracts.errors import InputError

_SHAPE = re.compile(r"record:([1-9][0-9]{0,17})@(.+)", re.DOTALL)
_HINT = "a record reads record:ID@FILE, such as record:3@scores.sqlite; 'metricpact record list' shows the ids"


@dataclass(frozen=True)
class Reference:
    """A record's id and the file that it is in; ``str()`` is the form that people type."""

    id: int
    file: str

    def __str__(self) -> str:
        return f"record:{self.id}@{self.file}"


def is_reference(text: object) -> bool:
    """Whether an argument is meant as a record (``./record:x`` is a file of that name)."""
    return isinstance(text, str) and text.startswith("record:")


def parse_reference(text: str, file: str | None = None) -> Reference:
    """The record that a text names; a bare id means one in ``file``. Raises ``InputError``."""
    found = _SHAPE.fullmatch(text)
    if found:
        return Reference(int(found[1]), found[2])
    if re.fullmatch(r"[1-9][0-9]{0,17}", text):
        if file is None:
            raise InputError(f"{text} names a record of no file", "name the file: --records FILE, or record:ID@FILE")
        return Reference(int(text), file)
    raise InputError(f"{text!r} names no record", _HINT)
