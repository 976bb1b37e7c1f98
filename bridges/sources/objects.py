"""What a Python caller holds: dict of dicts, dict of lists of ids, named tuples (also from a generator, read once)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

import polars as pl
from metricpact.bridges.sources.frames import is_frame, judgments_from_frame, run_from_frame
from metricpact.contracts.errors import InputError
from metricpact.contracts.tables import ID_HINT, Judgments, Origin, Run

Pairs = list[tuple[str, Iterable[tuple[str, Any]]]]
"""(query, (document, number) pairs) in order; the number is ``UNSCORED`` in a list of ids."""


class _Unscored:
    """The place of a number where only ids are listed; None is what a caller may hold by mistake."""


UNSCORED = _Unscored()
_DATASET = ("qrels_iter", "queries_iter", "docs_iter")
"""What data set objects of ir_datasets have, each as far as it has the rows."""


def judgments_from_object(value: Any) -> Judgments:
    """Judgments from a mapping, a frame, a data set of ir_datasets, or named tuples; raises ``InputError``.

    Named tuples have query_id, doc_id and relevance.
    """
    if isinstance(value, Mapping):
        return judgments_from_mapping(value, Origin("judgments"))
    if any(hasattr(value, name) for name in _DATASET):
        from metricpact.bridges.sources.ir_datasets_source import judgments_from_dataset

        return judgments_from_dataset(value)
    if is_frame(value):
        return judgments_from_frame(value)
    rows = _tuples(value, "judgments", "relevance")
    return Judgments.from_columns(*rows)


def run_from_object(value: Any) -> Run:
    """A run from a mapping, a frame, or named tuples with query_id, doc_id and score; raises ``InputError``."""
    if isinstance(value, Mapping):
        return run_from_mapping(value, Origin("run"))
    if is_frame(value):
        return run_from_frame(value)
    rows = _tuples(value, "run", "score")
    return Run.from_columns(*rows)


def judgments_from_mapping(value: Mapping[Any, Any], origin: Origin) -> Judgments:
    """Judgments from query → document → grade; raises ``InputError``."""
    return judgments_from_pairs(_pairs(value, origin.name), origin)


def run_from_mapping(value: Mapping[Any, Any], origin: Origin) -> Run:
    """A run from query → document → score, or query → list of documents; raises ``InputError``."""
    return run_from_pairs(_pairs(value, origin.name), origin)


def judgments_from_pairs(pairs: Pairs, origin: Origin) -> Judgments:
    """Judgments from (query, (document, grade) pairs); raises ``InputError``."""
    queries, documents, grades, empty = _flatten(pairs)
    if any(grade is UNSCORED for grade in grades):
        raise InputError("judgments without grades", "judgments read {query: {document: grade}}", source=origin.name)
    return Judgments.from_columns(queries, documents, grades, empty=empty, origin=origin)


def run_from_pairs(pairs: Pairs, origin: Origin) -> Run:
    """A run from (query, (document, score) pairs); raises ``InputError``."""
    queries, documents, scores, empty = _flatten(pairs)
    without = sum(score is UNSCORED for score in scores)
    if 0 < without < len(scores):
        raise InputError(
            "some rankings have scores and others have none",
            "give scores to all of them or to none",
            source=origin.name,
        )
    return Run.from_columns(queries, documents, None if without else scores, empty=empty, origin=origin)


def _pairs(value: Mapping[Any, Any], word: str) -> Pairs:
    pairs: Pairs = []
    for query, ranking in value.items():
        if isinstance(ranking, Mapping):
            pairs.append((query, list(ranking.items())))
        elif isinstance(ranking, Iterable) and not isinstance(ranking, str | bytes | Set):
            pairs.append((query, [(document, UNSCORED) for document in ranking]))
        else:
            raise InputError(
                f"the value of query {query!r} is no mapping and no list but {type(ranking).__name__}",
                f"{word} read {{query: {{document: number}}}}; a ranking without scores is a list, in its order",
                source=word,
                query=str(query),
            )
    return pairs


def _flatten(pairs: Pairs) -> tuple[pl.Series | list[Any], list[Any], list[Any], list[Any]]:
    queries: list[Any] = []
    documents: list[Any] = []
    numbers: list[Any] = []
    empty: list[Any] = []
    for query, ranking in pairs:
        before = len(documents)
        for document, number in ranking:
            documents.append(document)
            numbers.append(number)
        queries += [query] * (len(documents) - before)
        if len(documents) == before:
            empty.append(query)
    return queries, documents, numbers, empty


def _tuples(value: Any, word: str, number: str) -> tuple[list[Any], list[Any], list[Any]]:
    """Columns of an iterable of objects with query_id, doc_id and a number."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise InputError(
            f"{word} cannot be read from {type(value).__name__}",
            "pass a path, a dict of dicts, a dict of lists of ids, or named tuples",
            source=word,
        )
    columns: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    for position, item in enumerate(value):
        try:
            row = item.query_id, item.doc_id, getattr(item, number)
        except AttributeError as error:
            raise InputError(
                f"item {position} has no {error.name}",
                f"every item has query_id, doc_id and {number}; {ID_HINT}",
                source=word,
            ) from error
        for column, part in zip(columns, row, strict=True):
            column.append(part)
    if not columns[0]:
        raise InputError(
            f"the {word} holds no item", "a generator can be read once: make it anew, or a list of it", source=word
        )
    return columns
