"""The writers by name, and which of them a target's name stands for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from metricpact.bridges.sinks import beir, json_file, tables, trec
from metricpact.bridges.sources.compression import SUFFIXES
from metricpact.bridges.sources.registry import QRELS, by_name
from metricpact.contracts.errors import InputError

STANDARD = "-"
"""The target that stands for standard output."""
_TREC_SUFFIXES = (".txt", ".trec", ".qrels", ".qrel", ".run", ".res")


@dataclass(frozen=True)
class Sink:
    """One format to write: a function for judgments and one for runs, None where it has no such form."""

    name: str
    write_qrels: Callable[[Any, IO[bytes]], None]
    write_run: Callable[[Any, IO[bytes]], None] | None


SINKS: dict[str, Sink] = {
    sink.name: sink
    for sink in (
        Sink("trec", trec.write_qrels, trec.write_run),
        Sink("beir", beir.write_qrels, None),
        Sink("json", json_file.write_qrels, json_file.write_run),
        Sink("jsonl", tables.write_jsonl, tables.write_jsonl),
        Sink("tsv", tables.write_tsv, tables.write_tsv),
        Sink("csv", tables.write_csv, tables.write_csv),
        Sink("parquet", tables.write_parquet, tables.write_parquet),
        Sink("arrow", tables.write_arrow, tables.write_arrow),
    )
}
"""Every format that is written, by name."""


def sink_for(target: str, kind: str, name: str | None) -> Sink:
    """The writer that ``name`` or else the target's name stands for; raises ``InputError`` with the choices.

    ``kind`` is qrels or run. A name that ends in .tsv stands for BEIR where judgments are written.
    """
    choices = f"choose with --to: {', '.join(SINKS)}"
    chosen = name or _by_suffix(target, kind)
    if chosen is None:
        raise InputError(f"the name {target!r} does not say in which format to write", choices)
    if chosen not in SINKS:
        raise InputError(f"{chosen!r} is not a format that is written", choices)
    sink = SINKS[chosen]
    if kind != QRELS and sink.write_run is None:
        raise InputError(f"{chosen} has no format for runs", choices)
    return sink


def _by_suffix(target: str, kind: str) -> str | None:
    plain = target.lower()
    for suffix in SUFFIXES:
        plain = plain.removesuffix(suffix)
    if plain.endswith(_TREC_SUFFIXES):
        return "trec"
    if plain.endswith(".tsv") and kind == QRELS:
        return "beir"
    found = by_name(Path(plain).name)
    return found.name if found else None
