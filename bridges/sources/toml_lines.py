"""The lines on which the keys of a TOML file stand, for errors: the standard library's parser does not tell them."""

from __future__ import annotations

import re
from collections import Counter

Path = tuple[str | int, ...]
"""Where a key is: ``("rule", 0, "max_drop")`` is max_drop of the first ``[[rule]]``; ``("rule", 0)`` its header."""
_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|([\w-]+))\s*(?:\.[^=]*)?=""")


def key_lines(text: str) -> dict[Path, int]:
    """One-based lines of the headers and keys of a valid TOML text, as far as lines show them.

    A key within an inline table is not found, and one within a text of several lines may be taken for a key: only
    error messages rest on this.
    """
    found: dict[Path, int] = {}
    seen: Counter[str] = Counter()
    table: Path = ()
    for number, line in enumerate(text.split("\n"), 1):
        header = _HEADER.match(line)
        if header:
            name = header[2].strip("\"'")
            table = (name, seen[name]) if header[1] == "[[" else (name,)
            seen[name] += 1
            found.setdefault(table, number)
            continue
        key = _KEY.match(line)
        if key:
            found.setdefault((*table, key[1] or key[2] or key[3]), number)
    return found
