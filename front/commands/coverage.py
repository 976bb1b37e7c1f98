"""``metricpact coverage``: whether selected units cover the evidence that tasks require."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from metricpact.commands import options

if TYPE_CHECKING:
    from metricpact.crosscheck.evidence.coverage import Coverage


@click.command("coverage")
@click.argument("tasks")
@click.argument("selection")
@click.option("--pool", metavar="FILE", help="The candidates that the selection was made from, whole.")
@click.option(
    "--inventory", metavar="FILE", help="The sources: what it does not have as quoted, current, free is refused."
)
@click.option("--k", type=click.IntRange(min=1), metavar="K", help="Look at the first K units of each packet.")
@click.option("--unranked", is_flag=True, help="The order of the units means nothing.")
@click.option("--overlap", type=float, default=0.5, show_default=True, help="Share of an anchor for the overlap rule.")
@click.option("--iou", type=float, default=0.5, show_default=True, help="Intersection over union for the iou rule.")
@click.option(
    "--format", "format_", metavar="FORM", help="TASKS in the form of a data set, such as hotpotqa or musique."
)
@click.option("--underscores", is_flag=True, help="Write blanks in TASKS' document ids as _, as TREC runs have to.")
@click.option("-q", "--by-task", is_flag=True, help="Every task too.")
@options.output_choice()
@options.places_option
@options.quiet_option
def command(
    tasks: str,
    selection: str,
    pool: str | None,
    inventory: str | None,
    k: int | None,
    format_: str | None,
    output: str | None,
    *,
    unranked: bool,
    overlap: float,
    iou: float,
    underscores: bool,
    by_task: bool,
    places: int,
    quiet: bool,
) -> int:
    """Tell whether the selected units jointly hold the evidence that each task requires.

    TASKS is a JSON(L) file of accepted bundles of anchors or of groups of documents, or a data set's file (--format);
    SELECTION is JSON(L), CSV, or a run, whose documents are taken as whole. - is standard input. Covered means that
    every anchor of one bundle lies wholly inside some unit; what other hit rules would claim stands beside it.
    """
    from metricpact.api_evidence import coverage as compute
    from metricpact.render.coverage import coverage_report
    from metricpact.render.registry import chosen, write

    if [tasks, selection, pool, inventory].count("-") > 1:
        raise click.UsageError("standard input (-) can be read once only")
    result = compute(
        tasks,
        selection,
        pool=pool,
        inventory=inventory,
        k=k,
        ranked=not unranked,
        overlap=overlap,
        iou=iou,
        format=format_,
        underscores=underscores,
    )
    if not quiet:
        for note in notes(result):
            click.echo(f"note: {note}", err=True)
    write(coverage_report(result, by_task=by_task), chosen(output), places)
    return 0


def notes(result: Coverage) -> list[str]:
    """What a reader has to know beside the numbers."""
    counted = (
        (len(result.missing), "tasks without a packet, which counts as an empty one", result.missing),
        (len(result.extra), "packets of no task, ignored", result.extra),
        (result.unversioned, "units that name no revision, taken as of the current one", ()),
        (result.unchecked, "eligible units whose text could not be compared", ()),
        (result.outside_pool, "selected units that are not in the pool", ()),
    )
    return [*result.notes, *(f"{fact}: {count}{_some_of(ids)}" for count, fact, ids in counted if count)]


def _some_of(ids: Sequence[str]) -> str:
    return f" ({', '.join(ids[:5])}{', …' if len(ids) > 5 else ''})" if ids else ""
