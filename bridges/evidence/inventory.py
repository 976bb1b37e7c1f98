"""Inventories from JSON lines, JSON, or Python objects."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Any

import polars as pl
from metricpact.bridges.evidence.documents import checked, digest_of, json_records, object_records, read_source
from metricpact.bridges.evidence.tasks import whole
from metricpact.contracts.errors import InputError
from metricpact.contracts.evidence.tables import SPAN_HINT, Inventory, check_inventory

_HINT = 'a line reads {"document": …, "revision": …, "restricted": false, "text": …}'
_DOCUMENT: dict[str, Any] = {
    "line": pl.Int64,
    "source": pl.String,
    "document": pl.String,
    "revision": pl.String,
    "revisions": pl.List(pl.String),
    "revoked_revisions": pl.List(pl.String),
    "revoked": pl.Boolean,
    "restricted": pl.Boolean,
    "length": pl.Int64,
    "text": pl.String,
    "sha256": pl.String,
}
_SPAN = {"source": pl.String, "document": pl.String, "start": pl.Int64, "end": pl.Int64, "sha256": pl.String}


def read_inventory(source: Any) -> Inventory:
    """An inventory from a path (JSON lines or JSON; ``-`` is standard input) or dicts.

    The current revision is one of ``revisions`` without being listed; a text says the length. Raises ``InputError``
    with file, line and document, also for lengths and hashes that contradict the text or one another.
    """
    if isinstance(source, Inventory):
        return source
    if isinstance(source, str | os.PathLike):
        text = read_source(source)
        if text.first not in (b"{", b"["):
            raise text.error("is no inventory: it is not JSON", _HINT)
        name, digest, records = text.name, text.sha256, json_records(text)
    else:
        name, records = "inventory", object_records(source, "inventory")
        digest = digest_of(records)
    documents, spans = [], []
    for record in checked(records, "inventory", name, "document"):
        value = record.value
        revision, length, content = value.get("revision"), whole(value.get("length")), value.get("text")
        fault = _contradiction(value)
        if fault is not None:
            raise InputError(
                f"document {value['document']!r}: {fault[0]}",
                fault[1],
                source=name,
                line=record.line,
                document=value["document"],
            )
        listed = value.get("revisions")
        documents.append(
            (
                record.line,
                value.get("source"),
                value["document"],
                revision,
                [*listed, *([revision] if revision else [])] if listed is not None else None,
                value.get("revoked_revisions", []),
                value.get("revoked", False),
                value.get("restricted", False),
                length if content is None else len(content),
                content,
                value.get("sha256"),
            )
        )
        spans += [
            (value.get("source"), value["document"], whole(span["start"]), whole(span["end"]), span["sha256"])
            for span in value.get("spans", ())
        ]
    if not documents:
        raise InputError("the inventory holds no document", _HINT, source=name)
    return check_inventory(
        Inventory(
            name,
            pl.DataFrame(documents, _DOCUMENT, orient="row"),
            pl.DataFrame(spans, _SPAN, orient="row"),
            digest,
        )
    )


def _contradiction(value: Mapping[str, Any]) -> tuple[str, str] | None:
    """What a document says against itself, as fact and hint; None where it says nothing of the kind."""
    text, length = value.get("text"), whole(value.get("length"))
    if text is not None:
        if length not in (None, len(text)):
            fact = f"the length is {length}, the text has {len(text)} characters"
            return fact, "leave the length out where the text is given"
        if value.get("sha256") not in (None, _sha256(text)):
            return "sha256 is not that of the text", "leave the hash out where the text is given"
        length = len(text)
    hashes: dict[tuple[int, int], str] = {}
    for span in value.get("spans", ()):
        start, end = int(span["start"]), int(span["end"])
        named = f"the span [{start}, {end})"
        if end <= start or (length is not None and end > length):
            return f"{named} is not in the document", SPAN_HINT
        if hashes.setdefault((start, end), span["sha256"]) != span["sha256"]:
            return f"{named} has two hashes", "give every span once"
        if text is not None and span["sha256"] != _sha256(text[start:end]):
            return f"the hash of {named} is not that of the text there", "leave the spans out where the text is given"
    return None


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
