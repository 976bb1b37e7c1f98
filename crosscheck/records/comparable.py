"""Whether two sets of scores are about the same: the same set version, judgments and contract."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from metricpact.contracts.errors import InputError
from metricpact.contracts.scores import Scores
from metricpact.contracts.signature import parse_signature
from metricpact.crosscheck.records.record import Record

KINDS = ("set", "judgments", "signature")
"""What can differ: the name or version of the query set, the judgments' SHA-256, the contract part of signatures."""


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


_WORDS = {"set": "set versions", "judgments": "judgments", "signature": "signatures"}


def set_mismatch(base: Record, candidate: Record) -> list[Mismatch]:
    """Whether two records are of different sets, or of different versions of one."""
    sides = [f"{one.labels.set_name} {one.labels.set_version}" for one in (base, candidate)]
    return [Mismatch("set", sides[0], sides[1])] if sides[0] != sides[1] else []


def judgments_mismatch(base: Scores, candidate: Scores) -> list[Mismatch]:
    """Whether the judgments have another SHA-256; scores of Python objects have none, and nothing is found."""
    ours, theirs = (judgments_hash(one) for one in (base, candidate))
    if ours is None or theirs is None or ours == theirs:
        return []
    return [Mismatch("judgments", f"sha256 {ours[:16]}…", f"sha256 {theirs[:16]}…")]


def judgments_hash(scores: Scores) -> str | None:
    """The SHA-256 of the file of the judgments, where there was a file and it was hashed."""
    found = scores.inputs.get("qrels", {}).get("sha256")
    return None if found is None else str(found)


def signature_mismatches(base: Scores, candidate: Scores, measures: Sequence[str]) -> list[Mismatch]:
    """The measures whose signatures differ in the contract part; the provenance part may differ."""
    found = []
    for measure in measures:
        sides = [parse_signature(one.signatures[measure]).contract_part for one in (base, candidate)]
        if sides[0] != sides[1]:
            found.append(Mismatch("signature", sides[0], sides[1], measure))
    return found


def provenance_notes(base: Scores, candidate: Scores, measures: Sequence[str]) -> list[str]:
    """Sentences on measures that other software computed: no obstacle, and worth knowing."""
    notes = []
    for measure in measures:
        sides = ["|".join(parse_signature(one.signatures[measure]).provenance) for one in (base, candidate)]
        if sides[0] != sides[1]:
            notes.append(f"computed by different software: {sides[0]} / {sides[1]}")
    return list(dict.fromkeys(notes))


def refuse(mismatches: Sequence[Mismatch], across: Collection[str], flag: str = "--across") -> list[Mismatch]:
    """The mismatches that were asked for by kind; raises ``InputError`` for one that was not."""
    for kind in across:
        if kind not in KINDS:
            raise InputError(f"{kind!r} is nothing to compare across", f"choose from: {', '.join(KINDS)}")
    for one in mismatches:
        if one.kind not in across:
            raise InputError(
                f"not comparable: {one}", f"{flag} {one.kind} compares all the same, and labels the numbers"
            )
    return list(mismatches)
