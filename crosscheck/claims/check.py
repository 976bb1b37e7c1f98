"""All claims of a file checked: the document that ``metricpact claims`` reads, and what becomes of it.

A claims file is TOML. Numbers stand as they were published, as numbers or as text (``.7500``, ``44 %``, ``21/43``); a
list of them states one number in several ways. Inputs stand in the claim, or once in ``[data.NAME]`` for several::

    title = "A report"

    [data.example]
    judgments = { q1 = { A = 2, B = 1 }, q2 = { C = 1 } }   # or a path, from this file's folder
    run = { q1 = ["B", "U", "A"], q2 = ["C"] }              # ids in order, { id = score }, or a path

    [[claim]]
    id = "headline"
    kind = "measures"
    text = "nDCG@3 is .84"
    data = "example"
    values = { "nDCG@3" = ".84" }
    expect = "reproduced"

Kinds and their keys:

``measures``
    ``judgments``; ``run``, or ``rankings`` (name → run) where it is open what was returned; ``alternatives`` (name →
    run), tried only to tell what would give the numbers. ``values`` (measure → number), ``by_query`` (query → measure
    → number), ``lower`` and ``upper`` (bounds under missing judgments), ``n`` (queries in the means). ``contract``
    (default ``chapter``) and ``set``. One ranking of one query may be written without it: ``judgments = { A = 2 }``,
    ``run = ["A"]``; the query is then called q. An undefined value is written ``"undefined"``.
``decisions``
    ``states`` (state → [positives, negatives]) or ``items`` (CSV with columns state, label); ``endpoint`` and
    ``left_out`` (lists of states); ``values`` of recall, precision, positives, negatives, items.
``ratio``
    ``ratio`` and what is ``stated`` of it.
``slices``
    ``file`` (CSV: run, query_id, expected_id, ranked_ids, and columns to slice by), ``columns`` and ``rows``.
``mean``
    ``means`` (name → number) over the same queries, of a ``measure`` (``relevant``: |R| where it is known) or of
    values that ``each`` query has one of; ``n`` where it is known. Says which n allow them.

``expect`` is the verdict that the file expects, ``reproduced`` where it says nothing; behind the words of a verdict a
part of what follows them may stand: ``reproduced only under ideal=returned``. What a data file is at fault for is
``cannot check``; what the claims file is at fault for is an error with its line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from metricpact.contracts.errors import InputError
from metricpact.crosscheck.claims.arithmetic import check_decisions, check_ratio
from metricpact.crosscheck.claims.attain import check_mean
from metricpact.crosscheck.claims.document import Claim, read_document
from metricpact.crosscheck.claims.measures import check_measures
from metricpact.crosscheck.claims.slices import check_slices
from metricpact.crosscheck.claims.verdicts import ClaimsReport, Expected, Result, Verdict, read_expected

KINDS: dict[str, Callable[[Claim], Verdict]] = {
    "measures": check_measures,
    "decisions": check_decisions,
    "ratio": check_ratio,
    "slices": check_slices,
    "mean": check_mean,
}
"""What checks each kind of claim."""


def check_claims(name: str, only: Sequence[str] = ()) -> ClaimsReport:
    """Check the claims of a file (a path, or a shipped name), or ``only`` those with some ids.

    Raises ``InputError`` with the line for whatever is wrong in the file itself.
    """
    document = read_document(name)
    known = [claim.id for claim in document.claims]
    for wanted in only:
        if wanted not in known:
            raise InputError(f"no claim is called {wanted!r}", f"claims: {', '.join(known)}", source=name)
    expected = {claim.id: _expected(claim) for claim in document.claims}
    results = [
        Result(claim.id, claim.kind, _about(claim), claim.line, KINDS[claim.kind](claim), expected[claim.id])
        for claim in document.claims
        if not only or claim.id in only
    ]
    return ClaimsReport(document.name, document.title, document.source, results)


def _expected(claim: Claim) -> Expected:
    if "expect" not in claim.keys:
        return Expected()
    try:
        return read_expected(claim.keys["expect"])
    except InputError as error:
        raise claim.error(error.fact, error.hint, "expect") from error


def _about(claim: Claim) -> str:
    text = claim.keys.get("text", "")
    if not isinstance(text, str):
        raise claim.error("text is not text", 'write text = "…"', "text")
    return text
