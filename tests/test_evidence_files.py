"""Evidence documents as files: shapes, lines in errors, the quick reader against the exact one, schemas, adapters."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import metricpact as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metricpact.bridges.evidence import documents as reader_of_records
from metricpact.bridges.evidence import selection as reader
from metricpact.bridges.evidence import selection_csv
from metricpact.bridges.evidence.absence import read_absence
from metricpact.bridges.evidence.decisions import read_decisions, read_endpoints
from metricpact.bridges.evidence.documents import Source
from metricpact.bridges.evidence.inventory import read_inventory
from metricpact.bridges.evidence.selection import read_selection
from metricpact.bridges.evidence.selection_lines import read_clean_lines
from metricpact.bridges.evidence.shape import KEYWORDS, first_fault, schema
from metricpact.bridges.evidence.tasks import read_tasks
from metricpact.contracts.errors import ContractError, InputError

EXAMPLES = Path(__file__).resolve().parents[1] / "front/example/evidence"
SCHEMAS = ("task", "groups", "selection", "inventory", "decision", "endpoints", "absence")
Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file and gives its path."""

    def made(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return made


def refused(read: Callable[[Any], Any], path: Path) -> InputError:
    """The error that reading a file gives; it names the file and says what to do."""
    with pytest.raises(InputError) as caught:
        read(path)
    assert caught.value.source == str(path)
    assert caught.value.hint
    return caught.value


# --- schemas -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_valid_and_understood(name: str) -> None:
    """Each is a valid schema of draft 2020-12, and uses no keyword that the own checker would pass over."""
    jsonschema.Draft202012Validator.check_schema(schema(name))

    def keywords(node: Any) -> set[str]:
        if not isinstance(node, dict):
            return set()
        inner = [*node.get("properties", {}).values(), *node.get("$defs", {}).values(), node.get("items")]
        inner.append(node.get("additionalProperties"))
        return set(node).union(*(keywords(one) for one in inner))

    assert keywords(schema(name)) <= KEYWORDS


def test_the_examples_have_the_form_of_their_schemas() -> None:
    """What is shipped is valid by the jsonschema package too."""
    files = {"tasks": "task", "selection": "selection", "pool": "selection", "inventory": "inventory"}
    for file, name in (files | {"absence": "absence"}).items():
        validator = jsonschema.Draft202012Validator(schema(name))
        for line in (EXAMPLES / f"{file}.jsonl").read_text(encoding="utf-8").splitlines():
            assert list(validator.iter_errors(json.loads(line))) == []


leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.just(2**41),
    st.sampled_from([0.5, 2.0]),
    st.sampled_from(["", "x"]),
)


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, Any]:
    """A schema's name and a shipped record with one or two places changed, dropped or added."""
    name, file = draw(
        st.sampled_from([("task", "tasks"), ("selection", "selection"), ("inventory", "inventory"), ("absence",) * 2])
    )
    lines = (EXAMPLES / f"{file}.jsonl").read_text(encoding="utf-8").splitlines()
    record = json.loads(draw(st.sampled_from(lines)))
    for _ in range(draw(st.integers(1, 2))):
        node = record
        while True:
            inner = [one for one in (node.values() if isinstance(node, dict) else node) if isinstance(one, dict | list)]
            if not inner or draw(st.booleans()):
                break
            node = draw(st.sampled_from(inner))
        if isinstance(node, list):
            if node and draw(st.booleans()):
                node.pop()
            else:
                node.append(draw(leaves))
        elif node:
            key = draw(st.sampled_from(sorted(node)))
            match draw(st.sampled_from(["drop", "change", "add"])):
                case "drop":
                    del node[key]
                case "change":
                    node[key] = draw(st.one_of(leaves, st.lists(leaves, max_size=1)))
                case _:
                    node[draw(st.sampled_from(["absent", "unit", "start", "end", "component", "other"]))] = draw(leaves)
    return name, record


@settings(max_examples=300, deadline=None, derandomize=True)
@given(mutated())
def test_the_reader_agrees_with_the_schema(changed: tuple[str, Any]) -> None:
    """The own checker finds a fault exactly where the jsonschema package does."""
    name, record = changed
    valid = jsonschema.Draft202012Validator(schema(name)).is_valid(record)
    assert (first_fault(name, record) is None) == valid


# --- errors name file, line, task and the path in the record -------------------------------------------------------

TASK = '{"task": "a", "bundles": [{"anchors": [{"document": "d"}]}]}'


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"task": "b"}', "task 'b': the record has no 'bundles'"),
        ('{"task": "b", "bundels": []}', "'bundels' is unknown"),
        ('{"task": "b", "bundles": []}', "bundles is empty"),
        ('{"task": "b", "bundles": [{"anchors": []}]}', "bundles[0].anchors is empty"),
        (
            '{"task": "b", "bundles": [{"anchors": [{"document": 7}]}]}',
            "bundles[0].anchors[0].document is 7, not string",
        ),
        ('{"task": "b", "bundles": [{"anchors": [{"document": "d", "start": 3}]}]}', "'start' without 'end'"),
        ('{"task": "b", "bundles": [{"anchors": [{"document": "d", "start": 3, "end": 3}]}]}', "holds no character"),
        ('{"task": "b", "bundles": [{"anchors": [{"document": "d", "start": 3, "end": null}]}]}', "holds no character"),
        (
            '{"task": "b", "bundles": [{"anchors": [{"document": "d", "start": 0, "end": 9, "text": "x"}]}]}',
            "of 1 char",
        ),
        ('{"task": "b", "bundles": [{"anchors": [{"absent": "no"}]}]}', "'document' or 'absent' and 'component'"),
        ('{"task": "b", "bundles": [{"anchors": [{"document": "d", "strat": 1}]}]}', "did you mean 'start'?"),
        ('{"task": "a", "bundles": [{"anchors": [{"document": "d"}]}]}', "is there twice (first on line 1)"),
        ('{"task": "b", "task": "c", "bundles": []}', "'task' stands twice"),
        ('{"task": "b", "bundles": [{"anchors": [{"document": "d", "start": NaN, "end": 1}]}]}', "NaN is no number"),
        ('{"task": "b", ', "is not JSON"),
        ('{"task": "b", "groups": [[]]}', "groups[0] is empty"),
        ('{"task": "\\ud800", "bundles": [{"anchors": [{"document": "d"}]}]}', "lone surrogate"),
        ("[1]", "the record is a list, not object"),
    ],
)
def test_faults_in_tasks_are_named_with_their_line(write: Write, line: str, said: str) -> None:
    """The fault stands on line 3, after a blank line; the message says what and where in the record."""
    error = refused(read_tasks, write("tasks.jsonl", f"{TASK}\n\n{line}\n"))
    assert said in error.fact
    assert error.line == 3


def test_a_component_is_absent_or_has_anchors(write: Write) -> None:
    """Both at once contradict each other."""
    both = '[{"component": "x", "absent": "no"}, {"component": "x", "document": "d"}]'
    path = write("tasks.jsonl", f'{{"task": "b", "bundles": [{{"anchors": {both}}}]}}')
    assert "'x' is declared absent and has another entry" in refused(read_tasks, path).fact


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"task": "b", "units": [{"document": 5}]}', "units[0].document is 5"),
        ('{"task": "b", "units": [{"document": "d", "start": true, "end": 2}]}', "units[0].start is a truth value"),
        ('{"task": "b", "units": [{"document": "d", "start": "1", "end": 2}]}', "units[0].start is text"),
        ('{"task": "b", "units": [{"document": "d", "start": 1.5, "end": 2}]}', "units[0].start is 1.5"),
        ('{"task": "b", "units": [{"document": "d", "start": -1, "end": 2}]}', "units[0].start is -1, below 0"),
        ('{"task": "b", "units": [{"document": "d", "start": 2, "end": 2}]}', "holds no character"),
        ('{"task": "b", "units": [{"document": "d", "start": 2}]}', "'start' without 'end'"),
        ('{"task": "b", "units": [{"document": ""}]}', "units[0].document is empty text"),
        ('{"task": "b", "units": [{"document": "d", "document": "e"}]}', "'document' stands twice"),
        ('{"task": "b", "units": [null]}', "units[0] is null"),
        ('{"task": "b", "units": null}', "units is null"),
        ('{"task": "b"}', "has no 'units'"),
        ('{"task": "b", "units": [{"document": "d", "size": 1}]}', "unknown key 'size'"),
        ('{"task": "b", "units": [{"document": "d", "size": null}]}', "unknown key 'size'"),
        ('{"task": "b", "units": [{"document": "d", "unit": null}], "size": null}', "unknown key 'size'"),
        ('{"task": "b", "units": [{"document": "d"}, {"document": "d"}]}', "is there twice"),
        ('{"task": "b", "units": [{"document": "d", "unit": "u"}, {"document": "d", "unit": "u"}]}', "is there twice"),
        ('{"task": "a", "units": []}', "is there twice"),
        ('{"task": "", "units": []}', "task is empty text"),
        ('{"task": "b", "units": [{"document": "\\udc00"}]}', "lone surrogate"),
        ('{"task": "b", "units": [,]}', "is not JSON"),
    ],
)
def test_faults_in_selections_are_named_with_their_line(write: Write, line: str, said: str) -> None:
    """Whatever the quick reader would have read, the exact one finds the fault on line 3."""
    clean = '{"task": "a", "units": [{"document": "d", "start": 1, "end": 2}]}'
    error = refused(read_selection, write("selection.jsonl", f"{clean}\n\n{line}\n"))
    assert said in error.fact
    assert error.line == 3


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        ("task,documint\na,d\n", "unknown column 'documint': did you mean 'document'?", 1),
        ("document,start\nd,1\n", "no column 'task'", 1),
        ("task,document,start,end\na,d,1,2\nb,d,x,2\n", "start is 'x', not an integer", 3),
        ("task,document,start,end\na,d,1,2\nb,d,5,2\n", "holds no character", 3),
        ("task,document,start,end\na,d,1,2\nb,d,5,\n", "'start' without 'end'", 3),
        ("task,document\na,d\n,d\n", "names no task", 3),
        ("task,document\na,d\nb,d,e\n", "has 3 cells, the header 2", 3),
        ("task,document\n", "holds a header and no row", None),
        ("task,document,rank\na,d,1\na,e,1\n", "has rank 1 once more", 3),
        ("task,document,rank\na,d,1\na,e,0\n", "has rank 0, below 1", 3),
        ("task,document,rank\na,d,1\na,e,\n", "has no rank", 3),
        ("task,document,task\na,d,b\n", "names 'task' twice", 1),
        ('task,document\na,"d\n', "is not CSV", None),
        ("some words\n", "is no selection", 1),
    ],
)
def test_faults_in_flat_selections(write: Write, text: str, said: str, line: int | None) -> None:
    """A CSV file is as exact: columns, numbers, ranks."""
    error = refused(read_selection, write("selection.csv", text))
    assert said in error.fact
    if line is not None:
        assert error.line == line


@pytest.mark.parametrize("read", [read_tasks, read_selection, read_inventory, read_absence, read_decisions])
def test_empty_missing_and_binary_files(write: Write, tmp_path: Path, read: Callable[[Any], Any]) -> None:
    """None of them is a traceback, and none is silently nothing."""
    assert "empty" in refused(read, write("empty", " \n\n")).fact
    assert "no such file" in refused(read, tmp_path / "nowhere").fact
    binary = tmp_path / "binary"
    binary.write_bytes(b"{\x00\xff\xfe")
    refused(read, binary)
    if read is not read_decisions:
        refused(read, write("other.jsonl", "{}"))


# --- what is read ---------------------------------------------------------------------------------------------------


def test_json_lines_arrays_and_gz_are_the_same(write: Write, tmp_path: Path) -> None:
    """The same records as lines, as an array over several lines, compressed, and as Python objects."""
    lines = (EXAMPLES / "selection.jsonl").read_text(encoding="utf-8")
    records = [json.loads(line) for line in lines.splitlines()]
    packed = tmp_path / "selection.jsonl.gz"
    packed.write_bytes(gzip.compress(lines.encode()))
    ways = [
        read_selection(EXAMPLES / "selection.jsonl"),
        read_selection(write("array.json", json.dumps(records, indent=2))),
        read_selection(packed),
        read_selection(records),
        read_selection({record["task"]: record["units"] for record in records}),
    ]
    frames = [way.units.drop("line") for way in ways]
    assert all(frame.equals(frames[0]) for frame in frames)
    assert ways[0].units["line"].to_list()[-1] == 6
    assert ways[3].units["line"].null_count() == ways[3].units.height


def test_an_array_names_the_line_of_each_record(write: Write) -> None:
    """An error in the second record of an indented array names the line on which that record begins."""
    path = write("array.json", '[\n {"task": "a",\n  "units": []},\n {"task": "b"}\n]\n')
    assert refused(read_selection, path).line == 4
    for broken in (
        '[{"task": "a", "units": []} {}]',
        '[{"task": "a", "units": []},]',
        '[{"task": "a", "units": []}] x',
    ):
        refused(read_selection, write("array.json", broken))


def test_one_object_over_several_lines_is_a_record(write: Write) -> None:
    """A single pretty-printed object is read too."""
    path = write("one.json", '{\n "task": "a",\n "units": [{"document": "d"}]\n}\n')
    assert read_selection(path).units["document"].to_list() == ["d"]


def test_csv_has_the_same_units(write: Write) -> None:
    """Flat rows, with ranks out of order and quoted cells."""
    text = 'task,rank,document,start,end,text\nt,2,"d,1",0,3,"a,b"\nt,1,e,,,\n'
    units = read_selection(write("s.csv", text)).units
    assert units.select("document", "start", "text", "line").rows() == [("e", None, None, 3), ("d,1", 0, "a,b", 2)]


cells = st.sampled_from(["", "1", "2", "-1", "+3", "x", "1.5", "d", "é", " ", '"q"'])
tables = st.integers(1, 5).flatmap(
    lambda rows: st.lists(st.lists(cells, min_size=4, max_size=4), min_size=rows, max_size=rows)
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(tables, st.sampled_from(["\n", "\n\n", "\r\n"]))
def test_the_quick_reader_of_csv_is_the_exact_one(rows: list[list[str]], end: str) -> None:
    """Plain files are read by columns to the same table; what the exact reader refuses, the quick one leaves to it."""
    text = end.join(["task,document,start,end", *(",".join(row) for row in rows)]) + "\n"
    source = Source("made", text.encode(), "")
    quick = selection_csv._plain(source, ["task", "document", "start", "end"])
    try:
        exact = list(selection_csv._rows(source, reader_of_records.csv_records(source)))
    except InputError:
        assert quick is None
        return
    if quick is not None:
        assert quick.rows() == exact


def test_a_run_is_whole_documents_in_the_contracts_order(write: Write) -> None:
    """A TREC or JSON run: by score, ties as given; every document as a whole."""
    document = write("run.json", '{"q": {"b": 1.0, "c": 1.0, "a": 9.0}}')
    for run in (document, mp.read_run({"q": {"b": 1.0, "c": 1.0, "a": 9.0}})):
        units = read_selection(run).units
        assert units["document"].to_list() == ["a", "b", "c"]
        assert units["start"].null_count() == 3
    sorted_run = write("sorted.trec", "q Q0 a 1 9.0 x\nq Q0 b 2 1.0 x\n")
    assert read_selection(sorted_run).units["document"].to_list() == ["a", "b"]


keys = ["document", "source", "unit", "revision", "text", "start", "end", "other"]
texts = st.sampled_from(["d", "e", "", '"start":', "null", '\\"document\\": 5', "é", "\U0001f600"])
values = st.one_of(texts, st.none(), st.integers(-1, 5), st.booleans(), st.sampled_from([1.5, 2.0]))
raw_units = st.lists(st.tuples(st.sampled_from(keys), values), max_size=5)


def dumped(pairs: list[tuple[str, Any]]) -> str:
    """An object with its keys as they come, twice if they come twice."""
    return "{" + ", ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in pairs) + "}"


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "c"]),
            st.lists(
                st.one_of(
                    raw_units,
                    st.builds(lambda one: [("document", "d"), *one], raw_units),
                    st.builds(lambda at: [("document", "d"), ("start", at), ("end", at + 2)], st.integers(0, 4)),
                ),
                max_size=3,
            ),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_the_quick_reader_is_the_exact_one(records: list[tuple[str, list[list[tuple[str, Any]]]]]) -> None:
    """What the quick reader takes, the exact one reads to the same table; what the exact one refuses, it leaves."""
    lines = [f'{{"task": "{task}", "units": [{", ".join(map(dumped, units))}]}}' for task, units in records]
    source = Source("made", "\n".join(lines).encode(), "")
    quick = read_clean_lines(source)
    try:
        exact = reader._from_records(reader.json_records(source), "made", None)
    except InputError:
        assert quick is None
        return
    if quick is not None:
        assert quick.units.equals(exact.units)
        assert quick.answered.to_list() == exact.answered.to_list()


def test_the_quick_reader_takes_clean_files() -> None:
    """The shipped selection, and one with nulls written out, are read by columns."""
    for text in (
        (EXAMPLES / "selection.jsonl").read_bytes(),
        b'{"task": "a", "units": [{"document": "d", "source": null, "start": 0, "end": 3, "text": "\\ud83d\\ude00"}]}',
    ):
        assert read_clean_lines(Source("clean", text, "")) is not None


# --- data sets ------------------------------------------------------------------------------------------------------

HOTPOT = {
    "_id": "h1",
    "supporting_facts": [["Alpha", 1], ["Beta", 0], ["Alpha", 0]],
    "context": [["Alpha", ["One. ", "Two."]], ["Gamma", ["No."]], ["Beta", ["Three."]]],
}
MUSIQUE = {
    "id": "m1",
    "paragraphs": [
        {"idx": 0, "title": "A", "paragraph_text": "x", "is_supporting": True},
        {"idx": 1, "title": "A", "paragraph_text": "y", "is_supporting": False},
        {"idx": 2, "title": "B", "paragraph_text": "z", "is_supporting": True},
    ],
}
FEVER = [
    {"id": 1, "label": "SUPPORTS", "evidence": [[[9, 8, "A", 3], [9, 8, "B", 0]], [[9, 7, "C", 1]]]},
    {"id": 2, "label": "NOT ENOUGH INFO", "evidence": [[[9, None, None, None]]]},
]
STRATEGY = {"qid": "s1", "evidence": [[[["A-1"]], [["B-2"], "no_evidence"]], [[["A-1"], "operation"], [["B-2"]]]]}


def groups(records: Any, form: str, **more: Any) -> list[list[list[str]]]:
    """Per task its bundles as lists of document ids."""
    tasks = read_tasks(records, format=form, **more)
    frame = tasks.anchors.group_by("task", "bundle", maintain_order=True).agg("document").sort("bundle")
    by_task = frame.group_by("task", maintain_order=True).agg("document")
    return by_task["document"].to_list()


def test_forms_of_data_sets() -> None:
    """Each form gives the groups that its data set states."""
    assert groups([HOTPOT], "hotpotqa") == groups([HOTPOT], "2wiki") == [[["Alpha", "Beta"]]]
    assert groups([MUSIQUE], "musique") == [[["A", "B"]]]
    assert groups(FEVER, "fever") == [[["A", "B"], ["C"]]]
    assert groups([STRATEGY], "strategyqa") == [[["A-1", "B-2"]]]
    assert groups([HOTPOT | {"supporting_facts": [["A b", 0]]}], "hotpotqa", underscores=True) == [[["A_b"]]]


def test_sentences_are_exact_spans() -> None:
    """A supporting sentence is a span of its document, with its text; FEVER's is a unit of its page."""
    anchors = read_tasks([HOTPOT], format="hotpotqa-sentences").anchors
    assert anchors.select("document", "start", "end", "text").rows() == [
        ("Alpha", 5, 9, "Two."), ("Beta", 0, 6, "Three."), ("Alpha", 0, 5, "One. "),
    ]  # fmt: skip
    fever = read_tasks(FEVER, format="fever-sentences").anchors
    assert fever.select("document", "unit").rows() == [("A", "3"), ("B", "0"), ("C", "1")]


def test_the_columnar_form_and_python_text_are_read() -> None:
    """supporting_facts as columns, and lists that an export wrote as Python text."""
    columns = {"title": ["Alpha", "Beta"], "sent_id": [1, 0]}
    assert groups([HOTPOT | {"supporting_facts": columns}], "hotpotqa") == [[["Alpha", "Beta"]]]
    assert groups([HOTPOT | {"supporting_facts": "[['Alpha', 1]]"}], "hotpotqa") == [[["Alpha"]]]


def test_items_without_evidence_are_told_and_no_tasks() -> None:
    """A claim without evidence is no task; shared titles are told."""
    assert read_tasks(FEVER, format="fever").notes == ("1 of 2 records state no evidence and are no tasks",)
    assert "several paragraphs of one title" in read_tasks([MUSIQUE], format="musique").notes[0]
    with pytest.raises(InputError, match="no record has evidence"):
        read_tasks(FEVER[1:], format="fever")


@pytest.mark.parametrize(
    ("form", "record"),
    [
        ("hotpotqa", {"_id": "x"}),
        ("hotpotqa", {"_id": "x", "supporting_facts": [["A"]]}),
        ("hotpotqa", {"_id": "x", "supporting_facts": "not a list"}),
        ("hotpotqa-sentences", HOTPOT | {"supporting_facts": [["Alpha", 7]]}),
        ("hotpotqa-sentences", HOTPOT | {"supporting_facts": [["Delta", 0]]}),
        ("musique", {"id": "x", "paragraphs": [1]}),
        ("musique", HOTPOT),
        ("fever", {"id": 1, "evidence": [["A", 1]]}),
        ("strategyqa", {"qid": "x", "evidence": [[["word"]]]}),
        ("strategyqa", {"qid": "x", "evidence": 7}),
        ("strategyqa", 7),
    ],
)
def test_records_of_another_form_are_refused(form: str, record: Any) -> None:
    """A record that has not the form is an error that names the form, never a task without evidence."""
    with pytest.raises(InputError, match=f"no record of {form}"):
        read_tasks([record], format=form)


def test_an_unknown_form_is_refused() -> None:
    """With the choices."""
    with pytest.raises(InputError, match="squad") as caught:
        read_tasks([HOTPOT], format="squad")
    assert "musique" in caught.value.hint


# --- decisions and endpoints ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("states = [", "not TOML"),
        ('states = ["a"]\nendpoint = 1\n', "no 'endpoints' ('endpoint' is unknown)"),
        ('states = "a"\n[endpoints]\np = ["a"]\n', "states is text, not array"),
        ('states = ["a"]\n[endpoints]\np = ["b"]\n', "not declared"),
        ('states = ["a", "a"]\n[endpoints]\np = ["a"]\n', "declared twice"),
        ('states = ["a"]\n[endpoints]\np = ["a", "a"]\n', "'p' names the state 'a' twice"),
        ('states = ["a"]\nunresolved = ["a", "a"]\n[endpoints]\np = ["a"]\n', "'a' twice"),
        ('states = ["a"]\n[endpoints]\nunresolved = ["b"]\n', "not declared"),
        ('states = ["a"]\n[endpoints]\np = []\n', "endpoints.p is empty"),
        ('states = ["a"]\n', "no 'endpoints'"),
        ('states = ["a"]\nendpoints = 3\n', "endpoints is 3, not object"),
    ],
)
def test_wrong_endpoints_are_refused(write: Write, text: str, said: str) -> None:
    """Misspelt keys, states that are not declared, endpoints without states."""
    with pytest.raises(ContractError, match=re.escape(said)):
        read_endpoints(write("endpoints.toml", text))
