"""Gates from TOML: every key is known, every value is of its kind, and what is wrong is named with its line."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from metricpact.bridges.registry import DEFAULT_BACKEND, require
from metricpact.bridges.sources.toml_lines import Path as KeyPath
from metricpact.bridges.sources.toml_lines import key_lines
from metricpact.contracts.errors import InputError, MetricpactError
from metricpact.contracts.measures import Measure, parse_measure
from metricpact.contracts.profiles import Profile, load_profile
from metricpact.crosscheck.gate.rules import DECIDE_BY, INTERVAL, Gate, NoneRule, Pattern, Rule
from metricpact.crosscheck.gate.verdicts import KINDS
from metricpact.crosscheck.slices.no_answer import POLICIES

MIN_N = 30
"""Below this many queries a difference is direction and not evidence."""
_SHARED = ("min_n", "judged_floor", "decide_by")
_TOP = (*_SHARED, "contract", "set", "backend", "alpha", "resamples", "seed", "across", "rule", "none")
_RULE = (*_SHARED, "measures", "slices", "max_drop", "max_drop_relative")
_NONE = ("min_pass_rate", "policy", "min_n", "decide_by")
_MISSING = object()


def load_gate(source: str | os.PathLike[str] | Mapping[str, Any]) -> Gate:
    """A gate from a TOML file, or from the same as a dict; raises ``InputError`` with file and line."""
    if isinstance(source, Mapping):
        return _Reader(source, "gate", {}, Path()).gate()
    name = os.fspath(source)
    try:
        text = Path(name).read_bytes().decode("utf-8").replace("\r\n", "\n")
        document = tomllib.loads(text)
    except FileNotFoundError as error:
        raise InputError("there is no such file", "check the path of the gate", source=name) from error
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", "name a TOML file", source=name) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"is not TOML: {error}", "a gate is a TOML file with [[rule]] tables", source=name) from error
    return _Reader(document, name, key_lines(text), Path(name).parent).gate()


class _Reader:
    """Reads one document; ``lines`` say where keys stand, ``folder`` is what paths in it are relative to."""

    def __init__(self, document: Mapping[str, Any], source: str, lines: Mapping[KeyPath, int], folder: Path) -> None:
        self.document, self.source, self.lines, self.folder = document, source, lines, folder

    def gate(self) -> Gate:
        """The whole gate."""
        top = self.document
        self._known(top, _TOP, ())
        rules = top.get("rule", [])
        if not isinstance(rules, list) or not all(isinstance(rule, Mapping) for rule in rules):
            raise self._error(("rule",), "rule is not a list of tables", "write [[rule]] above each rule")
        if not rules and "none" not in top:
            raise self._error((), "the gate has no rule", 'write [[rule]], measures = "nDCG@10" and max_drop = 0.02')
        alpha = self._share(top, "alpha", (), 0.05)
        if not 0 < alpha < 1:
            raise self._error(("alpha",), f"alpha {alpha} is not between 0 and 1", "write for example alpha = 0.05")
        return Gate(
            rules=[self._rule(rule, ("rule", at)) for at, rule in enumerate(rules)],
            none=self._none(top["none"]) if "none" in top else None,
            profile=self._profile(),
            backend=self._backend(),
            alpha=alpha,
            resamples=self._whole(top, "resamples", (), 10_000, 100),
            seed=self._whole(top, "seed", (), 1, 0),
            across=frozenset(self._choices(top, "across", (), KINDS)),
            source=self.source,
        )

    def _rule(self, rule: Mapping[str, Any], at: KeyPath) -> Rule:
        self._known(rule, _RULE, at)
        given = [name for name in ("max_drop", "max_drop_relative") if name in rule]
        if len(given) != 1:
            fact = "has no allowed drop" if not given else "has two allowed drops"
            raise self._error(at, f"a rule {fact}", "write max_drop = 0.02 (absolute) or max_drop_relative = 0.05")
        return Rule(
            measures=tuple(self._measure(text, at) for text in self._texts(rule, "measures", at, None)),
            slices=tuple(self._pattern(text, at) for text in self._texts(rule, "slices", at, "all")),
            max_drop=self._share(rule, given[0], at, _MISSING),
            relative=given[0] == "max_drop_relative",
            min_n=self._shared_n(rule, at),
            judged_floor=self._share(rule, "judged_floor", at, self._share(self.document, "judged_floor", (), 0.0)),
            decide_by=self._shared_decide_by(rule, at),
            line=self.lines.get(at),
        )

    def _none(self, table: Any) -> NoneRule:
        at: KeyPath = ("none",)
        if not isinstance(table, Mapping):
            raise self._error(at, "none is not a table", "write [none] and min_pass_rate = 0.6 below it")
        self._known(table, _NONE, at)
        policy = table.get("policy")
        if policy not in POLICIES:
            raise self._error((*at, "policy"), f"policy {policy!r} is none", f"choose from: {', '.join(POLICIES)}")
        return NoneRule(
            min_pass_rate=self._share(table, "min_pass_rate", at, _MISSING),
            policy=policy,
            min_n=self._shared_n(table, at),
            decide_by=self._shared_decide_by(table, at),
            line=self.lines.get(at),
        )

    def _profile(self) -> Profile:
        contract, changes = self.document.get("contract", "chapter"), self.document.get("set", {})
        if not isinstance(contract, str):
            raise self._error(("contract",), "contract is not text", "name a profile or a TOML file")
        if not isinstance(changes, Mapping):
            raise self._error(("set",), "set is not a table", 'write set = { gain = "linear" }')
        own = self.folder / contract
        with self._naming("contract"):
            profile = load_profile(str(own) if contract.endswith(".toml") and own.is_file() else contract)
        with self._naming("set"):
            return profile.with_fields(dict(changes))

    def _backend(self) -> str:
        backend = self.document.get("backend", DEFAULT_BACKEND)
        if not isinstance(backend, str):
            raise self._error(("backend",), "backend is not text", f'write backend = "{DEFAULT_BACKEND}"')
        with self._naming("backend"):
            require(backend)
        return backend

    def _measure(self, text: str, at: KeyPath) -> Measure:
        with self._naming("measures", at):
            return parse_measure(text)

    def _pattern(self, text: str, at: KeyPath) -> Pattern:
        pattern = Pattern.parse(text)
        if pattern is None:
            hint = 'write slices = "all", "language=fr", "language=*" or "language=fr,flag=yes"'
            raise self._error((*at, "slices"), f"{text!r} is not a slice", hint)
        return pattern

    def _shared_n(self, table: Mapping[str, Any], at: KeyPath) -> int:
        return self._whole(table, "min_n", at, self._whole(self.document, "min_n", (), MIN_N, 1), 1)

    def _shared_decide_by(self, table: Mapping[str, Any], at: KeyPath) -> str:
        source, where = (table, at) if "decide_by" in table else (self.document, ())
        return (self._choices(source, "decide_by", where, DECIDE_BY) or [INTERVAL])[0]

    def _share(self, table: Mapping[str, Any], name: str, at: KeyPath, default: Any) -> float:
        value = table.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            told = f"{name} is missing" if value is _MISSING else f"{name} {value!r} is not a number from 0 to 1"
            raise self._error((*at, name), told, f"write for example {name} = 0.05")
        return float(value)

    def _whole(self, table: Mapping[str, Any], name: str, at: KeyPath, default: int, least: int) -> int:
        value = table.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise self._error((*at, name), f"{name} {value!r} is not an integer of {least} or more", "write a number")
        return value

    def _texts(self, table: Mapping[str, Any], name: str, at: KeyPath, default: str | None) -> list[str]:
        value = table.get(name, default)
        several = [value] if isinstance(value, str) else value
        if not isinstance(several, list) or not several or not all(isinstance(one, str) for one in several):
            told = f"{name} is missing" if value is None else f"{name} {value!r} is neither text nor a list of texts"
            raise self._error((*at, name), told, f'write {name} = "…" or {name} = ["…", "…"]')
        return list(dict.fromkeys(several))

    def _choices(self, table: Mapping[str, Any], name: str, at: KeyPath, choices: Sequence[str]) -> list[str]:
        if name not in table or table[name] == []:
            return []
        chosen = self._texts(table, name, at, None)
        for one in chosen:
            if one not in choices:
                raise self._error((*at, name), f"{name} {one!r} is not known", f"choose from: {', '.join(choices)}")
        return chosen

    def _known(self, table: Mapping[str, Any], known: Sequence[str], at: KeyPath) -> None:
        for key in table:
            if key not in known:
                near = get_close_matches(str(key), known, 1)
                hint = f"did you mean {near[0]!r}? " if near else ""
                raise self._error((*at, key), f"unknown key {key!r}", f"{hint}known here: {', '.join(known)}")

    def _naming(self, name: str, at: KeyPath = ()) -> _Naming:
        return _Naming(self, (*at, name))

    def _error(self, at: KeyPath, fact: str, hint: str) -> InputError:
        """An error at a key, or at the table that should have it."""
        line = next((self.lines[at[:end]] for end in range(len(at), 0, -1) if at[:end] in self.lines), None)
        return InputError(fact, hint, source=self.source, line=line)


class _Naming:
    """Turns an error on a value into one that names the file and the line."""

    def __init__(self, reader: _Reader, at: KeyPath) -> None:
        self.reader, self.at = reader, at

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, MetricpactError):
            raise self.reader._error(self.at, error.fact, error.hint) from error
