"""Every verified profile is what its tool does: the reference under it gives the tool's own numbers on raw inputs."""

from __future__ import annotations

from collections import Counter

import fidelity
import pytest
from fidelity import DOMAINS, differences, measures_of, notices
from metricpact.bridges.observed import registry

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


@installed
def test_a_profile_is_what_its_tool_does(name: str) -> None:
    """On at least 2,000 rankings for each measure, and on small inputs, where means can differ: values and means."""
    profile, _ = fidelity.profile_and_tool(name)
    compared: Counter[str] = Counter()
    found: list[str] = []
    for given in (*fidelity.inputs(name, 1, MANY), *fidelity.inputs(name, 2, FEW)):
        counts, wrong = differences(profile, given)
        compared += counts
        found += wrong
    assert found[:10] == []
    assert {measure: count for measure, count in compared.items() if count < 2000 and measure} == {}
    assert set(compared) - {""} == {one for part in DOMAINS[name].parts for one in measures_of(DOMAINS[name].tool, part)}


@installed
def test_a_profile_with_one_field_otherwise_is_noticed(name: str) -> None:
    """Each field of the contract and of each override, set to each other value, is told apart by some input."""
    profile, tool = fidelity.profile_and_tool(name)
    given = [*fidelity.inputs(name, 2, FEW), *fidelity.inputs(name, 3, (120,))]
    measures = [measure for part in DOMAINS[name].parts for measure in measures_of(tool, part)]
    unnoticed, alike = [], DOMAINS[name].alike
    for where, value, changed in fidelity.mutations(profile, measures):
        same = value in alike.get(where.rpartition(".")[2], ()) or where == "duplicate"  # a dict has no duplicates
        if not same and not any(notices(changed, one) for one in given):
            unnoticed.append(f"{where}={value}")
    assert unnoticed == []
