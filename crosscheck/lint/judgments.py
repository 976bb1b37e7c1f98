"""Judgments alone: repeats, grades, the scale that they seem to be on."""

from __future__ import annotations

import numpy as np
from metricpact.bridges.sources.findings import Findings
from metricpact.contracts.rows import Codes, Keys, row_keys
from metricpact.contracts.tables import Judgments
from metricpact.crosscheck.lint.ids import check_ids, check_self_matches
from metricpact.crosscheck.lint.repeats import Some, at_rows, check_scattered, counted, over_queries, repeats


def check_judgments(judgments: Judgments, findings: Findings) -> None:
    """Find what is to be found in judgments."""
    check_scattered(judgments, findings)
    check_ids(judgments, findings)
    codes = judgments.codes
    keys = row_keys(judgments.docs, codes)
    check_self_matches(judgments, keys, codes, findings)
    _check_repeats(judgments, keys, codes, findings)
    _check_grades(judgments, findings)
    _check_positives(judgments, findings)
    _check_scale(judgments, findings)


def _check_repeats(judgments: Judgments, keys: Keys, codes: Codes, findings: Findings) -> None:
    grades = judgments.grades
    again, first = repeats(judgments, keys, codes)
    differ = grades[again] != grades[first]

    def told(flags: np.ndarray, word: str) -> Some:
        for row, before in zip(again[flags].tolist(), first[flags].tolist(), strict=True):
            where = judgments.origin.line(before)
            at = at_rows(judgments, row, before)
            yield (
                f"document {at['document']!r} is judged twice for query {at['query']!r}, {word}: grade {grades[row]}"
                + (f" here, {grades[before]} on line {where}" if where else f", and {grades[before]} before"),
                at,
            )

    for code, flags, word in (
        ("duplicate-judgment", ~differ, "alike"),
        ("conflicting-judgment", differ, "in conflict"),
    ):
        findings.add_some(code, int(np.count_nonzero(flags)), told(flags, word))


def _check_grades(judgments: Judgments, findings: Findings) -> None:
    """Negative and fractional grades: one finding for each value."""
    grades = judgments.grades
    for code, flags in (("negative-grade", grades < 0), ("fractional-grade", grades != np.floor(grades))):
        rows = np.flatnonzero(flags)
        values, first, counts = np.unique(grades[rows], return_index=True, return_counts=True)
        made = (
            (
                f"grade {value}: {counted(count, 'judgment')}",
                at_rows(judgments, int(rows[at])) | {"count": count},
            )
            for value, at, count in zip(values.tolist(), first.tolist(), counts.tolist(), strict=True)
        )
        findings.add_some(code, len(values), made)


def _check_positives(judgments: Judgments, findings: Findings) -> None:
    positives = np.bincount(judgments.codes[judgments.grades > 0], minlength=len(judgments.queries))
    none = np.flatnonzero(positives == 0)
    begin = judgments.offsets[none[0]] if len(none) else 0
    line = judgments.origin.line(int(begin)) if len(none) and begin < len(judgments) else None
    over_queries(findings, "no-positive-query", "queries without a positive grade", judgments.queries[none], line)


def _check_scale(judgments: Judgments, findings: Findings) -> None:
    values, counts = np.unique(judgments.grades, return_counts=True)
    if not len(values):
        return
    listed = ", ".join(
        f"{value}: {count}" for value, count in zip(values[:12].tolist(), counts[:12].tolist(), strict=True)
    )
    positive, given = values[values > 0], counts[values > 0]
    kind = "graded" if len(positive) > 1 else "binary" if len(positive) and 0 in values else "one grade only"
    findings.add("grade-scale", f"{kind} ({listed}{', …' if len(values) > 12 else ''})", count=len(judgments))
    if len(positive) > 2 and 0 not in values and given[0] < given[1:].min():
        findings.add(
            "reversed-grades",
            f"no grade is 0, and {positive[0]}, the lowest, is the rarest ({listed}): 1 may stand for the best",
            count=len(judgments),
        )
