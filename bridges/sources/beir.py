"""BEIR: qrels of three tab-separated columns with or without a header, and the folders that hold them.

Folders are taken as they are found: BEIR's own layout (``qrels/test.tsv``), and that of Hugging Face data sets as
local files (Parquet or JSON lines, in one or several shards). What is odd in one is told in notes, never guessed.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import polars as pl
from metricpact.bridges.sources import columns
from metricpact.bridges.sources.delimited import TAB, read_delimited_qrels
from metricpact.bridges.sources.layout import Layout
from metricpact.bridges.sources.lines import first_fields, read_lines
from metricpact.bridges.sources.streams import Opened
from metricpact.bridges.sources.trec import judgments_from
from metricpact.contracts.errors import InputError
from metricpact.contracts.tables import Judgments, Origin

QRELS = Layout("BEIR qrels file", {"query": "id", "document": "id", "grade": "number"}, separator=b"\t")
NO_HEADER = "has no header line: its first line is read as a judgment, which BEIR's own loader drops"
_PLACES = (("qrels", ".tsv"), ("qrels", ".jsonl"), ("qrels", ".parquet"), ("default", ".parquet"), ("data", ".parquet"))
"""The folders that may hold judgments, and how their names end; first BEIR's own."""
_QUERIES = ("queries.jsonl", "queries/*.parquet")
"""Where the queries may be listed, in a column ``_id``."""
_SHARD = re.compile(r"-\d+-of-(\d+)$")


def read_beir_qrels(opened: Opened) -> Judgments:
    """Judgments from a BEIR TSV; raises ``InputError`` with the line at fault."""
    _, fields, _ = first_fields(opened.head)
    if columns.is_header([field.decode("utf-8", "replace") for field in fields]):
        return read_delimited_qrels(opened, TAB)
    return judgments_from(read_lines(opened.stream, opened.slices, QRELS), opened.stream)


def qrels_in_folder(folder: Path, split: str) -> list[Path]:
    """The files of a split's judgments.

    Raises ``InputError`` where there are none, where two places hold some, and where a shard is missing.
    """
    places = {place: _splits(folder, *place) for place in _PLACES}
    held = [splits[split] for splits in places.values() if split in splits]
    if len(held) > 1:
        raise InputError(
            f"the judgments of split {split!r} lie in {len(held)} places: "
            f"{', '.join(str(files[0].relative_to(folder)) for files in held)}",
            "name the file itself",
            source=str(folder),
            code="cannot-open",
        )
    if held:
        _check_whole(held[0], split, folder)
        return held[0]
    splits = sorted({name for found in places.values() for name in found})
    if not splits and not (folder / "qrels").is_dir():
        raise InputError(
            "this folder is no BEIR folder: it has no folder qrels",
            "name a qrels file, or a folder that holds qrels/test.tsv",
            source=str(folder),
            code="cannot-open",
        )
    hint = f"choose with --split: {', '.join(splits)}" if splits else "the folder qrels holds no .tsv file"
    raise InputError(f"there is no split {split!r}", hint, source=str(folder), code="cannot-open")


def _splits(folder: Path, place: str, suffix: str) -> dict[str, list[Path]]:
    """Split → its files in one place: ``test.tsv``, shards as ``test-0-of-2.parquet``, or ``test/0000.parquet``."""
    found: dict[str, list[Path]] = {}
    for pattern in (f"*{suffix}", f"*/*{suffix}"):
        for path in sorted((folder / place).glob(pattern)):
            if path.name.startswith(".") or not path.is_file():
                continue
            split = path.parent.name if "/" in pattern else _SHARD.sub("", path.name.removesuffix(suffix))
            found.setdefault(split, []).append(path)
    return found


def _check_whole(files: list[Path], split: str, folder: Path) -> None:
    """Raise ``InputError`` where the shards are not as many as their names say: a part would pass for the whole."""
    told = {int(found[1]) for path in files if (found := _SHARD.search(path.stem))}
    if told and told != {len(files)}:
        named = " and ".join(map(str, sorted(told)))
        raise InputError(
            f"split {split!r} has {len(files)} files that are named as shards of {named}",
            "fetch all shards of one kind, or name one of the files itself",
            source=str(folder),
        )


def joined(parts: list[Judgments], folder: Path) -> Judgments:
    """The judgments of several shards as one; their hash is that of the shards' hashes, one a line."""
    if len(parts) == 1:
        return parts[0]
    rows = pl.concat([part.to_polars() for part in parts], how="vertical_relaxed")
    hashes = [part.origin.sha256 for part in parts]
    whole = None if None in hashes else hashlib.sha256("".join(f"{one}\n" for one in hashes).encode()).hexdigest()
    origin = Origin(str(folder), sha256=whole)
    return Judgments.from_blocks(rows["query_id"].rle(), rows["doc_id"], rows["grade"].to_numpy(), origin=origin)


def notes_on_folder(folder: Path, judgments: Judgments) -> list[str]:
    """What is odd about the queries of a BEIR folder: judged ones that its list of queries does not have."""
    files = [path for pattern in _QUERIES for path in sorted(folder.glob(pattern))]
    if not files:
        return []
    name = str(files[0].relative_to(folder))
    try:
        listed = pl.concat([_listed(path) for path in files])
    except (pl.exceptions.PolarsError, OSError):
        return [f"{name} cannot be read, so its queries were not compared with the judged ones"]
    absent = judgments.queries.filter(~judgments.queries.is_in(listed.implode()))
    if not len(absent):
        return []
    shown = ", ".join(absent[:5]) + (", …" if len(absent) > 5 else "")
    return [f"{len(absent)} of {len(judgments.queries)} judged queries are not in {name}: {shown}"]


def _listed(path: Path) -> pl.Series:
    """The ids of the queries in a file."""
    if path.suffix == ".jsonl":
        return pl.read_ndjson(path, schema={"_id": pl.String})["_id"]
    return pl.read_parquet(path, columns=["_id"])["_id"].cast(pl.String)
