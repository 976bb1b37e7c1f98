"""What bounds come to: arrays beside a measure's values, a small tuple for one query or the mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from metricpact.contracts.tables import Floats

Bools = npt.NDArray[np.bool_]

SCOPE = (
    "upper bounds hold whatever was not judged; lower bounds of R, AP and nDCG hold if no relevant document is "
    "outside the judgments and the prefix"
)
"""What every report of bounds under missing judgments has to say."""
PARTS = {"bounds": ("lower", "upper", "tight"), "tie_bounds": ("tie_lower", "tie_upper", "tie_expected")}
"""The columns of a table that each kind of bounds takes, in the order of its tuple."""


class Bound(NamedTuple):
    """The least and the greatest value under missing judgments; ``tight``: some assignment of grades attains each."""

    lower: float
    upper: float
    tight: bool


class TieBound(NamedTuple):
    """The least, the greatest and the expected value over all orders of tied documents."""

    lower: float
    upper: float
    expected: float


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds under missing judgments per judged query; they mean nothing where the value is undefined.

    ``max_grade`` is the largest grade that an unjudged document was given.
    """

    lower: Floats
    upper: Floats
    tight: Bools
    max_grade: float

    def parts(self) -> dict[str, npt.NDArray[Any]]:
        """The columns of a table, by name."""
        return dict(zip(PARTS["bounds"], (self.lower, self.upper, self.tight), strict=True))

    def each(self) -> list[Bound]:
        """One bound a judged query."""
        return list(map(Bound, self.lower.tolist(), self.upper.tolist(), self.tight.tolist()))

    def mean(self, counted: Bools, n: int) -> Bound:
        """The bounds of the mean over ``n`` values: the counted queries, and zeros that stay zeros."""
        lower, upper = (math.fsum(side[counted]) / n for side in (self.lower, self.upper))
        return Bound(lower, upper, bool(self.tight[counted].all()))

    def told(self, mean: Bound | None) -> dict[str, Any] | None:
        """The bounds of the mean as the JSON document has them."""
        largest = int(self.max_grade) if self.max_grade.is_integer() else self.max_grade
        return mean and {**mean._asdict(), "max_grade": largest}


@dataclass(frozen=True, eq=False)
class TieBounds:
    """Bounds over the orders of tied documents per judged query; they mean nothing where the value is undefined."""

    lower: Floats
    upper: Floats
    expected: Floats

    def parts(self) -> dict[str, npt.NDArray[Any]]:
        """The columns of a table, by name."""
        return dict(zip(PARTS["tie_bounds"], (self.lower, self.upper, self.expected), strict=True))

    def each(self) -> list[TieBound]:
        """One bound a judged query."""
        return list(map(TieBound, self.lower.tolist(), self.upper.tolist(), self.expected.tolist()))

    def mean(self, counted: Bools, n: int) -> TieBound:
        """The bounds of the mean over ``n`` values: the counted queries, and zeros that stay zeros."""
        return TieBound(*(math.fsum(side[counted]) / n for side in (self.lower, self.upper, self.expected)))

    def told(self, mean: TieBound | None) -> dict[str, Any] | None:
        """The bounds of the mean as the JSON document has them."""
        return mean and mean._asdict()


def nested(frame: pl.DataFrame) -> pl.DataFrame:
    """A table by query with the columns of each kind of bounds gathered in one, as the JSON document has them."""
    for kind, columns in PARTS.items():
        if columns[0] in frame.columns:
            parts = pl.struct(pl.col(name).alias(name.removeprefix("tie_")) for name in columns)
            frame = frame.with_columns(pl.when(pl.col(columns[0]).is_not_null()).then(parts).alias(kind)).drop(columns)
    return frame
