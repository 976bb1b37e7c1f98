"""The profiles of trec_eval: its C code inside pytrec_eval on random inputs, and the outputs that its releases ship."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import fidelity
import metricpact as mp
import pytest
from fidelity import Part
from metricpact.contracts.contract import FIELDS
from metricpact.contracts.errors import MetricpactError
from metricpact.contracts.profiles import Profile, load_profile
from test_published_scores import Asked, Published, asked, printed

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "trec_eval" / "test"
FEW = (1, 2, 3, 4) * 6
shipped = pytest.mark.skipif(
    not DATA.is_dir(), reason="trec_eval's own files (../shared/data beside the repository) are not here"
)


def with_zeros(given: fidelity.Input) -> fidelity.Input:
    """What -c does to what trec_eval gave: a judged query without results is 0, and the mean is over all."""
    assert given.native is not None
    zeros = dict.fromkeys(given.judgments.queries, 0.0)
    values = {measure: {**zeros, **found} for measure, found in given.native.values.items()}
    means = {measure: sum(found.values()) / len(found) for measure, found in values.items()}
    return replace(given, native=replace(given.native, values=values, means=means))


def of_trec_eval_9(name: str, seed: int, sizes: tuple[int, ...]) -> list[fidelity.Input]:
    """Random inputs with what the C code of 9.0.8 gives for them, without -c or with it."""
    given = fidelity.inputs("pytrec_eval-0.5.11", seed, sizes)
    return [with_zeros(one) for one in given] if name.endswith("-c") else given


@pytest.mark.slow
@pytest.mark.parametrize("name", ["trec_eval-9.0.8", "trec_eval-9.0.8-c"])
def test_the_code_of_trec_eval_9_gives_the_same(name: str) -> None:
    """The C code of 9.0.8 on 2,300 random rankings and on small inputs, values and means."""
    given = [*of_trec_eval_9(name, 1, (1150, 1150)), *of_trec_eval_9(name, 2, FEW)]
    results = [fidelity.differences(load_profile(name), one) for one in given]
    assert [wrong for _, found in results for wrong in found][:10] == []
    assert min(sum((counts for counts, _ in results), Counter()).values()) >= 2000


@pytest.mark.parametrize("name", ["trec_eval-9.0.8", "trec_eval-9.0.8-c"])
def test_trec_eval_9_with_one_field_otherwise_is_noticed(name: str) -> None:
    """Each field, set to each other value, is told apart by some input (a dict has no duplicates)."""
    given = [*of_trec_eval_9(name, 3, (120,)), *of_trec_eval_9(name, 2, FEW)]
    changed = fidelity.mutations(load_profile(name), fidelity.measures_of("pytrec_eval", Part()))
    unnoticed = [
        f"{where}={value}"
        for where, value, other in changed
        if where != "duplicate" and not any(fidelity.notices(other, one) for one in given)
    ]
    assert unnoticed == []


class Output:
    """One output of trec_eval 10: its figures, and how metricpact is asked for them under a profile."""

    def __init__(self, output: str, qrels: str, run: str, threshold: int = 1) -> None:
        self.values = list(printed(DATA / output))
        self.ask = {value.name: asked(value.name, threshold) for value in self.values}
        self.judgments = mp.read_qrels(DATA / qrels)
        self.run = mp.read_run(DATA / run)

    def differences(self, profile: Profile) -> tuple[int, list[tuple[Published, str]]]:
        """How many figures metricpact has, and those that it prints otherwise."""
        wanted: dict[Asked, None] = dict.fromkeys(one for one in self.ask.values() if one is not None)
        results = {
            fields: mp.score(self.judgments, self.run, [one.measure for one in wanted if one.fields == fields],
                             profile, "reference", set=dict(fields))
            for fields in dict.fromkeys(one.fields for one in wanted)
        }  # fmt: skip
        compared, different = 0, []
        for value in self.values:
            one = self.ask[value.name]
            if one is None:
                continue
            scores, compared = results[one.fields], compared + 1
            ours = scores.mean[one.measure].value if value.query == "all" else scores.by_query(one.measure)[value.query]
            if ours is None or f"{ours:.4f}" != value.figure:
                different.append((value, f"{one.measure} {ours}"))
        return compared, different


def outputs(name: str, folder: Path) -> Iterator[tuple[Output, int]]:
    """The outputs of trec_eval 10 that a profile speaks of, and how many of their figures metricpact has.

    The run of -c as shipped has words behind the sixth column of five lines, which are taken away.
    """
    if name == "trec_eval-10":
        yield Output("out.test", "qrels.test", "results.test"), 13
        yield Output("out.test.aq", "qrels.test", "results.test"), 228
        yield Output("out.test.aql", "qrels.rel_level", "results.test", 2), 228
        yield Output("out.test.meas_params", "qrels.test", "results.test"), 48
        return
    lines = [line.split()[:6] for line in (DATA / "results.trunc").read_text().splitlines()]
    (folder / "results.trunc").write_text("".join(" ".join(line) + "\n" for line in lines))
    yield Output("out.test.aqc", "qrels.test", str(folder / "results.trunc")), 228


@shipped
@pytest.mark.parametrize("name", ["trec_eval-10", "trec_eval-10-c"])
def test_the_outputs_of_trec_eval_10_come_out(name: str, tmp_path: Path) -> None:
    """Default, all measures by query, -l 2 and parameters without -c; all measures by query with it."""
    profile = load_profile(name)
    for output, expected in outputs(name, tmp_path):
        assert output.differences(profile) == (expected, [])


UNTOLD = [
    "duplicate", "extra_query", "negative_grade", "order", "rank_conflict", "score_width", "self_match", "undefined",
]  # fmt: skip


@shipped
@pytest.mark.parametrize("name", ["trec_eval-10", "trec_eval-10-c"])
def test_what_the_outputs_of_trec_eval_10_cannot_tell(name: str, tmp_path: Path) -> None:
    """The fields of which some other value would change no printed figure: the profile has them from the source."""
    profile, given = load_profile(name), [output for output, _ in outputs(name, tmp_path)]
    untold = set()
    for field, value in profile.contract.fields().items():
        for other in FIELDS[field].values:
            if other == value:
                continue
            changed = replace(profile, contract=profile.contract.replace(**{field: other}))
            try:
                noticed = any(output.differences(changed)[1] for output in given)
            except MetricpactError:
                noticed = True
            if not noticed:
                untold.add(field)
    assert untold == {*UNTOLD, "gain" if name.endswith("-c") else "queries"}
