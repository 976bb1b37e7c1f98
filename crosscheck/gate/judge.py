"""A gate held against two sides: every rule on every measure and slice gets its numbers and its verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import polars as pl
from metricpact.contracts.errors import InputError
from metricpact.crosscheck.compare.comparison import Comparison, Difference, compare_scores
from metricpact.crosscheck.compare.options import ComparisonOptions
from metricpact.crosscheck.gate.none_floor import none_verdict
from metricpact.crosscheck.gate.result import GateResult, RuleVerdict
from metricpact.crosscheck.gate.rules import INTERVAL, OBSERVED, Gate, Pattern, Rule
from metricpact.crosscheck.gate.sides import BASE, CANDIDATE, Comparability, Side, comparability
from metricpact.crosscheck.gate.verdicts import (
    CANNOT_JUDGE,
    SPARE,
    Limits,
    Quantity,
    by_equal_values,
    by_interval,
    by_value,
)
from metricpact.crosscheck.slices.intervals import ALL_EQUAL, IntervalOptions
from metricpact.crosscheck.slices.no_answer import PassRate
from metricpact.crosscheck.slices.notes import absent_notes
from metricpact.crosscheck.slices.slicing import Slice, Slicing

Compare = Callable[[float], Comparison]
"""The comparison of both sides with intervals at 1 − alpha, from alpha."""


@dataclass(frozen=True)
class _Cell:
    """One measure and slice that a rule asks for; ``part`` is None where no query is in such a slice."""

    number: int
    rule: Rule
    measure: str
    pattern: Pattern
    part: Slice | None


def judge_gate(
    gate: Gate,
    base: Side,
    candidate: Side,
    slices: pl.DataFrame | None = None,
    none: tuple[PassRate, PassRate] | None = None,
) -> GateResult:
    """The verdicts of a gate on a candidate against a base.

    ``slices`` has query_id and the slice columns; ``none`` are both sides' NONE questions, None where the input has no
    such questions. What the data cannot answer is a verdict, not an error. Raises ``InputError`` for slice columns that
    are not there, and where the sides share no query.
    """
    slicing = _slicing(gate, slices)
    cells = _cells(gate, slicing)
    found = comparability(gate, base, candidate)
    usable = [str(measure) for measure in gate.measures if str(measure) not in found.refused]
    family = sum(cell.rule.decide_by == INTERVAL for cell in cells)
    family += gate.none is not None and gate.none.decide_by == INTERVAL

    @cache
    def compare(alpha: float) -> Comparison:
        intervals = IntervalOptions(1 - alpha, resamples=gate.resamples, seed=gate.seed)
        options = ComparisonOptions(intervals=intervals, across_contracts="signature" in gate.across)
        return compare_scores(base.run, [candidate.run], measures=usable, slicing=slicing, options=options)

    judged = _judged_fractions(slicing, base, candidate)
    verdicts = [_verdict(gate, cell, found, judged, compare, gate.alpha / max(family, 1)) for cell in cells]
    if gate.none is not None:
        verdicts.append(none_verdict(gate.none, none, gate.alpha, gate.alpha / max(family, 1)))
    return GateResult(
        source=gate.source,
        base=base.origin,
        candidate=candidate.origin,
        verdicts=verdicts,
        settings={
            "alpha": gate.alpha,
            "verdicts_by_interval": family,
            "resamples": gate.resamples,
            "seed": gate.seed,
            "across": sorted(gate.across),
        },
        notes=[*found.notes, *absent_notes(slicing, candidate.run.queries)],
    )


def _slicing(gate: Gate, slices: pl.DataFrame | None) -> Slicing:
    columns = [pattern.columns for pattern in gate.patterns if pattern.columns]
    if columns and slices is None:
        raise InputError(
            f"the gate has rules on {columns[0][0]}, and there is no slice table",
            "give a table with query_id and that column: --slices TABLE",
            source=gate.source,
        )
    if slices is None:
        return Slicing()
    whole = Slicing(slices)
    for rule in gate.rules:
        for name in dict.fromkeys(name for pattern in rule.slices for name in pattern.columns):
            try:
                whole.require(name)
            except InputError as error:
                raise InputError(error.fact, error.hint, source=gate.source, line=rule.line) from error
    alone = [names[0] for names in columns if len(names) == 1]
    return Slicing.of(slices, alone, list(dict.fromkeys(names for names in columns if len(names) > 1)))


def _cells(gate: Gate, slicing: Slicing) -> list[_Cell]:
    """Every measure and slice of every rule, ``*`` written out, each once a rule."""
    there = slicing.slices()
    cells = []
    for number, rule in enumerate(gate.rules, 1):
        for measure in rule.measures:
            for pattern in rule.slices:
                parts: list[Slice | None] = [part for part in there if pattern.matches(part)]
                cells += [_Cell(number, rule, str(measure), pattern, part) for part in parts or [None]]
    return list(dict.fromkeys(cells))


def _judged_fractions(slicing: Slicing, base: Side, candidate: Side) -> Callable[[str, str], float | None]:
    """The smaller mean judged fraction of both sides, by measure and slice; None where nothing is returned."""
    members = [{part.name: mask for part, mask in slicing.members(one.run.queries)} for one in (base, candidate)]

    def judged(measure: str, part: str) -> float | None:
        means = []
        for side, masks in zip((base, candidate), members, strict=True):
            column = side.run.column(measure)
            shares = column.fraction[masks[part] & column.in_mean & column.has_fraction]
            if len(shares):
                means.append(float(np.mean(shares)))
        return min(means, default=None)

    return judged


def _verdict(
    gate: Gate,
    cell: _Cell,
    found: Comparability,
    judged: Callable[[str, str], float | None],
    compare: Compare,
    strict_alpha: float,
) -> RuleVerdict:
    rule = cell.rule
    about: dict[str, Any] = {
        "rule": cell.number,
        "measure": cell.measure,
        "slice": cell.part.name if cell.part else str(cell.pattern),
        "min_n": rule.min_n,
        "decide_by": rule.decide_by,
        "line": rule.line,
    }
    if cell.part is None:
        return RuleVerdict(**about, verdict=CANNOT_JUDGE, why=f"no query is in a slice {cell.pattern}")
    if cell.measure in found.refused:
        return RuleVerdict(**about, verdict=CANNOT_JUDGE, why=found.refused[cell.measure])
    comparison = compare(gate.alpha)
    held = comparison.find(CANDIDATE, cell.measure, cell.part.name)
    share = judged(cell.measure, cell.part.name)
    about |= {
        "n": held.n,
        "undefined": held.undefined,
        "base": held.base_mean,
        "candidate": held.candidate_mean,
        "difference": held.difference,
        "judged": share,
        "lower": held.interval.lower,
        "upper": held.interval.upper,
        "method": held.interval.method,
        "note": found.labels.get(cell.measure, ""),
    }
    sides = (comparison.signatures[name][cell.measure] for name in (BASE, CANDIDATE))
    about |= zip(("base_signature", "candidate_signature"), sides, strict=True)
    allowed = rule.max_drop * (held.base_mean or 0.0) if rule.relative else rule.max_drop
    asked = Quantity("the difference", 0.0 - allowed, "+")
    about["floor"] = asked.floor
    if held.n < rule.min_n or held.difference is None:
        few = f"n = {held.n} is below {rule.min_n}: direction, not evidence"
        return RuleVerdict(**about, verdict=CANNOT_JUDGE, why=few)
    if rule.judged_floor and (share is None or share < rule.judged_floor - SPARE):
        told = "nothing" if share is None else f"{share:.4g}"
        why = f"{told} of what was returned is judged, below {rule.judged_floor:.4g}: the means rest on too little"
        return RuleVerdict(**about, verdict=CANNOT_JUDGE, why=why)
    if rule.decide_by == OBSERVED:
        verdict, why = by_value(asked, held.difference, held.n)
    elif _all_equal(held):
        verdict, why = by_equal_values(asked, held.difference, held.n, gate.alpha)
    else:
        upper, strict = held.interval.upper, None
        if upper is not None and not asked.holds(upper):
            # Only what may fail is worth another interval.
            strict = compare(strict_alpha).find(CANDIDATE, cell.measure, cell.part.name).interval.upper
        about["strict_upper"] = strict
        verdict, why = by_interval(asked, Limits(held.interval.lower, upper, strict, held.interval.reason))
    return RuleVerdict(**about, verdict=verdict, why=why)


def _all_equal(held: Difference) -> bool:
    """Whether all differences are the same: no query changed, or the bootstrap found no spread."""
    return held.ties == held.n or held.interval.reason == ALL_EQUAL
