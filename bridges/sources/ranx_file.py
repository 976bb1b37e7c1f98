"""What ranx saves under a name that ends with .lz4: CBOR of query → document → number, compressed once or twice."""

from __future__ import annotations

import io
from typing import Any

from metricpact.bridges.sources.compression import HEAD, DamagedError, decompressor
from metricpact.bridges.sources.objects import judgments_from_mapping, run_from_mapping
from metricpact.bridges.sources.streams import Opened
from metricpact.contracts.errors import DependencyError, InputError
from metricpact.contracts.tables import Judgments, Origin, Run


def read_ranx_file_qrels(opened: Opened) -> Judgments:
    """Judgments that ranx saved; raises ``InputError``."""
    return judgments_from_mapping(_load(opened), Origin(opened.stream.name, sha256=opened.stream.sha256))


def read_ranx_file_run(opened: Opened) -> Run:
    """A run that ranx saved; raises ``InputError``."""
    return run_from_mapping(_load(opened), Origin(opened.stream.name, sha256=opened.stream.sha256))


def _load(opened: Opened) -> dict[Any, Any]:
    name, data = opened.stream.name, opened.data()
    try:
        inner = decompressor(data[:HEAD], io.BytesIO(data), name)
        data = inner.read() if inner else data
    except DamagedError as error:
        raise InputError(f"the compressed data is damaged or cut off ({error})", "save it anew", source=name) from error
    try:
        import cbor2
    except ImportError as error:
        raise DependencyError(
            "reading what ranx saved needs the package cbor2", "pip install 'metricpact[lz4]'"
        ) from error
    try:
        loaded = cbor2.loads(data)
    except (cbor2.CBORDecodeError, ValueError, EOFError, RecursionError) as error:
        raise InputError(
            f"is not CBOR: {error}", "ranx saves such files: qrels.save('qrels.lz4')", source=name
        ) from error
    if not isinstance(loaded, dict):
        raise InputError("holds no object of queries", "ranx saves query → document → number", source=name)
    return loaded
