"""Known-item results scored: expected ids feed the measures of relevant or not, grades those of gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from metricpact.bridges.evaluate import evaluate
from metricpact.bridges.sources.known_item_table import KnownItems
from metricpact.contracts.errors import InputError
from metricpact.contracts.measures import Measure, parse_measures
from metricpact.contracts.profiles import Profile
from metricpact.contracts.scores import Column
from metricpact.crosscheck.slices.no_answer import NO_POLICY, NO_QUESTIONS, NO_RESPONSES, judge_responses
from metricpact.crosscheck.slices.scored import ScoredRun
from metricpact.crosscheck.slices.tabulate import NoneQuestions


def default_measures(k: int, *, graded: bool = False) -> list[Measure]:
    """R@1, R@k and RR; nDCG@k too where there are grades."""
    return parse_measures(["R@1", f"R@{k}", "RR", *([f"nDCG@{k}"] if graded else [])])


def score_known_items(
    items: KnownItems, measures: Sequence[Measure], profile: Profile, backend: str
) -> list[ScoredRun]:
    """Every run of a known-item table, scored under a contract.

    Measures with a gain are scored against the grades, on whose questions alone they have a value; all others
    against the expected ids. Raises ``InputError`` where grades are needed and there are none, or where no question
    has an answer, and what ``evaluate`` raises.
    """
    if not len(items.expected.queries):
        raise InputError("no question has an answer", "name an expected_id for some", source=items.name)
    by_grade = [measure for measure in measures if "gain" in measure.known.parameters]
    by_answer = [measure for measure in measures if measure not in by_grade]
    if by_grade and items.graded is None:
        raise InputError(
            f"{by_grade[0]} needs grades, and there is no column grades",
            "add a column grades (id:2;id:1), or ask for R@k and RR",
            source=items.name,
        )
    scored = []
    for name, run in items.runs.items():
        columns: Mapping[Measure, Column] = {
            column.measure: column
            for judgments, wanted in ((items.expected, by_answer), (items.graded, by_grade))
            if judgments is not None and wanted
            for column in ScoredRun.from_scores(name, evaluate(judgments, run, wanted, profile, backend)).columns
        }
        scored.append(ScoredRun(name, items.expected.queries, [columns[measure] for measure in measures]))
    return scored


def judge_none_questions(items: KnownItems, policy: str | None) -> NoneQuestions:
    """The NONE questions of a known-item table against the decided behaviour; see ``judge_responses``."""
    rows = judge_responses(items.none_rows, policy)
    if not len(rows):
        return NoneQuestions(rows, policy, NO_QUESTIONS)
    if not items.has_response:
        return NoneQuestions(rows, policy, NO_RESPONSES)
    return NoneQuestions(rows, policy, NO_POLICY if policy is None else "")
