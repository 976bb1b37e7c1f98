"""Every verified profile is what its tool does: the reference under it gives the tool's own numbers on raw inputs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import fidelity
import metricpact as mp
import pytest
from fidelity import DOMAINS, differences, measures_of, notices
from metricpact.bridges.observed import registry
from metricpact.contracts.measures import parse_measure

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
COVID_QRELS = "trec_covid_r1/round1/qrels/qrels-rnd1.txt"
real_files = pytest.mark.skipif(
    not DATA.is_dir(), reason="the published files (../shared/data beside the repository) are not here"
)
installed = pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=pytest.mark.skipif(
                not registry.is_installed(domain.tool), reason=f"{registry.missing(domain.tool)} is not here"
            ),
        )
        for name, domain in DOMAINS.items()
    ],
)
MANY = (1150,) * 2
FEW = (1, 2, 3, 4) * 6


@pytest.mark.slow
@installed
def test_a_profile_is_what_its_tool_does(name: str) -> None:
    """On at least 2,000 rankings for each measure, and on small inputs, where means can differ: values and means."""
    profile, tool = fidelity.profile_and_tool(name)
    compared: Counter[str] = Counter()
    rankings: Counter[str] = Counter()  # trectools gives no value of a query without a hit, which only its mean shows
    found: list[str] = []
    for given in (*fidelity.inputs(name, 1, MANY), *fidelity.inputs(name, 2, FEW)):
        counts, wrong = differences(profile, given)
        compared += counts
        rankings += Counter(dict.fromkeys(given.measures, len(given.run.queries)))
        found += wrong
    assert found[:10] == []
    assert {measure: count for measure, count in rankings.items() if count < 2000} == {}
    assert set(compared) - {""} == {one for part in DOMAINS[name].parts for one in measures_of(tool, part)}


@installed
def test_a_profile_with_one_field_otherwise_is_noticed(name: str) -> None:
    """Each field of the contract and of each override, set to each other value, is told apart by some input."""
    profile, tool = fidelity.profile_and_tool(name)
    given = [*fidelity.inputs(name, 3, (120,)), *fidelity.inputs(name, 2, FEW)]
    measures = [measure for part in DOMAINS[name].parts for measure in measures_of(tool, part)]
    unnoticed, alike = [], DOMAINS[name].alike
    for where, value, changed in fidelity.mutations(profile, measures):
        same = value in alike.get(where.rpartition(".")[2], ()) or where == "duplicate"  # a dict has no duplicates
        if not same and not any(notices(changed, one) for one in given):
            unnoticed.append(f"{where}={value}")
    assert unnoticed == []


REAL = {
    "tilde_dl19": ("tilde_dl19/data/qrels/2019qrels-pass.txt", "tilde_dl19/data/runs/run.trec2019-bm25.res"),
    "cranfield": ("bm25_runs/cranfield.graded.qrels", "bm25_runs/cranfield.bm25s-B.run"),
    "cranfield raw codes": ("bm25_runs/cranfield.rawcodes.qrels", "bm25_runs/cranfield.bm25s-A.run"),
    "scifact": ("bm25_runs/scifact.test.qrels", "bm25_runs/scifact.bm25s-A.run"),
    "covid BERT": (COVID_QRELS, "trec_covid_r1/round1/runs/BERT"),
    "covid sab20.1.blind": (COVID_QRELS, "trec_covid_r1/round1/runs/sab20.1.blind"),
    "covid Technion-RRF": (COVID_QRELS, "trec_covid_r1/round1/runs/Technion-RRF"),
}
AT = ["P@10", "R@100", "R", "RR", "RR@10", "AP", "AP@100", "nDCG@10", "nDCG", "Success@5", "Rprec", "SetP", "SetF",
      "Bpref", "Judged@10", "DCG@10"]  # fmt: skip


@real_files
@installed
@pytest.mark.parametrize("files", REAL)
def test_a_profile_is_what_its_tool_does_on_real_files(name: str, files: str) -> None:
    """Public judgments and runs, cut to what the domain admits: per query where the tool gives that, and the mean."""
    profile, tool = fidelity.profile_and_tool(name)
    judgments, run = (read(DATA / path) for read, path in zip((mp.read_qrels, mp.read_run), REAL[files], strict=True))
    judgments, run = fidelity.inside(name, judgments, run)
    if not len(run):
        pytest.skip("every ranking of this run has ties, or scores below 0, outside the domain")
    outside = fidelity.outside(name, judgments)
    measures = [measure for measure in AT if registry.own_name(tool, measure) is not None]
    measures = [measure for measure in measures if parse_measure(measure).family not in outside]
    given = fidelity.asked(tool, judgments, run, measures)
    compared, found = differences(profile, given)
    assert given.native is not None
    assert found[:10] == []
    assert compared.total() >= len(given.measures)
