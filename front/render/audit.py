"""An audit as a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from metricpact.contracts.contract import plain_value
from metricpact.crosscheck.audit.attribution import Attribution, Effect, Moved
from metricpact.crosscheck.audit.audit import Audit, Line, RunAudit
from metricpact.crosscheck.audit.sensitivity import OrderChange, best_of
from metricpact.crosscheck.audit.working import Working
from metricpact.render.report import Report, Table

NOT_ASKED = "·"
REFUSED = "refused"
"""What stands in the place of a number that is not given because the data is refused; the lines say why."""
_PAIRS = 3


def audit_report(audit: Audit, places: int, *, sides: bool) -> Report:
    """The audit; ``sides`` shows each profile's effects from both sides, else effects on the contract's mean only.

    Several runs share one table a measure, which names the cause of each run's largest difference.
    """
    tables = _one_run(audit.runs[0], places, sides=sides) if len(audit.runs) == 1 else _runs(audit, places)
    if audit.order:
        tables.append(Table("does the order of the runs change?", _order(audit.order, places, _short_names(audit))))
    for name, workings in audit.workings.items():
        tables += [_working(name if len(audit.runs) > 1 else "", working) for working in workings]
    return Report(
        tables=tables,
        lines=_lines(audit),
        document=audit.to_document,
        records=lambda: _records(audit),
        frame=audit.to_polars,
    )


def _one_run(run: RunAudit, places: int, *, sides: bool) -> list[Table]:
    tables = []
    for measure, lines in run.lines.items():
        tables.append(Table(f"{measure}, {_contract(run, measure, places)}", _profiles(lines, places)))
        if sides:
            tables += [_two_sides(line, places) for line in lines if line.attribution.causes]
        else:
            tables += _alone(lines, places)
    return tables


def _runs(audit: Audit, places: int) -> list[Table]:
    """One table a measure: each run under the contract, the profiles that say least and most, and the main cause."""
    short, tables = _short_names(audit), []
    for measure in map(str, audit.measures):
        rows = []
        for run in audit.runs:
            outcome, lines = run.outcomes[measure], run.lines[measure]
            told = [line for line in lines if line.attribution.there.value is not None]
            by_value = sorted(told, key=lambda line: line.attribution.there.value or 0.0)
            apart = max(told, key=lambda line: abs(line.attribution.total or 0.0), default=None)
            rows.append(
                {
                    "run": short[run.name],
                    "contract": _shown(outcome.value, places, outcome.error),
                    "least": _profile_value(by_value[:1], places),
                    "most": _profile_value(by_value[-1:], places),
                    "largest difference": _because(apart.attribution, places) if apart else "",
                }
            )
        tables.append(Table(measure, pl.DataFrame(rows)))
    return tables


def _profile_value(lines: Sequence[Line], places: int) -> str:
    if not lines:
        return ""
    return f"{_shown(lines[0].attribution.there.value, places)} {lines[0].profile.name}"


def _short_names(audit: Audit) -> dict[str, str]:
    """The runs without the folder that all of them lie in."""
    names = [run.name for run in audit.runs]
    folders = {name.rpartition("/")[0] for name in names}
    return {name: name.rpartition("/")[2] if len(folders) == 1 else name for name in names}


def _contract(run: RunAudit, measure: str, places: int) -> str:
    outcome = run.outcomes[measure]
    name = run.contract.name + (" with rank_conflict=ignore" if run.conflict else "")
    if outcome.error:
        return f"{name} refuses the data"
    if outcome.mean is None or outcome.value is None:
        return f"{name}: undefined"
    return f"{name} = {outcome.value:.{places}f} (n={outcome.mean.n})"


def _profiles(lines: Sequence[Line], places: int) -> pl.DataFrame:
    rows = [
        {
            "profile": line.profile.name,
            "tool itself": _native(line, places),
            "profile says": _shown(line.attribution.there.value, places, line.attribution.there.error),
            "n": "" if line.attribution.there.mean is None else str(line.attribution.there.mean.n),
            "difference": _signed(line.attribution.total, places),
            "because": _because(line.attribution, places),
        }
        for line in lines
    ]
    return pl.DataFrame(rows)


def _native(line: Line, places: int) -> str:
    if line.native is None:
        return NOT_ASKED
    shown = "none" if line.native.mean is None else _shown(line.native.mean, places)
    return f"{shown} (!)" if line.native.agrees(line.attribution.there.value) is False else shown


def _because(found: Attribution, places: int) -> str:
    causes = found.causes
    if found.here.error:
        return "not known: the contract refuses the data"
    if not causes:
        return "nothing that shows on this data" if found.effects else "the same contract"
    parts = [f"{_setting(effect)} {_effect(effect.from_here, places, effect.error)}" for effect in causes]
    if found.interaction:
        parts.append(f"interaction {_signed(found.interaction, places)}")
    return ", ".join(parts)


def _setting(effect: Effect) -> str:
    value = plain_value(effect.there)
    return f"{effect.field}={'a table' if isinstance(value, dict) else value}"


def _effect(change: float | None, places: int, *errors: str) -> str:
    """A change of a mean, or why there is none."""
    return _signed(change, places) or (REFUSED if any(errors) else "undefined")


def _alone(lines: Sequence[Line], places: int) -> list[Table]:
    """What each convention of the profiles does to the contract's mean by itself, each once."""
    seen: dict[str, tuple[Effect, list[str]]] = {}
    for line in lines:
        for effect in [] if line.attribution.here.error else line.attribution.causes:
            seen.setdefault(_setting(effect), (effect, []))[1].append(line.profile.name)
    rows = [
        {
            "convention alone": setting,
            "mean changes by": _effect(effect.from_here, places, effect.error),
            "queries": effect.changed_queries,
            "most": _moved(effect.moved, places),
            "profiles": ", ".join(names),
        }
        for setting, (effect, names) in seen.items()
    ]
    return [Table("", pl.DataFrame(rows))] if rows else []


def _two_sides(line: Line, places: int) -> Table:
    found = line.attribution
    rows: list[dict[str, Any]] = [
        {
            "convention": effect.field,
            "contract": str(plain_value(effect.here)),
            "profile": str(plain_value(effect.there)),
            "alone, from the contract": _effect(effect.from_here, places, effect.error, found.here.error),
            "alone, from the profile": _effect(effect.from_there, places, effect.error, found.there.error),
            "queries": str(effect.changed_queries),
            "most": _moved(effect.moved, places),
        }
        for effect in [*found.causes, *(effect for effect in found.effects if effect not in found.causes)]
    ]
    blank = dict.fromkeys(rows[0], "")
    refusals = found.here.error, found.there.error
    interaction, total = (_effect(value, places, *refusals) for value in (found.interaction, found.total))
    rows += [
        blank | {"convention": "interaction", "alone, from the contract": interaction},
        blank | {"convention": "difference", "alone, from the contract": total, "most": _moved(found.moved, places)},
    ]
    return Table(f"why {line.profile.name} differs", pl.DataFrame(rows))


def _order(changes: Sequence[OrderChange], places: int, short: Mapping[str, str]) -> pl.DataFrame:
    """The changes that flip a pair, and for each measure how many flip none and which could not be scored."""
    rows = []
    for measure in dict.fromkeys(str(change.measure) for change in changes):
        own = [change for change in changes if str(change.measure) == measure]
        loud = [change for change in own if change.flipped]
        rows += [_order_row(change, places, short) for change in sorted(loud, key=lambda one: -len(one.flipped))]
        refused = [change.what for change in own if change.winner is None]
        quiet = len(own) - len(loud) - len(refused)
        rest = f"{quiet} of {len(own)} changes of a convention flip no pair"
        refusals = f"; not scored: {', '.join(refused)}" if refused else ""
        if len(refused) == len(own):
            rest, refusals = f"none of {len(own)} changes of a convention could be scored", ""
        rows.append({"measure": measure, "changed": rest + refusals, "tau": "", "flipped": "", "pairs": "", "best": ""})
    return pl.DataFrame(rows)


def _order_row(change: OrderChange, places: int, short: Mapping[str, str]) -> dict[str, str]:
    shown = ", ".join(f"{short[first]} > {short[second]}" for first, second in change.flipped[:_PAIRS])
    return {
        "measure": str(change.measure),
        "changed": change.what,
        "tau": "" if change.tau is None else f"{change.tau:.{places}f}",
        "flipped": str(len(change.flipped)),
        "pairs": shown + (", …" if len(change.flipped) > _PAIRS else ""),
        "best": short[change.winner] if change.winner else "",
    }


def _working(run: str, working: Working) -> Table:
    under = ", ".join(working.names)
    lines = "\n".join(f"  {line}" for line in working.lines)
    where = f"{run}: " if run else ""
    return Table(f"{where}{working.measure} of query {working.query} under {under}\n{lines}", working.rows)


def _lines(audit: Audit) -> list[str]:
    lines = [
        f"{run.name} is scored with rank_conflict=ignore, since {run.conflict}" for run in audit.runs if run.conflict
    ]
    lines += _refusals(audit)
    first = audit.runs[0]
    tails = {outcome.signature.partition("|")[2] for outcome in first.outcomes.values() if outcome.signature}
    lines += [f"signature MEASURE|{tail}" for tail in sorted(tails)]
    lines += [*_outside(audit), *_verdicts(audit)]
    lines.append("a profile's numbers are signed MEASURE|PROFILE/VERSION||…; -o json gives every signature")
    return lines


def _refusals(audit: Audit) -> list[str]:
    """Why numbers are not given, each reason once; of several runs only what the contract refuses."""
    refused: dict[str, dict[str, None]] = {}
    silent: list[str] = []
    for run in audit.runs:
        for outcome in run.outcomes.values():
            if outcome.error:
                hint = f" ({outcome.hint})" if outcome.hint else ""
                refused.setdefault(outcome.error + hint, {})[run.contract.name] = None
        for line in (line for lines in run.lines.values() for line in lines if len(audit.runs) == 1):
            found = line.attribution
            if found.there.error:
                refused.setdefault(found.there.error, {})[line.profile.name] = None
            for effect in [] if found.here.error else found.causes:
                if effect.error:
                    refused.setdefault(effect.error, {})[_setting(effect)] = None
            if line.native is not None and line.native.error:
                silent.append(f"{line.profile.name} itself gives no number: {line.native.error}")
    return [f"refused by {', '.join(names)}: {why}" for why, names in refused.items()] + list(dict.fromkeys(silent))


def _outside(audit: Audit) -> list[str]:
    """The tools whose own number is not what their profile says: the data is outside of what the profile claims."""
    found: dict[str, list[str]] = {}
    for run in audit.runs:
        for measure, lines in run.lines.items():
            for line in lines:
                if line.native is not None and line.native.agrees(line.attribution.there.value) is False:
                    found.setdefault(line.profile.name, []).append(measure)
    return [
        f"(!) {name} itself answers otherwise ({', '.join(dict.fromkeys(measures))}): "
        f"'metricpact contracts {name}' says for which inputs the profile holds"
        for name, measures in found.items()
    ]


def _verdicts(audit: Audit) -> list[str]:
    """For each measure, whether who wins, and the order of the runs, stand under every change that could be scored."""
    lines = []
    for measure in dict.fromkeys(str(change.measure) for change in audit.order):
        scored = [change for change in audit.order if str(change.measure) == measure and change.winner is not None]
        if not scored:
            lines.append(f"{measure}: nothing is known of the order, since no change of a convention could be scored")
            continue
        changing = sum(bool(change.flipped) for change in scored)
        values = {run.name: run.outcomes[measure].value for run in audit.runs}
        best = {change.winner for change in scored}
        best.add(best_of({name: value for name, value in values.items() if value is not None}))
        stands = "the best run is the same under all" if len(best) == 1 else "the best run changes"
        lines.append(f"{measure}: the order changes under {changing} of {len(scored)} changes, {stands}")
    return lines


def _records(audit: Audit) -> list[dict[str, Any]]:
    """One record a run, measure and profile; then one a changed order, and one a working."""
    document = audit.to_document()
    records = [
        {"record": "profile", "run": run["run"], "measure": measure["measure"], "contract": measure["value"], **line}
        for run in document["runs"]
        for measure in run["measures"]
        for line in measure["profiles"]
    ]
    records += [{"record": "order", **change} for change in document["order"]]
    return records + [{"record": "working", **working} for working in document["workings"]]


def _moved(moved: Sequence[Moved], places: int) -> str:
    return ", ".join(f"{one.query} {_shown(one.here, places)}→{_shown(one.there, places)}" for one in moved[:3])


def _shown(value: float | None, places: int, error: str = "") -> str:
    if value is None:
        return REFUSED if error else "undefined"
    return f"{value:.{places}f}"


def _signed(value: float | None, places: int) -> str:
    if value is None:
        return ""
    if not value:
        return "0"
    return f"{value:+.{places}f}" if abs(value) >= 0.5 * 10**-places else f"{value:+.0e}"
