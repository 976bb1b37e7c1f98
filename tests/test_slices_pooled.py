"""Pooled counts: numerators and denominators against a naive count, and what is 0 or 1 by definition."""

from __future__ import annotations

from fractions import Fraction

import metricpact as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metricpact.crosscheck.slices.scored import ScoredRun, pooled
from pytest import approx

DOCUMENTS = "abcdef"
Judged = dict[str, dict[str, int]]
Ranked = dict[str, list[str]]

judged = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 2), min_size=1)
ranked = st.lists(st.sampled_from(DOCUMENTS + "xyz"), unique=True, max_size=7)
worlds = st.lists(st.tuples(judged, ranked), min_size=1, max_size=6)


def counts(
    measure: str, k: int, grades: dict[str, int], ranking: list[str], settings: dict[str, str]
) -> tuple[int, int] | None:
    """Numerator and denominator of one query, from the words of the contract; None where it has no value."""
    relevant = {document for document, grade in grades.items() if grade >= 1}
    depth = {"Rprec": len(relevant), "SetP": len(ranking), "SetR": len(ranking)}.get(measure, k)
    prefix = ranking[:depth]
    hits = len(relevant.intersection(prefix))
    if measure == "Judged":
        return (len(set(grades).intersection(prefix)), len(prefix)) if prefix else None
    if measure in ("P", "SetP"):
        capped = measure == "SetP" or settings["precision_denominator"] == "returned"
        return hits, len(prefix) if capped else k
    if not relevant:
        return None
    if measure == "Success":
        return min(hits, 1), 1
    capped = measure == "R" and settings["recall_denominator"] == "capped"
    return hits, min(k, len(relevant)) if capped else len(relevant)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(worlds, st.integers(1, 4), st.sampled_from(["cutoff", "returned"]), st.sampled_from(["relevant", "capped"]))
def test_pooled_counts_are_what_counting_finds(
    world: list[tuple[dict[str, int], list[str]]], k: int, precision: str, recall: str
) -> None:
    """Σ numerators and Σ denominators over the queries with a value, for every measure that is a count over a count."""
    qrels: Judged = {f"q{at}": grades for at, (grades, _) in enumerate(world)}
    run: Ranked = {f"q{at}": ranking for at, (_, ranking) in enumerate(world)}
    fields = {"precision_denominator": precision, "recall_denominator": recall}
    names = [f"P@{k}", f"R@{k}", f"Success@{k}", f"Judged@{k}", "SetP", "SetR", "Rprec"]
    scored = ScoredRun.from_scores("run", mp.score(qrels, run, names, backend="reference", set=fields))
    for name in names:
        column = scored.column(name)
        family = name.partition("@")[0]
        wanted = [found for grades, ranking in world if (found := counts(family, k, grades, ranking, fields))]
        known = column.reason == 0
        assert int(known.sum()) == len(wanted)
        assert pooled(column, known) == (sum(n for n, _ in wanted), sum(d for _, d in wanted))
        # The same counts give the values, and tell whether they are 0 or 1 by definition.
        expected = sorted(Fraction(n, d) if d else Fraction() for n, d in wanted)
        assert sorted(column.values[known]) == approx([float(value) for value in expected])
        assert column.zero_one == all(d <= 1 for _, d in wanted)


@pytest.mark.parametrize("measure", ["RR", "RR@5", "AP", "nDCG@1", "SetF", "Bpref"])
def test_other_measures_have_no_pooled_value(measure: str) -> None:
    """What is no count over a count is not pooled, and is never taken for a proportion."""
    column = ScoredRun.from_scores("run", mp.score({"q": {"a": 1}}, {"q": ["a"]}, measure)).columns[0]
    assert pooled(column, np.array([True])) is None
    assert not column.zero_one


def test_expected_values_over_ties_are_not_pooled() -> None:
    """Under ties=average P@1 of two tied documents is one half: no proportion."""
    scores = mp.score({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, "P@1", backend="reference", set={"ties": "average"})
    assert scores.by_query("P@1") == {"q": 0.5}
    assert not scores.column("P@1").zero_one
