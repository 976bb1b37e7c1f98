"""Bytes of an input, decompressed and in slices that end with a line, whatever it is: file, gz, zst, standard input."""

from __future__ import annotations

import gzip
import hashlib
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol, cast

from metricpact.bridges.sources.findings import PLAIN, Reading
from metricpact.contracts.errors import InputError

SLICE = 1 << 23
"""Bytes read at once: small enough to stay cheap in memory, large enough to parse fast."""
LONGEST_LINE = 1 << 26
STANDARD_INPUT = "standard input"
_GZIP, _ZSTD, BOM = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xef\xbb\xbf"


@dataclass
class Stream:
    """An opened input. ``name`` stands for it in errors; ``sha256`` is known once all of it was read.

    ``findings`` takes what is found on the way.
    """

    name: str
    raw: IO[bytes]
    hashing: bool = False
    head: bytes = b""
    findings: Reading = PLAIN
    _digest: Any = field(default=None, repr=False)

    @property
    def sha256(self) -> str | None:
        """SHA-256 (hex) of the bytes as stored (compressed ones as they are), where hashing was asked for."""
        return self._digest.hexdigest() if self._digest is not None else None

    def slices(self) -> Iterator[bytes]:
        """The decompressed text in slices that end with a line; the last one may lack its newline.

        A byte order mark at the start is dropped. Raises ``InputError`` for a compressed file that is damaged or
        cut off.
        """
        rest = b""
        first = True
        try:
            for chunk in self._chunks():
                end = chunk.rfind(b"\n") + 1
                if end:
                    data = b"".join((rest, memoryview(chunk)[:end]))
                    yield self._without_mark(data) if first else data
                    first = False
                    rest = chunk[end:]
                else:
                    rest += chunk
                if len(rest) > LONGEST_LINE:
                    raise InputError(
                        f"a line is longer than {LONGEST_LINE} bytes", "this is not a text file", source=self.name
                    )
            if rest:
                yield self._without_mark(rest) if first else rest
        finally:
            self.close()

    def _without_mark(self, data: bytes) -> bytes:
        if data.startswith(BOM):
            self.findings.notice("byte-order-mark", 1)
        return data.removeprefix(BOM)

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self.name != STANDARD_INPUT:
            self.raw.close()

    def read_all(self) -> bytes:
        """The whole decompressed text, without a byte order mark."""
        return b"".join(self.slices())

    def _chunks(self) -> Iterator[bytes]:
        if self.hashing:
            self._digest = hashlib.sha256()
        source: _Readable = _Tee(self.raw, self._digest, self.head)
        try:
            if self.head.startswith(_GZIP):
                source = gzip.GzipFile(fileobj=cast("Any", source))  # read() is all that it calls
            elif self.head.startswith(_ZSTD):
                source = _zstd_reader(source)
            while chunk := source.read(SLICE):
                yield chunk
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise self._damaged(error) from error
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror or error})", source=self.name) from error
        except Exception as error:
            if type(error).__name__ == "ZstdError":  # its class is known only once the module is loaded
                raise self._damaged(error) from error
            raise

    def _damaged(self, error: Exception) -> InputError:
        return InputError(
            f"the compressed data is damaged or cut off ({error})", "fetch or compress the file anew", source=self.name
        )


class _Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


def _zstd_reader(source: Any) -> _Readable:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    reader: _Readable = zstd.ZstdFile(source)
    return reader


class _Tee:
    """A reader that hashes what passes, and first gives back the bytes that were looked at."""

    def __init__(self, raw: IO[bytes], digest: Any, head: bytes) -> None:
        self.raw, self.digest, self.head = raw, digest, head

    def read(self, size: int = -1) -> bytes:
        cut = len(self.head) if size < 0 else size
        data, self.head = self.head[:cut], self.head[cut:]
        if size < 0 or len(data) < size:
            data += self.raw.read(size if size < 0 else size - len(data))
        if self.digest is not None:
            self.digest.update(data)
        return data


def open_stream(path: str | Path, *, hashing: bool = False, findings: Reading = PLAIN) -> Stream:
    """Open a file, or standard input for ``-``; raises ``InputError`` where that is not possible."""
    name = str(path)
    try:
        # Closed when its slices are read, long after this returns.
        if name == "-" and sys.stdin is None:
            raise InputError("standard input is closed", "name a file, or send one to standard input", source=name)
        raw: IO[bytes] = sys.stdin.buffer if name == "-" else Path(name).open("rb", buffering=0)  # noqa: SIM115
        head = raw.read(4)
    except FileNotFoundError as error:
        raise InputError("there is no such file", "check the path", source=name, code="cannot-open") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"cannot be opened ({reason})", "name a file that can be read", source=name, code="cannot-open"
        ) from error
    return Stream(STANDARD_INPUT if name == "-" else name, raw, hashing, head, findings)
