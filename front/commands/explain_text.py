"""The text of ``metricpact explain``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from metricpact.bridges.evaluate import signed_provenance
from metricpact.bridges.plan import matters
from metricpact.bridges.registry import BACKENDS, get_bridge
from metricpact.contracts.bounds.missing import MEANING, check_bounds
from metricpact.contracts.contract import FIELDS, Contract, plain_value
from metricpact.contracts.errors import ContractError
from metricpact.contracts.measures import Measure, parse_measure
from metricpact.contracts.profiles import Profile, load_profile
from metricpact.contracts.signature import Signature, parse_signature, sign


def explain(name: str, profile: Profile, backend: str | None) -> str:
    """A measure under a profile; raises ``MeasureError`` and ``ContractError``."""
    measure = parse_measure(name)
    bridge = get_bridge(backend or next(iter(BACKENDS)))
    signature = sign(measure, profile, signed_provenance(bridge))
    return "\n".join(_lines(measure, profile, profile.settings_for(measure), signature, backend)) + "\n"


def explain_signature(text: str, known: Mapping[str, Any], backend: str | None) -> str:
    """A signature turned back into its measure and contract; raises ``ContractError``.

    ``known`` gives the gain tables and query lists that the signature has as hashes.
    """
    signature = parse_signature(text)
    profile = load_profile(signature.base.rpartition("/")[0])
    return "\n".join(_lines(signature.measure, profile, signature.contract(known), signature, backend)) + "\n"


def _lines(
    measure: Measure, profile: Profile, contract: Contract, signature: Signature, backend: str | None
) -> list[str]:
    known = measure.known
    applied = measure.apply(contract)
    stated = _denominator(measure, applied, known.denominator)
    spelled = [
        ("formula", _formula(measure, applied)),
        ("denominator", stated),
        ("question", known.question),
        (
            "cannot say",
            known.cannot + (f"; {_CONDENSED}" if applied.unjudged == "removed" and measure.family != "Judged" else ""),
        ),
        ("undefined", f"{known.undefined}; {FIELDS['undefined'].values[applied.undefined]}"),
        ("source", known.source),
        *_bounds(measure, applied),
    ]
    lines = [str(measure), "", *(f"  {word:<12}{text}" for word, text in spelled), "", f"conventions of {profile.base}"]
    for name, value in applied.fields().items():
        if matters(measure, name) and (name != "threshold" or known.binary or applied.undefined == "skip"):
            convention = FIELDS[name]
            meaning = convention.values.get(value, "") if isinstance(value, str) else convention.summary
            lines.append(f"  {f'{name} = {_show(value)}':<36} {meaning}".rstrip())
    lines += ["", "signature", f"  {signature}", "", "plans"]
    lines += [f"  {get_bridge(name).plan(measure, contract)}" for name in ([backend] if backend else BACKENDS)]
    return lines


_CONDENSED = "a condensed list is not the ranking that was returned, and creates no missing judgments"


def _bounds(measure: Measure, contract: Contract) -> list[tuple[str, str]]:
    """How the measure is bounded under missing judgments, or why it is not; nothing where bounds are not defined."""
    if measure.family not in MEANING:
        return []
    try:
        check_bounds(measure, contract)
    except ContractError as error:
        return [("bounds", error.fact.partition(": ")[2])]
    return [("bounds", f"{MEANING[measure.family]} (--bounds)")]


_DENOMINATORS = {"P": "precision_denominator", "R": "recall_denominator", "AP": "ap_denominator"}


def _denominator(measure: Measure, contract: Contract, stated: str) -> str:
    """The family's denominator, or the contract's where that says otherwise."""
    field = _DENOMINATORS.get(measure.family)
    if field and (value := getattr(contract, field)) != getattr(Contract(), field):
        return FIELDS[field].values[value]
    if measure.family == "nDCG" and contract.ideal == "returned":
        return "the ideal DCG of the judged documents that are returned; 0 where only that is 0"
    return stated


def _formula(measure: Measure, contract: Contract) -> str:
    """The family's formula, with the contract's denominator."""
    formula = measure.known.formula
    field = _DENOMINATORS.get(measure.family)
    if not field or getattr(contract, field) == getattr(Contract(), field):
        return formula
    stated = _denominator(measure, contract, "").split(";")[0]
    return formula.rpartition(" / ")[0] + f" / {stated}"


def _show(value: object) -> str:
    plain = plain_value(value)
    return f"{len(plain)} ids" if isinstance(plain, list) else str(plain)
