"""Comparisons: pairing by query id, verdicts, one correction, flipped queries, undefined ones, contracts, real runs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import metricpact as mp
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metricpact.contracts.errors import ContractError, InputError, MeasureError
from metricpact.crosscheck.compare.comparison import Comparison, compare_all_pairs, compare_scores
from metricpact.crosscheck.compare.options import ComparisonOptions
from metricpact.crosscheck.slices.scored import ScoredRun
from metricpact.crosscheck.slices.slicing import Slicing
from pytest import approx
from statsmodels.stats.multitest import multipletests
from typed import typed

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "front/example/slices/known_items.csv"
COVID = ROOT / "../shared/data/trec_covid_r1/round1"

SIGNATURES = {"RR": "RR|chapter/1||reference", "P@1": "P@1|chapter/1||reference"}


def scored(name: str, values: Mapping[str, Mapping[str, float | None]], **signatures: str) -> ScoredRun:
    """A run from measure → query → value; None is undefined."""
    rows = [
        {"query_id": query, "measure": measure, "value": value, "reason": None if value is not None else "no-positives"}
        for measure, held in values.items()
        for query, value in held.items()
    ]
    schema = {"query_id": pl.String, "measure": pl.String, "value": pl.Float64, "reason": pl.String}
    return ScoredRun.from_frame(name, pl.DataFrame(rows, schema=schema), SIGNATURES | signatures)


def rr(name: str, *values: float | None) -> ScoredRun:
    """A run with a value of RR for q00, q01, …"""
    return scored(name, {"RR": {f"q{at:02}": value for at, value in enumerate(values)}})


def test_queries_are_paired_by_id_and_never_by_position() -> None:
    """The same values in another order of queries: no difference, all tied, p = 1."""
    queries = [f"q{at}" for at in range(40)]
    values = dict(zip(queries, np.random.default_rng(1).random(40).tolist(), strict=True))
    turned = {query: values[query] for query in reversed(queries)}
    found = compare_scores(scored("old", {"RR": values}), [scored("new", {"RR": turned})]).differences[0]
    assert (found.difference, found.wins, found.ties, found.losses, found.p.p) == (0.0, 0, 40, 0, 1.0)
    assert found.base_mean == found.candidate_mean == approx(np.mean(list(values.values())))


def test_permuted_files_give_no_difference(tmp_path: Path) -> None:
    """Two runs whose queries come in different order are the same run; so are judgments in another order."""
    first = "".join(f"q{at} Q0 d{at % 3} 1 1.0 t\n" for at in range(9))
    (tmp_path / "a").write_text(first)
    (tmp_path / "b").write_text("".join(reversed(first.splitlines(keepends=True))))
    (tmp_path / "qrels").write_text("".join(f"q{at} 0 d{at % 2} 1\n" for at in (3, 1, 0, 2, 8, 7, 5, 6, 4)))
    document = json.loads(
        typed("compare", tmp_path / "qrels", tmp_path / "a", tmp_path / "b", "P@1", "AP", "-o", "json").stdout
    )
    assert document["flips"] == []
    for found in document["differences"]:
        assert (found["difference"], found["ties"], found["p"]["p"], found["corrected"]) == (0.0, 9, 1.0, 1.0)


@pytest.mark.parametrize("test", ["randomisation", "t", "wilcoxon"])
@pytest.mark.parametrize("correction", ["holm", "bh", "none"])
def test_identical_runs(test: str, correction: str) -> None:
    """p = 1 and no division by zero, whatever the test; nothing that is printed is NaN."""
    run = {"q1": ["a"], "q2": ["x", "b"]}
    found = mp.compare({"q1": {"a": 1}, "q2": {"b": 1}}, run, {"same": run}, test=test, correction=correction)
    frame = found.to_polars()
    assert frame["p"].to_list() == frame["corrected_p"].to_list() == [1.0] * 5
    assert frame["verdict"].unique().to_list() in (["cannot resolve at this n"], ["no difference shown"])
    assert not any(frame[name].is_nan().any() for name, dtype in frame.schema.items() if dtype == pl.Float64)


def test_every_number_of_a_worked_comparison() -> None:
    """Means, difference, wins, ties, losses and p of six queries, by hand: +1 five times, one tie, p = 2/32."""
    found = compare_scores(rr("old", 0, 0, 0, 0, 0, 1), [rr("new", 1, 1, 1, 1, 1, 1)]).differences[0]
    assert (found.base_mean, found.candidate_mean, found.difference) == (1 / 6, 1.0, approx(5 / 6))
    assert (found.n, found.wins, found.ties, found.losses) == (6, 5, 1, 0)
    assert (found.p.p, found.p.least, found.corrected, found.p.method) == (1 / 16, 1 / 16, 1 / 16, "exact sign flips")
    assert found.verdict == "cannot resolve at this n"


@pytest.mark.parametrize(("wins", "verdict"), [(5, "cannot resolve at this n"), (6, "better")])
def test_what_so_few_queries_can_resolve(wins: int, verdict: str) -> None:
    """Five differences of one sign reach 1/16 at best, six reach 1/32: only the latter is below .05."""
    found = compare_scores(rr("old", *[0] * wins), [rr("new", *[0.5] * wins)]).differences[0]
    assert found.verdict == verdict


def test_a_family_makes_resolving_harder() -> None:
    """Six wins resolve one test; among four, Holm's correction leaves 4/32, and that could not be less."""
    old, new = [0] * 6 + [0.5] * 6, [1] * 6 + [0.5, 0.4, 0.6, 0.5, 0.5, 0.5]
    base, candidate = rr("old", *old), rr("new", *new)
    table = pl.DataFrame({"query_id": base.queries, "s": ["x"] * 6 + ["y"] * 6, "t": ["z"] * 6 + [None] * 6})
    found = compare_scores(base, [candidate], slicing=Slicing(table))
    assert [(one.slice, one.verdict) for one in found.differences] == [
        ("all", "no difference shown"), ("s=x", "cannot resolve at this n"), ("s=y", "cannot resolve at this n"),
        ("t=z", "cannot resolve at this n"),
    ]  # fmt: skip
    assert found.family == 4
    alone = compare_scores(base, [candidate], slicing=Slicing(table), options=ComparisonOptions(correction="none"))
    assert [one.verdict for one in alone.differences][1] == "better"


def test_worse_and_not_shown() -> None:
    """A loss is called worse; a mixed result with enough queries is no difference shown."""
    worse = compare_scores(rr("old", *[1] * 10), [rr("new", *[0.5] * 10)]).differences[0]
    mixed = compare_scores(rr("old", *[0.5] * 10), [rr("new", *[0.4, 0.6] * 5)]).differences[0]
    assert (worse.verdict, worse.difference, mixed.verdict) == ("worse", -0.5, "no difference shown")


def test_drawn_signs_can_be_too_few_for_a_family() -> None:
    """A hundred resamples reach 1/101 at best: with twelve tests that resolves nothing, and is said apart from n."""
    base = rr("old", *[0] * 40)
    candidates = [rr(f"new {at}", *[0.5] * 40) for at in range(12)]
    options = ComparisonOptions.of(resamples=100)
    assert {one.verdict for one in compare_scores(base, candidates, options=options).differences} == {
        "cannot resolve with so few resamples"
    }


def test_undefined_queries_never_enter_and_are_counted() -> None:
    """A query without a value on one side is in no mean, no test, no tie; one outside a side's mean is not counted."""
    old = rr("old", 0.5, None, 0.25, 1.0, None)
    new = rr("new", 1.0, 1.0, None, 0.5, None)
    found = compare_scores(old, [new]).differences[0]
    assert (found.n, found.undefined, found.wins, found.ties, found.losses) == (2, 3, 1, 0, 1)
    assert (found.base_mean, found.candidate_mean, found.difference) == (0.75, 0.75, 0.0)
    nothing = compare_scores(rr("old", None, 1.0), [rr("new", 1.0, None)]).differences[0]
    assert (nothing.n, nothing.base_mean, nothing.difference, nothing.p.p) == (0, None, None, None)
    assert (nothing.verdict, nothing.interval.reason, nothing.corrected) == ("no test", "no pair", None)


def test_nan_is_no_value() -> None:
    """NaN and infinity are refused where values come from outside."""
    frame = pl.DataFrame({"query_id": ["q"], "measure": ["RR"], "value": [float("nan")]})
    with pytest.raises(InputError, match="is not a value"):
        ScoredRun.from_frame("bad", frame, SIGNATURES)
    with pytest.raises(InputError, match="two values"):
        ScoredRun.from_frame(
            "bad", pl.DataFrame({"query_id": ["q"] * 2, "measure": ["RR"] * 2, "value": [1.0, 0.5]}), SIGNATURES
        )


def test_scored_runs_come_back_from_their_frame() -> None:
    """What a record keeps is what was scored: values, reasons, judged shares, denominators."""
    scores = mp.score(
        {"q1": {"a": 1}, "q2": {"b": 0}, "q3": {"c": 1}}, {"q1": ["a"], "q2": ["b"]}, ["R@1", "nDCG@3", "Judged@2"]
    )
    first = ScoredRun.from_scores("run", scores)
    again = ScoredRun.from_frame("run", first.to_frame().sample(fraction=1, shuffle=True, seed=1), first.signatures)
    assert again.to_frame().sort("measure", "query_id").equals(first.to_frame().sort("measure", "query_id"))
    assert [again.column(name).zero_one for name in ("R@1", "nDCG@3")] == [True, False]


def test_queries_on_one_side_take_no_part_and_are_told() -> None:
    """Only shared queries are paired; none in common is an error."""
    found = compare_scores(rr("old", 1, 0, 1), [rr("new", 1, 1)])
    assert found.differences[0].n == 2
    assert found.unpaired == {("old", "new"): (("q02",), ())}
    with pytest.raises(InputError, match="share no query"):
        compare_scores(scored("old", {"RR": {"a": 1}}), [scored("new", {"RR": {"b": 1}})])


def test_numbers_of_two_contracts_are_refused_or_labelled() -> None:
    """Different contract parts of signatures are an error that says how; asked for, they are labelled."""
    old, new = rr("old", 1, 0), scored("new", {"RR": {"q00": 1, "q01": 1}}, RR="RR|chapter/1|threshold=2||reference")
    with pytest.raises(ContractError, match="mean different things") as caught:
        compare_scores(old, [new])
    assert "--across signature" in caught.value.hint
    found = compare_scores(old, [new], options=ComparisonOptions(across_contracts=True)).differences[0]
    assert found.note == "different contracts: RR|chapter/1 and RR|chapter/1|threshold=2"
    other = scored("new", {"RR": {"q00": 1, "q01": 1}}, RR="RR|chapter/1||another")
    assert compare_scores(old, [other]).differences[0].note == ""  # provenance may differ, and is reported


def test_all_candidates_and_measures_are_one_family() -> None:
    """Corrected p-values are those of statsmodels over all measures, slices and candidates together."""
    random = np.random.default_rng(2)
    runs = [
        scored(
            name, {m: {f"q{at}": float(random.random() < 0.4 + 0.2 * shift) for at in range(25)} for m in ("RR", "P@1")}
        )
        for shift, name in enumerate(("old", "b", "c"))
    ]
    table = pl.DataFrame({"query_id": [f"q{at}" for at in range(25)], "s": ["x", "y"] * 12 + ["x"]})
    for ours, theirs in (("holm", "holm"), ("bh", "fdr_bh")):
        options = ComparisonOptions(correction=ours)
        frame = compare_scores(runs[0], runs[1:], slicing=Slicing(table), options=options).to_polars()
        assert len(frame) == 2 * 2 * 3
        assert frame["corrected_p"].to_list() == approx(multipletests(frame["p"].to_list(), method=theirs)[1])
    pairs = compare_all_pairs(runs)
    assert pairs.pairs == (("old", "b"), ("old", "c"), ("b", "c"))
    assert (pairs.family, len(pairs.differences)) == (6, 6)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from("xy")), min_size=2, max_size=15),
    st.randoms(),
)
def test_a_comparison_is_what_a_loop_finds(drawn: list[tuple[int, int, str]], random: Any) -> None:
    """Wins, ties, losses, means and n by slice, naively; turning the sides turns the sign and leaves p."""
    queries = [f"q{at:02}" for at in range(len(drawn))]
    old = {query: before / 4 for query, (before, _, _) in zip(queries, drawn, strict=True)}
    new = {query: after / 4 for query, (_, after, _) in zip(queries, drawn, strict=True)}
    shuffled = list(new.items())
    random.shuffle(shuffled)
    slicing = Slicing(pl.DataFrame({"query_id": queries, "s": [part for _, _, part in drawn]}))
    options = ComparisonOptions.of(resamples=100)
    sides = scored("old", {"RR": old}), scored("new", {"RR": dict(shuffled)})
    there = compare_scores(sides[0], [sides[1]], slicing=slicing, options=options)
    back = compare_scores(sides[1], [sides[0]], slicing=slicing, options=options)
    for found, turned in zip(there.differences, sorted(back.differences, key=order(there)), strict=True):
        kept = [(a, b) for a, b, part in drawn if found.slice in ("all", f"s={part}")]
        assert found.n == len(kept)
        assert found.difference == approx(sum(b - a for a, b in kept) / 4 / len(kept))
        assert (found.wins, found.losses) == (sum(b > a for a, b in kept), sum(b < a for a, b in kept))
        assert found.wins + found.ties + found.losses == found.n
        assert (turned.difference, turned.p.p) == (approx(-found.difference), approx(found.p.p))


def order(comparison: Comparison) -> Any:
    """Sorts differences in the order that another comparison has its slices in."""
    names = [one.slice for one in comparison.differences]
    return lambda one: names.index(one.slice)


QRELS = {"q1": {"a": 2, "b": 1, "n": 0}, "q2": {"c": 1}, "q3": {"d": 1}}
OLD = {"q1": {"n": 3.0, "a": 2.0, "u": 1.0}, "q2": {"c": 1.0}, "q3": {"d": 2.0, "x": 1.0}}
NEW = {"q1": {"a": 3.0, "b": 2.0, "n": 1.0}, "q2": {"x": 2.0, "y": 1.0}, "q3": {"d": 2.0, "x": 1.0}}


def test_flipped_queries_with_both_rankings() -> None:
    """The largest change first, with its kind, and every document of both prefixes with its rank on each side."""
    flips = mp.compare(QRELS, OLD, NEW, ["P@1", "RR@2"]).flips()
    assert [(flip.measure, flip.query, flip.kind) for flip in flips] == [
        ("P@1", "q1", "gained"), ("P@1", "q2", "lost"), ("RR@2", "q2", "lost"), ("RR@2", "q1", "up"),
    ]  # fmt: skip
    gained = flips[0]
    assert (gained.base_value, gained.candidate_value, gained.depth) == (0.0, 1.0, 1)
    assert [(d.document, d.grade, d.base_rank, d.candidate_rank) for d in gained.documents] == [
        ("a", 2, 2, 1), ("n", 0, 1, 3),
    ]  # fmt: skip
    assert [(d.document, d.grade, d.base_rank, d.candidate_rank) for d in flips[2].documents] == [
        ("x", None, None, 1), ("y", None, None, 2), ("c", 1, 1, None),
    ]  # fmt: skip
    assert all(document.moved for flip in flips for document in flip.documents)
    assert len(mp.compare(QRELS, OLD, NEW, ["P@1", "RR@2"]).flips(1)) == 2


def test_flips_of_graded_known_items_show_grades(tmp_path: Path) -> None:
    """What nDCG gains by stands beside its flips, what recall counts beside those of recall."""
    path = tmp_path / "runs.csv"
    path.write_text("run,query_id,expected_id,ranked_ids,grades\nv1,q,A,A;B,A:2;B:1\nv2,q,A,B;A,A:2;B:1\n")
    found = mp.compare(path, k=2)
    grades = {flip.measure: {one.document: one.grade for one in flip.documents} for flip in found.flips()}
    assert grades == {"R@1": {"A": 1, "B": None}, "RR": {"A": 1, "B": None}, "nDCG@2": {"A": 2, "B": 1}}
    assert {one.document: one.grade for one in found.show("q")[0].documents} == {"A": 2, "B": 1}
    assert json.loads(typed("compare", path, "--k", "2", "-o", "json").stdout)["notes"] == []


def test_a_shown_query_has_both_rankings_whole() -> None:
    """--show gives every value of a query, and its documents where they stand on each side."""
    shown = mp.compare(QRELS, OLD, NEW, ["P@1", "RR@3"]).show("q1")[0]
    assert shown.values == {"P@1": (0.0, 1.0), "RR@3": (0.5, 1.0)}
    assert {d.document: (d.base_rank, d.candidate_rank) for d in shown.documents} == {
        "a": (2, 1), "b": (None, 2), "n": (1, 3), "u": (3, None),
    }  # fmt: skip
    with pytest.raises(InputError, match="'q9' is not judged"):
        mp.compare(QRELS, OLD, NEW).show("q9")
    with pytest.raises(InputError, match="no rankings to show"):
        compare_scores(rr("old", 1), [rr("new", 0)]).flips()


def test_rankings_are_shown_in_the_order_that_the_contract_evaluates() -> None:
    """Scores order, whatever the file's lines say; ties go by the contract."""
    run = {"q": {"a": 1.0, "b": 1.0, "c": 5.0}}
    for ties, expected in (("given", "cab"), ("docid_desc", "cba")):
        found = mp.compare({"q": {"a": 1}}, run, {"new": {"q": {"a": 1.0}}}, ["P@3"], set={"ties": ties}).show("q")[0]
        ranked = sorted((d for d in found.documents if d.base_rank), key=lambda d: d.base_rank or 0)
        assert "".join(d.document for d in ranked) == expected


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """QRELS, OLD and NEW as files, and a slice table."""
    folder = tmp_path_factory.mktemp("compare")
    (folder / "qrels").write_text("".join(f"{q} 0 {d} {g}\n" for q, held in QRELS.items() for d, g in held.items()))
    for name, run in (("old", OLD), ("new", NEW)):
        lines = (f"{q} Q0 {d} {i} {s} {name}\n" for q, held in run.items() for i, (d, s) in enumerate(held.items(), 1))
        (folder / name).write_text("".join(lines))
    (folder / "kinds.csv").write_text("query_id,kind\nq1,x\nq2,x\nq3,y\n")
    return folder


def test_the_document_field_by_field(files: Path) -> None:
    """metricpact.comparison/1: inputs with digests, options, family, signatures, differences, flips, shown."""
    printed = typed(
        "compare", files / "qrels", files / "old", files / "new", "P@1", "RR", "--slices", files / "kinds.csv",
        "--show", "q1", "--seed", 7, "--test", "wilcoxon", "--correction", "bh", "-o", "json",
    )  # fmt: skip
    document = json.loads(printed.stdout)
    assert document["schema"] == "metricpact.comparison/1"
    assert [run["tag"] for run in document["inputs"]["runs"]] == ["old", "new"]
    assert all(len(run["sha256"]) == 64 for run in [document["inputs"]["qrels"], *document["inputs"]["runs"]])
    options = {name: document["options"][name] for name in ("test", "correction", "alpha", "power")}
    assert options == {"test": "wilcoxon", "correction": "bh", "alpha": 0.05, "power": 0.8}
    assert document["options"]["intervals"]["seed"] == 7
    assert document["family"] == len(document["differences"]) == 6
    first = document["differences"][0]
    assert (first["base"], first["candidate"]) == (str(files / "old"), str(files / "new"))
    assert (first["slice"], first["measure"], first["n"], first["base_mean"]) == ("all", "P@1", 3, approx(2 / 3))
    assert first["interval"]["method"] == "newcombe"
    assert document["signatures"][str(files / "old")]["P@1"].startswith("P@1|chapter/1||")
    assert [one["query"] for one in document["shown"]] == ["q1"]


def test_the_table_says_what_it_rests_on(files: Path) -> None:
    """Test, correction with the size of its family, intervals with method and seed, detectable difference, base."""
    table = typed(
        "compare", files / "qrels", files / "old", files / "new", "P@1", "AP", "--show", "q1", "-o", "table"
    ).stdout
    assert (
        "two-sided randomisation test (exact sign flips), Holm's correction over a family of 2 tests, alpha 0.05"
        in table
    )
    assert "Newcombe's paired score interval for P@1; BCa bootstrap over all resamples for AP" in table
    assert "detectable: the true difference that is found with power 0.8 at alpha / 2" in table
    assert f"base {files / 'old'}; differences are candidate − base" in table
    assert re.search(r"P@1\s+3\s+0\.6667\s+0\.6667\s+\+0\.0000\s+\[\S+, \S+\]\s+1/1/1\s+1\.0000\s+1\.0000", table)
    assert re.search(r"P@1\s+q1\s+gained\s+0\.0000\s+1\.0000\s+a\(2\) 2→1, n\(0\) 1→3", table)
    assert re.search(r"1\s+n\s+0\s+3\s+a\s+2\s+2", table)


def test_every_format(files: Path) -> None:
    """jsonl, csv and markdown hold the same differences."""
    arguments = ("compare", files / "qrels", files / "old", files / "new", "P@1", "--slices", files / "kinds.csv")
    rows = [json.loads(line) for line in typed(*arguments, "-o", "jsonl").stdout.splitlines()]
    held = pl.read_csv(typed(*arguments, "-o", "csv").stdout.encode())
    assert [row["slice"] for row in rows] == held["slice"].to_list() == ["all", "kind=x", "kind=y"]
    assert [row["difference"] for row in rows] == held["difference"].to_list()
    assert "| kind=y | P@1 | 1 |" in typed(*arguments, "-o", "markdown").stdout


def test_a_known_item_table_compares_its_runs() -> None:
    """The ten questions: ten cannot resolve .60 to .90, and NONE questions are said to stand apart."""
    printed = typed("compare", EXAMPLE, "--k", 3, "-o", "json")
    found = json.loads(printed.stdout)["differences"]
    first = found[0]
    assert (first["base"], first["candidate"], first["base_mean"], first["candidate_mean"]) == ("v1", "v2", 0.6, 0.9)
    assert (first["wins"], first["losses"], first["p"]["p"], first["verdict"]) == (
        3,
        0,
        0.25,
        "cannot resolve at this n",
    )
    assert {one["slice"] for one in found} == {"all", "language=en", "language=fr", "paraphrase=no", "paraphrase=yes"}
    assert "5 NONE questions take no part: metricpact slices scores them" in printed.stderr
    same = mp.compare(str(EXAMPLE), k=3)
    assert [one.difference for one in same.differences] == [one["difference"] for one in found]


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        (("QRELS", "old"), "two runs are needed"),
        (("QRELS", "old", "old"), "is named twice"),
        (("QRELS", "old", "nowhere"), "there is no such file"),
        (("QRELS", "old", "new", "nDCG10"), "nDCG10"),
        (("QRELS", "old", "new", "--alpha", "0"), "alpha 0.0 is not between 0 and 1"),
        (("QRELS", "old", "new", "--power", "1.2"), "power 1.2 is not between"),
        (("QRELS", "old", "new", "--test", "sign"), "'sign' is not one of"),
        (("QRELS", "old", "new", "--by", "kind"), "--by and --cross choose columns of a table"),
        (("QRELS", "old", "new", "--k", "3"), "--k belongs to the default measures"),
        (("QRELS", "old", "new", "--show", "q9"), "query 'q9' is not judged"),
        (("QRELS", "old", "new", "--slices", "old"), "there is no column 'query_id'"),
        (("QRELS", "-", "-"), "standard input (-) can be read once only"),
        (("QRELS",), "there is no column"),
    ],
    ids=str,
)
def test_wrong_lines_are_refused(arguments: tuple[str, ...], fact: str, files: Path) -> None:
    """Wrong runs, options and columns end with exit code 2, a fact, and nothing on standard output."""
    paths = [str(files / "qrels") if a == "QRELS" else str(files / a) if a in ("old", "new") else a for a in arguments]
    printed = typed("compare", *paths, code=2)
    assert fact in printed.stderr
    assert printed.stdout == ""


def test_refusals_in_python() -> None:
    """No candidate, one name twice, a measure that a run has not, unknown options."""
    old, new = rr("old", 1), rr("new", 1)
    with pytest.raises(InputError, match="nothing to compare"):
        compare_scores(old, [])
    with pytest.raises(InputError, match="nothing to compare"):
        compare_all_pairs([old])
    with pytest.raises(InputError, match="two runs are called 'old'"):
        compare_scores(old, [rr("old", 0)])
    with pytest.raises(MeasureError, match="has no values of P@1"):
        compare_scores(old, [new], measures=["P@1"])
    for option in ("test", "correction"):
        with pytest.raises(ContractError, match="choose from"):
            ComparisonOptions(**{option: "guess"})
    with pytest.raises(ContractError, match="no slice table"):
        mp.compare(QRELS, OLD, NEW, by=["kind"])


covid = pytest.mark.skipif(not COVID.is_dir(), reason="../shared/data/trec_covid_r1 is not there")


@covid
def test_all_pairs_of_the_covid_runs() -> None:
    """24 runs, two of them only with rank_conflict=ignore, which the message says; 276 pairs in one family."""
    qrels = mp.read_qrels(COVID / "qrels/qrels-rnd1.txt")
    runs = {path.name: mp.read_run(path) for path in sorted((COVID / "runs").iterdir())}
    refused = []
    for name, run in runs.items():
        try:
            mp.score(qrels, run, "P@10")
        except InputError as error:
            assert "--set rank_conflict=ignore" in error.hint
            refused.append(name)
    assert refused == ["ERST_QUESTION", "sheikh_bm25_all"]
    scores = [
        ScoredRun.from_scores(name, mp.score(qrels, run, ["P@10", "nDCG@10"], set={"rank_conflict": "ignore"}))
        for name, run in runs.items()
    ]
    found = compare_all_pairs(scores)
    assert (len(found.pairs), found.family) == (276, 552)
    frame = found.to_polars()
    assert frame["n"].unique().to_list() == [30]
    # A pair's difference of means is the difference of the two runs' means.
    means = {run.name: float(np.mean(run.column("P@10").values)) for run in scores}
    p10 = frame.filter(pl.col("measure") == "P@10")
    assert p10["difference"].to_list() == approx(
        [means[b] - means[a] for a, b in p10.select("base", "candidate").rows()]
    )
    assert frame["corrected_p"].to_list() == approx(multipletests(frame["p"].to_list(), method="holm")[1], abs=1e-12)
    by_p = frame.sort("p")["corrected_p"].to_list()
    assert all(before <= after for before, after in pairwise(by_p))


@covid
def test_the_command_says_how_to_read_a_run_with_a_rank_conflict() -> None:
    """ERST_QUESTION is refused with its line, and the option that takes it."""
    paths = [COVID / "qrels/qrels-rnd1.txt", COVID / "runs/BERT", COVID / "runs/ERST_QUESTION"]
    assert "ERST_QUESTION:94: rank column contradicts the scores" in typed("compare", *paths, "P@5", code=2).stderr
    found = json.loads(typed("compare", *paths, "P@5", "--set", "rank_conflict=ignore", "-o", "json").stdout)
    assert found["differences"][0]["n"] == 30


def test_runs_of_a_known_item_table_are_chosen_by_name() -> None:
    """v2 as the base of v1: the differences change sign; a run that the table lacks is refused with those it has."""
    table = "front/example/slices/known_items.csv"
    forth, back = (
        json.loads(typed("compare", table, *names, "R@1", "--quiet", "-o", "json").stdout)["differences"][0]
        for names in (("v1", "v2"), ("v2", "v1"))
    )
    assert (forth["candidate"], back["candidate"]) == ("v2", "v1")
    assert forth["difference"] == -back["difference"] == pytest.approx(0.3)
    refused = typed("compare", table, "v1", "v9", code=2).stderr
    assert "there is no run 'v9'" in refused and "v1, v2" in refused
    assert "has its own slices" in typed("compare", table, "v1", "v2", "--slices", table, code=2).stderr
