"""The command ``metricpact``: finds the commands, and turns every error into a fact, a hint and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click
from metricpact.contracts.version import VERSION

COMMANDS = ("demo", "score", "check", "explain", "contracts", "doctor")
"""The commands in the order in which help lists them; each is a module in ``metricpact.commands``."""
USAGE_ERROR = 2


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
    except BrokenPipeError:
        # Whoever read the output has left: nothing more can be said, not even while Python shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        from metricpact.contracts.errors import MetricpactError

        if debug:
            raise
        if isinstance(error, MetricpactError):
            return _complain(error.fact, error.hint)
        return _complain(f"internal error: {type(error).__name__}: {error}", "--debug shows where; please report it")
    return result if isinstance(result, int) else 0


def _complain(fact: str, hint: str) -> int:
    """One block on standard error: a fact, then a hint."""
    click.echo(f"error: {fact}" + (f"\n\nhint: {hint}" if hint else ""), err=True)
    return USAGE_ERROR
