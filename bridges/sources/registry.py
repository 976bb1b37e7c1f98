"""The formats of judgments and runs: what each is called, what it answers to, and what reads it.

``detect`` asks all of them about the first line (or the first bytes) of an input; where two answer, the input can be
read in two ways, and that is an error. A name decides only what an input is taken for that no format answers to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from metricpact.bridges.sources.columns import is_header
from metricpact.bridges.sources.compression import SUFFIXES
from metricpact.bridges.sources.lines import first_fields
from metricpact.bridges.sources.streams import ARROW, ARROW_STREAM, PARQUET, Opened, is_binary, is_json
from metricpact.contracts.errors import InputError
from metricpact.contracts.tables import Judgments, Run

QRELS, RUN = "qrels", "run"
_LONGEST_RECORD = 1 << 20
KNOWN_ITEM_COLUMNS = ("query_id", "expected_id", "ranked_ids")


@dataclass(frozen=True)
class Peek:
    """What the start of an input shows; fields are those of its first line that holds something."""

    head: bytes
    blanks: list[bytes] = field(default_factory=list)
    tabs: list[bytes] = field(default_factory=list)
    line: int = 0

    @cached_property
    def shown(self) -> str:
        """``binary``, ``json``, ``jsonl``, ``known-item``, a header (``beir``, ``tsv``, ``csv``), or ``rows``."""
        if is_binary(self.head):
            return "binary"
        if is_json(self.head):
            return "jsonl" if _is_record(self.head) else "json"
        tabs = _text(self.tabs)
        commas = _text(b"\t".join(self.tabs).split(b","))
        if set(KNOWN_ITEM_COLUMNS) <= {name.lower() for name in commas}:
            return "known-item"
        if is_header(tabs):
            return "beir" if len(tabs) == 3 else "tsv"
        return "csv" if is_header(commas) else "rows"


@dataclass(frozen=True)
class Format:
    """One format: ``answers`` says for qrels or a run whether the start of an input is its own."""

    name: str
    summary: str
    answers: Callable[[Peek, str], bool]
    suffixes: tuple[str, ...] = ()
    read_qrels: Callable[[Opened], Judgments] | None = None
    read_run: Callable[[Opened], Run] | None = None

    def reads(self, kind: str) -> bool:
        """Whether there is a reader of qrels, or of runs."""
        return (self.read_qrels if kind == QRELS else self.read_run) is not None


def peek(opened: Opened) -> Peek:
    """What the start of an input shows."""
    if is_binary(opened.head):
        return Peek(opened.head)
    blanks, tabs, line = first_fields(opened.head)
    return Peek(opened.head, blanks, tabs, line)


def detect(opened: Opened, kind: str, *, in_folder: bool = False) -> Format:
    """The format of an input; raises ``InputError`` with the choices for one that can be read in two ways.

    ``kind`` is ``QRELS`` or ``RUN``. In a BEIR folder four columns are no qrels file without a word.
    """
    seen = peek(opened)
    found = [format_ for format_ in FORMATS.values() if format_.reads(kind) and format_.answers(seen, kind)]
    if in_folder and [format_.name for format_ in found] == ["trec"]:
        same = " (the second and third are the same)" if seen.blanks[1] == seen.blanks[2] else ""
        raise InputError(
            f"4 columns where a BEIR qrels file has 3{same}",
            "if they are query, anything, document and grade: --format trec",
            source=opened.stream.name,
            line=seen.line,
        )
    if len(found) > 1:
        raise InputError(
            f"{len(seen.blanks)} columns with blanks, {len(seen.tabs)} with tabs: this can be read as "
            f"{' or '.join(format_.name for format_ in found)}",
            " or ".join(f"--format {format_.name}" for format_ in found),
            source=opened.stream.name,
            line=seen.line,
        )
    if found:
        return found[0]
    named = None if in_folder or is_binary(opened.head) else by_name(opened.stream.name)
    return named if named and named.reads(kind) else FORMATS["beir" if in_folder else "trec"]


def by_name(name: str) -> Format | None:
    """The format that a file's name stands for (``run.csv.gz`` is CSV), or None."""
    plain = name.lower()
    for suffix in SUFFIXES:
        plain = plain.removesuffix(suffix)
    return next((format_ for format_ in FORMATS.values() if plain.endswith(format_.suffixes or ("\0",))), None)


def get_format(name: str, kind: str) -> Format:
    """A format by name; raises ``InputError`` with the choices."""
    choices = [format_.name for format_ in FORMATS.values() if format_.reads(kind)]
    if name not in FORMATS:
        raise InputError(f"{name!r} is not a format", f"choose from: {', '.join(FORMATS)}")
    if name not in choices:
        other = "runs" if kind == RUN else "judgments"
        raise InputError(f"the format {name} has no {other}", f"choose from: {', '.join(choices)}")
    return FORMATS[name]


def _text(fields: list[bytes]) -> list[str]:
    return [name.decode("utf-8", "replace").strip().strip('"') for name in fields]


def _is_record(head: bytes) -> bool:
    """Whether the first line is a whole JSON object, with another one below it or keys that name columns."""
    import json

    line, _, below = head.lstrip().partition(b"\n")
    if len(line) > _LONGEST_RECORD:
        return False
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return False
    plain = not any(isinstance(value, dict | list) for value in row.values())
    return below.lstrip()[:1] == b"{" or (is_header(list(row)) and plain)


def _trec_qrels(opened: Opened) -> Judgments:
    from metricpact.bridges.sources.trec import read_trec_qrels

    return read_trec_qrels(opened.stream, opened.slices)


def _trec_run(opened: Opened) -> Run:
    from metricpact.bridges.sources.trec import RUN as LAYOUT
    from metricpact.bridges.sources.trec import read_trec_run

    fields = first_fields(opened.head)[0]
    tag = fields[5].decode("utf-8", "replace") if len(fields) == len(LAYOUT.columns) else None
    return read_trec_run(opened.stream, opened.slices, tag)


def _beir_qrels(opened: Opened) -> Judgments:
    from metricpact.bridges.sources.beir import read_beir_qrels

    return read_beir_qrels(opened)


def _msmarco_run(opened: Opened) -> Run:
    from metricpact.bridges.sources.msmarco import read_msmarco_run

    return read_msmarco_run(opened)


def _json_qrels(opened: Opened) -> Judgments:
    from metricpact.bridges.sources.json_file import read_json_qrels

    return read_json_qrels(opened.stream, opened.data())


def _json_run(opened: Opened) -> Run:
    from metricpact.bridges.sources.json_file import read_json_run

    return read_json_run(opened.stream, opened.data())


def _jsonl_qrels(opened: Opened) -> Judgments:
    from metricpact.bridges.sources.json_lines import read_jsonl_qrels

    return read_jsonl_qrels(opened)


def _jsonl_run(opened: Opened) -> Run:
    from metricpact.bridges.sources.json_lines import read_jsonl_run

    return read_jsonl_run(opened)


def _tsv_qrels(opened: Opened) -> Judgments:
    from metricpact.bridges.sources.delimited import TAB, read_delimited_qrels

    return read_delimited_qrels(opened, TAB)


def _tsv_run(opened: Opened) -> Run:
    from metricpact.bridges.sources.delimited import TAB, read_delimited_run

    return read_delimited_run(opened, TAB)


def _csv_qrels(opened: Opened) -> Judgments:
    from metricpact.bridges.sources.delimited import COMMA, read_delimited_qrels

    return read_delimited_qrels(opened, COMMA)


def _csv_run(opened: Opened) -> Run:
    from metricpact.bridges.sources.delimited import COMMA, read_delimited_run

    return read_delimited_run(opened, COMMA)


def _known_item_qrels(opened: Opened) -> Judgments:
    from metricpact.bridges.sources.known_item import read_known_item_qrels

    return read_known_item_qrels(opened)


def _known_item_run(opened: Opened) -> Run:
    from metricpact.bridges.sources.known_item import read_known_item_run

    return read_known_item_run(opened)


def _arrow_qrels(opened: Opened) -> Judgments:
    from metricpact.bridges.sources.arrow_files import read_arrow_qrels

    return read_arrow_qrels(opened)


def _arrow_run(opened: Opened) -> Run:
    from metricpact.bridges.sources.arrow_files import read_arrow_run

    return read_arrow_run(opened)


def _ranx_qrels(opened: Opened) -> Judgments:
    from metricpact.bridges.sources.ranx_file import read_ranx_file_qrels

    return read_ranx_file_qrels(opened)


def _ranx_run(opened: Opened) -> Run:
    from metricpact.bridges.sources.ranx_file import read_ranx_file_run

    return read_ranx_file_run(opened)


def _rows_of(seen: Peek, *counts: int) -> bool:
    return seen.shown == "rows" and len(seen.blanks) in counts


FORMATS: dict[str, Format] = {
    format_.name: format_
    for format_ in (
        Format(
            "trec",
            "qrels of four columns (query, iteration, document, grade); runs of six, or five without a tag",
            lambda seen, kind: _rows_of(seen, *((4,) if kind == QRELS else (5, 6))),
            (),
            _trec_qrels,
            _trec_run,
        ),
        Format(
            "msmarco",
            "runs of three columns (query, document, rank from 1 on); qrels as trec",
            lambda seen, kind: kind == RUN and _rows_of(seen, 3),
            (),
            _trec_qrels,
            _msmarco_run,
        ),
        Format(
            "beir",
            "qrels of three columns between tabs, with a header or without; a folder that holds them",
            lambda seen, kind: (
                kind == QRELS and (seen.shown == "beir" or (seen.shown == "rows" and len(seen.tabs) == 3))
            ),
            (),
            _beir_qrels,
        ),
        Format(
            "tsv",
            "columns between tabs under a header; nothing is quoted",
            lambda seen, kind: seen.shown == "tsv" or (kind == RUN and seen.shown == "beir"),
            (".tsv", ".tab"),
            _tsv_qrels,
            _tsv_run,
        ),
        Format(
            "csv",
            "columns between commas under a header, quoted where need be",
            lambda seen, kind: seen.shown == "csv",
            (".csv",),
            _csv_qrels,
            _csv_run,
        ),
        Format(
            "known-item",
            "CSV with query_id, expected_id (NONE: no answer) and ranked_ids between semicolons; qrels and run in one",
            lambda seen, kind: seen.shown == "known-item",
            (),
            _known_item_qrels,
            _known_item_run,
        ),
        Format(
            "json",
            "an object of objects, query → document → number; ranx writes it; a run may list ids instead",
            lambda seen, kind: seen.shown == "json",
            (".json",),
            _json_qrels,
            _json_run,
        ),
        Format(
            "jsonl",
            "a JSON object a line and row, with columns as keys",
            lambda seen, kind: seen.shown == "jsonl",
            (".jsonl", ".ndjson"),
            _jsonl_qrels,
            _jsonl_run,
        ),
        Format(
            "parquet",
            "Parquet, one column a meaning",
            lambda seen, kind: seen.head.startswith(PARQUET),
            (".parquet", ".parq"),
            _arrow_qrels,
            _arrow_run,
        ),
        Format(
            "arrow",
            "Arrow IPC files (Feather 2) and streams, one column a meaning",
            lambda seen, kind: seen.head.startswith((ARROW, ARROW_STREAM)),
            (".arrow", ".feather", ".ipc", ".arrows"),
            _arrow_qrels,
            _arrow_run,
        ),
        Format(
            "ranx",
            "what ranx saves as .lz4 (CBOR)",
            lambda seen, kind: seen.shown == "binary" and not seen.head.startswith((PARQUET, ARROW, ARROW_STREAM)),
            (),
            _ranx_qrels,
            _ranx_run,
        ),
    )
}
"""Every format by name."""
