"""``metricpact score``: values of runs under a contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from metricpact.commands import options

if TYPE_CHECKING:
    from metricpact.contracts.scores import Scores


@click.command("score")
@click.argument("qrels")
@click.argument("arguments", nargs=-1, metavar="RUN [RUN…] [MEASURE…]")
@options.contract_option
@options.set_option
@options.queries_option
@click.option("--backend", default="pytrec_eval", show_default=True, help="What computes the values.")
@click.option("--format", "format_", metavar="FORMAT", help="Force a format of the files: trec, beir or json.")
@click.option("--split", default="test", show_default=True, help="Which qrels of a BEIR folder.")
@click.option("-q", "--by-query", is_flag=True, help="The values of single queries too.")
@click.option("--bounds", is_flag=True, help="What values could be if unjudged documents were judged.")
@click.option(
    "--max-grade", type=int, metavar="GRADE", help="Largest grade of an unjudged document (default: of the judgments)."
)
@click.option("--tie-bounds", is_flag=True, help="Least, greatest and expected value over all orders of ties.")
@options.output_option
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

    QRELS is a TREC or BEIR qrels file, a BEIR folder or a JSON file; RUN a TREC or JSON run; - is standard input.
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
    scored: list[tuple[str, Scores]] = []
    for path in runs:
        run = read_run(path, format=None if format_ == "beir" else format_, hashing=hashing)
        inputs = {
            "qrels": {"path": qrels, "sha256": judgments.origin.sha256},
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
