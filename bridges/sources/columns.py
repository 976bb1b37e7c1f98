"""What the columns of a table are called in the field: the one place where names are turned into meanings.

Names are compared without case, with ``-``, ``.`` and blanks as ``_``. Some mean a thing only where nothing is
called so more plainly: PyTerrier's ``query`` is the text beside ``qid`` and its ``docid`` a number beside ``docno``,
and BEIR calls its grades ``score``. Two columns that could be meant equally are an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metricpact.contracts.errors import InputError


@dataclass(frozen=True)
class _Names:
    """Names that say it plainly, and those that may stand for it where none of these is there."""

    plain: tuple[str, ...]
    otherwise: tuple[str, ...] = ()


_QUERY = _Names(
    ("query_id", "qid", "q_id", "queryid", "query_number", "topic_id", "topicid", "topic_number"), ("query", "topic")
)
_DOCUMENT = _Names(
    ("doc_id", "docno", "corpus_id", "corpusid", "d_id", "did", "pid", "passage_id", "document_id"),
    ("docid", "document", "doc"),
)
_GRADE = _Names(("relevance", "label", "rel", "grade", "judgment"), ("score",))
_SCORE = _Names(("score", "sim", "similarity"))
_RANK = _Names(("rank",))
Wanted = Mapping[str, _Names]
"""Meaning → how its column may be called."""
JUDGMENTS: Wanted = {"query": _QUERY, "document": _DOCUMENT, "grade": _GRADE}
RUN: Wanted = {"query": _QUERY, "document": _DOCUMENT, "score": _SCORE, "rank": _RANK}
_OPTIONAL = {"score", "rank"}


def plain_name(name: str) -> str:
    """A column's name as it is compared."""
    return re.sub(r"[-.\s]+", "_", name.strip().lower())


def meanings(names: Sequence[str], wanted: Wanted, source: str, line: int | None = None) -> dict[str, str]:
    """Meaning → the name of its column; score or rank may be absent, both only beside query and document alone.

    Raises ``InputError`` where a query, document or grade column is missing, where two columns have one meaning, and
    where some column may be a score that is called otherwise: the order of the rows would stand in for it in silence.
    """
    found = {}
    for meaning, known in wanted.items():
        candidates = _named(names, known.plain) or _named(names, known.otherwise)
        if len(candidates) > 1:
            raise InputError(
                f"{len(candidates)} columns could be the {meaning}: {', '.join(candidates)}",
                "keep one of them, or rename the others",
                source=source,
                line=line,
            )
        if candidates:
            found[meaning] = candidates[0]
        elif meaning not in _OPTIONAL:
            raise InputError(
                f"no column is the {meaning}: the columns are {_some(names)}",
                f"call it one of {', '.join((*known.plain, *known.otherwise))}",
                source=source,
                line=line,
            )
    if set(wanted) >= _OPTIONAL and not _OPTIONAL & set(found) and len(names) > len(found):
        raise InputError(
            f"no column is the score or the rank: the columns are {_some(names)}",
            f"call it one of {', '.join((*_SCORE.plain, *_RANK.plain))}; "
            "query and document alone are a ranking as listed",
            source=source,
            line=line,
        )
    return found


def is_header(names: Sequence[str]) -> bool:
    """Whether some fields name columns: a query's and a document's among them, and no number."""
    known = [plain_name(name) for name in names]
    return (
        any(name in (*_QUERY.plain, *_QUERY.otherwise) for name in known)
        and any(name in (*_DOCUMENT.plain, *_DOCUMENT.otherwise) for name in known)
        and not any(re.fullmatch(r"[+-]?[0-9.]+", name) for name in names)
    )


def _named(names: Sequence[str], known: Sequence[str]) -> list[str]:
    return [name for name in names if isinstance(name, str) and plain_name(name) in known]


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(f"{name}"[:40] for name in names[:8])
    return (shown + (", …" if len(names) > 8 else "")) or "none"
