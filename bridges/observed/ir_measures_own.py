"""ir_measures by itself, and two scripts as its providers run them: MS MARCO's evaluation and gdeval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from metricpact.bridges.ir_measures_bridge import BRIDGE, named, refuse_harmful
from metricpact.bridges.observed.guards import refuse_empty_ranking
from metricpact.bridges.observed.tool import Native, Tool, Values
from metricpact.bridges.raw import as_dicts
from metricpact.contracts.tables import Judgments, Run

NAMES = {
    **dict.fromkeys(
        ("P@", "P(rel)@", "R@", "RR@", "RR", "AP@", "AP", "nDCG@", "nDCG", "nDCG(linear)@", "nDCG(gains)@", "Success@"),
        "{measure}",
    ),
    **dict.fromkeys(("Rprec", "SetP", "SetR", "SetF", "Bpref", "Judged@"), "{measure}"),
    "R": "SetR",
    "SetF(beta)": "SetF(beta={beta2})",
}


def _call(judgments: Judgments, run: Run, names: Sequence[str]) -> Native:
    """Values of ``iter_calc`` and means by each measure's own aggregator.

    An nDCG with gains is asked for alone: beside another nDCG its value depends on the hash seed of the process.
    """
    refuse_empty_ranking(run, "ir_measures")
    alone = [name for name in names if name.startswith("nDCG(")]
    values = BRIDGE.native(judgments, run, [name for name in names if name not in alone])
    for name in alone:
        values |= BRIDGE.native(judgments, run, [name])
    return Native(values, {name: _mean(named(name), found) for name, found in values.items()})


def _mean(measure: Any, values: dict[str, float]) -> float:
    aggregator = measure.aggregator()
    for value in values.values():
        aggregator.add(value)
    return float(aggregator.result())


def _by_provider(provider: str) -> Any:
    """The call of one provider, named, on dicts of the whole input."""

    def call(judgments: Judgments, run: Run, names: Sequence[str]) -> Native:
        from subprocess import CalledProcessError

        import ir_measures

        refuse_harmful(judgments, names)
        qrels, ranked = as_dicts(judgments, run, provider)
        asked = {named(name): name for name in names}
        try:
            found = ir_measures.providers.registry[provider].calc(list(asked), qrels, ranked)
        except CalledProcessError as error:  # its own text names nothing but temporary files
            raise RuntimeError(f"its script ended with exit code {error.returncode}") from error
        values: Values = {name: {} for name in names}
        for metric in found.per_query:
            values[asked[metric.measure]][metric.query_id] = metric.value
        return Native(values, {asked[measure]: float(mean) for measure, mean in found.aggregated.items()})

    return call


def _lacks_perl() -> str:
    from shutil import which

    return "" if which("perl") else "perl"


TOOL = Tool("ir_measures", "ir-measures", "ir_measures-0.4.3", NAMES, _call)
MSMARCO = Tool(
    "msmarco", "ir-measures", "msmarco",
    {"RR@": "RR@{k}", "RR": "RR", "RR(rel)@": "RR(rel={rel})@{k}", "RR(rel)": "RR(rel={rel})"},
    _by_provider("msmarco"),
)  # fmt: skip
GDEVAL = Tool(
    "gdeval", "ir-measures", "gdeval",
    {"nDCG@": "nDCG(dcg='exp-log2')@{k}", "nDCG(exponential)@": "nDCG(dcg='exp-log2')@{k}"},
    _by_provider("gdeval"),
    rounding=5e-6, lacks=_lacks_perl,
)  # fmt: skip
