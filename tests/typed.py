"""The command line run in this process, as a user types it."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple

import pytest
from metricpact.cli import main


class Typed(NamedTuple):
    """What a command printed on its two streams."""

    stdout: str
    stderr: str


def typed(*arguments: object, code: int = 0) -> Typed:
    """Run a command and expect its exit code."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(list(map(str, arguments)))
    printed = Typed(*(stream.detach().getvalue().decode() for stream in (out, err)))
    assert ended.value.code == code, printed.stderr
    return printed
