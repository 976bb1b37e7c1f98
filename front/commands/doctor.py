"""``metricpact doctor``: versions, and what is missing."""

from __future__ import annotations

import click


@click.command("doctor")
def command() -> int:
    """Show the versions of Python, the libraries and the engines inside them, and how to install what is missing."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    from metricpact.bridges.registry import BACKENDS, get_bridge, how_to_install, is_installed
    from metricpact.contracts.version import VERSION
    from metricpact.render.registry import say

    rows = [("metricpact", VERSION, ""), ("Python", platform.python_version(), platform.platform())]
    for name in BACKENDS:
        if not is_installed(name):
            rows.append((f"backend {name}", "missing", how_to_install(name)))
            continue
        found = get_bridge(name).versions()
        rows.append((f"backend {name}", found["version"], f"{found['package']}, {found['engine']}"))
    for package, why in _PACKAGES.items():
        try:
            rows.append((package, version(package), ""))
        except PackageNotFoundError:
            rows.append((package, "missing", why))
    say("".join(f"{name:<22} {number:<12} {remark}".rstrip() + "\n" for name, number, remark in rows))
    return 0


_PACKAGES = {
    "numpy": "",
    "polars": "",
    "narwhals": "",
    "pandas": "scores.to_pandas() needs it: pip install 'metricpact[pandas]'",
    "pyarrow": "scores.to_pandas() and to_arrow() need it: pip install 'metricpact[pandas]'",
    "ir-datasets": "ids of data sets need it: pip install 'metricpact[datasets]'",
    "lz4": "lz4 files need it: pip install 'metricpact[lz4]'",
    "cbor2": "what ranx saves as .lz4 needs it: pip install 'metricpact[lz4]'",
}
