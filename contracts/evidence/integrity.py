"""Reference integrity and eligibility: what the inventory says about units and anchors, before anything is covered.

A relevance label cannot validate a fabricated reference, restore a revoked revision or make restricted evidence
eligible (the chapter, "Cover the obligation, not merely a label"). A reference without a revision means the current
one. The first reason that applies is the one that is told, in the order of ``REASONS``.
"""

from __future__ import annotations

import hashlib

import polars as pl
from metricpact.contracts.evidence.tables import DOCUMENT, Inventory, Tasks

REASONS = {
    "fabricated": "no such document, revision or span in the inventory",
    "revoked": "the document or the revision was withdrawn",
    "stale": "not the current revision",
    "restricted": "the document may not be used as evidence here",
    "altered": "the text is not what the inventory has there",
}
"""Why a unit is refused, in the order in which it is asked."""


def examine(references: pl.DataFrame, inventory: Inventory) -> pl.DataFrame:
    """The references (source, document, revision, start, end, text …) with ``refusal`` (a key of ``REASONS``, or null
    for an eligible one) and ``text_checked`` (the text was compared)."""
    known = inventory.documents.select(
        *DOCUMENT,
        pl.col("revision").alias("current"),
        "revisions",
        "revoked_revisions",
        "revoked",
        "restricted",
        "length",
        pl.col("text").alias("full_text"),
        pl.col("sha256").alias("digest"),
        pl.lit(value=True).alias("known"),
    )
    spans = inventory.spans.rename({"sha256": "span_digest"}).unique([*DOCUMENT, "start", "end"])
    joined = references.join(known, on=DOCUMENT, how="left", nulls_equal=True, maintain_order="left").join(
        spans, on=[*DOCUMENT, "start", "end"], how="left", nulls_equal=True, maintain_order="left"
    )
    revision, current = pl.col("revision"), pl.col("current")
    is_current = revision.is_null() | (revision == current).fill_null(value=False)
    revoked = pl.col("revoked") | revision.is_in(pl.col("revoked_revisions")).fill_null(value=False)
    listed = pl.col("revisions").is_null() | revision.is_in(pl.col("revisions"))
    no_revision = ~is_current & ~revoked & ~listed
    beyond = is_current & (pl.col("end") > pl.col("length")).fill_null(value=False)
    whole = pl.col("start").is_null()
    by_id = whole & pl.col("unit").is_not_null()
    at_place = (
        pl.when(whole)
        .then("full_text")
        .otherwise(pl.col("full_text").str.slice(pl.col("start"), pl.col("end") - pl.col("start")))
    )
    digest = pl.when(by_id).then(None).when(whole).then("digest").otherwise("span_digest")
    judged = joined.with_columns(at_place.alias("at_place"), digest.alias("wanted")).with_columns(
        pl.when(pl.col("at_place").is_null() & pl.col("wanted").is_not_null()).then("text").alias("to_hash")
    )
    judged = judged.with_columns(_hashed(judged["to_hash"]).alias("hashed"))
    # Where a unit stands that has only an id is not known; its text stands somewhere in the document.
    by_id_text = pl.when(by_id).then("text")
    same = (
        pl.when(pl.col("text").str.len_chars() != pl.col("end") - pl.col("start"))
        .then(statement=False)
        .when(by_id)
        .then(pl.col("full_text").str.contains(by_id_text, literal=True))
        .otherwise(pl.coalesce(pl.col("text") == pl.col("at_place"), pl.col("hashed") == pl.col("wanted")))
    )
    unknown = pl.col("known").is_null()
    refusal = (
        pl.when(unknown | no_revision | beyond)
        .then(pl.lit("fabricated"))
        .when(revoked)
        .then(pl.lit("revoked"))
        .when(~is_current)
        .then(pl.lit("stale"))
        .when("restricted")
        .then(pl.lit("restricted"))
        .when(~same)
        .then(pl.lit("altered"))
    )
    return judged.select(
        *references.columns,
        refusal.alias("refusal"),
        (same.is_not_null() & is_current & ~unknown).alias("text_checked"),
    )


def examine_anchors(tasks: Tasks, inventory: Inventory) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The examined anchors, and the examined anchors of the conflict rules.

    Raises ``InputError`` where one is fabricated or altered: then the task, not the selection, is at fault. What the
    inventory does not have is declared absent, not quoted.
    """
    examined = (examine(tasks.anchors, inventory), examine(tasks.oppositions, inventory))
    for frame in examined:
        for row in frame.filter(pl.col("refusal").is_in(["fabricated", "altered"])).head(1).iter_rows(named=True):
            raise tasks.error(
                row["task"],
                f"an anchor in document {row['document']!r} is {row['refusal']}: {REASONS[row['refusal']]}",
                f"correct the anchor or the inventory ({inventory.name}); "
                "a component that no source states is declared absent",
                document=row["document"],
            )
    return examined


def lengths(inventory: Inventory) -> pl.DataFrame:
    """How long the current revisions are, where that is known: source, document, revision, length."""
    return inventory.documents.select(*DOCUMENT, "revision", "length").filter(pl.col("length").is_not_null())


def _hashed(texts: pl.Series) -> pl.Series:
    """SHA-256 (hex) of the UTF-8 of each text; every distinct text is hashed once."""
    distinct = texts.drop_nulls().unique()
    digests = pl.Series([hashlib.sha256(text.encode()).hexdigest() for text in distinct], dtype=pl.String)
    table = pl.DataFrame({"text": distinct, "digest": digests}, schema={"text": pl.String, "digest": pl.String})
    return texts.to_frame("text").join(table, on="text", how="left", maintain_order="left")["digest"]
