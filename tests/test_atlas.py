"""The atlas: fresh, complete, its witnesses small and true, and its facts shown again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from metricpact.bridges.registry import BACKENDS, is_installed
from metricpact.contracts.contract import FIELDS, Contract
from metricpact.contracts.measures import parse_measure
from metricpact.crosscheck import atlas, facts
from metricpact.crosscheck.facts import FactError, load_facts, verify
from metricpact.crosscheck.known import load_known
from metricpact.crosscheck.witness import differing, find_witnesses, inputs, version_of

LIBRARIES = [name for name in BACKENDS if load_known(name).names]


@pytest.mark.slow
def test_the_atlas_is_fresh() -> None:
    """ATLAS.md is what running the libraries gives now; every witness and every fact is shown again on the way."""
    absent = [name for name in LIBRARIES if not is_installed(name)]
    if absent:
        pytest.skip(f"the atlas runs every library, and these are not installed: {', '.join(absent)}")
    assert atlas.FILE.read_text(encoding="utf-8") == atlas.make_atlas(), f"stale: run {atlas.COMMAND}"


def test_the_atlas_names_every_library_and_convention() -> None:
    """A row for each field under each library, and no convention without a witness where the library departs."""
    text = atlas.FILE.read_text(encoding="utf-8")
    parts = text.split("\n## ")[1:]
    assert [part.partition("\n")[0] for part in parts] == LIBRARIES
    for part in parts:
        rows = [line.split("|")[1].strip() for line in part.splitlines() if line.startswith("| ")][1:]
        assert list(dict.fromkeys(rows)) == list(FIELDS)
    assert "nothing of this size" not in text


def test_the_surprises_of_the_libraries_are_in_it() -> None:
    """Each stated fact is in the atlas with its answer."""
    text = atlas.FILE.read_text(encoding="utf-8")
    assert [
        fact.sentence for fact in load_facts() if fact.sentence not in text or f"`{fact.expected}`" not in text
    ] == []
    assert {fact.backend for fact in load_facts()} <= set(LIBRARIES)


def test_witnesses_are_found_by_size() -> None:
    """No smaller input of the search differs than the first that is given."""
    first = next(differing("gain", "linear", (parse_measure("nDCG@1"),)))
    size = len(first.rows["judgments"]) + len(first.rows["run"])
    sizes = [len(rows["judgments"]) + len(rows["run"]) for number in (2, 3) for rows in inputs(number, "gain")]
    assert sizes == sorted(sizes)
    assert size == 3
    assert first.contract.value == pytest.approx(1 / 3)
    assert first.changed.value == pytest.approx(1 / 2)


def test_a_witness_is_confirmed_by_the_library() -> None:
    """Every departing convention of pytrec_eval has a witness: the library's own value is not the contract's."""
    known = load_known("pytrec_eval")
    found = find_witnesses(known, version_of("pytrec_eval"))
    chapter = Contract()
    assert [one.field for one, _ in found] == [
        one.field for one in known.conventions if getattr(chapter, one.field) != one.value
    ]
    assert [one.field for one, witness in found if witness is None] == []
    assert all(witness.contract != witness.library and witness.size <= 4 for _, witness in found if witness)


def test_a_false_convention_has_no_witness() -> None:
    """What the library does not do is not found to be done: the search asks the library itself."""
    known = load_known("pytrec_eval")
    false = tuple(replace(one, value="returned") for one in known.conventions if one.field == "ideal")
    ((convention, witness),) = find_witnesses(replace(known, conventions=false), version_of("pytrec_eval"))
    assert (convention.value, witness) == ("returned", None)


def test_facts_are_shown_again() -> None:
    """A fact whose program answers something else stops the generation, naming both answers."""
    fact = next(fact for fact in load_facts() if fact.backend == "pytrec_eval" and not fact.alone)
    verify([fact])
    with pytest.raises(FactError, match=r"answers .* and not something else"):
        verify([replace(fact, expected="something else")])


def test_a_program_that_ends_its_process_has_that_for_an_answer() -> None:
    """Neither this process nor the answers before it are lost."""
    kill = "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)"
    made = [facts.Fact("any", "", code, "") for code in ("answer = 1", kill)]
    assert facts.answers(made) == ["1", "killed, signal 11"]
    assert facts.answers(
        [facts.Fact("any", "", "import os\nanswer = os.environ['PYTHONHASHSEED']", "", seeds=(3, 4))]
    ) == ["3: 3; 4: 4"]
