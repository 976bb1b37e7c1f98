"""The report of a check as JSON lines: a header with every version, a record a case and backend, a footer with counts.

The report is what a check leaves behind; tables, the JSON document and the exit code are made from it. One that is
empty, has two headers, was cut off or does not count what it holds is refused.
"""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from metricpact.bridges.registry import BACKENDS, get_bridge, how_to_install, is_installed
from metricpact.contracts.errors import InputError
from metricpact.contracts.version import VERSION
from metricpact.crosscheck.blame import blame
from metricpact.crosscheck.check import DIFFERS, FAILED, OUTCOMES, Check

SCHEMA = "metricpact.check/1"
BAD = (FAILED, DIFFERS)


@dataclass(frozen=True)
class CheckReport:
    """A whole report: the header, the records and the footer, as plain data."""

    header: Mapping[str, Any]
    records: Sequence[Mapping[str, Any]]
    footer: Mapping[str, Any]

    @property
    def passed(self) -> bool:
        """Whether nothing differs or fails that is not known, and no entry went stale."""
        return not self.footer["stale"] and not any(record["outcome"] in BAD for record in self.records)

    def lines(self) -> Iterable[Mapping[str, Any]]:
        """Header, records, footer."""
        return [self.header, *self.records, self.footer]

    def document(self) -> dict[str, Any]:
        """The report as one JSON document."""
        return {
            "schema": SCHEMA,
            "passed": self.passed,
            "header": dict(self.header),
            "cases": list(self.records),
            "footer": dict(self.footer),
        }


def make_report(check: Check, backends: Sequence[str], selection: Mapping[str, Sequence[str]]) -> CheckReport:
    """The report of a check; ``selection`` holds what was asked for (backends, cases, fields)."""
    records = [record.plain() for record in check.records]
    header = {
        "record": "header",
        "schema": SCHEMA,
        "metricpact": VERSION,
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "polars")},
        "platform": platform.platform(),
        "backends": {name: get_bridge(name).versions() for name in backends},
        "missing": {name: how_to_install(name) for name in BACKENDS if not is_installed(name)},
        "selection": {name: list(values) for name, values in selection.items() if values},
    }
    blamed = {}
    for name in backends:
        found = blame([(one.case, one.contract) for one in check.records if one.backend == name])
        if found:
            blamed[name] = found.plain()
    footer = {
        "record": "footer",
        "records": len(records),
        "counts": {name: count_outcomes(records, name) for name in backends},
        "blame": blamed,
        "stale": [vars(one) for one in check.stale or ()],
        "stale_looked_for": check.stale is not None,
    }
    return CheckReport(header, records, footer)


def count_outcomes(records: Iterable[Mapping[str, Any]], backend: str) -> dict[str, dict[str, int]]:
    """Mode → outcome → number of records of a backend."""
    mine = [record for record in records if record["backend"] == backend]
    counts = {}
    for mode in ("contract", "default"):
        found = Counter(record[mode]["outcome"] for record in mine if record[mode])
        counts[mode] = {outcome: found[outcome] for outcome in reversed(OUTCOMES)}
    return counts


def to_json_lines(report: CheckReport) -> str:
    """The report as text, one JSON object a line."""
    return "".join(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n" for line in report.lines())


def _counted(header: Mapping[str, Any], records: Sequence[Mapping[str, Any]], source: str) -> dict[str, Any]:
    """The outcomes of all records by backend; raises ``InputError`` for records that are none."""
    try:
        counts = {name: count_outcomes(records, name) for name in header["backends"]}
    except (KeyError, TypeError, AttributeError) as error:
        raise _refused(f"a line of the report lacks what it should have ({error})", source) from error
    if not records or not counts:
        raise _refused("the report holds no record", source)
    return counts


def from_json_lines(text: str, source: str) -> CheckReport:
    """A report read back; raises ``InputError`` for one that is empty, doubled, cut off, or not a report."""
    if not text.strip():
        raise _refused("the report is empty", source)
    lines: list[dict[str, Any]] = []
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        try:
            document = json.loads(line)
        except json.JSONDecodeError as error:
            raise _refused(
                f"the line is not JSON ({error.msg}): the report is cut off or no report", source, number
            ) from error
        if not isinstance(document, dict) or document.get("record") not in ("header", "case", "footer"):
            raise _refused("the line is no header, case or footer", source, number)
        lines.append(document)
    kinds = [line["record"] for line in lines]
    if kinds[0] != "header" or lines[0].get("schema") != SCHEMA:
        raise _refused(f"the report does not begin with a header of {SCHEMA}", source, 1)
    for kind in ("header", "footer"):
        if kinds.count(kind) > 1:
            raise _refused(
                f"there are two {kind}s: reports were joined or doubled", source, len(kinds) - kinds[::-1].index(kind)
            )
    if kinds[-1] != "footer" or not text.endswith("\n"):
        raise _refused("the report has no footer at its end: it was cut off", source, len(lines))
    header, *records, footer = lines
    pairs = Counter((record.get("case"), record.get("backend")) for record in records)
    twice = [pair for pair, count in pairs.items() if count > 1]
    if twice:
        raise _refused(f"case {twice[0][0]} on {twice[0][1]} is there twice", source)
    if footer.get("records") != len(records):
        raise _refused(f"the footer counts {footer.get('records')} records, and there are {len(records)}", source)
    if footer.get("counts") != _counted(header, records, source):
        raise _refused("the footer's counts are not those of the records", source, len(lines))
    return CheckReport(header, records, footer)


def _refused(fact: str, source: str, line: int | None = None) -> InputError:
    return InputError(fact, "write it again: metricpact check -o jsonl > report.jsonl", source=source, line=line)
