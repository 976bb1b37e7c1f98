"""Which contracts give a published number: reading numbers, the candidates, the search, and the command."""

from __future__ import annotations

import contextlib
import csv
import json
import math
import random
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import metricpact as mp
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metricpact.bridges.evaluate import KeptPrefixes, evaluate
from metricpact.contracts.contract import FIELDS
from metricpact.contracts.errors import InputError, MetricpactError
from metricpact.contracts.measures import parse_measure
from metricpact.contracts.profiles import load_profile, profile_names
from metricpact.crosscheck.audit.infer import Target, infer
from metricpact.crosscheck.audit.infer_gain import GainRange
from metricpact.crosscheck.audit.neighbours import Candidate, candidates, look_at, meaning, rarity, usage
from metricpact.crosscheck.audit.published import read_published

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
COVID = DATA / "trec_covid_r1" / "round1"
with_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="the published files (../shared/data beside the repository) are not here"
)


# ---------------------------------------------------------------- numbers as published


@pytest.mark.parametrize(
    ("written", "least", "greatest"),
    [
        ("0.44", "0.435", "0.445"),
        ("0.440", "0.4395", "0.4405"),
        (".4973", "0.49725", "0.49735"),
        ("44 %", "0.435", "0.445"),
        ("44.1%", "0.4405", "0.4415"),
        ("4.4e-1", "0.435", "0.445"),
        ("1", "1", "1"),
        (0, "0", "0"),
        ("44e-2", "0.435", "0.445"),
        ("100%", "0.995", "1.005"),
        ("1.0", "0.95", "1.05"),
        (0.44, "0.435", "0.445"),
        (Decimal("0.60"), "0.595", "0.605"),
        ("21/43", "21/43", "21/43"),
        ("1 + 3/2", "5/2", "5/2"),
        ("21/(21+16)", "21/37", "21/37"),
        (Fraction(5, 6), "5/6", "5/6"),
    ],
)
def test_a_published_number_stands_for_an_interval(written: Any, least: str, greatest: str) -> None:
    """Decimals are closed intervals by their last digit, trailing zeros count, calculations are exact."""
    number = read_published(written)
    spare = Fraction(1, 10**9)
    assert (number.low, number.high) == (Fraction(least) - spare, Fraction(greatest) + spare)
    assert number.holds(Fraction(least)) and number.holds(Fraction(greatest))
    assert not number.holds(Fraction(greatest) + 2 * spare)
    assert str(number) == str(written)


def test_the_ideal_of_the_chapter_is_a_calculation() -> None:
    """3 + 1/log2(3) is the number it says."""
    assert read_published("3 + 1/log2(3)").holds(3 + 1 / math.log2(3))
    assert not read_published("3 + 1/log2(3)").holds(3.6309)


@pytest.mark.parametrize("places", [2, 3, 4])
@given(value=st.fractions(0, 1))
@settings(max_examples=60, derandomize=True, deadline=None)
def test_however_a_value_is_rounded_its_text_holds_it(value: Fraction, places: int) -> None:
    """Python's rounding, truncation of the half, or away from it: the closed interval holds the value."""
    for rounded in {Fraction(round(value, places)), Fraction(int(value * 10**places + Fraction(1, 2)), 10**places)}:
        text = f"{float(rounded):.{places}f}"
        assert read_published(text).holds(value)
        assert read_published(text).distance(value) == 0
        assert not read_published(text).holds(value + Fraction(2, 10**places))


@pytest.mark.parametrize(
    "written",
    ["", "x", "nan", "inf", "1e999", "9**9", "__import__('os')", "log2(0)", "1/0", True, None, [1], "0x1", "1_0"],
)
def test_what_is_no_number_is_refused(written: Any) -> None:
    """Never a guess: what is no finite decimal and no calculation is an error with a hint."""
    with pytest.raises(InputError) as caught:
        read_published(written)
    assert caught.value.hint


def test_a_decimal_comma_is_told() -> None:
    """0,44 is refused with what to write."""
    with pytest.raises(InputError) as caught:
        read_published("0,44")
    assert caught.value.hint.endswith("0.44")


def test_undefined_holds_nothing_but_undefined() -> None:
    """An undefined value is a value that can be published."""
    number = read_published("undefined")
    assert number.holds(None) and not number.holds(0.0)
    assert math.isinf(number.distance(0.0)) and math.isinf(read_published("0.1").distance(None))


# ---------------------------------------------------------------- candidates


def random_input(seed: int, *, queries: int = 4, documents: int = 6) -> tuple[dict[str, Any], dict[str, Any]]:
    """Judgments with grades 0 to 2, and a run with ties, missing and extra queries."""
    chance = random.Random(seed)
    names = [f"d{number}" for number in range(documents)]
    judged = {
        f"q{number}": {name: chance.choice((0, 0, 1, 2)) for name in chance.sample(names, 4)}
        for number in range(queries)
    }
    returned = {
        f"q{number}": {name: float(chance.randint(1, 5)) for name in chance.sample(names, chance.randint(1, 6))}
        for number in range(1, queries + 1)
    }
    return judged, returned


def by_query(judged: Any, returned: Any, measures: list[Any], candidate: Candidate) -> list[Any]:
    """All values and means under a candidate, or the kind of error."""
    try:
        scores = evaluate(mp.read_qrels(judged), mp.read_run(returned), measures, candidate.profile, "reference")
    except MetricpactError as error:
        return [type(error)]
    rounded = [
        [None if value is None else round(value, 10) for value in scores.by_query(one).values()] for one in measures
    ]
    means = [(scores.mean[str(one)].n, scores.mean[str(one)].value) for one in measures]
    return [rounded, [(n, None if mean is None else round(mean, 10)) for n, mean in means]]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("names", [["nDCG@3", "AP"], ["R@2", "RR"], ["Judged@2", "P@2"]])
def test_candidates_that_mean_the_same_give_the_same(names: list[str], seed: int) -> None:
    """Contracts put together before anything is scored differ in nothing on the data, value by value."""
    judged, returned = random_input(seed)
    measures = [parse_measure(name) for name in names]
    inert = look_at(mp.read_qrels(judged), mp.read_run(returned))
    together = [same for same in candidates(measures, inert, changes=1) if len(same) > 1]
    assert together
    for first, *rest in together[:40]:
        expected = by_query(judged, returned, measures, first)
        for other in rest[:3]:
            assert by_query(judged, returned, measures, other) == expected, (first.label, other.label)


def test_fields_about_what_is_not_there_are_named_and_not_varied() -> None:
    """No ties, no ranks, no negative grade …: the fields are told with the reason, and no candidate changes them."""
    inert = look_at(mp.read_qrels({"q": {"A": 1, "B": 2}}), mp.read_run({"q": {"A": 2.0, "B": 1.0}}))
    assert set(inert.fields) == {
        "duplicate", "self_match", "negative_grade", "extra_query", "queries", "rank_conflict", "ties", "score_width",
    }  # fmt: skip
    changed = {
        name for same in candidates([parse_measure("AP")], inert, changes=2) for one in same for name in one.changes
    }
    assert changed & set(inert.fields) == set()
    assert {"order", "threshold", "ap_denominator", "unjudged", "undefined"} <= changed
    assert inert.thresholds == (1, 2)


def test_what_is_there_is_noticed() -> None:
    """Ties, ties of single precision only, negative grades, missing and extra queries, self matches, ranks."""
    judged = mp.read_qrels({"q": {"A": -1, "B": 2}, "r": {"A": 1}})
    run = mp.read_run({"q": {"A": 1.0, "B": 1.00000001, "q": 0.5}, "s": {"A": 1.0}})
    assert set(look_at(judged, run).fields) == {"duplicate", "rank_conflict"}


def test_fields_of_other_measures_are_not_varied() -> None:
    """Gain is nothing to precision, and the cutoff's denominators are nothing to an uncut measure."""
    inert = look_at(mp.read_qrels({"q": {"A": 1}}), mp.read_run({"q": ["A"]}))
    chapter = load_profile("chapter")
    for measure, never in (("P@5", {"gain", "ideal", "discount", "recall_denominator"}), ("RR", {"ap_denominator"})):
        every = [
            one for same in candidates([parse_measure(measure)], inert, changes=1, first=[chapter]) for one in same
        ]
        assert {name for one in every for name in one.changes} & never == set()


def test_the_usual_comes_first() -> None:
    """A value that more libraries hold is the more usual change; fewer changes come before more."""
    usual = usage()
    assert usual["gain", "linear"] > usual.get(("gain", "exponential"), 0) - 3
    chapter = load_profile("chapter")
    one, two = Candidate(chapter, {"gain": "linear"}), Candidate(chapter, {"discount": "jk"})
    both = Candidate(chapter, {"gain": "linear", "undefined": "zero"})
    assert usual.get(("discount", "jk"), 0) < usual["gain", "linear"]
    assert sorted([both, two, one], key=lambda each: rarity(each, usual)) == [one, two, both]


def test_kept_prefixes_are_the_same_prefixes() -> None:
    """Scoring many contracts with kept prefixes gives what each gives alone, also after some were let go."""
    judged, returned = random_input(7)
    qrels, run = mp.read_qrels(judged), mp.read_run(returned)
    kept = KeptPrefixes()
    measures = ["nDCG@3", "AP", "P@2"]
    fresh = {}
    for name in profile_names():
        with contextlib.suppress(InputError):  # a profile may refuse ties, or extra queries
            fresh[name] = evaluate(qrels, run, measures, name, "reference").to_polars()
    assert len(fresh) > 5
    for name in [*fresh, *reversed(fresh)]:
        assert evaluate(qrels, run, measures, name, "reference", kept=kept).to_polars().equals(fresh[name])
    strict = load_profile("chapter").with_fields({"ties": "error"})
    told = []
    for _ in range(2):  # what was refused once is refused again, in the same words
        with pytest.raises(InputError, match="same score") as refused:
            evaluate(qrels, run, measures, strict, "reference", kept=kept)
        told.append(str(refused.value))
    assert told[0] == told[1]
    other_qrels, other_run = (one({"q": {"A": 1}}) for one in (mp.read_qrels, mp.read_run))
    assert evaluate(other_qrels, other_run, ["P@1"], "chapter", "reference", kept=kept).mean["P@1"] == 1


# ---------------------------------------------------------------- the search


@pytest.mark.parametrize(
    ("changes", "measure"),
    [
        ({}, "nDCG@3"),
        ({"gain": "linear"}, "nDCG@3"),
        ({"ideal": "returned", "discount": "jk"}, "nDCG@3"),
        ({"threshold": 2}, "AP"),
        ({"ap_denominator": "hits", "undefined": "zero"}, "AP@3"),
        ({"ties": "average"}, "RR"),
        ({"queries": "answered", "unjudged": "removed"}, "R@2"),
        ({"undefined": "skip", "threshold": 2}, "nDCG@3"),
        ({"precision_denominator": "returned"}, "P@5"),
        ({"extra_query": "zero"}, "P@1"),
    ],
)
def test_a_planted_contract_is_found(changes: dict[str, Any], measure: str) -> None:
    """A mean made under a neighbour of the chapter is found with that neighbour, or what gives the same values."""
    judged, returned = random_input(11, queries=8)
    made = mp.score(judged, returned, [measure], set=changes, backend="reference")
    found = mp.infer(judged, returned, {measure: f"{made.mean[measure].value:.9f}"}).found
    fingerprints = [list(map(str, (finding.labels))) for finding in found]
    label = "chapter" if not changes else "chapter with "
    wanted = {f"{name}={value}" for name, value in changes.items()}
    good = [
        text for labels in fingerprints for text in labels
        if text.startswith(label) and wanted == set(filter(None, text.partition(" with ")[2].split(", ")))
    ]  # fmt: skip
    # The planted one may be written as another candidate that means the same: then a finding has its values.
    same = [
        finding
        for finding in found
        if finding.first.gives[Target(parse_measure(measure))] == pytest.approx(made.mean[measure].value, abs=1e-12)
        and finding.first.counts[parse_measure(measure)] == made.mean[measure].n
    ]
    assert good or same
    assert found[0].first.candidate.changes == {} or len(found[0].first.candidate.changes) <= max(len(changes), 1)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["nDCG@3", "AP@3", "R@2", "RR"])
def test_the_oracle_agrees_on_what_gives_a_number_and_what_does_not(name: str, seed: int) -> None:
    """Of all single changes of the chapter, exactly those are found under which the oracle has the published mean."""
    judged, returned = random_input(seed + 20)
    family, _, cutoff = name.partition("@")
    asked = oracle.Asked(family, int(cutoff) if cutoff else None)
    judgments = [(query, doc, grade) for query, docs in judged.items() for doc, grade in docs.items()]
    run = [(query, doc, score, None) for query, docs in returned.items() for doc, score in docs.items()]

    def mean(changes: Any) -> Any:
        try:
            return oracle.score(judgments, run, [asked], {**oracle.CHAPTER, **changes})[asked].mean.value
        except oracle.OracleError:
            return None

    values = {field: [*known.values, *([0, 1, 2] if field == "threshold" else [])] for field, known in FIELDS.items()}
    single = [{field: value} for field, listed in values.items() for value in listed if value != oracle.CHAPTER[field]]
    means = [mean(changes) for changes in single]
    published = next((one for one in means if one is not None and one != mean({})), mean({}))
    number = read_published(f"{float(published):.7f}")
    found = mp.infer(judged, returned, {name: number}, changes=1).found
    told = {
        str(one.changes) for finding in found for outcome in finding.outcomes
        for one in (outcome.candidate, *outcome.aliases) if one.base.name == "chapter"
    }  # fmt: skip
    measure = parse_measure(name)
    chapter, inert = load_profile("chapter"), look_at(mp.read_qrels(judged), mp.read_run(returned))
    given = {
        meaning(finding_one.profile, [measure], inert) for finding in found for outcome in finding.outcomes
        for finding_one in (outcome.candidate, *outcome.aliases)
    }  # fmt: skip
    for changes, value in zip(single, means, strict=True):
        if "error" in changes.values() or set(changes) & set(inert.fields):
            continue
        gives = value is not None and number.holds(float(value))
        is_found = str(changes) in told or meaning(chapter.with_fields(changes), [measure], inert) in given
        assert is_found == gives, changes


def test_values_of_single_queries_can_be_searched_too() -> None:
    """Two per-query values that only linear gain gives."""
    judged = {"q": {"A": 2, "B": 1}, "r": {"A": 1, "B": 2}}
    run = {"q": ["B", "A"], "r": ["A", "B"]}
    measure = parse_measure("nDCG@2")
    asked = {Target(measure, "q"): "0.8597", Target(measure, "r"): "0.8597"}
    found = infer(mp.read_qrels(judged), mp.read_run(run), asked).found
    assert "chapter with gain=linear" in found[0].labels or "trec_eval-9.0.8" in found[0].profiles
    with pytest.raises(InputError, match="is not judged"):
        infer(mp.read_qrels(judged), mp.read_run(run), {Target(measure, "x"): "0.1"})


def test_candidates_with_the_same_values_are_one_finding() -> None:
    """On a ranking without unjudged documents, removing them changes nothing: told, not hidden."""
    found = mp.infer({"q": {"A": 2, "B": 1, "N": 0}}, {"q": {"B": 3.0, "N": 2.0, "A": 1.0}}, {"AP": "5/6"}).found
    assert len(found) == 1
    assert found[0].untold["unjudged"] == ["removed"]
    assert "chapter" in found[0].profiles and "trec_eval-9.0.8" in found[0].profiles


def test_the_gain_ratio_that_would_give_092_is_told() -> None:
    """[grade 1, grade 2] gives 0.92 with a ratio that solves (1 + c r) / (r + c) = 0.925 and 0.915, c = 1/log2 3."""
    found = mp.infer({"q": {"A": 2, "B": 1}}, {"q": ["B", "A"]}, {"nDCG@10": "0.92"})
    assert found.found == []
    c = 1 / math.log2(3)
    least, greatest = ((1 - bound * c) / (bound - c) for bound in (0.925, 0.915))
    chapter = next(one for one in found.gains if one.profile == "chapter")
    assert (chapter.least, chapter.greatest) == (pytest.approx(least, abs=1e-6), pytest.approx(greatest, abs=1e-6))
    assert str(chapter) == "gain(2)/gain(1) between 1.41 and 1.49"
    binary = GainRange("chapter", parse_measure("nDCG"), 1, 2, 0.9818, 1.1148)
    assert str(binary) == "gain(2)/gain(1) between 0.98 and 1.12, so also with binary gains"


@pytest.mark.parametrize(
    ("grades", "note"),
    [
        ({"A": 1, "B": 1}, "judged are one positive grade: no gain changes nDCG"),
        ({"A": 1, "B": 2, "C": 3}, "more than one ratio of gains is free, so none is told"),
        ({"A": 2, "B": 1}, "no ratio gain(2)/gain(1) up to 64 gives it"),
    ],
)
def test_where_no_ratio_can_be_told_the_reason_is(grades: dict[str, int], note: str) -> None:
    """One grade, three grades, or a number out of reach."""
    found = mp.infer({"q": grades}, {"q": ["A", "B"]}, {"nDCG@2": "0.123"})
    assert found.gains == [] and found.gains_note.endswith(note)


def test_a_run_that_contradicts_its_ranks_needs_a_contract_that_does_not_look(tmp_path: Path) -> None:
    """What refuses the data is counted with its reason; contracts that take it are found all the same."""
    (tmp_path / "run").write_text("q Q0 A 2 9 t\nq Q0 B 1 8 t\n")
    found = mp.infer({"q": {"A": 1}}, tmp_path / "run", {"RR": "1"}, changes=1)
    assert any("rank column contradicts the scores" in reason for reason in found.rejected)
    assert "chapter with rank_conflict=ignore" in found.found[0].labels
    assert "chapter" not in found.found[0].profiles and "trec_eval-9.0.8-c" in found.found[0].profiles


@pytest.mark.parametrize("changes", [3, -1, "1", True])
def test_more_changes_than_two_are_refused(changes: Any) -> None:
    """Three fields changed explain anything."""
    with pytest.raises(InputError, match="not 0, 1 or 2"):
        mp.infer({"q": {"A": 1}}, {"q": ["A"]}, {"RR": 1}, changes=changes)


def test_fractional_grades_are_searched_under_a_table_that_lists_them() -> None:
    """Every contract with a gain by its name refuses them; the given one takes them, and is found."""
    qrels, run = {"q": {"A": 1.5, "B": 1}}, {"q": ["B", "A"]}
    with pytest.raises(InputError, match=r"grade 1\.5 is not an integer"):
        mp.infer(qrels, run, {"nDCG@2": ".86"})
    judgments, ranked = mp.read_qrels(qrels), mp.read_run(run)
    own = load_profile("chapter").with_fields({"gain": {1: 1, 1.5: 2}})
    found = infer(judgments, ranked, {"nDCG@2": "0.8597"}, first=[own]).found
    # By hand: (1 + 2/log2(3)) / (2 + 1/log2(3)).
    assert found[0].first.candidate.base == own and not found[0].first.candidate.changes
    assert found[0].first.gives[Target(parse_measure("nDCG@2"))] == pytest.approx(0.859719, abs=1e-6)


def test_data_that_every_contract_refuses_is_an_error() -> None:
    """Labels that do not match are nothing that a contract could settle."""
    with pytest.raises(InputError, match="mismatched labels"):
        mp.infer({"q": {"A": 1}}, {"Q": ["A"]}, {"RR": "1"})


@pytest.mark.parametrize(
    ("published", "fact"),
    [
        ({"nDCG@10": "49.73"}, "at most 1"),
        ({"nDCG@10": "-0.2"}, "no measure is negative"),
        ({"nDCG@10": "0.1", "ndcg_cut_10": "0.1"}, "given twice"),
        ({}, "no number to reproduce"),
        (["nDCG@10"], "gives no measure a number"),
        ({"ndgc@10": "0.1"}, "is not a measure"),
    ],
)
def test_numbers_that_no_contract_can_give_are_refused(published: Any, fact: str) -> None:
    """Before any search, with a hint."""
    with pytest.raises(MetricpactError, match=fact):
        mp.infer({"q": {"A": 1}}, {"q": ["A"]}, published)


def test_nothing_of_the_users_is_changed() -> None:
    """The dicts that are passed in stay as they are."""
    judged, returned = random_input(3)
    before = json.dumps([judged, returned])
    mp.infer(judged, returned, {"AP": "0.5"}, changes=1)
    assert json.dumps([judged, returned]) == before


# ---------------------------------------------------------------- published files


@with_data
def test_the_profile_behind_every_row_of_the_trec_covid_leaderboard() -> None:
    """All four means of all 24 runs of round 1 come from trec_eval's profile with all judged topics."""
    with (COVID / "leaderboard.csv").open(newline="") as file:
        rows = {row["run"]: row for row in csv.DictReader(file)}
    qrels, compared = mp.read_qrels(COVID / "qrels" / "qrels-rnd1.txt"), []
    for path in sorted((COVID / "runs").iterdir()):
        row = rows[path.name]
        published = {"nDCG@10": row["ndcg@10"], "P@5": row["p@5"], "Bpref": row["bpref"], "AP": row["MAP"]}
        found = mp.infer(qrels, path, published, changes=0)
        compared.append((path.name, any("trec_eval-9.0.8-c" in finding.profiles for finding in found.found)))
    assert len(compared) == 24
    assert [name for name, good in compared if not good] == []


@with_data
@pytest.mark.parametrize("name", ["ERST_QUESTION", "sheikh_bm25_all"])
def test_two_runs_need_the_ranks_ignored(name: str) -> None:
    """From the chapter, these runs take rank_conflict=ignore and linear gain; without the first they are refused."""
    with (COVID / "leaderboard.csv").open(newline="") as file:
        row = next(row for row in csv.DictReader(file) if row["run"] == name)
    found = mp.infer(COVID / "qrels" / "qrels-rnd1.txt", COVID / "runs" / name, {"nDCG@10": row["ndcg@10"]})
    labels = [label for finding in found.found for label in finding.labels]
    profiles = [name for finding in found.found for name in finding.profiles]
    assert "trec_eval-9.0.8-c" in profiles
    assert "chapter" not in profiles and not any(label == "chapter with gain=linear" for label in labels)
    assert any("rank column contradicts the scores" in reason for reason in found.rejected)


@with_data
def test_the_profile_behind_the_dl_2019_numbers() -> None:
    """nDCG@10 .4973 is linear gain and not the chapter's; MAP .3766 is both."""
    folder = DATA / "tilde_dl19" / "data"
    files = folder / "qrels" / "2019qrels-pass.txt", folder / "runs" / "run.trec2019-bm25.res"
    ndcg, ap = (mp.infer(*files, {name: value}) for name, value in (("nDCG@10", ".4973"), ("AP", ".3766")))
    assert "trec_eval-9.0.8-c" in ndcg.found[0].profiles
    assert all("chapter" not in finding.profiles for finding in ndcg.found)
    assert any({"chapter", "trec_eval-9.0.8-c"} <= set(finding.profiles) for finding in ap.found)


@with_data
def test_3387_is_of_the_raw_codes_and_of_nothing_else() -> None:
    """Cranfield's codes as grades give nDCG@10 .3387 under trec_eval; from the graded judgments nothing gives it."""
    folder = DATA / "bm25_runs"
    run = folder / "cranfield.bm25s-A.run"
    raw = mp.infer(folder / "cranfield.rawcodes.qrels", run, {"nDCG@10": ".3387"}, changes=0)
    assert any("trec_eval-9.0.8-c" in finding.profiles for finding in raw.found)
    graded = mp.infer(folder / "cranfield.graded.qrels", run, {"nDCG@10": ".3387"})
    assert graded.found == [] and len(graded.nearest) == 5
    distances = [abs(finding.first.gives[Target(parse_measure("nDCG@10"))] or 0 - 0.3387) for finding in graded.nearest]
    assert min(distances) > 0.00005


# ---------------------------------------------------------------- the command


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with judgments and a run."""
    (tmp_path / "qrels").write_text("q 0 A 2\nq 0 B 1\nq 0 N 0\n")
    (tmp_path / "run").write_text("q Q0 B 1 3 t\nq Q0 U 2 2 t\nq Q0 A 3 1 t\n")
    return tmp_path


def typed(folder: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """The command as a user types it."""
    return subprocess.run(
        [sys.executable, "-m", "metricpact", "infer", *arguments],
        cwd=folder, input=stdin, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_command_tells_what_gives_a_number(files: Path) -> None:
    """The chapter's nDCG of its example: exit 0, the chapter is in the document, with a signature."""
    done = typed(files, "qrels", "run", "nDCG@3=.68853", "-o", "json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document["schema"] == "metricpact.inference/1"
    found = document["found"][0]
    assert "chapter" in [found["contract"], *found["same_values"]]
    (given,) = found["gives"]
    assert (given["measure"], given["n"], given["off_by"]) == ("nDCG@3", 1, 0)
    assert given["signature"].startswith(f"nDCG@3|{found['profile']}/1")
    assert document["inputs"]["qrels"]["sha256"]
    table = typed(files, "qrels", "run", "nDCG@3=.68853", "-o", "table").stdout
    assert "nDCG@3 = .68853: given by" in table and "cannot be told on this data: " in table


def test_the_command_says_what_comes_nearest(files: Path) -> None:
    """Nothing gives it: exit 1, a note, and the nearest with its distance; every format has it."""
    done = typed(files, "qrels", "run", "nDCG@3=.123", "AP@3=.2", "-o", "json")
    assert done.returncode == 1 and done.stderr.startswith("note: none of ")
    document = json.loads(done.stdout)
    assert document["found"] == [] and len(document["nearest"]) == 5
    assert all(one["off_by"] > 0 for one in document["nearest"][0]["gives"])
    for output, marker in (
        ("csv", "found,contract,measure"),
        ("jsonl", '{"record": "nearest"'),
        ("markdown", "### nDCG@3"),
    ):
        told = typed(files, "qrels", "run", "nDCG@3=.123", "--changes", "0", "-o", output, "--quiet")
        assert (told.returncode, told.stderr) == (1, "")
        assert told.stdout.startswith(marker)


def test_standard_input_and_a_contract_of_ones_own(files: Path) -> None:
    """The run may come through a pipe; a contract file is searched first."""
    (files / "ours.toml").write_text('name = "ours"\n[fields]\ndiscount = "jk"\ngain = "linear"\nideal = "returned"\n')
    made = mp.score(files / "qrels", files / "run", ["nDCG@3"], contract=str(files / "ours.toml"), backend="reference")
    number = f"nDCG@3={made.mean['nDCG@3'].value:.9f}"
    piped = typed(files, "qrels", "-", number, "--changes", "0", "--contract", "ours.toml", "-o", "json",
                  stdin=(files / "run").read_text())  # fmt: skip
    assert (piped.returncode, json.loads(piped.stdout)["found"][0]["contract"]) == (0, "ours")


def test_a_contract_of_ones_own_may_list_its_queries() -> None:
    """A list of queries is a mean of its own, also where every judged query is in the run."""
    judged, run = {"q": {"A": 1}, "r": {"A": 1}}, {"q": ["A"], "r": ["B", "A"]}
    ours = load_profile("chapter").with_fields({"queries": ["r"]})
    found = infer(mp.read_qrels(judged), mp.read_run(run), {"RR": "1/2"}, changes=0, first=[ours]).found
    assert [finding.first.counts[parse_measure("RR")] for finding in found] == [1]
    assert infer(mp.read_qrels(judged), mp.read_run(run), {"RR": "3/4"}, changes=0, first=[ours]).found


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["qrels", "run"], "MEASURE=VALUE"),
        (["qrels", "run", "nDCG@3"], "gives no measure a number"),
        (["qrels", "run", "nDCG@3="], "gives no measure a number"),
        (["qrels", "run", "nDCG@3=high"], "'high' is not a number"),
        (["qrels", "run", "nDGC@3=0.1"], "did you mean nDCG@3?"),
        (["qrels", "run", "nDCG@3=68.9"], "write 68.9% for a percentage"),
        (["qrels", "run", "P@3=.1", "P@3=.2"], "P@3 is given twice"),
        (["qrels", "nix", "P@3=.1"], "nix: "),
        (["-", "-", "P@3=.1"], "standard input (-) can be read once only"),
        (["qrels", "run", "P@3=.1", "--changes", "7"], "--changes"),
        (["qrels", "run", "P@3=.1", "--contract", "nix.toml"], "nix.toml"),
        (["empty", "run", "P@3=.1"], "the file is empty"),
        (["qrels", "run", "P@3=.1", "-o", "trec"], "'trec' is not one of"),
    ],
)
def test_wrong_usage_gets_exit_2_and_a_hint(files: Path, arguments: list[str], told: str) -> None:
    """A fact and a hint, and no traceback."""
    (files / "empty").write_text("")
    done = typed(files, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr and "hint: " in done.stderr and "Traceback" not in done.stderr
