"""``metricpact compare``: candidates against a base, paired by query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from metricpact.commands import options

if TYPE_CHECKING:
    from metricpact.contracts.measures import Measure


@click.command("compare")
@click.argument("source", metavar="QRELS | RUNS.csv")
@click.argument("arguments", nargs=-1, metavar="[BASE CANDIDATE…] [MEASURE…]")
@options.slice_table_option
@options.by_option
@options.cross_option
@click.option("--k", "k", type=click.IntRange(1), help="With RUNS.csv: measures R@1, R@k and RR. [default: 10]")
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
    help="Show so many queries a measure that changed most, with the documents that moved. "
    "[default: 3; 0 with --all-pairs]",
)
@click.option(
    "--show", "shown", multiple=True, metavar="QUERY", help="Both rankings of this query, side by side; repeatable."
)
@options.across_option
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
    most: int | None,
    shown: tuple[str, ...],
    across: tuple[str, ...],
    contract: str,
    settings: tuple[str, ...],
    queries: str | None,
    backend: str,
    format_: str | None,
    run_format: str | None,
    split: str,
    *,
    all_pairs: bool,
    output: str | None,
    places: int,
    quiet: bool,
    **how: Any,
) -> int:
    """Compare candidates with a base, query by query.

    QRELS and runs are read as by `metricpact score`; the first run is the base. RUNS.csv is a table as
    `metricpact slices` reads it; names behind it choose its runs. record:ID@FILE may stand for any run; where all are
    records, QRELS is left out.

    For each measure and slice: both means, their difference with an interval, queries won, tied and lost, a p-value
    corrected over the whole family, and a verdict, which may be that so few queries cannot resolve anything. The exit
    code is 0 whatever the verdicts say: a gate judges them.
    """
    from metricpact.bridges.evaluate import DEFAULT_MEASURES
    from metricpact.bridges.sources.known_item_table import is_known_items, read_known_items
    from metricpact.contracts.measures import parse_measures
    from metricpact.crosscheck.compare.options import ComparisonOptions
    from metricpact.crosscheck.compare.sources import compare_judged_runs, compare_known_items
    from metricpact.crosscheck.records.recorded_runs import compare_recorded, holds_record
    from metricpact.crosscheck.records.reference import is_reference
    from metricpact.render.compare import compare_report
    from metricpact.render.registry import chosen, write

    runs, measures = options.sort_arguments(arguments)
    recorded = is_reference(source)
    if recorded:
        source, runs = "", [source, *runs]
    from_table = not holds_record(runs) and is_known_items(source)
    _check_usage(source, runs, measures, table, chosen_columns=bool(by or cross), k=k, from_table=from_table)
    ways: dict[str, Any] = {
        "profile": options.profile_from(contract, settings, queries),
        "backend": backend,
        "by": by or None,
        "cross": options.crossings(cross),
        "options": ComparisonOptions.of(**how),
        "all_pairs": all_pairs,
    }
    output = chosen(output)
    hashing = output == "json"
    inputs: dict[str, Any]
    if across and not holds_record(runs):
        raise click.UsageError("--across is for records: runs that are scored now have one set and one contract")
    if holds_record(runs):
        if most or shown:
            raise click.UsageError("records hold no rankings: --flips and --show go with runs alone")
        most, inputs = 0, {"qrels": {"path": source or None}, "runs": [{"path": path} for path in runs]}
        records: dict[str, Any] = {"across": across, "split": split}
        records["formats"] = (format_, options.format_of_runs(format_, run_format))
        comparison = compare_recorded(source or None, runs, measures or None, table=table, **records, **ways)
    elif runs and not from_table:
        judgments, named, inputs = options.read_inputs(
            source, runs, format_, run_format, split, hashing=hashing, quiet=quiet
        )
        wanted = measures or parse_measures(DEFAULT_MEASURES)
        comparison = compare_judged_runs(judgments, named, wanted, table=table, **ways)
    else:
        items = read_known_items(source, hashing=hashing)
        items = items.chosen(runs) if runs else items
        inputs = {"runs": {"path": source, "sha256": items.sha256}}
        comparison = compare_known_items(items, measures or None, k=k or 10, **ways)
    most = (0 if all_pairs else 3) if most is None else most
    flips = comparison.flips(most) if most else []
    whole = [one for query in shown for one in comparison.show(query)]
    if not quiet:
        for note in comparison.notes:
            click.echo(f"note: {note}", err=True)
    write(compare_report(comparison, places, inputs=inputs, flips=flips, shown=whole), output, places)
    return 0


def _check_usage(
    source: str,
    runs: list[str],
    measures: list[Measure],
    table: str | None,
    *,
    chosen_columns: bool,
    k: int | None,
    from_table: bool,
) -> None:
    """Refuse arguments that do not go together: raises ``UsageError``."""
    from metricpact.crosscheck.records.recorded_runs import holds_record

    if len(runs) == 1 or (table is not None and not runs):
        raise click.UsageError("two runs are needed: metricpact compare QRELS BASE CANDIDATE… [MEASURE…]")
    if from_table and table is not None:
        raise click.UsageError("a known-item table has its own slices: leave out --slices")
    if table is None and runs and chosen_columns and not (holds_record(runs) or from_table):
        raise click.UsageError("--by and --cross choose columns of a table: name it with --slices TABLE")
    if k is not None and ((runs and not from_table) or measures):
        raise click.UsageError("--k belongs to the default measures of a table RUNS.csv: name the measures instead")
    if [source, *runs, table].count("-") > 1:
        raise click.UsageError("standard input (-) can be read once only")
