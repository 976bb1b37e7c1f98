"""What ranx saves under a name that ends with .lz4: CBOR of query → document → number, compressed once or twice."""

from __future__ import annotations

import io
from typing import Any

from metricpact.bridges.sources.compression import HEAD, DamagedError, check_expansion, decompressor
from metricpact.bridges.sources.objects import judgments_from_mapping, run_from_mapping
from metricpact.bridges.sources.streams import SLICE, Opened
from metricpact.contracts.errors import DependencyError, InputError
from metricpact.contracts.tables import Judgments, Origin, Run


def read_ranx_file_qrels(opened: Opened) -> Judgments:
    """Judgments that ranx saved; raises ``InputError``."""
    return judgments_from_mapping(_load(opened), Origin(opened.stream.name, sha256=opened.stream.sha256))


def read_ranx_file_run(opened: Opened) -> Run:
    """A run that ranx saved; raises ``InputError``."""
    return run_from_mapping(_load(opened), Origin(opened.stream.name, sha256=opened.stream.sha256))


def _load(opened: Opened) -> dict[Any, Any]:
    name, data = opened.stream.name, _unpacked(opened)
    try:
        import cbor2
    except ImportError as error:
        raise DependencyError(
            "reading what ranx saved needs the package cbor2", "pip install 'metricpact[lz4]'"
        ) from error
    try:
        loaded = cbor2.load(held := io.BytesIO(data))
    except (cbor2.CBORDecodeError, ValueError, EOFError, RecursionError) as error:
        raise InputError(
            f"is not CBOR: {error}", "ranx saves such files: qrels.save('qrels.lz4')", source=name
        ) from error
    if not isinstance(loaded, dict) or not all(isinstance(value, dict | list) for value in loaded.values()):
        raise InputError("holds no object of queries", "ranx saves query → document → number", source=name)
    if held.tell() < len(data):
        raise InputError(f"{len(data) - held.tell()} bytes follow the object of queries", "save it anew", source=name)
    return loaded


def _unpacked(opened: Opened) -> bytes:
    """The CBOR; what was compressed twice may expand no further than what was compressed once."""
    name, data = opened.stream.name, opened.data()
    pieces: list[bytes] = []
    length = 0
    try:
        inner = decompressor(data[:HEAD], io.BytesIO(data), name)
        if inner is None:
            return data
        while piece := inner.read(SLICE):
            pieces.append(piece)
            length += len(piece)
            check_expansion(length, opened.stream.stored, name)
    except DamagedError as error:
        raise InputError(f"the compressed data is damaged or cut off ({error})", "save it anew", source=name) from error
    return b"".join(pieces)
