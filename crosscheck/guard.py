"""Native calls in a process of their own: a library that takes its process down takes down only that one.

The parent writes one request a line, the child answers each with a line. Where lines are missing, the request that
was being answered is the one that killed the child, and the rest is asked again in a new one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_READY = {"ready": True}
SECONDS = 900
"""How long a child may take over all its requests: ranx compiles for minutes on a machine that never ran it."""


@dataclass(frozen=True)
class Request:
    """A library's native call: a case's rows, and the measure by the library's own name."""

    rows: Mapping[str, Any]
    measure: str


@dataclass(frozen=True)
class Reply:
    """What came back: values by query, or ``refused`` (a declared limit), ``raised`` (an exception) or ``killed``."""

    values: Mapping[str, float] = field(default_factory=dict)
    refused: str = ""
    raised: str = ""
    killed: str = ""


def ask_natively(
    backend: str, requests: Sequence[Request], environment: Mapping[str, str] | None = None, seconds: float = SECONDS
) -> list[Reply]:
    """The replies of a backend's ``native()`` to all requests, in their order; no request can harm this process."""
    replies: list[Reply] = []
    while len(replies) < len(requests):
        answered, started, end = _ask_child(backend, requests[len(replies) :], environment, seconds)
        replies += answered
        if len(replies) == len(requests):
            break
        if not started:
            return [*replies, *[Reply(killed=f"no start: {end}")] * (len(requests) - len(replies))]
        replies.append(Reply(killed=end))
    return replies


def _ask_child(
    backend: str, requests: Sequence[Request], environment: Mapping[str, str] | None, seconds: float
) -> tuple[list[Reply], bool, str]:
    """The replies of one child, whether it began to work, and how it ended."""
    lines = "".join(json.dumps({"rows": one.rows, "measure": one.measure}) + "\n" for one in requests)
    command = [sys.executable, "-m", "metricpact.crosscheck.guard", backend]
    child = subprocess.Popen(  # noqa: S603 # our own module and a backend's name out of the registry
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **(environment or {})},
        text=True,
        encoding="utf-8",
    )
    try:
        out, err = child.communicate(lines, timeout=seconds)
        end = f"signal {-child.returncode}" if child.returncode < 0 else f"exit code {child.returncode}"
    except subprocess.TimeoutExpired:
        child.kill()
        out, err = child.communicate()
        end = f"no answer in {seconds:g} s"
    documents = [json.loads(line) for line in out.splitlines() if line.endswith("}")]
    started = documents[:1] == [_READY]
    last = err.strip().splitlines()[-1:] if err.strip() and not started else []
    return [Reply(**document) for document in documents[1:]], started, " ".join([end, *last])


def _serve(backend: str) -> None:
    """Answer the requests on standard input, each with a line on the standard output that this process began with."""
    from metricpact.bridges.registry import get_bridge

    # Libraries print: what they say goes to standard error, and the answers to a copy of standard output.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(document: Mapping[str, Any]) -> None:
        answers.write(json.dumps(document) + "\n")
        answers.flush()

    bridge = get_bridge(backend)
    say(_READY)
    for line in sys.stdin:
        request = json.loads(line)
        say(_answer(bridge, request["rows"], request["measure"]))


def _answer(bridge: Any, rows: Mapping[str, Any], measure: str) -> dict[str, Any]:
    from metricpact.contracts.errors import MetricpactError
    from metricpact.crosscheck.corpus import judgments_of, run_of

    try:
        found = bridge.native(judgments_of(rows), run_of(rows), [measure])[measure]
        return {"values": {query: float(value) for query, value in found.items()}}
    except MetricpactError as error:
        return {"refused": error.fact}
    except Exception as error:  # whatever a library raises is its answer
        return {"raised": f"{type(error).__name__}: {error}".splitlines()[0][:200]}


if __name__ == "__main__":
    _serve(sys.argv[1])
