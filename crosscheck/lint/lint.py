"""All findings in judgments and runs: each file is read with everything that is found in it kept, then looked at
alone, then each run beside the judgments."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from metricpact.bridges.sources.choose import DATASET, read_judgments, read_run
from metricpact.bridges.sources.findings import Finding, Findings
from metricpact.bridges.sources.kinds import KINDS, SEVERITIES
from metricpact.bridges.sources.registry import QRELS, RUN, get_format
from metricpact.contracts.errors import InputError, MetricpactError
from metricpact.contracts.measures import Measure
from metricpact.contracts.tables import Judgments, Run, Table
from metricpact.crosscheck.lint.judgments import check_judgments
from metricpact.crosscheck.lint.pairs import check_pair
from metricpact.crosscheck.lint.rankings import Rankings
from metricpact.crosscheck.lint.runs import check_run

DEFAULT_CUTOFFS = (10,)
DEFAULT_LIMIT = 20
_Read = TypeVar("_Read", bound=Table)


@dataclass(frozen=True)
class Linted:
    """One input: its name, whether it is qrels or a run, how many rows and queries were read, findings by code.

    ``rows`` and ``queries`` are None where nothing could be read. What shows beside the judgments is the run's.
    """

    name: str
    kind: str
    rows: int | None
    queries: int | None
    counts: dict[str, int]


@dataclass(frozen=True)
class LintReport:
    """Everything that was found. ``counts`` are complete; of one code and file no more than ``limit`` are listed."""

    inputs: tuple[Linted, ...]
    findings: tuple[Finding, ...]
    counts: dict[str, int]
    cutoffs: tuple[int, ...]
    limit: int

    def total(self, severity: str) -> int:
        """How many findings of a severity there are, those that are not listed included."""
        return sum(count for code, count in self.counts.items() if KINDS[code].severity == severity)

    def passed(self, *, strict: bool = False) -> bool:
        """Whether there is no error, and under ``strict`` no warning either."""
        return not self.total("error") and not (strict and self.total("warning"))

    def to_document(self) -> dict[str, Any]:
        """The report as a JSON document."""
        return {
            "schema": "metricpact.lint/1",
            "inputs": [vars(linted) for linted in self.inputs],
            "cutoffs": list(self.cutoffs),
            "limit": self.limit,
            "totals": {severity: self.total(severity) for severity in SEVERITIES},
            "counts": self.counts,
            "findings": [finding.to_document() for finding in self.findings],
        }


def lint(
    qrels: Any,
    runs: Sequence[Any] = (),
    *,
    cutoffs: Sequence[int] = DEFAULT_CUTOFFS,
    format: str | None = None,  # noqa: A002 # the flag's name
    run_format: str | None = None,
    split: str = "test",
    limit: int = DEFAULT_LIMIT,
) -> LintReport:
    """Look for every defect in judgments and runs (paths or Python objects).

    ``format`` forces that of the judgments, ``run_format`` that of the runs. ``cutoffs`` are the depths at which ties,
    unjudged documents and short rankings count; ``limit`` is the most findings of one code and file that are listed
    (0: all). Raises ``InputError`` only where no input can be opened.
    """
    for named, kind in ((format, QRELS), (run_format, RUN)):
        if named not in (None, DATASET):
            get_format(str(named), kind)
    depths = tuple(dict.fromkeys(_checked(cutoff) for cutoff in cutoffs))
    seen: list[tuple[Findings, str, Table | None]] = []
    unopened: list[InputError] = []

    def read(source: Any, kind: str, reader: Callable[[Findings], _Read]) -> tuple[_Read | None, Findings]:
        name = str(source) if isinstance(source, str | os.PathLike) else kind
        findings = Findings(name, limit)
        table: _Read | None = None
        try:
            table = reader(findings)
            findings.file = table.origin.name
            for note in table.origin.notes:
                findings.add("how-read", note)
        except InputError as error:
            findings.fault(error)
            if error.code == "cannot-open":
                unopened.append(error)
        except MetricpactError as error:  # a limit, a package that is missing
            findings.fault(InputError(error.fact, error.hint, source=name))
        findings.settle()
        seen.append((findings, kind, table))
        return table, findings

    def as_qrels(findings: Findings) -> Judgments:
        return read_judgments(qrels, format=format, split=split, findings=findings)

    judgments, findings = read(qrels, "qrels", as_qrels)
    if judgments is not None:
        check_judgments(judgments, findings)
    for source in runs:

        def as_run(findings: Findings, source: Any = source) -> Run:
            return read_run(source, format=run_format, findings=findings)

        run, findings = read(source, "run", as_run)
        if run is not None:
            rankings = Rankings(run)
            check_run(rankings, depths, findings)
            if judgments is not None:
                check_pair(judgments, rankings, depths, findings)
    if len(unopened) == len(seen):
        raise unopened[0]
    return LintReport(
        inputs=tuple(_linted(*one) for one in seen),
        findings=tuple(finding for findings, *_ in seen for finding in sorted(findings.kept, key=_by_gravity)),
        counts=_in_order(sum((findings.counts for findings, *_ in seen), Counter())),
        cutoffs=depths,
        limit=limit,
    )


def _linted(findings: Findings, kind: str, table: Table | None) -> Linted:
    rows, queries = (None, None) if table is None else (len(table), len(table.queries))
    return Linted(findings.file, kind, rows, queries, _in_order(findings.counts))


def _in_order(counts: Counter[str]) -> dict[str, int]:
    return {code: counts[code] for code in KINDS if counts[code]}


def _checked(cutoff: int) -> int:
    """A cutoff; raises ``MeasureError`` for what is none."""
    measure = Measure("Judged", cutoff)
    return measure.cutoff or 0


def _by_gravity(finding: Finding) -> tuple[int, int]:
    return list(SEVERITIES).index(finding.severity), finding.line or 0
