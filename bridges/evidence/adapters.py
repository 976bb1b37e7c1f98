"""Tasks in the forms of multi-hop and fact-checking data sets, brought into the project's own form.

Each adapter is a function from records to tasks (bundles of anchors) and notes on what was left out. A data set
without a statement of evidence for an item gives no task for it: that is told, never filled in.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from metricpact.bridges.evidence.documents import Record
from metricpact.contracts.errors import InputError

Adapted = tuple[list[Record], tuple[str, ...]]
Anchor = dict[str, Any]


class _FormError(Exception):
    """A record that has not the form of its data set."""


def hotpotqa(value: Mapping[str, Any]) -> Iterator[list[Anchor]]:
    """HotpotQA and 2WikiMultiHopQA: one bundle, the documents (by title) of all supporting facts."""
    yield _documents(title for title, _ in _facts(value))


def hotpotqa_sentences(value: Mapping[str, Any]) -> Iterator[list[Anchor]]:
    """The same, each supporting sentence as an exact span of its document (the sentences of the context joined)."""
    context = {}
    for title, sentences in _pairs(value, "context"):
        if title in context:
            raise _FormError(f"context has {title!r} twice: its sentences cannot be told apart")
        context[title] = sentences
    bundle = []
    for title, place in _facts(value):
        sentences = context.get(title)
        if sentences is None:
            raise _FormError(f"the supporting fact in {title!r} is not in the context, so its span is not known")
        if not 0 <= place < len(sentences) or not sentences[place]:
            raise _FormError(f"there is no sentence {place} of {title!r} in the context")
        start = sum(len(sentence) for sentence in sentences[:place])
        text = sentences[place]
        bundle.append({"document": title, "start": start, "end": start + len(text), "text": text})
    yield bundle


def musique(value: Mapping[str, Any]) -> Iterator[list[Anchor]]:
    """MuSiQue: one bundle, the documents (by title) of all supporting paragraphs."""
    paragraphs = _listed(value, "paragraphs")
    if not all(isinstance(one, Mapping) and isinstance(one.get("title"), str) for one in paragraphs):
        raise _FormError("a paragraph has no title")
    yield _documents(one["title"] for one in paragraphs if one.get("is_supporting") is True)


def fever(value: Mapping[str, Any]) -> Iterator[list[Anchor]]:
    """FEVER: every evidence set is a bundle of pages. Climate-FEVER: every sentence that bears the claim's own label
    is a bundle by itself (SUPPORTS or REFUTES)."""
    for bundle in fever_sentences(value):
        yield _documents(anchor["document"] for anchor in bundle)


def fever_sentences(value: Mapping[str, Any]) -> Iterator[list[Anchor]]:
    """The same by sentence: a unit of its page, whose id is the sentence's number."""
    if "evidences" in value:
        label = value.get("claim_label")
        for one in _listed(value, "evidences"):
            if not (isinstance(one, Mapping) and isinstance(one.get("evidence_id"), str)):
                raise _FormError("an evidence has no evidence_id")
            if label in ("SUPPORTS", "REFUTES") and one.get("evidence_label") == label:
                page, _, sentence = one["evidence_id"].rpartition(":")
                yield [{"document": page, "unit": sentence}]
        return
    for group in _listed(value, "evidence"):
        # A line of an evidence set: annotation id, evidence id, page, sentence; the last two are null without evidence.
        if not isinstance(group, list) or not all(isinstance(line, list) and len(line) == 4 for line in group):
            raise _FormError("an evidence set is not a list of [annotation, evidence, page, sentence]")
        lines = dict.fromkeys((line[2], line[3]) for line in group)
        if any(page is None for page, _ in lines):
            continue
        if not all(isinstance(page, str) and isinstance(sentence, int) for page, sentence in lines):
            raise _FormError("an evidence names no page (text) and sentence (number)")
        yield [{"document": page, "unit": str(sentence)} for page, sentence in lines]


def strategyqa(value: Mapping[str, Any]) -> Iterator[list[Anchor]]:
    """StrategyQA: every annotator's paragraphs are a bundle; steps marked as operation or no_evidence add nothing."""
    for annotator in _listed(value, "evidence"):
        paragraphs: list[str] = []
        for step in annotator:
            for mark in step:
                if isinstance(mark, list):
                    paragraphs += mark
                elif mark not in ("operation", "no_evidence"):
                    raise _FormError(f"a step of an annotator holds {mark!r}")
        yield _documents(paragraphs)


def _adapter(
    name: str, identity: tuple[str, ...], bundles: Callable[[Mapping[str, Any]], Iterator[list[Anchor]]]
) -> Any:
    def adapt(records: list[Record], file: str) -> Adapted:
        made, without = [], 0
        for record in records:
            value = record.value
            key = next((key for key in identity if isinstance(value, Mapping) and key in value), None)
            if key is None:
                raise InputError(
                    f"this is no record of {name}: it has no {' or '.join(identity)}",
                    "check --format, or leave it out for the project's own form",
                    source=file,
                    line=record.line,
                )
            task = str(value[key])
            try:
                # The same bundle of two annotators is one; an empty one states nothing.
                distinct = {tuple(sorted(map(repr, bundle))): bundle for bundle in bundles(value) if bundle}
            except (_FormError, TypeError, ValueError) as error:
                fact = str(error) if isinstance(error, _FormError) else f"its evidence has another form ({error})"
                raise InputError(
                    f"task {task!r}: this is no record of {name}: {fact}",
                    "check --format",
                    source=file,
                    line=record.line,
                    query=task,
                ) from error
            if distinct:
                made.append(
                    Record(record.line, {"task": task, "bundles": [{"anchors": one} for one in distinct.values()]})
                )
            else:
                without += 1
        notes = [f"{without} of {len(records)} records state no evidence and are no tasks"] if without else []
        shared = _shared_titles(records) if name == "musique" else 0
        if shared:
            notes.append(f"{shared} records have several paragraphs of one title, which count as one document")
        return made, tuple(notes)

    return adapt


def _shared_titles(records: list[Record]) -> int:
    """How many records have a title more than once among their paragraphs."""
    return sum(
        max(Counter(one["title"] for one in record.value["paragraphs"]).values(), default=0) > 1 for record in records
    )


def _documents(ids: Any) -> list[Anchor]:
    """Whole documents, each once."""
    listed = list(dict.fromkeys(ids))
    if not all(isinstance(one, str) and one for one in listed):
        raise _FormError("a document's id is not text")
    return [{"document": one} for one in listed]


def _facts(value: Mapping[str, Any]) -> list[tuple[str, int]]:
    facts = list(dict.fromkeys(_pairs(value, "supporting_facts")))
    if not all(isinstance(place, int) for _, place in facts):
        raise _FormError("a supporting fact names no sentence (a number)")
    return facts


def _pairs(value: Mapping[str, Any], key: str) -> list[tuple[str, Any]]:
    """``[[title, …], …]``; the columnar form ({"title": […], "sent_id": […]}) is told by its keys."""
    listed = _literal(value.get(key))
    if isinstance(listed, Mapping):
        columns = [column for name, column in listed.items() if name in ("title", "sent_id", "sentences")]
        if len(columns) != 2 or "title" not in listed or len(columns[0]) != len(columns[1]):
            raise _FormError(f"{key} has not the columns title and sent_id or sentences")
        other = listed["sent_id" if "sent_id" in listed else "sentences"]
        return list(zip(listed["title"], other, strict=True))
    if not isinstance(listed, list) or not all(isinstance(one, list | tuple) and len(one) == 2 for one in listed):
        raise _FormError(f"{key} is no list of pairs")
    if not all(isinstance(title, str) for title, _ in listed):
        raise _FormError(f"{key} names a title that is not text")
    return [(title, other) for title, other in listed]


def _listed(value: Mapping[str, Any], key: str) -> list[Any]:
    listed = _literal(value.get(key))
    if not isinstance(listed, list):
        raise _FormError(f"{key} is no list")
    return listed


def _literal(value: Any) -> Any:
    """A value that a CSV export wrote as Python text is read back."""
    if not isinstance(value, str):
        return value
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise _FormError("text stands where a list is expected") from error


_HOTPOT = ("_id", "id")
ADAPTERS: Mapping[str, Callable[[list[Record], str], Adapted]] = {
    "hotpotqa": _adapter("hotpotqa", _HOTPOT, hotpotqa),
    "hotpotqa-sentences": _adapter("hotpotqa-sentences", _HOTPOT, hotpotqa_sentences),
    "2wiki": _adapter("2wiki", _HOTPOT, hotpotqa),
    "2wiki-sentences": _adapter("2wiki-sentences", _HOTPOT, hotpotqa_sentences),
    "musique": _adapter("musique", ("id",), musique),
    "fever": _adapter("fever", ("id", "claim_id"), fever),
    "fever-sentences": _adapter("fever-sentences", ("id", "claim_id"), fever_sentences),
    "strategyqa": _adapter("strategyqa", ("qid",), strategyqa),
}
"""The forms by name."""
