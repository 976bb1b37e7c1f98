"""metricpact: one contract for retrieval metrics, carried exactly onto the IR toolkits.

Names are loaded when first used, because importing any layer runs this module first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metricpact.api import bounds as bounds
    from metricpact.api import read_qrels as read_qrels
    from metricpact.api import read_run as read_run
    from metricpact.api import score as score
    from metricpact.api import tie_bounds as tie_bounds
    from metricpact.api_audits import audit as audit
    from metricpact.api_audits import claims as claims
    from metricpact.api_audits import infer as infer
    from metricpact.api_evidence import absence as absence
    from metricpact.api_evidence import coverage as coverage
    from metricpact.api_evidence import decisions as decisions
    from metricpact.api_files import convert as convert
    from metricpact.api_files import lint as lint
    from metricpact.api_versions import add_record as add_record
    from metricpact.api_versions import compare as compare
    from metricpact.api_versions import diff_records as diff_records
    from metricpact.api_versions import export_records as export_records
    from metricpact.api_versions import gate as gate
    from metricpact.api_versions import list_records as list_records
    from metricpact.api_versions import load_record as load_record
    from metricpact.api_versions import slices as slices
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

_HOMES = {
    "score": "metricpact.api",
    "bounds": "metricpact.api",
    "tie_bounds": "metricpact.api",
    "read_qrels": "metricpact.api",
    "read_run": "metricpact.api",
    "audit": "metricpact.api_audits",
    "infer": "metricpact.api_audits",
    "claims": "metricpact.api_audits",
    "lint": "metricpact.api_files",
    "convert": "metricpact.api_files",
    "slices": "metricpact.api_versions",
    "compare": "metricpact.api_versions",
    "gate": "metricpact.api_versions",
    "add_record": "metricpact.api_versions",
    "list_records": "metricpact.api_versions",
    "load_record": "metricpact.api_versions",
    "diff_records": "metricpact.api_versions",
    "export_records": "metricpact.api_versions",
    "coverage": "metricpact.api_evidence",
    "decisions": "metricpact.api_evidence",
    "absence": "metricpact.api_evidence",
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
