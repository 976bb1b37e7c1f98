"""``metricpact infer``: which contracts give a published number."""

from __future__ import annotations

import click
from metricpact.commands import options


@click.command("infer")
@click.argument("qrels")
@click.argument("run")
@click.argument("numbers", nargs=-1, required=True, metavar="MEASURE=VALUE…")
@click.option(
    "--changes",
    type=click.IntRange(0, 2),
    default=2,
    show_default=True,
    help="How many fields of a profile may be changed.",
)
@click.option("--contract", "contract", metavar="FILE", help="A contract of your own to begin with.")
@options.format_option
@options.run_format_option
@options.split_option
@options.output_choice()
@options.places_option
@options.quiet_option
def command(
    qrels: str,
    run: str,
    numbers: tuple[str, ...],
    changes: int,
    contract: str | None,
    format_: str | None,
    run_format: str | None,
    split: str,
    *,
    output: str | None,
    places: int,
    quiet: bool,
) -> int:
    """Find the contracts that give published means.

    VALUE is a number as it was printed: 0.4973 is anything from 0.49725 to 0.49735, 49.7% from 0.4965 to 0.4975;
    21/43 is exact. The profiles are tried as they are, then with one and two fields changed; all that give every
    number are listed, the fewest and most usual changes first. Exit code 1: nothing gives them (and what comes
    nearest is shown).
    """
    from metricpact.bridges.sources.choose import read_judgments, read_run
    from metricpact.contracts.profiles import load_profile
    from metricpact.crosscheck.audit.infer import infer, read_all
    from metricpact.render.infer import infer_report
    from metricpact.render.registry import chosen, write

    if [qrels, run].count("-") > 1:
        raise click.UsageError("standard input (-) can be read once only")
    asked = _read(numbers)
    read_all(asked)  # what cannot be read is said before large files are
    first = [load_profile(contract)] if contract else []
    output = chosen(output)
    hashing = output in ("json", "jsonl")
    judgments = read_judgments(qrels, format=format_, split=split, hashing=hashing)
    ranked = read_run(run, format=options.format_of_runs(format_, run_format), hashing=hashing)
    found = infer(judgments, ranked, asked, changes=changes, first=first)
    inputs = {
        "qrels": {"path": qrels, "sha256": judgments.origin.sha256},
        "run": {"path": run, "sha256": ranked.origin.sha256, "tag": ranked.origin.tag},
    }
    if not quiet:
        options.tell_notes(judgments)
    if not found.found and not quiet:
        click.echo(f"note: none of {found.tried} contracts gives it; shown is what comes nearest", err=True)
    write(infer_report(found, inputs), output, places)
    return 0 if found.found else 1


def _read(numbers: tuple[str, ...]) -> dict[str, str]:
    """MEASURE=VALUE arguments; the measure may hold equals signs itself."""
    asked: dict[str, str] = {}
    for argument in numbers:
        measure, equals, value = argument.rpartition("=")
        if not equals or not measure.strip() or not value.strip():
            raise click.UsageError(f"{argument!r} gives no measure a number: write for example nDCG@10=0.4973")
        if measure in asked:
            raise click.UsageError(f"{measure} is given twice")
        asked[measure.strip()] = value.strip()
    return asked
