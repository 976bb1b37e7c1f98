"""A comparison as a report: what ``metricpact compare`` shows in every format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import polars as pl
from metricpact.contracts.measures import parse_measure
from metricpact.crosscheck.compare.comparison import Comparison
from metricpact.crosscheck.compare.difference import Difference
from metricpact.crosscheck.compare.flips import Flip, MovedDocument, ShownQuery
from metricpact.render.intervals import interval_text, methods_line, number, signature_lines
from metricpact.render.report import Report, Table

_CORRECTIONS = {"holm": "Holm's correction", "bh": "Benjamini and Hochberg's correction", "none": "no correction"}
_NAMED = 4


def compare_report(
    comparison: Comparison,
    places: int,
    *,
    inputs: Mapping[str, Any] | None = None,
    flips: Sequence[Flip] = (),
    shown: Sequence[ShownQuery] = (),
) -> Report:
    """A comparison as a report, with the queries that flipped and those to show whole."""
    tables = [Table("", _frame(comparison, places))]
    if flips:
        tables.append(
            Table("queries that changed most (document with its grade, rank in base → candidate)", _flips(flips))
        )
    tables += [Table(_title(one, places), _rankings(one)) for one in shown]
    return Report(
        tables=tables,
        lines=_lines(comparison),
        document=lambda: _document(comparison, inputs or {}, flips, shown),
        records=lambda: comparison.to_polars().iter_rows(named=True),
        frame=comparison.to_polars,
    )


def _frame(comparison: Comparison, places: int) -> pl.DataFrame:
    rows = []
    for one in comparison.differences:
        cells = {"base": one.base, "candidate": one.candidate, "slice": one.slice, "measure": one.measure, "n": one.n}
        cells |= {"base mean": number(one.base_mean, places), "candidate mean": number(one.candidate_mean, places)}
        cells |= {"difference": "–" if one.difference is None else f"{one.difference:+.{places}f}"}
        cells |= {
            "interval": interval_text(one.interval, places),
            "win/tie/loss": f"{one.wins}/{one.ties}/{one.losses}",
        }
        cells |= {"p": _p_text(one.p.p, one.p.reason), "corrected p": _p_text(one.corrected, one.p.reason)}
        cells |= {"detectable": _detectable_text(one, places), "verdict": one.verdict}
        rows.append(cells)
    frame = pl.DataFrame(rows)
    # A column that says the same in every row only takes room; the lines below name a single base.
    if frame["slice"].unique().to_list() == ["all"]:
        frame = frame.drop("slice")
    return frame.drop("base") if frame["base"].n_unique() == 1 else frame


def _detectable_text(one: Difference, places: int) -> str:
    """The detectable difference; above 1 there is none for a measure between 0 and 1."""
    beyond = (one.minimum_detectable or 0) > 1 and parse_measure(one.measure).family not in ("DCG", "IDCG")
    return "> 1" if beyond else number(one.minimum_detectable, places)


def _p_text(p: float | None, reason: str) -> str:
    if p is None:
        return reason
    return f"{p:.4f}" if p >= 1e-4 else f"{p:.1e}"


def _flips(flips: Sequence[Flip]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                "base": flip.base,
                "candidate": flip.candidate,
                "measure": flip.measure,
                "query": flip.query,
                "change": flip.kind,
                "base value": flip.base_value,
                "candidate value": flip.candidate_value,
                "moved": _moves(flip),
            }
            for flip in flips
        ]
    )


def _moves(flip: Flip) -> str:
    """The moved documents, those with the highest grades first, for as many as can be read."""
    moved = [document for document in flip.documents if document.moved]
    moved.sort(key=lambda document: -(document.grade or 0))
    texts = [
        f"{document.document}({_grade(document)}) {_rank(document.base_rank)}→{_rank(document.candidate_rank)}"
        for document in moved[:_NAMED]
    ]
    return ", ".join(texts) + (f" and {len(moved) - _NAMED} more" if len(moved) > _NAMED else "")


def _grade(document: MovedDocument) -> str:
    return "?" if document.grade is None else f"{document.grade:g}"


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)


def _title(one: ShownQuery, places: int) -> str:
    values = ", ".join(
        f"{measure} {number(old, places)} → {number(new, places)}" for measure, (old, new) in one.values.items()
    )
    return f"query {one.query}: {one.base} and {one.candidate}; {values}"


def _rankings(one: ShownQuery) -> pl.DataFrame:
    """Both rankings side by side, each document with its grade and its rank on the other side."""
    before = {document.base_rank: document for document in one.documents}
    after = {document.candidate_rank: document for document in one.documents}
    rows = []
    for rank in range(1, one.depth + 1):
        old, new = before.get(rank), after.get(rank)
        if old is None and new is None:
            break
        rows.append(
            {
                "rank": rank,
                "base": old.document if old else "",
                "base grade": _grade(old) if old else "",
                "goes to": _rank(old.candidate_rank) if old else "",
                "candidate": new.document if new else "",
                "candidate grade": _grade(new) if new else "",
                "comes from": _rank(new.base_rank) if new else "",
            }
        )
    texts = ("base", "base grade", "goes to", "candidate", "candidate grade", "comes from")
    return pl.DataFrame(rows, schema={"rank": pl.Int64, **dict.fromkeys(texts, pl.String)})


def _lines(comparison: Comparison) -> list[str]:
    options, found = comparison.options, comparison.differences
    bases = list(dict.fromkeys(base for base, _ in comparison.pairs))
    lines = [f"base {bases[0]}; differences are candidate − base"] if len(bases) == 1 else []
    lines.append(methods_line(((one.measure, one.interval) for one in found), options.intervals))
    methods = dict.fromkeys(one.p.method for one in found if one.wins or one.losses) or {"no difference at all": None}
    drawn = f", seed {options.intervals.seed}" if any("drawn" in method for method in methods) else ""
    lines.append(
        f"two-sided {options.test} test ({', '.join(methods)}{drawn}), {_CORRECTIONS[options.correction]} "
        f"over a family of {comparison.family} tests, alpha {options.alpha:g}"
    )
    share = f" / {max(comparison.family, 1)}" if options.correction != "none" else ""
    lines.append(f"detectable: the true difference that is found with power {options.power:g} at alpha{share}")
    undefined = _undefined(found)
    lines += [f"pairs without a value on a side, left out and counted: {undefined}"] if undefined else []
    for (base, candidate), (left, right) in comparison.unpaired.items():
        if left or right:
            lines.append(
                f"{len(left)} queries of {base} and {len(right)} of {candidate} have no partner and take no part"
            )
    lines += dict.fromkeys(one.note for one in found if one.note)
    tails = [dict(signatures) for signatures in comparison.signatures.values()]
    if all(tail == tails[0] for tail in tails):
        return [*lines, *signature_lines(tails[0])]
    return [*lines, *(f"{run}: {line}" for run, s in comparison.signatures.items() for line in signature_lines(s))]


def _undefined(found: Sequence[Difference]) -> str:
    return ", ".join(
        dict.fromkeys(
            f"{one.undefined} of {one.measure} ({one.candidate}, {one.slice})" for one in found if one.undefined
        )
    )


def _document(
    comparison: Comparison, inputs: Mapping[str, Any], flips: Sequence[Flip], shown: Sequence[ShownQuery]
) -> dict[str, Any]:
    return {
        "schema": "metricpact.comparison/1",
        "inputs": dict(inputs),
        "options": asdict(comparison.options),
        "family": comparison.family,
        "signatures": {run: dict(signatures) for run, signatures in comparison.signatures.items()},
        "unpaired": [
            {"base": base, "candidate": candidate, "base_only": list(left), "candidate_only": list(right)}
            for (base, candidate), (left, right) in comparison.unpaired.items()
        ],
        "differences": [asdict(one) for one in comparison.differences],
        "flips": [asdict(flip) for flip in flips],
        "shown": [asdict(one) for one in shown],
        "notes": list(comparison.notes),
    }
