"""Every file of judgments and every run in ../shared/data: read rightly, or refused with the line."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import metricpact as mp
import pytest
from metricpact.bridges.sources.choose import read_judgments, read_run
from metricpact.contracts.errors import InputError

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
PINS = json.loads((Path(__file__).parent / "real_files.json").read_text(encoding="utf-8"))
"""Path → kind, rows, queries and checksum, counted by a plain parser (split, json, csv) that shares no code with the
package; or kind, "refused", the line and the fact."""
LARGE = 4_000_000
FOLDERS = DATA / "beir_layout_small" / "datasets"

needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="the real files (../shared/data beside the repository) are not here"
)


def checksum(rows: list[tuple[str, str, float]]) -> str:
    """Of the rows in sorted order: what was read, whatever order it came in."""
    lines = sorted(f"{query}\t{document}\t{float(number)!r}" for query, document, number in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def outcome(path: Path, kind: str) -> list[object]:
    """What comes of reading a file, in the form of the pins."""
    try:
        table = read_judgments(path) if kind == "qrels" else read_run(path)
    except InputError as error:
        assert error.source == str(path)
        return [kind, "refused", error.line, error.fact.partition(": ")[2][:80]]
    frame = table.to_polars()
    rows = frame.select("query_id", "doc_id", frame.columns[2]).rows()
    return [kind, len(table), len(table.queries), checksum(rows)]


@needs_data
@pytest.mark.parametrize("name", PINS)
def test_a_real_file_is_read_rightly_or_refused_with_the_line(name: str) -> None:
    """Rows, queries and a checksum of all of it, or the line and the fact."""
    assert outcome(DATA / name, PINS[name][0]) == PINS[name]


@needs_data
def test_no_file_of_judgments_and_no_run_is_left_out() -> None:
    """What is named like one is pinned."""
    named = {
        str(path.relative_to(DATA))
        for pattern in ("**/*qrel*", "**/*.run", "**/*.run.*", "**/qrels/*", "**/runs/*", "**/results.*")
        for path in DATA.glob(pattern)
        if path.is_file() and path.suffix not in (".md", ".jsonl", ".readme") and not path.name.startswith("out.")
    }
    assert named - set(PINS) == set()
    assert len(PINS) == 129


@needs_data
def test_every_other_file_is_refused_or_has_the_shape_of_one() -> None:
    """Topics, corpora and printed scores: no crash, and what is refused is refused with a fact and a hint."""
    for path in sorted(DATA.rglob("*")):
        if not path.is_file() or str(path.relative_to(DATA)) in PINS or path.stat().st_size > LARGE:
            continue
        for reader in (read_judgments, read_run):
            try:
                table = reader(path)
            except mp.MetricpactError as error:
                assert error.fact.startswith(str(path))
                assert error.hint
            else:
                assert len(table)


@needs_data
@pytest.mark.parametrize(
    ("name", "rows", "said"),
    [
        ("arcd", 702, ["652 of 702 judged queries are not in queries.jsonl"]),
        ("business-reports", 203, []),
        ("dbpedia", 3709, []),
        ("fiqa", None, ["test.tsv:1: 4 columns where a BEIR qrels file has 3 (the second and third are the same)"]),
        ("msmarco", 4102, ["test.tsv has no header line"]),
        ("pg", None, ["test.tsv:1: a header and no row"]),
        ("scifact", None, ["test.tsv:1: 4 columns where a BEIR qrels file has 3 (the second and third are the same)"]),
    ],
)
def test_the_folders_as_found_give_their_known_defects(name: str, rows: int | None, said: list[str]) -> None:
    """No header line, four columns, a header only, queries that are judged and not listed: told, not guessed."""
    if rows is None:
        with pytest.raises(InputError) as caught:
            read_judgments(FOLDERS / name)
        assert said[0] in caught.value.fact
        return
    judgments = read_judgments(FOLDERS / name)
    assert len(judgments) == rows
    assert len(judgments.origin.notes) == len(said)
    assert all(known in note for known, note in zip(said, judgments.origin.notes, strict=True))


@needs_data
@pytest.mark.parametrize(("name", "rows"), [("fiqa", 145), ("scifact", 59)])
def test_folders_of_four_columns_are_read_when_they_are_told_to_be(name: str, rows: int) -> None:
    """--format trec takes the document twice as what it is."""
    assert len(read_judgments(FOLDERS / name, format="trec")) == rows
