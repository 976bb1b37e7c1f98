"""Claims of kind ``mean``: means of which nothing is known but the measure; which numbers of queries allow them?

A query's value is one of few fractions (RR@4: 0, 1/4, 1/3, 1/2, 1), so a sum over n queries is one of finitely many,
not every multiple of their common unit. All sums are enumerated exactly, as the bits of an integer: bit m is set where
m units can be reached. Nothing is recomputed here: a mean that can be reached may still be wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from metricpact.contracts.errors import MetricpactError
from metricpact.contracts.measures import Measure, parse_measure
from metricpact.crosscheck.audit.published import Published
from metricpact.crosscheck.claims.document import Claim
from metricpact.crosscheck.claims.inputs import statements, whole
from metricpact.crosscheck.claims.verdicts import CANNOT_CHECK, NOT_ATTAINABLE, ONLY_UNDER, Number, Verdict

MOST_QUERIES = 2_000
MOST_UNITS = 3_000_000
"""The longest sum in units: RR@10 has 2,520 units to a query, so that up to 1,190 queries are tried."""
LISTED = 6
_BY_RELEVANT = ("R", "SetR", "SetF", "Rprec", "AP", "Bpref")


def check_mean(claim: Claim) -> Verdict:
    """Whether means over the same queries can be reached at all, and over how many queries."""
    means = {name: statements(claim, written, name) for name, written in claim.table("means").items()}
    if not means:
        raise claim.error("states no mean", 'write means = { adaptive = ".7500" }')
    if any(one.value is None for several in means.values() for one in several):
        raise claim.error("an undefined mean has no number of queries", "state a number", "means")
    stated = [(name, one) for name, several in means.items() for one in several]
    values, why = _values(claim)
    n = whole(claim, "n")
    unknown = tuple(Number(name, one.text, None, holds=False) for name, one in stated)
    if why:
        return Verdict(CANNOT_CHECK, why, unknown)
    unit = math.lcm(*(value.denominator for value in values))
    units = sorted({int(value * unit) for value in values})
    most = min(MOST_QUERIES if n is None else n, MOST_UNITS // max(units[-1], 1))
    if (n or 1) > most:
        return Verdict(CANNOT_CHECK, f"too many sums of {len(values)} different values to enumerate", unknown)
    numbers: Sequence[Published] = [one for _, one in stated]
    fits: list[int] = []
    for count, sums in enumerate(reachable(units, most), 1):
        if (n is None or count == n) and all(_sums_within(one, sums, count * unit) for one in numbers):
            fits.append(count)
        if count == most:
            return _verdict(stated, fits, n, most, sums, unit)
    raise AssertionError("unreachable")  # pragma: no cover


def reachable(units: Sequence[int], most: int) -> Iterator[int]:
    """For 1, 2, … ``most`` queries, all sums of a unit count a query, as the set bits of an integer."""
    sums = 1
    for _ in range(most):
        shifted = 0
        for count in units:
            shifted |= sums << count
        sums = shifted
        yield sums


def _sums_within(number: Published, sums: int, scale: int) -> bool:
    """Whether a reachable sum, over ``scale`` units, is printed as the number."""
    least = max(math.ceil(number.low * scale), 0)
    greatest = min(math.floor(number.high * scale), sums.bit_length())  # nothing beyond the largest sum is reached
    return greatest >= least and bool((sums >> least) & ((1 << (greatest - least + 1)) - 1))


def _verdict(
    stated: Sequence[tuple[str, Published]], fits: list[int], n: int | None, most: int, sums: int, unit: int
) -> Verdict:
    numbers = tuple(Number(name, one.text, None, holds=bool(fits)) for name, one in stated)
    if fits and n is not None:
        sums_of = [f"a sum of {_sums(one, sums, n, unit)} for {name}" for name, one in stated]
        return Verdict(ONLY_UNDER, f"{', '.join(sums_of)} (n = {n})", numbers)
    if fits:
        listed = ", ".join(map(str, fits[:LISTED])) + (", …" if len(fits) > LISTED else "")
        gap = next((count for count in range(most, 0, -1) if count not in set(fits)), 0)
        notes = (f"{len(fits)} of the numbers of queries up to {most:,} allow it, all from {gap + 1} on",)
        return Verdict(ONLY_UNDER, f"n = {listed}", numbers, notes if gap < most else ())
    if n is None:
        return Verdict(NOT_ATTAINABLE, f"with no number of queries up to {most:,}", numbers)
    for name, one in stated:
        if not _sums_within(one, sums, n * unit):
            return Verdict(
                NOT_ATTAINABLE, f"{name}: nearest over n = {n} is {_nearest(one, sums, n * unit):.6g}", numbers
            )
    raise AssertionError("unreachable")  # pragma: no cover


def _sums(number: Published, sums: int, n: int, unit: int) -> str:
    """The sums that are printed as the number, such as ``3`` or ``12 or 37/3``."""
    least, greatest = (
        max(math.ceil(number.low * n * unit), 0), math.floor(number.high * n * unit)
    )  # fmt: skip
    found = [str(Fraction(at, unit)) for at in range(least, greatest + 1) if sums >> at & 1]
    return " or ".join(found[:LISTED]) + (" or …" if len(found) > LISTED else "")


def _nearest(number: Published, sums: int, scale: int) -> float:
    reached = [at for at in range(sums.bit_length()) if sums >> at & 1]
    return min((at / scale for at in reached), key=number.distance)


def _values(claim: Claim) -> tuple[set[Fraction], str]:
    """The values that a query can have, or why they are not known."""
    if ("each" in claim.keys) == ("measure" in claim.keys):
        raise claim.error(
            "needs a measure, or the values that a query can have", 'write measure = "RR@4" or each = [0, 1]'
        )
    if "each" in claim.keys:
        read = statements(claim, claim.keys["each"], "each")
        values = {one.value for one in read if one.value is not None and one.value >= 0}
        if not values or len(values) != len({one.value for one in read}):
            raise claim.error("a query's values are numbers of 0 or more", "write each = [0, 1]", "each")
        return values, ""
    try:
        measure = parse_measure(claim.keys["measure"])
    except MetricpactError as error:
        raise claim.error(error.fact, error.hint, "measure") from error
    return _values_of(measure, whole(claim, "relevant"))


def _values_of(measure: Measure, relevant: int | None) -> tuple[set[Fraction], str]:
    """The values that a measure can have for one query with some number of relevant documents (None: unknown)."""
    family, k = measure.family, measure.cutoff
    none, deepest = Fraction(0), k or relevant or 0
    short: dict[str, set[Fraction]] = {"Success": {none, Fraction(1)}}
    if k is not None:
        short["RR"] = {none} | {Fraction(1, rank) for rank in range(1, k + 1)}
        short["P"] = {Fraction(hits, k) for hits in range(min(k, relevant or k) + 1)}
    if relevant is not None:
        short["R"] = {Fraction(hits, relevant) for hits in range(min(deepest, relevant) + 1)}
        if relevant == 1 and "RR" in short:
            short["AP"] = short["RR"]
    if family in short:
        return short[family], ""
    if relevant is None and family in _BY_RELEVANT:
        return set(), f"{measure} divides by |R|, which is unknown"
    return set(), f"the values that {measure} can have for a query are not a short list"
