"""What is known of a library's own defaults: one TOML file a backend in ``known/``, with reasons, links and versions.

``[[convention]]`` states what the library does for one field of a contract, whatever a contract says. A native
value that differs from a case's answer is *known* when the reference, told to do the same, gives that very value:
so an entry explains numbers and cannot hide others. ``[[difference]]`` names cases that no convention explains.
Entries that explain nothing any more are reported as stale.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from metricpact.bridges.plan import matters
from metricpact.contracts.contract import Contract, check_value, load_toml
from metricpact.contracts.errors import ContractError
from metricpact.contracts.measures import Measure

FOLDER = Path(__file__).parent / "known"
KINDS = {
    "ours": "the bridge could repair it and does not yet",
    "upstream": "the library could offer it and does not",
    "never": "the library means it so",
}
"""Why something differs, in one word."""
MODES = ("contract", "default")


@dataclass(frozen=True)
class Entry:
    """What every entry says: its kind, a reason, a link to the evidence, and the library's versions it holds for."""

    kind: str
    reason: str
    link: str
    versions: tuple[str, ...]

    def holds_for(self, version: str) -> bool:
        """Whether the entry speaks of an installed version (patterns such as ``0.5.*``)."""
        return any(fnmatchcase(version, pattern) for pattern in self.versions)


@dataclass(frozen=True)
class Convention(Entry):
    """What the library does for one field of a contract; ``measures`` limits it to some forms, such as ``RR@``."""

    field: str = ""
    value: Any = None
    measures: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """``field=value``, with the measures in brackets where there are some."""
        return f"{self.field}={self.value}" + (f" ({', '.join(self.measures)})" if self.measures else "")

    def applies_to(self, measure: Measure) -> bool:
        """Whether the entry speaks of a measure."""
        return matters(measure, self.field) and (not self.measures or _form(measure) in self.measures)


@dataclass(frozen=True)
class CaseDifference(Entry):
    """Cases that differ, or fail, in a mode ("contract" or "default"), where no convention says why."""

    cases: tuple[str, ...] = ()
    mode: str = "default"

    @property
    def name(self) -> str:
        """The first case, and how many there are."""
        more = f" and {len(self.cases) - 1} more" if len(self.cases) > 1 else ""
        return f"{self.cases[0]}{more}"


@dataclass(frozen=True)
class Known:
    """What is known of one backend's library: its names for measures, how it is called, and where it differs.

    ``names`` maps a form of a measure (``P@``, ``AP``, ``P(rel)@``) to the library's own name, with ``{k}``,
    ``{rel}``, ``{beta}``, ``{beta2}`` and ``{measure}`` filled in. ``call`` is one line of Python with ``{name}``.
    """

    backend: str
    call: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    conventions: tuple[Convention, ...] = ()
    differences: tuple[CaseDifference, ...] = ()

    def native_name(self, measure: Measure) -> str | None:
        """The library's own name for a measure, or None where it has none."""
        given = [name for name in ("rel", "gain", "beta") if getattr(measure, name) is not None]
        if measure.beta == 1.0:
            given.remove("beta")
        template = self.names.get(_form(measure, f"({','.join(given)})" if given else ""))
        if template is None:
            return None
        beta = measure.beta or 1.0
        return template.format(k=measure.cutoff, rel=measure.rel, beta=beta, beta2=beta * beta, measure=measure)

    def defaults(self, measure: Measure, version: str) -> list[Convention]:
        """The conventions that the library follows for a measure."""
        return [one for one in self.conventions if one.holds_for(version) and one.applies_to(measure)]

    def difference(self, case: str, mode: str, version: str) -> CaseDifference | None:
        """The entry for a case in a mode, or None."""
        for one in self.differences:
            if case in one.cases and one.mode == mode and one.holds_for(version):
                return one
        return None

    def entries(self, version: str) -> Iterable[Convention | CaseDifference]:
        """All entries that speak of a version."""
        stated: tuple[Convention | CaseDifference, ...] = (*self.conventions, *self.differences)
        return [one for one in stated if one.holds_for(version)]


def _form(measure: Measure, brackets: str = "") -> str:
    """How a measure is asked for: ``RR`` for the whole ranking, ``RR@`` with a cutoff."""
    return measure.family + brackets + ("@" if measure.cutoff is not None else "")


def with_conventions(contract: Contract, conventions: Iterable[Convention]) -> Contract:
    """A contract told to do what a library does."""
    return contract.replace(**{one.field: one.value for one in conventions})


def load_known(backend: str, folder: Path = FOLDER) -> Known:
    """What is known of a backend's library; raises ``ContractError`` naming the file and the entry at fault."""
    path = folder / f"{backend}.toml"
    if not path.exists():
        raise ContractError(
            f"nothing is known of the defaults of backend {backend}",
            f"write {path.name} beside {FOLDER.name}/reference.toml: its names for measures and what it does",
        )
    document = load_toml(path)
    try:
        unknown = set(document) - {"call", "names", "convention", "difference"}
        if unknown:
            raise ContractError(f"{sorted(unknown)} is not known", "a file has call, [names] and its entries")
        return Known(
            backend=backend,
            call=document.get("call", ""),
            names=document.get("names", {}),
            conventions=tuple(_convention(entry) for entry in document.get("convention", ())),
            differences=tuple(_difference(entry) for entry in document.get("difference", ())),
        )
    except ContractError as error:
        raise ContractError(f"{path}: {error.fact}", error.hint) from error


def _convention(entry: dict[str, Any]) -> Convention:
    about = _about(entry, {"field", "value"}, {"measures"})
    return Convention(
        **about,
        field=entry["field"],
        value=check_value(entry["field"], entry["value"]),
        measures=tuple(entry.get("measures", ())),
    )


def _difference(entry: dict[str, Any]) -> CaseDifference:
    about = _about(entry, {"cases"}, {"mode"})
    mode = entry.get("mode", "default")
    if mode not in MODES or not entry["cases"]:
        raise ContractError(f"{entry}: an entry has a mode and cases", f"modes: {', '.join(MODES)}")
    return CaseDifference(**about, cases=tuple(entry["cases"]), mode=mode)


def _about(entry: Mapping[str, Any], needed: set[str], allowed: set[str]) -> dict[str, Any]:
    """The parts that every entry has; raises ``ContractError`` for one that is missing, unknown or empty."""
    common = {"kind", "reason", "link", "versions"}
    for name in sorted(needed | common):
        if name not in entry or entry[name] == "":
            raise ContractError(
                f"the entry {dict(entry)} has no {name}", "say it: an entry without it excuses anything"
            )
    strange = set(entry) - needed - common - allowed
    if strange:
        raise ContractError(f"{sorted(strange)} is not part of an entry", f"known: {sorted(needed | common | allowed)}")
    if entry["kind"] not in KINDS:
        raise ContractError(f"{entry['kind']!r} is not a kind", f"choose one of: {', '.join(KINDS)}")
    return {name: entry[name] for name in ("kind", "reason", "link")} | {"versions": tuple(entry["versions"])}
