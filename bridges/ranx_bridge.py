"""The ``ranx`` backend: ranx's compiled metrics, called on arrays laid out from the prefixes.

ranx's own containers (typed dictionaries) cost seconds to compile and to fill, and plain dictionaries are paired by
position and not by query id. Its metric functions take three-dimensional arrays as well (query × document × (id,
grade)), so they get these: the judged documents as numbers, at their ranks, and 0 elsewhere. Padding has a grade
that is no number, which ranx counts as neither relevant nor not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
from metricpact.bridges.feeds import (
    Feed,
    Recipe,
    Selection,
    common_depth,
    divided,
    recipe_for,
    rounded,
    select,
    with_divisors,
)
from metricpact.bridges.plan import Capabilities, Plan, Unsupported, every_value
from metricpact.bridges.raw import as_dicts
from metricpact.contracts.contract import Contract
from metricpact.contracts.errors import LimitError
from metricpact.contracts.families import FAMILIES
from metricpact.contracts.measures import Measure
from metricpact.contracts.prefixes import Prefixes
from metricpact.contracts.tables import Floats, Ints, Judgments, Run

MAX_DEPTH = 2**21
"""Deepest rank, and most judgments of a query, handed over: ranx walks through both, one inside the other."""
BATCH_CELLS = 2**21
"""Documents in the arrays of one call, 16 bytes each: what bounds the memory."""

_METRICS = {
    "P": "precision",
    "SetP": "precision",
    "R": "recall",
    "SetR": "recall",
    "SetF": "f1",
    "RR": "mrr",
    "AP": "map",
    "nDCG": "ndcg",
    "DCG": "dcg",
    "Success": "hit_rate",
    "Rprec": "r-precision",
    "Bpref": "bpref",
}
_TURN = Lock()
"""ranx chooses a threading layer of numba's that ends the process when two threads call it at once."""

_ONLY_F1 = "a beta other than 1: ranx has F1 only, which has no weight"
CAPABILITIES = Capabilities(
    measures=dict.fromkeys(FAMILIES, ""),
    fields=every_value(
        {
            "ties": {"average": "one ranking is scored at a time: there is no expected value over tie orders"},
        }
    ),
    partly={"SetF": _ONLY_F1},
)


@dataclass(frozen=True)
class Call:
    """One metric function of ranx with its arguments; ``str()`` is ranx's own name for it."""

    metric: str
    cutoff: int
    level: int

    def __str__(self) -> str:
        return self.metric + (f"@{self.cutoff}" if self.cutoff else "") + ("" if self.level == 1 else f"-l{self.level}")


def call_of(recipe: Recipe) -> Call:
    """The call for a plain measure. Gains below 1 count from relevance level 0 on."""
    return Call(_METRICS[recipe.family], recipe.cutoff or recipe.clip or 0, 0 if recipe.feed.grading == "gain" else 1)


class RanxBridge:
    """ranx, compiled by numba."""

    name = "ranx"
    package = "ranx"
    extra = "ranx"

    def versions(self) -> dict[str, str]:
        """The package, its version, and that of the compiler."""
        from importlib.metadata import version

        return {"package": self.package, "version": version(self.package), "engine": f"numba {version('numba')}"}

    def capabilities(self) -> Capabilities:
        """All measures (SetF without a weight); all conventions but one."""
        return CAPABILITIES

    def plan(self, measure: Measure, contract: Contract) -> Plan | Unsupported:
        """The ranx metric to call and what is done to its input and output."""
        contract = measure.apply(contract)
        refusal = CAPABILITIES.refusal(self.name, measure, contract)
        if refusal is None and measure.family == "SetF" and measure.beta != 1:
            refusal = Unsupported(self.name, measure, _ONLY_F1)
        if refusal is not None:
            return refusal
        recipe = recipe_for(measure, contract)
        transforms = [*recipe.feed.transforms()]
        if recipe.feed.grading == "preference":
            transforms.append("add a judged non-relevant document, not returned, where there is none")
        repairs = recipe.repairs(clips=False)
        return Plan(self.name, measure, contract, str(call_of(recipe)), tuple(transforms), repairs)

    def score(self, prefixes: Prefixes, plans: Sequence[Plan]) -> list[Floats]:
        """One pass over the arrays a feed; raises ``LimitError`` before any call."""
        recipes = [recipe_for(plan.measure, plan.contract) for plan in plans]
        feeds: dict[Feed, list[Recipe]] = {}
        for recipe in with_divisors(recipes):
            feeds.setdefault(recipe.feed, []).append(recipe)
        selections = {feed: _select(prefixes, feed, common_depth(wanted)) for feed, wanted in feeds.items()}
        values: dict[tuple[Feed, Call], Floats] = {}
        for feed, wanted in feeds.items():
            calls = list(dict.fromkeys(call_of(recipe) for recipe in wanted))
            values |= {(feed, call): column for call, column in _call(selections[feed], feed, calls).items()}
        return [divided(recipe, lambda one: values[one.feed, call_of(one)]) for recipe in recipes]

    def native(self, judgments: Judgments, run: Run, measures: Sequence[str]) -> dict[str, dict[str, float]]:
        """``evaluate`` on ``Qrels`` and ``Run`` of the whole input, made comparable; ranx's names (``ndcg@10``)."""
        ranx = library()
        qrels, ranked = as_dicts(judgments, run, self.name)
        with calling():
            theirs = ranx.Run(ranked)
            ranx.evaluate(ranx.Qrels(qrels), theirs, list(measures), make_comparable=True)
        return {name: {query: float(value) for query, value in theirs.scores[name].items()} for name in measures}


def _select(prefixes: Prefixes, feed: Feed, depth: int | None) -> Selection:
    """A feed filled in, each query's judgments by falling grade; raises ``LimitError`` for what is too large."""
    chosen = select(prefixes, feed, depth).handed()
    query, rank, grade = chosen.query, chosen.rank, chosen.grade.astype(np.float64)
    if feed.grading == "preference":
        lacks = np.bincount(query[grade == 0], minlength=prefixes.size) == 0
        lacking = np.flatnonzero(lacks & (chosen.lengths > 0)).astype(query.dtype)
        query = np.concatenate([query, lacking])
        rank = np.concatenate([rank, np.zeros(len(lacking), np.int64)])
        grade = np.concatenate([grade, np.zeros(len(lacking))])
    by = np.lexsort((-grade, query))
    lengths = chosen.lengths if feed.exact else rounded(chosen.lengths)
    judged = np.bincount(query, minlength=prefixes.size)
    for counts, word in ((lengths, "documents"), (judged, "judgments")):
        if len(counts) and counts.max() > MAX_DEPTH:
            worst = int(counts.argmax())
            raise LimitError(
                f"query {prefixes.queries[worst]!r} needs {int(counts[worst])} {word} handed to ranx",
                f"ranx is given up to {MAX_DEPTH}; --backend reference has no such limit",
            )
    return Selection(query[by], rank[by], grade[by], lengths)


@dataclass(frozen=True, eq=False)
class Batch:
    """The queries of one call and ranx's two arguments: number and grade by judged document, number by rank."""

    codes: Ints
    qrels: Floats
    run: Floats


def batches(selected: Selection, cells: int) -> Iterator[Batch]:
    """A selection as arrays, cut so that each holds at most ``cells`` documents, or one query.

    Queries share an array only where their rankings are equally long, because ranx takes the length of an array
    for the number of documents returned.
    """
    counts = np.bincount(selected.query, minlength=len(selected.lengths)).astype(np.int64)
    begins = np.cumsum(counts) - counts
    widths = rounded(counts)
    handed = np.flatnonzero(selected.lengths)
    order = handed[np.lexsort((widths[handed], selected.lengths[handed]))]
    shapes = np.stack([selected.lengths[order], widths[order]], axis=1)
    borders = np.flatnonzero(np.any(np.diff(shapes, axis=0) != 0, axis=1)) + 1
    for start, end in zip([0, *borders.tolist()], [*borders.tolist(), len(order)], strict=True):
        if start == end:
            continue
        length, width = shapes[start].tolist()
        step = max(1, cells // (length + width))
        for first in range(start, end, step):
            codes = order[first : min(first + step, end)]
            yield _laid_out(selected, codes, begins[codes], counts[codes], length, width)


def _laid_out(selected: Selection, codes: Ints, begins: Ints, counts: Ints, length: int, width: int) -> Batch:
    row = np.repeat(np.arange(len(codes)), counts)
    place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    at = np.repeat(begins, counts) + place
    # Padding is numbered between the fillers' 0 and the first document's 1: it is found neither in a ranking nor in
    # the ideal one, and fillers, being below the smallest number, are not searched for.
    qrels = np.full((len(codes), width, 2), [0.5, np.nan])
    qrels[row, place, 0] = place + 1
    qrels[row, place, 1] = selected.grade[at]
    run = np.zeros((len(codes), length, 2))
    ranked = selected.rank[at] > 0
    run[row[ranked], selected.rank[at][ranked] - 1, 0] = place[ranked] + 1
    return Batch(codes, qrels, run)


def _call(selected: Selection, feed: Feed, calls: Sequence[Call]) -> dict[Call, Floats]:
    """The values of some ranx metrics; queries that were not handed over are 0."""
    columns = {call: np.zeros(len(selected.lengths)) for call in calls}
    if not selected.lengths.any():
        return columns
    switch = library().metrics.metric_switch
    with calling():
        for batch in batches(selected, BATCH_CELLS):
            for call, column in columns.items():
                column[batch.codes] = switch(call.metric)(batch.qrels, batch.run, call.cutoff, call.level)
    return columns


def library() -> Any:
    """The library. Where no cache of compiled functions can be kept, this process has one of its own."""
    try:
        import ranx
    except RuntimeError as error:
        # numba keeps its cache beside ranx or in the user's cache directory, and gives up where it can write neither.
        if "cache" not in str(error):
            raise
        import atexit
        import os
        import tempfile

        folder = tempfile.TemporaryDirectory(prefix="metricpact-numba-")
        atexit.register(folder.cleanup)
        os.environ["NUMBA_CACHE_DIR"] = folder.name
        import numba.core.config

        numba.core.config.reload_config()
        import ranx
    import ranx.metrics

    return ranx


@contextmanager
def calling() -> Iterator[None]:
    """One thread at a time; what numba compiles, and has not cached, is announced once on standard error."""
    import warnings

    from numba.core import errors, event

    with _TURN, warnings.catch_warnings(), event.install_listener("numba:compile", _announcer()):
        # numba finds fault with a cast in ranx's source each time that it compiles it.
        warnings.simplefilter("ignore", errors.NumbaWarning)
        yield


@cache
def _announcer() -> Any:
    """The one listener of this process, which speaks once."""
    import sys

    from numba.core import event

    class Announcer(event.Listener):  # type: ignore[misc] # numba ships no types
        told = False

        def on_start(self, _: Any) -> None:
            if not self.told:
                sys.stderr.write("compiling ranx: half a minute the first time, seconds once numba has cached it\n")
                sys.stderr.flush()
            self.told = True

        def on_end(self, _: Any) -> None:
            """Nothing is told at the end."""

    return Announcer()


BRIDGE = RanxBridge()
