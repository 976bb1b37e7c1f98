"""The audit: differences attributed to conventions, orders of runs, queries worked out, tools asked themselves."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import metricpact as mp
import pytest
from metricpact.contracts.contract import FIELDS, Contract
from metricpact.contracts.errors import ContractError, InputError
from metricpact.contracts.measures import parse_measure
from metricpact.contracts.profiles import load_profile
from metricpact.contracts.tables import Judgments, Run
from metricpact.crosscheck.audit.attribution import attribute
from metricpact.crosscheck.audit.native import NativeNumber, native_numbers
from metricpact.crosscheck.audit.sensitivity import OrderChange, best_of, order_changes
from metricpact.crosscheck.audit.variants import Variants

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="needs ../shared/data")
MEASURES = [
    "P@3", "R@3", "RR", "RR@2", "AP@3", "AP", "nDCG@3", "nDCG", "DCG@3", "IDCG@3", "Success@2", "Rprec", "SetP", "SetR",
    "SetF", "Bpref", "Judged@3",
]  # fmt: skip


def tables(qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]) -> tuple[Judgments, Run]:
    """Judgments and a run from dicts, in the order of the dicts."""
    judged = [(q, d, g) for q, docs in qrels.items() for d, g in docs.items()]
    ranked = [(q, d, s) for q, docs in run.items() for d, s in docs.items()]
    columns: list[list[Any]] = [[row[at] for row in judged] for at in range(3)]
    rows: list[list[Any]] = [[row[at] for row in ranked] for at in range(3)]
    return Judgments.from_columns(*columns, empty=list(qrels)), Run.from_columns(*rows, empty=list(run))


def drawn(seed: int) -> tuple[Judgments, Run]:
    """A few queries with ties, unjudged documents, grades to 3, and now and then a missing query."""
    dice = random.Random(seed)
    docs = [f"d{at}" for at in range(8)]
    qrels = {f"q{at}": {d: dice.randint(0, 3) for d in dice.sample(docs, dice.randint(1, 6))} for at in range(4)}
    run = {
        query: {d: dice.choice([3.0, 2.0, 2.00000001, 1.0]) for d in dice.sample(docs, dice.randint(1, 7))}
        for query in list(qrels)[: dice.choice([3, 4])]
    }
    return tables(qrels, run)


def test_two_fields_that_act_through_each_other_are_an_interaction() -> None:
    """Single precision makes the tie that only the tie rule breaks: neither does anything alone."""
    judgments, run = tables({"q": {"A": 1, "B": 0}}, {"q": {"A": 1.00000001, "B": 1.0}})
    both = load_profile(Contract(ties="docid_desc", score_width="float32"))
    found = attribute(Variants(judgments, run), parse_measure("RR"), load_profile("chapter"), both)
    assert (found.total, found.interaction) == (-0.5, -0.5)
    effects = {effect.field: effect for effect in found.effects}
    assert {name: effect.from_here for name, effect in effects.items()} == {"ties": 0.0, "score_width": 0.0}
    assert {name: effect.from_there for name, effect in effects.items()} == {"ties": -0.5, "score_width": -0.5}
    assert [effect.field for effect in found.causes] == ["ties", "score_width"]


@pytest.mark.parametrize("seed", range(4))
def test_the_parts_are_what_scoring_gives_and_add_up(seed: int) -> None:
    """Each effect is the difference of two scores made the ordinary way; effects and interaction are the whole."""
    judgments, run = drawn(seed)
    other = {
        "gain": "linear",
        "ties": "docid_desc",
        "score_width": "float32",
        "undefined": "zero",
        "queries": "answered",
    }
    profile = load_profile("chapter").with_fields(other)
    for name in MEASURES:
        found = attribute(Variants(judgments, run), parse_measure(name), load_profile("chapter"), profile)

        def mean(settings: dict[str, Any], name: str = name) -> float | None:
            value: float | None = mp.score(judgments, run, [name], set=settings, backend="reference").mean[name].value
            return value

        here, there = mean({}), mean(other)
        assert here is not None and there is not None
        assert found.total == pytest.approx(there - here, abs=1e-12)
        for effect in found.effects:
            alone = mean({effect.field: effect.there})
            rest = mean({field: value for field, value in other.items() if field != effect.field})
            assert alone is not None and rest is not None
            assert effect.from_here == pytest.approx(alone - here, abs=1e-12)
            assert effect.from_there == pytest.approx(there - rest, abs=1e-12)
        parts = [effect.from_here for effect in found.effects if effect.from_here is not None]
        assert sum(parts) + (found.interaction or 0.0) == pytest.approx(there - here, abs=1e-12)


def test_the_queries_that_move_most_are_named() -> None:
    """Largest change first; a query that only one side has a value for comes after these."""
    judgments, run = tables(
        {"same": {"A": 1}, "much": {"A": 2, "B": 1}, "less": {"A": 2, "B": 1, "C": 1}, "none": {"A": 0}},
        {"same": {"A": 1.0}, "much": {"B": 2.0, "A": 1.0}, "less": {"B": 3.0, "A": 2.0, "C": 1.0}, "none": {"A": 1.0}},
    )
    profile = load_profile(Contract(gain="linear", undefined="zero"))
    found = attribute(Variants(judgments, run), parse_measure("nDCG"), load_profile("chapter"), profile)
    gain, undefined = found.effects
    assert [one.query for one in gain.moved] == ["much", "less"]
    assert [(one.query, one.here, one.there) for one in undefined.moved] == [("none", None, 0.0)]
    assert [one.query for one in found.moved] == ["much", "less", "none"]


def test_what_a_contract_refuses_is_told_in_the_place_of_its_number() -> None:
    """A negative grade is an error under the chapter and none under trec_eval: no difference is made up."""
    judgments, run = tables({"q": {"A": 1, "B": -1}}, {"q": {"A": 1.0, "B": 2.0}})
    found = mp.audit(judgments, {"ours": run}, ["P@1"], against=["trec_eval-9.0.8"], native=False)
    line = found.runs[0].lines["P@1"][0]
    assert "grade -1 is negative" in found.runs[0].outcomes["P@1"].error
    assert line.attribution.there.value == 0.0
    assert (line.attribution.total, line.attribution.interaction) == (None, None)
    cause = next(effect for effect in line.attribution.effects if effect.field == "negative_grade")
    assert (cause.from_here, cause.from_there) == (None, None)
    assert "is negative" in cause.error


def test_a_refusing_profile_is_blamed_on_what_refuses() -> None:
    """Fields that change nothing are no causes because the profile gives no number to look from."""
    judgments, run = tables({"q": {"A": 1, "B": 0}}, {"q": {"A": 1.0, "B": 1.0}})
    found = mp.audit(judgments, run, ["RR@3"], against=["torchmetrics-1.9"], native=False).runs[0].lines["RR@3"][0]
    assert {"ties", "score_width", "queries"} <= {effect.field for effect in found.attribution.effects}
    assert [effect.field for effect in found.attribution.causes] == ["ties"]


def test_one_profile_and_one_query_need_no_list() -> None:
    """A name is not taken for a list of letters; no number of queries below 1 is shown."""
    judgments, run = tables({"q1": {"A": 1}}, {"q1": {"A": 1.0}})
    found = mp.audit(judgments, run, "RR", against="ranx-0.3.21", queries="q1", native=False)
    assert [line.profile.name for line in found.runs[0].lines["RR"]] == ["ranx-0.3.21"]
    assert {working.query for working in found.workings["run"]} == {"q1"}
    with pytest.raises(ContractError, match="top is 0"):
        mp.audit(judgments, run, "RR", top=0, native=False)


def test_the_best_run_of_several_equal_ones_is_the_first() -> None:
    """Sums in another order are no change of who wins."""
    assert best_of({"a": 0.3, "b": 0.1 + 0.2, "c": 0.2}) == "a"
    assert best_of({"a": 0.3, "b": 0.31}) == "b"


def test_a_rank_column_that_contradicts_the_scores_is_set_aside_and_said() -> None:
    """Only that field is changed, and the signature shows it."""
    judgments = Judgments.from_columns(["q", "q"], ["A", "B"], [1, 0])
    run = Run.from_columns(["q", "q"], ["A", "B"], [1.0, 2.0], [1, 2])
    found = mp.audit(judgments, {"ours": run}, ["RR"], against=["trec_eval-9.0.8-c"], native=False).runs[0]
    assert "rank column contradicts the scores" in found.conflict
    assert found.outcomes["RR"].value == 0.5
    assert found.outcomes["RR"].signature.startswith("RR|chapter/1|rank_conflict=ignore||reference")
    assert found.lines["RR"][0].attribution.total == 0.0


def test_the_order_of_runs_under_another_gain() -> None:
    """One run has the grade 3 first, the other two of grade 2: which is better depends on the gain."""
    qrels = {"q": {"A": 3, "B": 2, "C": 2, "D": 0, "E": 0}}
    high = {"q": {"A": 4.0, "D": 3.0, "E": 2.0}}
    broad = {"q": {"B": 4.0, "C": 3.0, "D": 2.0}}
    variants = {name: Variants(*tables(qrels, run)) for name, run in (("high", high), ("broad", broad))}
    chapter = load_profile("chapter")
    found = order_changes(
        variants, [parse_measure("nDCG@3")], dict.fromkeys(variants, chapter), {parse_measure("nDCG@3"): []}
    )
    by_name = {change.what: change for change in found}
    assert by_name["gain=linear"].flipped == [("high", "broad")]
    assert (by_name["gain=linear"].tau, by_name["gain=linear"].winner) == (-1.0, "broad")
    assert by_name["ties=docid_asc"] == OrderChange(parse_measure("nDCG@3"), "ties=docid_asc", 1.0, [], "high", 0.0)
    assert by_name["order=rank"].tau is None
    assert "no rank column" in by_name["order=rank"].error
    assert not {"threshold=1", "threshold=2", "ap_denominator=hits", "gain=exponential"} & set(by_name)


def test_every_value_of_every_field_that_matters_is_tried_on_the_order() -> None:
    """The sweep is over the closed values, without those that only refuse data."""
    variants = {name: Variants(*drawn(seed)) for seed, name in enumerate("ab")}
    one = Variants(variants["a"].judgments, variants["b"].run)
    found = order_changes(
        {"a": variants["a"], "b": one},
        [parse_measure("R@3")],
        dict.fromkeys("ab", load_profile("chapter")),
        {parse_measure("R@3"): []},
    )
    tried = {change.what.partition("=")[0] for change in found}
    skipped = {"rank_conflict", "duplicate", "extra_query"}
    other_families = {"precision_denominator", "ap_denominator", "gain", "discount", "ideal", "ideal_depth"}
    assert tried == set(FIELDS) - skipped - other_families


@pytest.mark.parametrize("seed", range(2))
def test_a_query_worked_out_ends_in_the_value_that_scoring_gives(seed: int) -> None:
    """For every measure and several contracts: same value, and terms that add up to it where terms are shown."""
    judgments, run = drawn(seed)
    contracts = [
        {},
        {"ties": "average"},
        {"unjudged": "removed", "gain": "linear"},
        {"ties": "docid_asc", "undefined": "one"},
    ]
    for settings in contracts:
        profile = load_profile("chapter").with_fields(settings)
        scores = mp.score(judgments, run, MEASURES, contract=profile, backend="reference")
        for query in scores.queries:
            found = mp.audit(
                judgments, {"r": run}, MEASURES, contract=profile, against=[], queries=[query], native=False
            )
            assert [str(one.measure) for one in found.workings["r"]] == MEASURES
            for working in found.workings["r"]:
                value = scores.by_query(working.measure)[query]
                assert working.value == value
                assert working.lines[-1].startswith(
                    f"{working.measure} = {'undefined' if value is None else format(value, '.6g')}"
                )
                if working.measure.family == "DCG":
                    assert working.rows["term"].sum() == pytest.approx(value, abs=1e-12)
                ranks = working.rows["rank"].to_list() if working.rows.width else []
                assert all(after == before + 1 for before, after in pairwise(ranks))


def test_a_query_that_is_not_judged_cannot_be_worked_out() -> None:
    """The error names the query."""
    judgments, run = drawn(0)
    with pytest.raises(InputError, match="query 'nowhere' is not judged"):
        mp.audit(judgments, run, ["RR"], against=[], queries=["nowhere"], native=False)


def test_a_tool_that_ends_its_process_is_told_measure_by_measure() -> None:
    """What cannot even begin is told too; the audit itself lives."""
    judgments, run = drawn(1)
    found = native_numbers({"pytrec_eval": ["RR", "P@3"]}, judgments, run)["pytrec_eval"]
    expected = mp.score(judgments, run, ["RR", "P@3"], contract="trec_eval-9.0.8", backend="reference").mean
    assert {name: number.mean for name, number in found.items()} == pytest.approx(
        {name: mean.value for name, mean in expected.items()}, abs=1e-12
    )


def test_a_tool_stands_beside_its_profile_only_where_it_has_the_measure() -> None:
    """scikit-learn has no reciprocal rank: unless it is named, no number is given for it; and tools agree here."""
    judgments, run = drawn(1)
    found = mp.audit(judgments, run, ["RR", "nDCG@3"]).runs[0]
    names = {measure: {line.profile.name for line in lines} for measure, lines in found.lines.items()}
    assert "sklearn-1.9" in names["nDCG@3"] and "sklearn-1.9" not in names["RR"]
    natives = {line.profile.name: line for lines in found.lines.values() for line in lines if line.native is not None}
    assert {"ir_measures-0.4.3", "pytrec_eval-0.5.11", "sklearn-1.9"} <= set(natives)
    told = natives["ir_measures-0.4.3"]
    assert told.native is not None and told.native.agrees(told.attribution.there.value)
    named = mp.audit(judgments, run, ["RR"], against=["sklearn-1.9"], native=False).runs[0]
    assert [line.profile.name for line in named.lines["RR"]] == ["sklearn-1.9"]


def test_a_tool_agrees_to_within_its_own_rounding() -> None:
    """BEIR gives five decimals: half of the last one is no disagreement."""
    assert NativeNumber(0.33333, rounding=5e-6).agrees(1 / 3)
    assert NativeNumber(0.33333).agrees(1 / 3) is False
    assert NativeNumber(0.3334, rounding=5e-5).agrees(1 / 3) is False
    assert NativeNumber(None, "refused").agrees(1 / 3) is None


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """``metricpact audit`` as a user types it."""
    return subprocess.run(
        [sys.executable, "-m", "metricpact", "audit", *arguments], capture_output=True, encoding="utf-8", check=False
    )


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str]:
    """A qrels file and two runs."""
    (tmp_path / "qrels.txt").write_text("q 0 A 2\nq 0 B 1\nq 0 N 0\np 0 A 1\n")
    (tmp_path / "one.run").write_text("q Q0 B 1 3 t\nq Q0 U 2 2 t\nq Q0 A 3 1 t\np Q0 A 1 1 t\n")
    (tmp_path / "two.run").write_text("q Q0 N 1 3 t\nq Q0 A 2 2 t\nq Q0 B 3 1 t\n")
    return str(tmp_path / "qrels.txt"), str(tmp_path / "one.run"), str(tmp_path / "two.run")


def test_the_document_of_one_run(files: tuple[str, str, str]) -> None:
    """Values, signatures and effects of every profile; the numbers are the scores'."""
    done = command(*files[:2], "nDCG@3", "--against", "trec_eval-9.0.8-c", "--no-native", "--query", "q")
    document = json.loads(done.stdout)
    assert (done.returncode, done.stderr, document["schema"]) == (0, "", "metricpact.audit/1")
    measure = document["runs"][0]["measures"][0]
    assert measure["value"] == pytest.approx((0.6885288 + 1) / 2, abs=1e-6)
    line = measure["profiles"][0]
    assert (line["profile"], line["n"]) == ("trec_eval-9.0.8-c/1", 2)
    assert line["signature"].startswith("nDCG@3|trec_eval-9.0.8-c/1||reference")
    loud = [effect["field"] for effect in line["fields"] if effect["from_contract"]]
    assert loud == ["gain"]
    assert line["difference"] == line["fields"][[e["field"] for e in line["fields"]].index("gain")]["from_contract"]
    assert [working["under"] for working in document["workings"]] == [["chapter/1"], ["trec_eval-9.0.8-c/1"]]
    assert document["order"] == []


@pytest.mark.parametrize("output", ["table", "jsonl", "csv", "markdown", "json"])
def test_every_output_of_two_runs(files: tuple[str, str, str], output: str) -> None:
    """Two runs in every form."""
    done = command(*files, "nDCG@3", "RR", "--against", "trec_eval-9.0.8", "--no-native", "-o", output)
    assert (done.returncode, done.stderr) == (0, "")
    assert "gain" in done.stdout
    if output == "table":
        assert "does the order of the runs change?" in done.stdout
        assert "the best run is the same under all" in done.stdout


def test_a_refusal_is_told_once(tmp_path: Path) -> None:
    """The table says that a number is refused, a line under it why and what to do; nothing is said of the order."""
    (tmp_path / "qrels.txt").write_text("q 0 A 1\nq 0 B -1\n")
    for name in "ab":
        (tmp_path / name).write_text("q Q0 B 1 2 t\nq Q0 A 2 1 t\n")
    judged, one, other = (str(tmp_path / name) for name in ("qrels.txt", "a", "b"))
    done = command(judged, one, "P@1", "--no-native", "-o", "table")
    assert (done.returncode, done.stderr) == (0, "")
    reason = f"{judged}:2: grade -1 is negative (query 'q', document 'B')"
    told = [line for line in done.stdout.splitlines() if reason in line]
    assert [line.partition(":")[0] for line in told] == [
        "refused by chapter", "refused by cookbook, torchmetrics-1.9"
    ]  # fmt: skip
    assert "--set negative_grade=unjudged" in told[0]
    assert "P@1, chapter refuses the data" in done.stdout
    assert "convention alone" not in done.stdout
    both = command(judged, one, other, "P@1", "--no-native", "-o", "table").stdout
    assert "changes of a convention could be scored" in both
    assert "P@1: nothing is known of the order" in both and "the best run" not in both


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "Missing argument 'QRELS'"),
        (["{0}"], "no run is named"),
        (["{0}", "{1}", "nDCG@0"], "cutoff"),
        (["{0}", "{1}", "--against", "trec_evil"], "'trec_evil' is not a contract"),
        (["{0}", "{1}", "RR", "--query", "zz"], "query 'zz' is not judged"),
        (["{0}", "{1}", "{1}"], "is named twice"),
        (["{0}", "missing.run"], "missing.run"),
        (["{0}", "{1}", "-o", "trec"], "'trec' is not one of"),
        (["-", "-"], "standard input (-) can be read once only"),
    ],
)
def test_wrong_usage_is_a_fact_and_a_hint(files: tuple[str, str, str], arguments: list[str], told: str) -> None:
    """Exit code 2, one block, no traceback."""
    done = command(*(argument.format(*files) for argument in arguments), "--no-native")
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert "hint: " in done.stderr and "Traceback" not in done.stderr


@needs_data
@pytest.mark.parametrize(
    ("folder", "qrels", "run", "ours", "theirs"),
    [
        ("tilde_dl19", "data/qrels/2019qrels-pass.txt", "data/runs/run.trec2019-bm25.res", 0.4306, 0.4973),
        ("bm25_runs", "cranfield.graded.qrels", "cranfield.bm25s-A.run", 0.3588, 0.3695),
    ],
)
def test_gain_is_the_cause_on_graded_data(folder: str, qrels: str, run: str, ours: float, theirs: float) -> None:
    """chapter against trec_eval -c on nDCG@10: the gain alone makes the difference, and the parts add up to it."""
    found = mp.audit(
        DATA / folder / qrels, DATA / folder / run, ["nDCG@10"], against=["trec_eval-9.0.8-c"], native=False
    ).runs[0]
    attribution = found.lines["nDCG@10"][0].attribution
    assert attribution.here.value == pytest.approx(ours, abs=5e-5)
    assert attribution.there.value == pytest.approx(theirs, abs=5e-5)
    assert attribution.total is not None and attribution.causes[0].field == "gain"
    assert attribution.causes[0].from_here == pytest.approx(attribution.total, abs=1e-4)
    parts = sum(effect.from_here or 0.0 for effect in attribution.effects) + (attribution.interaction or 0.0)
    assert parts == pytest.approx(attribution.total, abs=1e-12)


@needs_data
def test_which_orders_change_on_trec_covid() -> None:
    """All shipped runs of round 1: the linear gain flips one pair of nDCG@10, no gain touches P@5."""
    folder = DATA / "trec_covid_r1" / "round1"
    runs = {path.name: path for path in sorted((folder / "runs").iterdir())}
    found = mp.audit(
        folder / "qrels" / "qrels-rnd1.txt", runs, ["nDCG@10", "P@5", "AP"], against=["trec_eval-9.0.8-c"], native=False
    )
    assert [run.name for run in found.runs if run.conflict] == ["ERST_QUESTION", "sheikh_bm25_all"]
    flips = {(str(change.measure), change.what): len(change.flipped) for change in found.order}
    assert flips["nDCG@10", "gain=linear"] == flips["nDCG@10", "trec_eval-9.0.8-c/1"] == 1
    assert flips["P@5", "trec_eval-9.0.8-c/1"] == flips["AP", "trec_eval-9.0.8-c/1"] == 0
    assert flips["AP", "ap_denominator=hits"] == 65
    pair = next(change.flipped for change in found.order if change.what == "gain=linear")
    assert pair == [("ixa-ir-filter-query", "elhuyar_indri")]
