"""From what a user names to the two sides of a gate: files, records, scores, or a known-item table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import polars as pl
from metricpact.bridges.scored_sources import score_sources
from metricpact.bridges.sources.known_item_table import is_known_items, read_known_items
from metricpact.bridges.sources.slice_table import read_slice_table
from metricpact.contracts.errors import InputError
from metricpact.contracts.scores import Scores
from metricpact.crosscheck.gate.rules import Gate
from metricpact.crosscheck.gate.sides import BASE, CANDIDATE, Side
from metricpact.crosscheck.records.record import Record
from metricpact.crosscheck.records.recorded_runs import kept, no_judgments, none_questions
from metricpact.crosscheck.slices.intervals import IntervalOptions
from metricpact.crosscheck.slices.known_items import judge_none_questions, score_known_items
from metricpact.crosscheck.slices.no_answer import PassRate, pass_rate
from metricpact.crosscheck.slices.notes import lacking_notes
from metricpact.crosscheck.slices.tabulate import NoneQuestions


@dataclass(frozen=True, eq=False)
class GateInputs:
    """What ``judge_gate`` takes: both sides, the slice table, and both pass rates of NONE questions."""

    base: Side
    candidate: Side
    slices: pl.DataFrame | None
    none: tuple[PassRate, PassRate] | None = None


def gate_inputs(
    gate: Gate,
    qrels: Any,
    base: Any,
    candidate: Any,
    slices: Any = None,
    *,
    formats: tuple[str | None, str | None] = (None, None),
    split: str = "test",
) -> GateInputs:
    """Both sides of a gate.

    ``base`` and ``candidate`` are runs (paths or objects), ``record:ID@FILE``, ``Record`` or ``Scores``; ``qrels`` may
    be None where neither has to be scored. Where ``qrels`` is a known-item table, they are the names of two runs in it.
    ``slices`` is what ``read_slice_table`` takes; without it, the table or a record that has slices is asked. Raises
    ``InputError`` and what the readers and ``evaluate`` raise.
    """
    if is_known_items(qrels):
        if slices is not None:
            raise InputError("a known-item table has its own slices", "leave out the slice table", source=str(qrels))
        return _from_known_items(gate, str(qrels), base, candidate)
    given = [one if isinstance(one, Scores) else kept(one) for one in (base, candidate)]
    fresh = [source for source, held in zip((base, candidate), given, strict=True) if held is None]
    if fresh and qrels is None:
        raise no_judgments(fresh[0])
    scored = iter(
        score_sources(qrels, fresh, gate.measures, gate.profile, gate.backend, formats=formats, split=split)
        if fresh
        else []
    )
    sides = [Side.of(word, held or next(scored)) for word, held in zip((BASE, CANDIDATE), given, strict=True)]
    table = None if slices is None else read_slice_table(slices)
    if table is None:
        own = [one.slices for one in given if isinstance(one, Record) and one.slices is not None]
        table = own[0] if own else None
    return GateInputs(sides[0], sides[1], table, _kept_rates(gate, given))


def _kept_rates(gate: Gate, given: list[Record | Scores | None]) -> tuple[PassRate, PassRate] | None:
    """The pass rates of two records, None where a side holds no NONE questions."""
    held = [one for one in given if isinstance(one, Record) and one.none_questions is not None]
    if gate.none is None or len(held) < 2:
        return None
    none = none_questions(list(zip((BASE, CANDIDATE), held, strict=True)), gate.none.policy)
    return _rates(gate, none, BASE, CANDIDATE)


def _rates(gate: Gate, none: NoneQuestions, base: str, candidate: str) -> tuple[PassRate, PassRate]:
    options = IntervalOptions(1 - gate.alpha)
    rates = [pass_rate(none.rows.filter(pl.col("run") == name), none.reason, options) for name in (base, candidate)]
    return rates[0], rates[1]


def _from_known_items(gate: Gate, path: str, base: Any, candidate: Any) -> GateInputs:
    items = read_known_items(path, hashing=True)
    items.chosen((base, candidate))
    scored = {run.name: run for run in score_known_items(items, gate.measures, gate.profile, gate.backend)}
    sides = [Side.of(word, scored[name]) for word, name in ((BASE, base), (CANDIDATE, candidate))]
    sides[0] = replace(sides[0], notes=tuple(lacking_notes(items, (base, candidate))))
    none = judge_none_questions(items, gate.none.policy if gate.none else None)
    return GateInputs(sides[0], sides[1], items.slices, _rates(gate, none, base, candidate))
