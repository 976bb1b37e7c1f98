"""Options that several commands share, and their meaning."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from metricpact.contracts.measures import Measure
    from metricpact.contracts.profiles import Profile
    from metricpact.contracts.tables import Judgments, Run

FORMATS = (
    "trec", "msmarco", "beir", "tsv", "csv", "known-item", "json", "jsonl", "parquet", "arrow", "ranx"
)  # fmt: skip
"""The formats of the registry, which is not loaded to show help."""
contract_option = click.option(
    "--contract", "contract", default="chapter", show_default=True, help="A profile's name, or a TOML file."
)
set_option = click.option(
    "--set", "settings", multiple=True, metavar="FIELD=VALUE", help="Change one convention of the contract; repeatable."
)
queries_option = click.option(
    "--queries", "queries", metavar="FILE", help="Take the mean over the query ids in a file, one a line."
)


def output_choice(*special: str) -> Callable[[Any], Any]:
    """``-o`` with the formats that every command has, and special ones."""
    return click.option(
        "-o",
        "--output",
        type=click.Choice(["table", "json", "jsonl", "csv", "parquet", "markdown", "latex", "html", *special]),
        help="Table on a terminal, json when piped, unless named.",
    )


places_option = click.option(
    "-p", "--places", type=click.IntRange(0, 17), default=4, show_default=True, help="Decimals in what people read."
)
format_option = click.option(
    "--format",
    "format_",
    metavar="FORMAT",
    help=f"Force the format of the files: {', '.join(FORMATS)}; or ir_datasets for an id.",
)
run_format_option = click.option(
    "--run-format", metavar="FORMAT", help="Force another format for runs than for judgments."
)
split_option = click.option("--split", default="test", show_default=True, help="Which qrels of a folder.")
quiet_option = click.option("--quiet", is_flag=True, help="No notes on standard error.")
accepted_quiet_option = click.option("--quiet", is_flag=True, expose_value=False, help="No notes on standard error.")
"""For commands that have none to say: what is accepted everywhere else is accepted here."""

slice_table_option = click.option(
    "--slices", "table", metavar="TABLE", help="A CSV or TSV file: query_id, and a column a way to slice."
)
by_option = click.option("--by", "by", multiple=True, metavar="COLUMN", help="Slice by this column only; repeatable.")
cross_option = click.option(
    "--cross", "cross", multiple=True, metavar="COLUMN,COLUMN", help="Cross these slice columns; repeatable."
)
proportion_option = click.option(
    "--interval",
    "proportion",
    type=click.Choice(["wilson", "clopper-pearson"]),
    default="wilson",
    show_default=True,
    help="For means of what is 0 or 1 by definition; others have a BCa bootstrap.",
)
_INTERVALS = (
    click.option("--confidence", type=float, default=0.95, show_default=True, help="Of the intervals."),
    click.option("--resamples", type=click.IntRange(100), default=10_000, show_default=True, help="Where drawn."),
    click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of what is drawn."),
)

across_option = click.option(
    "--across",
    multiple=True,
    type=click.Choice(["set", "judgments", "signature"]),
    help="Compare records though set version, judgments or signatures differ, and label the numbers; repeatable.",
)


_SCORING = (
    contract_option,
    set_option,
    queries_option,
    click.option("--backend", default="pytrec_eval", show_default=True, help="What computes the values."),
    format_option,
    run_format_option,
    split_option,
)


def interval_options(command: Any) -> Any:
    """The options of intervals and of drawn resamples: confidence, resamples, seed."""
    return _with(command, _INTERVALS)


def scoring_options(command: Any) -> Any:
    """What commands that score take: contract, set, queries, backend, format, run-format, split."""
    return _with(command, _SCORING)


def _with(command: Any, several: Sequence[Callable[[Any], Any]]) -> Any:
    for option in reversed(several):
        command = option(command)
    return command


def profile_from(contract: str, settings: Sequence[str], queries: str | None) -> Profile:
    """The profile that the options describe; raises ``ContractError`` with the choices."""
    from metricpact.contracts.profiles import load_profile

    return load_profile(contract).with_fields(changes_from(settings, queries))


def format_of_runs(format_: str | None, run_format: str | None) -> str | None:
    """The format that runs are forced into: that of the judgments where no other is named and it has runs."""
    if run_format is not None or format_ is None:
        return run_format
    from metricpact.bridges.sources.registry import FORMATS as KNOWN
    from metricpact.bridges.sources.registry import RUN

    return format_ if format_ in KNOWN and KNOWN[format_].reads(RUN) else None


def tell_labels(judgments: Judgments) -> None:
    """What a data set says that its grades mean, on standard error."""
    for grade, text in judgments.origin.labels.items():
        click.echo(f"grade {grade}: {text}", err=True)


def tell_notes(judgments: Judgments) -> None:
    """What is odd about where judgments came from, on standard error."""
    for note in judgments.origin.notes:
        click.echo(f"note: {judgments.origin.name}: {note}", err=True)


def changes_from(settings: Sequence[str], queries: str | None) -> dict[str, Any]:
    """The fields that --set and --queries change; raises ``ContractError`` for one that is set twice."""
    from metricpact.contracts.contract import FIELDS
    from metricpact.contracts.errors import ContractError

    changes: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise ContractError(f"{setting!r} sets nothing", "write --set FIELD=VALUE, such as --set gain=linear")
        name = name.strip()
        if name in changes or (name == "queries" and queries is not None):
            raise ContractError(f"{name} is set twice", "set every convention once")
        if name in FIELDS and FIELDS[name].free and value.lstrip()[:1] in ("{", "["):
            changes[name] = _literal(name, value)
        else:
            changes[name] = value.strip()
    if queries is not None:
        changes["queries"] = read_query_list(queries)
    return changes


def crossings(crosses: Sequence[str]) -> list[tuple[str, ...]]:
    """The columns that each ``--cross`` names."""
    return [tuple(part.strip() for part in crossing.split(",")) for crossing in crosses]


def read_inputs(
    qrels: str,
    runs: Sequence[str],
    format_: str | None,
    run_format: str | None,
    split: str,
    *,
    hashing: bool,
    quiet: bool,
) -> tuple[Judgments, dict[str, Run], dict[str, Any]]:
    """Judgments, runs by path, and what a document says of them; raises ``InputError`` for an input named twice."""
    from metricpact.bridges.sources.choose import read_judgments, read_run
    from metricpact.contracts.errors import InputError

    twice = [path for path in runs if runs.count(path) > 1]
    if twice:
        raise InputError(f"{twice[0]} is named twice", "name every run once")
    if qrels == "-" and "-" in runs:
        raise InputError("standard input (-) can be read once only", "name a file for the judgments or the run")
    judgments = read_judgments(qrels, format=format_, split=split, hashing=hashing)
    if not quiet:
        tell_notes(judgments)
    runs_format = format_of_runs(format_, run_format)
    named = {path: read_run(path, format=runs_format, hashing=hashing) for path in runs}
    told = [{"path": path, "sha256": run.origin.sha256, "tag": run.origin.tag} for path, run in named.items()]
    return judgments, named, {"qrels": {"path": qrels, "sha256": judgments.origin.sha256}, "runs": told}


def read_query_list(path: str) -> list[str]:
    """Query ids from a file: the first tab-separated field of every line that is not blank; raises ``InputError``."""
    from metricpact.bridges.sources.streams import open_stream
    from metricpact.contracts.errors import InputError

    data = open_stream(path).read_all()
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise InputError("the list of queries is not UTF-8", "name a text file of query ids", source=path) from error
    # White space of ASCII only, as in all files: other blanks belong to ids.
    fields = [line.strip(" \t\r\v\f").split("\t")[0].strip(" \r\v\f") for line in lines]
    ids = [field for field in fields if field]
    if not ids:
        raise InputError("the list of queries is empty", "write one query id a line", source=path)
    return ids


def sort_arguments(arguments: Sequence[str]) -> tuple[list[str], list[Measure]]:
    """Arguments sorted into runs and measures; raises ``MeasureError`` for one that was meant as a measure.

    What parses as a measure is one; anything else is a run. What is neither a file nor a measure, and looks like a
    measure, is a wrong measure and not a missing file.
    """
    from metricpact.contracts.errors import MeasureError
    from metricpact.contracts.measures import parse_measure
    from metricpact.contracts.spellings import resembles_measure

    runs: list[str] = []
    measures: list[Measure] = []
    for argument in arguments:
        try:
            measures.append(parse_measure(argument))
        except MeasureError as error:
            is_path = argument == "-" or "/" in argument or os.path.exists(argument) or _is_record(argument)
            ambiguous = "ambiguous" in error.fact or "needs a cutoff" in error.fact
            if not is_path and (ambiguous or resembles_measure(argument)):
                raise
            runs.append(argument)
    return runs, list(dict.fromkeys(measures))


def _is_record(argument: str) -> bool:
    """Whether an argument names a record; what scores files alone does not load how records are named."""
    from metricpact.crosscheck.records.reference import is_reference

    return is_reference(argument)


def _literal(name: str, value: str) -> Any:
    from metricpact.contracts.errors import ContractError

    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise ContractError(f"{value!r} is not a value of {name}", "write for example gain={0:0,1:1,2:3}") from error
