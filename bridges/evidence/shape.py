"""Whether a JSON value has the shape that a schema states, and where not: the shipped schemas are what is checked.

Of JSON Schema (draft 2020-12) this reads the keywords that ``schemas/*.json`` use; a test holds it against the
``jsonschema`` package, and refuses a schema that uses others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from importlib import resources
from typing import Any

KEYWORDS = frozenset(
    [
        "$schema",
        "$defs",
        "$ref",
        "title",
        "description",
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "minItems",
        "minLength",
        "minimum",
        "maximum",
        "enum",
        "pattern",
        "oneOf",
        "dependentRequired",
    ]
)
"""The keywords that are understood."""
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": (int, float),
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


@cache
def schema(name: str) -> dict[str, Any]:
    """A shipped schema by name: task, groups, selection, inventory, decision, endpoints, absence."""
    folder = resources.files("metricpact.bridges.evidence.schemas")
    loaded: dict[str, Any] = json.loads(folder.joinpath(f"{name}.schema.json").read_text(encoding="utf-8"))
    return loaded


def first_fault(name: str, value: Any) -> str | None:
    """What is wrong with a value under a shipped schema, with its path in the value; None where nothing is."""
    root = schema(name)
    return next(_faults(value, root, root.get("$defs", {}), ""), None)


def _faults(value: Any, schema: Mapping[str, Any], defs: Mapping[str, Any], path: str) -> Iterator[str]:
    """The faults of one value, each beginning with its path."""
    if "$ref" in schema:
        schema = defs[schema["$ref"].rpartition("/")[2]]
    here = path or "the record"
    kinds = schema.get("type", ())
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        yield f"{here} is {_kind(value)}, not {' or '.join(kind for kind in kinds if kind != 'null')}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{here} is {value!r}, not one of: {', '.join(schema['enum'])}"
    if isinstance(value, str):
        yield from _text_faults(value, schema, here)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _number_faults(value, schema, here)
    elif isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            yield f"{here} is empty"
        for position, item in enumerate(value if "items" in schema else ()):
            yield from _faults(item, schema["items"], defs, f"{path}[{position}]")
    elif isinstance(value, dict):
        yield from _object_faults(value, schema, here)
        properties, others = schema.get("properties", {}), schema.get("additionalProperties")
        for key, item in value.items():
            part = properties.get(key, others)
            if isinstance(part, dict):
                yield from _faults(item, part, defs, f"{path}.{key}" if path else key)


def _text_faults(value: str, schema: Mapping[str, Any], here: str) -> Iterator[str]:
    if len(value) < schema.get("minLength", 0):
        yield f"{here} is empty text"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{here} is {value!r}, which is not of the form {schema['pattern']}"


def _number_faults(value: float, schema: Mapping[str, Any], here: str) -> Iterator[str]:
    if value < schema.get("minimum", value):
        yield f"{here} is {value}, below {schema['minimum']}"
    if value > schema.get("maximum", value):
        yield f"{here} is {value}, above {schema['maximum']}"


def _object_faults(value: Mapping[str, Any], schema: Mapping[str, Any], here: str) -> Iterator[str]:
    for key in schema.get("required", ()):
        if key not in value:
            yield f"{here} has no {key!r}{_instead(key, value, schema)}"
    for key, others in schema.get("dependentRequired", {}).items():
        for other in others:
            if key in value and other not in value:
                yield f"{here} has {key!r} without {other!r}"
    choices: Sequence[Mapping[str, Any]] = schema.get("oneOf", ())
    if choices and sum(all(key in value for key in choice["required"]) for choice in choices) != 1:
        named = " or ".join(" and ".join(repr(key) for key in choice["required"]) for choice in choices)
        yield f"{here} has to have {named}, and not both"
    if schema.get("additionalProperties") is False:
        for key in value:
            if key not in schema["properties"]:
                near = get_close_matches(key, schema["properties"], 1)
                yield f"{here} has an unknown key {key!r}" + (f": did you mean {near[0]!r}?" if near else "")


def _instead(key: str, value: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """A key that may have been meant for the one that is missing."""
    near = get_close_matches(key, [other for other in value if other not in schema.get("properties", {})], 1)
    return f" ({near[0]!r} is unknown)" if near else ""


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[kind])


def _kind(value: Any) -> str:
    """A value's type in the words of JSON."""
    if isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool)):
        return f"{value}"
    return {str: "text", dict: "an object", list: "a list", bool: "a truth value", type(None): "null"}.get(
        type(value), type(value).__name__
    )
