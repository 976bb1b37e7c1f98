"""What was converted put in its place: written beside it, read back, compared bit for bit, and only then moved."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
from metricpact.bridges.sinks.choose import STANDARD, Sink
from metricpact.bridges.sinks.rows import ranks_by_score
from metricpact.bridges.sources.choose import read_judgments, read_run
from metricpact.contracts.errors import InputError, MetricpactError
from metricpact.contracts.tables import Judgments, Run


def put(table: Judgments | Run, sink: Sink, name: str) -> None:
    """Write beside the target, read back, compare, and put in place; nothing of it stays where that fails."""
    if name == STANDARD:
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder) / "written"
            _write_checked(table, sink, made, "")
            with made.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        return
    path = Path(os.path.realpath(name))
    parents = [parent for parent in path.parents if not parent.exists()]
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            _write_checked(table, sink, partial, path.name)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except BaseException as error:
        for parent in parents:
            with suppress(OSError):
                parent.rmdir()
        if isinstance(error, OSError):
            raise InputError(
                f"cannot be written ({error.strerror or error})", "name a place that can be written", source=name
            ) from error
        raise


def _write_checked(table: Judgments | Run, sink: Sink, path: Path, named: str) -> None:
    writer = sink.write_run if isinstance(table, Run) else sink.write_qrels
    assert writer is not None  # noqa: S101 # sink_for refuses a kind that the format has no form for
    with path.open("xb") as raw, _compressed(raw, named) as file:
        writer(table, file)
    reader: Callable[..., Judgments | Run] = read_run if isinstance(table, Run) else read_judgments
    try:
        same = _same(table, reader(path))
        said = "reads back as something else"
    except MetricpactError as error:
        same, said = False, f"does not read back ({getattr(error, 'bare', error.fact)})"
    if not same:
        raise InputError(
            f"what was written as {sink.name} {said}; nothing is kept",
            "choose another format",
            source=table.origin.name,
        )


def _compressed(raw: IO[bytes], name: str) -> Any:
    """The file to write into, compressed as the name says."""
    if name.endswith(".gz"):
        import gzip

        return gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0)  # no time: the same rows give the same bytes
    if name.endswith(".bz2"):
        import bz2

        return bz2.BZ2File(raw, "wb")
    if name.endswith(".xz"):
        import lzma

        return lzma.LZMAFile(raw, "wb")
    if name.endswith((".zst", ".lz4")):
        raise InputError("is not written", "gz, bz2 and xz are", source=name)
    return raw


def _same(one: Judgments | Run, other: Judgments | Run) -> bool:
    """Whether two tables hold the same rows in the same order, numbers bit for bit, and the ranks of the first."""
    if not (one.queries.equals(other.queries) and np.array_equal(one.offsets, other.offsets)):
        return False
    if not (one.docs.equals(other.docs) and _places(one) == _places(other)):
        return False
    if isinstance(one, Run) and isinstance(other, Run):
        scores = _bits(one.scores) == _bits(other.scores) or not len(one)
        ranks = ranks_by_score(other) if other.ranks is None else other.ranks
        return scores and (one.ranks is None or np.array_equal(one.ranks, ranks))
    assert isinstance(one, Judgments)  # noqa: S101 # both are of one kind
    assert isinstance(other, Judgments)  # noqa: S101
    return bool(np.array_equal(one.grades, other.grades))


def _places(table: Judgments | Run) -> bytes | None:
    return _bits(table.origin.moved)


def _bits(values: Any) -> bytes | None:
    return None if values is None else values.tobytes()
