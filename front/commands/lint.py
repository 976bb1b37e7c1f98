"""``metricpact lint``: every defect in judgments and runs."""

from __future__ import annotations

import click
from metricpact.commands import options


def _codes(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from metricpact.render.lint import codes_report
        from metricpact.render.registry import write

        write(codes_report(), "table", places=4)
        context.exit()


@click.command("lint")
@click.argument("qrels")
@click.argument("runs", nargs=-1, metavar="[RUN…]")
@click.option(
    "-k", "--cutoff", "cutoffs", type=int, multiple=True, metavar="K",
    help="Where ties, unjudged documents and short rankings count; repeatable.  [default: 10]",
)  # fmt: skip
@click.option("--strict", is_flag=True, help="Exit code 1 on warnings too.")
@click.option(
    "--limit", type=click.IntRange(min=0), default=20, show_default=True,
    help="The most findings of one code and file that are listed; all are counted. 0: all.",
)  # fmt: skip
@click.option("--codes", is_flag=True, is_eager=True, expose_value=False, callback=_codes,
    help="List the codes and what they mean.",
)  # fmt: skip
@options.format_option
@options.run_format_option
@options.split_option
@options.output_choice("sarif")
@options.quiet_option
def command(
    qrels: str,
    runs: tuple[str, ...],
    cutoffs: tuple[int, ...],
    limit: int,
    format_: str | None,
    run_format: str | None,
    split: str,
    *,
    strict: bool,
    output: str | None,
    quiet: bool,
) -> int:
    """Find every defect in judgments and runs, with file and line.

    An error is what the chapter contract refuses, no reader reads or nothing matches, a warning what may bend a number,
    a note worth knowing. --quiet leaves the notes out of tables. Exit codes: 0 no error (with --strict: no warning
    either), 1 some, 2 no file can be opened.
    """
    from metricpact.crosscheck.lint.lint import DEFAULT_CUTOFFS, lint
    from metricpact.render.lint import lint_report
    from metricpact.render.registry import chosen, write

    if [qrels, *runs].count("-") > 1:
        raise click.UsageError("standard input (-) can be read once only")
    report = lint(
        qrels,
        runs,
        cutoffs=cutoffs or DEFAULT_CUTOFFS,
        format=format_,
        run_format=options.format_of_runs(format_, run_format),
        split=split,
        limit=limit,
    )
    write(lint_report(report, notes=not quiet), chosen(output), places=4)
    return 0 if report.passed(strict=strict) else 1
