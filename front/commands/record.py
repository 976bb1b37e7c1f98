"""``metricpact record``: scores kept per version of what was scored and of what it was scored on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from metricpact.commands import options

if TYPE_CHECKING:
    from collections.abc import Callable

    from metricpact.bridges.sources.known_item_table import KnownItems
    from metricpact.contracts.measures import Measure
    from metricpact.contracts.profiles import Profile
    from metricpact.contracts.scores import Scores
    from metricpact.crosscheck.records.record import Record

    Command = Callable[..., int]

records_option = click.option(
    "--records",
    "file",
    metavar="FILE",
    envvar="METRICPACT_RECORDS",
    help="The records file. Default: what the environment variable METRICPACT_RECORDS names.",
)


def label_options(*, required: bool) -> Callable[[Command], Command]:
    """The options that name a component, a query set, and the version of each."""
    named = {
        "--component": "What was scored, such as search.",
        "--component-version": "Its version.",
        "--set-name": "The query set that it was scored on.",
        "--set-version": "The version of the set: queries and judgments.",
    }

    def decorate(function: Command) -> Command:
        for flag, told in reversed(named.items()):
            function = click.option(flag, metavar="TEXT", help=told, required=required)(function)
        return function

    return decorate


@click.group("record")
def command() -> None:
    """Keep scores per version, in an SQLite file.

    A record holds the scores of one run: means with their counts, every query's value or why it has none, signatures,
    the SHA-256 of the inputs, the versions of the component and of the query set, and the software. Other commands
    take record:ID@FILE, such as record:3@scores.sqlite, in the place of a run.
    """


@command.command("add")
@click.argument("arguments", nargs=-1, metavar="[QRELS RUN | RUNS.csv] [MEASURE…]")
@records_option
@label_options(required=True)
@click.option("--note", default="", help="Anything worth remembering, on one line.")
@click.option(
    "--scores", "document", metavar="FILE", help="Keep what 'metricpact score -q -o json' wrote; - is standard input."
)
@click.option("--run", "name", metavar="NAME", help="The run of RUNS.csv, a known-item table, to keep.")
@options.slice_table_option
@options.scoring_options
@options.output_choice()
@options.places_option
def add(
    arguments: tuple[str, ...],
    file: str | None,
    component: str,
    component_version: str,
    set_name: str,
    set_version: str,
    note: str,
    document: str | None,
    name: str | None,
    table: str | None,
    contract: str,
    settings: tuple[str, ...],
    queries: str | None,
    backend: str,
    format_: str | None,
    run_format: str | None,
    split: str,
    output: str | None,
    places: int,
) -> int:
    """Score a run and keep it, or keep scores that are there.

    The record's id is printed once the record is on the disk. Several processes may add to one file at a time.
    """
    from metricpact.bridges.sources.scores_document import read_scores
    from metricpact.bridges.sources.slice_table import read_slice_table
    from metricpact.crosscheck.records.keep import add_record
    from metricpact.crosscheck.records.known_items import scores_of_known_items
    from metricpact.crosscheck.records.recall import load_record
    from metricpact.crosscheck.records.record import Labels
    from metricpact.render.records import record_report
    from metricpact.render.registry import chosen, write

    kept_in = _file(file)
    labels = Labels(component, component_version, set_name, set_version, note)
    slices = None if table is None else read_slice_table(table)
    none_questions = None
    if document is not None:
        if arguments or name:
            raise click.UsageError("--scores keeps scores that are there: it goes without QRELS, RUN and MEASURE")
        scores = read_scores(document)
    else:
        profile = options.profile_from(contract, settings, queries)
        if name is not None:
            items, measures = _known_items(arguments)
            scores = scores_of_known_items(items, name, measures, profile, backend)
            none_questions = items.none_rows.filter(run=name)
            if slices is None and items.slices.width > 1:
                slices = items.slices
        else:
            formats = format_, options.format_of_runs(format_, run_format)
            scores = _score(arguments, profile, backend, formats, split)
    for remark in scores.inputs.get("qrels", {}).get("notes", ()):
        click.echo(f"note: {remark}", err=True)
    reference = add_record(kept_in, scores, labels, slices, none_questions)
    write(record_report(load_record(reference)), chosen(output), places)
    return 0


@command.command("list")
@records_option
@label_options(required=False)
@options.output_choice()
@options.places_option
def list_(
    file: str | None,
    component: str | None,
    component_version: str | None,
    set_name: str | None,
    set_version: str | None,
    output: str | None,
    places: int,
) -> int:
    """List the records of a file, a line a measure; --component and the like keep those of that name."""
    from metricpact.crosscheck.records.recall import list_records
    from metricpact.render.records import list_report
    from metricpact.render.registry import chosen, write

    labels = {
        "component": component,
        "component_version": component_version,
        "set_name": set_name,
        "set_version": set_version,
    }
    write(list_report(list_records(_file(file), labels)), chosen(output), places)
    return 0


@command.command("show")
@click.argument("record", metavar="ID")
@records_option
@click.option("-q", "--by-query", is_flag=True, help="The values of single queries too.")
@options.output_choice()
@options.places_option
def show(record: str, file: str | None, *, by_query: bool, output: str | None, places: int) -> int:
    """Show one record; ID is its number in --records FILE, or record:ID@FILE."""
    from metricpact.render.records import record_report
    from metricpact.render.registry import chosen, write

    write(record_report(_load(record, file), by_query=by_query), chosen(output), places)
    return 0


@command.command("diff")
@click.argument("base")
@click.argument("candidate")
@records_option
@options.across_option
@click.option("-q", "--by-query", is_flag=True, help="The values of single queries too.")
@options.output_choice()
@options.places_option
@options.quiet_option
def diff(
    base: str,
    candidate: str,
    file: str | None,
    across: tuple[str, ...],
    *,
    by_query: bool,
    output: str | None,
    places: int,
    quiet: bool,
) -> int:
    """Compare two records, paired by query id.

    BASE and CANDIDATE are numbers in --records FILE, or record:ID@FILE. Intervals and tests are what 'metricpact
    compare' adds: it takes records too.
    """
    from metricpact.crosscheck.records.diff import diff_records
    from metricpact.render.records import diff_report
    from metricpact.render.registry import chosen, write

    found = diff_records(_load(base, file), _load(candidate, file), across)
    if not quiet:
        for note in found.notes:
            click.echo(f"note: {note}", err=True)
    write(diff_report(found, by_query=by_query), chosen(output), places)
    return 0


@command.command("export")
@click.argument("ids", nargs=-1, type=click.IntRange(min=1), metavar="[ID…]")
@records_option
@click.option("-o", "--output", type=click.Choice(["jsonl", "parquet", "csv"]), default="jsonl", show_default=True)
def export(ids: tuple[int, ...], file: str | None, output: str) -> int:
    """Write whole records to standard output: all of a file, or those named.

    jsonl: a record a line, with everything that is kept. parquet and csv: a row a record, query and measure.
    """
    from metricpact.crosscheck.records.recall import load_records
    from metricpact.render.records import export_report
    from metricpact.render.registry import write

    write(export_report(load_records(_file(file), ids or None)), output, 17)
    return 0


def _score(
    arguments: tuple[str, ...], profile: Profile, backend: str, formats: tuple[str | None, str | None], split: str
) -> Scores:
    from metricpact.bridges.evaluate import DEFAULT_MEASURES
    from metricpact.bridges.scored_sources import score_sources
    from metricpact.contracts.measures import parse_measures

    if not arguments:
        raise click.UsageError("nothing to keep: metricpact record add QRELS RUN [MEASURE…], or --scores FILE")
    qrels, *rest = arguments
    runs, measures = options.sort_arguments(rest)
    if len(runs) != 1:
        hint = "" if runs else " (of a known-item table, --run names one)"
        raise click.UsageError(f"a record holds one run, and {len(runs)} are named{hint}")
    wanted = measures or parse_measures(DEFAULT_MEASURES)
    return score_sources(qrels, runs, wanted, profile, backend, formats=formats, split=split)[0]


def _known_items(arguments: tuple[str, ...]) -> tuple[KnownItems, list[Measure]]:
    """The known-item table among the arguments, and the measures."""
    from metricpact.bridges.sources.known_item_table import read_known_items

    tables, measures = options.sort_arguments(arguments)
    if len(tables) != 1:
        raise click.UsageError(f"--run names a run of one known-item table, and {len(tables)} are named")
    return read_known_items(tables[0], hashing=True), measures


def _file(file: str | None) -> str:
    if not file:
        raise click.UsageError("no records file is named: --records FILE, or METRICPACT_RECORDS in the environment")
    return file


def _load(text: str, file: str | None) -> Record:
    from metricpact.crosscheck.records.recall import load_record
    from metricpact.crosscheck.records.reference import parse_reference

    return load_record(parse_reference(text, file))
