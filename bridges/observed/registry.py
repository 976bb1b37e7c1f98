"""The tools that are watched, by name: what each of them gives on raw input, and the profile that claims to say so.

This is the one way to a tool's own numbers. For every name in ``TOOLS``:

* ``is_installed(tool)``: whether it can be run here; ``installed_tools()`` are those that can, in the table's order;
* ``profile_of(tool)``: the ``Profile`` that says what it does; ``get_tool(tool).package`` its distribution;
* ``own_name(tool, measure)``: what the tool calls a measure, None where it has no such measure;
* ``native_values(tool, judgments, run, measures)``: measure → query → value, as the tool's documentation shows it;
* ``native_means(tool, judgments, run, measures)``: measure → the tool's own mean, None where it gives none;
* ``native(tool, judgments, run, measures)``: both, from one call.

Measures are named in any spelling and answered by their canonical names. A tool that refuses an input (most have
inputs that they raise on) is an ``UnsupportedError`` whose ``reason`` is what the tool said; an input that would end
the process inside a tool is a ``LimitError``, before any call. Adding a tool: a module beside this one named after
its library, a profile, and one line here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution

from metricpact.bridges.observed.tool import Native, Tool, Values
from metricpact.contracts.errors import ContractError, DependencyError, MetricpactError, UnsupportedError
from metricpact.contracts.measures import Measure, parse_measure, parse_measures
from metricpact.contracts.profiles import Profile, load_profile
from metricpact.contracts.tables import Judgments, Run

_HERE = "metricpact.bridges.observed"
TOOLS = {
    "pytrec_eval": f"{_HERE}.pytrec_eval_own:TOOL",
    "ir_measures": f"{_HERE}.ir_measures_own:TOOL",
    "ranx": f"{_HERE}.ranx_own:TOOL",
    "ranx-dicts": f"{_HERE}.ranx_own:DICTS",
    "sklearn": f"{_HERE}.sklearn_own:TOOL",
    "beir": f"{_HERE}.beir_own:TOOL",
    "msmarco": f"{_HERE}.ir_measures_own:MSMARCO",
    "gdeval": f"{_HERE}.ir_measures_own:GDEVAL",
    "trectools": f"{_HERE}.trectools_own:TOOL",
    "mteb": f"{_HERE}.mteb_own:TOOL",
    "torchmetrics": f"{_HERE}.torchmetrics_own:TOOL",
    "sentence-transformers": f"{_HERE}.sentence_transformers_own:TOOL",
}
"""Tool → where it is: module and attribute."""


@cache
def get_tool(name: str) -> Tool:
    """The tool of a name; raises ``ContractError`` for one that is not known. Its library loads with the first call."""
    if name not in TOOLS:
        raise ContractError(f"{name!r} is not a tool that is watched", f"known: {', '.join(TOOLS)}")
    module, _, attribute = TOOLS[name].partition(":")
    tool: Tool = getattr(import_module(module), attribute)
    return tool


@cache
def missing(name: str) -> str:
    """What a tool lacks to be run here (a package, a program), or "" where it can be."""
    tool = get_tool(name)
    try:
        distribution(tool.package)
    except PackageNotFoundError:
        return f"the package {tool.package}"
    return tool.lacks()


def is_installed(name: str) -> bool:
    """Whether a tool can be run here."""
    return not missing(name)


def installed_tools() -> list[str]:
    """The tools that can be run here, in the order of the table."""
    return [name for name in TOOLS if is_installed(name)]


def version_of(name: str) -> str:
    """The installed version of a tool's distribution."""
    return distribution(get_tool(name).package).version


def profile_of(name: str) -> Profile:
    """The profile that says what a tool does."""
    return load_profile(get_tool(name).profile)


def own_name(name: str, measure: str | Measure) -> str | None:
    """What a tool calls a measure, or None where it has no such measure."""
    return get_tool(name).own_name(parse_measure(measure))


def native_values(name: str, judgments: Judgments, run: Run, measures: Iterable[str | Measure]) -> Values:
    """Canonical measure → query → value; measures that the tool has not, or gives no value per query of, are absent."""
    return {measure: dict(values) for measure, values in native(name, judgments, run, measures).values.items()}


def native_means(
    name: str, judgments: Judgments, run: Run, measures: Iterable[str | Measure]
) -> dict[str, float | None]:
    """Canonical measure → the tool's own mean; None where it has no such measure, or what it gives is no number."""
    wanted = parse_measures(measures)
    means = native(name, judgments, run, wanted).means
    return {str(measure): means.get(str(measure)) for measure in wanted}


def native(name: str, judgments: Judgments, run: Run, measures: Iterable[str | Measure]) -> Native:
    """What a tool gives on raw input, by canonical names: values per query and means, numbers only (never NaN).

    Raises ``DependencyError`` for a tool that is not installed, ``LimitError`` for what would end the process, and
    ``UnsupportedError`` with the tool's own words where it refuses.
    """
    tool, lacking = get_tool(name), missing(name)
    if lacking:
        raise DependencyError(f"{name} needs {lacking}", f"install {lacking.removeprefix('the package ')}")
    names = {str(measure): tool.own_name(measure) for measure in parse_measures(measures)}
    owned = {measure: own for measure, own in names.items() if own is not None}
    asked = list(dict.fromkeys(owned.values()))
    if not asked:
        return Native()
    try:
        given = tool.call(judgments, run, asked)
    except MetricpactError:
        raise
    except Exception as error:  # a tool raises what it likes; its words are the answer
        said = f"{type(error).__name__}: {error}".strip(": ")
        raise UnsupportedError(
            f"{name} does not score this input: {said}",
            f"'metricpact contracts {tool.profile}' says which inputs it takes",
            backend=name,
            reason=said,
        ) from error
    return Native(
        values={
            measure: {query: value for query, value in given.values[own].items() if not math.isnan(value)}
            for measure, own in owned.items()
            if own in given.values
        },
        means={
            measure: given.means[own]
            for measure, own in owned.items()
            if own in given.means and not math.isnan(given.means[own])
        },
    )
