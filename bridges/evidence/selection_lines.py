"""Selections from clean JSON lines, read by columns: a million units in a few seconds.

polars writes other values as text where text is asked for, leaves out keys that it does not know, and keeps one of two
equal keys, without a word. So what it read is taken only if every key in the bytes is accounted for by one value of its
own type; anything else is left to the exact reader, which names the line.
"""

from __future__ import annotations

import io
import re

import polars as pl
from metricpact.bridges.evidence.documents import Source, json_records
from metricpact.bridges.evidence.shape import schema
from metricpact.contracts.errors import InputError
from metricpact.contracts.evidence.tables import OFFSETS, UNIT, UNIT_FIELDS, Selection

# Offsets as floats: some versions of polars cut 1.5 to 1 where an integer is asked for.
_TYPES = {name: pl.Float64 if name in OFFSETS else UNIT[name] for name in UNIT_FIELDS}
_PACKET = {"task": pl.String(), "units": pl.List(pl.Struct(_TYPES))}
# An escape that is half of a character.
_LONE_SURROGATE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F]"
)


def read_clean_lines(source: Source) -> Selection | None:
    """The selection in a clean file of JSON lines; None where the exact reader has to look."""
    if source.first != b"{" or (b"\\u" in source.data and _LONE_SURROGATE.search(source.data)):
        return None
    try:
        frame = pl.read_ndjson(io.BytesIO(source.data), schema=_PACKET)
    except (pl.exceptions.PolarsError, ValueError):  # the exact reader tells what it is, with its line
        return None
    lines = [number for number, line in enumerate(source.data.split(b"\n"), 1) if line.strip()]
    if len(lines) != frame.height or frame["units"].null_count() or not frame["task"].is_unique().all():
        return None
    packets = frame.with_columns(pl.Series("line", lines, dtype=pl.Int64))
    units = packets.filter(pl.col("units").list.len() > 0).explode("units").unnest("units").select(*UNIT)
    if not (_all_accounted(source, frame, units) and within_limits(units)) or (frame["task"] == "").any():
        return None
    whole = units.with_columns(pl.col(OFFSETS).cast(pl.Int64))
    return Selection(source.name, whole, frame["task"], sha256=source.sha256)


def _all_accounted(source: Source, frame: pl.DataFrame, units: pl.DataFrame) -> bool:
    """Whether there are as many keys in the bytes as values of the right type, and nulls that are written out.

    A key that stands twice or that is not known, and a number where text is meant, leave one over.
    """
    texts = frame["task"].count() + sum(units[name].count() for name in UNIT_FIELDS if name not in OFFSETS)
    values = texts + frame.height + sum(units[name].count() for name in OFFSETS)
    data = source.data
    keys = data.count(b'":')
    nulls = keys - values
    if units["document"].null_count() or (nulls and nulls != _begin(data, b"null")):
        return False
    if _begin(data, b'"') != texts or _begin(data, b"t") or _begin(data, b"f"):
        return False
    # A null that is written out may be the second of two equal keys, or of a key that nobody knows: only a parser that
    # sees all pairs can tell.
    return not nulls or _keys_are_fine(source)


def _keys_are_fine(source: Source) -> bool:
    """Whether every key stands once in its object and is one of the schema's."""
    try:
        records = json_records(source)
    except InputError:
        return False
    known = set(UNIT_FIELDS)
    return all(
        record.value.keys() == _PACKET.keys() and all(unit.keys() <= known for unit in record.value["units"])
        for record in records
    )


def _begin(data: bytes, value: bytes) -> int:
    """How many values begin so, with a blank before them or none."""
    return data.count(b'":' + value) + data.count(b'": ' + value)


def within_limits(units: pl.DataFrame) -> bool:
    """Whether values keep to the limits of the schema, offsets are whole, and spans have both ends."""
    limits = schema("selection")["$defs"]["unit"]["properties"]
    for name in UNIT_FIELDS:
        column, limit = units[name], limits[name]
        if name in OFFSETS:
            outside = (column < limit["minimum"]) | (column > limit["maximum"]) | (column != column.round())
        else:
            outside = column.str.len_bytes() < limit.get("minLength", 0)
        if outside.any():
            return False
    return bool((units["start"].is_null() == units["end"].is_null()).all())
