"""Wrong bridges are caught by the check, and it says what is wrong with them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from metricpact.bridges import registry
from metricpact.crosscheck.blame import blame
from metricpact.crosscheck.check import AGREES, DIFFERS, FAILED, UNSUPPORTED, Side, conformance
from metricpact.crosscheck.corpus import Case, load_cases
from miniatures import BLAMED, Breaks, Miniature, SwapsQueries

CASES = load_cases()


@contextmanager
def registered(bridge: Miniature) -> Iterator[str]:
    """A bridge as a backend of the registry, for a while."""
    module = f"{bridge.name}_module"
    sys.modules[module] = SimpleNamespace(BRIDGE=bridge)  # type: ignore[assignment]
    registry.BACKENDS[bridge.name] = module
    registry.get_bridge.cache_clear()
    try:
        yield bridge.name
    finally:
        del registry.BACKENDS[bridge.name], sys.modules[module]
        registry.get_bridge.cache_clear()


def results(make: Callable[[], Miniature]) -> list[tuple[Case, Side]]:
    """A miniature on all cases, under their contracts."""
    with registered(make()) as name:
        return list(zip(CASES, conformance(name, CASES), strict=True))


@pytest.mark.parametrize(("make", "expected"), BLAMED.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_a_wrong_bridge_is_caught_and_understood(make: Callable[[], Miniature], expected: tuple[str, str]) -> None:
    """The check finds wrong answers, none of them in a smoke case, and names the convention behind them."""
    found = results(make)
    wrong = [case for case, side in found if side.outcome in (DIFFERS, FAILED)]
    assert wrong != []
    assert [case.id for case in wrong if case.smoke] == []
    verdict = blame(found)
    assert verdict is not None
    assert (verdict.field, verdict.value) == expected, str(verdict)


def test_a_right_bridge_is_not_blamed() -> None:
    """The same frame around the reference, with nothing wrong, passes every case."""
    found = results(Miniature)
    assert [case.id for case, side in found if side.outcome != AGREES] == []
    assert blame(found) is None


def test_a_broken_adapter_is_not_taken_for_a_wrong_library() -> None:
    """Where a smoke case fails nothing else is run, and every record says why."""
    found = results(SwapsQueries)
    assert {side.outcome for case, side in found if case.smoke} == {AGREES, DIFFERS}
    others = [side for case, side in found if not case.smoke]
    assert {side.outcome for side in others} == {FAILED}
    assert all("smoke case smoke-two-queries failed, so the adapter is at fault" in side.reason for side in others)


def test_an_exception_is_a_result() -> None:
    """A bridge that raises fails that case, with the error as the reason, and the check goes on."""
    found = {case.id: side for case, side in results(Breaks)}
    assert found["independence-empty-run"] == Side(
        FAILED, None, "definitions.average_precision", "ZeroDivisionError: nothing returned"
    )
    assert found["measure-ap"].outcome == AGREES


def test_what_is_declared_is_not_blamed() -> None:
    """A refusal that is declared is no fault: only wrong answers are."""
    with registered(Miniature()) as name:
        sides = conformance(name, CASES[:3])
    refused = [(case, Side(UNSUPPORTED, reason="said so")) for case in CASES[3:]]
    assert blame([*zip(CASES[:3], sides, strict=True), *refused]) is None
