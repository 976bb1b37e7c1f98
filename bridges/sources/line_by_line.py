"""Lines read one by one: the definition of what a line means, and where every fault gets its number.

This is slow, and comes only where the fast parser of ``lines`` cannot prove what it sees.
"""

from __future__ import annotations

import re

import numpy as np
import polars as pl
from metricpact.bridges.sources.findings import Reading
from metricpact.bridges.sources.layout import NUMBER, Layout
from metricpact.contracts.errors import InputError
from metricpact.contracts.tables import Ints

_INTEGER = re.compile(rb"[+-]?[0-9]{1,18}")
_NEWLINE, _RETURN, _HASH = 10, 13, 35
_WHITE = np.frombuffer(b" \t\n\r\v\f", np.uint8)
_COLUMN_NAMES = frozenset(
    b"query query-id query_id qid topic iteration iter q0 corpus-id corpus_id document doc doc-id doc_id docid docno "
    b"score relevance label rel grade rank tag run run_id runid system".split()
)


def notice_lines(data: bytes, first: int, layout: Layout, findings: Reading) -> None:
    """Tell of lines that are read rightly and are odd all the same: CR LF, comments, blank lines."""
    raw = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(raw == _NEWLINE)
    begins = np.concatenate([[0], ends + 1])
    begins = begins[begins < len(raw)]
    ends = np.append(ends, len(raw))[: len(begins)]
    carried = (ends > begins) & (raw[ends - 1] == _RETURN)
    comment = (raw[begins] == _HASH) & (layout.separator is None)
    # Line by line where blanks are: a line of blanks only begins with one, or is empty.
    hollow = np.flatnonzero(np.isin(raw[begins], _WHITE))
    blank = np.zeros(len(begins), np.bool_)
    blank[[at for at in hollow if not data[begins[at] : ends[at]].strip()]] = True
    for code, flags in (("crlf", carried), ("comment-line", comment), ("blank-line", blank)):
        if flags.any():
            findings.notice(code, first + int(np.argmax(flags)), int(np.count_nonzero(flags)))


def read_slowly(data: bytes, first: int, layout: Layout, name: str, findings: Reading) -> tuple[pl.DataFrame, Ints]:
    """A slice read line by line; the findings get an ``InputError`` for every line that is no row."""
    rows: list[list[str | int | float]] = []
    lines: list[int] = []
    kept = [(place, kind) for place, kind in enumerate(layout.columns.values()) if kind != "skip"]
    noted = list(layout.columns).index(layout.noted) if layout.noted else None
    for number, line in enumerate(data.split(b"\n"), first):
        if line.startswith(b"#") and layout.separator is None:
            continue
        fields = line.split() if layout.separator is None else line.rstrip(b"\r").split(layout.separator)
        if not fields or fields == [b""]:
            continue
        try:
            row = _read_line(fields, kept, layout, name, number)
        except InputError as error:
            findings.fault(error)
            if error.code != "words-behind-tag":
                continue
            row = _read_line(fields[: len(layout.columns)], kept, layout, name, number)
        rows.append(row)
        lines.append(number)
        if noted is not None:
            findings.value(layout.noted, b"".join(fields[noted : noted + 1]).decode("utf-8", "replace"), number)
    names = layout.kept(layout.columns)
    types = {"id": pl.String, "integer": pl.Int64, "number": pl.Float64}
    transposed = list(zip(*rows, strict=True)) or [()] * len(names)
    series = []
    for column, values in zip(names, transposed, strict=True):
        dtype = types[layout.columns[column]]
        if any(isinstance(value, str) for value in values):
            dtype = pl.String
        held = [str(value) for value in values] if dtype == pl.String else values
        series.append(pl.Series(column, held, dtype=dtype))
    return pl.DataFrame(series), np.array(lines, np.int64)


def _read_line(
    fields: list[bytes], kept: list[tuple[int, str]], layout: Layout, name: str, number: int
) -> list[str | int | float]:
    """The fields of one line that are kept: the definition of what a line means."""
    most = len(layout.columns)
    if _is_header(fields):
        raise InputError(
            f"a header line ({' '.join(field.decode() for field in fields[:most])}): a {layout.word} has none",
            f"remove it; a line reads: {layout.shape}",
            source=name,
            line=number,
            code="header-line",
        )
    if not most - layout.tail <= len(fields) <= most:
        least = f" (or {most - layout.tail})" if layout.tail else ""
        raise InputError(
            f"{len(fields)} columns where a {layout.word} has {most}{least}",
            f"a line reads: {layout.shape}",
            source=name,
            line=number,
            code=_too_many(fields, kept, layout, name, number),
        )
    values: list[str | int | float] = []
    for place, kind in kept:
        word = list(layout.columns)[place]
        text = _decode(fields[place], word, name, number)
        if kind == "id":
            if not text:
                raise InputError(f"the {word} id is empty", f"a line reads: {layout.shape}", source=name, line=number)
            values.append(text)
        elif kind == "integer":
            values.append(int(text) if _INTEGER.fullmatch(fields[place]) else text)
        else:
            values.append(_finite(fields[place], word, layout, name, number))
    return values


def _decode(raw: bytes, word: str, name: str, number: int) -> str:
    if b"\0" in raw:
        raise InputError(
            "a zero byte: this is no text file", "name a text file", source=name, line=number, code="not-utf8"
        )
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"the {word} is not UTF-8 ({raw[error.start : error.start + 1].hex()} in {raw[:40]!r})",
            "convert the file, for example: iconv -f latin1 -t utf-8",
            source=name,
            line=number,
            code="not-utf8",
        ) from error


def _too_many(fields: list[bytes], kept: list[tuple[int, str]], layout: Layout, name: str, number: int) -> str:
    """The code for a wrong number of columns: a line that reads well but for words behind the tag has its own."""
    most = len(layout.columns)
    if not layout.tail or len(fields) <= most:
        return "malformed-line"
    try:
        _read_line(fields[:most], kept, layout, name, number)
    except InputError:
        return "malformed-line"
    return "words-behind-tag"


def _is_header(fields: list[bytes]) -> bool:
    """Whether all fields are names that columns bear, two of them at least."""
    return len(fields) > 1 and all(field.strip().lower() in _COLUMN_NAMES for field in fields)


def _finite(raw: bytes, word: str, layout: Layout, name: str, number: int) -> float:
    if not NUMBER.fullmatch(raw):
        shown = raw[:40].decode("utf-8", "backslashreplace")
        special = raw.lower().lstrip(b"+-") in (b"nan", b"inf", b"infinity")
        fact = f"{word} {shown!r} is not a finite number" if special else f"{word} {shown!r} is not a number"
        header = " (a header line has to go)" if number == 1 and not special else ""
        raise InputError(
            fact,
            f"a line reads: {layout.shape}{header}",
            source=name,
            line=number,
            code="not-finite" if special else "malformed-line",
        )
    value = float(raw)
    if value in (float("inf"), float("-inf")):
        raise InputError(
            f"{word} {raw[:40].decode()} is beyond double precision",
            "scores are finite numbers",
            source=name,
            line=number,
            code="not-finite",
        )
    return value
