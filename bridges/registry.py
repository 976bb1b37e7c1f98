"""The backends by name, made when first asked for. A new backend is one module and one line here."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from metricpact.bridges.plan import Bridge
from metricpact.contracts.errors import ContractError

BACKENDS = {
    "pytrec_eval": "metricpact.bridges.pytrec_eval_bridge",
    "reference": "metricpact.bridges.reference_bridge",
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
