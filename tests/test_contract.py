"""Contracts as data: closed values, TOML in and out, difference, digest, profiles with overrides, signatures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import metricpact as mp
import pytest
from metricpact.contracts.contract import FIELDS, Contract
from metricpact.contracts.errors import ContractError, MeasureError
from metricpact.contracts.measures import parse_measure
from metricpact.contracts.profiles import Profile, load_profile, profile_names
from metricpact.contracts.signature import Signature, parse_signature, sign

CHAPTER: dict[str, Any] = {
    "order": "score",
    "ties": "given",
    "score_width": "float64",
    "rank_conflict": "error",
    "threshold": 1,
    "precision_denominator": "cutoff",
    "recall_denominator": "relevant",
    "ap_denominator": "relevant",
    "gain": "exponential",
    "discount": "log2",
    "ideal": "judgments",
    "ideal_depth": "cutoff",
    "unjudged": "zero",
    "undefined": "null",
    "queries": "judged",
    "extra_query": "ignore",
    "negative_grade": "error",
    "duplicate": "error",
    "self_match": "keep",
}
TREC_EVAL = CHAPTER | {
    "ties": "docid_desc",
    "score_width": "float32",
    "rank_conflict": "ignore",
    "gain": "linear",
    "undefined": "zero",
    "queries": "answered",
    "negative_grade": "unjudged",
}


def test_the_named_contracts_are_these() -> None:
    """The chapter and trec_eval's two profiles hold exactly the conventions that they are named for."""
    assert profile_names()[0] == "chapter"
    assert load_profile("chapter").contract.fields() == CHAPTER
    assert load_profile("trec_eval-9.0.8").contract.fields() == TREC_EVAL
    assert load_profile("trec_eval-9.0.8-c").contract.fields() == TREC_EVAL | {"queries": "judged"}


def test_every_field_and_value_has_a_line_of_documentation() -> None:
    """A convention without words would be a name that everybody reads differently."""
    assert list(FIELDS) == list(CHAPTER)
    for name, convention in FIELDS.items():
        assert convention.summary, name
        assert all(convention.values.values()), name
        assert convention.values or convention.free, name


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("gain", "cubic"),
        ("gain", {}),
        ("gain", {1: -1}),
        ("gain", {0: 1}),
        ("gain", {1: float("nan")}),
        ("gain", {1: float("inf")}),
        ("gain", {"one": 1}),
        ("gain", {1: 1, "1": 2}),
        ("gain", 3),
        ("threshold", True),
        ("threshold", -1),
        ("threshold", 1.5),
        ("threshold", "one"),
        ("queries", []),
        ("queries", [""]),
        ("queries", [1]),
        ("queries", "some"),
        ("ties", "random"),
        ("ties", None),
    ],
)
def test_a_value_outside_the_closed_set_is_refused_with_the_choices(field: str, value: object) -> None:
    """Each field takes only its own values, and the error says which."""
    with pytest.raises(ContractError) as caught:
        Contract().replace(**{field: value})
    assert caught.value.hint


def test_an_unknown_field_is_refused_with_the_nearest() -> None:
    """A misspelt field is named, with the one that was probably meant."""
    with pytest.raises(ContractError, match="'gains' is not a field") as caught:
        Contract().replace(gains="linear")
    assert "'gain'" in caught.value.hint


def test_difference_and_digest() -> None:
    """The difference is a list of fields with both values; equal contracts have equal digests."""
    linear = Contract().replace(gain="linear", threshold=2)
    assert Contract().diff(linear) == {"threshold": (1, 2), "gain": ("exponential", "linear")}
    assert linear.digest() == Contract(gain="linear", threshold=2).digest() != Contract().digest()
    assert Contract(gain={1: 1, 2: 3}) == Contract(gain=((2, 3.0), (1, 1)))
    assert Contract(queries=["b", "a", "b"]) == Contract(queries=("a", "b"))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"gain": "linear"},
        {"gain": {0: 0, 1: 0.5, 2: 3}},
        {"queries": ["q1", 'a "quoted" id', "é\u2028", "tab\tin"]},
        {"threshold": 0, "ties": "average", "undefined": "skip"},
    ],
)
def test_toml_goes_out_and_in(tmp_path: Path, changes: dict[str, Any]) -> None:
    """What is written as TOML reads back as the same contract."""
    contract = Contract().replace(**changes)
    path = tmp_path / "ours.toml"
    path.write_text(contract.to_toml(), encoding="utf-8")
    assert mp.Contract.from_toml(path) == contract


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[fields]\ngian = 'linear'\n", "'gian'"),
        ("[field]\ngain = 'linear'\n", "'field'"),
        ("[fields]\ngain = 'cubic'\n", "'cubic'"),
        ("[fields\n", "line 1"),
        ("fields = 3\n", "fields"),
        ("version = 0\n", "version"),
        ("name = 3\n", "name"),
        ("base = 'nobody'\n", "'nobody'"),
        ("[overrides.\"nDCG@x\"]\ngain = 'linear'\n", "nDCG@x"),
        ("[overrides.nDCG]\ngian = 'linear'\n", "'gian'"),
    ],
)
def test_a_faulty_contract_file_is_named_with_its_key(tmp_path: Path, text: str, said: str) -> None:
    """The error names the file and the key (or line) at fault."""
    path = tmp_path / "ours.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ContractError) as caught:
        Profile.from_toml(path)
    assert said in caught.value.fact


def test_a_contract_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    """A missing file and bytes that are no UTF-8 are errors, not tracebacks."""
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    for name in ("none.toml", "bad.toml"):
        with pytest.raises(ContractError, match=name):
            Contract.from_toml(tmp_path / name)


PROFILE = """
name = "ours"
base = "trec_eval-9.0.8-c"
[fields]
threshold = 2
[overrides."RR@*"]
ties = "docid_asc"
[overrides."RR@5"]
score_width = "float64"
[overrides.RR]
gain = "exponential"
"""


def test_overrides_per_measure(tmp_path: Path) -> None:
    """A profile's overrides reach the measures that they name, and --set beats them."""
    path = tmp_path / "ours.toml"
    path.write_text(PROFILE, encoding="utf-8")
    profile = load_profile(path)

    def settings(name: str, field: str) -> object:
        return getattr(profile.for_measure(parse_measure(name)), field)

    assert [settings(name, "ties") for name in ("RR", "RR@10", "RR@5", "P@5")] == [
        "docid_desc",
        "docid_asc",
        "docid_asc",
        "docid_desc",
    ]
    assert [settings(name, "score_width") for name in ("RR", "RR@10", "RR@5")] == ["float32", "float32", "float64"]
    assert settings("RR(rel=3)@5", "threshold") == 3
    assert settings("P@1", "threshold") == 2
    changed = profile.with_fields({"ties": "given"})
    assert changed.for_measure(parse_measure("RR@5")).ties == "given"
    with pytest.raises(ContractError, match="overrides"):
        Contract.from_toml(path)
    again = tmp_path / "again.toml"
    again.write_text(profile.to_toml(), encoding="utf-8")
    assert load_profile(again) == profile


def test_overrides_score_and_are_shown() -> None:
    """Measures with different tie rules in one call each get their own prefix, and say which fields differ."""
    contract = Profile(
        name="two", version=1, contract=Contract(), base="chapter/1", overrides={"RR": {"ties": "docid_desc"}}
    )
    scores = mp.score({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, ["RR", "RR@10"], contract=contract)
    assert dict(scores.mean) == {"RR": 0.5, "RR@10": 1.0}
    fields = {measure["measure"]: measure["fields"] for measure in scores.to_document()["measures"]}
    assert fields == {"RR": {"ties": "docid_desc"}, "RR@10": {}}
    assert "ties=docid_desc" in scores.signatures["RR"]
    assert "ties" not in scores.signatures["RR@10"]


def test_signatures_say_what_differs_and_lead_back() -> None:
    """A signature prints the fields that differ from the named contract, and parses to the same contract."""
    profile = load_profile("trec_eval-9.0.8").with_fields({"gain": "exponential", "threshold": 2})
    measure = parse_measure("nDCG@10")
    signature = sign(measure, profile, ("pytrec_eval-terrier:0.5.11", "trec_eval:9.0.8", "metricpact:0.1.0"))
    text = (
        "nDCG@10|trec_eval-9.0.8/1|threshold=2|gain=exponential"
        "||pytrec_eval-terrier:0.5.11|trec_eval:9.0.8|metricpact:0.1.0"
    )
    assert str(signature) == text
    assert parse_signature(text) == signature
    assert parse_signature(text).contract() == profile.for_measure(measure)


def test_tables_and_lists_in_a_signature_are_hashes() -> None:
    """A gain table and a query list are printed as hashes, which the values themselves explain."""
    changes = {"gain": {1: 1, 2: 5}, "queries": ["q1", "q2"]}
    profile = load_profile("chapter").with_fields(changes)
    signature = parse_signature(str(sign(parse_measure("nDCG"), profile, ())))
    assert signature.changes["gain"].startswith("table:")
    assert signature.changes["queries"].startswith("list:")
    assert signature.contract(changes) == profile.contract
    with pytest.raises(ContractError, match="only as a hash"):
        signature.contract()
    with pytest.raises(ContractError, match=r"the value given for gain is table:.*, the signature has table:"):
        signature.contract(changes | {"gain": {1: 1, 2: 6}})


@pytest.mark.parametrize(
    "text",
    ["", "nDCG@10", "nDCG@10||", "nDCG@10|chapter||x", "nDCG@10|chapter/1|gain||x", "nDCG@10|chapter/1|gian=linear||x",
     "nDCG@10|chapter/1|gain=cubic||x", "nDCG@10|chapter/1|gain=linear|gain=linear||x", "what|chapter/1||x"],
)  # fmt: skip
def test_what_is_no_signature_is_refused(text: str) -> None:
    """A text that is not a signature is an error with a hint."""
    with pytest.raises((ContractError, MeasureError)) as caught:
        parse_signature(text)
    assert caught.value.hint


def test_a_signature_of_another_version_is_refused() -> None:
    """A contract version that is not known here cannot be turned back."""
    with pytest.raises(ContractError, match="version 9"):
        parse_signature("nDCG@10|chapter/9||x").contract()
    assert isinstance(parse_signature("nDCG@10|chapter/9||x"), Signature)
