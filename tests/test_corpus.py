"""The case corpus: it follows its schema, covers every convention, pins what it says, and its answers are right."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import oracle
import pytest
from metricpact.contracts.contract import FIELDS, plain_value
from metricpact.contracts.measures import parse_measure
from metricpact.crosscheck.corpus import CASES, OTHER_PINS, Answer, load_cases, same_answer

FILES = sorted(path for path in CASES.glob("*.json") if not path.name.endswith(".schema.json"))
DOCUMENTS: list[dict[str, Any]] = [case for path in FILES for case in json.loads(path.read_text(encoding="utf-8"))]
BY_ID = {case["id"]: case for case in DOCUMENTS}
FREE = {"threshold": ("1", "2"), "gain": ("table",), "queries": ("list",)}
"""Values that every field with a free value must have cases for, beside its closed set."""
GAIN_TABLE = {"0": 0, "1": 1, "2": 7}


def asked(text: str) -> oracle.Asked:
    """A measure's name as the oracle takes it, read without the package's parser."""
    match = re.fullmatch(r"(\w+)(?:\((\w+)=(.*)\))?(?:@(-?\d+))?", text)
    assert match is not None
    family, name, value, cutoff = match.groups()
    parameters: dict[str, Any] = {}
    if name == "dcg":
        parameters["gain"] = {"exp-log2": "exponential", "log2": "linear"}[ast.literal_eval(value)]
    elif name == "gains":
        parameters["gain"] = tuple(ast.literal_eval(value).items())
    elif name is not None:
        parameters[name] = ast.literal_eval(value)
    return oracle.Asked(family, None if cutoff is None else int(cutoff), **parameters)


def solve(case: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The answer to a case by the oracle, with some fields of its contract changed."""
    contract = oracle.CHAPTER | case["contract"] | changes
    if isinstance(contract["gain"], dict):
        contract["gain"] = {float(grade): gain for grade, gain in contract["gain"].items()}
    measure = asked(case["measure"])
    try:
        result = oracle.score(
            [(row["query"], row["document"], row["grade"]) for row in case["judgments"]],
            [(row["query"], row["document"], row.get("score"), row.get("rank")) for row in case["run"]],
            [measure],
            contract,
            judged_empty=case.get("judged_without_rows", ()),
            returned_empty=case.get("returned_without_rows", ()),
        )[measure]
    except oracle.OracleError as error:
        return {"error": str(error)}
    expected = case["expected"]
    if "query" in expected and "error" not in expected:
        number, reason = result.values[expected["query"]]
        return {"query": expected["query"], "value": number, "reason": reason}
    mean = result.mean
    return {"mean": mean.value, "n": mean.n, "undefined": mean.undefined}


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Two answers of the oracle or of a file: the same refusal, or the same number, reason and counts."""
    if "error" in one or "error" in other:
        return "error" in one and "error" in other
    key = "mean" if "mean" in one else "value"
    rest = [name for name in ("reason", "n", "undefined") if one.get(name) != other.get(name)]
    return not rest and oracle.close(*(None if side[key] is None else float(side[key]) for side in (one, other)))


def values_of(field: str) -> list[str]:
    """Every value of a field that must have cases."""
    return [*FIELDS[field].values, *FREE.get(field, ())]


def test_every_file_follows_the_schema() -> None:
    """Each file is what case.schema.json says, so that a reader in any language can rely on it."""
    schema = json.loads((CASES / "case.schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    faults = [
        f"{path.name}: {error.json_path}: {error.message}"
        for path in FILES
        for error in validator.iter_errors(json.loads(path.read_text(encoding="utf-8")))
    ]
    assert faults == []


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"sentence": "no full stop"}, "$[0].sentence"),
        ({"expected": {"query": "q", "value": None}}, "$[0].expected"),
        ({"expected": {"query": "q", "value": 1, "reason": "no-gain"}}, "$[0].expected"),
        ({"contract": {"tie": "given"}}, "$[0].contract"),
        ({"comment": "free text"}, "$[0]"),
    ],
)
def test_the_schema_refuses(change: dict[str, Any], path: str) -> None:
    """The schema is not so wide that anything passes it."""
    schema = json.loads((CASES / "case.schema.json").read_text(encoding="utf-8"))
    errors = jsonschema.Draft202012Validator(schema).iter_errors([{**DOCUMENTS[0], **change}])
    assert [error.json_path for error in errors] == [path]


def test_there_are_enough_cases() -> None:
    """At least 120 cases, each with its own id and its own sentence."""
    assert len(DOCUMENTS) >= 120
    assert len(BY_ID) == len(DOCUMENTS)
    assert [text for text, count in Counter(case["sentence"] for case in DOCUMENTS).items() if count > 1] == []


@pytest.mark.parametrize("field", FIELDS)
def test_every_value_of_every_field_has_two_cases(field: str) -> None:
    """No convention goes without cases that pin it."""
    counts = Counter(case["pins"]["value"] for case in DOCUMENTS if case["pins"]["field"] == field)
    assert [value for value in values_of(field) if counts[value] < 2] == []
    assert set(counts) <= {*values_of(field), "0"}


@pytest.mark.parametrize("name", BY_ID)
def test_the_answer_is_what_the_oracle_says(name: str) -> None:
    """Every expected answer is worked out again, exactly and by other code."""
    case = BY_ID[name]
    assert same(case["expected"], solve(case)), f"{case['expected']}, and the oracle says {solve(case)}"


@pytest.mark.parametrize("name", [name for name, case in BY_ID.items() if case["pins"]["field"] in FIELDS])
def test_the_pinned_field_decides(name: str) -> None:
    """A case that pins a field has that value, and another value of the field gives another answer."""
    case = BY_ID[name]
    field, value = case["pins"]["field"], case["pins"]["value"]
    held = case["contract"][field]
    assert value == {dict: "table", list: "list"}.get(type(held), str(held))
    others: list[Any] = [other for other in FIELDS[field].values if other != held]
    others += {"threshold": [0, 1, 2, 3], "gain": [GAIN_TABLE]}.get(field, [])
    assert any(not same(case["expected"], solve(case, **{field: other})) for other in others)


def test_pins_are_known() -> None:
    """A case pins a field of the contract or one of a few other things."""
    assert {case["pins"]["field"] for case in DOCUMENTS} == {*FIELDS, *OTHER_PINS}


def test_the_package_reads_what_the_file_says() -> None:
    """Loading a case loses nothing: contract, rows, smoke flag and answer come back as written."""
    for case in load_cases():
        document = BY_ID[case.id]
        assert {name: plain_value(case.question.contract.fields()[name]) for name in document["contract"]} == document[
            "contract"
        ]
        assert len(case.question.judgments) == len(document["judgments"])
        assert len(case.question.run) == len(document["run"])
        assert case.smoke == document.get("smoke", False)
        assert case.expected.plain() == document["expected"]


def test_a_question_does_not_hold_its_answer() -> None:
    """What a backend is given says nothing of the expected value, the convention it pins or why."""
    for case in load_cases():
        assert set(vars(case.question)) <= {"rows", "measure", "contract", "query", "judgments", "run"}
        assert set(case.question.rows) <= {"judgments", "run", "judged_without_rows", "returned_without_rows"}


def test_smoke_cases_come_first() -> None:
    """The adapter is tried before anything is said of the library behind it."""
    flags = [case.smoke for case in load_cases()]
    assert flags == sorted(flags, reverse=True)
    assert sum(flags) >= 2


def test_measures_are_written_as_they_print() -> None:
    """A case names its measure canonically, unless it is about a name that is refused."""
    names = [case["measure"] for case in DOCUMENTS if case["expected"].get("error") != "measure"]
    assert names == [str(parse_measure(name)) for name in names]


def test_two_cases_with_one_id_are_refused(tmp_path: Path) -> None:
    """An id names one case."""
    from metricpact.contracts.errors import InputError

    (tmp_path / "a.json").write_text(json.dumps([DOCUMENTS[0], DOCUMENTS[0]]))
    with pytest.raises(InputError, match="two cases are called"):
        load_cases(tmp_path)


@pytest.mark.parametrize(
    ("got", "alike"),
    [
        (Answer(query="q", value=0.5), True),
        (Answer(query="q", value=0.5 + 1e-13), True),
        (Answer(query="q", value=0.5 + 1e-9), False),
        (Answer(query="q", value=float("nan")), False),
        (Answer(query="q", value=None, reason="no-gain"), False),
        (Answer(query="p", value=0.5), False),
        (Answer(error="input", query="q"), False),
    ],
)
def test_answers_are_compared_strictly(got: Answer, alike: bool) -> None:
    """NaN, another query, an undefined value and a refusal are never the expected number."""
    assert same_answer(Answer(query="q", value=0.5), got) is alike
