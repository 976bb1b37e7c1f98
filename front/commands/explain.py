"""``metricpact explain``: what a measure means under a contract, and how each backend gets it."""

from __future__ import annotations

import click
from metricpact.commands import options


@click.command("explain")
@click.argument("subject", metavar="MEASURE|SIGNATURE")
@options.contract_option
@options.set_option
@click.option("--backend", help="The plan on one backend only.")
def command(subject: str, contract: str, settings: tuple[str, ...], backend: str | None) -> int:
    """Explain a measure under a contract, or a signature.

    Prints the formula, the denominator, the question that the measure answers and what it cannot report, the
    conventions in force, the signature, and the plan on each backend.
    """
    from metricpact.commands.explain_text import explain, explain_signature

    if "||" in subject:
        click.echo(explain_signature(subject, backend), nl=False)
    else:
        profile = options.profile_from(contract, settings, None)
        click.echo(explain(subject, profile, backend), nl=False)
    return 0
