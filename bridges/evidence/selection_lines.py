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

# A value of another type than its key has, and escapes that are no characters by themselves.
_DOUBTFUL = re.compile(
    rb'"(?:task|document|source|unit|revision|text)"\s*:\s*[^"n\s]|"(?:start|end)"\s*:\s*[^0-9n\s]|\\u[dD][89a-fA-F]'
)


def read_clean_lines(source: Source) -> Selection | None:
    """The selection in a clean file of JSON lines; None where the exact reader has to look."""
    if source.first != b"{" or _DOUBTFUL.search(source.data):
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
    """Whether every key stands in the bytes as often as it has values, nulls that are written out included."""
    values = {"task": frame["task"].count(), "units": frame.height} | {name: units[name].count() for name in types}
    for key, count in values.items():
        quoted = b'"' + key.encode() + b'"'
        found = data.count(quoted)
        if found != count and found - len(re.findall(quoted + rb"\s*:\s*null", data)) != count:
            return False
    return bool(values["document"] == units.height)


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
