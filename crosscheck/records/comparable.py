"""Whether two sets of scores are about the same: the same set version, judgments and contract."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from metricpact.contracts.errors import InputError
from metricpact.contracts.scores import Scores
from metricpact.contracts.signature import parse_signature

KINDS = ("set", "judgments", "signature")
"""What can differ: the name or version of the query set, the judgments' SHA-256, the contract part of signatures."""
_WORDS = {"set": "set versions", "judgments": "judgments", "signature": "signatures", "queries": "query sets"}


@dataclass(frozen=True)
class Mismatch:
    """One thing that differs between two sets of scores: its kind, what there is on both sides, the measure or ""."""

    kind: str
    base: str
    candidate: str
    measure: str = ""

    def __str__(self) -> str:
        of = f" of {self.measure}" if self.measure else ""
        return f"{_WORDS[self.kind]}{of} differ: {self.base} / {self.candidate}"


def mismatches(
    sets: tuple[str | None, str | None],
    judgments: tuple[str | None, str | None],
    signatures: tuple[Mapping[str, str], Mapping[str, str]],
    measures: Sequence[str],
) -> list[Mismatch]:
    """What differs between a base and a candidate, each a pair of both; what is None on a side is not known.

    ``sets`` are names with versions, ``judgments`` hashes, ``signatures`` by measure: of these the contract part has to
    be equal, the provenance part may differ.
    """
    found = []
    for kind, (ours, theirs) in (("set", sets), ("judgments", judgments)):
        if ours is not None and theirs is not None and ours != theirs:
            found.append(Mismatch(kind, ours, theirs))
    for measure in measures:
        one, other = (parse_signature(side[measure]).contract_part for side in signatures)
        if one != other:
            found.append(Mismatch("signature", one, other, measure))
    return found


def judgments_hash(scores: Scores) -> str | None:
    """The SHA-256 of the judgments' file, or of a known-item table's questions; None where none was taken."""
    found = scores.inputs.get("qrels", {}).get("sha256") or scores.inputs.get("table", {}).get("questions_sha256")
    return None if found is None else str(found)


def unknown_judgments(hashes: Collection[str | None]) -> list[str]:
    """A note where nobody can tell whether the judgments are the same."""
    return ["whether the judgments are the same is not known: no SHA-256 of them was kept"] if None in hashes else []


def provenance_notes(signatures: tuple[Mapping[str, str], Mapping[str, str]], measures: Sequence[str]) -> list[str]:
    """Sentences on measures that other software computed: no obstacle, and worth knowing."""
    notes = []
    for measure in measures:
        one, other = ("|".join(parse_signature(side[measure]).provenance) for side in signatures)
        if one != other:
            notes.append(f"computed by different software: {one} / {other}")
    return list(dict.fromkeys(notes))


def refuse(found: Sequence[Mismatch], across: Collection[str]) -> list[Mismatch]:
    """The mismatches that were asked for by kind; raises ``InputError`` for one that was not."""
    for kind in across:
        if kind not in KINDS:
            raise InputError(f"{kind!r} is nothing to compare across", f"choose from: {', '.join(KINDS)}")
    for one in found:
        if one.kind not in across:
            raise InputError(
                f"not comparable: {one}", f"--across {one.kind} compares all the same, and labels the numbers"
            )
    return list(found)
