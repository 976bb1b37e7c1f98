"""Gates: verdicts by intervals, what cannot be judged and why, and rule files that are read to the letter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import metricpact as mp
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metricpact.contracts.errors import InputError
from metricpact.crosscheck.gate.gate_file import load_gate
from metricpact.crosscheck.gate.rules import Pattern
from metricpact.crosscheck.gate.verdicts import Limits, Quantity, by_interval
from scipy import stats

N = 40
EXAMPLE = Path(__file__).resolve().parents[1] / "front/example/slices"


def ranked(ranks: list[int]) -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    """Judgments with one relevant document a query, and a run that has it at the given ranks (0: not at all)."""
    qrels = {f"q{at:03}": {"yes": 1, "no1": 0, "no2": 0} for at in range(len(ranks))}
    run = {}
    for query, rank in zip(qrels, ranks, strict=True):
        others = ["no1", "no2"]
        run[query] = others if not rank else [*others[: rank - 1], "yes", *others[rank - 1 :]]
    return qrels, run


QRELS, FIRST = ranked([1] * N)


def halved(count: int, n: int = N) -> dict[str, list[str]]:
    """A run whose reciprocal rank fell from 1 to 1/2 on some of n queries."""
    return ranked([2] * count + [1] * (n - count))[1]


def judge(candidate: Any, rules: Any = None, base: Any = FIRST, qrels: Any = QRELS, **top: Any) -> Any:
    """The result of a gate with one rule on RR (or rules), on the reference."""
    slices = top.pop("slices", None)
    rules = [{"measures": "RR", "max_drop": 0.1}] if rules is None else rules
    return mp.gate({"rule": rules, "backend": "reference", **top}, qrels, base, candidate, slices=slices)


def rr(max_drop: float, **more: Any) -> list[dict[str, Any]]:
    """One rule on RR."""
    return [{"measures": "RR", "max_drop": max_drop, **more}]


@pytest.mark.parametrize(("max_drop", "verdict"), [(0.4, "pass"), (0.25, "cannot judge"), (0.1, "fail")])
def test_the_interval_decides(max_drop: float, verdict: str) -> None:
    """Twenty of forty queries fall by a half: the mean by a quarter, give or take .08 by scipy's own bootstrap."""
    found = judge(halved(20), rr(max_drop))
    (one,) = found.verdicts
    differences = np.repeat([-0.5, 0.0], 20)
    ends = stats.bootstrap((differences,), np.mean, n_resamples=9999, rng=np.random.default_rng(3)).confidence_interval
    assert (one.lower, one.upper) == (pytest.approx(ends.low, abs=0.02), pytest.approx(ends.high, abs=0.02))
    assert (one.base, one.candidate, one.difference, one.n) == (1.0, 0.75, -0.25, 40)
    assert (one.verdict, found.verdict, found.exit_code) == (
        verdict, verdict, {"pass": 0, "fail": 1, "cannot judge": 2}[verdict],
    )  # fmt: skip


def test_what_a_pass_and_a_failure_take() -> None:
    """The ends of the intervals at the floor, on both sides of it, and in between."""
    asked = Quantity("the difference", -0.1, "+")
    cases = {
        (-0.1, 0.2, None): "pass", (-0.1001, 0.2, None): "cannot judge", (-0.3, -0.11, -0.1001): "fail",
        (-0.3, -0.11, -0.1): "cannot judge", (-0.3, -0.1, None): "cannot judge", (0.1 - 0.2, 0.0, None): "pass",
    }  # fmt: skip
    assert {ends: by_interval(asked, Limits(*ends))[0] for ends in cases} == cases
    assert by_interval(asked, Limits(None, None, None, "one value"))[1] == "the difference has no interval: one value"


def test_one_false_alarm_among_many_rules_is_no_failure() -> None:
    """A drop that one rule alone would call a failure may be chance among twenty verdicts, and says so."""
    differences = np.repeat([-0.5, 0.0], 20)
    spread = differences.std(ddof=1) / np.sqrt(N)
    single, of_twenty = (-0.25 + stats.norm.ppf(1 - level / 2) * spread for level in (0.05, 0.05 / 20))
    between = -(single + of_twenty) / 2
    assert judge(halved(20), rr(between)).verdict == "fail"
    found = judge(halved(20), rr(between) * 20)
    assert found.counts == {"pass": 0, "fail": 0, "cannot judge": 20}
    assert "may be chance" in found.verdicts[0].why
    assert found.verdicts[0].strict_upper > -between > found.verdicts[0].upper
    assert judge(halved(20), rr(0.05) * 20).counts["fail"] == 20


@pytest.mark.parametrize(
    ("count", "max_drop", "n", "verdict"),
    [(0, 0.0, N, "pass"), (N, 0.5, N, "pass"), (N, 0.4, N, "fail"), (0, 0.0, 5, "cannot judge"), (0, 0.0, 6, "pass")],
)
def test_equal_differences_decide_where_chance_would_hardly_do_it(
    count: int, max_drop: float, n: int, verdict: str
) -> None:
    """Identical runs pass, a uniform fall fails; five queries are too few: 2^(1 − 5) is above .05."""
    qrels, base = ranked([1] * n)
    (one,) = judge(halved(min(count, n), n), rr(max_drop, min_n=1), base, qrels).verdicts
    assert one.verdict == verdict
    assert "every" in one.why and one.lower is None


@pytest.mark.parametrize("measure", ["P@1", "RR", "nDCG@3", "R@1"])
def test_what_did_not_change_passes(measure: str) -> None:
    """The same values query by query leave no drop to allow, for proportions as for graded measures."""
    mixed = ranked([1, 2, 3, 0] * 10)[1]
    (one,) = judge(dict(reversed(mixed.items())), [{"measures": measure, "max_drop": 0.0}], mixed).verdicts
    assert (one.verdict, one.difference) == ("pass", 0.0)


def test_missing_and_extra_queries_are_noted() -> None:
    """A mean that counts missing queries as 0 says so."""
    fewer = dict(list(FIRST.items())[4:]) | {"other": ["yes"]}
    found = judge(fewer, rr(0.2))
    assert found.verdicts[0].difference == pytest.approx(-0.1)
    assert found.notes == [
        "candidate: judged queries that the run lacks: 4 (q000, q001, q002, …)",
        "candidate: queries without judgments: 1 (other)",
    ]


def test_too_few_queries_are_direction() -> None:
    """Below min_n nothing is judged, however clear the drop; 30 unless set, for the gate or a rule."""
    qrels, base = ranked([1] * 29)
    candidate = halved(14, 29)
    (one,) = judge(candidate, None, base, qrels).verdicts
    assert (one.verdict, one.n, one.min_n) == ("cannot judge", 29, 30)
    assert one.why == "n = 29 is below 30: direction, not evidence"
    assert judge(candidate, None, base, qrels, min_n=29).verdict == "fail"
    assert judge(candidate, rr(0.1, min_n=30), base, qrels, min_n=2).verdict == "cannot judge"


def test_a_relative_drop_is_a_share_of_the_bases_mean() -> None:
    """A base of .5 that may lose a tenth may lose .05."""
    (one,) = judge(halved(20), [{"measures": "RR", "max_drop_relative": 0.1}], base=halved(N)).verdicts
    assert (one.base, one.floor) == (0.5, -0.05)


def test_the_observed_difference_decides_where_that_is_asked() -> None:
    """On these very queries: no interval is waited for, and the sentence says what that is worth."""
    for count, verdict in ((8, "pass"), (9, "fail")):
        (one,) = judge(halved(count), rr(0.1, decide_by="observed")).verdicts
        assert one.verdict == verdict
        assert "nothing is said of others" in one.why
    assert judge(halved(9), decide_by="observed").verdict == "fail"


def test_numbers_on_unjudged_documents_are_not_judged() -> None:
    """A judged fraction under the floor says that a measure cannot tell, not that the candidate is bad."""
    strange = {query: ["yes", "u1", "u2"] for query in QRELS}
    (one,) = judge(strange, [{"measures": "P@3", "max_drop": 0.1, "judged_floor": 0.5}]).verdicts
    assert (one.verdict, one.judged) == ("cannot judge", pytest.approx(1 / 3))
    assert "0.3333 of what was returned is judged, below 0.5" in one.why
    assert judge(strange, [{"measures": "P@3", "max_drop": 0.1, "judged_floor": 0.33}]).verdict == "pass"


def test_undefined_queries_are_counted_and_never_enter() -> None:
    """Queries without a positive have no RR: they change neither n nor the means."""
    qrels = QRELS | {f"z{at}": {"no1": 0} for at in range(7)}
    (one,) = judge(halved(20), rr(0.4), qrels=qrels).verdicts
    assert (one.n, one.undefined, one.difference) == (40, 7, -0.25)


def scored(run: Any, measures: Any = "RR", qrels: Any = QRELS, **how: Any) -> mp.Scores:
    """Scores by the reference."""
    return mp.score(qrels, run, measures, backend="reference", **how)


def test_other_contracts_are_refused_or_labelled() -> None:
    """A measure whose signatures differ cannot be judged; with across it is, and every number says so."""
    sides = scored(FIRST), scored(halved(20), set={"undefined": "zero"})
    for across in ([], ["judgments", "queries", "set"]):
        (one,) = judge(sides[1], base=sides[0], qrels=None, across=across).verdicts
        assert (one.verdict, one.n) == ("cannot judge", 0)
        assert one.why.startswith("not comparable: signatures of RR differ: RR|chapter/1 / RR|chapter/1|undefined=zero")
    (one,) = judge(sides[1], base=sides[0], qrels=None, across=["signature"]).verdicts
    assert one.verdict == "fail"
    assert one.note.startswith("signatures of RR differ")


def test_other_queries_are_refused_or_labelled() -> None:
    """Means over other queries are not held against each other, unless the gate asks for the shared ones."""
    fewer = dict(list(QRELS.items())[:35])
    sides = scored(FIRST), scored(halved(20), qrels=fewer)
    (one,) = judge(sides[1], base=sides[0], qrels=None).verdicts
    assert one.why == (
        "not comparable: query sets of RR differ: 40 queries, 5 of them here alone / 35 queries, 0 of them here alone"
    )
    (one,) = judge(sides[1], base=sides[0], qrels=None, across="queries").verdicts
    assert (one.verdict, one.n, one.difference) == ("fail", 35, pytest.approx(-10 / 35))
    assert "query sets of RR differ" in one.note


def kept(file: str, scores: mp.Scores, version: str, set_version: str = "1", **more: Any) -> str:
    """A reference to a record of scores."""
    labels = {"component": "search", "component_version": version, "set_name": "faq", "set_version": set_version}
    return f"record:{mp.add_record(file, scores, **labels, **more)}@{file}"


def test_records_stand_in_for_runs(tmp_path: Path) -> None:
    """Two records need no judgments; one beside a fresh run is held against what that run scores."""
    file = str(tmp_path / "scores.sqlite")
    slices = pl.DataFrame({"query_id": list(QRELS), "half": ["a"] * 20 + ["b"] * 20})
    old, new = kept(file, scored(FIRST), "1", slices=slices), kept(file, scored(halved(20)), "2")
    rules = rr(0.1, slices="half=*", min_n=20)
    for found in (judge(new, rules, old, None), judge(halved(20), rules, old), judge(new, rules, FIRST, slices=slices)):
        assert [(one.slice, one.verdict) for one in found.verdicts] == [("half=a", "fail"), ("half=b", "pass")]
    assert judge(new, rules, old, None).base == f"search 1 ({old})"
    with pytest.raises(InputError, match="no judgments to score it by"):
        judge("new.run", base=old, qrels=None)


def test_records_of_other_sets_and_judgments_are_refused_or_labelled(tmp_path: Path) -> None:
    """The set's version, and the hash of the judgments where both are known."""
    file, qrels = str(tmp_path / "scores.sqlite"), tmp_path / "qrels.txt"
    sides = kept(file, scored(FIRST), "1"), kept(file, scored(halved(20)), "2", "2")
    (one,) = judge(sides[1], base=sides[0], qrels=None).verdicts
    assert one.why == "not comparable: set versions differ: faq 1 / faq 2"
    (one,) = judge(sides[1], base=sides[0], qrels=None, across="set").verdicts
    assert (one.verdict, one.note) == ("fail", "set versions differ: faq 1 / faq 2")
    run = tmp_path / "run.txt"
    run.write_text("".join(f"{query} Q0 yes 1 1.0 t\n" for query in QRELS))
    runs = []
    for comment in ("", "q000 0 other 0\n"):
        qrels.write_text(comment + "".join(f"{query} 0 yes 1\n" for query in QRELS))
        document = json.dumps(_scores_of(qrels, run))
        (tmp_path / "scores.json").write_text(document)
        from metricpact.bridges.sources.scores_document import read_scores

        runs.append(read_scores(str(tmp_path / "scores.json")))
    (one,) = judge(runs[1], base=runs[0], qrels=None).verdicts
    assert one.why.startswith("not comparable: judgments differ: ")
    assert judge(runs[1], base=runs[0], qrels=None, across="judgments").verdict == "pass"


def _scores_of(qrels: Path, run: Path) -> dict[str, Any]:
    from metricpact.bridges.scored_sources import score_sources
    from metricpact.contracts.measures import parse_measures
    from metricpact.contracts.profiles import load_profile

    (found,) = score_sources(str(qrels), [str(run)], parse_measures("RR"), load_profile("chapter"), "reference")
    return found.to_document(by_query=True)


def test_a_measure_that_a_record_lacks_cannot_be_judged(tmp_path: Path) -> None:
    """It is named; the other rules are judged all the same."""
    base = kept(str(tmp_path / "scores.sqlite"), scored(FIRST), "1")
    found = judge(halved(20), [{"measures": ["P@1", "RR"], "max_drop": 0.05}], base)
    assert [one.verdict for one in found.verdicts] == ["cannot judge", "fail"]
    assert found.verdicts[0].why == "no values of P@1 in the base"
    assert found.exit_code == 1


def test_slices_by_value_star_and_crossing() -> None:
    """A star is written out, a crossing is one slice, a slice that nobody is in cannot be judged."""
    table = {
        query: {"language": "en" if at % 2 else "fr", "flag": "yes" if at < 20 else "no"}
        for at, query in enumerate(QRELS)
    }
    wanted = ["all", "language=*", "language=en,flag=yes", "language=de", "flag=*,language=fr"]
    found = judge(halved(20), rr(0.02, slices=wanted, min_n=5), slices=table)
    assert [(one.slice, one.n, one.verdict) for one in found.verdicts] == [
        ("all", 40, "fail"), ("language=fr", 20, "fail"), ("language=en", 20, "fail"),
        ("language=en,flag=yes", 10, "fail"), ("language=de", 0, "cannot judge"),
        ("flag=yes,language=fr", 10, "fail"), ("flag=no,language=fr", 10, "pass"),
    ]  # fmt: skip
    assert found.verdicts[4].why == "no query is in a slice language=de"
    with pytest.raises(InputError, match="there is no slice table"):
        judge(FIRST, rr(0.1, slices="language=fr"))
    with pytest.raises(InputError, match="no slice column 'langage'"):
        judge(FIRST, rr(0.1, slices="langage=fr"), slices=table)


def test_patterns() -> None:
    """Commas within values stay; what names no column is none."""
    assert Pattern.parse("topic=a, b,flag=no") == Pattern((("topic", "a, b"), ("flag", "no")))
    assert Pattern.parse("x = a=b") == Pattern((("x", "a=b"),))
    assert str(Pattern.parse("a=1,b=*")) == "a=1,b=*"
    assert (Pattern.parse("all"), Pattern.parse("fr"), Pattern.parse("=fr"), Pattern.parse("")) == (
        Pattern(), None, None, None,
    )  # fmt: skip


def test_the_example_says_what_ten_questions_can_and_cannot_tell() -> None:
    """NONE questions 0.60 (n=5) beside the rest; the two French questions are direction, not evidence."""
    found = mp.gate(EXAMPLE / "gate.toml", EXAMPLE / "known_items.csv", "v1", "v2")
    rows = {(one.measure, one.slice): one for one in found.verdicts if one.rule != 3}
    none = rows["NONE pass rate", "policy=nearest-with-note"]
    assert (none.verdict, none.candidate, none.base, none.n) == ("pass", 0.6, 0.2, 5)
    wilson = stats.binomtest(3, 5).proportion_ci(method="wilson")
    assert (none.lower, none.upper) == (pytest.approx(wilson.low), pytest.approx(wilson.high))
    french = rows["R@1", "language=fr"]
    assert (french.n, french.base, french.candidate, french.verdict) == (2, 0.0, 1.0, "cannot judge")
    assert (rows["R@1", "all"].base, rows["R@1", "all"].candidate) == (0.6, 0.9)
    assert found.verdict == "cannot judge"
    back = mp.gate(EXAMPLE / "gate.toml", EXAMPLE / "known_items.csv", "v2", "v1")
    assert back.verdict == "fail"
    with pytest.raises(InputError, match="there is no run 'v3'"):
        mp.gate(EXAMPLE / "gate.toml", EXAMPLE / "known_items.csv", "v1", "v3")


@pytest.mark.parametrize(
    ("passed", "of", "verdict"), [(29, 30, "pass"), (20, 30, "cannot judge"), (3, 30, "fail"), (5, 5, "cannot judge")]
)
def test_none_questions_by_interval(tmp_path: Path, passed: int, of: int, verdict: str) -> None:
    """Wilson's interval against the floor of .6, with 30 questions at least."""
    table = tmp_path / "runs.csv"
    rows = [f"{run},q{at},NONE,,{'declined' if at < passed else 'answered'}" for run in "ab" for at in range(of)]
    table.write_text("run,query_id,expected_id,ranked_ids,response\na,q,x,x,\nb,q,x,x,\n" + "\n".join(rows) + "\n")
    gate = {"none": {"policy": "decline", "min_pass_rate": 0.6}, "rule": rr(0.1), "backend": "reference"}
    one = mp.gate(gate, str(table), "a", "b").verdicts[-1]
    assert (one.measure, one.candidate, one.n) == ("NONE pass rate", passed / of, of)
    assert one.verdict == verdict


def test_none_questions_that_are_not_scored_let_nothing_pass(tmp_path: Path) -> None:
    """A candidate without a row, or a response, for some NONE questions is not judged by the others."""
    table = tmp_path / "runs.csv"
    rows = ["a,q,x,x,", "b,q,x,x,", "a,n1,NONE,,declined", "a,n2,NONE,y,answered", "b,n1,NONE,,declined"]
    none = {"policy": "decline", "min_pass_rate": 0.9, "min_n": 1, "decide_by": "observed"}
    for more in ([], ["b,n2,NONE,y,"]):
        table.write_text("\n".join(["run,query_id,expected_id,ranked_ids,response", *rows, *more]) + "\n")
        found = mp.gate({"none": none, "rule": rr(0.1)}, str(table), "a", "b")
        one = found.verdicts[-1]
        assert (one.verdict, one.n, one.undefined, one.candidate) == ("cannot judge", 1, 1, 1.0)
        assert one.why == "1 of 2 NONE questions are not scored: no response is given"
        assert (found.notes == ["b: 1 NONE query has no row, which is not scored: n2"]) == (not more)


def test_a_slice_column_that_is_not_there_is_named_at_its_rule(tmp_path: Path) -> None:
    """The gate's file and line: the table is right, and the gate is wrong."""
    rules = tmp_path / "gate.toml"
    rules.write_text(
        '[[rule]]\nmeasures = "RR"\nmax_drop = 0\n[[rule]]\nmeasures = "RR"\nslices = "lang=*"\nmax_drop = 0\n'
    )
    with pytest.raises(InputError, match="there is no slice column 'lang'") as told:
        mp.gate(rules, EXAMPLE / "known_items.csv", "v1", "v2")
    assert (told.value.source, told.value.line) == (str(rules), 4)


def test_none_questions_that_nobody_asked_cannot_be_judged(tmp_path: Path) -> None:
    """Judgments and runs know of no NONE questions; a table without responses has them unscored."""
    none = {"policy": "decline", "min_pass_rate": 0.6}
    assert "known-item table" in judge(FIRST, rr(0.1), none=none).verdicts[-1].why
    table = tmp_path / "runs.csv"
    table.write_text("run,query_id,expected_id,ranked_ids\na,q,x,x\na,z,NONE,x\nb,q,x,x\nb,z,NONE,\n")
    one = mp.gate({"none": none, "rule": rr(0.1)}, str(table), "a", "b").verdicts[-1]
    assert (one.verdict, one.why) == ("cannot judge", "not scored: there is no response column")


BAD = {
    "min_m = 3\n": (1, "unknown key 'min_m'", "did you mean 'min_n'?"),
    '[[rule]]\nmeasures = "RR"\nmax_drop = 0.1\n\n[[rule]]\nmeasures = "RR"\nmax_dorp = 0.1\n': (
        7, "unknown key 'max_dorp'", "did you mean 'max_drop'?",
    ),
    '[none]\nmin_pass_rate = 0.5\n"polcy" = "decline"\n': (3, "unknown key 'polcy'", "'policy'"),
    '[[rule]]\nmeasures = "nDCG@"\nmax_drop = 0.1\n': (2, "nDCG@", ""),
    '[[rule]]\nmeasures = []\nmax_drop = 0.1\n': (2, "neither text nor a list", "measures ="),
    "[[rule]]\nmax_drop = 0.1\n": (1, "measures is missing", "measures ="),
    '\n[[rule]]\nmeasures = "RR"\n': (2, "no allowed drop", "max_drop"),
    '[[rule]]\nmeasures = "RR"\nmax_drop = 0.1\nmax_drop_relative = 0.1\n': (1, "two allowed drops", "max_drop"),
    '[[rule]]\nmeasures = "RR"\nmax_drop = -0.1\n': (3, "max_drop -0.1 is not a number from 0 to 1", ""),
    '[[rule]]\nmeasures = "RR"\nmax_drop = true\n': (3, "max_drop True", ""),
    '[[rule]]\nmeasures = "RR"\nmax_drop = nan\n': (3, "max_drop nan", ""),
    '[[rule]]\nmeasures = "RR"\nmax_drop = 0.1\nmin_n = 0\n': (4, "min_n 0 is not an integer of 1 or more", ""),
    '[[rule]]\nmeasures = "RR"\nmax_drop = 0.1\nslices = "french"\n': (4, "'french' is not a slice", "language=fr"),
    '[[rule]]\nmeasures = "RR"\nmax_drop = 0.1\ndecide_by = "feeling"\n': (4, "decide_by 'feeling'", "observed"),
    "alpha = 1\n[none]\npolicy = 'decline'\nmin_pass_rate = 1\n": (1, "alpha 1.0 is not between", ""),
    "across = 'all'\n[none]\npolicy = 'decline'\nmin_pass_rate = 1\n": (1, "across 'all'", "queries"),
    "contract = 'chaptre'\n[none]\npolicy = 'decline'\nmin_pass_rate = 1\n": (1, "'chaptre' is not", "chapter"),
    "backend = 'pytrec'\n[none]\npolicy = 'decline'\nmin_pass_rate = 1\n": (1, "pytrec", "pytrec_eval"),
    "set = { gian = 'linear' }\n[none]\npolicy = 'decline'\nmin_pass_rate = 1\n": (1, "'gian' is not a field", "gain"),
    "[none]\npolicy = 'shrug'\nmin_pass_rate = 1\n": (2, "'shrug'", "decline"),
    "[none]\npolicy = 'decline'\n": (1, "min_pass_rate is missing", ""),
    "rule = 3\n": (1, "rule is not a list of tables", "[[rule]]"),
    "none = 3\n": (1, "none is not a table", "[none]"),
    "alpha = 0.05\n": (None, "the gate has no rule", "[[rule]]"),
    "": (None, "the gate has no rule", "[[rule]]"),
    "alpha = \n": (None, "is not TOML", "line 1"),
}  # fmt: skip


@pytest.mark.parametrize("text", BAD, ids=lambda text: repr(text)[-40:])
def test_a_wrong_rule_file_is_named_with_the_line(tmp_path: Path, text: str) -> None:
    """Unknown keys with the nearest known one, wrong values with what they may be."""
    path = tmp_path / "gate.toml"
    path.write_text(text)
    line, fact, hint = BAD[text]
    with pytest.raises(InputError) as caught:
        load_gate(path)
    place = f"{path}:{line}: " if line else f"{path}: "
    assert str(caught.value).startswith(place)
    assert fact in caught.value.fact
    assert hint in str(caught.value)


def test_rule_files_that_cannot_be_read(tmp_path: Path) -> None:
    """No file, a folder, and bytes that are no text."""
    with pytest.raises(InputError, match="no such file"):
        load_gate(tmp_path / "gate.toml")
    with pytest.raises(InputError, match="cannot be read"):
        load_gate(tmp_path)
    (tmp_path / "gate.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="is not TOML"):
        load_gate(tmp_path / "gate.toml")


def test_defaults_and_the_contract_beside_the_gate(tmp_path: Path) -> None:
    """What a rule does not say the gate says, else 30 queries, intervals at 95 % and the chapter's contract."""
    (tmp_path / "ours.toml").write_text("[fields]\nthreshold = 2\n")
    (tmp_path / "gate.toml").write_text(
        'contract = "ours.toml"\nset = { gain = "linear" }\nmin_n = 7\n'
        '[[rule]]\nmeasures = "mrr@10"\nmax_drop = 0\n[[rule]]\nmeasures = "RR"\nmax_drop = 0\nmin_n = 9\n'
    )
    gate = load_gate(tmp_path / "gate.toml")
    assert (gate.profile.contract.threshold, gate.profile.contract.gain) == (2, "linear")
    assert [(str(rule.measures[0]), rule.min_n, rule.line) for rule in gate.rules] == [("RR@10", 7, 4), ("RR", 9, 7)]
    bare = load_gate({"rule": rr(0.1)})
    assert (bare.rules[0].min_n, bare.alpha, bare.profile.name) == (30, 0.05, "chapter")
    assert bare.rules[0].decide_by == "interval"


def test_the_example_shows_every_key() -> None:
    """Whoever copies it sees what there is: set, or as a comment."""
    from metricpact.crosscheck.gate import gate_file

    text = (EXAMPLE / "gate.toml").read_text(encoding="utf-8")
    for key in {*gate_file._TOP, *gate_file._RULE, *gate_file._NONE} - {"rule", "none"}:
        assert f"{key} = " in text, key


ENDS = st.floats(-1, 1, allow_nan=False)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.tuples(ENDS, ENDS, ENDS), st.tuples(ENDS, ENDS))
def test_a_smaller_allowance_never_mends_a_verdict(
    ends: tuple[float, float, float], floors: tuple[float, float]
) -> None:
    """From cannot judge to pass, or from fail to anything, only by allowing a larger drop."""
    lower, upper, strict = sorted(ends)
    order = ["fail", "cannot judge", "pass"]
    strictly, loosely = (
        order.index(by_interval(Quantity("x", floor), Limits(lower, upper, strict))[0])
        for floor in sorted(floors, reverse=True)
    )
    assert strictly <= loosely


def test_the_table_and_the_document_hold_every_number() -> None:
    """One row a verdict, in Polars and in JSON; the total and the counts beside them."""
    found = judge(halved(20), rr(0.1) + rr(0.4))
    frame, document = found.to_polars(), json.loads(json.dumps(found.to_document(), allow_nan=False))
    assert frame["verdict"].to_list() == ["fail", "pass"]
    assert document["schema"] == "metricpact.gate/1"
    assert (document["verdict"], document["counts"]) == ("fail", {"pass": 1, "fail": 1, "cannot judge": 0})
    assert [row["difference"] for row in document["rules"]] == frame["difference"].to_list() == [-0.25, -0.25]
    assert document["rules"][0]["candidate_signature"].startswith("RR|chapter/1||reference")
    assert document["settings"]["verdicts_by_interval"] == 2
