"""Claims that are arithmetic of counts: ratios, and set-based precision and recall of decisions, in exact fractions.

A decision puts each item in one state; an *endpoint* is the set of states that count as retrieved. Recall is over all
positives, whatever became of them; leaving states out of the denominator makes it conditional on a decision.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import combinations
from typing import Any

from metricpact.bridges.sources.csv_table import read_csv_table
from metricpact.contracts.errors import InputError
from metricpact.crosscheck.audit.published import Published
from metricpact.crosscheck.claims.document import Claim
from metricpact.crosscheck.claims.inputs import statements
from metricpact.crosscheck.claims.verdicts import NOT_REPRODUCED, ONLY_UNDER, REPRODUCED, Number, Verdict

States = Mapping[str, tuple[int, int]]
"""State → how many positives and negatives are in it."""
DECISION_VALUES = ("recall", "precision", "positives", "negatives", "items")
LABELS = ("positive", "negative")
MOST_STATES = 8


def check_ratio(claim: Claim) -> Verdict:
    """Whether a ratio is printed as stated."""
    if "ratio" not in claim.keys or "stated" not in claim.keys:
        raise claim.error("needs a ratio and what is stated of it", 'write ratio = "21/43" and stated = ".4884"')
    ratios = statements(claim, claim.keys["ratio"], "ratio")
    ratio, value = ratios[0], ratios[0].value
    if len(ratios) > 1 or value is None:
        raise claim.error("ratio is not one number", 'write ratio = "21/43"', "ratio")
    numbers = tuple(
        Number(ratio.text, one.text, float(value), one.holds(value))
        for one in statements(claim, claim.keys["stated"], "stated")
    )
    if all(number.holds for number in numbers):
        return Verdict(REPRODUCED, "", numbers)
    return Verdict(NOT_REPRODUCED, f"nearest: {ratio.text} is {float(value):.6g}", numbers)


def check_decisions(claim: Claim) -> Verdict:
    """Whether precision and recall of an endpoint are as stated, or are so for another endpoint or denominator."""
    states = _states(claim)
    endpoint, left_out = (_named_states(claim, key, states) for key in ("endpoint", "left_out"))
    if endpoint & left_out:
        raise claim.error(f"{', '.join(sorted(endpoint & left_out))} is in the endpoint and left out", "", "left_out")
    wanted = _wanted(claim)
    if not endpoint and {"recall", "precision"} & wanted.keys():
        raise claim.error("has no endpoint", 'write endpoint = ["validated"]: the states that count as retrieved')
    values = decision_values(states, endpoint, left_out)
    numbers = tuple(
        Number(name, one.text, None if values[name] is None else float(values[name] or 0), one.holds(values[name]))
        for name, several in wanted.items()
        for one in several
    )
    if all(number.holds for number in numbers):
        return Verdict(REPRODUCED, "", numbers)
    others = [
        _in_words(other, out, endpoint, left_out)
        for other, out in _neighbours(states, endpoint, left_out)
        if _holds(wanted, decision_values(states, other, out))
    ]
    if others:
        return Verdict(ONLY_UNDER, others[0], numbers)
    wrong = next(number for number in numbers if not number.holds)
    told = "undefined" if wrong.computed is None else f"{wrong.computed:.4f}"
    return Verdict(NOT_REPRODUCED, f"nearest: {wrong.about} {told}", numbers)


def decision_values(states: States, endpoint: frozenset[str], left_out: frozenset[str]) -> dict[str, Fraction | None]:
    """Precision, recall and counts of an endpoint, the states in ``left_out`` apart; None where a denominator is 0."""
    counted = {name: counts for name, counts in states.items() if name not in left_out}
    positives, negatives = (sum(counts[side] for counts in counted.values()) for side in (0, 1))
    hits, false = (sum(counted[name][side] for name in endpoint) for side in (0, 1))
    return {
        "recall": Fraction(hits, positives) if positives else None,
        "precision": Fraction(hits, hits + false) if hits + false else None,
        "positives": Fraction(positives),
        "negatives": Fraction(negatives),
        "items": Fraction(positives + negatives),
    }


def _holds(wanted: Mapping[str, list[Published]], values: Mapping[str, Fraction | None]) -> bool:
    return all(one.holds(values[name]) for name, several in wanted.items() for one in several)


def _neighbours(
    states: States, endpoint: frozenset[str], left_out: frozenset[str]
) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """All other endpoints and states left out, those that differ in the fewest states first."""
    subsets = [frozenset(chosen) for count in range(len(states) + 1) for chosen in combinations(states, count)]
    pairs = [(one, out) for one in subsets if one for out in subsets if not one & out]
    yield from sorted(pairs, key=lambda pair: len(pair[0] ^ endpoint) + len(pair[1] ^ left_out))


def _in_words(other: frozenset[str], out: frozenset[str], endpoint: frozenset[str], left_out: frozenset[str]) -> str:
    parts = []
    if other != endpoint:
        parts.append(f"endpoint {' + '.join(sorted(other))}")
    if out != left_out:
        parts.append(f"{' + '.join(sorted(out)) or 'nothing'} left out of the denominator")
    return ", ".join(parts)


def _states(claim: Claim) -> States:
    if ("states" in claim.keys) == ("items" in claim.keys):
        raise claim.error(
            "needs states or items", "write states = { validated = [21, 0], … } (positive, negative) or items = a file"
        )
    if "items" in claim.keys:
        return _counted(claim)
    states: dict[str, tuple[int, int]] = {}
    for name, counts in claim.table("states").items():
        good = isinstance(counts, list) and len(counts) == 2
        if not good or any(isinstance(one, bool) or not isinstance(one, int) or one < 0 for one in counts):
            raise claim.error(f"state {name} has no two counts", f"write {name} = [21, 0]: positives, negatives", name)
        states[name] = counts[0], counts[1]
    _check_size(claim, len(states), "states")
    return states


def _counted(claim: Claim) -> States:
    """The states of a CSV file with one item a line: columns state and label (positive or negative)."""
    import polars as pl

    try:
        table = read_csv_table(claim.path(str(claim.keys["items"])), ("state", "label"))
        table.no_empty(["state", "label"])
        wrong = (~table.frame["label"].is_in(LABELS)).arg_true()
        if len(wrong):
            raise table.error(
                wrong[0], f"label {table.frame['label'][wrong[0]]!r} is none", f"labels: {', '.join(LABELS)}"
            )
    except InputError as error:
        raise claim.error(error.fact, error.hint, "items") from error
    counts = table.frame.group_by("state", maintain_order=True).agg(
        (pl.col("label") == label).sum().alias(label) for label in LABELS
    )
    _check_size(claim, len(counts), "items")
    return {state: (positive, negative) for state, positive, negative in counts.iter_rows()}


def _check_size(claim: Claim, states: int, key: str) -> None:
    if not 1 <= states <= MOST_STATES:
        raise claim.error(f"has {states} states", f"there are 1 to {MOST_STATES}", key)


def _named_states(claim: Claim, key: str, states: States) -> frozenset[str]:
    written: Any = claim.keys.get(key, [])
    if not isinstance(written, list) or not all(isinstance(name, str) for name in written):
        raise claim.error(f"{key} is not a list of states", f'write {key} = ["{next(iter(states))}"]', key)
    for name in written:
        if name not in states:
            raise claim.error(f"{key}: {name!r} is not a state", f"states: {', '.join(states)}", key)
    return frozenset(written)


def _wanted(claim: Claim) -> dict[str, list[Published]]:
    table = claim.table("values")
    for name in table:
        if name not in DECISION_VALUES:
            raise claim.error(f"{name!r} is no value of decisions", f"values: {', '.join(DECISION_VALUES)}", name)
    if not table:
        raise claim.error("states no value", 'write values = { recall = "21/43" }')
    return {name: statements(claim, written, name) for name, written in table.items()}
