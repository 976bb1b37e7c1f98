"""The audit of runs: each tool's number, its profile's, the contract's, and the conventions between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from metricpact.contracts.contract import plain_value
from metricpact.contracts.measures import Measure
from metricpact.contracts.profiles import Profile
from metricpact.contracts.tables import Judgments, Run
from metricpact.crosscheck.audit.attribution import Attribution, attribute
from metricpact.crosscheck.audit.native import NativeNumber
from metricpact.crosscheck.audit.sensitivity import OrderChange, order_changes
from metricpact.crosscheck.audit.variants import Outcome, Variants
from metricpact.crosscheck.audit.working import Working, one_query, work_out

SCHEMA = "metricpact.audit/1"


@dataclass(frozen=True)
class Line:
    """One measure under one profile: the attribution of its difference, and what its tool itself answers, if any."""

    profile: Profile
    attribution: Attribution
    native: NativeNumber | None = None

    def to_document(self) -> dict[str, Any]:
        """The line as plain data."""
        found, there = self.attribution, self.attribution.there
        return {
            "profile": self.profile.base,
            "library": self.profile.library,
            "library_version": self.profile.library_version,
            "status": self.profile.status,
            "native": None if self.native is None else self.native.to_document(there.value),
            "value": there.value,
            "n": None if there.mean is None else there.mean.n,
            "error": there.error or None,
            "signature": there.signature or None,
            "difference": found.total,
            "interaction": found.interaction,
            "fields": [effect.to_document() for effect in found.effects],
            "moved": [one.to_document() for one in found.moved],
        }


@dataclass(frozen=True)
class RunAudit:
    """One run: the profile that it is scored under, and the lines of every measure.

    ``contract`` may differ from what was asked for by ``rank_conflict=ignore``; ``conflict`` then says why.
    """

    name: str
    contract: Profile
    conflict: str
    outcomes: Mapping[str, Outcome]
    lines: Mapping[str, list[Line]]

    def to_document(self) -> dict[str, Any]:
        """The run's audit as plain data."""
        return {
            "run": self.name,
            "contract": {
                "name": self.contract.base,
                "fields": {name: plain_value(value) for name, value in self.contract.contract.fields().items()},
            },
            "rank_conflict": self.conflict or None,
            "measures": [
                {
                    "measure": name,
                    "value": outcome.value,
                    "n": None if outcome.mean is None else outcome.mean.n,
                    "undefined": None if outcome.mean is None else outcome.mean.undefined,
                    "error": outcome.error or None,
                    "signature": outcome.signature or None,
                    "profiles": [line.to_document() for line in self.lines[name]],
                }
                for name, outcome in self.outcomes.items()
            ],
        }


@dataclass(frozen=True)
class Audit:
    """What ``metricpact audit`` found: every run, the changes of their order, and queries worked out.

    ``labels`` are what a data set says that its grades mean, ``notes`` what is odd about the judgments, ``inputs``
    where the data came from.
    """

    measures: list[Measure]
    runs: list[RunAudit]
    order: list[OrderChange]
    workings: Mapping[str, list[Working]] = field(default_factory=dict)
    labels: Mapping[int, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict)

    def to_document(self) -> dict[str, Any]:
        """The JSON document ``metricpact.audit/1``."""
        return {
            "schema": SCHEMA,
            "inputs": dict(self.inputs),
            "grade_labels": {str(grade): text for grade, text in self.labels.items()},
            "notes": list(self.notes),
            "runs": [run.to_document() for run in self.runs],
            "order": [change.to_document() for change in self.order],
            "workings": [
                {"run": name, **working.to_document()} for name, found in self.workings.items() for working in found
            ],
        }

    def to_polars(self) -> pl.DataFrame:
        """One row a run, measure, profile and field in which the two differ; a row of its own for the interaction."""
        rows = []
        for run in self.runs:
            for name, lines in run.lines.items():
                for line in lines:
                    rows += _flat(run, name, line)
        schema = dict.fromkeys(("run", "measure", "profile", "field", "contract_value", "profile_value"), pl.String)
        numbers = ("contract", "native", "value", "difference", "from_contract", "from_profile")
        return pl.DataFrame(
            rows, schema=schema | dict.fromkeys(numbers, pl.Float64) | {"error": pl.String, "signature": pl.String}
        )


def audit(
    judgments: Judgments,
    runs: Mapping[str, Run],
    measures: Sequence[Measure],
    contract: Profile,
    profiles: Mapping[Measure, Sequence[Profile]],
    *,
    natives: Mapping[str, Mapping[str, Mapping[str, NativeNumber]]] | None = None,
    queries: Sequence[str] = (),
    top: int = 5,
    inputs: Mapping[str, Any] | None = None,
) -> Audit:
    """Hold runs under a contract against the profiles of each measure.

    ``natives`` gives the numbers of the tools themselves: run → profile's name → measure → number. ``queries`` are
    worked out line by line; ``top`` queries that move most are named. Data that a contract rejects is told, with
    the reason, in the place of its number; raises ``InputError`` for a query of ``queries`` that is not judged.
    """
    variants = {name: Variants(judgments, run) for name, run in runs.items()}
    contracts, audited, workings = {}, [], {}
    for name, one in variants.items():
        lenient, conflict = one.relaxed(contract, measures)
        contracts[name] = lenient
        found = (natives or {}).get(name, {})
        lines = {
            str(measure): [
                Line(
                    profile,
                    attribute(one, measure, lenient, profile, top=top),
                    found.get(profile.name, {}).get(str(measure)),
                )
                for profile in profiles[measure]
            ]
            for measure in measures
        }
        outcomes = {str(measure): one.outcome(measure, lenient) for measure in measures}
        audited.append(RunAudit(name, lenient, conflict, outcomes, lines))
        if queries:
            workings[name] = [
                working for query in queries for working in _worked(one, query, measures, lenient, profiles)
            ]
    order = order_changes(variants, measures, contracts, profiles) if len(runs) > 1 else []
    origin = judgments.origin
    return Audit(list(measures), audited, order, workings, origin.labels, origin.notes, inputs or {})


def _worked(
    variants: Variants,
    query: str,
    measures: Sequence[Measure],
    contract: Profile,
    profiles: Mapping[Measure, Sequence[Profile]],
) -> list[Working]:
    """Each measure of one query under the contract, then under the profiles; equal workings are shown once."""
    judged, ranked = one_query(variants.judgments, query), one_query(variants.run, query)
    found: list[Working] = []
    for measure in measures:
        shared: dict[str, Working] = {}
        for profile in (contract, *profiles[measure]):
            settings, outcome = profile.for_measure(measure), variants.outcome(measure, profile)
            working = work_out(judged, ranked, query, measure, settings, outcome, [profile.base])
            same = shared.setdefault(f"{working.lines}{working.rows.to_dicts()}", working)
            if same is not working:
                same.names.append(profile.base)
        found += shared.values()
    return found


def _flat(run: RunAudit, measure: str, line: Line) -> list[dict[str, Any]]:
    there = line.attribution.there
    shared = {
        "run": run.name,
        "measure": measure,
        "profile": line.profile.base,
        "contract": line.attribution.here.value,
        "native": None if line.native is None else line.native.mean,
        "value": there.value,
        "difference": line.attribution.total,
        "error": there.error or line.attribution.here.error or None,
        "signature": there.signature or None,
    }
    rows = [
        shared
        | {
            "field": effect.field,
            "contract_value": str(plain_value(effect.here)),
            "profile_value": str(plain_value(effect.there)),
            "from_contract": effect.from_here,
            "from_profile": effect.from_there,
            "error": effect.error or shared["error"],
        }
        for effect in line.attribution.effects
    ]
    return [*rows, shared | {"field": "interaction", "from_contract": line.attribution.interaction}]
