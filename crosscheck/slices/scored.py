"""The values of one run by query: what slices, comparisons, records and gates look at, wherever they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl
from metricpact.contracts.definitions import REASONS
from metricpact.contracts.errors import InputError, MeasureError
from metricpact.contracts.measures import Measure, parse_measure
from metricpact.contracts.scores import Column, Scores
from metricpact.contracts.tables import Ints

FRAME = {
    "query_id": pl.String,
    "measure": pl.String,
    "value": pl.Float64,
    "reason": pl.String,
    "judged_fraction": pl.Float64,
    "denominator": pl.Float64,
}
"""The columns of ``ScoredRun.to_frame``: one row a query and measure."""


@dataclass(frozen=True, eq=False)
class ScoredRun:
    """A named run's values: distinct ``queries`` and one column a measure, each with a row for every query.

    A value counts where the column's ``in_mean`` holds and its ``reason`` is 0; ``in_mean`` with another reason is
    an undefined query, which enters no mean and no test and is counted.
    """

    name: str
    queries: pl.Series
    columns: Sequence[Column]

    @classmethod
    def from_scores(cls, name: str, scores: Scores) -> ScoredRun:
        """The values of a run as scored; raises ``InputError`` where queries that are not judged count as zeros."""
        if any(column.extra_zeros for column in scores.columns):
            raise InputError(
                f"{name}: {len(scores.extra)} queries that are not judged count as zeros",
                "values are paired and sliced by judged queries: leave out --set extra_query=zero",
                query=scores.extra[0],
            )
        return cls(name, scores.queries, scores.columns)

    @classmethod
    def from_frame(cls, name: str, frame: pl.DataFrame, signatures: Mapping[str, str]) -> ScoredRun:
        """The way back from ``to_frame``, with the signature of each measure.

        ``reason``, ``judged_fraction`` and ``denominator`` may be absent; a null value without a reason is a query
        outside the mean. Raises ``InputError`` for a query that has two rows of a measure, or values that are no
        finite numbers.
        """
        frame = frame.with_columns(
            pl.lit(None, dtype).alias(column) for column, dtype in FRAME.items() if column not in frame.columns
        ).select(pl.col(column).cast(dtype) for column, dtype in FRAME.items())
        twice = frame.filter(frame.select("query_id", "measure").is_duplicated())
        if len(twice):
            query, measure = twice.row(0)[:2]
            raise InputError(f"{name}: query {query!r} has two values of {measure}", "keep one", query=query)
        bad = frame.filter(pl.col("value").is_not_null() & ~pl.col("value").is_finite())
        if len(bad):
            raise InputError(f"{name}: {bad['value'][0]} is not a value", "undefined is null", query=bad["query_id"][0])
        unsigned = frame.filter(~pl.col("measure").is_in(list(signatures)))["measure"]
        if len(unsigned):
            raise InputError(f"{name}: {unsigned[0]} has no signature", "give the signature of every measure")
        queries = frame["query_id"].unique().sort()
        columns = [
            _column(
                queries.to_frame().join(frame.filter(pl.col("measure") == measure), on="query_id", how="left"),
                measure,
                signatures[measure],
            )
            for measure in frame["measure"].unique(maintain_order=True)
        ]
        return cls(name, queries, columns)

    @property
    def measures(self) -> list[str]:
        """The canonical names of the measures."""
        return [str(column.measure) for column in self.columns]

    @property
    def signatures(self) -> dict[str, str]:
        """How each measure's values were made, by canonical name."""
        return {str(column.measure): column.signature for column in self.columns}

    def column(self, measure: str | Measure) -> Column:
        """One measure's values; raises ``MeasureError`` for one that is not there."""
        wanted = parse_measure(measure)
        for column in self.columns:
            if column.measure == wanted:
                return column
        raise MeasureError(f"{self.name} has no values of {wanted}", f"it has: {', '.join(self.measures)}")

    def take(self, rows: Ints) -> ScoredRun:
        """The same run with some of its queries only, in the order of ``rows``."""
        columns = [
            replace(
                column,
                values=column.values[rows],
                reason=column.reason[rows],
                fraction=column.fraction[rows],
                has_fraction=column.has_fraction[rows],
                in_mean=column.in_mean[rows],
                denominator=None if column.denominator is None else column.denominator[rows],
            )
            for column in self.columns
        ]
        return ScoredRun(self.name, self.queries.gather(rows), columns)

    def to_frame(self) -> pl.DataFrame:
        """One row a measure and query of its mean; undefined values are null and have a reason."""
        words = pl.Series([None, *REASONS[1:]], dtype=pl.String)
        frames = []
        for column in self.columns:
            kept = np.flatnonzero(column.in_mean)
            known, judged = column.reason[kept] == 0, column.has_fraction[kept]
            frames.append(
                pl.DataFrame(
                    {
                        "query_id": self.queries.gather(kept),
                        "measure": pl.repeat(str(column.measure), len(kept), eager=True),
                        "value": pl.Series(np.where(known, column.values[kept], np.nan), nan_to_null=True),
                        "reason": words.gather(column.reason[kept].astype(np.uint32)),
                        "judged_fraction": pl.Series(np.where(judged, column.fraction[kept], np.nan), nan_to_null=True),
                        "denominator": None if column.denominator is None else column.denominator[kept],
                    },
                    schema=FRAME,
                )
            )
        return pl.concat(frames) if frames else pl.DataFrame(schema=FRAME)


def pooled(column: Column, rows: npt.NDArray[np.bool_]) -> tuple[float, float] | None:
    """Σ numerators and Σ denominators over some rows with a value; None for a measure that is no count over another."""
    if column.denominator is None:
        return None
    below = column.denominator[rows]
    # Counts are whole; a value times its denominator may miss one by rounding.
    return float(np.rint(column.values[rows] * below).sum()), float(below.sum())


def _column(rows: pl.DataFrame, measure: str, signature: str) -> Column:
    value, reason, fraction = rows["value"], rows["reason"], rows["judged_fraction"]
    unknown = reason.drop_nulls().filter(~reason.drop_nulls().is_in(list(REASONS)))
    if len(unknown):
        raise InputError(f"{unknown[0]!r} is not a reason", f"known: {', '.join(REASONS[1:])}")
    codes = reason.replace_strict(dict(zip(REASONS, range(len(REASONS)), strict=True)), default=0, return_dtype=pl.Int8)
    known = value.is_not_null().to_numpy()
    denominator = rows["denominator"]
    return Column(
        measure=parse_measure(measure),
        values=value.fill_null(0.0).to_numpy(),
        reason=np.where(known, 0, np.maximum(codes.to_numpy(), 1)).astype(np.int8),
        fraction=fraction.fill_null(0.0).to_numpy(),
        has_fraction=fraction.is_not_null().to_numpy(),
        in_mean=known | reason.is_not_null().to_numpy(),
        extra_zeros=0,
        fields={},
        signature=signature,
        denominator=denominator.fill_null(0.0).to_numpy() if denominator.is_not_null().any() else None,
    )
