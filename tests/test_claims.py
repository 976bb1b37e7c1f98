"""Claims files: every shipped verdict, what each kind of claim can become, and errors with their lines."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from pathlib import Path

import metricpact as mp
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metricpact.contracts.errors import InputError, MetricpactError
from metricpact.contracts.evidence.decisions import conditional_recall, precision, recall
from metricpact.crosscheck.claims.arithmetic import decision_values
from metricpact.crosscheck.claims.attain import reachable
from metricpact.crosscheck.claims.document import SHIPPED, shipped_names
from metricpact.crosscheck.claims.verdicts import ClaimsReport, read_expected

Write = Callable[[str], Path]
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
with_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="the published files (../shared/data beside the repository) are not here"
)


@pytest.fixture(scope="module")
def chapter() -> ClaimsReport:
    """The chapter's claims, checked."""
    return mp.claims("chapter")


@pytest.fixture(scope="module")
def cookbook() -> ClaimsReport:
    """The cookbook's claims, checked."""
    return mp.claims("cookbook")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a claims file."""

    def to_file(text: str) -> Path:
        path = tmp_path / "claims.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return to_file


def claim(kind: str, rest: str) -> str:
    """A file of one claim."""
    return f'[[claim]]\nid = "c"\nkind = "{kind}"\n{rest}\n'


def verdict(path: Path) -> str:
    """The verdict on the only claim of a file."""
    (result,) = mp.claims(path).results
    return result.verdict.text


# ---------------------------------------------------------------- the shipped files

CHAPTER = {
    "example-point-values": "reproduced",
    "example-gains": "reproduced",
    "example-upper-bound": "reproduced",
    "gains-of-grades": "reproduced",
    "one-of-four": "reproduced",
    "one-of-two-found": "reproduced",
    "negative-between-positives": "reproduced",
    "second-to-first": "reproduced",
    "candidate-recall": "reproduced",
    "selected-recall": "reproduced",
    "no-positives": "reproduced",
    "nothing-returned": "reproduced",
    "cohort": "reproduced",
    "promotion": "reproduced",
    "retention": "reproduced",
    "own-figure-conditional": "reproduced",
    "own-figure-as-recall": "reproduced only under deferred left out of the denominator",
    "ratio-promotion": "reproduced",
    "ratio-retention": "reproduced",
    "ratio-retention-precision": "reproduced",
    "ratio-own-figure": "reproduced",
    "mean-reciprocal-ranks": "reproduced only under n = 17, 34, 51, 68, 85, 102, …",
    "mean-recalls": "cannot check (R@4 divides by |R|, which is unknown)",
}


def test_every_verdict_on_the_chapter(chapter: ClaimsReport) -> None:
    """All 23 claims of the chapter, verdict by verdict, and each is the one that the file expects."""
    assert {result.id: result.verdict.text for result in chapter.results} == CHAPTER
    assert chapter.passed


def test_the_chapters_numbers_are_printed_as_written(chapter: ClaimsReport) -> None:
    """Trailing zeros, leading points and calculations stay; the computed values stand beside them."""
    numbers = {(result.id, number.stated): number for result in chapter.results for number in result.verdict.numbers}
    assert numbers["mean-reciprocal-ranks", ".7500"].holds
    assert numbers["example-gains", "3 + 1/log2(3)"].computed == pytest.approx(3.6309297535714573, abs=1e-12)
    assert numbers["example-gains", ".68853"].computed == pytest.approx(0.688529, abs=1e-6)
    assert numbers["own-figure-conditional", "21/(21+16)"].computed == pytest.approx(21 / 37)
    assert numbers["example-gains", ".68853"].signature.startswith("nDCG@3|chapter/1||reference|")


def test_every_verdict_on_the_cookbook(cookbook: ClaimsReport) -> None:
    """The table, 1.0, 0.92, 0.63, the binary values behind the two, the NONE pass rate and Recall@3."""
    found = {result.id: result.verdict for result in cookbook.results}
    assert {name: one.word for name, one in found.items()} == {
        "ten-questions": "reproduced",
        "graded-best-first": "reproduced",
        "graded-other-order": "not reproduced",
        "graded-wrong-first": "reproduced only under",
        "binary-hits-one-and-three": "reproduced",
        "binary-hit-at-two": "reproduced",
        "none-pass-rate": "reproduced only under",
        "recall-beside-none": "reproduced",
    }
    assert cookbook.passed
    assert found["none-pass-rate"].detail == "a sum of 3 for NONE pass rate (n = 5)"


def test_092_is_not_reproduced_and_what_would_give_it_is_told(cookbook: ClaimsReport) -> None:
    """Nearest is linear gain with .8597; it would take a ratio of gains, or hits at ranks 1 and 3 with binary gains."""
    (result,) = (result for result in cookbook.results if result.id == "graded-other-order")
    assert result.verdict.detail.startswith("nearest: nDCG 0.8597 under gain=linear")
    (number,) = result.verdict.numbers
    assert (number.stated, number.computed) == ("0.92", pytest.approx(0.796708, abs=1e-6))
    assert result.verdict.notes[0] == "nDCG would need gain(2)/gain(1) between 1.41 and 1.49"
    other = [note for note in result.verdict.notes if "another series between the two" in note]
    assert any("binary gains" in note or "given under" in note for note in other)


def test_063_needs_the_returned_ideal_and_exactly_one_graded_series(cookbook: ClaimsReport) -> None:
    """Under no reading the chapter's contract gives it; two of five readings do with ideal=returned."""
    (result,) = (result for result in cookbook.results if result.id == "graded-wrong-first")
    assert result.verdict.detail.startswith("ideal=returned")
    assert result.verdict.detail.endswith("ranking 'the national line follows' or 'the international line follows'")
    assert [number.holds for number in result.verdict.numbers] == [False] * 5
    assert len({number.reading for number in result.verdict.numbers}) == 5


def test_the_ten_questions_are_consistent_with_every_cell_of_the_table() -> None:
    """The shipped input, sliced and scored here with nothing but fractions, gives all 40 cells."""
    with (SHIPPED / "ten_questions.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    published = {
        ("all", "v1"): (10, "0.60", "0.80", "0.70"), ("all", "v2"): (10, "0.90", "1.00", "0.95"),
        ("language=en", "v1"): (8, "0.75", "0.88", "0.81"), ("language=en", "v2"): (8, "0.88", "1.00", "0.94"),
        ("language=fr", "v1"): (2, "0.00", "0.50", "0.25"), ("language=fr", "v2"): (2, "1.00", "1.00", "1.00"),
        ("paraphrase=no", "v1"): (5, "0.60", "0.80", "0.70"), ("paraphrase=no", "v2"): (5, "0.80", "1.00", "0.90"),
        ("paraphrase=yes", "v1"): (5, "0.60", "0.80", "0.70"), ("paraphrase=yes", "v2"): (5, "1.00", "1.00", "1.00"),
    }  # fmt: skip
    for (name, run), (n, *cells) in published.items():
        column, _, value = name.partition("=")
        chosen = [row for row in rows if row["run"] == run and (name == "all" or row[column] == value)]
        ranks = [
            row["ranked_ids"].split(";").index(row["expected_id"]) + 1
            if row["expected_id"] in row["ranked_ids"].split(";") else None
            for row in chosen
        ]  # fmt: skip
        first = Fraction(sum(rank == 1 for rank in ranks), n)
        three = Fraction(sum(rank is not None and rank <= 3 for rank in ranks), n)
        mean = sum((Fraction(1, rank) for rank in ranks if rank), Fraction(0)) / n
        assert len(chosen) == n
        for exact, cell in zip((first, three, mean), cells, strict=True):
            assert abs(exact - Fraction(cell)) <= Fraction(1, 200), (name, run, cell)


def test_both_files_come_by_name() -> None:
    """They are listed where a name is wrong."""
    assert shipped_names() == ["chapter", "cookbook"]
    with pytest.raises(InputError) as caught:
        mp.claims("chaptre")
    assert caught.value.hint.endswith("chapter, cookbook")


# ---------------------------------------------------------------- measures

EXAMPLE = 'judgments = { A = 2, B = 1, N = 0 }\nrun = ["B", "U", "A"]\n'


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ('values = { "nDCG@3" = ".68853" }', "reproduced"),
        ('values = { "ndcg_cut_3" = "68.85%" }', "reproduced"),
        ('values = { "nDCG@3" = ".7602" }\nset = { gain = "linear" }', "reproduced"),
        ('values = { "nDCG@3" = ".7602" }\ncontract = "trec_eval-9.0.8-c"', "reproduced"),
        ('values = { "P@3" = "2/3" }\nn = 1', "reproduced"),
        ('lower = { "P@3" = "2/3" }\nupper = { "P@3" = 1, "nDCG@3" = ".81457" }', "reproduced"),
        ('upper = { "P@3" = 0.5 }', "not reproduced (nearest: upper bound of P@3 1.0000)"),
        ('values = { "P@3" = "2/3" }\nn = 2', "not reproduced (nearest: n = 1 under chapter"),
        ('by_query = { q = { RR = 1.0 } }', "reproduced"),
        ('values = { "R@3" = "undefined" }', "not reproduced"),
    ],
)  # fmt: skip
def test_values_of_a_ranking(write: Write, rest: str, expected: str) -> None:
    """Means, single queries, bounds and n, under the chapter, a profile, or a changed contract."""
    assert verdict(write(claim("measures", EXAMPLE + rest))).startswith(expected)


def test_a_number_of_another_contract_names_the_field(write: Write) -> None:
    """Linear gain as the chapter's: reproduced only under gain=linear, with libraries that do so."""
    told = verdict(write(claim("measures", EXAMPLE + 'values = { "nDCG@3" = ".7602", "AP@3" = "5/6" }')))
    assert told.startswith("reproduced only under gain=linear (as ")


def test_a_claim_under_a_changed_contract_is_told_the_contract_itself(write: Write) -> None:
    """What the file changes in its contract is not taken for the contract."""
    text = EXAMPLE + 'set = { gain = "linear", discount = "jk" }\nvalues = { "nDCG@3" = ".68853" }'
    told = verdict(write(claim("measures", text)))
    assert told.startswith("reproduced only under ") and "chapter" in told


def test_a_whole_number_is_exact(write: Write) -> None:
    """A precision of 1 is one; 2/3 is not anything that rounds to it."""
    assert verdict(write(claim("measures", EXAMPLE + 'values = { "P@3" = 1 }'))) != "reproduced"
    assert verdict(write(claim("measures", EXAMPLE + 'values = { "P@3" = "67%" }'))) == "reproduced"


def test_several_statements_of_one_number_have_to_hold(write: Write) -> None:
    """.8333 and 5/6 are one AP; .83 and .9 are not."""
    assert verdict(write(claim("measures", EXAMPLE + 'values = { "AP@3" = ["5/6", 0.83, ".8333"] }'))) == "reproduced"
    assert verdict(write(claim("measures", EXAMPLE + 'values = { "AP@3" = [0.83, ".9"] }'))).startswith(
        "not reproduced"
    )


def test_readings_that_all_give_it_or_some(write: Write) -> None:
    """Where it is open what was returned, the verdict names the readings that give the number."""
    text = 'judgments = {{ A = 1 }}\nvalues = {{ "RR" = "1/2" }}\n[claim.rankings]\none = ["U", "A"]\ntwo = {}\n'
    assert verdict(write(claim("measures", text.format('["V", "A", "U"]')))) == "reproduced"
    assert verdict(write(claim("measures", text.format('["A"]')))) == "reproduced only under ranking 'one'"


def test_files_are_found_from_the_folder_of_the_claims(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are relative to the TOML file, whatever the current folder; what is not there cannot be checked."""
    path = write(claim("measures", 'judgments = "q.txt"\nrun = "r.txt"\nvalues = { "P@1" = 1 }'))
    told = verdict(path)
    assert told.startswith("cannot check (") and "there is no such file" in told
    (path.parent / "q.txt").write_text("q 0 A 1\n")
    (path.parent / "r.txt").write_text("q Q0 A 1 1.0 t\n")
    monkeypatch.chdir("/")
    assert verdict(path) == "reproduced"
    (path.parent / "r.txt").write_text("other Q0 A 1 1.0 t\n")
    assert "mismatched labels" in verdict(path)


def test_data_that_the_contract_refuses_may_be_taken_by_another(write: Write) -> None:
    """Ranks that contradict the scores: the chapter refuses them, and the field that takes them is named."""
    path = write(claim("measures", 'judgments = { A = 1 }\nrun = "r.txt"\nvalues = { RR = 1 }'))
    (path.parent / "r.txt").write_text("q Q0 A 2 9 t\nq Q0 B 1 8 t\n")
    assert verdict(path).startswith("reproduced only under rank_conflict=ignore")


@with_data
def test_claims_on_published_files(write: Write) -> None:
    """DL 2019: .4973 only under linear gain, MAP as it is; Cranfield: .3387 from the raw codes, not from the grades."""
    folder, cranfield = DATA / "tilde_dl19" / "data", DATA / "bm25_runs"
    files = f'judgments = "{folder}/qrels/2019qrels-pass.txt"\nrun = "{folder}/runs/run.trec2019-bm25.res"\n'
    claims = claim("measures", files + 'values = { "nDCG@10" = ".4973", AP = ".3766" }\nn = 43')
    claims += claim("measures", files + 'values = { AP = ".3766" }').replace('"c"', '"map"')
    for codes in ("rawcodes", "graded"):
        named = f'judgments = "{cranfield}/cranfield.{codes}.qrels"\nrun = "{cranfield}/cranfield.bm25s-A.run"\n'
        rest = 'contract = "trec_eval-9.0.8-c"\nvalues = { "nDCG@10" = ".3387" }'
        claims += claim("measures", named + rest).replace('"c"', f'"{codes}"')
    found = {result.id: result.verdict for result in mp.claims(write(claims)).results}
    assert found["c"].text.startswith("reproduced only under gain=linear (as ")
    assert found["map"].text == found["rawcodes"].text == "reproduced"
    assert found["graded"].text.startswith("not reproduced (nearest: nDCG@10 0.3")


# ---------------------------------------------------------------- decisions and ratios

STATES = "states = { kept = [21, 0], open = [6, 1], gone = [16, 6] }\n"


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ('endpoint = ["kept"]\nvalues = { recall = "21/43" }', "reproduced"),
        ('endpoint = ["kept", "open"]\nvalues = { precision = ".9643", recall = ".6279" }', "reproduced"),
        ('endpoint = ["kept"]\nleft_out = ["open"]\nvalues = { recall = "21/37" }', "reproduced"),
        ('endpoint = ["kept"]\nvalues = { recall = "27/43" }', "reproduced only under endpoint kept + open"),
        (
            'endpoint = ["kept"]\nvalues = { recall = ".5676" }',
            "reproduced only under open left out of the denominator",
        ),
        ('endpoint = ["kept"]\nvalues = { recall = ".123" }', "not reproduced (nearest: recall 0.4884)"),
        ("values = { positives = 43, negatives = 7, items = 50 }", "reproduced"),
    ],
)
def test_precision_and_recall_of_decisions(write: Write, rest: str, expected: str) -> None:
    """Endpoints, what is left out, and which of the two would give another number."""
    assert verdict(write(claim("decisions", STATES + rest))) == expected


@given(
    counts=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=4),
    bits=st.integers(0, 255),
)
@settings(max_examples=80, derandomize=True, deadline=None)
def test_decisions_count_every_item(counts: list[tuple[int, int]], bits: int) -> None:
    """Precision and recall are those of listed items, one by one."""
    states = {f"s{at}": pair for at, pair in enumerate(counts)}
    endpoint = frozenset(name for at, name in enumerate(states) if bits >> at & 1)
    out = frozenset(name for at, name in enumerate(states) if bits >> (at + 4) & 1) - endpoint
    items = [
        (name, label) for name, (positive, negative) in states.items() if name not in out
        for label in [True] * positive + [False] * negative
    ]  # fmt: skip
    taken, good = [label for name, label in items if name in endpoint], [name for name, label in items if label]
    values = decision_values(states, endpoint, out)
    assert values["items"] == len(items)
    assert values["precision"] == (Fraction(sum(taken), len(taken)) if taken else None)
    assert values["recall"] == (Fraction(sum(taken), len(good)) if good else None)


def test_the_definitions_of_decisions_agree() -> None:
    """Counts of states and the definitions over single items give the same precision and recall for every endpoint."""
    states = {"kept": (21, 0), "open": (6, 1), "gone": (16, 6)}
    items = pl.DataFrame(
        [
            {"state": name, "label": label}
            for name, counts in states.items()
            for label, count in zip(("positive", "negative"), counts, strict=True)
            for _ in range(count)
        ]
    )
    for chosen in [part for size in (1, 2) for part in combinations(states, size)]:
        for left_out in [(), *((name,) for name in states if name not in chosen)]:
            values = decision_values(states, frozenset(chosen), frozenset(left_out))
            recalled = conditional_recall(items, chosen, left_out) if left_out else recall(items, chosen)
            for name, ratio in (("precision", precision(items, chosen)), ("recall", recalled)):
                assert values[name] == Fraction(ratio.numerator, ratio.denominator)


def test_items_of_a_file_are_counted(write: Write) -> None:
    """One item a line; a wrong label is an error that names it."""
    path = write(claim("decisions", 'items = "i.csv"\nendpoint = ["kept"]\nvalues = { recall = "1/2", items = 3 }'))
    (path.parent / "i.csv").write_text("id,state,label\n1,kept,positive\n2,gone,positive\n3,gone,negative\n")
    assert verdict(path) == "reproduced"
    (path.parent / "i.csv").write_text("id,state,label\n1,kept,maybe\n")
    with pytest.raises(InputError, match="label 'maybe'"):
        mp.claims(path)


def test_ratios(write: Write) -> None:
    """A ratio is printed as stated, or what it is stands beside it."""
    assert verdict(write(claim("ratio", 'ratio = "21/43"\nstated = [".4884", "48.8%", 0.49]'))) == "reproduced"
    assert verdict(write(claim("ratio", 'ratio = "21/43"\nstated = ".4883"'))) == (
        "not reproduced (nearest: 21/43 is 0.488372)"
    )


# ---------------------------------------------------------------- bare means


@pytest.mark.parametrize("units", [(0, 3, 4, 6, 12), (0, 1), (0, 2, 5), (0, 1, 2, 3)])
def test_reachable_sums_are_all_sums(units: tuple[int, ...]) -> None:
    """Against listing every choice of values for up to six queries."""
    for count, sums in enumerate(reachable(units, 6), 1):
        listed = {sum(chosen) for chosen in combinations_with_replacement(units, count)}
        assert {at for at in range(sums.bit_length()) if sums >> at & 1} == listed


def test_n_of_two_means_by_listing_fractions(write: Write) -> None:
    """For .75 and .58 of RR@2 (0, 1/2, 1): the n that allow both, by listing all sums."""
    told = verdict(write(claim("mean", 'measure = "RR@2"\nmeans = { a = ".75", b = ".58" }')))
    allowed = []
    for n in range(1, 40):
        means = [Fraction(at, 2 * n) for at in range(2 * n + 1)]
        if all(any(abs(mean - Fraction(text)) <= Fraction(1, 200) for mean in means) for text in (".75", ".58")):
            allowed.append(n)
    assert told == "reproduced only under n = " + ", ".join(map(str, allowed[:6])) + ", …"


def test_not_every_multiple_can_be_reached(write: Write) -> None:
    """One query cannot have an RR@4 of 5/12, though 1/12 is the common unit; two can have a mean of 7/24."""
    text = 'measure = "RR@4"\nmeans = {{ a = "{}" }}\nn = {}'
    assert verdict(write(claim("mean", text.format("5/12", 1)))).startswith("not attainable (a: nearest over n = 1 is ")
    assert verdict(write(claim("mean", text.format("7/24", 2)))) == "reproduced only under a sum of 7/12 for a (n = 2)"
    assert verdict(write(claim("mean", text.format("1/12", 1)))).startswith("not attainable")


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ('measure = "P@5"\nmeans = { a = ".333" }\nn = 7', "not attainable (a: nearest over n = 7 is 0.342857)"),
        ('measure = "P@5"\nmeans = { a = "0.40" }\nn = 1', "reproduced only under a sum of 2/5 for a (n = 1)"),
        ('measure = "Success@3"\nmeans = { a = "1.2" }', "not attainable (with no number of queries up to 2,000)"),
        ('measure = "R@5"\nrelevant = 2\nmeans = { a = ".5" }\nn = 3', "reproduced only under a sum of 3/2 for a"),
        ('measure = "R@5"\nmeans = { a = ".5" }', "cannot check (R@5 divides by |R|, which is unknown)"),
        ('measure = "nDCG@5"\nmeans = { a = ".5" }', "cannot check (the values that nDCG@5 can have"),
        ('measure = "RR"\nmeans = { a = ".5" }', "cannot check (the values that RR can have"),
        ('measure = "RR@100"\nmeans = { a = ".5" }', "cannot check (too many sums of 101 different values"),
        ('measure = "P@5"\nmeans = { a = "1e14" }', "not attainable (with no number of queries up to 2,000)"),
        ('each = [0, "1/2", 1]\nmeans = { a = ".75" }\nn = 2', "reproduced only under a sum of 3/2 for a (n = 2)"),
    ],
)
def test_means_without_their_queries(write: Write, rest: str, expected: str) -> None:
    """Attainable with some n, with none, or not to be checked, with the reason."""
    assert verdict(write(claim("mean", rest))).startswith(expected)


# ---------------------------------------------------------------- slices


def test_a_wrong_cell_is_named(write: Write) -> None:
    """One cell off: the slice, run and column, and what it is."""
    path = write(
        claim("slices", 'file = "r.csv"\ncolumns = ["slice", "run", "n", "R@1"]\nrows = [["lang=en", "v", 2, 0.60]]')
    )
    (path.parent / "r.csv").write_text(
        "run,query_id,lang,expected_id,ranked_ids\nv,1,en,A,A;B\nv,2,en,A,B\nv,3,fr,A,\nv,4,en,NONE,B\n"
    )
    assert verdict(path) == "not reproduced (nearest: lang=en v R@1 0.5000; 1 of 2 cells differ)"


@pytest.mark.parametrize(
    ("name", "run", "told"),
    [
        ("tongue=en", "v", "no slice 'tongue=en'"),
        ("lang=xx", "v", "no slice 'lang=xx'"),
        ("all", "w", "no run 'w'"),
    ],
)
def test_slices_that_are_not_there(write: Write, name: str, run: str, told: str) -> None:
    """A column, value or run that the file does not have: cannot check, with the reason."""
    rows = f'rows = [["{name}", "{run}", 0.5]]'
    path = write(claim("slices", f'file = "r.csv"\ncolumns = ["slice", "run", "R@1"]\n{rows}'))
    (path.parent / "r.csv").write_text("run,query_id,lang,expected_id,ranked_ids\nv,1,en,A,A;B\n")
    assert verdict(path).startswith("cannot check (") and told in verdict(path)


# ---------------------------------------------------------------- expectations, errors, the command


@pytest.mark.parametrize(
    ("written", "word", "detail"),
    [
        ("reproduced", "reproduced", ""),
        ("reproduced only under ideal=returned", "reproduced only under", "ideal=returned"),
        ("reproduced only under …", "reproduced only under", ""),
        ("cannot check", "cannot check", ""),
    ],
)  # fmt: skip
def test_expected_verdicts(written: str, word: str, detail: str) -> None:
    """The words of a verdict, and a part of what follows them."""
    expected = read_expected(written)
    assert (expected.word, expected.detail.removesuffix("…").strip()) == (word, detail)


def test_without_an_expectation_a_claim_has_to_be_reproduced(write: Write) -> None:
    """Every other verdict fails, one that is expected passes, and a wrong expectation fails."""
    text = claim("ratio", 'ratio = "1/3"\nstated = ".34"')
    assert not mp.claims(write(text)).passed
    assert mp.claims(write(text + 'expect = "not reproduced"\n')).passed
    assert not mp.claims(write(text + 'expect = "cannot check"\n')).passed


@pytest.mark.parametrize(
    ("text", "line", "fact", "hint"),
    [
        ('titel = "x"\n[[claim]]\nid = "c"', 1, "unknown key 'titel'", "did you mean 'title'?"),
        (claim("measures", EXAMPLE + 'vaules = { "P@1" = 1 }'), 6, "unknown key 'vaules'", "did you mean 'values'?"),
        (claim("measures", EXAMPLE + '[claim.valeus]\n"P@1" = 1'), 6, "unknown key 'valeus'", "did you mean 'values'?"),
        (claim("ratio", 'ratio = "1/3"\nstated = 1') + claim("ratio", "x = 1"), 9, "unknown key 'x'", "ratio"),
        (claim("mesures", ""), 3, "'mesures' is not a kind", "did you mean 'measures'?"),
        ('[[claim]]\nid = "c"\nknid = "ratio"', 3, "unknown key 'knid'", "did you mean 'kind'?"),
        (claim("measures", EXAMPLE), 1, "states no value", "values"),
        (claim("measures", 'run = ["A"]\nvalues = { "P@1" = 1 }'), 1, "has no judgments", "judgments"),
        (claim("measures", 'judgments = { A = 1 }\nvalues = { "P@1" = 1 }'), 1, "has no run", "run"),
        (claim("measures", EXAMPLE + '[claim.values]\n"P@1" = 1\n"P@3" = "high"'), 8, "'high' is not", "decimal"),
        (claim("measures", EXAMPLE + 'values = { "Q@1" = 1 }'), 6, "'Q@1' is not a measure", "nDCG"),
        (claim("measures", EXAMPLE + 'values = { "P" = 1 }'), 6, "P needs a cutoff", "P@10"),
        (claim("measures", EXAMPLE + 'contract = "chaptre"\nvalues = { RR = 1 }'), 6, "'chaptre' is not a", "known"),
        (claim("measures", EXAMPLE + 'set = { gian = "linear" }\nvalues = { RR = 1 }'), 6, "'gian' is not", "'gain'"),
        (claim("measures", 'data = "nix"\nvalues = { RR = 1 }'), 4, "there is no [data.nix]", "[data.nix]"),
        (claim("measures", EXAMPLE + "values = { RR = 1 }\nn = 0"), 7, "n is not an integer", "n = 10"),
        (claim("measures", 'judgments = { A = "x" }\nrun = ["A"]\nvalues = { RR = 1 }'), 4, "grade 'x'", "number"),
        (claim("measures", EXAMPLE + "by_query = { x = { RR = 1 } }"), 6, "query 'x' is not judged", "judged"),
        (claim("measures", "judgments = { A = 1 }\nrankings = {}\nvalues = { RR = 1 }"), 5, "has no ranking", "told"),
        (claim("ratio", 'ratio = "1/3"\nstated = 1\nexpect = "fine"'), 6, "'fine' is not a verdict", "cannot check"),
        (claim("decisions", STATES + 'endpoint = ["kpet"]\nvalues = { recall = 1 }'), 5, "'kpet' is not a", "kept"),
        (
            claim("decisions", STATES + 'endpoint = ["kept"]\nvalues = { recal = 1 }'),
            6,
            "'recal' is no value",
            "recall",
        ),
        (claim("decisions", STATES + "values = { recall = 1 }"), 1, "has no endpoint", "endpoint"),
        (claim("mean", 'means = { a = ".5" }'), 1, "needs a measure", "each"),
        (claim("ratio", 'ratio = ["1/3", "2/3"]\nstated = 1'), 4, "ratio is not one number", "21/43"),
        (claim("ratio", 'ratio = "1/3"\nstated = []'), 5, "stated states no number", "list"),
        (claim("measures", EXAMPLE + "values = { RR = [] }"), 6, "RR states no number", "list"),
        (claim("decisions", STATES + 'endpoint = ["kept"]\nvalues = { recall = [] }'), 6, "recall states no", "list"),
        (
            claim("slices", 'file = "x"\ncolumns = ["slice", "run", "R@1"]\nrows = [["all", "v"]]'),
            6,
            "has not the",
            "cell",
        ),
        (claim("ratio", "ratio = .5"), 4, "is not TOML", "text"),
        (claim("ratio", 'ratio = "1/3"\nstated = 1') * 2, 7, "is there twice", "id"),
        ("", None, "there is no claim", "[[claim]]"),
    ],
)
def test_a_fault_of_the_file_is_named_with_its_line(
    write: Write, text: str, line: int | None, fact: str, hint: str
) -> None:
    """Typos, missing keys, wrong numbers: file and line, and the nearest right key."""
    path = write(text)
    with pytest.raises(MetricpactError) as caught:
        mp.claims(path)
    assert isinstance(caught.value, InputError)
    assert caught.value.source == str(path)
    assert fact in caught.value.fact and hint in caught.value.hint
    assert caught.value.line == line


def typed(folder: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """The command as a user types it."""
    return subprocess.run(
        [sys.executable, "-m", "metricpact", "claims", *arguments],
        cwd=folder, input=stdin, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_one_command_checks_the_chapter(tmp_path: Path) -> None:
    """By its name, from anywhere: exit 0 and the document; markdown and csv too."""
    done = typed(tmp_path, "chapter", "-o", "json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert (document["schema"], document["passed"], len(document["claims"])) == ("metricpact.claims/1", True, 23)
    assert {one["id"]: one["verdict"] for one in document["claims"]} == CHAPTER
    assert document["counts"]["reproduced"] == 20
    shown = typed(tmp_path, "chapter", "--claim", "promotion", "--claim", "mean-recalls", "-o", "markdown")
    assert shown.returncode == 0 and "| promotion |" in shown.stdout and "recall = .4884" in shown.stdout
    table = typed(tmp_path, "chapter", "--claim", "ratio-promotion", "-o", "table", "-p", "2").stdout
    assert "21/43 = .4884" in table and " 0.49 " in table and "all verdicts as expected" in table
    flat = typed(tmp_path, "chapter", "--claim", "promotion", "-o", "csv").stdout.splitlines()
    assert flat[0] == "claim,kind,verdict,as_expected,about,stated,computed,holds,signature,reading" and len(flat) == 5


def test_an_unexpected_verdict_is_exit_1_and_a_typo_exit_2(tmp_path: Path, write: Write) -> None:
    """The note names the line of the claim; a typo names line and key; standard input works."""
    write(claim("ratio", 'ratio = "1/3"\nstated = ".34"'))
    done = typed(tmp_path, "claims.toml", "-o", "csv")
    assert done.returncode == 1
    assert done.stderr == ("note: claims.toml:1: c: not reproduced (nearest: 1/3 is 0.333333); expected: reproduced\n")
    assert typed(tmp_path, "claims.toml", "--quiet").stderr == ""
    piped = typed(tmp_path, "-", "-o", "csv", stdin=claim("ratio", 'ratio = "1/3"\nstated = ".33"'))
    assert piped.returncode == 0
    write(claim("measures", 'judgments = "nix"\nrun = ["A"]\nvalues = { RR = 1 }'))
    unread = typed(tmp_path, "claims.toml", "-o", "csv", "--quiet")
    assert unread.returncode == 1 and unread.stdout.splitlines()[1].startswith('c,measures,"cannot check (nix: ')
    write(claim("ratio", 'ratio = "1/3"\nstatde = ".34"'))
    wrong = typed(tmp_path, "claims.toml")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("error: claims.toml:5: unknown key 'statde'\n\nhint: did you mean 'stated'?")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "Missing argument"),
        (["nix.toml"], "there is no such file"),
        (["chapter", "--claim", "nix"], "no claim is called 'nix'"),
        (["chapter", "-o", "trec"], "'trec' is not one of"),
    ],
)
def test_wrong_usage_gets_exit_2(tmp_path: Path, arguments: list[str], told: str) -> None:
    """A fact and a hint."""
    done = typed(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr and "hint: " in done.stderr and "Traceback" not in done.stderr


def test_the_example_of_the_reference_page_is_a_claims_file(write: Write) -> None:
    """What the module's page shows can be checked as it stands."""
    from metricpact.crosscheck.claims import check

    page = (check.__doc__ or "").partition("::\n\n")[2].partition("\n\nKinds")[0]
    text = "\n".join(line.removeprefix("    ") for line in page.splitlines())
    assert [result.verdict.text for result in mp.claims(write(text)).results] == ["reproduced"]


def test_tables_of_the_kinds_agree() -> None:
    """Every kind that a file may name is checked, and its keys are known."""
    from metricpact.crosscheck.claims.check import KINDS
    from metricpact.crosscheck.claims.document import INPUTS, STATED

    assert set(KINDS) == set(INPUTS) == set(STATED)
    assert all(not INPUTS[one] & STATED[other] for one, other in product(KINDS, KINDS) if one == other)
