"""``metricpact claims``: published claims, recomputed."""

from __future__ import annotations

import click
from metricpact.commands import options


@click.command("claims")
@click.argument("name", metavar="FILE|NAME")
@click.option("--claim", "only", multiple=True, metavar="ID", help="Check this claim only; repeatable.")
@options.output_choice()
@options.places_option
@options.quiet_option
def command(name: str, only: tuple[str, ...], *, output: str | None, places: int, quiet: bool) -> int:
    """Recompute the claims of a TOML file.

    FILE is a claims file, NAME one that comes along: chapter, cookbook. Every claim is reproduced, reproduced only
    under other conditions, not reproduced (with what comes nearest), not attainable, or it cannot be checked. Exit
    code 1: a verdict is not the one that the file expects (reproduced, where it says nothing).
    """
    from metricpact.crosscheck.claims.check import check_claims
    from metricpact.render.claims import claims_report
    from metricpact.render.registry import chosen, write

    report = check_claims(name, only)
    if not quiet:
        for result in report.results:
            if not result.as_expected:
                place = f"{report.name}:{result.line}"
                click.echo(f"note: {place}: {result.id}: {result.verdict.text}; expected: {result.expected}", err=True)
    write(claims_report(report, places), chosen(output), places)
    return 0 if report.passed else 1
