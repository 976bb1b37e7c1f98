"""The ``reference`` backend: the contract's own definitions, vectorised over the prefixes."""

from __future__ import annotations

from collections.abc import Sequence

from metricpact.bridges.plan import Capabilities, Plan, Unsupported, every_value
from metricpact.contracts.contract import Contract
from metricpact.contracts.definitions import DEFINITIONS, define
from metricpact.contracts.families import FAMILIES
from metricpact.contracts.measures import Measure, parse_measure
from metricpact.contracts.prefixes import Prefixes, build_prefixes
from metricpact.contracts.tables import Floats, Judgments, Run
from metricpact.contracts.version import VERSION


class ReferenceBridge:
    """metricpact's own definitions as a backend."""

    name = "reference"
    package = "metricpact"
    extra = ""

    def versions(self) -> dict[str, str]:
        """The package, version and engine."""
        return {"package": "metricpact", "version": VERSION, "engine": "definitions"}

    def capabilities(self) -> Capabilities:
        """Everything that a contract can say."""
        return Capabilities(dict.fromkeys(FAMILIES, ""), every_value({}))

    def plan(self, measure: Measure, contract: Contract) -> Plan | Unsupported:
        """The definition to call."""
        contract = measure.apply(contract)
        refusal = self.capabilities().refusal(self.name, measure, contract)
        return refusal or Plan(self.name, measure, contract, f"definitions.{DEFINITIONS[measure.family].__name__}")

    def score(self, prefixes: Prefixes, plans: Sequence[Plan]) -> list[Floats]:
        """Every plan's definition over the prefixes."""
        return [define(prefixes, plan.measure, plan.contract) for plan in plans]

    def native(self, judgments: Judgments, run: Run, measures: Sequence[str]) -> dict[str, dict[str, float]]:
        """The definitions under the ``chapter`` contract, queries without a value left out."""
        from metricpact.contracts.definitions import reasons

        contract = Contract()
        prefixes = build_prefixes(judgments, run, contract)
        values = {}
        for name in measures:
            measure = parse_measure(name)
            applied = measure.apply(contract)
            rows = zip(
                prefixes.queries, define(prefixes, measure, applied), reasons(prefixes, measure, applied), strict=True
            )
            values[name] = {query: float(value) for query, value, reason in rows if not reason}
        return values


BRIDGE = ReferenceBridge()
