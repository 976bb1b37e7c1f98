"""Thousands of random queries under random contracts, on every backend, against the oracle: what no
enumeration reaches because it takes several conventions, long rankings or interleaved rows at once.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import metricpact as mp
import oracle
import pytest
from metricpact.bridges.registry import get_bridge, installed_backends
from metricpact.contracts.contract import FIELDS, Contract
from metricpact.contracts.errors import InputError
from metricpact.contracts.measures import parse_measure
from metricpact.contracts.tables import Judgments, Run
from oracle import CHAPTER, Asked, JudgmentRow, OracleError, RunRow

BACKENDS = tuple(installed_backends())
BATCHES = 150
QUERIES = 25
CUTOFFS = (1, 2, 3, 5, 10, 20)
FAMILIES = ("P", "R", "RR", "AP", "nDCG", "DCG", "IDCG", "Success", "Judged")
UNCUT = ("R", "RR", "AP", "nDCG", "DCG", "IDCG", "Judged", "Rprec", "SetP", "SetR", "SetF", "Bpref")
MEASURES = [
    *(Asked(family, cutoff) for family in FAMILIES for cutoff in CUTOFFS),
    *(Asked(family) for family in UNCUT),
    Asked("SetF", beta=2),
    Asked("P", 5, rel=2),
    Asked("RR", 10, rel=3),
    Asked("AP", 10, rel=2),
    Asked("Bpref", rel=2),
    Asked("Rprec", rel=2),
    Asked("nDCG", 10, gain="linear"),
    Asked("nDCG", 5, gain="exponential"),
    Asked("nDCG", 5, gain=((0, 0), (1, 1), (2, 3))),
]
FREE_VALUES: dict[str, list[Any]] = {
    "threshold": [0, 1, 2, 3],
    "gain": [{1: 1, 2: 5}, {0: 0, 1: 0.5, 2: 1.5, 4: 2}, {1: 3, 3: 0}],
    "queries": ["some"],
}
DOCUMENTS = ["a", "B", "10", "9", "é", "ﬀ", "😀", "d1", "d10", "d2", "x y", "0", "zz", "-"]
# Runs of scores that tie at one width, at both, or at neither; beyond float32 on both sides.
SCORES = [
    0.0,
    -0.0,
    1.0,
    1 + 1e-9,
    1 + 2e-9,
    2.0,
    2 + 1e-8,
    -3.0,
    1e39,
    1e300,
    -1e300,
    1e-50,
    16777216.0,
    16777217.0,
]


class Drawn(NamedTuple):
    """One batch of queries and one contract."""

    judgments: list[JudgmentRow]
    run: list[RunRow]
    judged_empty: list[str]
    returned_empty: list[str]
    plain: dict[str, Any]

    @property
    def tables(self) -> tuple[Judgments, Run]:
        """The same as the package's own tables."""
        columns = [list(column) for column in zip(*self.judgments, strict=True)]
        rows = [list(column) for column in zip(*self.run, strict=True)]
        scores, ranks = rows[2], rows[3]
        return (
            Judgments.from_columns(*columns, empty=self.judged_empty),
            Run.from_columns(
                rows[0],
                rows[1],
                None if None in scores else scores,
                None if None in ranks else ranks,
                empty=self.returned_empty,
            ),
        )

    @property
    def contract(self) -> Contract:
        """The same contract as the package's own."""
        return Contract().replace(**self.plain)


def _draw_contract(chance: random.Random) -> dict[str, Any]:
    plain = dict(CHAPTER)
    for name, known in FIELDS.items():
        if chance.random() < 0.4:
            plain[name] = chance.choice([*known.values, *FREE_VALUES.get(name, [])])
    return plain


def _draw(seed: int) -> Drawn:
    """A batch that its own contract takes, but for the few faults that are drawn on purpose."""
    chance = random.Random(seed)
    plain = _draw_contract(chance)
    style = chance.choice(["scores", "scores and ranks", "lists"])
    if style == "lists" and plain["order"] == "rank":
        plain["order"] = "score"
    if style == "scores" and plain["order"] == "rank":
        style = "scores and ranks"
    faulty = chance.random() < 0.08
    judgments: list[JudgmentRow] = []
    blocks: list[list[RunRow]] = []
    judged_empty, returned_empty = [], []
    for number in range(QUERIES):
        query = chance.choice(["q", "Q", "é"]) + str(number)
        fate = chance.random()
        strangers = faulty or plain["extra_query"] != "error"
        judged, answered = fate > 0.08 or number == 0 or not strangers, fate < 0.92 or number == 0
        documents = [*DOCUMENTS, query]
        if judged:
            lowest = 0 if plain["negative_grade"] == "error" and not faulty else -1
            rows = [(query, doc, _draw_grade(chance, lowest)) for doc in documents if chance.random() < 0.5]
            if plain["duplicate"] != "error" or faulty:
                rows += [(query, row[1], _draw_grade(chance, lowest)) for row in rows if chance.random() < 0.1]
            chance.shuffle(rows)
            judgments.extend(rows)
            judged_empty.extend([] if rows else [query])
        if answered:
            ranking = _draw_ranking(chance, query, documents, plain, style, faulty=faulty)
            blocks.append(ranking)
            returned_empty.extend([] if ranking else [query])
    chance.shuffle(judgments)
    if plain["queries"] == "some":
        names = sorted({row[0] for row in judgments} | set(judged_empty))
        plain["queries"] = tuple(sorted(chance.sample(names, 10)))
    return Drawn(judgments, _interleaved(chance, blocks), judged_empty, returned_empty, plain)


def _draw_grade(chance: random.Random, lowest: int) -> int:
    return chance.choice([0, 0, 0, 1, 1, 2, 3, 4, lowest, lowest])


def _draw_ranking(
    chance: random.Random,
    query: str,
    documents: Sequence[str],
    plain: dict[str, Any],
    style: str,
    *,
    faulty: bool,
) -> list[RunRow]:
    docs = chance.sample(documents, chance.choice([0, 1, 2, 3, 5, 8, 11, 12]))
    if plain["duplicate"] != "error" or faulty:
        docs += [doc for doc in docs if chance.random() < 0.1]
        chance.shuffle(docs)
    if style == "lists":
        return [(query, doc, None, None) for doc in docs]
    if plain["ties"] == "error" and not faulty:
        levels: list[float] = [float(level) for level in range(len(docs))]
        chance.shuffle(levels)
    elif plain["ties"] == "average":
        # Few documents a tie: the oracle lists every order.
        levels = [float(place // 2) + 1e-9 * (place % 4 // 3) for place in range(len(docs))]
        chance.shuffle(levels)
    else:
        levels = [chance.choice(SCORES) for _ in docs]
    ranks: list[int | None] = [None] * len(docs)
    if style == "scores and ranks":
        places = list(range(len(docs)))
        chance.shuffle(places)
        if plain["rank_conflict"] == "error" and not faulty:
            places.sort(key=lambda place: -levels[place])
        for rank, place in enumerate(places, start=1):
            ranks[place] = rank * 2
    return [(query, doc, level, rank) for doc, level, rank in zip(docs, levels, ranks, strict=True)]


def _interleaved(chance: random.Random, blocks: list[list[RunRow]]) -> list[RunRow]:
    """The rows of all queries mixed, each query's own still in their order, or block after block."""
    if chance.random() < 0.5:
        return [row for block in blocks for row in block]
    turns = [number for number, block in enumerate(blocks) for _ in block]
    chance.shuffle(turns)
    left = [iter(block) for block in blocks]
    return [next(left[number]) for number in turns]


@cache
def _oracle_says(seed: int) -> dict[Asked, oracle.Result] | None:
    drawn = _draw(seed)
    try:
        return oracle.score(
            drawn.judgments,
            drawn.run,
            MEASURES,
            drawn.plain,
            judged_empty=drawn.judged_empty,
            returned_empty=drawn.returned_empty,
        )
    except OracleError:
        return None


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("seed", range(BATCHES))
def test_random_queries_score_as_the_oracle_says(seed: int, backend: str) -> None:
    """Values, reasons, judged fractions, means and counts, or an error where the oracle has one."""
    drawn, expected = _draw(seed), _oracle_says(seed)
    bridge = get_bridge(backend)
    measures = [
        asked for asked in MEASURES if not hasattr(bridge.plan(parse_measure(str(asked)), drawn.contract), "reason")
    ]
    names = [str(asked) for asked in measures]
    if not names:
        assert backend != "reference"
        return
    if expected is None:
        with pytest.raises(InputError):
            mp.score(*drawn.tables, names, contract=drawn.contract, backend=backend)
        return
    scores = mp.score(*drawn.tables, names, contract=drawn.contract, backend=backend)
    found = oracle.disagreements({asked: expected[asked] for asked in measures}, scores)
    assert (drawn.contract.diff(Contract()), found[:5]) == (drawn.contract.diff(Contract()), [])


def test_the_random_inputs_are_worth_their_time() -> None:
    """Enough queries are scored and not rejected, and each value of each field is met on the way."""
    scored = [seed for seed in range(BATCHES) if _oracle_says(seed) is not None]
    assert len(scored) < BATCHES
    judged = sum(len({row[0] for row in drawn.judgments} | set(drawn.judged_empty)) for drawn in map(_draw, scored))
    assert judged >= 3000
    met = {(name, str(value)) for seed in scored for name, value in _draw(seed).plain.items()}
    known = {(name, value) for name, convention in FIELDS.items() for value in convention.values}
    assert known - met == set()
