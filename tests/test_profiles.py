"""Profiles as documents, by name and in signatures; the tools that they speak of, by name and by measure."""

from __future__ import annotations

from pathlib import Path

import metricpact as mp
import pytest
from fidelity import MEASURES
from metricpact.bridges.evaluate import evaluate
from metricpact.bridges.observed import registry
from metricpact.contracts.contract import FIELDS
from metricpact.contracts.errors import ContractError, DependencyError, InputError, LimitError, UnsupportedError
from metricpact.contracts.measures import parse_measure
from metricpact.contracts.profiles import Profile, load_profile, profile_names
from metricpact.contracts.signature import parse_signature, sign
from metricpact.crosscheck.known import load_known

NAMES = [
    "beir-2.2.0", "cookbook", "gdeval", "ir_measures-0.4.3", "msmarco", "mteb-2", "pytrec_eval-0.5.11", "ranx-0.3.21",
    "ranx-dicts-0.3.21", "sentence-transformers-6", "sklearn-1.9", "torchmetrics-1.9", "trec_eval-10",
    "trec_eval-10-c", "trec_eval-9.0.8", "trec_eval-9.0.8-c", "trectools-0.0.50",
]  # fmt: skip
JUDGED = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 1, "d": 0}}
RANKED = {"q1": {"b": 3.0, "a": 2.0, "x": 1.0}, "q2": {"d": 2.0, "a": 1.0}}


def test_these_are_the_profiles() -> None:
    """The chapter's contract and one profile or more of every library whose numbers are met in practice."""
    assert profile_names() == ["chapter", *NAMES]


@pytest.mark.parametrize("name", NAMES)
def test_a_profile_says_where_it_comes_from(name: str) -> None:
    """Library, version, status and domain; a source of every field that departs from the chapter, overrides too."""
    profile, chapter = load_profile(name), load_profile("chapter").contract
    assert profile.library
    assert profile.library_version
    assert profile.status == ("stated" if name == "cookbook" else "verified")
    assert profile.domain
    departing = set(profile.contract.diff(chapter))
    departing |= {f"{pattern}.{name}" for pattern, values in profile.overrides.items() for name in values}
    assert departing - set(profile.sources) == set()
    assert {key for key in profile.sources if "." not in key} <= set(FIELDS)


def test_a_full_source_is_given_by_every_library_of_many_measures() -> None:
    """Where a library has all kinds of measures, each field has its source, those as in the chapter too."""
    whole = [name for name in NAMES if name not in ("cookbook", "gdeval", "msmarco", "sklearn-1.9")]
    assert {name: set(FIELDS) - set(load_profile(name).sources) for name in whole} == {name: set() for name in whole}


@pytest.mark.parametrize("name", ["chapter", *NAMES])
def test_a_profile_written_and_read_is_the_same(name: str, tmp_path: Path) -> None:
    """The TOML document holds everything, sources and domain included."""
    path = tmp_path / "ours.toml"
    path.write_text(load_profile(name).to_toml(), encoding="utf-8")
    assert Profile.from_toml(path) == load_profile(name)


def test_what_is_changed_is_nobodys_claim_any_more(tmp_path: Path) -> None:
    """A copy of a library's profile with another gain is not verified, and has neither its sources nor its domain."""
    path = tmp_path / "ours.toml"
    path.write_text(load_profile("ranx-0.3.21").to_toml().replace('gain = "linear"', 'gain = "exponential"'))
    changed = Profile.from_toml(path)
    assert (changed.name, changed.status, changed.domain, changed.sources) == ("ours", "", (), {})
    assert "gain" not in load_profile("ranx-0.3.21").with_fields({"gain": "exponential"}).sources


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("measure", ["nDCG@10", "RR@10", "RR", "Judged@10", "Success@5", "P(rel=2)@5"])
def test_a_signature_leads_back_to_the_profile(name: str, measure: str) -> None:
    """What is signed under a profile, or under one with a field changed, is read back as that contract."""
    asked, profile = parse_measure(measure), load_profile(name)
    for one in (profile, profile.with_fields({"threshold": 2, "undefined": "one"})):
        signature = parse_signature(str(sign(asked, one, ("reference", "metricpact:0"))))
        assert signature.base == f"{name}/1"
        assert signature.contract() == one.for_measure(asked)


def test_a_library_finds_its_profile_without_a_version() -> None:
    """One profile of a name is found; of several none is guessed."""
    assert load_profile("pytrec_eval").name == "pytrec_eval-0.5.11"
    assert load_profile("ranx").name == "ranx-0.3.21"
    assert load_profile("ranx-dicts").name == "ranx-dicts-0.3.21"
    with pytest.raises(ContractError, match="more than one contract") as caught:
        load_profile("trec_eval")
    assert "trec_eval-10, trec_eval-9.0.8" in caught.value.hint
    with pytest.raises(ContractError, match="not a contract"):
        load_profile("tre.*")


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ('domain = "all"', "domain is not a list"),
        ("domain = [1]", "domain is not a list"),
        ('[sources]\ntie = "file.c"', "'tie' is neither a field nor an override"),
        ('[sources]\n"RR@*.ties" = "file.c"', "neither a field nor an override"),
        ("[sources]\nties = 1", "ties is not text"),
        ("sources = 1", "sources is not a table"),
    ],
)
def test_a_faulty_document_is_refused(text: str, fact: str, tmp_path: Path) -> None:
    """The error names the file and the key."""
    (tmp_path / "ours.toml").write_text(text)
    with pytest.raises(ContractError, match=fact) as caught:
        Profile.from_toml(tmp_path / "ours.toml")
    assert "ours.toml" in caught.value.fact


def test_every_tool_has_a_profile_and_says_what_it_lacks() -> None:
    """The tools are those of the profiles but trec_eval, which is watched through pytrec_eval, and the cookbook."""
    assert {registry.profile_of(name).name for name in registry.TOOLS} == {
        name for name in NAMES if not name.startswith("trec_eval") and name != "cookbook"
    }
    assert [name for name in registry.TOOLS if not registry.missing(name)] == registry.installed_tools()
    with pytest.raises(ContractError, match="not a tool") as caught:
        registry.get_tool("terrier")
    assert "pytrec_eval" in caught.value.hint


def test_a_tool_answers_by_our_names() -> None:
    """Spellings are read, canonical names answered; None is the mean of a measure that the tool has not."""
    judgments, run = mp.read_qrels(JUDGED), mp.read_run(RANKED)
    means = registry.native_means("pytrec_eval", judgments, run, ["recip_rank", "RR@1"])
    assert means == {"RR": 0.5, "RR@1": None}
    values = registry.native_values("pytrec_eval", judgments, run, ["R", "SetR", "DCG@3", "ndcg_cut_1"])
    assert values == {"R": {"q1": 0.5, "q2": 1.0}, "SetR": {"q1": 0.5, "q2": 1.0}, "nDCG@1": {"q1": 0.0, "q2": 0.0}}
    assert registry.own_name("pytrec_eval", "nDCG@10") == "ndcg_cut_10"
    assert registry.own_name("pytrec_eval", "RR@10") is None
    assert registry.native_means("pytrec_eval", judgments, run, ["DCG"]) == {"DCG": None}


def test_what_would_end_the_process_is_refused_before() -> None:
    """An empty ranking, and a query with negative grades only."""
    with pytest.raises(LimitError, match="is empty"):
        registry.native_means("pytrec_eval", mp.read_qrels(JUDGED), mp.read_run({"q1": {}, "q2": {"a": 1.0}}), ["AP"])
    judgments = mp.read_qrels({"q1": {"a": 1}, "q2": {"a": -2}})
    with pytest.raises(LimitError, match="negative grades"):
        registry.native_means("pytrec_eval", judgments, mp.read_run({"q1": {"a": 1.0}}), ["AP"])
    if registry.is_installed("beir"):
        with pytest.raises(LimitError, match="negative grades"):
            registry.native_means("beir", judgments, mp.read_run({"q1": {"a": 1.0}}), ["AP@5"])


def test_what_a_tool_refuses_is_its_answer() -> None:
    """BEIR's MRR looks every query of the run up in the judgments; the profile refuses the same input."""
    if not registry.is_installed("beir"):
        pytest.skip("the package beir is not here")
    judgments, run = mp.read_qrels(JUDGED), mp.read_run({**RANKED, "q9": {"a": 1.0}})
    assert registry.native_means("beir", judgments, run, ["nDCG@3"])["nDCG@3"] is not None
    with pytest.raises(UnsupportedError, match="KeyError: 'q9'") as caught:
        registry.native_means("beir", judgments, run, ["RR@3"])
    assert caught.value.reason == "KeyError: 'q9'"
    with pytest.raises(InputError, match="not judged"):
        evaluate(judgments, run, ["RR@3"], "beir-2.2.0", "reference")


def test_a_tool_that_is_not_here_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the package; nothing else is asked instead."""
    monkeypatch.setattr(registry, "missing", lambda name: "the package beir")
    with pytest.raises(DependencyError, match="beir needs the package beir"):
        registry.native_means("beir", mp.read_qrels(JUDGED), mp.read_run(RANKED), ["nDCG@3"])


def test_the_cookbook_scores_its_ten_questions() -> None:
    """Ten questions with the means of v1 as printed; one that expects NONE and one that was not asked do not count."""
    places = [1, 1, 1, 1, 1, 1, 2, 2, None, None]
    judged = {f"q{at}": {"right": 1} for at in range(10)} | {"none": {"right": 0}, "unasked": {"right": 1}}
    ranked = {
        f"q{at}": ["w1", "w2", "w3"] if place is None else [*["w1", "w2"][: place - 1], "right", "w3"]
        for at, place in enumerate(places)
    } | {"none": ["w1"]}
    means = mp.score(judged, ranked, ["R@1", "R@3", "RR"], contract="cookbook", backend="reference").mean
    assert [f"{float(mean):.2f}" for mean in means.values()] == ["0.60", "0.80", "0.70"]
    assert {mean.n for mean in means.values()} == {10}


@pytest.mark.parametrize("backend", ["pytrec_eval", "ir_measures", "ranx", "sklearn"])
def test_a_watched_library_is_asked_by_the_names_that_check_uses(backend: str) -> None:
    """Where the known differences of a backend have a name for a measure, it is the one used here."""
    known = load_known(backend)
    names = {measure: known.native_name(parse_measure(measure)) for measure in MEASURES}
    named = {measure: name for measure, name in names.items() if name and "exp-log2" not in measure}
    assert named
    assert {measure: registry.own_name(backend, measure) for measure in named} == named
