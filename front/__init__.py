"""metricpact: one contract for retrieval metrics, carried exactly onto the IR toolkits.

Names are loaded when first used, because importing any layer runs this module first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metricpact.api import audit as audit
    from metricpact.api import bounds as bounds
    from metricpact.api import claims as claims
    from metricpact.api import convert as convert
    from metricpact.api import infer as infer
    from metricpact.api import lint as lint
    from metricpact.api import read_qrels as read_qrels
    from metricpact.api import score as score
    from metricpact.contracts.contract import Contract as Contract
    from metricpact.contracts.errors import InputWarning as InputWarning
    from metricpact.contracts.errors import MetricpactError as MetricpactError
    from metricpact.contracts.measures import Measure as Measure
    from metricpact.contracts.measures import parse_measure as parse_measure
    from metricpact.contracts.profiles import Profile as Profile
    from metricpact.contracts.scores import Scores as Scores
    from metricpact.contracts.signature import parse_signature as parse_signature
    from metricpact.contracts.tables import Judgments as Judgments
    from metricpact.contracts.tables import Run as Run

    from metricpact.api import read_run as read_run  # isort: skip

_HOMES = {
    "score": "metricpact.api",
    "audit": "metricpact.api",
    "infer": "metricpact.api",
    "claims": "metricpact.api",
    "bounds": "metricpact.api",
    "lint": "metricpact.api",
    "convert": "metricpact.api",
    "read_qrels": "metricpact.api",
    "read_run": "metricpact.api",
    "Contract": "metricpact.contracts.contract",
    "Profile": "metricpact.contracts.profiles",
    "Measure": "metricpact.contracts.measures",
    "parse_measure": "metricpact.contracts.measures",
    "parse_signature": "metricpact.contracts.signature",
    "Judgments": "metricpact.contracts.tables",
    "Run": "metricpact.contracts.tables",
    "Scores": "metricpact.contracts.scores",
    "MetricpactError": "metricpact.contracts.errors",
    "InputWarning": "metricpact.contracts.errors",
}
__all__ = [*_HOMES, "__version__"]  # noqa: PLE0604 # the keys are text


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "__version__":
        return import_module("metricpact.contracts.version").VERSION
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'metricpact' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
