"""What a kind of file with columns looks like, and what counts as a number in one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class Layout:
    """The columns of a kind of file, in order: name → type ("id", "skip", "integer", "number").

    ``tail`` columns at the end may be left out of every line. ``separator`` None means runs of white space, else
    the one byte between fields (then blanks belong to the fields). An "integer" column that turns out to hold something
    else is kept as text, for the caller to judge. ``noted`` names a column that is not kept, but whose distinct values
    are told to findings that watch.
    """

    word: str
    columns: dict[str, str]
    tail: int = 0
    separator: bytes | None = None
    noted: str = ""

    @property
    def shape(self) -> str:
        """The columns as a person writes them down."""
        return " ".join(self.columns)

    def kept(self, names: Iterable[str]) -> list[str]:
        """Those of some columns that are kept."""
        return [column for column in names if self.columns[column] != "skip"]
