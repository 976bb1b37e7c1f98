"""Inventories from JSON lines, JSON, or Python objects."""

from __future__ import annotations

import os
from typing import Any

import polars as pl
from metricpact.bridges.evidence.documents import checked, digest_of, json_records, object_records, read_source
from metricpact.bridges.evidence.tasks import whole
from metricpact.contracts.errors import InputError
from metricpact.contracts.evidence.tables import Inventory, check_inventory

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
    with file, line and document.
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
        if content is not None and length not in (None, len(content)):
            raise InputError(
                f"document {value['document']!r}: the length is {length}, the text has {len(content)} characters",
                "leave the length out where the text is given",
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
