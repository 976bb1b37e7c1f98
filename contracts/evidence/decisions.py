"""Decisions as sets: an endpoint is a named set of states, and has a precision and a recall of its own.

With P the items labelled positive, E those whose state is in the endpoint, and U those that are unresolved: precision
|E ∩ P| / |E|, recall |E ∩ P| / |P| over the whole cohort, conditional recall |(E ∩ P) ∖ U| / |P ∖ U|. The last one
leaves out what was not decided and so answers another question. Source: the chapter, "recall accounting audit".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl
from metricpact.contracts.errors import ContractError, InputError

POSITIVE, NEGATIVE = "positive", "negative"
ITEM = {"item": pl.String, "state": pl.String, "label": pl.String, "label_source": pl.String, "line": pl.Int64}


@dataclass(frozen=True)
class Endpoints:
    """The states that there are, those that are no decision yet, and what counts as reached, by name.

    Raises ``ContractError`` for an endpoint without states, and for a state that is not declared or named twice.
    """

    states: tuple[str, ...]
    endpoints: Mapping[str, tuple[str, ...]]
    unresolved: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for state in self.states:
            if self.states.count(state) > 1:
                raise ContractError(f"the state {state!r} is declared twice", "states are mutually exclusive")
        if not self.states or not self.endpoints:
            raise ContractError(
                "decisions need declared states and an endpoint",
                "write for example --states validated,deferred,rejected --endpoint promotion=validated",
            )
        for name, states in self.endpoints.items():
            if not name:
                raise ContractError("an endpoint has no name", "write for example promotion=validated")
            if not states:
                raise ContractError(f"the endpoint {name!r} has no state", f"write {name}=STATE,STATE")
        for name, states in [*self.endpoints.items(), ("unresolved", self.unresolved)]:
            for state in states:
                if states.count(state) > 1:
                    raise ContractError(f"{name!r} names the state {state!r} twice", "name every state once")
                if state not in self.states:
                    raise ContractError(
                        f"{name!r} names the state {state!r}, which is not declared",
                        f"declared states: {', '.join(self.states)}",
                    )


@dataclass(frozen=True, eq=False)
class Decisions:
    """Items (``ITEM``), one row each, and where they came from."""

    name: str
    items: pl.DataFrame
    sha256: str | None = None


@dataclass(frozen=True)
class Ratio:
    """A fraction as it was counted; undefined, with the reason, where nothing is below the line."""

    numerator: int
    denominator: int
    reason: str = ""

    @property
    def value(self) -> float | None:
        """The quotient, or None where it is undefined."""
        return None if self.reason or not self.denominator else self.numerator / self.denominator


def check_states(decisions: Decisions, endpoints: Endpoints) -> None:
    """Raise ``InputError`` with lines for an item that is there twice and for a state that nobody declared."""
    items = decisions.items
    for row in items.filter(~pl.col("item").is_first_distinct()).head(1).iter_rows(named=True):
        first = items.filter(pl.col("item") == row["item"]).row(0, named=True)
        where = f" on line {first['line']}" if first["line"] is not None else ""
        raise InputError(
            f"item {row['item']!r} is in the state {row['state']!r}, and in {first['state']!r}{where}",
            "states are mutually exclusive: give every item once, in the state that holds",
            source=decisions.name,
            line=row["line"],
        )
    undeclared = items.filter(~pl.col("state").is_in(endpoints.states))
    for row in undeclared.head(1).iter_rows(named=True):
        same = undeclared.filter(pl.col("state") == row["state"])
        lines = ", ".join(str(line) for line in same["line"].drop_nulls().head(5))
        raise InputError(
            f"item {row['item']!r} is in the state {row['state']!r}, which is not declared "
            f"({same.height} item(s){': lines ' + lines if lines else ''})",
            f"states are complete: declare it; declared are {', '.join(endpoints.states)}",
            source=decisions.name,
            line=row["line"],
        )


def precision(items: pl.DataFrame, states: Sequence[str]) -> Ratio:
    """Of the items that reached the endpoint, those labelled positive."""
    reached = items.filter(pl.col("state").is_in(list(states)))
    return _ratio(_positives(reached), reached.height, "no item reached the endpoint")


def recall(items: pl.DataFrame, states: Sequence[str]) -> Ratio:
    """Of all items labelled positive, unresolved ones among them, those that reached the endpoint."""
    reached = items.filter(pl.col("state").is_in(list(states)))
    return _ratio(_positives(reached), _positives(items), "no item is labelled positive")


def conditional_recall(items: pl.DataFrame, states: Sequence[str], unresolved: Sequence[str]) -> Ratio:
    """Recall among the items that were decided: not recall over the cohort.

    Undefined for an endpoint that holds unresolved states, since no condition of having been decided fits it.
    """
    if set(states) & set(unresolved):
        return Ratio(0, 0, "the endpoint holds unresolved states")
    decided = items.filter(~pl.col("state").is_in(list(unresolved)))
    reached = decided.filter(pl.col("state").is_in(list(states)))
    return _ratio(_positives(reached), _positives(decided), "no decided item is labelled positive")


def _positives(items: pl.DataFrame) -> int:
    return items.filter(pl.col("label") == POSITIVE).height


def _ratio(numerator: int, denominator: int, reason: str) -> Ratio:
    return Ratio(numerator, denominator, "" if denominator else reason)
