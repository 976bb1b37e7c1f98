"""Runs read, scored and signed with the SHA-256 of what they were read from, for whatever keeps or compares numbers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from metricpact.bridges.evaluate import evaluate, plan_all
from metricpact.bridges.registry import require
from metricpact.bridges.sources.choose import read_judgments, read_run
from metricpact.contracts.errors import InputError
from metricpact.contracts.measures import Measure
from metricpact.contracts.profiles import Profile
from metricpact.contracts.scores import Scores


def score_sources(
    qrels: Any,
    runs: Sequence[Any],
    measures: Sequence[Measure],
    profile: Profile,
    backend: str,
    *,
    formats: tuple[str | None, str | None] = (None, None),
    split: str = "test",
) -> list[Scores]:
    """The scores of runs against the same judgments; their ``inputs`` tell path and hash of each file.

    Sources are what ``read_judgments`` and ``read_run`` take; ``formats`` forces those of judgments and of runs. What a
    backend cannot give is raised before anything is read. Raises ``InputError`` where standard input is named twice,
    and what readers and ``evaluate`` raise.
    """
    if sum(isinstance(source, str) and source == "-" for source in (qrels, *runs)) > 1:
        raise InputError("standard input (-) can be read once only", "name a file for the others")
    plan_all(require(backend), profile, measures)
    judgments = read_judgments(qrels, format=formats[0], split=split, hashing=True)
    about: dict[str, Any] = {"path": _path(qrels), "sha256": judgments.origin.sha256}
    if judgments.origin.notes:
        about["notes"] = list(judgments.origin.notes)
    scored = []
    for source in runs:
        run = read_run(source, format=formats[1], hashing=True)
        origin = {"path": _path(source), "sha256": run.origin.sha256, "tag": run.origin.tag}
        inputs = {name: value for name, value in (("qrels", about), ("run", origin)) if value["path"] is not None}
        scored.append(evaluate(judgments, run, measures, profile, backend, inputs=inputs))
    return scored


def _path(source: Any) -> str | None:
    """The path of a file, None for a Python object."""
    return os.fspath(source) if isinstance(source, str | os.PathLike) else None
