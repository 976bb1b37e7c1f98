"""``metricpact score``: values of runs under a contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from metricpact.commands import options

if TYPE_CHECKING:
    from metricpact.contracts.scores import Scores
    from metricpact.contracts.tables import Judgments


@click.command("score")
@click.argument("qrels")
@click.argument("arguments", nargs=-1, metavar="RUN [RUN…] [MEASURE…]")
@options.scoring_options
@click.option("-q", "--by-query", is_flag=True, help="The values of single queries too.")
@click.option("--bounds", is_flag=True, help="What values could be if unjudged documents were judged.")
@click.option(
    "--max-grade", type=int, metavar="GRADE", help="Largest grade of an unjudged document (default: of the judgments)."
)
@click.option("--tie-bounds", is_flag=True, help="Least, greatest and expected value over all orders of ties.")
@options.output_choice("trec")
@options.places_option
@options.quiet_option
def command(
    qrels: str,
    arguments: tuple[str, ...],
    contract: str,
    settings: tuple[str, ...],
    queries: str | None,
    backend: str,
    format_: str | None,
    run_format: str | None,
    split: str,
    *,
    by_query: bool,
    bounds: bool,
    max_grade: int | None,
    tie_bounds: bool,
    output: str | None,
    places: int,
    quiet: bool,
) -> int:
    """Score runs against judgments.

    QRELS is a file of judgments, a BEIR folder, or an id of ir_datasets (such as beir/scifact/test) where no path has
    that name; RUN a file; - is standard input. Formats are known by content: TREC, MS MARCO, BEIR, JSON, JSON lines,
    CSV, TSV, Parquet, Arrow, known-item CSV, what ranx saves; gz, zst, lz4, bz2, xz.
    An argument that parses as a measure is a measure (write ./nDCG@10 for a file of that name). Without one:
    P@10 R@100 RR@10 AP@100 nDCG@10. The mean is over all judged queries unless the contract says otherwise.

    --bounds gives the least and greatest value of P, R, RR, AP, nDCG and Success over all grades that the unjudged
    documents of the prefix could have. Upper bounds hold whatever was not judged; lower bounds of R, AP and nDCG hold
    if no relevant document is outside the judgments and the prefix.
    """
    from metricpact.bridges.evaluate import DEFAULT_MEASURES, check_beside, evaluate, plan_all
    from metricpact.bridges.registry import require
    from metricpact.bridges.sources.choose import read_judgments, read_run
    from metricpact.contracts.measures import parse_measures
    from metricpact.render.registry import chosen, write
    from metricpact.render.scores import score_report

    runs, measures = options.sort_arguments(arguments)
    if not runs:
        raise click.UsageError("no run is named: metricpact score QRELS RUN… [MEASURE…]")
    if [qrels, *runs].count("-") > 1:
        raise click.UsageError("standard input (-) can be read once only")
    profile = options.profile_from(contract, settings, queries)
    wanted = measures or parse_measures(DEFAULT_MEASURES)
    output = chosen(output)
    if output == "trec" and (bounds or tie_bounds):
        raise click.UsageError("trec's lines have no place for bounds: choose another output")
    # What cannot be had is said before large files are read.
    check_beside(profile, wanted, bounds=bounds, max_grade=max_grade, tie_bounds=tie_bounds)
    plan_all(require(backend), profile, wanted)
    hashing = output in ("json", "jsonl")
    judgments = read_judgments(qrels, format=format_, split=split, hashing=hashing)
    if not quiet:
        options.tell_notes(judgments)
    runs_format = options.format_of_runs(format_, run_format)
    scored: list[tuple[str, Scores]] = []
    for path in runs:
        run = read_run(path, format=runs_format, hashing=hashing)
        inputs: dict[str, dict[str, Any]] = {
            "qrels": {"path": qrels, "sha256": judgments.origin.sha256, **_notes(judgments)},
            "run": {"path": path, "sha256": run.origin.sha256, "tag": run.origin.tag},
        }
        scores = evaluate(
            judgments,
            run,
            wanted,
            profile,
            backend,
            inputs=inputs,
            bounds=bounds,
            max_grade=max_grade,
            tie_bounds=tie_bounds,
        )
        scored.append((path, scores))
        if not quiet:
            _note(path, scores)
    write(score_report(scored, by_query=by_query), output, places)
    return 0


def _notes(judgments: Judgments) -> dict[str, list[str]]:
    return {"notes": list(judgments.origin.notes)} if judgments.origin.notes else {}


def _note(path: str, scores: Scores) -> None:
    """What a reader has to know beside the numbers, on standard error."""
    if scores.missing:
        _say(f"{path}: {_some(len(scores.missing), 'judged query', 'judged queries')} not in the run", scores.missing)
    if scores.extra:
        _say(f"{path}: {_some(len(scores.extra), 'query', 'queries')} of the run not judged", scores.extra)


def _some(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _say(fact: str, ids: tuple[str, ...]) -> None:
    shown = ", ".join(ids[:5]) + (", …" if len(ids) > 5 else "")
    click.echo(f"note: {fact}: {shown}", err=True)
