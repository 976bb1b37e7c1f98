"""Reading a measure's name in the spellings of the field: ir_measures', trec_eval's, ranx's, BEIR's and MTEB's."""

from __future__ import annotations

import ast
import re
from typing import Any

from metricpact.contracts.contract import check_gains
from metricpact.contracts.errors import ContractError, MeasureError
from metricpact.contracts.families import FAMILIES
from metricpact.contracts.measures import Measure

# Lower-case name → family, for the forms NAME, NAME(…), NAME@k and NAME_at_k.
_NAMES = {
    **{name.lower(): name for name in FAMILIES},
    "precision": "P",
    "recall": "R",
    "mrr": "RR",
    "recip_rank": "RR",
    "map": "AP",
    "hit_rate": "Success",
    "r-precision": "Rprec",
    "set_p": "SetP",
    "set_recall": "SetR",
    "set_f": "SetF",
    "ndcg_burges": "nDCG",
}
# trec_eval's measures with a cutoff behind "_" or ".".
_CUT_NAMES = {"p": "P", "recall": "R", "map_cut": "AP", "ndcg_cut": "nDCG", "success": "Success"}
# Names under which tools compute different things, and what each of them may mean.
_AMBIGUOUS = {
    "accuracy": ("Success@{k}", "P@{k}", "RR@{k}"),
    "acc": ("Success@{k}", "P@{k}"),
    "top_k_accuracy": ("Success@{k}", "P@{k}"),
    "hits": ("Success@{k}", "R@{k}", "P@{k}"),
    "hit": ("Success@{k}", "R@{k}"),
    "f1": ("SetF",),
    "f": ("SetF",),
    "context_precision": ("AP@{k}", "P@{k}"),
    "context_recall": ("R@{k}", "Success@{k}"),
    "r_cap": ("R@{k} under recall_denominator=capped",),
    "recall_cap": ("R@{k} under recall_denominator=capped",),
    "hole": ("Judged@{k} (the share that is judged)",),
}
# Names that some tools take with a cutoff and then score without it.
_CUT_IS_DROPPED = {"recip_rank": "RR", "map": "AP", "ndcg": "nDCG"}
_AT = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9_-]*)(?:\((?P<inner>.*)\))?(?:@(?P<cut>.*))?", re.DOTALL)
_TREC = re.compile(r"(?P<name>[A-Za-z_]+?)(?:_at_|[_.])(?P<cut>[+-]?[0-9].*)", re.DOTALL)
_DCG = {"exp-log2": "exponential", "log2": "linear"}


def read_spelling(text: str) -> Measure:
    """The measure that a spelling means; raises ``MeasureError`` (see ``measures.parse_measure``)."""
    name = text.strip()
    match = _AT.fullmatch(name)
    if match:
        stem = match["name"].lower()
        if stem in _NAMES and not (stem == "recall" and match["cut"] is None):
            return _build(name, stem, match["inner"], match["cut"])
        _refuse_ambiguous(name, stem, match["cut"])
    match = _TREC.fullmatch(name)
    if match:
        stem = match["name"].lower()
        if "_at_" in name.lower() and stem in _NAMES:
            return _build(name, stem, None, match["cut"])
        if stem in _CUT_NAMES:
            return _build(name, _CUT_NAMES[stem].lower(), None, match["cut"])
        if stem in _CUT_IS_DROPPED:
            family = _CUT_IS_DROPPED[stem]
            raise MeasureError(
                f"{name!r} is ambiguous: some tools take this name and drop the cutoff",
                f"write {family}@{match['cut']} with the cutoff, or {family} without one",
            )
        _refuse_ambiguous(name, stem, match["cut"])
    raise MeasureError(f"{text!r} is not a measure", nearest_measure(name))


def nearest_measure(name: str) -> str:
    """A hint for a name that is no measure: the nearest one, spelled as it would be typed."""
    near, tail = _near(name)
    if near is None:
        return "measures: " + ", ".join(FAMILIES) + "; 'metricpact explain nDCG@10' explains one"
    return f"did you mean {near}{tail}?"


def resembles_measure(name: str) -> bool:
    """Whether a name that is neither a measure nor a file was probably meant as a measure."""
    return "@" in name or _near(name)[0] is not None


def _near(name: str) -> tuple[str | None, str]:
    from difflib import get_close_matches

    stem = re.split(r"[@(]", name, maxsplit=1)[0].lower()
    trec = re.fullmatch(r"(.+?)[_.](\d+)", stem)
    tail = ""
    if "@" in name:
        cut = name.rpartition("@")[2]
        tail = f"@{cut}" if re.fullmatch(r"[1-9]\d{0,8}", cut) else "@10"
    elif trec:
        stem, tail = trec[1], f"@{trec[2]}"
    spelled = {**_NAMES, **_CUT_NAMES}
    # A letter or two is near to everything: a short name has to be exact.
    near = get_close_matches(stem, list(spelled), 1, 0.7) if len(stem) > 2 else [stem] if stem in spelled else []
    if not near:
        return None, ""
    family = spelled[near[0]]
    if FAMILIES[family].cutoff == "none":
        tail = ""
    elif FAMILIES[family].cutoff == "required" and not tail:
        tail = "@10"
    return family, tail


def _refuse_ambiguous(name: str, stem: str, cut: str | None) -> None:
    choices = ("R@{k}", "SetR") if stem == "recall" else _AMBIGUOUS.get(stem)
    if choices:
        k = cut if cut and cut.isdigit() else "10"
        listed = ", ".join(choice.format(k=k) for choice in choices)
        raise MeasureError(f"{name!r} is ambiguous: tools differ in what they compute under it", f"choose: {listed}")


def _build(name: str, stem: str, inner: str | None, cut: str | None) -> Measure:
    values = _parameters(name, inner) if inner is not None else {}
    if stem == "ndcg_burges":
        if "gain" in values:
            raise MeasureError(f"{name!r} sets the gain twice", "write nDCG(…)@k with the gain that you mean")
        values["gain"] = "exponential"
    family = _NAMES[stem]
    cutoff: int | None = None
    if cut is not None:
        if not re.fullmatch(r"[0-9]{1,12}", cut):
            raise MeasureError(
                f"{name!r}: the cutoff {cut!r} is not an integer of 1 or more", f"write {family}@10 or another cutoff"
            )
        cutoff = int(cut)
    return Measure(family, cutoff, **values)


def _parameters(name: str, inner: str) -> dict[str, Any]:
    """The parameters inside the parentheses, as fields of ``Measure``."""
    hint = "parameters look like P(rel=2)@5, nDCG(dcg='exp-log2')@10, nDCG(gains={0:0,1:1,2:3})@10, SetF(beta=0.5)"
    try:
        call = ast.parse(f"f({inner})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or not isinstance(call.func, ast.Name):
            raise MeasureError(f"{name!r}: the parameters cannot be read", hint)
        pairs = [(keyword.arg, ast.literal_eval(keyword.value)) for keyword in call.keywords]
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as error:
        raise MeasureError(f"{name!r}: the parameters cannot be read", hint) from error
    values: dict[str, Any] = {}
    for key, value in pairs:
        field, read = _read_parameter(name, key, value, hint)
        if field in values:
            raise MeasureError(f"{name!r} sets the {field} twice", hint)
        values[field] = read
    return values


def _read_parameter(name: str, key: str | None, value: Any, hint: str) -> tuple[str, Any]:
    if key in ("rel", "beta"):
        return key, value
    try:
        if key == "gains" and isinstance(value, dict):
            return "gain", check_gains(value)
        if key == "dcg" and value in _DCG:
            return "gain", _DCG[value]
        if key == "gain" and value in ("exponential", "linear"):
            return "gain", value
    except ContractError as error:
        raise MeasureError(f"{name!r}: {error.fact}", error.hint) from error
    except TypeError:
        pass  # an unhashable value is no name of a gain: refused below like any other
    raise MeasureError(f"{name!r}: {key}={value!r} is not a parameter", hint)
