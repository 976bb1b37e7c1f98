"""``metricpact gate``: a verdict on a candidate against a base, by the rules of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from metricpact.commands import options

if TYPE_CHECKING:
    from metricpact.render.report import Report

FORMATS = ("table", "json", "jsonl", "csv", "parquet", "markdown", "latex", "html", "junit", "github")


@click.command("gate")
@click.argument("gate")
@click.argument("inputs", nargs=-1, metavar="QRELS BASE CANDIDATE")
@click.option("--slices", metavar="TABLE", help="A table of query_id and slice columns, for rules on slices.")
@options.format_option
@options.run_format_option
@options.split_option
@options.output_choice("junit", "github")
@click.option(
    "--write", "writes", multiple=True, metavar="FORMAT=FILE", help="Write the result to a file too; repeatable."
)
@options.places_option
@options.accepted_quiet_option
def command(
    gate: str,
    inputs: tuple[str, ...],
    slices: str | None,
    format_: str | None,
    run_format: str | None,
    split: str,
    output: str | None,
    writes: tuple[str, ...],
    places: int,
) -> int:
    """Judge a candidate against a base by the rules of GATE, a TOML file.

    BASE and CANDIDATE are runs or record:ID@FILE; with two records QRELS is left out. Where QRELS is a known-item table
    (run, query_id, expected_id, ranked_ids …), they are names of runs in it.

    A rule passes where the interval of the difference leaves out any drop larger than is allowed, fails where it leaves
    out every allowed one, and cannot be judged otherwise. Exit codes: 0 all pass, 1 one fails, 2 one cannot be judged.
    """
    from metricpact.crosscheck.gate.gate_file import load_gate
    from metricpact.crosscheck.gate.inputs import gate_inputs
    from metricpact.crosscheck.gate.judge import judge_gate
    from metricpact.crosscheck.records.reference import is_reference
    from metricpact.render.gate import gate_report
    from metricpact.render.registry import chosen, write

    files = [_target(text) for text in writes]
    if len(inputs) == 2 and all(map(is_reference, inputs)):
        qrels, base, candidate = None, *inputs
    elif len(inputs) == 3:
        qrels, base, candidate = inputs
    else:
        raise click.UsageError(
            "name QRELS, BASE and CANDIDATE, or two records: "
            f"metricpact gate GATE.toml QRELS BASE CANDIDATE (there are {len(inputs)} after the gate)"
        )
    rules = load_gate(gate)
    formats = format_, options.format_of_runs(format_, run_format)
    found = gate_inputs(rules, qrels, base, candidate, slices, formats=formats, split=split)
    result = judge_gate(rules, found.base, found.candidate, found.slices, found.none)
    report = gate_report(result)
    for name, path in files:
        _save(report, name, path, places)
    write(report, chosen(output), places)
    return result.exit_code


def _target(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not equals or not path or name not in FORMATS:
        raise click.UsageError(f"--write {text!r} is not FORMAT=FILE; formats: {', '.join(FORMATS)}")
    return name, path


def _save(report: Report, name: str, path: str, places: int) -> None:
    """Write a report to a file; Markdown is added to the end, as a job's summary wants it."""
    from pathlib import Path

    from metricpact.contracts.errors import InputError
    from metricpact.render.registry import rendered

    try:
        with Path(path).open("ab" if name == "markdown" else "wb") as file:
            file.write(rendered(report, name, places))
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror})", "name another file", source=path) from error
