"""Profiles: named, versioned default contracts with overrides per measure, kept as TOML beside this module."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from metricpact.contracts.contract import FIELDS, Contract, contract_from, fields_to_toml, load_toml
from metricpact.contracts.errors import ContractError
from metricpact.contracts.families import FAMILIES
from metricpact.contracts.measures import Measure

_FOLDER = Path(__file__).parent / "profiles_data"
_ABOUT = ("summary", "library", "library_version", "source", "status")
_KEYS = {"name", "version", "base", *_ABOUT, "domain", "fields", "overrides", "sources"}


@dataclass(frozen=True)
class Profile:
    """A named default contract, and the fields in which single measures depart from it.

    ``overrides`` maps a pattern (``RR`` uncut, ``RR@*`` at any cutoff, ``RR@10``) to field values. ``base`` is the
    named contract (``chapter/1``) that signatures refer to. A profile of a library names it, its version and
    the ``source`` of its facts; ``sources`` says it of each field (``ties``, or ``RR@*.ties`` for an override).
    ``status`` is "verified" (a test runs the library) or "stated" (from reading). ``domain`` are sentences: for which
    inputs the profile is what the library does, and what happens outside.
    """

    name: str
    version: int
    contract: Contract
    base: str
    summary: str = ""
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    library: str = ""
    library_version: str = ""
    source: str = ""
    status: str = ""
    domain: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_toml(cls, path: str | Path) -> Profile:
        """Read a contract or profile file; raises ``ContractError`` naming the file and the key at fault."""
        return _from_document(load_toml(path), str(path), builtin=False)

    def overrides_for(self, measure: Measure) -> dict[str, Any]:
        """The fields that this profile sets otherwise for one measure; the most specific pattern wins."""
        cut = measure.cutoff
        patterns = [measure.family] if cut is None else [f"{measure.family}@*", f"{measure.family}@{cut}"]
        found: dict[str, Any] = {}
        for pattern in patterns:
            found.update(self.overrides.get(pattern, {}))
        return found

    def settings_for(self, measure: Measure) -> Contract:
        """The contract for one measure before the measure's own parameters: the default and the overrides."""
        overrides = self.overrides_for(measure)
        return self.contract.replace(**overrides) if overrides else self.contract

    def for_measure(self, measure: Measure) -> Contract:
        """The contract for one measure: the default, this profile's overrides, the measure's parameters."""
        return measure.apply(self.settings_for(measure))

    def with_fields(self, changes: Mapping[str, Any]) -> Profile:
        """This profile with some fields set for every measure, overrides of these fields included."""
        if not changes:
            return self
        kept = {
            pattern: {name: value for name, value in values.items() if name not in changes}
            for pattern, values in self.overrides.items()
        }
        return replace(
            self,
            contract=contract_from(changes, self.contract),
            overrides={pattern: values for pattern, values in kept.items() if values},
            sources={key: text for key, text in self.sources.items() if key.rpartition(".")[2] not in changes},
        )

    def changes(self, measure: Measure) -> dict[str, Any]:
        """The fields in which this profile departs, for a measure, from the named one that it is based on."""
        named = load_profile(self.base.rpartition("/")[0]).settings_for(measure)
        return {name: value for name, (value, _) in self.settings_for(measure).diff(named).items()}

    def to_toml(self) -> str:
        """The profile as a TOML document that ``from_toml`` reads."""
        import tomli_w

        head = {"name": self.name, "version": self.version, "base": self.base.rpartition("/")[0]}
        about = {key: getattr(self, key) for key in _ABOUT}
        about["domain"] = list(self.domain)
        head |= {key: value for key, value in about.items() if value}
        text = tomli_w.dumps(head) + "\n" + fields_to_toml(self.contract.fields())
        overrides = {pattern: dict(values) for pattern, values in self.overrides.items()}
        tables = {"overrides": overrides, "sources": dict(self.sources)}
        kept = {name: table for name, table in tables.items() if table}
        return text + ("\n" + tomli_w.dumps(kept) if kept else "")


def profile_names() -> list[str]:
    """The names of all profiles that come with metricpact, ``chapter`` first."""
    return list(_shipped_names())


@cache
def _shipped_names() -> tuple[str, ...]:
    names = sorted(path.stem for path in _FOLDER.glob("*.toml"))
    return tuple(sorted(names, key=lambda name: name != "chapter"))


@cache
def _shipped(name: str) -> Profile:
    # Read once: every signature refers to the named contract that it is based on.
    path = _FOLDER / f"{name}.toml"
    return _from_document(load_toml(path), path.name, builtin=True)


def load_profile(name: str | Path | Contract | Profile) -> Profile:
    """A profile by its name, from a TOML file, or around a contract; raises ``ContractError``.

    A library's name without a version finds its profile where there is just one: ``ranx`` is ``ranx-0.3.21``.
    """
    if isinstance(name, Profile):
        return name
    if isinstance(name, Contract):
        chapter = load_profile("chapter")
        return replace(chapter, contract=name)
    text = str(name)
    if text in _shipped_names():
        return _shipped(text)
    if text.endswith(".toml") or os.path.isfile(text):
        return Profile.from_toml(text)
    versions = [known for known in profile_names() if re.fullmatch(rf"{re.escape(text)}-\d[\d.]*", known)]
    if len(versions) == 1:
        return load_profile(versions[0])
    choices = ", ".join(versions or profile_names())
    raise ContractError(
        f"{text!r} is {'more than one' if versions else 'not a'} contract", f"known: {choices}; or name a TOML file"
    )


def _from_document(document: Mapping[str, Any], where: str, *, builtin: bool) -> Profile:
    """A profile from a parsed TOML document; ``where`` names the file in errors."""
    for key in document:
        if key not in _KEYS:
            raise ContractError(f"{where}: unknown key {key!r}", f"a contract file has: {', '.join(sorted(_KEYS))}")
    texts = {key: document.get(key, "") for key in ("name", "base", *_ABOUT)}
    for key, text in texts.items():
        if not isinstance(text, str):
            raise ContractError(f"{where}: {key} is not text", f'write {key} = "…"')
    version = document.get("version", 1)
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise ContractError(f"{where}: version is not an integer of 1 or more", "write version = 1")
    own_name = texts["name"] or Path(where).stem
    root = builtin and not texts["base"]
    try:
        base = None if root else load_profile(texts["base"] or "chapter")
    except RecursionError as error:
        raise ContractError(f"{where}: is based on itself", "base names another contract") from error
    try:
        contract = contract_from(_table(document, "fields"), base.contract if base else None)
        overrides = {**(base.overrides if base else {}), **_overrides(_table(document, "overrides"), contract)}
        domain = _sentences(document)
        sources = _sources(_table(document, "sources"), overrides)
        if builtin and base:
            sources = {**_without(base.sources, document), **sources}
    except ContractError as error:
        raise ContractError(f"{where}: {error.fact}", error.hint) from error
    if not builtin and own_name in profile_names():
        named = load_profile(own_name)
        if (contract, overrides, version) != (named.contract, named.overrides, named.version):
            # What was printed under a name and then changed is not what the name stands for, nor verified.
            own_name = Path(where).stem
            texts |= dict.fromkeys(_ABOUT, "")
            domain, sources = (), {}
    return Profile(
        name=own_name,
        version=version,
        contract=contract,
        base=f"{own_name}/{version}" if builtin or base is None else base.base,
        summary=texts["summary"],
        overrides=overrides,
        library=texts["library"],
        library_version=texts["library_version"],
        source=texts["source"],
        status=texts["status"],
        domain=domain,
        sources=sources,
    )


def _table(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    table = document.get(key, {})
    if not isinstance(table, dict):
        raise ContractError(f"{key} is not a table", f"write [{key}] and the settings below it")
    return table


def _sentences(document: Mapping[str, Any]) -> tuple[str, ...]:
    sentences = document.get("domain", [])
    if not isinstance(sentences, list) or not all(isinstance(one, str) and one for one in sentences):
        raise ContractError("domain is not a list of sentences", 'write domain = ["…", "…"]')
    return tuple(sentences)


def _sources(table: Mapping[str, Any], overrides: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    overridden = {f"{pattern}.{name}" for pattern, values in overrides.items() for name in values}
    for key, text in table.items():
        if key not in FIELDS and key not in overridden:
            raise ContractError(
                f"sources: {key!r} is neither a field nor an override of this contract",
                'write ties = "…" for a field, and "RR@*.ties" = "…" for an override',
            )
        if not isinstance(text, str):
            raise ContractError(f"sources: {key} is not text", f'write {key} = "…"')
    return dict(table)


def _without(sources: Mapping[str, str], document: Mapping[str, Any]) -> dict[str, str]:
    """The sources of a base but those of fields that a document sets otherwise."""
    own = {f"{pattern}.{name}" for pattern, values in document.get("overrides", {}).items() for name in values}
    return {key: text for key, text in sources.items() if key not in own | set(document.get("fields", {}))}


def _overrides(table: Mapping[str, Any], contract: Contract) -> dict[str, dict[str, Any]]:
    checked: dict[str, dict[str, Any]] = {}
    for pattern, values in table.items():
        match = re.fullmatch(r"(\w+)(@(\*|[1-9]\d*))?", pattern)
        if not match or match[1] not in FAMILIES or not isinstance(values, dict):
            raise ContractError(
                f"overrides: {pattern!r} is not a measure with its fields",
                'write [overrides."RR@*"] and fields below it',
            )
        changed = contract_from(values, contract).fields()
        checked[pattern] = {name: changed[name] for name in values}
    return checked
