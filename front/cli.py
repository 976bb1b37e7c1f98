"""The command ``metricpact``: finds the commands, and turns every error into a fact, a hint and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

import click
from metricpact.contracts.version import VERSION

COMMANDS = (
    "demo",
    "score",
    "explain",
    "check",
    "audit",
    "infer",
    "claims",
    "slices",
    "compare",
    "gate",
    "record",
    "coverage",
    "decisions",
    "absence",
    "lint",
    "convert",
    "contracts",
    "doctor",
)
"""The commands in the order in which help lists them; each is a module in ``metricpact.commands``."""
USAGE_ERROR = 2
PIPE_CLOSED = 141
"""What a shell reports for a program that a closed pipe ends (128 + SIGPIPE): neither fine nor a failed check."""


class _Commands(click.Group):
    """A group that imports a command's module when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"metricpact.commands.{cmd_name}").command
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="metricpact")
@click.option("--debug", is_flag=True, help="Show where an error comes from.")
def cli(*, debug: bool) -> None:
    """One contract for retrieval metrics, carried exactly onto the IR toolkits.

    Exit codes: 0 fine, 1 the check failed, 2 usage or input error.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; ends the process with an exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    if sys.stdout is None:
        sys.exit(_complain("standard output is closed", "send the output somewhere"))
    # Accepted anywhere on the line: it is wanted after the command failed.
    given = [argument for argument in given if argument != "--debug"]
    sys.exit(_run(given, debug=debug))


def _run(arguments: list[str], *, debug: bool) -> int:
    try:
        result = cli.main(arguments, prog_name="metricpact", standalone_mode=False)
    except click.ClickException as error:
        if debug:
            raise
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "metricpact"
        return _complain(error.format_message(), f"{path} --help")
    except click.Abort:
        return 130
    except SystemExit:
        return PIPE_CLOSED  # click's way of saying that whoever read the output has left
    except Exception as error:
        if debug:
            raise
        return _complain(*_told(error))
    return result if isinstance(result, int) else 0


def _told(error: Exception) -> tuple[str, str]:
    """An error as a fact and a hint."""
    from metricpact.contracts.errors import MetricpactError

    if isinstance(error, MetricpactError):
        return error.fact, error.hint
    if isinstance(error, OSError):
        return f"cannot read or write: {error.strerror or error}", "check the disk, and where the output goes"
    return f"internal error: {type(error).__name__}: {error}", "--debug shows where; please report it"


def _complain(fact: str, hint: str) -> int:
    """One block on standard error: a fact, then a hint."""
    click.echo(f"error: {fact}" + (f"\n\nhint: {hint}" if hint else ""), err=True)
    return USAGE_ERROR
