"""``metricpact explain``: what a measure or a case means, and how each backend gets it."""

from __future__ import annotations

import click
from click.core import ParameterSource
from metricpact.commands import options


@click.command("explain")
@click.argument("subject", metavar="MEASURE|CASE|SIGNATURE|DATASET")
@options.contract_option
@options.set_option
@options.queries_option
@click.option("--backend", help="One backend only.")
def command(subject: str, contract: str, settings: tuple[str, ...], queries: str | None, backend: str | None) -> int:
    """Explain a measure under a contract, a case of the check, a signature, or a data set of ir_datasets.

    Prints the formula, the denominator, the question that the measure answers and what it cannot report, the
    conventions in force, the signature, and the plan on each backend. For a case: its question and answer, and on
    each backend the plan, what it gives, and what the library gives by itself. A signature gives tables and lists as
    hashes: --set gain=… and --queries FILE name the value that one stands for.
    codes run against a contract.
    """
    from metricpact.bridges.registry import require
    from metricpact.commands.explain_text import explain, explain_signature
    from metricpact.crosscheck.corpus import find_case
    from metricpact.render.registry import say

    if backend is not None:
        require(backend)
    case = None if "||" in subject else find_case(subject)
    named = click.get_current_context().get_parameter_source("contract") is not ParameterSource.DEFAULT
    if ("||" in subject or case) and named:
        raise click.UsageError("--contract goes with a measure: a signature and a case have a contract of their own")
    if "||" in subject:
        known = options.changes_from(settings, queries)
        say(explain_signature(subject, known, backend))
    elif case:
        from metricpact.commands.explain_case import explain_case

        if settings or queries:
            raise click.UsageError("--set and --queries go with a measure: a case has a contract of its own")
        say(explain_case(case, backend))
    elif _is_dataset(subject):
        from metricpact.commands.explain_dataset import explain_dataset

        if settings or queries or named or backend:
            raise click.UsageError("--contract, --set, --queries and --backend go with a measure")
        say(explain_dataset(subject))
    else:
        say(explain(subject, options.profile_from(contract, settings, queries), backend))
    return 0


def _is_dataset(subject: str) -> bool:
    """Whether a subject that is no measure is the id of a data set; ir_datasets is asked about nothing else."""
    from metricpact.contracts.errors import MeasureError
    from metricpact.contracts.measures import parse_measure

    try:
        parse_measure(subject)
    except MeasureError:
        from metricpact.bridges.sources.ir_datasets_source import is_dataset

        return is_dataset(subject)
    return False
