"""Lines of columns, read at the speed of a CSV parser and never misread.

What a line means is defined in ``line_by_line``: fields between runs of ASCII white space, UTF-8, comments only where
a line starts with ``#``, blank lines skipped. A whole slice is parsed at once only where it is proven to have the
plain shape (every field there, one separator between two, nothing else below the space character); else it is
normalised and parsed again; what still has no plain shape is read line by line, where faults get their line number
and are handed to the stream's ``findings``, which raise the first or keep them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from metricpact.bridges.sources.findings import Reading
from metricpact.bridges.sources.layout import Layout
from metricpact.bridges.sources.line_by_line import notice_lines, read_slowly
from metricpact.bridges.sources.streams import BOM, Stream
from metricpact.contracts.errors import InputError
from metricpact.contracts.tables import Ints

_SPACES = bytes.maketrans(b"\t\r\v\f", b"    ")
_NEWLINE, _HASH = 10, 35
# What the parser would drop (a byte order mark that is part of an id here) or take for compressed data (zlib, gzip,
# zstd): an id may begin like that.
_TAKEN_OTHERWISE = (BOM, b"x\x01", b"x^", b"x\x9c", b"x\xda", b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
_PIECE = 1 << 18  # bytes looked at together: they stay in the processor's cache
_MORSEL = 1 << 16  # bytes read line by line where they hold a fault
_MOST_VALUES = 10

Values = list[tuple[str, int]]
"""Distinct values of a column, with the place of the row (from 0) on which each is first seen."""


@dataclass
class Columns:
    """What was read, slice by slice: run-length encoded query ids, the other columns, and the lines of the rows."""

    blocks: list[pl.Series] = field(default_factory=list)
    frames: list[pl.DataFrame] = field(default_factory=list)
    line_parts: list[Ints | range] = field(default_factory=list)

    def add(self, frame: pl.DataFrame, lines: Ints | range) -> None:
        """Append parsed rows."""
        self.blocks.append(frame["query"].rle())
        self.frames.append(frame.drop("query"))
        self.line_parts.append(lines)

    def query_blocks(self) -> pl.Series:
        """The run-length encoded query ids of all rows."""
        return pl.concat(self.blocks)

    def column(self, name: str) -> pl.Series:
        """One column of all rows; a column that is text in some slices is text in all."""
        parts = [frame[name] for frame in self.frames]
        if len({part.dtype for part in parts}) > 1:
            widest = pl.String if any(part.dtype == pl.String for part in parts) else pl.Float64
            parts = [part.cast(widest) for part in parts]
        return pl.concat(parts, rechunk=False)

    def lines(self) -> tuple[int, Ints | None]:
        """The line of the first row, and the lines of all rows where they are not consecutive."""
        first = self.line_parts[0][0] if len(self.line_parts[0]) else 1
        expected = first
        for part in self.line_parts:
            if not isinstance(part, range) or (len(part) and part[0] != expected):
                return int(first), np.concatenate([np.asarray(part, dtype=np.int64) for part in self.line_parts])
            expected += len(part)
        return int(first), None


def read_lines(stream: Stream, slices: Iterator[bytes], layout: Layout, skip_first: int = 0) -> Columns:
    """All rows of a stream; ``skip_first`` lines at the start (a header) are left out.

    Raises ``InputError`` with the line for anything that is not a row of the layout, and for an input without rows.
    """
    columns = Columns()
    first = 1 + skip_first
    findings = stream.findings
    ascii_only = True
    for data, parsed in _parsed_ahead(_without_head(slices, skip_first), layout, watching=findings.watching):
        ascii_only = ascii_only and findings.watching and data.isascii()
        if parsed is None:
            for frame, lines in _read_with_care(data, first, layout, stream):
                if frame.height:
                    columns.add(frame, lines)
            first += data.count(b"\n")
            continue
        frame, values = parsed
        for value, row in values:
            findings.value(layout.noted, value, first + row)
        columns.add(frame, range(first, first + frame.height))
        first += frame.height
    findings.shape(blank_free=layout.separator is None, ascii_only=ascii_only)
    if not columns.frames:
        fact = "a header and no row" if skip_first else f"there is no row in it, so this is no {layout.word}"
        raise InputError(
            fact, f"a line reads: {layout.shape}", source=stream.name, line=skip_first or None, code="no-rows"
        )
    return columns


def first_fields(data: bytes) -> tuple[list[bytes], list[bytes], int]:
    """Of the first line that holds something: its white-space fields, its tab fields, and its line number."""
    for number, line in enumerate(data.split(b"\n", 1000), 1):
        if line.strip() and not line.startswith(b"#"):
            return line.split(), line.rstrip(b"\r\n").split(b"\t"), number
    return [], [], 0


def _without_head(slices: Iterator[bytes], lines: int) -> Iterator[bytes]:
    """The slices without some lines at the start."""
    for data in slices:
        rest = data
        while lines and rest:
            end = rest.find(b"\n") + 1
            rest, lines = rest[end:] if end else b"", lines - 1
        if rest:
            yield rest


def _parsed_ahead(slices: Iterator[bytes], layout: Layout, *, watching: bool) -> Iterator[tuple[bytes, _Parsed | None]]:
    """Each slice with what the fast parser makes of it, a few slices ahead: parsing leaves Python's lock free."""

    def parse(data: bytes) -> _Parsed | None:
        return _parse(data, _separator(data, layout), layout, watching=watching)

    first, second = next(slices, b""), next(slices, b"")
    if not second:
        if first:
            yield first, parse(first)
        return
    from collections import deque
    from concurrent.futures import Future, ThreadPoolExecutor
    from itertools import chain

    with ThreadPoolExecutor(2) as pool:
        ahead: deque[tuple[bytes, Future[_Parsed | None]]] = deque()
        for data in chain([first, second], slices):
            ahead.append((data, pool.submit(parse, data)))
            if len(ahead) > 2:
                done, future = ahead.popleft()
                yield done, future.result()
        while ahead:
            done, future = ahead.popleft()
            yield done, future.result()


def _separator(data: bytes, layout: Layout) -> bytes:
    return layout.separator or (b"\t" if b"\t" in data[: data.find(b"\n") + 1] else b" ")


def _read_with_care(
    data: bytes, first: int, layout: Layout, stream: Stream
) -> Iterator[tuple[pl.DataFrame, Ints | range]]:
    """A slice without the plain shape: normalised and parsed, else in morsels, of which only faulty ones are slow."""
    findings = stream.findings
    if findings.watching:
        notice_lines(data, first, layout, findings)
    whole = _read_normalised(data, first, layout, findings)
    if whole is not None:
        yield whole
        return
    begin = 0
    while begin < len(data):
        end = data.find(b"\n", begin + _MORSEL) + 1 or len(data)
        morsel = data[begin:end]
        yield _read_normalised(morsel, first, layout, findings) or read_slowly(
            morsel, first, layout, stream.name, findings
        )
        first, begin = first + morsel.count(b"\n"), end


def _read_normalised(
    data: bytes, first: int, layout: Layout, findings: Reading
) -> tuple[pl.DataFrame, Ints | range] | None:
    """A slice parsed at once after its lines were given the plain shape, None where that does not do."""
    if layout.separator is None:
        plain, lines = _normalise(data, first)
        parsed = _parse(plain, b" ", layout, watching=findings.watching) if plain else None
    else:
        parsed, lines = _parse(data, layout.separator, layout, watching=findings.watching), None
    if parsed is None:
        return None
    frame, values = parsed
    place = lines if lines is not None else range(first, first + frame.height)
    for value, row in values:
        findings.value(layout.noted, value, int(place[row]))
    return frame, place


_Parsed = tuple[pl.DataFrame, Values]


def _parse(data: bytes, separator: bytes, layout: Layout, *, watching: bool) -> _Parsed | None:
    """A slice parsed at once, or None where its plain shape cannot be proven.

    ``watching`` asks for the distinct values of the noted column too.
    """
    if data.startswith(_TAKEN_OTHERWISE):
        return None
    count = data[: data.find(b"\n") + 1 or len(data)].count(separator) + 1
    if not len(layout.columns) - layout.tail <= count <= len(layout.columns):
        return None
    names = list(layout.columns)[:count]
    kinds = {"id": pl.String, "skip": pl.String, "integer": pl.Int64, "number": pl.Float64}
    softened = [
        {},
        {column: pl.String for column, kind in layout.columns.items() if kind == "integer"},
    ]
    # Columns that are not kept are not read, but for the last: it shows that every line has all its fields.
    kept = layout.kept(names)
    noted = layout.noted if watching and layout.noted else None
    read = [place for place, column in enumerate(names) if column in kept or place == count - 1 or column == noted]
    for softer in softened:
        schema = {column: softer.get(column, kinds[layout.columns[column]]) for column in names}
        try:
            frame = pl.read_csv(
                data, has_header=False, separator=separator.decode(), quote_char=None, schema=schema, columns=read
            )
        except pl.exceptions.PolarsError:
            continue
        if not _is_plain(frame, data, layout, count):
            return None
        return frame.select(kept), _distinct(frame, noted) if noted else []
    return None


def _distinct(frame: pl.DataFrame, column: str) -> Values:
    """The first few distinct values of a column; of a column that a file leaves out, empty text."""
    if column not in frame.columns:
        return [("", 0)]
    values = frame[column]
    rows = [0] if bool((values == values[0]).all()) else values.arg_unique().sort().head(_MOST_VALUES).to_list()
    return [(values[row], row) for row in rows]


def _is_plain(frame: pl.DataFrame, data: bytes, layout: Layout, count: int) -> bool:
    """Whether the parser saw what is there: no empty field, no other white space or control character, no comment.

    Every row has its last field, so it has ``count − 1`` separators at least; where that and a newline a row are all
    that lies at or below the space character, each row has exactly as many. No two of them are neighbours, so no
    field is empty, the ones that were not read included.
    """
    if any(frame.null_count().row(0)):
        return False
    # With a fixed separator blanks belong to the fields; only control characters are in the way.
    found, neighbours = _low_bytes(data, b" " if layout.separator is None else b"\x1f")
    if neighbours or found != frame.height * count - (not data.endswith(b"\n")):
        return False
    for column in frame.get_columns():
        if column.dtype == pl.Float64 and not column.is_finite().all():
            return False
    starts = frame["query"].rle().struct.field("value")
    return not bool(starts.str.starts_with("#").any())


def _low_bytes(data: bytes, highest: bytes) -> tuple[int, bool]:
    """How many bytes are no higher than one, and whether two neighbours are, or the first byte is."""
    raw = np.frombuffer(data, np.uint8)
    found, neighbours, before = 0, False, True
    for begin in range(0, len(raw), _PIECE):
        low = raw[begin : begin + _PIECE] <= highest[0]
        found += int(np.count_nonzero(low))
        neighbours = neighbours or bool(before and low[0]) or bool((low[1:] & low[:-1]).any())
        before = bool(low[-1])
    return found, neighbours


def _normalise(data: bytes, first: int) -> tuple[bytes, Ints]:
    """The same rows with one blank between fields and nothing around them, and the line of each row."""
    raw = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(raw == _NEWLINE)
    begins = np.concatenate([[0], ends + 1])
    begins = begins[begins < len(raw)]
    comment = raw[begins] == _HASH
    text = re.sub(rb" {2,}", b" ", data.translate(_SPACES)).replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")
    flat = np.frombuffer(text, np.uint8)
    stops = np.flatnonzero(flat == _NEWLINE)
    if len(stops) < len(begins):
        stops = np.append(stops, len(flat))
    lengths = np.diff(np.concatenate([[-1], stops]))  # with the newline
    keep = (lengths > 1) & ~comment
    lines = first + np.flatnonzero(keep)
    if keep.all():
        return text, lines
    mask = np.repeat(keep, lengths)[: len(flat)]
    return flat[mask].tobytes(), lines
