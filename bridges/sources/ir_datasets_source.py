"""Data sets of ir_datasets: judgments by id or object, and what is said about their grades.

The library is imported here only, and only for an id or an object of its own. It downloads what it does not hold in
``IR_DATASETS_HOME``; without a network that is an error with a hint.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from typing import Any

from metricpact.contracts.errors import DependencyError, InputError, MetricpactError
from metricpact.contracts.tables import Judgments, Origin

_NOT_RELEVANT = re.compile(r"^(not?\b|non\b|irrelevant\b|excluded\b)|does not answer|out of context", re.IGNORECASE)
"""What the label of a grade says that means no relevance."""
_MISLABELLED = {
    "cranfield": {
        1: "References which are a complete answer to the question.",
        2: "References of a high degree of relevance.",
        3: "References which were useful as background or for methods.",
        4: "References of minimum interest.",
        -1: "Not among the collection's own codes (225 rows).",
    }
}
"""Labels that ir_datasets has the wrong way round, as the collection's own cranqrel.readme has them."""
_REVERSED = {
    "cranfield": "codes run against the contract: 1 is the best and 4 the least, though ir_datasets labels them the "
    "other way round"
}


_UNKNOWN = "ir_datasets has no data set of this name"


def read_dataset(name: str) -> Judgments:
    """The judgments of a data set by id; raises ``InputError``, and ``DependencyError`` without ir_datasets."""
    return judgments_from_dataset(load_dataset(name), name)


def read_file_or_dataset(name: str) -> Judgments:
    """The judgments of a name that is no path: those of a data set, or an ``InputError`` about the missing file."""
    try:
        dataset = load_dataset(name, f"there is no such file, and {_UNKNOWN}")
    except DependencyError as error:
        raise InputError(
            "there is no such file", f"check the path; ids of data sets: {error.hint}", source=name
        ) from error
    return judgments_from_dataset(dataset, name)


def is_dataset(name: str) -> bool:
    """Whether ir_datasets is installed and knows an id."""
    try:
        import ir_datasets
    except ImportError:
        return False
    return name in set(ir_datasets.registry)


def load_dataset(name: str, unknown: str = _UNKNOWN) -> Any:
    """A data set of ir_datasets by id; raises ``InputError`` with near ids, ``unknown`` being the fact, for none."""
    try:
        import ir_datasets
    except ImportError as error:
        raise DependencyError(
            f"the data set {name} needs the package ir_datasets", "pip install 'metricpact[datasets]'"
        ) from error
    try:
        return ir_datasets.load(name)
    except KeyError as error:
        near = difflib.get_close_matches(name, list(ir_datasets.registry), 3)
        raise InputError(
            unknown,
            f"near ids: {', '.join(near)}" if near else "check the spelling, or the path",
            source=name,
            code="cannot-open",
        ) from error
    except Exception as error:  # what a loader raises when it cannot lay out its files
        raise _failed(name, error) from error


def judgments_from_dataset(dataset: Any, name: str | None = None) -> Judgments:
    """The judgments of a data set object; raises ``InputError``, also for one that has none or cannot fetch them."""
    word = name or str(getattr(dataset, "dataset_id", lambda: "data set")())
    has = getattr(dataset, "has_qrels", None)
    if not hasattr(dataset, "qrels_iter") or (has is not None and not has()):
        raise InputError("the data set has no judgments", _with_qrels(word), source=word)
    queries: list[Any] = []
    documents: list[Any] = []
    grades: list[Any] = []
    try:
        for row in dataset.qrels_iter():
            queries.append(row.query_id)
            documents.append(row.doc_id)
            grades.append(row.relevance)
    except MetricpactError:
        raise
    except Exception as error:  # requests, OSError, and what the many loaders raise themselves
        raise _failed(word, error) from error
    if not queries:
        raise InputError("the data set's judgments are empty", "choose one that has some", source=word)
    labels = labels_of(dataset, word)
    judgments = Judgments.from_columns(queries, documents, grades, origin=Origin(word, labels=labels))
    return judgments.noted(*notes_on_labels(word, labels))


def grade_labels(name: str) -> dict[int, str]:
    """Grade → what it means, as the data set says it (empty where it says nothing); raises ``InputError``."""
    return labels_of(load_dataset(name), name)


def labels_of(dataset: Any, name: str) -> dict[int, str]:
    """Grade → what it means, of a data set object; the highest grade first."""
    if name in _MISLABELLED:
        return dict(_MISLABELLED[name])
    labels: Mapping[int, str] = getattr(dataset, "qrels_defs", dict)() or {}
    return {grade: " ".join(str(labels[grade]).split()) for grade in sorted(labels, reverse=True)}


def notes_on_labels(name: str, labels: Mapping[int, str]) -> list[str]:
    """Where the codes of a data set run against a contract that takes grades from 1 on as relevant, more as better."""
    notes = [_REVERSED[name]] if name in _REVERSED else []
    notes += [
        f"grade {grade} means {text!r}, and counts as relevant unless the threshold is higher"
        for grade, text in sorted(labels.items())
        if grade >= 1 and _NOT_RELEVANT.search(text)
    ]
    negative = sorted(grade for grade in labels if grade < 0)
    if negative:
        shown = ", ".join(map(str, negative))
        notes.append(f"grades below 0 ({shown}) may occur: --set negative_grade says what they mean")
    return notes


def _with_qrels(name: str) -> str:
    """A hint with the data sets below this one."""
    try:
        import ir_datasets
    except ImportError:
        return "choose a data set with judgments"
    below = [known for known in ir_datasets.registry if known.startswith(f"{name}/")]
    return f"choose one with judgments, such as {', '.join(below[:4])}" if below else "choose a data set with judgments"


def _failed(name: str, error: Exception) -> InputError:
    home = os.environ.get("IR_DATASETS_HOME", "~/.ir_datasets")
    said = str(error).partition("\n")[0]
    said = said if len(said) <= 160 else f"{said[:160]}…"
    return InputError(
        f"ir_datasets cannot give its judgments ({type(error).__name__}: {said})",
        f"it fetches what {home} does not hold: connect to the network, or fill that folder (IR_DATASETS_HOME)",
        source=name,
        code="cannot-open",
    )
