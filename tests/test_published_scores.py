"""Scores that others published come out: trec_eval's own test outputs, the first round of TREC-COVID, a TREC
DL 2019 run and BM25 runs over Cranfield and SciFact, on both backends and at the published rounding. Every
test states how many values it compared, so that none can drop out unseen.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import metricpact as mp
import pytest
from metricpact.contracts.errors import InputError

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
TREC_EVAL = DATA / "trec_eval_9.0.4" / "test"
COVID = DATA / "trec_covid_r1" / "round1"
ANSWERED = "trec_eval-9.0.8"
COMPLETE = "trec_eval-9.0.8-c"

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="the published files (../shared/data beside the repository) are not here"
)
backends = pytest.mark.parametrize("backend", ["reference", "pytrec_eval"])


class Published(NamedTuple):
    """One printed value: trec_eval's name for the measure, the query (or `all`), the figure as printed."""

    name: str
    query: str
    figure: str


class Asked(NamedTuple):
    """How metricpact is asked for a trec_eval measure: a measure, and the fields unlike the profile's."""

    measure: str
    fields: tuple[tuple[str, str], ...] = ()


PLAIN = {
    "map": "AP",
    "Rprec": "Rprec",
    "Rprec_mult_1.00": "Rprec",
    "bpref": "Bpref",
    "recip_rank": "RR",
    "ndcg": "nDCG",
    "set_P": "SetP",
    "set_recall": "SetR",
    "set_F": "SetF",
}
CUT = {"P": "P", "recall": "R", "ndcg_cut": "nDCG", "map_cut": "AP", "success": "Success", "relative_P": "R"}
# nDCG goes by gains and takes no threshold.
WITHOUT_THRESHOLD = {"nDCG"}
GAINS = {"ndcg_1=3,2=9,4=4.5": "nDCG(gains={0:0,1:3,2:9,4:4.5})"}


def with_threshold(measure: str, threshold: int) -> str:
    """The measure's name with `-l` put as its `rel` parameter."""
    return measure if threshold == 1 or measure in WITHOUT_THRESHOLD else f"{measure}(rel={threshold})"


def asked(name: str, threshold: int = 1) -> Asked | None:
    """What to ask for a name in trec_eval's output; None where metricpact has no such measure."""
    if name in GAINS:
        return Asked(GAINS[name])
    if name in PLAIN:
        return Asked(with_threshold(PLAIN[name], threshold))
    parts = re.fullmatch(r"([A-Za-z_]+)_(\d+)", name)
    if parts is None or parts[1] not in CUT:
        return None
    measure = f"{with_threshold(CUT[parts[1]], threshold)}@{parts[2]}"
    # trec_eval's relative precision divides by the smaller of k and |R|: the capped recall.
    fields = (("recall_denominator", "capped"),) if parts[1] == "relative_P" else ()
    return Asked(measure, fields)


def asked_at_100(name: str) -> Asked | None:
    """The same where `-M 100` cut every ranking first; None where no cutoff of a measure says that.

    Not sayable: Rprec, bpref and set_F have no cutoff; P_k beyond 100 divides by k what was cut at 100;
    ndcg_cut_k beyond 100 has its ideal at k and its documents at 100.
    """
    if name == "ndcg":
        return Asked("nDCG@100", (("ideal_depth", "full"),))
    if name == "set_P":
        return Asked("P@100", (("precision_denominator", "returned"),))
    if name in ("map", "recip_rank", "set_recall"):
        return Asked({"map": "AP@100", "recip_rank": "RR@100", "set_recall": "R@100"}[name])
    plain = asked(name)
    if plain is None or "@" not in plain.measure:
        return None
    measure, cutoff = plain.measure.split("@")
    if int(cutoff) <= 100:
        return plain
    return Asked(f"{measure}@100") if name.startswith(("recall_", "map_cut_")) else None


def printed(path: Path) -> Iterator[Published]:
    """Every line of a trec_eval output file."""
    for line in path.read_text().splitlines():
        name, query, figure = line.split("\t")
        yield Published(name.strip(), query, figure)


def compare(
    values: list[Published],
    ask: dict[str, Asked | None],
    *,
    qrels: Path,
    run: Path,
    contract: str,
    backend: str,
) -> tuple[int, list[tuple[Published, str]]]:
    """How many of the values metricpact has, and those among them that it prints differently."""
    groups: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for wanted in ask.values():
        if wanted is not None and wanted.measure not in groups.setdefault(wanted.fields, []):
            groups[wanted.fields].append(wanted.measure)
    results = {
        fields: mp.score(qrels, run, measures, contract=contract, backend=backend, set=dict(fields))
        for fields, measures in groups.items()
    }
    compared, different = 0, []
    for value in values:
        wanted = ask[value.name]
        if wanted is None:
            continue
        scores = results[wanted.fields]
        ours = (
            scores.mean[wanted.measure].value if value.query == "all" else scores.by_query(wanted.measure)[value.query]
        )
        compared += 1
        if ours is None or f"{ours:.4f}" != value.figure:
            different.append((value, f"{wanted.measure} {ours}"))
    return compared, different


def compare_complete(
    values: list[Published], ask: dict[str, Asked | None], run: Path, backend: str
) -> tuple[int, list[tuple[Published, str]]]:
    """`compare` for the outputs of `-c`, which go by the plain test judgments."""
    return compare(values, ask, qrels=TREC_EVAL / "qrels.test", run=run, contract=COMPLETE, backend=backend)


@pytest.fixture(scope="module")
def truncated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """trec_eval's truncated run with the words behind the sixth column of five lines taken away."""
    lines = [line.split()[:6] for line in (TREC_EVAL / "results.trunc").read_text().splitlines()]
    path = tmp_path_factory.mktemp("published") / "results.trunc"
    path.write_text("".join(" ".join(line) + "\n" for line in lines))
    return path


@pytest.fixture(scope="module")
def truncated_at_100(truncated: Path) -> Path:
    """The same cut to the first hundred documents of each query, as `-M 100` does before it scores."""
    rows = [line.split() for line in truncated.read_text().splitlines()]
    rows.sort(key=lambda row: (row[0], float(row[4]), row[2]), reverse=True)
    kept = [row for query in ("301", "303") for row in [row for row in rows if row[0] == query][:100]]
    path = truncated.with_name("results.trunc.100")
    path.write_text("".join(" ".join(row) + "\n" for row in kept))
    return path


@backends
@pytest.mark.parametrize(
    ("output", "qrels", "threshold", "expected"),
    [
        ("out.test", "qrels.test", 1, 13),
        ("out.test.a", "qrels.test", 1, 57),
        ("out.test.aq", "qrels.test", 1, 228),
        ("out.test.aql", "qrels.rel_level", 2, 228),
        ("out.test.meas_params", "qrels.test", 1, 48),
    ],
)
def test_trec_eval_prints_the_same_over_answered_queries(
    output: str, qrels: str, threshold: int, expected: int, backend: str
) -> None:
    """trec_eval's own outputs without `-c`: default, all measures, per query, `-l 2`, and with parameters."""
    values = list(printed(TREC_EVAL / output))
    ask = {value.name: asked(value.name, threshold) for value in values}
    compared, different = compare(
        values,
        ask,
        qrels=TREC_EVAL / qrels,
        run=TREC_EVAL / "results.test",
        contract=ANSWERED,
        backend=backend,
    )
    assert (compared, different) == (expected, [])


def test_words_behind_the_sixth_column_are_refused() -> None:
    """trec_eval's truncated run as shipped: its first line goes on behind the tag, which is no run file's line."""
    with pytest.raises(InputError, match="9 columns") as caught:
        mp.read_run(TREC_EVAL / "results.trunc")
    assert caught.value.line == 1


@backends
def test_trec_eval_prints_the_same_over_all_judged_queries(truncated: Path, backend: str) -> None:
    """`-c` on a run that misses query 302, which counts as 0 in every mean."""
    values = list(printed(TREC_EVAL / "out.test.aqc"))
    ask = {value.name: asked(value.name) for value in values}
    compared, different = compare_complete(values, ask, truncated, backend)
    assert (compared, different) == (171, [])


@backends
def test_a_cutoff_of_100_says_what_option_m_says(truncated: Path, backend: str) -> None:
    """`-c -M 100` through measures with a cutoff, on the whole run; 27 values cannot be said that way."""
    values = [value for value in printed(TREC_EVAL / "out.test.aqcM") if asked(value.name) is not None]
    values = [value for value in values if not value.name.startswith(("relative_P", "Rprec_mult"))]
    ask = {value.name: asked_at_100(value.name) for value in values}
    unsaid = sorted({name for name, wanted in ask.items() if wanted is None})
    compared, different = compare_complete(values, ask, truncated, backend)
    assert unsaid == [
        "P_1000", "P_200", "P_500", "Rprec", "bpref",
        "ndcg_cut_1000", "ndcg_cut_200", "ndcg_cut_500", "set_F",
    ]  # fmt: skip
    assert (len(values), compared, different) == (141, 114, [])


@backends
def test_a_run_cut_at_100_gives_every_value_of_option_m(truncated_at_100: Path, backend: str) -> None:
    """`-c -M 100` by cutting the rankings beforehand: then all of its values are the plain measures."""
    values = list(printed(TREC_EVAL / "out.test.aqcM"))
    ask = {value.name: asked(value.name) for value in values}
    compared, different = compare_complete(values, ask, truncated_at_100, backend)
    assert (compared, different) == (171, [])


def test_names_without_a_measure_are_these() -> None:
    """What trec_eval prints and metricpact has not is listed, so that a new measure is noticed."""
    names = {value.name for value in printed(TREC_EVAL / "out.test.a")}
    lacking = {name for name in names if asked(name) is None}
    families = {re.sub(r"_?[\d.]+$", "", name) for name in lacking}
    assert (len(names), len(lacking)) == (94, 37)
    assert families == {
        "runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret", "gm_map", "gm_bpref",
        "iprec_at_recall", "11pt_avg", "infAP", "Rprec_mult", "utility", "binG", "G", "ndcg_rel", "Rndcg",
        "set_relative_P", "set_map",
    }  # fmt: skip


@backends
def test_the_trec_covid_leaderboard(backend: str) -> None:
    """Round 1: nDCG@10, P@5, bpref and MAP of all 24 runs that are here, over all judged topics."""
    columns = {"nDCG@10": "ndcg@10", "P@5": "p@5", "Bpref": "bpref", "AP": "MAP"}
    with (COVID / "leaderboard.csv").open(newline="") as file:
        rows = {row["run"]: row for row in csv.DictReader(file)}
    judgments = mp.read_qrels(COVID / "qrels" / "qrels-rnd1.txt")
    compared, different = 0, []
    for path in sorted((COVID / "runs").iterdir()):
        scores = mp.score(judgments, path, list(columns), contract=COMPLETE, backend=backend)
        for measure, column in columns.items():
            mean = scores.mean[measure]
            compared += 1
            if mean.n != 30 or f"{mean.value:.4f}" != rows[path.name][column]:
                different.append((path.name, column, mean.value, rows[path.name][column]))
    assert (compared, different) == (96, [])


@backends
@pytest.mark.parametrize("contract", [ANSWERED, COMPLETE])
def test_the_bm25_run_of_trec_dl_2019(contract: str, backend: str) -> None:
    """MAP and nDCG@10 of a BM25 run over the 43 judged topics, as its authors publish them."""
    folder = DATA / "tilde_dl19"
    lines = (folder / "PUBLISHED.tsv").read_text().splitlines()
    published = dict(line.split("\t") for line in lines if not line.startswith("#"))
    scores = mp.score(
        folder / "data" / "qrels" / "2019qrels-pass.txt",
        folder / "data" / "runs" / "run.trec2019-bm25.res",
        ["AP", "nDCG@10"],
        contract=contract,
        backend=backend,
    )
    ours = {"map": f"{scores.mean['AP'].value:.4f}", "ndcg_cut_10": f"{scores.mean['nDCG@10'].value:.4f}"}
    assert ours == published == {"map": "0.3766", "ndcg_cut_10": "0.4973"}


@backends
def test_bm25_over_cranfield_and_scifact(backend: str) -> None:
    """Five BM25 runs against graded, binary and raw-code judgments: linear gain, all judged topics."""
    folder = DATA / "bm25_runs"
    with (folder / "SCORES_cranfield_scifact.tsv").open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    compared, different = 0, []
    for row in rows:
        run = folder / f"{row['qrels'].split('.')[0]}.bm25s-{row['run']}.run"
        names = [name for name in row if name not in ("qrels", "run", "queries_in_qrels", "queries_in_run")]
        measures = {name: wanted.measure for name in names if (wanted := asked(name)) is not None}
        asking = list(measures.values())
        scores = mp.score(folder / row["qrels"], run, asking, contract=COMPLETE, backend=backend)
        for name, measure in measures.items():
            mean = scores.mean[measure]
            compared += 1
            if mean.n != int(row["queries_in_qrels"]) or f"{mean.value:.4f}" != f"{float(row[name]):.4f}":
                different.append((row["qrels"], row["run"], name, mean.value, row[name]))
    assert (compared, different) == (77, [])
