"""The text of ``metricpact demo``."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import as_file, files

import polars as pl
from metricpact.bridges.evaluate import evaluate
from metricpact.bridges.plan import Unsupported
from metricpact.bridges.registry import get_bridge, installed_backends
from metricpact.bridges.sources.choose import read_judgments, read_run
from metricpact.contracts.contract import FIELDS
from metricpact.contracts.measures import parse_measures
from metricpact.contracts.profiles import Profile, load_profile
from metricpact.contracts.scores import Scores
from metricpact.contracts.tables import Judgments, Run
from metricpact.crosscheck.audit.attribution import Attribution, attribute
from metricpact.crosscheck.audit.variants import Variants
from metricpact.crosscheck.difference import largest_disagreement
from metricpact.render.draw import draw
from metricpact.render.report import Table
from metricpact.render.scores import by_query_frame, means_frame

TOLERANCE = 1e-12
REFERENCE = "reference"
PROFILE = "trec_eval-9.0.8"
_NO_CHANGE = "·"


def example() -> tuple[Judgments, Run]:
    """The bundled judgments and run."""
    folder = files("metricpact") / "example"
    with as_file(folder / "qrels.txt") as qrels, as_file(folder / "run.txt") as run:
        return read_judgments(qrels), read_run(run)


def demo(measures: Sequence[str]) -> tuple[str, bool]:
    """The demonstration as text, and whether all backends agreed."""
    judgments, run = example()
    chapter, other = load_profile("chapter"), load_profile(PROFILE)
    reference = evaluate(judgments, run, measures, chapter, REFERENCE)
    rows = [_against(reference, judgments, run, name) for name in installed_backends() if name != REFERENCE]
    agreed = all(row["agrees"] == "yes" for row in rows)
    variants = Variants(judgments, run)
    found = [attribute(variants, measure, chapter, other) for measure in parse_measures(measures)]

    parts = [
        f"The bundled example: {len(judgments.queries)} judged queries, {len(run)} returned documents, with ties, an "
        f"unjudged document,\na query without a relevant document and one that the run misses.",
        draw(Table("1. Scored under the contract chapter/1", means_frame(reference))),
        draw(Table("   by query", by_query_frame(reference))),
        draw(Table(f"2. The same contract on every backend, held against the {REFERENCE}", pl.DataFrame(rows))),
        draw(Table(f"3. The same files as {PROFILE} scores them by default", _sides(found, chapter, other))),
        draw(Table("   why: what each convention alone changes", _effects(found))),
        "One convention at a time does not add up to the whole: single precision makes a tie here that only the tie "
        "rule\nthen breaks.",
        "Next: metricpact score QRELS RUN nDCG@10 RR@10, metricpact explain nDCG@10, metricpact contracts",
    ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n", agreed


def _against(reference: Scores, judgments: Judgments, run: Run, backend: str) -> dict[str, str | int]:
    """One backend's row: how many values it gives, how far the farthest is off, and what it cannot give."""
    measures = [column.measure for column in reference.columns]
    bridge, profile = get_bridge(backend), reference.profile
    refused = [str(one) for one in measures if isinstance(bridge.plan(one, profile.settings_for(one)), Unsupported)]
    given = [one for one in measures if str(one) not in refused]
    worst = 0.0
    if given:
        worst = largest_disagreement(evaluate(judgments, run, given, profile, backend), reference)
    return {
        "backend": backend,
        "library": f"{bridge.versions()['package']} {bridge.versions()['version']}",
        "values": len(given) * len(reference.queries),
        "largest difference": f"{worst:.1g}" if given else "",
        "agrees": "yes" if worst <= TOLERANCE else "NO",
        "cannot give": ", ".join(refused),
    }


def _sides(found: Sequence[Attribution], here: Profile, there: Profile) -> pl.DataFrame:
    rows = [
        {
            "measure": str(one.measure),
            here.name: one.here.value,
            "n": one.here.mean.n if one.here.mean else None,
            there.name: one.there.value,
            "n there": one.there.mean.n if one.there.mean else None,
        }
        for one in found
    ]
    return pl.DataFrame(rows)


def _effects(found: Sequence[Attribution]) -> pl.DataFrame:
    """One row a field: its values and the change of every mean; fields that change nothing here come last."""
    fields = {effect.field: f"{effect.here} → {effect.there}" for one in found for effect in one.effects}
    changes = {(str(one.measure), effect.field): effect for one in found for effect in one.effects}
    rows = []
    for name in [field for field in FIELDS if field in fields]:
        row = {"convention": name, "values": fields[name]}
        for measure in (str(one.measure) for one in found):
            effect = changes.get((measure, name))
            row[measure] = _change(effect.from_here) if effect else _NO_CHANGE
        rows.append(row)
    rows.sort(key=lambda row: all(value == _NO_CHANGE for value in list(row.values())[2:]))
    return pl.DataFrame(rows)


def _change(value: float | None) -> str:
    if value is None:
        return "undefined"
    return f"{value:+.4f}" if abs(value) > TOLERANCE else _NO_CHANGE
