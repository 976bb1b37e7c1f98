"""Scores: a value or undefined with a reason for every query and measure, and means that carry their counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl
from metricpact.contracts.bounds.values import PARTS, SCOPE, nested
from metricpact.contracts.contract import plain_value
from metricpact.contracts.definitions import REASONS
from metricpact.contracts.errors import DependencyError, MeasureError, UndefinedError
from metricpact.contracts.measures import Measure, parse_measure
from metricpact.contracts.profiles import Profile
from metricpact.contracts.tables import Floats

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from metricpact.contracts.bounds.values import Bound, Bounds, TieBound, TieBounds


class Mean(float):
    """A mean over queries; a number that carries its counts.

    ``n`` queries contribute, ``undefined`` ones do not; ``missing`` judged queries are not in the run, ``extra``
    ones of the run are not judged. ``judged_fraction`` is the mean share of the prefix that was judged.
    """

    n: int
    undefined: int
    missing: int
    extra: int
    judged_fraction: float | None

    def __new__(  # noqa: D102 # the class says it
        cls, value: float, *, n: int, undefined: int, missing: int, extra: int, judged_fraction: float | None
    ) -> Mean:
        mean = super().__new__(cls, value)
        mean.n, mean.undefined, mean.missing, mean.extra = n, undefined, missing, extra
        mean.judged_fraction = judged_fraction
        return mean

    @property
    def value(self) -> float:
        """The mean as a plain float."""
        return float(self)

    def __getnewargs_ex__(self) -> tuple[tuple[float], dict[str, Any]]:
        return (float(self),), dict(vars(self))


@dataclass(frozen=True)
class UndefinedMean:
    """A mean over no query: it has counts and no value. ``float()`` of it raises ``UndefinedError``."""

    n: int
    undefined: int
    missing: int
    extra: int
    judged_fraction: float | None
    value: None = None

    def __float__(self) -> float:
        raise UndefinedError(
            f"the mean is undefined: no query has a value ({self.undefined} undefined)",
            "look at scores.reasons(measure)",
        )

    def __bool__(self) -> bool:
        return False


@dataclass(frozen=True, eq=False)
class Column:
    """One measure's values: ``reason`` indexes ``REASONS`` (0 where ``values`` counts), per judged query.

    ``in_mean`` tells which queries the mean is over, ``extra_zeros`` how many zeros extra queries add to it.
    ``beside`` holds what was asked for beside the values: ``bounds``, ``tie_bounds``.
    ``denominator`` is what each query divides by, where the measure is one count over another (see ``pooled.py``).
    """

    measure: Measure
    values: Floats
    reason: npt.NDArray[np.int8]
    fraction: Floats
    has_fraction: npt.NDArray[np.bool_]
    in_mean: npt.NDArray[np.bool_]
    extra_zeros: int
    fields: Mapping[str, Any]
    signature: str
    denominator: Floats | None = None
    beside: Mapping[str, Bounds | TieBounds] = field(default_factory=dict)

    @property
    def counted(self) -> npt.NDArray[np.bool_]:
        """The queries that contribute to the mean."""
        return np.asarray(self.in_mean & (self.reason == 0))

    @property
    def n(self) -> int:
        """How many values the mean is over."""
        return int(self.counted.sum()) + self.extra_zeros

    @property
    def zero_one(self) -> bool:
        """Whether every value is 0 or 1 by definition, whatever it happens to be: no query divides by more than 1."""
        return self.denominator is not None and bool((self.denominator <= 1).all())

    def mean(self, missing: int, extra: int) -> Mean | UndefinedMean:
        """The mean with its counts; summed exactly, so that the order of queries cannot matter."""
        n = self.n
        shares = self.fraction[self.in_mean & self.has_fraction]
        counts: dict[str, Any] = {
            "n": n,
            "undefined": int((self.in_mean & (self.reason != 0)).sum()),
            "missing": missing,
            "extra": extra,
            "judged_fraction": math.fsum(shares) / len(shares) if len(shares) else None,
        }
        return Mean(math.fsum(self.values[self.counted]) / n, **counts) if n else UndefinedMean(**counts)


@dataclass(frozen=True, eq=False)
class Scores:
    """What a run scores under a contract, measure by measure and query by query.

    ``queries`` are the judged query ids; ``missing`` and ``extra`` the ids on one side only. ``backend`` and
    ``inputs`` say what computed it, from what (plain data, as in the JSON document).
    """

    profile: Profile
    queries: pl.Series
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    columns: Sequence[Column]
    backend: Mapping[str, str]
    inputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def measures(self) -> list[str]:
        """The canonical names of the measures, in the order asked for."""
        return [str(column.measure) for column in self.columns]

    @property
    def mean(self) -> dict[str, Mean | UndefinedMean]:
        """The mean of each measure, by canonical name; other spellings work as keys too."""
        return _ByMeasure(
            {str(column.measure): column.mean(len(self.missing), len(self.extra)) for column in self.columns}
        )

    @property
    def signatures(self) -> dict[str, str]:
        """How each measure's numbers were made, by canonical name."""
        return _ByMeasure({str(column.measure): column.signature for column in self.columns})

    def column(self, measure: str | Measure) -> Column:
        """One measure's values; raises ``MeasureError`` for one that was not scored."""
        wanted = parse_measure(measure)
        for column in self.columns:
            if column.measure == wanted:
                return column
        raise MeasureError(f"{wanted} was not scored", f"scored: {', '.join(self.measures)}")

    def by_query(self, measure: str | Measure) -> dict[str, float | None]:
        """Query id → value, None where it is undefined, for every judged query."""
        column = self.column(measure)
        return {
            query: None if reason else value
            for query, value, reason in zip(self.queries, column.values.tolist(), column.reason.tolist(), strict=True)
        }

    def reasons(self, measure: str | Measure) -> dict[str, str | None]:
        """Query id → why the value is undefined, None where it is a number."""
        codes = self.column(measure).reason.tolist()
        return {query: REASONS[code] or None for query, code in zip(self.queries, codes, strict=True)}

    def judged_fraction(self, measure: str | Measure) -> dict[str, float | None]:
        """Query id → judged share of the prefix that the measure looks at, None where nothing is in it."""
        column = self.column(measure)
        return {
            query: share if known else None
            for query, share, known in zip(
                self.queries, column.fraction.tolist(), column.has_fraction.tolist(), strict=True
            )
        }

    @property
    def bounds(self) -> dict[str, Bound | None]:
        """The bounds of each mean under missing judgments, None where it is undefined; empty if not asked for."""
        return self._beside_means("bounds")

    @property
    def tie_bounds(self) -> dict[str, TieBound | None]:
        """The bounds of each mean over the orders of ties, None where it is undefined; empty if not asked for."""
        return self._beside_means("tie_bounds")

    def bounds_by_query(self, measure: str | Measure) -> dict[str, Bound | None]:
        """Query id → bounds under missing judgments, None where the value is undefined.

        Raises ``MeasureError`` where bounds were not asked for.
        """
        return self._beside_values("bounds", measure)

    def tie_bounds_by_query(self, measure: str | Measure) -> dict[str, TieBound | None]:
        """Query id → bounds over the orders of ties, None where the value is undefined; raises ``MeasureError``."""
        return self._beside_values("tie_bounds", measure)

    def _beside_means(self, kind: str) -> dict[str, Any]:
        return _ByMeasure(
            {
                str(column.measure): column.beside[kind].mean(column.counted, column.n) if column.n else None
                for column in self.columns
                if kind in column.beside
            }
        )

    def _beside_values(self, kind: str, measure: str | Measure) -> dict[str, Any]:
        column = self.column(measure)
        if kind not in column.beside:
            raise MeasureError(f"{kind} of {column.measure} were not asked for", f"mp.score(…, {kind}=True) gives them")
        each = zip(self.queries, column.beside[kind].each(), column.reason.tolist(), strict=True)
        return {query: None if reason else bound for query, bound, reason in each}

    def to_polars(self) -> pl.DataFrame:
        """One row per judged query and measure, by query: query_id, measure, value, reason, judged_fraction.

        With bounds: lower, upper, tight; with tie bounds: tie_lower, tie_upper, tie_expected.
        """
        frames = [
            pl.DataFrame(
                {
                    "query_id": self.queries,
                    "measure": pl.repeat(str(column.measure), len(self.queries), eager=True),
                    "value": _masked(column.values, column.reason == 0),
                    "reason": pl.Series([None, *REASONS[1:]], dtype=pl.String).gather(column.reason.astype(np.uint32)),
                    "judged_fraction": _masked(column.fraction, column.has_fraction),
                    **{
                        name: _masked(part, column.reason == 0)
                        for beside in column.beside.values()
                        for name, part in beside.parts().items()
                    },
                }
            )
            for column in self.columns
        ]
        schema = dict.fromkeys(("query_id", "measure"), pl.String) | {"value": pl.Float64, "reason": pl.String}
        if not frames:
            return pl.DataFrame(schema=schema | {"judged_fraction": pl.Float64})
        by_query = np.arange(len(frames) * len(self.queries)).reshape(len(frames), -1).T.ravel()
        return pl.concat(frames)[by_query]

    def to_pandas(self) -> pd.DataFrame:
        """The same rows as a pandas frame; raises ``DependencyError`` without pandas and pyarrow."""
        try:
            return self.to_polars().to_pandas()
        except ImportError as error:
            raise _missing("a pandas frame", error) from error

    def to_arrow(self) -> pa.Table:
        """The same rows as an Arrow table; raises ``DependencyError`` without pyarrow."""
        try:
            return self.to_polars().to_arrow()
        except ImportError as error:
            raise _missing("an Arrow table", error) from error

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The same rows for any library that takes the Arrow interface, without pyarrow."""
        return self.to_polars().__arrow_c_stream__(requested_schema)

    def means(self) -> pl.DataFrame:
        """One row per measure: measure, mean, n, undefined, missing, extra, judged_fraction, and bounds as by query."""
        kinds = {kind: PARTS[kind] for kind in PARTS if any(kind in column.beside for column in self.columns)}
        bounds = {kind: self._beside_means(kind) for kind in kinds}
        rows = [
            {
                "measure": name,
                "mean": mean.value,
                "n": mean.n,
                "undefined": mean.undefined,
                "missing": mean.missing,
                "extra": mean.extra,
                "judged_fraction": mean.judged_fraction,
                **{
                    column: part
                    for kind, columns in kinds.items()
                    for column, part in zip(columns, bounds[kind][name] or (None,) * len(columns), strict=True)
                },
            }
            for name, mean in self.mean.items()
        ]
        whole = dict.fromkeys(("n", "undefined", "missing", "extra"), pl.Int64)
        schema = {"measure": pl.String, "mean": pl.Float64, **whole, "judged_fraction": pl.Float64}
        parts = [name for columns in kinds.values() for name in columns]
        schema |= {name: pl.Boolean if name == "tight" else pl.Float64 for name in parts}
        return pl.DataFrame(rows, schema=schema)

    def to_document(self, *, by_query: bool = False) -> dict[str, Any]:
        """The scores as the JSON document ``metricpact.scores/1``; ``by_query`` adds the per-query rows."""
        means = self.mean
        bounds = {kind: self._beside_means(kind) for kind in PARTS}
        document: dict[str, Any] = {
            "schema": "metricpact.scores/1",
            "contract": {
                "name": self.profile.name,
                "version": self.profile.version,
                "fields": {name: plain_value(value) for name, value in self.profile.contract.fields().items()},
            },
            "backend": dict(self.backend),
            "inputs": {name: dict(value) for name, value in self.inputs.items()},
            "queries": {
                "judged": len(self.queries),
                "answered": len(self.queries) - len(self.missing),
                "missing": list(self.missing),
                "extra": list(self.extra),
            },
            "measures": [
                {
                    "measure": str(column.measure),
                    "mean": mean.value,
                    "n": mean.n,
                    "undefined": mean.undefined,
                    "judged_fraction": mean.judged_fraction,
                    **{kind: beside.told(bounds[kind][str(column.measure)]) for kind, beside in column.beside.items()},
                    "fields": {name: plain_value(value) for name, value in column.fields.items()},
                    "signature": column.signature,
                }
                for column, mean in zip(self.columns, means.values(), strict=True)
            ],
        }
        if bounds["bounds"]:
            document["bounds_scope"] = SCOPE
        if by_query:
            document["per_query"] = nested(self.to_polars()).to_dicts()
        return document

    def __repr__(self) -> str:
        return f"Scores under {self.profile.name}/{self.profile.version} by {self.backend['name']}\n{self.means()}"

    def _repr_html_(self) -> str:
        return self.means()._repr_html_()


class _ByMeasure(dict[str, Any]):
    """A dict by canonical measure name that also takes every other spelling of it."""

    def __contains__(self, name: object) -> bool:
        try:
            return super().__contains__(str(parse_measure(name)))  # type: ignore[arg-type] # refused where it is no text
        except MeasureError:
            return False

    def get(self, name: Any, default: Any = None) -> Any:
        """The value of a measure in any spelling, or the default."""
        return self[name] if name in self else default  # noqa: SIM401 # that would call itself

    def __missing__(self, name: object) -> Any:
        canonical = str(parse_measure(name))  # type: ignore[arg-type] # parse_measure refuses what is not text
        if not super().__contains__(canonical):
            raise MeasureError(f"{canonical} was not scored", f"scored: {', '.join(self)}")
        return self[canonical]


def _missing(what: str, error: ImportError) -> DependencyError:
    return DependencyError(f"{what} needs the package {error.name or 'pyarrow'}", "pip install 'metricpact[pandas]'")


def _masked(values: npt.NDArray[Any], known: npt.NDArray[np.bool_]) -> pl.Series:
    """A column with nulls where the value is not known; never NaN."""
    column = pl.Series(np.where(known, values, np.zeros_like(values)))
    return pl.select(pl.when(pl.Series(known)).then(column)).to_series()
