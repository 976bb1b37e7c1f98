"""A short, seeded part of the fuzzing that ``tests/fuzz.py`` does at length: nothing but reading or a refusal."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from metricpact.contracts.errors import InputError

pytest.importorskip("lz4.frame")
pytest.importorskip("cbor2")
import fuzz  # what it packs needs both

QUIET = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=120,
)


@QUIET
@given(data=st.binary(max_size=120), seed=st.integers(0, 99))
def test_any_bytes_are_read_or_refused(tmp_path: Path, data: bytes, seed: int) -> None:
    """No bytes crash a reader, lint or convert, and lint finds an error of reading exactly where reading refuses."""
    fuzz.check(data, tmp_path, random.Random(seed))


@QUIET
@given(parts=st.lists(st.sampled_from([b"q", b"1", b" ", b"\t", b"\n", *fuzz.TOKENS]), max_size=24))
def test_any_pieces_of_files_are_read_or_refused(tmp_path: Path, parts: list[bytes]) -> None:
    """The same for bytes that look more like files."""
    fuzz.check(b"".join(parts), tmp_path, random.Random(len(parts)))


@pytest.mark.parametrize("seed", [1, 2])
def test_damaged_files_are_read_or_refused(seed: int) -> None:
    """Valid files of every format, damaged: the same again, and neither outcome is all that happens."""
    counts = fuzz.batch(seed, 60, most=150)
    assert counts.total() == 150
    assert counts["qrels refused/run refused"] < 140


def failing(error: BaseException) -> Callable[[], object]:
    """Some work that raises."""

    def work() -> object:
        raise error

    return work


def test_the_fuzzer_sees_what_is_wrong() -> None:
    """A refusal is allowed, any other exception is not: else the tests above could not fail."""
    assert fuzz.allowed(failing(InputError("no")), "work") == (False, "no")
    for error in (ValueError("x"), MemoryError(), RecursionError(), BaseException("panic"), InputError("two\nlines")):
        with pytest.raises(fuzz.FuzzError):
            fuzz.allowed(failing(error), "work")
