"""Claims files: TOML read with numbers as they are written, and with the line of every key that is wrong."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from metricpact.contracts.errors import InputError

SHIPPED = Path(__file__).parent
TOP = {"title", "source", "data", "claim"}
ABOUT = {"id", "kind", "text", "data", "expect"}
INPUTS = {
    "measures": {"judgments", "run", "rankings", "alternatives"},
    "decisions": {"states", "items"},
    "slices": {"file"},
    "ratio": set[str](),
    "mean": set[str](),
}
"""The keys of a claim's input, by kind; they stand in the claim, or in the ``[data.NAME]`` that it names."""
STATED = {
    "measures": {"contract", "set", "values", "by_query", "n", "lower", "upper"},
    "decisions": {"endpoint", "left_out", "values"},
    "slices": {"contract", "set", "columns", "rows"},
    "ratio": {"ratio", "stated"},
    "mean": {"measure", "each", "means", "n", "relevant"},
}
"""The other keys of a claim, by kind."""


class Written(str):
    """A number of the file as it is written: ``0.60`` is not ``0.6``."""

    __slots__ = ()


@dataclass(frozen=True)
class Claim:
    """One claim: its kind, what it says and its inputs, as in the file; ``line`` is where it begins."""

    id: str
    kind: str
    keys: Mapping[str, Any]
    line: int
    document: Document = field(repr=False)

    def error(self, fact: str, hint: str = "", key: str | None = None) -> InputError:
        """An error in this claim, at the line of a key."""
        line = self.line if key is None else self.document.lines.key(key, self.line)
        return InputError(f"claim {self.id!r}: {fact}", hint, source=self.document.name, line=line)

    def table(self, key: str) -> Mapping[str, Any]:
        """The table under a key, empty where there is none; raises ``InputError`` for anything else."""
        value = self.keys.get(key, {})
        if not isinstance(value, dict):
            raise self.error(f"{key} is not a table", f'write {key} = {{ "nDCG@10" = 0.4973 }}', key)
        return value

    def path(self, text: str) -> str:
        """A path of the file, from the folder that it lies in."""
        return str(self.document.folder / text)


@dataclass(frozen=True)
class Document:
    """A claims file."""

    name: str
    folder: Path
    title: str
    source: str
    lines: Lines = field(repr=False)
    claims: list[Claim] = field(default_factory=list)


class Lines:
    """Where the keys of a TOML text stand."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")

    def header(self, pattern: str, count: int = 0) -> int:
        """The line of the ``count``-th table header that matches."""
        found = [at for at, line in enumerate(self._lines, 1) if re.match(rf"\s*{pattern}\s*(#|$)", line)]
        return found[count] if count < len(found) else 1

    def key(self, name: str, begin: int = 1) -> int:
        """The first line from ``begin`` on, before the next claim, that sets a key; ``begin`` where none does."""
        quoted = re.escape(name)
        sets = re.compile(rf"(^|[\s{{,.])[\"']?{quoted}[\"']?\s*=|^\s*\[+[^\]]*[.\[]\s*[\"']?{quoted}[\"']?\s*\]")
        for at in range(begin, len(self._lines) + 1):
            line = self._lines[at - 1]
            if at > begin and re.match(r"\s*\[\[?(claim\]\]|data\.)", line):
                break
            if sets.search(line):
                return at
        return begin


def find(name: str) -> Path:
    """The file that a shipped name or a path means."""
    shipped = SHIPPED / f"{name}.toml"
    return shipped if re.fullmatch(r"[\w-]+", name) and shipped.is_file() else Path(name)


def shipped_names() -> list[str]:
    """The names of the claims files that come with metricpact."""
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


def read_document(name: str) -> Document:
    """Read a claims file by path or shipped name; raises ``InputError`` with the line for whatever is wrong in it."""
    from metricpact.bridges.sources.streams import open_stream

    path = find(name)
    if str(path) != "-" and not path.exists():
        raise InputError(
            "there is no such file", f"name a TOML file, or one of: {', '.join(shipped_names())}", source=name
        )
    text = open_stream(path).read_all().decode("utf-8-sig", "replace")
    try:
        parsed = tomllib.loads(text, parse_float=Written)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        at = re.search(r"\(at line (\d+)", str(error))
        raise InputError(
            f"is not TOML: {error}",
            "numbers like .75 are written as text",
            source=name,
            line=int(at[1]) if at else None,
        ) from error
    lines = Lines(text)
    _check_keys(parsed, TOP, name, lines, 1, "a claims file")
    texts = {key: parsed.get(key, "") for key in ("title", "source")}
    for key, value in texts.items():
        if not isinstance(value, str):
            raise InputError(f"{key} is not text", f'write {key} = "…"', source=name, line=lines.key(key))
    document = Document(name, Path() if str(path) == "-" else path.parent, lines=lines, **texts)
    document.claims.extend(_claims(parsed, document))
    return document


def _claims(parsed: Mapping[str, Any], document: Document) -> Iterable[Claim]:
    shared, listed = parsed.get("data", {}), parsed.get("claim", [])
    if not isinstance(shared, dict) or not all(isinstance(one, dict) for one in shared.values()):
        raise InputError("data is not made of tables", "write [data.NAME]", source=document.name)
    if not isinstance(listed, list) or not listed or not all(isinstance(one, dict) for one in listed):
        raise InputError("there is no claim", "write [[claim]] and its keys below it", source=document.name)
    known = set[str]().union(*INPUTS.values())
    for name, keys in shared.items():
        begin = document.lines.header(rf"\[\s*data\s*\.\s*[\"']?{re.escape(name)}[\"']?\s*\]")
        _check_keys(keys, known, document.name, document.lines, begin, f"[data.{name}]")
    seen: set[str] = set()
    for count, keys in enumerate(listed):
        claim = _claim(keys, shared, document, document.lines.header(r"\[\[\s*claim\s*\]\]", count), count)
        if claim.id in seen:
            raise claim.error("is there twice", "give every claim an id of its own", "id")
        seen.add(claim.id)
        yield claim


def _claim(keys: Mapping[str, Any], shared: Mapping[str, Any], document: Document, line: int, count: int) -> Claim:
    name, kind = keys.get("id", f"claim {count + 1}"), keys.get("kind")
    if not isinstance(name, str) or not name:
        raise InputError("id is not text", 'write id = "…"', source=document.name, line=document.lines.key("id", line))
    claim = Claim(name, str(kind), keys, line, document)
    if not isinstance(kind, str) or kind not in STATED:
        near = get_close_matches(str(kind), STATED, 1)
        told = "has no kind" if kind is None else f"{kind!r} is not a kind of claim"
        # A claim without a kind may have misspelt the key itself.
        _check_keys(
            keys, ABOUT.union(*STATED.values(), *INPUTS.values()), document.name, document.lines, line, "a claim"
        )
        raise claim.error(told, (f"did you mean {near[0]!r}? " if near else "") + f"kinds: {', '.join(STATED)}", "kind")
    allowed = ABOUT | STATED[kind] | INPUTS[kind]
    _check_keys(keys, allowed, document.name, document.lines, line, f"a claim of kind {kind}")
    if "data" in keys:
        if not isinstance(keys["data"], str) or keys["data"] not in shared:
            near = get_close_matches(str(keys["data"]), list(shared), 1)
            hint = f"did you mean {near[0]!r}?" if near else f"write [data.{keys['data']}] with the input"
            raise claim.error(f"there is no [data.{keys['data']}]", hint, "data")
        given = {key: value for key, value in shared[keys["data"]].items() if key in INPUTS[kind]}
        claim = Claim(name, kind, {**given, **keys}, line, document)
    return claim


def _check_keys(keys: Iterable[str], known: set[str], source: str, lines: Lines, begin: int, where: str) -> None:
    for key in keys:
        if key not in known:
            near = get_close_matches(key, sorted(known), 1, 0.5)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise InputError(
                f"unknown key {key!r}", f"{hint}{where} has: {', '.join(sorted(known))}",
                source=source, line=lines.key(key, begin),
            )  # fmt: skip
