"""``metricpact explain``: what a measure or a case means, and how each backend gets it."""

from __future__ import annotations

import click
from metricpact.commands import options


@click.command("explain")
@click.argument("subject", metavar="MEASURE|CASE|SIGNATURE")
@options.contract_option
@options.set_option
@click.option("--backend", help="One backend only.")
def command(subject: str, contract: str, settings: tuple[str, ...], backend: str | None) -> int:
    """Explain a measure under a contract, a case of the check, or a signature.

    Prints the formula, the denominator, the question that the measure answers and what it cannot report, the
    conventions in force, the signature, and the plan on each backend. For a case: its question and answer, and on
    each backend the plan, what it gives, and what the library gives by itself.
    """
    from metricpact.commands.explain_text import explain, explain_signature
    from metricpact.crosscheck.corpus import find_case

    if "||" in subject:
        click.echo(explain_signature(subject, backend), nl=False)
    elif case := find_case(subject):
        from metricpact.commands.explain_case import explain_case

        click.echo(explain_case(case, backend), nl=False)
    else:
        profile = options.profile_from(contract, settings, None)
        click.echo(explain(subject, profile, backend), nl=False)
    return 0
