"""``metricpact check``: every installed backend on the case corpus."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click
from metricpact.commands import options

if TYPE_CHECKING:
    from metricpact.crosscheck.corpus import Case


@click.command("check")
@click.option(
    "--backend", "backends", multiple=True, help="Check this backend only; repeatable. Default: all that are installed."
)
@click.option("--case", "names", multiple=True, metavar="CASE", help="Run this case only; repeatable.")
@click.option(
    "--field", "fields", multiple=True, metavar="FIELD", help="Run the cases that pin this field; repeatable."
)
@click.option(
    "--report", "report_path", metavar="FILE", help="Show a report (written with -o jsonl) instead of checking."
)
@options.output_choice()
@options.places_option
@options.quiet_option
def command(
    backends: tuple[str, ...],
    names: tuple[str, ...],
    fields: tuple[str, ...],
    report_path: str | None,
    *,
    output: str | None,
    places: int,
    quiet: bool,
) -> int:
    """Hold the installed backends against the cases.

    Under the contract a backend gives a case's answer or says that it cannot. By itself a library may differ, where
    what is known of its conventions explains the very number. -o jsonl writes the report: a header with all
    versions, one record a case and backend, a footer with counts. Exit code 1: something differs or fails, or a known
    difference is none any more.
    """
    from metricpact.render.check import check_report
    from metricpact.render.registry import chosen, write

    if report_path is not None:
        from metricpact.bridges.sources.streams import open_stream
        from metricpact.crosscheck.report import from_json_lines

        if backends or names or fields:
            raise click.UsageError("a report is shown whole: --report goes without --backend, --case and --field")
        report = from_json_lines(open_stream(report_path).read_all().decode("utf-8", "replace"), report_path)
    else:
        from metricpact.crosscheck.check import run_check
        from metricpact.crosscheck.report import make_report

        def say(text: str) -> None:
            if not quiet:
                click.echo(text, err=True)

        asked = _backends(backends, say)
        cases, whole = _cases(names, fields)
        check = run_check(cases, asked, whole=whole, progress=say)
        report = make_report(check, asked, {"backends": backends, "cases": names, "fields": fields})
    write(check_report(report), chosen(output), places)
    return 0 if report.passed else 1


def _backends(named: tuple[str, ...], say: Callable[[str], None]) -> list[str]:
    """The backends to check, without those that are missing, which are said; named ones have to be there."""
    from metricpact.bridges.registry import BACKENDS, how_to_install, installed_backends, require

    if named:
        for name in named:
            require(name)
        return list(dict.fromkeys(named))
    there = installed_backends()
    for name in BACKENDS:
        if name not in there:
            say(f"note: backend {name} is not installed and not checked: {how_to_install(name)}")
    return there


def _cases(names: tuple[str, ...], fields: tuple[str, ...]) -> tuple[list[Case], bool]:
    """The chosen cases and the smoke cases, and whether these are all; raises ``UsageError`` for an unknown choice."""
    from difflib import get_close_matches

    from metricpact.crosscheck.corpus import load_cases

    cases = load_cases()
    ids, pins = [case.id for case in cases], sorted({case.field for case in cases})
    for name in names:
        if name not in ids:
            near = get_close_matches(name, ids, 3)
            raise click.UsageError(
                f"no case is called {name!r}" + (f": did you mean {', '.join(near)}?" if near else "")
            )
    for name in fields:
        if name not in pins:
            raise click.UsageError(f"no case pins {name!r}; pinned are: {', '.join(pins)}")
    if not names and not fields:
        return cases, True
    return [case for case in cases if case.smoke or case.id in names or case.field in fields], False
