"""The functions that a Python program calls to audit numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from metricpact.bridges.evaluate import DEFAULT_MEASURES
from metricpact.bridges.sources.choose import read_run as read_run_from
from metricpact.contracts.errors import ContractError
from metricpact.contracts.measures import parse_measures
from metricpact.contracts.profiles import Profile, load_profile, profile_names
from metricpact.inputs import ContractLike, Measures, judgments_from, named_runs, profile_under

if TYPE_CHECKING:
    from metricpact.crosscheck.audit.audit import Audit
    from metricpact.crosscheck.audit.infer import Inference
    from metricpact.crosscheck.claims.verdicts import ClaimsReport


def audit(
    qrels: Any,
    runs: Any,
    measures: Measures | None = None,
    contract: ContractLike = "chapter",
    *,
    against: str | PathLike[str] | Profile | Iterable[str | PathLike[str] | Profile] | None = None,
    queries: str | Iterable[str] = (),
    top: int = 5,
    native: bool = True,
    inputs: Mapping[str, Any] | None = None,
) -> Audit:
    """Hold runs under a contract against profiles: which convention makes which difference, and who wins then.

    ``runs`` is one run, a list of runs, or a mapping from names to runs.
    ``against`` names one profile or several (unless given all whose tool has the measure), ``queries`` (one or several)
    are worked out line by line, the ``top`` (1 or more) that move most are named; ``native`` also asks the installed
    libraries themselves, each in a process of its own; ``inputs`` is what the document says of where the data came
    from. Raises ``MetricpactError``; data that a contract rejects is told in its place.
    """
    from metricpact.crosscheck.audit.audit import audit as held_against
    from metricpact.crosscheck.audit.native import has_measure, natives_of
    from metricpact.crosscheck.audit.working import check_judged

    profile = profile_under(contract)
    if isinstance(top, bool) or not isinstance(top, int) or top < 1:
        raise ContractError(f"top is {top!r}, not an integer of 1 or more", "write top=5")
    names = profile_names() if against is None else against
    if isinstance(names, str | PathLike | Profile):
        names = [names]
    shown = [queries] if isinstance(queries, str) else list(queries)
    profiles = [load_profile(name if isinstance(name, Profile) else str(name)) for name in names]
    profiles = [one for one in profiles if one.base != profile.base or one.contract != profile.contract]
    judgments, read = judgments_from(qrels), named_runs(runs)
    for query in shown:
        check_judged(query, judgments.queries)  # before the libraries are asked, which takes its time
    wanted = parse_measures(DEFAULT_MEASURES if measures is None else measures)
    natives = natives_of(profiles, judgments, read, wanted) if native else {}
    asked = {one: [p for p in profiles if against is not None or has_measure(p, one)] for one in wanted}
    return held_against(judgments, read, wanted, profile, asked, natives=natives, queries=shown, top=top, inputs=inputs)


def infer(qrels: Any, run: Any, published: Mapping[Any, Any], *, changes: int = 2) -> Inference:
    """The contracts that give published means: ``infer(qrels, run, {"nDCG@10": "0.4973"})``.

    Numbers are read as they are written (see ``metricpact.crosscheck.audit.published``), so text keeps trailing
    zeros. The shipped profiles are tried, then their neighbours with up to ``changes`` fields changed (0, 1 or 2).
    """
    from metricpact.crosscheck.audit.infer import infer as search

    return search(judgments_from(qrels), read_run_from(run), published, changes=changes)


def claims(path: str | PathLike[str]) -> ClaimsReport:
    """The claims of a TOML file (or of a shipped one: ``chapter``, ``cookbook``), recomputed; see its ``results``.

    ``metricpact.crosscheck.claims.check`` describes the file. Raises ``InputError`` with the line of what is wrong.
    """
    from metricpact.crosscheck.claims.check import check_claims

    return check_claims(str(path))
