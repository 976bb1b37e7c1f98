"""Judgments under a contract: duplicates, negative and fractional grades settled, before any ranking is looked at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from metricpact.contracts.contract import Contract
from metricpact.contracts.rows import Codes, Keys, first_or_last, first_pair, repeated_rows, row_keys
from metricpact.contracts.tables import Ints, Judgments


@dataclass(frozen=True, eq=False)
class JudgedGrades:
    """The judgments that count, by query: ``query`` code, ``grades`` and document key of each; ``size`` queries."""

    query: Codes
    grades: npt.NDArray[Any]
    docs: pl.Series
    keys: Keys
    size: int
    _memo: dict[str, Any] = field(default_factory=dict, repr=False)

    def count(self, flags: npt.NDArray[np.bool_]) -> Ints:
        """How many of the flagged judgments each query has."""
        return np.bincount(self.query[flags], minlength=self.size).astype(np.int64)

    @property
    def largest(self) -> float:
        """The largest grade, 0 where there is none."""
        return float(self.grades.max()) if len(self.grades) else 0.0


def settle_judgments(judgments: Judgments, contract: Contract) -> JudgedGrades:
    """The judgments that count under a contract; raises ``InputError`` with file:line for what it rejects."""
    codes, docs, grades = judgments.codes, judgments.docs, judgments.grades
    keys = row_keys(docs, codes)
    keep = np.ones(len(codes), np.bool_)
    repeated = repeated_rows(keys, docs, codes)
    if len(repeated):
        if contract.duplicate == "error":
            raise _judged_twice(judgments, repeated)
        keep[first_or_last(repeated, docs, codes, contract.duplicate)] = False
    _check_fractions(judgments, contract)
    negative = grades < 0
    if (negative & keep).any():
        if contract.negative_grade == "error":
            row = int(np.flatnonzero(negative & keep)[0])
            raise judgments.error(
                row,
                f"grade {grades[row]} is negative (query {_of(judgments, row)}, document {docs[row]!r})",
                "choose what it means: --set negative_grade=unjudged (as trec_eval) or negative_grade=nonrelevant",
            )
        if contract.negative_grade == "unjudged":
            keep &= ~negative
        else:
            grades = np.where(negative, 0, grades)
    if not keep.all():
        codes, grades, keys, docs = codes[keep], grades[keep], keys[keep], docs.filter(pl.Series(keep))
    return JudgedGrades(codes, grades, docs, keys, len(judgments.queries))


def _judged_twice(judgments: Judgments, repeated: Ints) -> Exception:
    first, second = first_pair(repeated, judgments.docs, judgments.codes)
    before = judgments.origin.line(first)
    where = f", first on line {before}" if before else ""
    return judgments.error(
        second,
        f"document {judgments.docs[second]!r} is judged twice for query {_of(judgments, second)}{where} "
        f"(grades {judgments.grades[first]} and {judgments.grades[second]})",
        "remove one of the two, or choose which counts: --set duplicate=first or duplicate=last",
    )


def _check_fractions(judgments: Judgments, contract: Contract) -> None:
    """Refuse grades that are no integers, unless the gain table lists them."""
    if judgments.grades.dtype.kind != "f":
        return
    listed = [grade for grade, _ in contract.gain] if isinstance(contract.gain, tuple) else []
    bad = (judgments.grades != np.floor(judgments.grades)) & ~np.isin(judgments.grades, listed)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise judgments.error(
            row,
            f"grade {judgments.grades[row]} is not an integer "
            f"(query {_of(judgments, row)}, document {judgments.docs[row]!r})",
            "grades are integers; a gain table that lists a fractional grade admits it, such as "
            f"nDCG(gains={{{judgments.grades[row]}:{judgments.grades[row]},1:1}})@10",
        )


def _of(judgments: Judgments, row: int) -> str:
    return repr(judgments.queries[int(np.searchsorted(judgments.offsets, row, side="right")) - 1])
