"""Evidence documents as records with their lines: JSON lines, JSON (an array or one object), CSV, Python objects."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from metricpact.bridges.evidence.shape import first_fault
from metricpact.bridges.sources.streams import open_stream
from metricpact.contracts.errors import InputError

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_BLANK = re.compile(r"[ \t\r\n]*")
_JSON = "give one record a line, or one array of records"


@dataclass(frozen=True)
class Source:
    """A text that was read whole: its name in errors, its bytes, their SHA-256."""

    name: str
    data: bytes
    sha256: str

    @property
    def first(self) -> bytes:
        """The first byte that is not a blank."""
        return self.data.lstrip()[:1]

    def text(self) -> str:
        """The bytes as UTF-8; raises ``InputError`` with the line where they are none."""
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            raise self.error("is not UTF-8", "save the file as UTF-8", line) from error

    def error(self, fact: str, hint: str = "", line: int | None = None) -> InputError:
        """An error in this text."""
        return InputError(fact, hint, source=self.name, line=line)


@dataclass(frozen=True)
class Record:
    """One record: a JSON object or a CSV row, and its one-based line (None for a Python object)."""

    line: int | None
    value: Any


def read_source(path: str | os.PathLike[str]) -> Source:
    """A file (plain, gz, zst) or standard input (``-``); raises ``InputError`` for one that is empty or no text."""
    stream = open_stream(Path(path), hashing=True)
    data = stream.read_all()
    source = Source(stream.name, data, stream.sha256 or "")
    if not data.strip():
        raise source.error("the file is empty", "name a file that holds records")
    return source


def json_records(source: Source) -> list[Record]:
    """The records of a JSON text: the elements of an array, one object, or one value a line.

    Raises ``InputError`` with the line for what is not JSON, for a key that stands twice in one object, for numbers
    that JSON does not have, and for text that is not Unicode.
    """
    text = source.text()
    records = list(_array(source, text) if source.first == b"[" else _lines_or_object(source, text))
    if not records:
        raise source.error("holds no record", "give at least one")
    if _SURROGATE.search(source.data):
        for record in records:
            _refuse_surrogates(source, record)
    return records


def object_records(values: Any, name: str) -> list[Record]:
    """Python objects (one mapping, or an iterable of them) as records, as if they had been written as JSON.

    So tuples are lists and numpy's numbers are numbers; raises ``InputError`` for what JSON cannot hold.
    """
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InputError(f"{type(values).__name__} holds no records", "give a path, or a list of dicts", source=name)
    records = []
    for value in [values] if isinstance(values, Mapping) else values:
        try:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)
            text.encode("utf-8")
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(f"a record cannot be read: {error}", "give what JSON can hold", source=name) from error
        records.append(Record(None, json.loads(text)))
    return records


def _plain(value: Any) -> Any:
    """A number of numpy as Python's; raises ``TypeError`` for anything else."""
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        return value.item()
    raise TypeError(f"{type(value).__name__} is not JSON")


def digest_of(records: Iterable[Record]) -> str:
    """SHA-256 (hex) of records as JSON lines, for those that come from no file."""
    return sha256("\n".join(json.dumps(record.value, sort_keys=True) for record in records).encode()).hexdigest()


def checked(records: Iterable[Record], schema: str, name: str, identity: str, hint: str = "") -> list[Record]:
    """The records, if all have the shape of a schema; raises ``InputError`` with line, id and the path in the record.

    ``identity`` is the key that names a record, such as "task".
    """
    listed = list(records)
    for record in listed:
        fault = first_fault(schema, record.value)
        if fault is not None:
            raise InputError(
                f"{named(record, identity)}{fault}",
                f"the form is in metricpact/bridges/evidence/schemas/{schema}.schema.json{hint}",
                source=name,
                line=record.line,
                query=identity_of(record, identity),
            )
    return listed


def named(record: Record, identity: str) -> str:
    """``task 'x': `` where the record has that name, else nothing."""
    name = identity_of(record, identity)
    return f"{identity} {name!r}: " if name else ""


def identity_of(record: Record, identity: str) -> str | None:
    """The record's name, where it is text that is not empty."""
    value = record.value.get(identity) if isinstance(record.value, Mapping) else None
    return value if isinstance(value, str) and value else None


def csv_records(source: Source) -> list[Record]:
    """The rows of a CSV file with a header, an empty cell as None; the line is where the row ends."""
    reader = csv.reader(io.StringIO(source.text(), newline=""), strict=True)
    try:
        header = [name.strip() for name in next(reader)]
        repeated = {name for name in header if header.count(name) > 1}
        if repeated:
            raise source.error(f"the header names {sorted(repeated)[0]!r} twice", "name every column once", 1)
        records = []
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if len(row) != len(header):
                raise source.error(
                    f"has {len(row)} cells, the header {len(header)}", "quote cells with commas", reader.line_num
                )
            cells = {name: cell or None for name, cell in zip(header, row, strict=True)}
            records.append(Record(reader.line_num, cells))
    except csv.Error as error:
        raise source.error(f"is not CSV: {error}", "quote cells with commas or quotes", reader.line_num) from error
    if not records:
        raise source.error("holds a header and no row", "give at least one row")
    return records


def _lines_or_object(source: Source, text: str) -> Iterator[Record]:
    """One JSON value a line; or, where the first line is none, one value for the whole text."""
    lines = text.split("\n")
    first = next(number for number, line in enumerate(lines) if line.strip())
    whole = not _is_json(lines[first]) and _is_json(text)
    if whole:
        yield Record(first + 1, _load(source, text, 1))
        return
    for number, line in enumerate(lines, 1):
        if line.strip(" \t\r"):
            yield Record(number, _load(source, line, number))


def _array(source: Source, text: str) -> Iterator[Record]:
    """The elements of a JSON array, each with the line on which it begins."""
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse_constant)
    start = text.index("[") + 1
    line = text.count("\n", 0, start) + 1
    place = start
    while True:
        begin = _after_blanks(text, place)
        line += text.count("\n", place, begin)
        if text[begin : begin + 1] == "]" and place == start:
            end = begin
            break
        value, end = _decode(source, decoder, text, begin, line)
        yield Record(line, value)
        after = _after_blanks(text, end)
        line += text.count("\n", begin, after)
        if text[after : after + 1] == ",":
            place = after + 1
            continue
        if text[after : after + 1] != "]":
            raise source.error("is not JSON: a comma or ] is missing", "check the end of the record before", line)
        end = after
        break
    if text[end + 1 :].strip():
        raise source.error("is not JSON: something follows the array", "give one array", line)


def _decode(source: Source, decoder: json.JSONDecoder, text: str, begin: int, line: int) -> tuple[Any, int]:
    try:
        return decoder.raw_decode(text, begin)
    except json.JSONDecodeError as error:
        raise source.error(f"is not JSON: {error.msg}", _JSON, error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise source.error(f"is not JSON: {error}", _JSON, line) from error


def _load(source: Source, text: str, line: int) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise source.error(f"is not JSON: {error.msg}", _JSON, line + error.lineno - 1) from error
    except (ValueError, RecursionError) as error:
        raise source.error(f"is not JSON: {error}", _JSON, line) from error


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; of a key that stands twice one value would be lost in silence."""
    made = dict(pairs)
    if len(made) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} stands twice in one object")
    return made


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _after_blanks(text: str, place: int) -> int:
    found = _BLANK.match(text, place)
    return found.end() if found else place


def _refuse_surrogates(source: Source, record: Record) -> None:
    try:
        json.dumps(record.value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise source.error(
            "holds text that is not valid Unicode (a lone surrogate)", "write the character itself", record.line
        ) from error
