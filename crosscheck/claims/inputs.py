"""What a claim says, read from its keys: contract, statements, judgments and rankings; errors name the line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from metricpact.bridges.sources.choose import read_judgments, read_run
from metricpact.contracts.errors import InputError, MetricpactError
from metricpact.contracts.measures import parse_measure
from metricpact.contracts.profiles import Profile, load_profile
from metricpact.contracts.tables import Judgments, Run
from metricpact.crosscheck.audit.infer import Target, read_all
from metricpact.crosscheck.audit.published import Published, read_published
from metricpact.crosscheck.claims.document import Claim, Written

_Table = TypeVar("_Table")
ONE_QUERY = "q"
"""The name of the query where a claim writes one ranking without naming its query."""


@dataclass(frozen=True)
class Asked:
    """What a claim states: numbers by target (several statements of one number each), bounds, and n."""

    values: Mapping[Target, list[Published]]
    lower: Mapping[Target, list[Published]]
    upper: Mapping[Target, list[Published]]
    n: int | None

    def narrowest(self) -> dict[Target, Published]:
        """The most exact statement of each number: what a search looks for."""
        return {target: min(several, key=lambda one: one.half) for target, several in self.values.items()}

    def distance(self, gives: Mapping[Target, float | None]) -> float:
        """How far some values are at most from what is stated of them; 0 where every statement holds."""
        return max(one.distance(gives[target]) for target, several in self.values.items() for one in several)


def profile_of(claim: Claim) -> Profile:
    """The contract that a claim is checked under; raises ``InputError`` at its line."""
    name, changes = claim.keys.get("contract", "chapter"), plain(claim.table("set"))
    if not isinstance(name, str):
        raise claim.error(f"{name!r} is no contract", 'write contract = "chapter"', "contract")
    try:
        profile = load_profile(claim.path(name) if name.endswith(".toml") else name)
    except MetricpactError as error:
        raise claim.error(error.fact, error.hint, "contract") from error
    try:
        return profile.with_fields(changes)
    except MetricpactError as error:
        raise claim.error(error.fact, error.hint, "set") from error


def statements(claim: Claim, written: Any, key: str) -> list[Published]:
    """One number stated once or several times; raises ``InputError`` at the line of its key."""
    several = written if isinstance(written, list) else [written]
    if not several:
        raise claim.error(
            f"{key} states no number", f'write {key} = "0.50", or several ways to write it in a list', key
        )
    try:
        return [read_published(one) for one in several]
    except InputError as error:
        raise claim.error(error.fact, error.hint, key) from error


def whole(claim: Claim, key: str) -> int | None:
    """A count of 1 or more under a key, None where it is not there."""
    value = claim.keys.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise claim.error(f"{key} is not an integer of 1 or more", f"write {key} = 10", key)
    return value


def asked_of(claim: Claim) -> Asked:
    """What a claim of measures states; raises ``InputError`` at the line of what cannot be read."""
    by_query = claim.table("by_query")
    values = _targets(claim, claim.table("values"), None)
    for query, table in by_query.items():
        if not isinstance(table, dict):
            raise claim.error(f"by_query: {query} is not a table", 'write by_query = { q1 = { "RR@10" = 0.5 } }', query)
        values |= _targets(claim, table, query)
    lower, upper = (_targets(claim, claim.table(side), None) for side in ("lower", "upper"))
    if not (values or lower or upper):
        raise claim.error("states no value", 'write values = { "nDCG@10" = 0.4973 }')
    asked = Asked(values, lower, upper, whole(claim, "n"))
    if values:
        try:
            read_all(asked.narrowest())
        except MetricpactError as error:
            raise claim.error(error.fact, error.hint, "values" if claim.table("values") else "by_query") from error
    return asked


def _targets(claim: Claim, table: Mapping[str, Any], query: str | None) -> dict[Target, list[Published]]:
    found: dict[Target, list[Published]] = {}
    for name, written in table.items():
        try:
            measure = parse_measure(name)
        except MetricpactError as error:
            raise claim.error(error.fact, error.hint, name) from error
        found.setdefault(Target(measure, query), []).extend(statements(claim, written, name))
    return found


def inputs_of(claim: Claim) -> tuple[Judgments, dict[str, Run], dict[str, Run]]:
    """The judgments, the readings of what was returned ("" for the only one), and rankings beside them."""
    for key in ("judgments", "run", "rankings"):
        given = claim.keys.keys()
        if key not in given and not (key != "judgments" and given & {"run", "rankings"}):
            raise claim.error(f"has no {key}", f"write {key} = … here, or under [data.NAME] with data = 'NAME'")
    if {"run", "rankings"} <= claim.keys.keys():
        raise claim.error(
            "has a run and rankings", "rankings are the readings where it is open what was returned", "run"
        )
    written = claim.keys["judgments"]
    if isinstance(written, str):
        judgments = read_judgments(claim.path(written))
    else:
        flat = isinstance(written, dict) and not any(isinstance(value, dict) for value in written.values())
        judgments = _inline(claim, "judgments", {ONE_QUERY: written} if flat else written, read_judgments)
    readings = {"": _run(claim, claim.keys["run"], "run")} if "run" in claim.keys else _runs(claim, "rankings")
    if not readings:
        raise claim.error("rankings has no ranking", 'write rankings = { "as told" = ["A", "B"] }', "rankings")
    return judgments, readings, _runs(claim, "alternatives")


def _runs(claim: Claim, key: str) -> dict[str, Run]:
    return {name: _run(claim, written, key) for name, written in claim.table(key).items()}


def _run(claim: Claim, written: Any, key: str) -> Run:
    if isinstance(written, str):
        return read_run(claim.path(written))
    return _inline(claim, key, {ONE_QUERY: written} if isinstance(written, list) else written, read_run)


def _inline(claim: Claim, key: str, value: Any, read: Callable[[Any], _Table]) -> _Table:
    try:
        return read(plain(value))
    except MetricpactError as error:
        raise claim.error(error.fact, error.hint, key) from error


def plain(value: Any) -> Any:
    """A value of the file with its numbers as numbers."""
    if isinstance(value, Written):
        return float(value)
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list) else value
