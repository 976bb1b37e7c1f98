"""The floor under the pass rate of questions without an answer."""

from __future__ import annotations

from typing import Any

from metricpact.crosscheck.gate.result import NONE_MEASURE, RuleVerdict
from metricpact.crosscheck.gate.rules import OBSERVED, NoneRule
from metricpact.crosscheck.gate.verdicts import CANNOT_JUDGE, Limits, Quantity, by_interval, by_value
from metricpact.crosscheck.slices.intervals import IntervalOptions, proportion_interval
from metricpact.crosscheck.slices.no_answer import PassRate


def none_verdict(
    rule: NoneRule, none: tuple[PassRate, PassRate] | None, alpha: float, strict_alpha: float
) -> RuleVerdict:
    """The verdict on the candidate's pass rate; ``none`` are both sides' rates, and the base's is only shown.

    ``strict_alpha`` is alpha/m, at which a failure has to hold (see ``verdicts.py``).
    """
    about: dict[str, Any] = {
        "rule": 0,
        "measure": NONE_MEASURE,
        "slice": f"policy={rule.policy}",
        "min_n": rule.min_n,
        "decide_by": rule.decide_by,
        "line": rule.line,
        "floor": rule.min_pass_rate,
    }
    if none is None:
        why = "there are no NONE questions on both sides: they stand in a known-item table, or records of one"
        return RuleVerdict(**about, verdict=CANNOT_JUDGE, why=why)
    base, found = none
    about |= {"n": found.n, "undefined": found.unscored, "base": base.rate, "candidate": found.rate}
    if base.rate is not None and found.rate is not None:
        about["difference"] = found.rate - base.rate
    if found.rate is None:
        return RuleVerdict(**about, verdict=CANNOT_JUDGE, why=found.reason)
    loose, strict = (
        proportion_interval(found.passed, found.n, IntervalOptions(1 - level)) for level in (alpha, strict_alpha)
    )
    about |= {"lower": loose.lower, "upper": loose.upper, "method": loose.method, "strict_upper": strict.upper}
    if found.n < rule.min_n:
        few = f"n = {found.n} is below {rule.min_n}: direction, not evidence"
        return RuleVerdict(**about, verdict=CANNOT_JUDGE, why=few)
    if found.unscored:
        left = f"{found.unscored} of {found.n + found.unscored} NONE questions are not scored: no response is given"
        return RuleVerdict(**about, verdict=CANNOT_JUDGE, why=left)
    asked = Quantity("the pass rate", rule.min_pass_rate)
    if rule.decide_by == OBSERVED:
        verdict, why = by_value(asked, found.rate, found.n)
    else:
        verdict, why = by_interval(asked, Limits(loose.lower, loose.upper, strict.upper))
    return RuleVerdict(**about, verdict=verdict, why=why)
