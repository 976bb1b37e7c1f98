"""The functions that a Python program calls to look at files and to convert them."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metricpact.bridges.sinks.convert import Converted
    from metricpact.crosscheck.lint.lint import LintReport


def lint(
    qrels: Any,
    *runs: Any,
    cutoffs: Iterable[int] = (10,),
    format: str | None = None,  # noqa: A002 # the flag's name
    run_format: str | None = None,
    split: str = "test",
    limit: int = 20,
) -> LintReport:
    """Every finding in judgments and runs (whatever ``score`` takes), none of them fatal to the next.

    ``report.findings`` have a code, severity, message, file, lines and hint; ``report.passed(strict=True)`` says
    whether there is none that is graver than a note. Raises ``InputError`` only where no input can be opened.
    """
    from metricpact.crosscheck.lint.lint import lint as find

    return find(qrels, runs, cutoffs=tuple(cutoffs), format=format, run_format=run_format, split=split, limit=limit)


def convert(
    source: Any,
    target: str | PathLike[str],
    *,
    to: str | None = None,
    kind: str | None = None,
    format: str | None = None,  # noqa: A002 # the flag's name
    split: str = "test",
    tag: str | None = None,
    drop: Iterable[str] = (),
    force: bool = False,
) -> Converted:
    """Write judgments or a run (whatever ``score`` takes) in another format, lossless or refused.

    See ``metricpact convert --help`` for the formats. Raises ``InputError``, and then nothing is written.
    """
    from metricpact.bridges.sinks.convert import convert as write

    return write(source, target, to=to, kind=kind, format=format, split=split, tag=tag, drop=tuple(drop), force=force)
