"""Bytes of an input, decompressed and in slices that end with a line, whatever it is: file, archive, standard input."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Self

from metricpact.bridges.sources.compression import HEAD, DamagedError, Readable, decompressor
from metricpact.bridges.sources.findings import PLAIN, Reading
from metricpact.contracts.errors import InputError, MetricpactError

SLICE = 1 << 23
"""Bytes read at once: small enough to stay cheap in memory, large enough to parse fast."""
LONGEST_LINE = 1 << 26
STANDARD_INPUT = "standard input"
BOM = b"\xef\xbb\xbf"
PARQUET, ARROW, ARROW_STREAM, LZ4_FRAME = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff", b"\x04\x22\x4d\x18"


@dataclass
class Stream:
    """An opened input. ``name`` stands for it in errors; ``sha256`` is known once all of it was read.

    ``findings`` takes what is found on the way; ``stored`` counts the bytes that were read so far, compressed ones as
    they are.
    """

    name: str
    raw: IO[bytes]
    hashing: bool = False
    head: bytes = b""
    findings: Reading = PLAIN
    stored: int = 0
    _digest: Any = field(default=None, repr=False)

    @property
    def sha256(self) -> str | None:
        """SHA-256 (hex) of the bytes as stored (compressed ones as they are), where hashing was asked for."""
        return self._digest.hexdigest() if self._digest is not None else None

    def slices(self, chunks: Iterator[bytes] | None = None) -> Iterator[bytes]:
        """The decompressed text in slices that end with a line; the last one may lack its newline.

        A byte order mark at the start is dropped. ``chunks`` are those of ``chunks()``, where they were looked at
        before. Raises ``InputError`` for a compressed file that is damaged or cut off.
        """
        rest = b""
        first = True
        try:
            for chunk in chunks or self.chunks():
                end = chunk.rfind(b"\n") + 1
                if end:
                    data = b"".join((rest, memoryview(chunk)[:end]))
                    yield self.without_mark(data) if first else data
                    first = False
                    rest = chunk[end:]
                else:
                    rest += chunk
                if len(rest) > LONGEST_LINE:
                    raise InputError(
                        f"a line is longer than {LONGEST_LINE} bytes", "this is not a text file", source=self.name
                    )
            if rest:
                yield self.without_mark(rest) if first else rest
        finally:
            self.close()

    def without_mark(self, data: bytes) -> bytes:
        """The first bytes without a byte order mark, which is told to the findings."""
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

    def took(self, data: bytes) -> None:
        """Count and hash some bytes as they are stored."""
        self.stored += len(data)
        if self._digest is not None:
            self._digest.update(data)

    def chunks(self) -> Iterator[bytes]:
        """The decompressed bytes as they come; raises ``InputError`` and ``LimitError``."""
        if self.hashing:
            self._digest = hashlib.sha256()
        tee = _Tee(self)
        source: Readable = decompressor(self.head, tee, self.name) or tee
        try:
            while chunk := source.read(SLICE):
                yield chunk
        except DamagedError as error:
            raise InputError(
                f"the compressed data is damaged or cut off ({error})",
                "fetch or compress the file anew",
                source=self.name,
            ) from error
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror or error})", source=self.name) from error


class _Tee:
    """A reader of what a stream stores that counts and hashes what passes, and first gives back the head."""

    def __init__(self, stream: Stream) -> None:
        self.stream, self.head = stream, stream.head

    def read(self, size: int = -1) -> bytes:
        cut = len(self.head) if size < 0 else size
        data, self.head = self.head[:cut], self.head[cut:]
        if size < 0 or len(data) < size:
            data += self.stream.raw.read(size if size < 0 else size - len(data))
        self.stream.took(data)
        return data


def open_stream(path: str | Path, *, hashing: bool = False, findings: Reading = PLAIN) -> Stream:
    """Open a file, or standard input for ``-``; raises ``InputError`` where that is not possible."""
    name = str(path)
    try:
        # Closed when its slices are read, long after this returns.
        if name == "-" and sys.stdin is None:
            raise InputError("standard input is closed", "name a file, or send one to standard input", source=name)
        raw: IO[bytes] = sys.stdin.buffer if name == "-" else Path(name).open("rb", buffering=0)  # noqa: SIM115
        head = b""
        while more := raw.read(HEAD - len(head)):  # a pipe may give fewer bytes than asked for
            head += more
    except FileNotFoundError as error:
        raise InputError("there is no such file", "check the path", source=name, code="cannot-open") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"cannot be opened ({reason})", "name a file that can be read", source=name, code="cannot-open"
        ) from error
    return Stream(STANDARD_INPUT if name == "-" else name, raw, hashing, head, findings)


@dataclass
class Opened:
    """An input with its first bytes looked at: ``slices`` are all of it, ``head`` is the first of them.

    A binary input comes in chunks of any cut; a text in slices that end with a line. ``whole`` are the chunks of a
    text that may be one line, however long: of the two, one is read. Leaving it as a context closes the input.
    """

    stream: Stream
    slices: Iterator[bytes]
    head: bytes
    whole: Iterator[bytes] | None = None

    def data(self) -> bytes:
        """All bytes."""
        return b"".join(self.slices if self.whole is None else self.whole)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()


def open_input(path: str | Path, *, hashing: bool = False, findings: Reading = PLAIN) -> Opened:
    """Open an input and look at its start; raises ``InputError`` for one that is empty."""
    stream = open_stream(path, hashing=hashing, findings=findings)
    chunks = stream.chunks()
    try:
        first = next(chunks, b"")
    except MetricpactError:
        stream.close()
        raise
    chunks = chain([first], chunks)
    if is_binary(first):
        return Opened(stream, chunks, first)
    if is_json(first):
        bare = stream.without_mark(first)
        chunks = chain([bare], islice(chunks, 1, None))
        return Opened(stream, stream.slices(chunks), bare, chunks)
    slices = stream.slices(chunks)
    head = next(slices, b"")
    if not head.strip():
        rest = chain([head], slices)
        if not any(part.strip() for part in rest):
            raise InputError("the file is empty", "name a file that holds rows", source=stream.name, code="no-rows")
        stream.close()
        raise InputError("the file begins with megabytes of blanks", "name a text file", source=stream.name)
    return Opened(stream, chain([head], slices), head)


def is_json(head: bytes) -> bool:
    """Whether some first bytes begin a JSON object."""
    return head.removeprefix(BOM).lstrip()[:1] == b"{"


def is_binary(head: bytes) -> bool:
    """Whether some first bytes are those of a binary file that a format may read."""
    return head.startswith((PARQUET, ARROW, ARROW_STREAM, LZ4_FRAME))
