"""Files of columns: Parquet and Arrow IPC (Feather 2, streams), whose columns are known by their names."""

from __future__ import annotations

import io
from collections.abc import Collection

import polars as pl
from metricpact.bridges.sources import columns
from metricpact.bridges.sources.compression import check_expansion
from metricpact.bridges.sources.frames import judgments_from_polars, run_from_polars
from metricpact.bridges.sources.streams import ARROW, ARROW_STREAM, PARQUET, Opened
from metricpact.contracts.errors import InputError
from metricpact.contracts.tables import Judgments, Origin, Run

_END_OF_STREAM = ARROW_STREAM + b"\0\0\0\0"
_BYTES_A_ROW = 16
"""The least that a row takes once it is read: what a few bytes may claim to hold is refused before it is."""


def read_arrow_qrels(opened: Opened) -> Judgments:
    """Judgments from a Parquet or Arrow file; raises ``InputError`` naming the column and the row at fault."""
    return judgments_from_polars(*_read(opened, columns.JUDGMENTS))


def read_arrow_run(opened: Opened) -> Run:
    """A run from a Parquet or Arrow file; raises ``InputError`` naming the column and the row at fault."""
    return run_from_polars(*_read(opened, columns.RUN))


def _read(opened: Opened, wanted: columns.Wanted) -> tuple[pl.DataFrame, Origin]:
    """The columns that are needed, and where they came from."""
    name, data = opened.stream.name, opened.data()
    if data.startswith(ARROW_STREAM) and not data.endswith(_END_OF_STREAM):
        raise InputError("the Arrow stream has no end mark: it is cut off", "write the file anew", source=name)
    held = io.BytesIO(data)
    try:
        if data.startswith(PARQUET):
            scan = pl.scan_parquet(held)
        elif data.startswith(ARROW):
            scan = pl.scan_ipc(held)
        else:
            _measure_stream(data, opened.stream.stored, name)
            scan = pl.read_ipc_stream(held).lazy()
        check_expansion(int(scan.select(pl.len()).collect().item()) * _BYTES_A_ROW, opened.stream.stored, name)
        found = columns.meanings(scan.collect_schema().names(), wanted, name)
        check_expansion(_bytes_of_text(scan, found.values()), opened.stream.stored, name)
        frame = scan.select(found.values()).collect()
    except (pl.exceptions.PolarsError, OSError, pl.exceptions.PanicException) as error:
        said = str(error).partition("\n")[0]
        raise InputError(f"cannot be read ({said})", "write the file anew", source=name) from error
    if not frame.height:
        raise InputError("the file holds no row", "name a file that holds rows", source=name)
    meaning = {column: kind for kind, column in found.items()}
    return frame.rename(meaning), Origin(name, sha256=opened.stream.sha256)


def _measure_stream(data: bytes, stored: int, name: str) -> None:
    """Refuse a stream that expands too far, batch by batch, since polars reads one whole.

    Without pyarrow that is found only after it was read.
    """
    try:
        import pyarrow as pa
    except ImportError:
        return
    size = 0
    try:
        with pa.ipc.open_stream(data) as batches:
            for batch in batches:
                size += batch.nbytes
                check_expansion(size, stored, name)
    except pa.ArrowException as error:
        said = str(error).partition("\n")[0]
        raise InputError(f"cannot be read ({said})", "write the file anew", source=name) from error


def _bytes_of_text(scan: pl.LazyFrame, names: Collection[str]) -> int:
    """How long the text of some columns is, found without holding it: a page of one letter is a few bytes."""
    schema = scan.collect_schema()
    text = [name for name in names if schema[name] in (pl.String, pl.Binary)]
    sizes = scan.select(pl.col(text).cast(pl.Binary).bin.size().cast(pl.Int64).sum()).collect(engine="streaming")
    return sum(sizes.row(0)) if text else 0
