"""The one scoring path: plan, prefixes, backend, undefined values, scores. Every command and function comes here."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from metricpact.bridges.plan import Bridge, Plan, Unsupported
from metricpact.bridges.registry import DEFAULT_BACKEND, get_bridge, installed_backends, require
from metricpact.contracts.contract import PREFIX_FIELDS, Contract
from metricpact.contracts.definitions import judged_fraction, reasons
from metricpact.contracts.errors import ContractError, InputError, UnsupportedError
from metricpact.contracts.measures import Measure, parse_measures
from metricpact.contracts.pooled import denominators
from metricpact.contracts.prefixes import Prefixes, build_prefixes
from metricpact.contracts.profiles import Profile, load_profile
from metricpact.contracts.scores import Column, Scores
from metricpact.contracts.signature import sign
from metricpact.contracts.tables import Floats, Judgments, Run
from metricpact.contracts.version import VERSION

if TYPE_CHECKING:
    from metricpact.contracts.bounds.values import Bounds, TieBounds

DEFAULT_MEASURES = ("P@10", "R@100", "RR@10", "AP@100", "nDCG@10")


def evaluate(
    judgments: Judgments,
    run: Run,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    contract: str | Contract | Profile = "chapter",
    backend: str = DEFAULT_BACKEND,
    *,
    inputs: Mapping[str, Mapping[str, Any]] | None = None,
    bounds: bool = False,
    max_grade: int | None = None,
    tie_bounds: bool = False,
    kept: KeptPrefixes | None = None,
) -> Scores:
    """Score a run against judgments: one value per judged query and measure, and means with their counts.

    ``contract`` is a profile's name, a TOML file, a ``Contract`` or a ``Profile``. ``bounds`` adds the least and
    greatest value under missing judgments, unjudged documents having grades up to ``max_grade``; ``tie_bounds`` adds
    the least, greatest and expected value over all orders of ties. ``kept`` saves building prefixes anew where the
    same input is scored under many contracts. Raises ``MeasureError``, ``ContractError``, ``UnsupportedError`` (the
    backend cannot give a measure exactly), ``LimitError`` and ``InputError`` (the contract rejects the data).
    """
    wanted, profile, bridge = parse_measures(measures), load_profile(contract), require(backend)
    if not wanted:
        raise ContractError("no measure is asked for", "name at least one, such as nDCG@10")
    check_beside(profile, wanted, bounds=bounds, max_grade=max_grade, tie_bounds=tie_bounds)
    plans = plan_all(bridge, profile, wanted)
    provenance = signed_provenance(bridge)
    columns: dict[Measure, Column] = {}
    first: Prefixes | None = None
    build = kept or KeptPrefixes()
    for group in _by_prefix(plans, judgments):
        prefixes = build(judgments, run, group[0].contract)
        first = first or prefixes
        tied = build(judgments, run, group[0].contract.replace(ties="average")) if tie_bounds else None
        for plan, values in zip(group, bridge.score(prefixes, group), strict=True):
            column = _column(prefixes, plan, values, profile, provenance)
            beside: dict[str, Bounds | TieBounds] = {}
            if bounds:
                from metricpact.contracts.bounds.missing import bound

                beside["bounds"] = bound(prefixes, plan.measure, plan.contract, column.values, max_grade)
            if tied:
                from metricpact.contracts.bounds.ties import tie_bound

                beside["tie_bounds"] = tie_bound(tied, plan.measure, plan.contract, column.values)
            columns[plan.measure] = replace(column, beside=beside)
    assert first is not None  # noqa: S101 # there is a measure, so there was a plan
    return Scores(
        profile=profile,
        queries=first.queries,
        missing=first.missing,
        extra=first.extra,
        columns=[columns[measure] for measure in wanted],
        backend={"name": bridge.name, **bridge.versions()},
        inputs=inputs or {},
    )


class KeptPrefixes:
    """The prefixes of one run against one set of judgments, kept for contracts that settle the same prefix.

    Only the last ``most`` are held: whoever scores under very many contracts sorts them by ``prefix_key``.
    """

    def __init__(self, most: int = 4) -> None:
        self.most = most
        # The inputs are held too: an id is a name only while its object lives.
        self._held: OrderedDict[tuple[Any, ...], tuple[Prefixes | InputError, Judgments, Run]] = OrderedDict()

    def __call__(self, judgments: Judgments, run: Run, contract: Contract) -> Prefixes:
        """The prefixes under a contract; raises as ``build_prefixes`` does, without looking at the input again."""
        key = (id(judgments), id(run), *prefix_key(contract, judgments))
        if key not in self._held:
            self._held[key] = _prefixes_or_error(judgments, run, contract), judgments, run
            if len(self._held) > self.most:
                self._held.popitem(last=False)
        self._held.move_to_end(key)
        found = self._held[key][0]
        if isinstance(found, InputError):
            raise found
        return found


def _prefixes_or_error(judgments: Judgments, run: Run, contract: Contract) -> Prefixes | InputError:
    try:
        return build_prefixes(judgments, run, contract)
    except InputError as error:
        return error.with_traceback(None)


def prefix_key(contract: Contract, judgments: Judgments) -> tuple[Any, ...]:
    """What settles the prefix: contracts with equal keys share one."""
    names = [*PREFIX_FIELDS, "extra_query"]
    if judgments.grades.dtype.kind == "f":
        names.append("gain")  # a gain table admits the fractional grades that it lists
    return tuple(getattr(contract, name) for name in names)


def plan_all(bridge: Bridge, profile: Profile, measures: Sequence[Measure]) -> list[Plan]:
    """The plan of every measure; raises ``UnsupportedError`` naming the reason and the backends that can."""
    plans = []
    for measure in measures:
        plan = bridge.plan(measure, profile.settings_for(measure))
        if isinstance(plan, Unsupported):
            raise unsupported(plan, profile)
        plans.append(plan)
    return plans


def check_beside(
    profile: Profile, measures: Sequence[Measure], *, bounds: bool, max_grade: object, tie_bounds: bool
) -> None:
    """Refuse bounds that a measure does not have under the profile: raises ``MeasureError`` and ``ContractError``."""
    if max_grade is not None and not bounds:
        raise ContractError("max_grade is a setting of bounds, which are not asked for", "ask for bounds too")
    if bounds:
        from metricpact.contracts.bounds.missing import check_bounds

        for measure in measures:
            check_bounds(measure, profile.for_measure(measure), max_grade)
    if tie_bounds:
        from metricpact.contracts.bounds.ties import check_tie_bounds

        for measure in measures:
            check_tie_bounds(measure, profile.for_measure(measure))


def unsupported(refusal: Unsupported, profile: Profile) -> UnsupportedError:
    """The error for a refusal, with the backends that can give the measure under the profile."""
    measure = refusal.measure
    able = [
        name
        for name in installed_backends()
        if name != refusal.backend
        and not isinstance(get_bridge(name).plan(measure, profile.settings_for(measure)), Unsupported)
    ]
    setting = f" under {refusal.field}={refusal.value}" if refusal.field else ""
    hint = f"backends that can: {', '.join(able)}" if able else "no installed backend can"
    return UnsupportedError(
        f"unsupported: {refusal.backend} cannot give {measure}{setting}: {refusal.reason}",
        hint,
        backend=refusal.backend,
        reason=refusal.reason,
    )


def signed_provenance(bridge: Bridge) -> tuple[str, ...]:
    """The provenance part of a signature: package, engine and metricpact, each with its version."""
    versions = bridge.versions()
    package = versions["package"].replace("pytrec-eval", "pytrec_eval")
    engine = versions["engine"].replace(" ", ":")
    named = [f"{package}:{versions['version']}"] if package != "metricpact" else ["reference"]
    return (*named, *([engine] if ":" in engine else []), f"metricpact:{VERSION}")


def _by_prefix(plans: Sequence[Plan], judgments: Judgments) -> list[list[Plan]]:
    """Plans grouped by the conventions that settle the prefix, which then is built once for all of them."""
    groups: dict[Any, list[Plan]] = {}
    for plan in plans:
        groups.setdefault(prefix_key(plan.contract, judgments), []).append(plan)
    return list(groups.values())


def _column(prefixes: Prefixes, plan: Plan, values: Floats, profile: Profile, provenance: tuple[str, ...]) -> Column:
    measure, contract = plan.measure, plan.contract
    reason = reasons(prefixes, measure, contract)
    if contract.undefined in ("zero", "one"):
        values = np.where(reason != 0, float(contract.undefined == "one"), values)
        reason = np.zeros_like(reason)
    fraction, known = judged_fraction(prefixes, measure, contract)
    return Column(
        measure=measure,
        values=np.where(reason == 0, values, 0.0),
        reason=reason,
        fraction=fraction,
        has_fraction=known,
        in_mean=_in_mean(prefixes, contract),
        extra_zeros=_extra_zeros(prefixes, contract),
        fields=profile.overrides_for(measure),
        signature=str(sign(measure, profile, provenance)),
        denominator=denominators(prefixes, measure, contract),
    )


def _in_mean(prefixes: Prefixes, contract: Contract) -> npt.NDArray[np.bool_]:
    """Which judged queries the mean is over; raises ``InputError`` for listed queries without judgments."""
    if contract.queries == "judged":
        return np.ones(prefixes.size, np.bool_)
    if contract.queries == "answered":
        return prefixes.answered
    listed = list(contract.queries)
    zeros = set(prefixes.extra) if contract.extra_query == "zero" else set()
    unknown = sorted(set(listed) - set(prefixes.queries) - zeros)
    if unknown:
        raise InputError(
            f"{len(unknown)} of the listed queries are not judged: {', '.join(unknown[:5])}",
            "list judged queries only: without judgments no measure has a value",
            query=unknown[0],
        )
    return prefixes.queries.is_in(listed).to_numpy()


def _extra_zeros(prefixes: Prefixes, contract: Contract) -> int:
    if contract.extra_query != "zero":
        return 0
    return (
        len(prefixes.extra) if isinstance(contract.queries, str) else len(set(prefixes.extra) & set(contract.queries))
    )
