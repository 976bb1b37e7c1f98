"""Signatures: one line that says how a number was made, and the way back from it to the contract.

``nDCG@10|chapter/1|gain=linear||pytrec_eval-terrier:0.5.11|trec_eval:9.0.8|metricpact:0.1.0``: the contract part
(measure, named contract, the fields that differ from it), then the provenance part. Tables and query lists are
printed as hashes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from metricpact.contracts.contract import Contract, check_value, plain_value
from metricpact.contracts.errors import ContractError
from metricpact.contracts.measures import Measure, parse_measure

if TYPE_CHECKING:
    from metricpact.contracts.profiles import Profile

_HASHED = re.compile(r"(?:table|list):[0-9a-f]{16}")


@dataclass(frozen=True)
class Signature:
    """How a number was made.

    ``base`` is the named contract, ``changes`` the fields (as text) in which the contract differs from it,
    ``provenance`` the software with its versions. ``str()`` and ``parse_signature`` are each other's inverse.
    """

    measure: Measure
    base: str
    changes: Mapping[str, str] = field(default_factory=dict)
    provenance: tuple[str, ...] = ()

    @property
    def contract_part(self) -> str:
        """The part that has to be equal for two numbers to be comparable."""
        return "|".join([str(self.measure), self.base, *(f"{name}={value}" for name, value in self.changes.items())])

    def __str__(self) -> str:
        return f"{self.contract_part}||{'|'.join(self.provenance)}"

    def contract(self, known: Mapping[str, Any] | None = None) -> Contract:
        """The contract of the measure, its profile's overrides and its parameters included.

        ``known`` gives gain tables and query lists by field name, for those printed as a hash. Raises
        ``ContractError`` for a profile that is not known here, or a hash that ``known`` does not explain.
        """
        from metricpact.contracts.profiles import load_profile

        name, _, version = self.base.rpartition("/")
        profile = load_profile(name)
        if str(profile.version) != version:
            raise ContractError(
                f"{name} is at version {profile.version} here, the signature names version {version}",
                "install the metricpact that the signature names",
            )
        changes: dict[str, Any] = {}
        for key, text in self.changes.items():
            if not _HASHED.fullmatch(text):
                changes[key] = int(text) if key == "threshold" and text.isdigit() else text
                continue
            if not known or key not in known:
                raise ContractError(
                    f"the signature gives {key} only as a hash ({text})", f"pass the value of {key} that it stands for"
                )
            value = check_value(key, known[key])
            if _as_text(value) != text:
                raise ContractError(
                    f"the value given for {key} is {_as_text(value)}, the signature has {text}",
                    f"pass the value of {key} that the number was made with",
                )
            changes[key] = value
        return self.measure.apply(profile.with_fields(changes).for_measure(self.measure))


def sign(measure: Measure, profile: Profile, provenance: tuple[str, ...]) -> Signature:
    """The signature of a measure scored under a profile."""
    return Signature(
        measure, profile.base, {name: _as_text(value) for name, value in profile.changes(measure).items()}, provenance
    )


def parse_signature(text: str) -> Signature:
    """Read a signature back; raises ``ContractError`` (or ``MeasureError``) when the text is not one."""
    hint = "a signature reads measure|contract/version|field=value…||provenance|…"
    contract_part, found, provenance = text.strip().partition("||")
    parts = contract_part.split("|")
    if not found or len(parts) < 2 or not re.fullmatch(r"[^/|]+/\d+", parts[1]):
        raise ContractError(f"{text!r} is not a signature", hint)
    changes: dict[str, str] = {}
    for part in parts[2:]:
        name, equals, value = part.partition("=")
        if not equals or name in changes:
            raise ContractError(f"{part!r} is not one setting of a signature", hint)
        if not _HASHED.fullmatch(value):
            check_value(name, value) if name in Contract().fields() else _unknown(name, hint)
        changes[name] = value
    return Signature(parse_measure(parts[0]), parts[1], changes, tuple(provenance.split("|")) if provenance else ())


def _unknown(name: str, hint: str) -> None:
    raise ContractError(f"{name!r} is not a field of a contract", hint)


def _as_text(value: Any) -> str:
    if not isinstance(value, tuple):
        return str(value)
    kind = "table" if isinstance(value[0], tuple) else "list"
    return f"{kind}:{hashlib.sha256(json.dumps(plain_value(value), sort_keys=True).encode()).hexdigest()[:16]}"
