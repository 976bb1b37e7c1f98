"""What is known of the libraries: files that say why, and entries that explain or go."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from metricpact.bridges.registry import BACKENDS, get_bridge, is_installed
from metricpact.contracts.errors import ContractError
from metricpact.contracts.measures import parse_measure
from metricpact.crosscheck.check import AGREES, KNOWN, Record, Side, stale_entries
from metricpact.crosscheck.corpus import Answer, load_cases
from metricpact.crosscheck.known import FOLDER, KINDS, CaseDifference, Convention, Known, load_known

CASES = {case.id: case for case in load_cases()}
GOOD = """
call = "library({name})"
[names]
"P@" = "p{k}"
[[convention]]
field = "gain"
value = "linear"
kind = "never"
reason = "it says so"
link = "https://example.org/"
versions = ["1.*"]
"""


def entry(**changes: object) -> Convention:
    """A convention of pytrec_eval, changed."""
    known = Convention("never", "why", "https://example.org/", ("*",), "gain", "linear")
    return replace(known, **changes)  # type: ignore[arg-type]


def test_every_backend_has_a_file() -> None:
    """A backend in the registry comes with what is known of it, and no file is without a backend."""
    assert sorted(path.stem for path in FOLDER.glob("*.toml")) == sorted(BACKENDS)
    assert [name for name in BACKENDS if load_known(name).backend != name] == []


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_entry_says_why_and_where(backend: str) -> None:
    """A kind out of three, a reason, a link, and versions; listed cases exist."""
    known = load_known(backend)
    for one in (*known.conventions, *known.differences):
        assert one.kind in KINDS
        assert one.reason
        assert one.link.startswith("https://")
        assert one.versions
    assert [case for one in known.differences for case in one.cases if case not in CASES] == []


@pytest.mark.parametrize("backend", [name for name in BACKENDS if is_installed(name)])
def test_the_entries_speak_of_the_installed_version(backend: str) -> None:
    """Otherwise every difference of a new version is unknown: look at it, then widen the versions."""
    known, version = load_known(backend), get_bridge(backend).versions()["version"]
    stated = (*known.conventions, *known.differences)
    assert [one.name for one in stated if not one.holds_for(version)] == []


def test_names_are_filled_in() -> None:
    """A measure's form picks the name, and its cutoff and parameters are filled in."""
    pytrec_eval, ir_measures = load_known("pytrec_eval"), load_known("ir_measures")
    assert pytrec_eval.native_name(parse_measure("nDCG@10")) == "ndcg_cut_10"
    assert pytrec_eval.native_name(parse_measure("SetF(beta=2)")) == "set_F_4"
    assert pytrec_eval.native_name(parse_measure("SetF")) == "set_F"
    assert pytrec_eval.native_name(parse_measure("RR@10")) is None
    assert pytrec_eval.native_name(parse_measure("P(rel=2)@5")) is None
    assert ir_measures.native_name(parse_measure("P(rel=2)@5")) == "P(rel=2)@5"


@pytest.mark.parametrize(
    ("old", "new", "fact"),
    [
        ('reason = "it says so"\n', "", "has no reason"),
        ('reason = "it says so"', 'reason = ""', "has no reason"),
        ('link = "https://example.org/"\n', "", "has no link"),
        ('versions = ["1.*"]\n', "", "has no versions"),
        ('kind = "never"', 'kind = "sometimes"', "is not a kind"),
        ('field = "gain"', 'fields = "gain"', "has no field"),
        ('value = "linear"', 'value = "quadratic"', "is not a value of gain"),
        ('kind = "never"', 'kind = "never"\ncomment = "free text"', "is not part of an entry"),
        ("[[convention]]", "[[conventions]]", "is not known"),
    ],
)
def test_a_faulty_file_is_refused(tmp_path: Path, old: str, new: str, fact: str) -> None:
    """An entry that does not say why, for which versions and where, excuses nothing."""
    (tmp_path / "library.toml").write_text(GOOD)
    assert load_known("library", tmp_path).conventions[0].name == "gain=linear"
    assert old in GOOD
    (tmp_path / "library.toml").write_text(GOOD.replace(old, new))
    with pytest.raises(ContractError, match=fact):
        load_known("library", tmp_path)


def test_a_backend_without_a_file_is_refused(tmp_path: Path) -> None:
    """The error names the file to write."""
    with pytest.raises(ContractError, match=r"write library\.toml"):
        load_known("library", tmp_path)


def test_an_entry_holds_for_its_versions_only() -> None:
    """What was true of one version is not taken for granted of the next."""
    known = Known("pytrec_eval", conventions=(entry(versions=("0.5.*",)),))
    measure = parse_measure("nDCG@10")
    assert [one.name for one in known.defaults(measure, "0.5.11")] == ["gain=linear"]
    assert known.defaults(measure, "0.6.0") == []


def test_a_convention_speaks_of_its_measures_only() -> None:
    """A cutoff can change which rule a library follows."""
    ties = entry(field="ties", value="docid_asc", measures=("RR@",))
    assert ties.applies_to(parse_measure("RR@10"))
    assert not ties.applies_to(parse_measure("RR"))
    assert not entry().applies_to(parse_measure("RR@10"))


def record(case: str, default: Side) -> Record:
    """A record of pytrec_eval that agrees under the contract."""
    return Record(CASES[case], "pytrec_eval", Side(AGREES, Answer()), default)


@pytest.mark.parametrize(
    ("stated", "why"),
    [
        (entry(), []),
        (entry(field="ties", value="docid_asc"), ["it explains no case"]),
        (CaseDifference("never", "why", "https://example.org/", ("*",), ("measure-ap",)), ["measure-ap agrees"]),
        (CaseDifference("never", "why", "https://example.org/", ("*",), ("gone",)), ["there is no case gone"]),
        (CaseDifference("never", "why", "https://example.org/", ("9.*",), ("gone",)), []),
    ],
)
def test_an_entry_that_explains_nothing_is_stale(stated: Convention | CaseDifference, why: list[str]) -> None:
    """Matched by nothing, or listing a case that agrees now: it has to go."""
    records = [
        record("gain-exponential-one-place", Side(KNOWN, Answer(), known=("gain=linear",))),
        record("measure-ap", Side(AGREES, Answer())),
    ]
    if isinstance(stated, Convention):
        known = Known("pytrec_eval", conventions=(stated,))
    else:
        known = Known("pytrec_eval", differences=(stated,))
    assert [one.why for one in stale_entries(records, {"pytrec_eval": known})] == why
