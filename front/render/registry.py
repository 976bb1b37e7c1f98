"""The output formats by name; every command's ``-o`` comes here."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

import click
from metricpact.render.draw import draw, draw_markdown
from metricpact.render.report import Report

UTF8 = ("utf-8", "backslashreplace")
"""Output is UTF-8 whatever the terminal says; bytes of a file's name that are none are shown as escapes."""


def say(text: str) -> None:
    """Write text to standard output."""
    click.echo(text.encode(*UTF8), nl=False)


def chosen(output: str | None) -> str:
    """The format to write: what was asked for, else a table on a terminal and json in a pipe."""
    return output or ("table" if sys.stdout.isatty() else "json")


def write(report: Report, output: str, places: int) -> None:
    """Write a report to standard output; raises ``UsageError`` for a format that the command does not have."""
    if output == "parquet" and sys.stdout.isatty():
        raise click.UsageError("Parquet is not for a terminal: send it to a file (-o parquet > scores.parquet)")
    click.echo(rendered(report, output, places), nl=False)


def rendered(report: Report, output: str, places: int) -> bytes:
    """A report in a format; raises ``UsageError`` for one that the command does not have."""
    return FORMATS[output](report, places)


def _json(report: Report, places: int) -> bytes:
    return dumped(report.document()).encode(*UTF8)


def dumped(document: Mapping[str, Any]) -> str:
    """A JSON document as it is written."""
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _jsonl(report: Report, places: int) -> bytes:
    return "".join(
        json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n" for record in report.records()
    ).encode(*UTF8)


def _csv(report: Report, places: int) -> bytes:
    return report.frame().write_csv().encode()


def _parquet(report: Report, places: int) -> bytes:
    held = io.BytesIO()
    report.frame().write_parquet(held)
    return held.getvalue()


def _trec(report: Report, places: int) -> bytes:
    if report.trec is None:
        raise click.UsageError("this command has no trec format")
    return report.trec(places).encode(*UTF8)


def _text(name: str) -> Callable[[Report, int], bytes]:
    """A form that only some commands have."""

    def form(report: Report, places: int) -> bytes:
        if name not in report.texts:
            raise click.UsageError(f"this command has no {name} format")
        return report.texts[name]().encode(*UTF8)

    return form


def _table(report: Report, places: int) -> bytes:
    terminal = sys.stdout.isatty()
    parts = [draw(table, places, terminal=terminal) for table in report.tables]
    return "\n".join([*parts, *report.lines, ""]).encode(*UTF8)


def _markdown(report: Report, places: int) -> bytes:
    parts = [draw_markdown(table, places) for table in report.tables]
    parts += [f"`{line}`" for line in report.lines]
    return ("\n\n".join(parts) + "\n").encode(*UTF8)


def _latex(report: Report, places: int) -> bytes:
    from metricpact.render.document import latex_tables

    return latex_tables(report, places).encode(*UTF8)


def _html(report: Report, places: int) -> bytes:
    from metricpact.render.document import html_page

    return html_page(report, places).encode(*UTF8)


FORMATS: dict[str, Callable[[Report, int], bytes]] = {
    "table": _table,
    "json": _json,
    "jsonl": _jsonl,
    "csv": _csv,
    "parquet": _parquet,
    "markdown": _markdown,
    "latex": _latex,
    "html": _html,
    "trec": _trec,
    "junit": _text("junit"),
    "github": _text("github"),
    "sarif": _text("sarif"),
}
"""Every format: a function from a report and a number of decimals to bytes."""
