"""``metricpact audit``: which convention makes the difference between two numbers, and whether it changes who wins."""

from __future__ import annotations

import sys

import click
from metricpact.commands import options


@click.command("audit")
@click.argument("qrels")
@click.argument("arguments", nargs=-1, metavar="RUN [RUN…] [MEASURE…]")
@options.contract_option
@options.set_option
@options.queries_option
@click.option(
    "--against", multiple=True, metavar="PROFILE", help="Only these profiles, from both sides; repeatable [all]."
)
@click.option("--query", "shown", multiple=True, metavar="ID", help="Work this query out line by line; repeatable.")
@click.option("--top", type=click.IntRange(1), default=5, show_default=True, help="Queries named that move most.")
@click.option("--no-native", is_flag=True, help="Do not run the libraries themselves, only their profiles.")
@options.format_option
@options.run_format_option
@options.split_option
@options.output_choice()
@options.places_option
@options.quiet_option
def command(
    qrels: str,
    arguments: tuple[str, ...],
    contract: str,
    settings: tuple[str, ...],
    queries: str | None,
    against: tuple[str, ...],
    shown: tuple[str, ...],
    top: int,
    format_: str | None,
    run_format: str | None,
    split: str,
    *,
    no_native: bool,
    output: str | None,
    places: int,
    quiet: bool,
) -> int:
    """Say which conventions make other tools' numbers differ on this data.

    For every profile: what the installed library itself answers, what the profile says, the difference from the
    contract's number, and what each differing convention does to the mean alone; what is left is interaction. With
    several runs: under which conventions and profiles their order changes. Without a measure: P@10 R@100 RR@10
    AP@100 nDCG@10.
    """
    from metricpact.api_audits import audit
    from metricpact.render.audit import audit_report
    from metricpact.render.registry import chosen, write

    runs, measures = options.sort_arguments(arguments)
    if not runs:
        raise click.UsageError("no run is named: metricpact audit QRELS RUN… [MEASURE…]")
    profile = options.profile_from(contract, settings, queries)
    output = chosen(output)
    hashing = output in ("json", "jsonl")
    judgments, read, inputs = options.read_inputs(qrels, runs, format_, run_format, split, hashing=hashing, quiet=quiet)
    if sys.stderr.isatty() and not (no_native or quiet):
        click.echo(
            "asking the installed libraries, some compile themselves first (--no-native: without them)", err=True
        )
    found = audit(
        judgments,
        read,
        measures or None,
        contract=profile,
        against=against or None,
        queries=shown,
        top=top,
        native=not no_native,
        inputs=inputs,
    )
    if not quiet:
        options.tell_labels(judgments)
        for one in found.runs:
            if one.conflict:
                click.echo(f"note: {one.name} is scored with rank_conflict=ignore: {one.conflict}", err=True)
    write(audit_report(found, places, sides=bool(against)), output, places)
    return 0
