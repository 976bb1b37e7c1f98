"""Scores of files with the SHA-256 of each, for commands that keep or compare them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metricpact.contracts.measures import Measure
    from metricpact.contracts.profiles import Profile
    from metricpact.contracts.scores import Scores


def score_files(
    qrels: str,
    runs: Sequence[str],
    measures: Sequence[Measure],
    profile: Profile,
    backend: str,
    format_: str | None = None,
    split: str = "test",
) -> list[Scores]:
    """The scores of runs against the same judgments, each with the paths and hashes of its inputs."""
    import click
    from metricpact.bridges.evaluate import evaluate, plan_all
    from metricpact.bridges.registry import require
    from metricpact.bridges.sources.choose import read_judgments, read_run

    if [qrels, *runs].count("-") > 1:
        raise click.UsageError("standard input (-) can be read once only")
    plan_all(require(backend), profile, measures)  # what cannot be had is said before large files are read
    judgments = read_judgments(qrels, format=format_, split=split, hashing=True)
    scored = []
    for path in runs:
        run = read_run(path, format=None if format_ == "beir" else format_, hashing=True)
        inputs = {
            "qrels": {"path": qrels, "sha256": judgments.origin.sha256},
            "run": {"path": path, "sha256": run.origin.sha256, "tag": run.origin.tag},
        }
        scored.append(evaluate(judgments, run, measures, profile, backend, inputs=inputs))
    return scored
