"""Compressed inputs, known by their first bytes (a name proves nothing), and how far they may expand.

gzip, zstd, bzip2 and xz are read with the standard library (zstd: its backport before Python 3.14), lz4 frames with
the package lz4. What they expand to may be at most ``EXPANSION`` times as long as what is stored, or ``ALWAYS``
bytes, whichever is more: far beyond what rows of ids and numbers ever need, and little enough that a few kilobytes
cannot fill the memory. The environment variable ``METRICPACT_MAX_EXPANSION`` sets another factor.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Callable
from typing import IO, Any, Protocol, cast

from metricpact.contracts.errors import DependencyError, InputError, LimitError

HEAD = 10
"""How many first bytes tell a compressed input."""
EXPANSION, ALWAYS = 200, 1 << 28
LIMIT_VARIABLE = "METRICPACT_MAX_EXPANSION"


class Readable(Protocol):
    """What decompressors read from, and are."""

    def read(self, size: int = -1, /) -> bytes:
        """Up to ``size`` bytes; none at the end."""


class DamagedError(Exception):
    """Compressed data that is damaged or cut off."""


def decompressor(head: bytes, source: Readable, name: str) -> Readable | None:
    """A reader of what is compressed in ``source``, or None where ``head`` shows no compression.

    It raises ``DamagedError``, and ``LimitError`` where the data expands beyond the limit. Raises ``InputError`` for
    an archive that is not read here, ``DependencyError`` where the package lz4 is missing.
    """
    for magic, kind in _REFUSED.items():
        if head.startswith(magic):
            raise InputError(f"is a {kind} file, which is not read here", "unpack or convert it", source=name)
    for magic, opener in _OPENERS.items():
        if head.startswith(magic):
            counted = _Counted(source)
            return _Limited(opener(cast("Any", counted)), counted, name)
    # "BZh" and a digit could begin an id; the block's own mark behind it could not.
    if head.startswith(b"BZh") and head[4:10] in _BZIP2_BLOCKS:
        counted = _Counted(source)
        return _Limited(_bzip2(cast("Any", counted)), counted, name)
    return None


def expansion_limit() -> int:
    """How many times its stored length an input may expand to; raises ``InputError`` for a setting that is none."""
    setting = os.environ.get(LIMIT_VARIABLE, str(EXPANSION))
    if not setting.isascii() or not setting.isdigit() or int(setting) < 1:
        raise InputError(f"{LIMIT_VARIABLE}={setting!r} is not a factor", f"set a whole number, such as {EXPANSION}")
    return int(setting)


def check_expansion(expanded: int, stored: int, name: str) -> None:
    """Raise ``LimitError`` where an input expands beyond the limit; both lengths are in bytes."""
    factor = expansion_limit()
    if expanded > max(factor * stored, ALWAYS):
        raise LimitError(
            f"{name}: {stored} bytes expand to more than {max(factor * stored, ALWAYS)} bytes "
            f"({factor} times as many, or {ALWAYS} where that is more)",
            f"if the file is what you expect it to be, raise the limit: {LIMIT_VARIABLE}={factor * 10}",
        )


class _Counted:
    """A source that counts what was read of it."""

    def __init__(self, source: Readable) -> None:
        self.source, self.count = source, 0

    def read(self, size: int = -1, /) -> bytes:
        data = self.source.read(size)
        self.count += len(data)
        return data


class _Limited:
    """A decompressor that stops at the limit, with one error for whatever its library raises."""

    def __init__(self, reader: Readable, counted: _Counted, name: str) -> None:
        self.reader, self.counted, self.name, self.count = reader, counted, name, 0

    def read(self, size: int = -1, /) -> bytes:
        try:
            data = self.reader.read(size)
        except (EOFError, zlib.error, RuntimeError) as error:  # lz4 raises RuntimeError
            raise DamagedError(str(error)) from error
        except OSError as error:
            if error.errno is not None:  # the disk's own
                raise
            raise DamagedError(str(error)) from error
        except Exception as error:
            if type(error).__name__ in ("ZstdError", "LZMAError"):  # known only once their modules are loaded
                raise DamagedError(str(error)) from error
            raise
        self.count += len(data)
        check_expansion(self.count, self.counted.count, self.name)
        return data


def _gzip(source: IO[bytes]) -> Readable:
    import gzip

    return gzip.GzipFile(fileobj=source)


def _zstd(source: IO[bytes]) -> Readable:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    reader: Readable = zstd.ZstdFile(source)
    return reader


def _bzip2(source: IO[bytes]) -> Readable:
    import bz2

    return bz2.BZ2File(source)


def _xz(source: IO[bytes]) -> Readable:
    import lzma

    return lzma.LZMAFile(source)


def _lz4(source: IO[bytes]) -> Readable:
    try:
        import lz4.frame
    except ImportError as error:
        raise DependencyError("reading lz4 needs the package lz4", "pip install 'metricpact[lz4]'") from error
    reader: Readable = lz4.frame.LZ4FrameFile(source)
    return reader


_OPENERS: dict[bytes, Callable[[IO[bytes]], Readable]] = {
    b"\x1f\x8b": _gzip,
    b"\x28\xb5\x2f\xfd": _zstd,
    b"\xfd7zXZ\0": _xz,
    b"\x04\x22\x4d\x18": _lz4,
}
_BZIP2_BLOCKS = (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90")  # a block of data, or the end of an empty file
_REFUSED = {b"PK\x03\x04": "zip", b"\x1f\x9d": "compress (.Z)", b"FEA1": "Feather 1"}
SUFFIXES = (".gz", ".zst", ".bz2", ".xz", ".lz4")
"""Endings of the names of compressed files."""
