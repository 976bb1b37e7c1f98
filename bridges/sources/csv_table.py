"""Small tables kept by hand: comma- or tab-separated text with a header line, as columns of text with line numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl
from metricpact.bridges.sources.delimited import csv_rows
from metricpact.bridges.sources.streams import open_stream
from metricpact.contracts.errors import InputError

_BLANKS = " \t\r\v\f"


@dataclass(frozen=True, eq=False)
class CsvTable:
    """The rows of a table: text columns (null for an empty cell), the one-based line of each row, the file's digest."""

    name: str
    frame: pl.DataFrame
    lines: list[int]
    sha256: str | None = None

    def error(self, row: int, fact: str, hint: str = "", query: str | None = None) -> InputError:
        """An error at one row, naming file and line."""
        return InputError(fact, hint, source=self.name, line=self.lines[row], query=query)

    def no_empty(self, columns: Sequence[str]) -> None:
        """Raise ``InputError`` at the first row with an empty cell in one of the columns."""
        for column in columns:
            empty = self.frame[column].is_null().arg_true()
            if len(empty):
                raise self.error(empty[0], f"{column} is empty", "give every row one")

    def no_twins(self, columns: Sequence[str], what: str) -> None:
        """Raise ``InputError`` at the first row that repeats an earlier one in all of the columns."""
        again = (~self.frame.select(pl.struct(columns).is_first_distinct()).to_series()).arg_true()
        if len(again):
            row = again[0]
            wanted = self.frame.select(columns).row(row)
            first = self.frame.select(columns).rows().index(wanted)
            raise self.error(
                row, f"{what} {', '.join(map(repr, wanted))} stands on line {self.lines[first]} too", "keep one of them"
            )


def read_csv_table(path: str, required: Sequence[str], *, hashing: bool = False) -> CsvTable:
    """A table with a header from a file, or standard input for ``-``; blanks around cells are no part of them.

    The header tells whether tabs or commas separate. Raises ``InputError`` with file and line for text that is no
    UTF-8, a missing or repeated column, and a row that has not one cell a column.
    """
    stream = open_stream(path, hashing=hashing)
    data = stream.read_all()
    if not data.strip():
        raise InputError("the file is empty", "a table begins with a line of column names", source=stream.name)
    separator = "\t" if b"\t" in data.lstrip().partition(b"\n")[0] else ","
    rows: list[list[str | None]] = []
    lines: list[int] = []
    header: list[str] = []
    for line, cells in csv_rows(data, stream.name, separator):
        stripped = [cell.strip(_BLANKS) for cell in cells]
        if not any(stripped):
            continue
        if not header:
            header = _checked(stripped, required, stream.name, line)
        elif len(stripped) != len(header):
            raise InputError(
                f"{len(stripped)} cells where the header has {len(header)}",
                "a cell that holds the separator stands between double quotes",
                source=stream.name,
                line=line,
            )
        else:
            rows.append([cell or None for cell in stripped])
            lines.append(line)
    if not rows:
        raise InputError("the table has a header and no row", "name a file that holds rows", source=stream.name)
    frame = pl.DataFrame(rows, schema=dict.fromkeys(header, pl.String), orient="row")
    return CsvTable(stream.name, frame, lines, stream.sha256)


def _checked(header: list[str], required: Sequence[str], name: str, line: int) -> list[str]:
    missing = [column for column in required if column not in header]
    if missing:
        raise InputError(
            f"there is no column {', '.join(map(repr, missing))}",
            f"the header names: {', '.join(header)}; wanted are: {', '.join(required)}",
            source=name,
            line=line,
        )
    if "" in header or len(set(header)) < len(header):
        twice = next((column for column in header if not column or header.count(column) > 1), "")
        fact = f"two columns are called {twice!r}" if twice else "a column has no name"
        raise InputError(fact, "give every column a name of its own", source=name, line=line)
    return header
