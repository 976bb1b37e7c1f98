"""``metricpact slices``: values by slice, with intervals, counts and the questions that have no answer."""

from __future__ import annotations

from typing import Any

import click
from metricpact.commands import options


@click.command("slices")
@click.argument("source", metavar="RUNS.csv | QRELS")
@click.argument("arguments", nargs=-1, metavar="[RUN…] [MEASURE…]")
@options.slice_table_option
@options.by_option
@options.cross_option
@click.option(
    "--k",
    "k",
    type=click.IntRange(1),
    help="What a user sees without scrolling: the default measures are R@1, R@k and RR. [default: 10]",
)
@click.option(
    "--min-n",
    "min_n",
    type=click.IntRange(1),
    default=30,
    show_default=True,
    help="A slice of fewer queries is marked as direction, not evidence.",
)
@click.option(
    "--none-policy",
    "none_policy",
    type=click.Choice(["decline", "nearest-with-note"]),
    help="What was decided for NONE questions; without it they are not scored.",
)
@click.option("--averages", is_flag=True, help="Pooled counts (micro) and means over slices too.")
@options.across_option
@options.proportion_option
@options.interval_options
@options.scoring_options
@options.output_choice()
@options.places_option
@options.quiet_option
def command(
    source: str,
    arguments: tuple[str, ...],
    table: str | None,
    by: tuple[str, ...],
    cross: tuple[str, ...],
    k: int | None,
    min_n: int,
    none_policy: str | None,
    across: tuple[str, ...],
    contract: str,
    settings: tuple[str, ...],
    queries: str | None,
    backend: str,
    format_: str | None,
    run_format: str | None,
    split: str,
    *,
    averages: bool,
    output: str | None,
    places: int,
    quiet: bool,
    **intervals: Any,
) -> int:
    """Score runs by slice, with intervals and counts.

    RUNS.csv has a row a run and question: run, query_id, expected_id (NONE: no answer), ranked_ids (separated by ;),
    maybe grades (id:2;id:1), response (declined, noted, answered) and nearest_id; all other columns are slices.
    Or QRELS and RUNs as `metricpact score` reads them, with --slices TABLE: query_id and slice columns.
    Or records, record:ID@FILE each, with --slices TABLE or slices of their own.
    """
    from metricpact.api_versions import slices
    from metricpact.bridges.sources.known_item_table import read_known_items
    from metricpact.crosscheck.records.reference import is_reference
    from metricpact.render.registry import chosen, write
    from metricpact.render.slices import slices_report

    runs, measures = options.sort_arguments(arguments)
    records = [source, *runs] if is_reference(source) else []
    if records:
        runs = []
    if k is not None and measures:
        raise click.UsageError("--k belongs to the default measures: name R@k among the measures instead")
    if runs and table is None:
        raise click.UsageError("no slice table is named: metricpact slices QRELS RUN… --slices TABLE")
    if table is not None and not runs and not records:
        raise click.UsageError("no run is named: metricpact slices QRELS RUN… --slices TABLE")
    if runs and none_policy:
        raise click.UsageError("--none-policy is for a table with NONE questions: judgments hold none")
    if [source, *runs, table].count("-") > 1:
        raise click.UsageError("standard input (-) can be read once only")
    how: dict[str, Any] = {
        "contract": options.profile_from(contract, settings, queries),
        "backend": backend,
        "by": by or None,
        "cross": options.crossings(cross),
        "k": k or 10,
        "min_n": min_n,
        **intervals,
    }
    output = chosen(output)
    hashing = output == "json"
    if runs:
        judgments, named, inputs = options.read_inputs(
            source, runs, format_, run_format, split, hashing=hashing, quiet=quiet
        )
        found = slices(judgments, named, measures or None, table=table, **how)
    elif records:
        inputs = {"runs": [{"path": path} for path in records]}
        found = slices(records, None, measures or None, table=table, across=across, none_policy=none_policy, **how)
    else:
        items = read_known_items(source, hashing=hashing)
        inputs = {"runs": {"path": source, "sha256": items.sha256}}
        found = slices(items, None, measures or None, none_policy=none_policy, **how)
    if not quiet:
        for note in found.notes:
            click.echo(f"note: {note}", err=True)
    write(slices_report(found, places, inputs=inputs, averages=averages), output, places)
    return 0
