"""Tables as text: columns between tabs or commas under a header, known by their names in any order.

Between tabs nothing is quoted: a quote belongs to an id. Between commas fields may be quoted as RFC 4180 says; a file
without any quote is read as fast as a TREC file. Blanks around a field belong to it, in the header alone they do not.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import numpy as np
import polars as pl
from metricpact.bridges.sources import columns
from metricpact.bridges.sources.layout import NUMBER, Layout
from metricpact.bridges.sources.lines import Columns, first_fields, read_lines
from metricpact.bridges.sources.streams import Opened
from metricpact.bridges.sources.trec import judgments_from, run_from
from metricpact.contracts.errors import InputError
from metricpact.contracts.tables import Ints, Judgments, Run

TAB, COMMA = b"\t", b","
_WORDS = {TAB: "TSV file", COMMA: "CSV file"}
_KINDS = {"query": "id", "document": "id", "grade": "number", "score": "number", "rank": "integer"}


def read_delimited_qrels(opened: Opened, separator: bytes) -> Judgments:
    """Judgments from a table with a query, a document and a grade column; raises ``InputError`` with the line."""
    return judgments_from(_read(opened, separator, columns.JUDGMENTS), opened.stream)


def read_delimited_run(opened: Opened, separator: bytes) -> Run:
    """A run from a table with a query and a document column, and score and rank where it has them."""
    return run_from(_read(opened, separator, columns.RUN), opened.stream)


def csv_rows(data: bytes, name: str, separator: str = ",") -> Iterator[tuple[int, list[str]]]:
    """The lines and fields of a file that may hold quotes; the line is the one that a row begins on.

    Raises ``InputError`` for what is not UTF-8, and for a quote that is not closed or stands inside a field.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            "is not UTF-8",
            "convert the file, for example: iconv -f latin1 -t utf-8",
            source=name,
            line=data.count(b"\n", 0, error.start) + 1,
        ) from error
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    line = 1
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"is no CSV: {error}", "quote a field as a whole, and double a quote in it", source=name, line=line
        ) from error


def _read(opened: Opened, separator: bytes, wanted: columns.Wanted) -> Columns:
    name, word = opened.stream.name, _WORDS[separator]
    _, tabs, line = first_fields(opened.head)
    fields = b"\t".join(tabs).split(separator)
    names = [_header_name(field, name, line) for field in fields]
    found = columns.meanings(names, wanted, name, line)
    meaning = {column: kind for kind, column in found.items()}
    # Every column has a name of its own in the layout; those without a meaning are skipped.
    places = [meaning.get(column, f"column {place}") for place, column in enumerate(names, 1)]
    layout = Layout(word, {key: _KINDS.get(key, "skip") for key in places}, separator=separator)
    if separator == TAB:
        return read_lines(opened.stream, opened.slices, layout, line)
    data = opened.data()
    if b'"' not in data:
        return read_lines(opened.stream, iter([data]), layout, line)
    return _quoted(data, layout, line, name)


def _header_name(field: bytes, name: str, line: int) -> str:
    try:
        return field.decode("utf-8").strip().strip('"').strip()
    except UnicodeDecodeError as error:
        raise InputError("the header is not UTF-8", "write the header in UTF-8", source=name, line=line) from error


def _quoted(data: bytes, layout: Layout, header: int, name: str) -> Columns:
    """The rows of a CSV file with quotes, whose fields may hold commas and line ends."""
    kept = [(place, column, kind) for place, (column, kind) in enumerate(layout.columns.items()) if kind != "skip"]
    values: list[list[str]] = [[] for _ in kept]
    lines: list[int] = []
    for line, row in csv_rows(data, name):
        if line <= header:
            continue
        if len(row) != len(layout.columns):
            raise InputError(
                f"{len(row)} columns where the header has {len(layout.columns)}",
                f"a line reads: {layout.shape}",
                source=name,
                line=line,
            )
        lines.append(line)
        for column, (place, _, _) in zip(values, kept, strict=True):
            column.append(row[place])
    if not lines:
        raise InputError("there is a header and no row", "name a file that holds rows", source=name)
    numbers = np.array(lines, np.int64)
    series = [
        _typed(pl.Series(column, texts), kind, numbers, name)
        for (_, column, kind), texts in zip(kept, values, strict=True)
    ]
    columns_ = Columns()
    columns_.add(pl.DataFrame(series), numbers)
    return columns_


def _typed(texts: pl.Series, kind: str, lines: Ints, name: str) -> pl.Series:
    """A column of text as what it stands for; raises ``InputError`` with the line."""
    pattern = {"id": r"(?s)^.+$", "integer": r"^[+-]?[0-9]{1,18}$", "number": NUMBER.pattern.decode()}[kind]
    fits = texts.str.contains(rf"^(?:{pattern})$")
    if kind == "integer":
        return texts.cast(pl.Int64) if fits.all() else texts
    values = texts if kind == "id" else texts.set(~fits, "0").cast(pl.Float64)
    good = fits if kind == "id" else fits & values.is_finite()
    if not good.all():
        at = int(np.flatnonzero(~good.to_numpy())[0])
        what = f"the {texts.name} id is empty" if kind == "id" else f"{texts.name} {texts[at]!r} is not a finite number"
        raise InputError(what, "every row has a query, a document and finite numbers", source=name, line=int(lines[at]))
    return values
