"""``metricpact convert``: judgments or a run in another format, lossless or refused."""

from __future__ import annotations

import click
from metricpact.commands import options


@click.command("convert")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option("--to", metavar="FORMAT", help="The format to write; default: what the name of OUT stands for.")
@click.option("--kind", type=click.Choice(["qrels", "run"]), help="What IN holds, where it could be both.")
@options.format_option
@options.split_option
@click.option("--tag", metavar="TAG", help="The tag of a TREC run.")
@click.option(
    "--drop", "drops", multiple=True, type=click.Choice(["empty", "rank", "order"]),
    help="Leave out queries without rows, the rank column, or the order of scattered rows; repeatable.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Overwrite OUT.")
@options.quiet_option
def command(
    source: str,
    target: str,
    to: str | None,
    kind: str | None,
    format_: str | None,
    split: str,
    tag: str | None,
    drops: tuple[str, ...],
    *,
    force: bool,
    quiet: bool,
) -> int:
    """Convert judgments or a run.

    OUT is a file in the format of its name (.txt .qrels .run: trec; .tsv: beir, or a table of a run; .csv .json .jsonl
    .parquet .arrow; .gz .bz2 .xz behind it), a folder (BEIR's qrels) or - for standard output. Ids, grades, scores and
    order are kept bit for bit, which is checked by reading OUT back before it takes its place; what the format has no
    place for is refused, and what is not kept is told.
    """
    from metricpact.bridges.sinks.convert import convert

    done = convert(source, target, to=to, kind=kind, format=format_, split=split, tag=tag, drop=drops, force=force)
    if not quiet:
        for note in done.notes:
            click.echo(f"note: {note}", err=True)
        what = "judgments" if done.kind == "qrels" else "documents"
        click.echo(f"{done.target}: {done.rows} {what} of {done.queries} queries as {done.format}", err=True)
    return 0
