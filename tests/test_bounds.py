"""Bounds under missing judgments: worked values, what they are about, what is refused, and larger inputs."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement, product
from pathlib import Path
from typing import Any

import metricpact as mp
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metricpact.bridges.registry import installed_backends
from metricpact.contracts.errors import ContractError, LimitError, MeasureError
from oracle import CHAPTER, Asked, View, value
from pytest import approx

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
SIX = ["P@3", "R@3", "RR@3", "AP@3", "nDCG@3", "Success@3"]
CHAPTER_QRELS, CHAPTER_RUN = {"q": {"A": 2, "B": 1, "N": 0}}, {"q": ["B", "U", "A"]}


def bound_of(qrels: Any, run: Any, measure: str, **asked: Any) -> Any:
    """The bounds of one measure at the query q."""
    return mp.bounds(qrels, run, [measure], **asked).bounds_by_query(measure)["q"]


# ---------------------------------------------------------------- worked values


def test_the_chapters_example() -> None:
    """[B, U, A] with A = 2 and B = 1: P@3 could be 1, nDCG@3 up to .81457."""
    scores = mp.bounds(CHAPTER_QRELS, CHAPTER_RUN, SIX)
    bounds = {name: scores.bounds_by_query(name)["q"] for name in SIX}
    assert bounds["P@3"] == approx((2 / 3, 1.0, True))
    # U = 2 gives DCG 1 + 3/log2(3) + 3/2 and an ideal of two threes and a one.
    best = (1 + 3 / math.log2(3) + 3 / 2) / (3 + 3 / math.log2(3) + 1 / 2)
    assert best == approx(0.81457, abs=5e-6)
    assert bounds["nDCG@3"] == approx((2.5 / (3 + 1 / math.log2(3)), best, True))
    assert bounds["R@3"] == bounds["RR@3"] == bounds["Success@3"] == (1.0, 1.0, True)
    assert bounds["AP@3"] == approx((5 / 6, 1.0, True))


def test_ap_falls_with_one_more_relevant_document() -> None:
    """[relevant, judged non-relevant, unjudged]: AP is 1, and 5/6 if the last one is relevant."""
    qrels, run = {"q": {"A": 1, "B": 0}}, {"q": ["A", "B", "U"]}
    assert bound_of(qrels, run, "AP@3") == approx((5 / 6, 1.0, True))
    assert mp.score({"q": {"A": 1, "B": 0, "U": 1}}, run, ["AP@3"]).mean["AP@3"].value == approx(5 / 6)


def test_a_grade_in_between_can_beat_both_ends() -> None:
    """A = 1 not returned, B = 1 at rank 1, U at rank 2: grades 0, 1, 2, 3 give .613, 1, .797, .710."""
    qrels, run = {"q": {"A": 1, "B": 1}}, {"q": ["B", "U"]}
    values = [mp.score({"q": {"A": 1, "B": 1, "U": grade}}, run, ["nDCG@2"]).mean["nDCG@2"].value for grade in range(4)]
    assert values == approx([0.613, 1.0, 0.797, 0.710], abs=5e-4)
    assert bound_of(qrels, run, "nDCG@2", max_grade=3) == approx((min(values), 1.0, True))


def test_ndcg_falls_with_a_better_document_further_down() -> None:
    """[grade 1, unjudged] with grades up to 2: 1, and .7967 if the second one has grade 2."""
    bound = bound_of({"q": {"A": 1}}, {"q": ["A", "U"]}, "nDCG@2", max_grade=2)
    assert bound == approx(((1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3)), 1.0, True))
    assert bound.lower == approx(0.7967, abs=5e-5)


# ---------------------------------------------------------------- what they are about


def test_only_the_prefix_is_in_doubt() -> None:
    """Unjudged documents after the cutoff stay what they are: not relevant, and not in R."""
    qrels, run = {"q": {"A": 1, "B": 1}}, {"q": ["A", "U", "V", "B"]}
    assert bound_of(qrels, run, "P@1") == (1.0, 1.0, True)
    assert bound_of(qrels, run, "R@2") == approx((1 / 2, 2 / 3, True))
    assert bound_of(qrels, run, "nDCG@1") == (1.0, 1.0, True)


def test_the_largest_grade_comes_from_all_judgments_and_is_at_least_the_threshold() -> None:
    """max_grade is 3 although the query's own judgments end at 1; a threshold above all grades raises it."""
    qrels, run = {"q": {"A": 1}, "p": {"B": 3}}, {"q": ["A", "U"], "p": ["B"]}
    scores = mp.bounds(qrels, run, ["nDCG@2", "P(rel=5)@2"])
    measures = {row["measure"]: row["bounds"]["max_grade"] for row in scores.to_document()["measures"]}
    assert measures == {"nDCG@2": 3, "P(rel=5)@2": 5}
    assert scores.bounds_by_query("nDCG@2")["q"] == approx(((1 + 7 / math.log2(3)) / (7 + 1 / math.log2(3)), 1.0, True))
    assert scores.bounds_by_query("P(rel=5)@2")["q"] == (0.0, 0.5, True)


def test_undefined_points_have_undefined_bounds() -> None:
    """A query without a relevant document has no recall to bound; P is defined, and so are its bounds."""
    scores = mp.bounds({"q": {"A": 0}, "p": {"B": 1}}, {"q": ["A", "U"], "p": ["B"]}, ["R@2", "P@2", "nDCG@2"])
    assert scores.bounds_by_query("R@2") == {"q": None, "p": (1.0, 1.0, True)}
    assert scores.bounds_by_query("nDCG@2")["q"] is None
    assert scores.bounds_by_query("P@2")["q"] == (0.0, 0.5, True)
    assert scores.bounds["R@2"] == (1.0, 1.0, True)
    nobody = mp.bounds({"q": {"A": 0}}, {"q": ["A", "U"]}, ["R@2"])
    assert nobody.bounds == {"R@2": None}
    assert nobody.to_document()["measures"][0]["bounds"] is None


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, (1 / 3, 2 / 3)),  # a: 1/2 to 1, b: 1/2 to 1, c is missing and stays 0
        ({"queries": "answered"}, (1 / 2, 1.0)),
        ({"queries": ("a", "c")}, (1 / 4, 1 / 2)),
        ({"extra_query": "zero"}, (1 / 4, 2 / 4)),  # z counts as 0, whatever its documents are
    ],
)
def test_bounds_of_a_mean_use_the_queries_of_the_mean(changes: dict[str, Any], expected: tuple[float, float]) -> None:
    """Missing queries return nothing that could be judged; extra queries are zeros by the contract."""
    qrels = {"a": {"A": 1}, "b": {"B": 1}, "c": {"C": 1}}
    run = {"a": ["A", "U"], "b": ["V", "B"], "z": ["W"]}
    scores = mp.bounds(qrels, run, ["P@2"], set=changes)
    assert scores.bounds["P@2"] == approx((*expected, True))


def test_negative_grades_follow_the_contract() -> None:
    """A judgment that the contract removes leaves a document that could be anything; one that becomes 0 does not."""
    qrels, run = {"q": {"A": 1, "B": -1}}, {"q": ["A", "B"]}
    assert bound_of(qrels, run, "P@2", set={"negative_grade": "nonrelevant"}) == (0.5, 0.5, True)
    assert bound_of(qrels, run, "P@2", set={"negative_grade": "unjudged"}) == (0.5, 1.0, True)


def test_bounds_do_not_depend_on_the_backend() -> None:
    """Points come from a backend, bounds from the contract; the point is never outside."""
    reference = mp.bounds(CHAPTER_QRELS, CHAPTER_RUN, SIX, backend="reference")
    for backend in {"pytrec_eval", "ir_measures"} & set(installed_backends()):
        scores = mp.bounds(CHAPTER_QRELS, CHAPTER_RUN, SIX, backend=backend)
        for name in SIX:
            assert scores.bounds[name] == approx(reference.bounds[name], rel=0, abs=1e-12)
            assert scores.bounds[name].lower <= scores.mean[name] <= scores.bounds[name].upper


def test_where_possible_gains_are_too_many_to_list_the_bound_is_not_tight() -> None:
    """A judged gain of 2.5 that no unjudged document can have, among 100,000 that it can: valid, not called tight."""
    table, run = {200_000: 2.5}, {"q": ["B", "U"]}
    asked: dict[str, Any] = {"set": {"gain": table}, "backend": "reference"}
    judged = {"A": 200_000, "B": 200_000}
    loose = mp.bounds({"q": judged}, run, ["nDCG@2"], max_grade=100_000, **asked).bounds["nDCG@2"]
    possible = [
        mp.score({"q": judged | {"U": grade}}, run, ["nDCG@2"], **asked).mean["nDCG@2"].value
        for grade in (*range(6), 100, 100_000)
    ]
    assert not loose.tight
    assert loose.lower == approx(min(possible))
    assert max(possible) < loose.upper <= 1.0
    close = mp.bounds({"q": judged}, run, ["nDCG@2"], max_grade=5, **asked).bounds["nDCG@2"]
    assert close == approx((min(possible[:6]), max(possible[:6]), True))
    # Nothing is judged above the largest grade: then no gain is in doubt.
    assert mp.bounds({"q": judged}, run, ["nDCG@2"], **asked).bounds["nDCG@2"].tight


def test_a_fractional_grade_that_the_table_lists_is_possible() -> None:
    """With 0.5 worth 4 among the grades up to 1, an unjudged document can have it."""
    bound = bound_of({"q": {"A": 1}}, {"q": ["A", "U"]}, "nDCG@2", set={"gain": {0.5: 4, 1: 1}}, max_grade=1)
    assert bound.lower == approx((1 + 4 / math.log2(3)) / (4 + 1 / math.log2(3)))


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("measures", "asked", "error", "said"),
    [
        (["Bpref"], {}, MeasureError, "Bpref has no bounds"),
        (["P@3", "DCG@3"], {}, MeasureError, "DCG@3 has no bounds"),
        (["P@3"], {"set": {"unjudged": "removed"}}, ContractError, "unjudged=removed"),
        (["P@3"], {"set": {"ties": "average"}, "backend": "reference"}, ContractError, "ties=average"),
        (["P(rel=3)@3"], {"max_grade": 2}, ContractError, "below the threshold 3"),
        (["P@3"], {"max_grade": 0}, ContractError, "below the threshold 1"),
        (["nDCG@3"], {"max_grade": -1}, ContractError, "not a grade"),
        (["nDCG@3"], {"max_grade": True}, ContractError, "not a grade"),
        (["nDCG@3"], {"max_grade": 1.5}, ContractError, "not a grade"),
        (["nDCG@3"], {"max_grade": "2"}, ContractError, "not a grade"),
        (["nDCG@3"], {"max_grade": 2**53}, ContractError, "not a grade"),
        (["nDCG@3"], {"max_grade": 2000}, LimitError, "too large a gain"),
    ],
    ids=str,
)
def test_what_has_no_bounds_is_refused(
    measures: list[str], asked: dict[str, Any], error: type[mp.MetricpactError], said: str
) -> None:
    """With a reason, and never a point passed off as a bound."""
    with pytest.raises(error, match=said):
        mp.bounds(CHAPTER_QRELS, CHAPTER_RUN, measures, **asked)


def test_bounds_that_were_not_asked_for_are_not_there() -> None:
    """A largest grade without bounds is a mistake, and so is asking for what was not computed."""
    with pytest.raises(ContractError, match="not asked for"):
        mp.score(CHAPTER_QRELS, CHAPTER_RUN, ["P@3"], max_grade=3)
    scores = mp.score(CHAPTER_QRELS, CHAPTER_RUN, ["P@3"])
    assert scores.bounds == {}
    with pytest.raises(MeasureError, match="not asked for"):
        scores.bounds_by_query("P@3")


# ---------------------------------------------------------------- larger inputs


grade = st.sampled_from([None, None, 0, 1, 2, 4])
GAINS: list[Any] = ["exponential", "linear", {1: 2, 2: 1, 4: 3}, {1: 0, 3: 7, 4: 7}]


@settings(max_examples=60, derandomize=True, deadline=None)
@given(
    st.lists(grade, min_size=1, max_size=7).filter(lambda ranking: ranking.count(None) <= 4),
    st.lists(st.sampled_from([0, 1, 2, 4]), max_size=5),
    st.integers(1, 8),
    st.fixed_dictionaries(
        {
            "threshold": st.sampled_from([0, 1, 2, 4]),
            "gain": st.sampled_from(GAINS),
            "discount": st.sampled_from(["log2", "jk"]),
            "ideal": st.sampled_from(["judgments", "returned"]),
            "ideal_depth": st.sampled_from(["cutoff", "full"]),
            "ap_denominator": st.sampled_from(["relevant", "capped", "hits"]),
            "recall_denominator": st.sampled_from(["relevant", "capped"]),
            "precision_denominator": st.sampled_from(["cutoff", "returned"]),
            "undefined": st.sampled_from(["null", "zero", "one", "skip"]),
        }
    ),
)
def test_bounds_are_attained_and_not_passed(
    ranking: list[int | None], others: list[int], cutoff: int, changes: dict[str, Any]
) -> None:
    """Seven documents, grades to 4 and several conventions at once, against all assignments."""
    contract = {**CHAPTER, **changes}
    judged = {f"r{place}": grade for place, grade in enumerate(ranking) if grade is not None}
    judged |= {f"o{place}": grade for place, grade in enumerate(others)}
    qrels, run = {"q": judged}, {"q": [f"r{place}" for place in range(len(ranking))]}
    names = [f"{family}@{cutoff}" for family in ("P", "R", "RR", "AP", "nDCG", "Success")]
    scores = mp.bounds(qrels, run, names, set=changes, backend="reference", max_grade=4)
    unjudged = [place for place, grade in enumerate(ranking[:cutoff]) if grade is None]
    for name in names:
        asked = Asked(name.partition("@")[0], cutoff)
        numbers = []
        for assigned in product((None, 0, 1, 2, 3, 4), repeat=len(unjudged)):
            settled = list(ranking)
            for place, number in zip(unjudged, assigned, strict=True):
                settled[place] = number
            grades = sorted((number for number in (*settled, *others) if number is not None), reverse=True)
            numbers.append(value(View((tuple(settled),), tuple(grades)), asked, contract).number)
        bound = scores.bounds_by_query(name)["q"]
        if numbers[0] is None:
            assert bound is None
            continue
        known = [float(number) for number in numbers if number is not None]
        assert bound == approx((min(known), max(known), True), rel=0, abs=1e-12), name


@pytest.mark.parametrize("seed", range(6))
def test_ndcg_at_20_is_the_best_of_all_multisets(seed: int) -> None:
    """Twenty returned, grades to 4: the bounds are those of all multisets of grades, placed best and worst."""
    chance = np.random.default_rng(seed)
    ranking = np.where(chance.random(20) < 0.4, chance.integers(0, 5, 20), -1)
    others = chance.integers(0, 5, chance.integers(0, 15))
    gain = [2.0**g - 1 for g in range(5)] if seed % 2 else [0.0, 3.0, 1.0, 7.0, 2.0]
    judged = {f"r{place}": int(grade) for place, grade in enumerate(ranking) if grade >= 0}
    judged |= {f"o{place}": int(grade) for place, grade in enumerate(others)} | {"sure": 1}
    table = {"gain": dict(enumerate(gain))}
    found = bound_of({"q": judged}, {"q": [f"r{i}" for i in range(20)]}, "nDCG@20", set=table, max_grade=4)

    worth = np.array(gain)
    shares = 1 / np.log2(np.arange(2, 22))
    places = np.flatnonzero(ranking < 0)
    chosen = np.array(list(combinations_with_replacement(sorted(gain, reverse=True), len(places))))
    known = (worth[ranking] * shares)[ranking >= 0].sum()
    everything = np.concatenate(
        [np.broadcast_to(worth[list(judged.values())], (len(chosen), len(judged))), chosen], axis=1
    )
    best_first = -np.sort(-everything, axis=1)[:, :20]
    ideal = best_first @ shares[: best_first.shape[1]]
    assert found.upper == approx(((known + chosen @ shares[places]) / ideal).max(), rel=0, abs=1e-12)
    assert found.lower == approx(((known + chosen[:, ::-1] @ shares[places]) / ideal).min(), rel=0, abs=1e-12)


def test_upper_bounds_hold_whatever_was_not_judged() -> None:
    """With relevant documents that nobody knows of, values stay below upper bounds, and fall below some lower ones."""
    chance = np.random.default_rng(11)
    names = ["P@5", "R@5", "RR@5", "AP@5", "nDCG@5", "Success@5"]
    passed = set()
    for _ in range(60):
        returned = [f"r{place}" for place in range(7)]
        judged = {"o": int(chance.integers(0, 4)), "sure": 1}
        judged |= {doc: int(chance.integers(0, 4)) for doc in returned if chance.random() < 0.6}
        bounds = mp.bounds({"q": judged}, {"q": returned}, names, max_grade=3, backend="reference").bounds
        truth = {doc: judged.get(doc, int(chance.integers(0, 4))) for doc in returned}
        truth |= judged | {f"unknown{place}": 3 for place in range(3)}
        scores = mp.score({"q": truth}, {"q": returned}, names, backend="reference")
        for name in names:
            assert scores.mean[name].value <= bounds[name].upper + 1e-12
            if scores.mean[name].value < bounds[name].lower - 1e-12:
                passed.add(name)
    assert passed == {"R@5", "AP@5", "nDCG@5"}


@pytest.mark.parametrize("denominator", ["relevant", "capped", "hits"])
@pytest.mark.parametrize("seed", range(3))
def test_ap_at_20_is_the_best_of_all_subsets(seed: int, denominator: str) -> None:
    """Twenty returned, twelve of them unjudged: the bounds are those of all 4,096 ways to be relevant."""
    chance = np.random.default_rng(seed)
    ranking = chance.permutation([*[-1] * 12, *chance.integers(0, 2, 8)])
    judged = {f"r{place}": int(grade) for place, grade in enumerate(ranking) if grade >= 0}
    judged |= {f"o{place}": 1 for place in range(1 + 9 * seed)}
    run = {"q": [f"r{place}" for place in range(20)]}
    found = bound_of({"q": judged}, run, "AP@20", set={"ap_denominator": denominator})

    relevant = np.tile(ranking == 1, (4096, 1))
    relevant[:, ranking < 0] = np.array(list(product((False, True), repeat=12)))
    sums = (relevant * np.cumsum(relevant, axis=1) / np.arange(1, 21)).sum(axis=1)
    hits = relevant.sum(axis=1)
    everything = hits + 1 + 9 * seed
    below = {"relevant": everything, "capped": np.minimum(20, everything), "hits": np.maximum(hits, 1)}[denominator]
    assert found == approx(((sums / below).min(), (sums / below).max(), True), rel=0, abs=1e-12)


@settings(max_examples=40, derandomize=True, deadline=None)
@given(st.lists(grade, min_size=1, max_size=30), st.lists(st.sampled_from([0, 1, 2, 4]), max_size=9), st.data())
def test_one_more_judgment_narrows_the_bounds(
    ranking: list[int | None], others: list[int], data: st.DataObject
) -> None:
    """Whatever an unjudged document turns out to be, the new bounds are inside the old ones, and end at the value."""
    judged = {f"o{place}": grade for place, grade in enumerate([1, *others])}
    judged |= {f"r{place}": grade for place, grade in enumerate(ranking) if grade is not None}
    run = {"q": [f"r{place}" for place in range(len(ranking))]}
    names = ["P@30", "R", "RR", "AP", "nDCG", "Success@30"]
    before = mp.bounds({"q": judged}, run, names, max_grade=4, backend="reference")
    for place, grade in enumerate(ranking):
        if grade is None:
            judged = {**judged, f"r{place}": data.draw(st.integers(0, 4))}
            after = mp.bounds({"q": judged}, run, names, max_grade=4, backend="reference")
            for name in names:
                low, high, _ = after.bounds[name]
                assert before.bounds[name].lower - 1e-12 <= low <= after.mean[name] <= high
                assert high <= before.bounds[name].upper + 1e-12
            before = after
    for name in names:
        assert before.bounds[name].lower == approx(before.bounds[name].upper, rel=0, abs=1e-12)


def test_a_long_ranking_costs_its_own_length_only() -> None:
    """One uncut ranking of a hundred thousand documents beside a thousand short ones."""
    long = [f"d{place}" for place in range(100_000)]
    qrels = {"q": {"d0": 1, "d99999": 2}} | {f"s{n}": {"d1": 1} for n in range(1000)}
    run = {"q": long} | {f"s{n}": ["d0", "d1"] for n in range(1000)}
    scores = mp.bounds(qrels, run, ["AP", "nDCG", "R"], backend="reference")
    # All relevant: the whole ranking is, and R with it.
    assert scores.bounds_by_query("AP")["q"].upper == approx(1.0)
    assert scores.bounds_by_query("R")["q"] == (1.0, 1.0, True)
    assert scores.bounds_by_query("AP")["s7"] == approx((0.5, 1.0, True))
    share = 1 / math.log2(3)
    assert scores.bounds_by_query("nDCG")["s7"] == approx((share, (3 + share) / (3 + share), True))


def test_blocks_of_queries_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Queries are worked out in blocks of similar depth; with a query or two each, every number is the same."""
    chance = np.random.default_rng(7)
    qrels = {f"q{n}": {f"d{d}": int(chance.integers(0, 4)) for d in chance.integers(0, 40, 9)} for n in range(60)}
    run = {f"q{n}": [f"d{d}" for d in chance.permutation(40)[: chance.integers(0, 25)]] for n in range(60)}
    names = ["AP", "AP@5", "nDCG", "nDCG@5", "RR"]
    whole = mp.bounds(qrels, run, names, backend="reference").to_polars()
    monkeypatch.setattr("metricpact.contracts.bounds.gaps._CELLS", 20)
    parts = mp.bounds(qrels, run, names, backend="reference").to_polars()
    for side in ("lower", "upper"):
        assert parts[side].to_list() == approx(whole[side].to_list(), rel=0, abs=1e-14)


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        ("bm25_runs/cranfield.graded.qrels", "bm25_runs/cranfield.bm25s-A.run"),
        ("bm25_runs/scifact.test.qrels", "bm25_runs/scifact.bm25s-A.run"),
    ],
)
def test_real_files(qrels: str, run: str) -> None:
    """Judging the unjudged documents of the first ten, as best or at random, gives the bounds or values inside them."""
    if not (DATA / qrels).exists():
        pytest.skip(f"no real files: {DATA / qrels} is absent")
    monotone, others = ["P@10", "R@10", "RR@10", "Success@10"], ["AP@10", "nDCG@10"]
    judgments = mp.read_qrels(DATA / qrels).to_polars().with_columns(pl.col("grade").clip(0))
    ranked = (
        mp.read_run(DATA / run).to_polars().sort("query_id", "score", descending=[False, True], maintain_order=True)
    )
    first = ranked.group_by("query_id", maintain_order=True).head(10)
    asked = judgments.select("query_id").unique()
    unjudged = first.join(judgments, on=["query_id", "doc_id"], how="anti").join(asked, on="query_id", how="semi")
    assert len(unjudged) > 100
    bounds = mp.bounds(judgments_of(judgments), DATA / run, [*monotone, *others], max_grade=4)
    chance = np.random.default_rng(3)

    def judged(grades: Any) -> mp.Scores:
        """The run scored with grades for all unjudged documents."""
        more = unjudged.select("query_id", "doc_id", pl.Series("grade", grades, dtype=pl.Int64))
        return mp.score(judgments_of(pl.concat([judgments, more])), DATA / run, [*monotone, *others])

    best = judged([1] * len(unjudged))
    for name in monotone:
        assert [bound.upper for bound in bounds.bounds_by_query(name).values()] == approx(
            list(best.by_query(name).values())
        )
    for _ in range(5):
        drawn = judged(chance.integers(0, 5, len(unjudged)))
        for name in others:
            inside = zip(bounds.bounds_by_query(name).values(), drawn.by_query(name).values(), strict=True)
            assert all(low - 1e-12 <= value <= high + 1e-12 for (low, high, _), value in inside)


def judgments_of(frame: pl.DataFrame) -> mp.Judgments:
    """Judgments from their columns, queries in the order of first mention."""
    return mp.Judgments.from_columns(frame["query_id"], frame["doc_id"], frame["grade"])
