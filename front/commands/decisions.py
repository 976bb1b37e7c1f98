"""``metricpact decisions``: precision and recall of decisions that are sets of states, not rankings."""

from __future__ import annotations

import click
from metricpact.commands import options


@click.command("decisions")
@click.argument("file")
@click.option("--endpoints", "toml", metavar="FILE", help="TOML with states, unresolved and a table of endpoints.")
@click.option("--states", metavar="STATE,STATE", help="All states that there are.")
@click.option(
    "--endpoint",
    "endpoints",
    multiple=True,
    metavar="NAME=STATE,STATE",
    help="States that count as reached; repeatable.",
)
@click.option("--unresolved", metavar="STATE,STATE", help="States that are no decision yet.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of the intervals.")
@options.output_choice()
@options.places_option
@options.accepted_quiet_option
def command(
    file: str,
    toml: str | None,
    states: str | None,
    endpoints: tuple[str, ...],
    unresolved: str | None,
    confidence: float,
    output: str | None,
    places: int,
) -> int:
    """Precision and recall of decisions, for each endpoint, over all items.

    FILE is CSV, JSON lines or JSON with item, state, label (positive or negative) and label_source. Each item is in
    one declared state. Recall is over all items labelled positive; the recall that leaves unresolved items out is
    shown apart. Intervals need scipy: pip install 'metricpact[stats]'.
    """
    from metricpact.api_evidence import decisions as compute
    from metricpact.render.decisions import decision_report
    from metricpact.render.registry import chosen, write

    if file == toml == "-":
        raise click.UsageError("standard input (-) can be read once only")
    if toml is not None and (states or endpoints or unresolved):
        raise click.UsageError("--endpoints goes without --states, --endpoint and --unresolved: the file says it all")
    named: dict[str, list[str]] = {}
    for given in endpoints:
        name, equals, listed = given.partition("=")
        if not equals or not name.strip() or name.strip() in named:
            raise click.UsageError(f"{given!r} is no new endpoint: write --endpoint NAME=STATE,STATE")
        named[name.strip()] = split(listed)
    if toml is not None:
        report = compute(file, toml, confidence=confidence)
    else:
        given_states = None if states is None else split(states)
        report = compute(file, named, states=given_states, unresolved=split(unresolved or ""), confidence=confidence)
    write(decision_report(report), chosen(output), places)
    return 0


def split(listed: str) -> list[str]:
    """The names between commas."""
    return [name.strip() for name in listed.split(",") if name.strip()]
