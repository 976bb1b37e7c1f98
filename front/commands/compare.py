"""``metricpact compare``: candidates against a base, paired by query."""

from __future__ import annotations

from typing import Any

import click
from metricpact.commands import options


@click.command("compare")
@click.argument("qrels")
@click.argument("arguments", nargs=-1, metavar="BASE CANDIDATE… [MEASURE…]")
@options.slice_table_option
@options.by_option
@options.cross_option
@click.option("--all-pairs", is_flag=True, help="Every run against every later one, in place of one base.")
@click.option(
    "--test",
    type=click.Choice(["randomisation", "t", "wilcoxon"]),
    default="randomisation",
    show_default=True,
    help="Sign flips (all of them, or drawn where they are too many), Student's t, Wilcoxon's signed ranks.",
)
@click.option(
    "--correction",
    type=click.Choice(["holm", "bh", "none"]),
    default="holm",
    show_default=True,
    help="One over all measures, slices and candidates.",
)
@click.option("--alpha", type=float, default=0.05, show_default=True, help="For corrected p-values.")
@click.option("--power", type=float, default=0.8, show_default=True, help="Of the detectable difference.")
@click.option(
    "--flips",
    "most",
    type=click.IntRange(0),
    default=3,
    show_default=True,
    help="Show so many queries a measure that changed most, with the documents that moved.",
)
@click.option(
    "--show", "shown", multiple=True, metavar="QUERY", help="Both rankings of this query, side by side; repeatable."
)
@options.interval_options
@options.contract_option
@options.set_option
@options.queries_option
@click.option("--backend", default="pytrec_eval", show_default=True, help="What computes the values.")
@click.option("--format", "format_", metavar="FORMAT", help="Force a format of the files.")
@click.option("--split", default="test", show_default=True, help="Which qrels of a BEIR folder.")
@options.output_option
@options.places_option
@options.quiet_option
def command(
    qrels: str,
    arguments: tuple[str, ...],
    table: str | None,
    by: tuple[str, ...],
    cross: tuple[str, ...],
    most: int,
    shown: tuple[str, ...],
    contract: str,
    settings: tuple[str, ...],
    queries: str | None,
    backend: str,
    format_: str | None,
    split: str,
    *,
    all_pairs: bool,
    output: str | None,
    places: int,
    quiet: bool,
    **how: Any,
) -> int:
    """Compare candidates with a base, query by query.

    QRELS and runs are read as by `metricpact score`; the first run is the base. For each measure (and slice, with
    --slices): both means, their difference with an interval, queries won, tied and lost, a p-value corrected over the
    whole family, and a verdict, which may be that so few queries cannot resolve anything. Exit code 0, whatever the
    verdicts: `metricpact gate` judges.
    """
    from metricpact.bridges.evaluate import DEFAULT_MEASURES
    from metricpact.bridges.sources.slice_table import read_slice_table
    from metricpact.contracts.measures import parse_measures
    from metricpact.crosscheck.compare.comparison import compare_all_pairs, compare_scores
    from metricpact.crosscheck.compare.flips import Rankings, find_flips, show_query
    from metricpact.crosscheck.compare.options import ComparisonOptions
    from metricpact.crosscheck.slices.slicing import Slicing
    from metricpact.crosscheck.slices.sources import score_runs
    from metricpact.render.compare import compare_report
    from metricpact.render.registry import chosen, write

    runs, measures = options.sort_arguments(arguments)
    if len(runs) < 2:
        raise click.UsageError("two runs are needed: metricpact compare QRELS BASE CANDIDATE… [MEASURE…]")
    if table is None and (by or cross):
        raise click.UsageError("--by and --cross choose columns of a table: name it with --slices TABLE")
    if [qrels, *runs, table].count("-") > 1:
        raise click.UsageError("standard input (-) can be read once only")
    ways = ComparisonOptions.of(**how)
    profile = options.profile_from(contract, settings, queries)
    output = chosen(output)
    slicing = Slicing() if table is None else Slicing.of(read_slice_table(table), by or None, options.crossings(cross))
    judgments, named, inputs = options.read_inputs(qrels, runs, format_, split, hashing=output == "json")
    scored = score_runs(judgments, named, measures or parse_measures(DEFAULT_MEASURES), profile, backend)
    if all_pairs:
        comparison = compare_all_pairs(scored, slicing=slicing, options=ways)
    else:
        comparison = compare_scores(scored[0], scored[1:], slicing=slicing, options=ways)
    by_name = {run.name: run for run in scored}
    rankings = Rankings(judgments, named, profile.contract)
    pairs = [(by_name[base], by_name[candidate]) for base, candidate in comparison.pairs]
    flips = [flip for pair in pairs for flip in find_flips(*pair, rankings, most=most)] if most else []
    whole = [show_query(*pair, rankings, query) for query in shown for pair in pairs]
    if not quiet:
        for query in slicing.absent(judgments.queries)[:1]:
            click.echo(f"note: queries without a row in the slice table are in no slice but all: {query}, …", err=True)
    write(compare_report(comparison, places, inputs=inputs, flips=flips, shown=whole), output, places)
    return 0
