"""One run of a known-item table as scores that can be kept."""

from __future__ import annotations

from collections.abc import Sequence

from metricpact.bridges.registry import get_bridge
from metricpact.bridges.sources.known_item_table import KnownItems
from metricpact.contracts.errors import InputError
from metricpact.contracts.measures import Measure
from metricpact.contracts.profiles import Profile
from metricpact.contracts.scores import Scores
from metricpact.crosscheck.slices.known_items import default_measures, score_known_items


def scores_of_known_items(
    items: KnownItems, name: str, measures: Sequence[Measure], profile: Profile, backend: str
) -> Scores:
    """The scores of a table's run; R@1, R@10 and RR (nDCG@10 too with grades) unless measures are named.

    NONE questions have no measures and are not in it. Raises ``InputError`` for a run that the table does not have.
    """
    if name not in items.runs:
        raise InputError(f"there is no run {name!r}", f"there are: {', '.join(items.runs)}", source=items.name)
    wanted = measures or default_measures(10, graded=items.graded is not None)
    scored = {run.name: run for run in score_known_items(items, wanted, profile, backend)}[name]
    asked, answered = items.expected.queries, items.runs[name].queries
    return Scores(
        profile=profile,
        queries=scored.queries,
        missing=tuple(asked.filter(~asked.is_in(answered.implode()))),
        extra=(),
        columns=scored.columns,
        backend={"name": backend, **get_bridge(backend).versions()},
        inputs={
            "table": {
                "path": items.name,
                "sha256": items.sha256,
                "run": name,
                "questions_sha256": items.questions_sha256,
            }
        },
    )
