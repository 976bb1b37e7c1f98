"""The backends by name, made when first asked for. A new backend is one module and one line here."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from metricpact.bridges.plan import Bridge
from metricpact.contracts.errors import ContractError, DependencyError

BACKENDS = {
    "pytrec_eval": "metricpact.bridges.pytrec_eval_bridge",
    "ranx": "metricpact.bridges.ranx_bridge",
    "ir_measures": "metricpact.bridges.ir_measures_bridge",
    "reference": "metricpact.bridges.reference_bridge",
    "sklearn": "metricpact.bridges.sklearn_bridge",
}
"""Backend name → module; the module's ``BRIDGE`` is the bridge. The first one is the default."""
DEFAULT_BACKEND = next(iter(BACKENDS))


@cache
def get_bridge(name: str) -> Bridge:
    """The bridge to a backend; raises ``ContractError`` for an unknown name. The library itself loads later."""
    if name not in BACKENDS:
        raise ContractError(f"{name!r} is not a backend", f"known: {', '.join(BACKENDS)}")
    bridge: Bridge = import_module(BACKENDS[name]).BRIDGE
    return bridge


def is_installed(name: str) -> bool:
    """Whether the library of a backend is there."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        distribution(get_bridge(name).package)
    except PackageNotFoundError:
        return False
    return True


def installed_backends() -> list[str]:
    """The backends whose library is installed, in the order of the registry."""
    return [name for name in BACKENDS if is_installed(name)]


def how_to_install(name: str) -> str:
    """The command that installs a backend's library."""
    bridge = get_bridge(name)
    return f"pip install 'metricpact[{bridge.extra}]'" if bridge.extra else f"pip install {bridge.package}"


def require(name: str) -> Bridge:
    """The bridge to a backend that is about to be used; raises ``DependencyError`` where its library is missing."""
    bridge = get_bridge(name)
    if not is_installed(name):
        raise DependencyError(f"backend {name} needs the package {bridge.package}", how_to_install(name))
    return bridge
