"""Selections from clean JSON lines, read by columns: ten thousand packets of a hundred units in a second or two.

polars turns numbers into text where a column holds both, and keeps one of two equal keys, without a word. So what it
read is taken only if every value is of its own type and every key in the bytes is accounted for by one value;
anything else is left to the exact reader, which names the line.
"""

from __future__ import annotations

import io
import re

import polars as pl
from metricpact.bridges.evidence.documents import Source
from metricpact.bridges.evidence.shape import schema
from metricpact.contracts.evidence.tables import OFFSETS, UNIT, UNIT_FIELDS, Selection

# An escape that is half of a character.
_LONE_SURROGATE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F]"
)


def read_clean_lines(source: Source) -> Selection | None:
    """The selection in a clean file of JSON lines; None where the exact reader has to look."""
    if source.first != b"{" or (b"\\u" in source.data and _LONE_SURROGATE.search(source.data)):
        return None
    try:
        frame = pl.read_ndjson(io.BytesIO(source.data), infer_schema_length=None)
    except Exception:  # whatever it is, the exact reader tells it with its line
        return None
    types = _unit_types(frame)
    if types is None:
        return None
    lines = [number for number, line in enumerate(source.data.split(b"\n"), 1) if line.strip()]
    if len(lines) != frame.height:
        return None
    packets = frame.with_columns(pl.Series("line", lines, dtype=pl.Int64))
    units = packets.filter(pl.col("units").list.len() > 0).explode("units").unnest("units")
    if not (_all_accounted(source.data, frame, units, types) and _within_limits(units, types)):
        return None
    missing = [pl.lit(None, dtype=UNIT[name]).alias(name) for name in UNIT_FIELDS if name not in types]
    return Selection(source.name, units.with_columns(missing).select(*UNIT), frame["task"], sha256=source.sha256)


def _unit_types(frame: pl.DataFrame) -> dict[str, pl.DataType] | None:
    """The types of the units' keys, if all keys and types are what they have to be and no task is there twice."""
    kind = frame.schema.get("units")
    if set(frame.columns) != {"task", "units"} or frame.schema["task"] != pl.String:
        return None
    if not isinstance(kind, pl.List) or not isinstance(kind.inner, pl.Struct) or frame["units"].null_count():
        return None
    if not frame["task"].is_unique().all() or (frame["task"] == "").any():
        return None
    types: dict[str, pl.DataType] = {field.name: field.dtype for field in kind.inner.fields}  # type: ignore[misc]
    fine = all(name in UNIT_FIELDS and types[name] == UNIT[name] for name in types)
    return types if fine and "document" in types and ("start" in types) == ("end" in types) else None


def _all_accounted(data: bytes, frame: pl.DataFrame, units: pl.DataFrame, types: dict[str, pl.DataType]) -> bool:
    """Whether there are as many keys in the bytes as values of the right type, and nulls that are written out.

    A key that stands twice, and a number where text is meant, leave one over.
    """
    texts = frame["task"].count() + sum(units[name].count() for name in types if name not in OFFSETS)
    values = texts + frame.height + sum(units[name].count() for name in OFFSETS if name in types)
    keys = data.count(b'":')
    if units["document"].null_count() or (keys != values and keys - _begin(data, b"null") != values):
        return False
    return _begin(data, b'"') == texts and not ("start" in types and (_begin(data, b"t") or _begin(data, b"f")))


def _begin(data: bytes, value: bytes) -> int:
    """How many values begin so, with a blank before them or none."""
    return data.count(b'":' + value) + data.count(b'": ' + value)


def _within_limits(units: pl.DataFrame, types: dict[str, pl.DataType]) -> bool:
    """Whether values keep to the least and greatest that the schema allows."""
    limits = schema("selection")["$defs"]["unit"]["properties"]
    for name in types:
        column, limit = units[name], limits[name]
        if name in OFFSETS:
            outside = (column < limit["minimum"]) | (column > limit["maximum"])
        else:
            outside = column.str.len_bytes() < limit.get("minLength", 0)
        if outside.any():
            return False
    return True
