"""BEIR: qrels of three tab-separated columns with or without a header, and the folders that hold them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from metricpact.bridges.sources.lines import Layout, first_fields, read_lines
from metricpact.bridges.sources.streams import Stream
from metricpact.bridges.sources.trec import judgments_from
from metricpact.contracts.errors import InputError
from metricpact.contracts.tables import Judgments

QRELS = Layout("BEIR qrels file", {"query": "id", "document": "id", "grade": "number"}, separator=b"\t")
_HEADER = (
    {b"query-id", b"query_id", b"qid", b"query"},
    {b"corpus-id", b"corpus_id", b"doc-id", b"doc_id", b"docid", b"docno"},
    {b"score", b"relevance", b"label", b"rel", b"grade"},
)


def read_beir_qrels(stream: Stream, slices: Iterator[bytes], head: bytes) -> Judgments:
    """Judgments from a BEIR TSV; raises ``InputError`` with the line at fault."""
    _, fields, line = first_fields(head)
    return judgments_from(read_lines(stream, slices, QRELS, line if is_header(fields) else 0), stream)


def is_header(fields: list[bytes]) -> bool:
    """Whether the fields are a BEIR header (under any of its usual names)."""
    return len(fields) == len(_HEADER) and all(
        field.strip().lower() in names for field, names in zip(fields, _HEADER, strict=True)
    )


def qrels_in_folder(folder: Path, split: str) -> Path:
    """The qrels file of a split in a BEIR folder; raises ``InputError`` where there is none."""
    held = folder / "qrels"
    if not held.is_dir():
        raise InputError(
            "this folder is no BEIR folder: it has no folder qrels",
            "name a qrels file, or a folder that holds qrels/test.tsv",
            source=str(folder),
        )
    path = held / f"{split}.tsv"
    if not path.is_file():
        splits = sorted(found.stem for found in held.glob("*.tsv"))
        hint = f"choose with --split: {', '.join(splits)}" if splits else "the folder qrels holds no .tsv file"
        raise InputError(f"there is no split {split!r}", hint, source=str(folder))
    return path
