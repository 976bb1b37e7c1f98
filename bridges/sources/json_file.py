"""JSON files: an object of objects (query → document → number), or of lists of ids for a run without scores."""

from __future__ import annotations

import json
from typing import Any

from metricpact.bridges.sources.objects import UNSCORED, Pairs, judgments_from_pairs, run_from_pairs
from metricpact.bridges.sources.streams import Stream
from metricpact.contracts.errors import InputError
from metricpact.contracts.tables import Judgments, Origin, Run

_HINT = 'the file reads {"query": {"document": 1}}; a run may also read {"query": ["document", …]}'


def read_json_qrels(stream: Stream, data: bytes) -> Judgments:
    """Judgments from JSON; raises ``InputError``."""
    return judgments_from_pairs(_load(stream, data), Origin(stream.name, sha256=stream.sha256))


def read_json_run(stream: Stream, data: bytes) -> Run:
    """A run from JSON; raises ``InputError``."""
    return run_from_pairs(_load(stream, data), Origin(stream.name, sha256=stream.sha256))


def _load(stream: Stream, data: bytes) -> Pairs:
    """The outer object as pairs. Objects are kept as pairs too: a key that stands twice must not vanish."""
    try:
        loaded: Any = json.loads(data, object_pairs_hook=_Pairs)
    except json.JSONDecodeError as error:
        raise InputError(f"is not JSON: {error.msg}", _HINT, source=stream.name, line=error.lineno) from error
    except UnicodeDecodeError as error:
        raise InputError(
            "is not UTF-8",
            "convert the file, for example: iconv -f latin1 -t utf-8",
            source=stream.name,
            line=data.count(b"\n", 0, error.start) + 1,
            code="not-utf8",
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON: {error}", _HINT, source=stream.name) from error
    if not isinstance(loaded, _Pairs):
        raise InputError("the JSON is no object of queries", _HINT, source=stream.name)
    if not loaded:
        raise InputError("the JSON object holds no query", _HINT, source=stream.name)
    return [
        (query, list(value) if isinstance(value, _Pairs) else _ids(query, value, stream)) for query, value in loaded
    ]


def _ids(query: str, value: Any, stream: Stream) -> Any:
    if not isinstance(value, list):
        raise InputError(
            f"the value of query {query!r} is neither an object nor a list", _HINT, source=stream.name, query=query
        )
    return [(document, UNSCORED) for document in value]


class _Pairs(list[tuple[str, Any]]):
    """A JSON object, as pairs in file order."""
