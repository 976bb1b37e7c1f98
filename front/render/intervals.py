"""Intervals, p-values and signatures as text that people read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from metricpact.crosscheck.slices.intervals import Interval, IntervalOptions

ABSENT = "–"
_METHODS = {
    "wilson": "Wilson's score interval",
    "clopper-pearson": "Clopper and Pearson's exact interval",
    "newcombe": "Newcombe's paired score interval",
    "bca": "BCa bootstrap",
    "bca-exact": "BCa bootstrap over all resamples",
}


def number(value: float | None, places: int) -> str:
    """A number at some number of decimals, a dash where there is none."""
    return ABSENT if value is None else f"{value:.{places}f}"


def interval_text(interval: Interval, places: int) -> str:
    """``[0.31, 0.83]``, or why there is none."""
    if interval.lower is None or interval.upper is None:
        return interval.reason
    return f"[{interval.lower:.{places}f}, {interval.upper:.{places}f}]"


def methods_line(intervals: Iterable[tuple[str, Interval]], options: IntervalOptions) -> str:
    """How the intervals of some measures were made: methods, and where chance was in it, resamples and seed."""
    used: dict[str, list[str]] = {}
    for measure, interval in intervals:
        if interval.lower is not None:
            used.setdefault(interval.method, []).append(measure)
    parts = []
    for method, measures in used.items():
        drawn = f" ({options.resamples} resamples, seed {options.seed})" if method == "bca" else ""
        parts.append(f"{_METHODS[method]}{drawn} for {', '.join(dict.fromkeys(measures))}")
    level = f"{options.confidence * 100:g} %"
    return f"{level} intervals: {'; '.join(parts)}" if parts else f"{level} intervals: none"


def signature_lines(signatures: Mapping[str, str]) -> list[str]:
    """How the numbers were made: one line where the measures differ in nothing else."""
    tails = {signature.partition("|")[2] for signature in signatures.values()}
    if len(tails) == 1:
        return [f"signature MEASURE|{next(iter(tails))}"]
    return [f"signature {signature}" for signature in signatures.values()]
