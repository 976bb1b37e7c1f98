"""A gate's result as reports: for people, for programs, and for what runs gates in continuous integration."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from metricpact.crosscheck.gate.result import GateResult, RuleVerdict
from metricpact.crosscheck.gate.verdicts import CANNOT_JUDGE, FAIL
from metricpact.render.intervals import signature_lines
from metricpact.render.report import Report, Table

_SHOWN = ("rule", "measure", "slice", "verdict", "n", "base", "candidate", "difference", "lower", "upper", "floor")
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LEVELS = {FAIL: "error", CANNOT_JUDGE: "warning"}


def gate_report(result: GateResult) -> Report:
    """The verdicts with their numbers, why, the total, and signatures."""
    frame = result.to_polars()
    labelled = [name for name in ("judged", "note") if any(frame[name])]
    shown = frame.select(*_SHOWN, *labelled, "why")
    return Report(
        tables=[Table(_title(result), shown)],
        lines=_lines(result),
        document=result.to_document,
        records=frame.to_dicts,
        frame=lambda: frame,
        texts={"junit": lambda: junit(result), "github": lambda: workflow_commands(result)},
    )


def junit(result: GateResult) -> str:
    """JUnit XML: a test case a verdict; one that cannot be judged is an error, not a failure and not skipped."""
    counts = {
        "tests": str(len(result.verdicts)),
        "failures": str(result.counts[FAIL]),
        "errors": str(result.counts[CANNOT_JUDGE]),
    }
    root = ElementTree.Element("testsuites", {"name": "metricpact gate", **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": _clean(result.source), **counts, "skipped": "0"})
    for one in result.verdicts:
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": _clean(result.source), "name": _clean(_name(one)), "time": "0"}
        )
        told = _clean(one.why)
        if one.verdict in _LEVELS:
            kind = "failure" if one.verdict == FAIL else "error"
            ElementTree.SubElement(case, kind, {"type": one.verdict, "message": told}).text = _clean(_numbers(one))
        else:
            ElementTree.SubElement(case, "system-out").text = _clean(f"{told}\n{_numbers(one)}")
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False).join(
        ('<?xml version="1.0" encoding="UTF-8"?>\n', "\n")
    )


def workflow_commands(result: GateResult) -> str:
    """Workflow commands of GitHub Actions: an error a failure, a warning where nothing can be judged, a notice at last.

    Escaped as https://docs.github.com/actions/reference/workflow-commands-for-github-actions and its toolkit do.
    """
    lines = [
        _annotation(_LEVELS[one.verdict], result.source, one.line, f"{one.verdict}: {_name(one)}", _sentence(one))
        for one in result.verdicts
        if one.verdict in _LEVELS
    ]
    lines.append(_annotation("notice", result.source, None, f"gate: {result.verdict}", _total(result)))
    return "".join(f"{line}\n" for line in lines)


def _annotation(level: str, file: str, line: int | None, title: str, message: str) -> str:
    properties = {"file": file, **({"line": str(line)} if line else {}), "title": title}
    told = ",".join(f"{name}={_escaped(value, more=True)}" for name, value in properties.items())
    return f"::{level} {told}::{_escaped(message)}"


def _escaped(text: str, *, more: bool = False) -> str:
    pairs = [("%", "%25"), ("\r", "%0D"), ("\n", "%0A"), *([(":", "%3A"), (",", "%2C")] if more else [])]
    for plain, code in pairs:
        text = text.replace(plain, code)
    return text


def _clean(text: str) -> str:
    """Text without the characters that XML 1.0 cannot hold."""
    return _NO_XML.sub("\ufffd", text)


def _name(one: RuleVerdict) -> str:
    return f"{one.measure} on {one.slice}"


def _sentence(one: RuleVerdict) -> str:
    return f"{one.why} ({_numbers(one)})" if one.n else one.why


def _numbers(one: RuleVerdict) -> str:
    """The numbers of a verdict in one line."""
    shown = {
        "n": one.n,
        "undefined": one.undefined or None,
        "base": one.base,
        "candidate": one.candidate,
        "difference": one.difference,
        "interval": None if one.lower is None else f"[{one.lower:.4f}, {one.upper:.4f}] {one.method}",
        "floor": one.floor,
        "judged": one.judged,
        "note": one.note or None,
        "signature": one.candidate_signature or None,
    }
    told = {name: f"{value:.4f}" if isinstance(value, float) else str(value) for name, value in shown.items()}
    return ", ".join(f"{name} {told[name]}" for name, value in shown.items() if value is not None)


def _title(result: GateResult) -> str:
    return f"{result.source}: {result.verdict} ({result.base} → {result.candidate})"


def _total(result: GateResult) -> str:
    counts = ", ".join(f"{count} {word}" for word, count in result.counts.items())
    return f"{result.verdict}: {counts}; {result.base} → {result.candidate}"


def _lines(result: GateResult) -> list[str]:
    settings = result.settings
    family = settings["verdicts_by_interval"]
    lines = [_total(result)]
    if family:
        lines.append(
            f"intervals at {1 - settings['alpha']:.4g}; a failure holds at {1 - settings['alpha'] / family:.4g} "
            f"({family} verdicts by interval); {settings['resamples']} resamples, seed {settings['seed']}"
        )
    signatures = [sign for one in result.verdicts for sign in (one.base_signature, one.candidate_signature) if sign]
    lines += [f"note: {note}" for note in result.notes]
    return lines + (signature_lines({one: one for one in signatures}) if signatures else [])
