"""``metricpact absence``: what a controller does where an answer is declared absent."""

from __future__ import annotations

import click
from metricpact.commands import options


@click.command("absence")
@click.argument("file")
@click.option("-q", "--by-need", is_flag=True, help="Every need too.")
@options.output_choice()
@options.places_option
@options.accepted_quiet_option
def command(file: str, output: str | None, places: int, *, by_need: bool) -> int:
    """Tell what was returned where an answer is declared absent, and whether the controller kept its rules.

    FILE is JSON lines or JSON: needs with a judgement of absence or presence for a scope (declared by someone, not
    taken from qrels) and the controller's trace. What it returned and whether it stopped where its own rules say are
    reported apart.
    """
    from metricpact.api_evidence import absence as compute
    from metricpact.render.absence import absence_report
    from metricpact.render.registry import chosen, write

    write(absence_report(compute(file), by_need=by_need), chosen(output), places)
    return 0
