r"""No file is misread in silence: every hazard gives exactly the rows that a tiny reader written here gives,
or an error on both sides.

The grammar that both sides keep. A file is plain or compressed with gzip or zstandard, perhaps behind a byte
order mark. Lines end at ``\n``; the last one may lack it. A line that starts with ``#`` is a comment, a line
of nothing but blanks is skipped. On every other line, fields are separated by runs of the characters that
C's ``isspace`` knows (space, tab, ``\r``, ``\v``, ``\f``), which may also stand before the first and behind
the last. Everything else belongs to a field: quotes, commas, ``#`` inside a line, no-break spaces. A run has
six columns, or five when the tag is left out; judgments have four. Comments and the columns without a
meaning (the second one, the tag) may hold any bytes; every other field is UTF-8 without NUL. Scores and
grades are what Python's ``float()`` takes in plain ASCII decimal notation, without underscores, and finite,
a grade below 2^53; whether fractions will do is for the contract to say. Ranks are an optional sign and
ASCII digits within 64 bits; one that is not leaves the run without ranks, and a contract that looks at them
refuses it. Ids are compared byte by byte: nothing is stripped, folded, normalised or taken for a missing
value. Rows come grouped by query, the queries in the order of their first line.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import metricpact as mp
import pytest
from backports import zstd
from hypothesis import example, given, settings
from hypothesis import strategies as st
from metricpact.contracts.errors import InputError

RunRow = tuple[str, str, float, int | None]
GradeRow = tuple[str, str, float]

BLANKS = b" \t\r\v\f"
INTEGER = re.compile(rb"[+-]?[0-9]+")
NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")

RUN = b"q1 Q0 d1 1 2.5 tag\nq1 Q0 d2 2 1.25 tag\nq2 Q0 d1 1 0.5 tag\n"
QRELS = b"q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n"


class RefusedError(Exception):
    """The grammar does not allow the file."""


def fields_of(data: bytes, widths: set[int]) -> list[list[bytes]]:
    """The fields of every line that is neither blank nor a comment, in order of each query's first line."""
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    rows = [
        re.split(rb"[ \t\r\v\f]+", line.strip(BLANKS))
        for line in lines
        if not line.startswith(b"#") and line.strip(BLANKS)
    ]
    if not rows or any(len(row) not in widths for row in rows):
        raise RefusedError
    first: dict[bytes, int] = {}
    for position, row in enumerate(rows):
        first.setdefault(row[0], position)
    return sorted(rows, key=lambda row: first[row[0]])


def text(field: bytes) -> str:
    """A field as text."""
    try:
        decoded = field.decode()
    except UnicodeDecodeError as error:
        raise RefusedError from error
    if "\0" in decoded:
        raise RefusedError
    return decoded


def rank(field: bytes) -> int | None:
    """A rank, or None for what is none."""
    known = INTEGER.fullmatch(text(field).encode()) and -(2**63) <= int(field) < 2**63
    return int(field) if known else None


def number(field: bytes) -> float:
    """A finite number in plain decimal notation."""
    if not NUMBER.fullmatch(field) or abs(float(field)) == float("inf"):
        raise RefusedError
    return float(field)


def grade(field: bytes) -> float:
    """A number below 2^53, beyond which doubles leave integers out."""
    if abs(number(field)) >= 2**53:
        raise RefusedError
    return float(field)


def expected_run(data: bytes) -> list[RunRow] | None:
    """The rows of a run by the grammar, or None where it is not allowed."""
    try:
        rows = fields_of(data, {5, 6})
        ranks = [rank(row[3]) for row in rows]
        known = None not in ranks
        return [
            (text(row[0]), text(row[2]), number(row[4]), place if known else None)
            for row, place in zip(rows, ranks, strict=True)
        ]
    except RefusedError:
        return None


def expected_qrels(data: bytes) -> list[GradeRow] | None:
    """The rows of judgments by the grammar, or None where it is not allowed."""
    try:
        return [(text(row[0]), text(row[2]), grade(row[3])) for row in fields_of(data, {4})]
    except RefusedError:
        return None


def read_run(path: Path) -> list[RunRow] | None:
    """The rows that metricpact reads from a run, or None where it refuses the file."""
    try:
        frame = mp.read_run(path).to_polars()
    except InputError:
        return None
    return list(frame.select("query_id", "doc_id", "score", "rank").iter_rows())


def read_qrels(path: Path) -> list[GradeRow] | None:
    """The rows that metricpact reads from judgments, or None where it refuses the file."""
    try:
        frame = mp.read_qrels(path).to_polars()
    except InputError:
        return None
    return list(frame.select("query_id", "doc_id", "grade").iter_rows())


def same_run(folder: Path, data: bytes, name: str = "run.txt") -> list[RunRow] | None:
    """Assert that both readers agree on a run (a zero's sign included) and return its rows."""
    path = folder / name
    path.write_bytes(data)
    ours, expected = read_run(path), expected_run(data)
    assert repr(ours) == repr(expected)
    return ours


def same_qrels(folder: Path, data: bytes, name: str = "qrels.txt") -> list[GradeRow] | None:
    """Assert that both readers agree on judgments and return their rows."""
    path = folder / name
    path.write_bytes(data)
    ours, expected = read_qrels(path), expected_qrels(data)
    assert ours == expected
    return ours


def lines(*parts: bytes) -> bytes:
    """A run of two good lines with `parts` between them."""
    return b"q1 Q0 d1 1 2.5 tag\n" + b"".join(part + b"\n" for part in parts) + b"q2 Q0 d1 1 0.5 tag\n"


def named(*ids: str) -> list[bytes]:
    """A line for each id, which is its query, its document and its tag."""
    return [f"{name} Q0 {name} 1 1 {name}".encode() for name in ids]


READABLE = {
    "plain": RUN,
    "tabs": RUN.replace(b" ", b"\t"),
    "tabs and spaces": RUN.replace(b" Q0 ", b"\tQ0 "),
    "runs of blanks": RUN.replace(b" ", b" \t  "),
    "vertical tab and form feed": RUN.replace(b" Q0 ", b"\vQ0\f"),
    "carriage return between fields": RUN.replace(b" Q0 ", b"\rQ0\r"),
    "CRLF": RUN.replace(b"\n", b"\r\n"),
    "CRLF on one line": RUN.replace(b"\n", b"\r\n", 1),
    "leading blanks": RUN.replace(b"q1", b"  q1"),
    "leading tab": RUN.replace(b"q1 Q0 d2", b"\tq1 Q0 d2"),
    "trailing blanks": RUN.replace(b"tag\n", b"tag \t \n"),
    "no final newline": RUN[:-1],
    "final newlines": RUN + b"\n\n",
    "byte order mark": b"\xef\xbb\xbf" + RUN,
    "byte order mark before a comment": b"\xef\xbb\xbf# made by\n" + RUN,
    "byte order mark inside": RUN.replace(b"q2", b"\xef\xbb\xbfq2"),
    "blank line first": b"\n" + RUN,
    "blank line between": lines(b""),
    "line of blanks between": lines(b" \t\r"),
    "comment first": b"# a b c d e f\n" + RUN,
    "comment between": lines(b"#q1 Q0 d9 1 9 tag"),
    "comment last, without newline": RUN + b"# end",
    "five columns": b"q1 Q0 d1 1 2.5\nq1 Q0 d2 2 1.25\n",
    "five columns with blanks behind": b"q1 Q0 d1 1 2.5 \nq1 Q0 d2 2 1.25\t\n",
    "blocks split": b"q1 Q0 d1 1 2 t\nq2 Q0 d1 1 9 t\nq1 Q0 d2 2 1 t\n",
    "one line": b"q Q0 d 1 1 t",
    "hash inside": lines(b"q1 Q0 a#b 1 1 #tag", b"q#1 Q0 #a 1 1 t"),
    "quotes": lines(b'"q1" Q0 \'d 1 1 "t', b'q1 Q0 "d1" 1 1 t', b'q1 Q0 " 1 1 t', b'q1 Q0 a"b""c 1 1 t'),
    "commas and semicolons": lines(b"q,1 Q0 a;b 1 1 t"),
    "backslashes": lines(rb"q\1 Q0 a\tb 1 1 \n"),
    "words for nothing": lines(*named("NA", "null", "NULL", "nan", "None", "N/A", "nil", "-", "<NA>", "?")),
    "words for truth": lines(*named("true", "True", "False", "yes", "no")),
    "ids like numbers": lines(*named("007", "7", "+7", "7.0", "1e3", "0x10", "1_000", ".5", "inf", "1,5")),
    "long ids": lines(b"q" * 5000 + b" Q0 " + b"d" * 70000 + b" 1 1 t"),
    "composed and decomposed": lines("q Q0 café 1 2 t".encode(), "q Q0 cafe\u0301 2 1 t".encode()),
    "ids beyond the basic plane": lines("質問 Q0 📄 1 2 t".encode()),
    "spaces that are no ASCII": lines("q Q0 a\u00a0b\u2003c\u3000d 1 2 t".encode()),
    "line separators that are no newline": lines("q Q0 a\u2028b\u2029c\u0085d 1 2 t".encode()),
    "information separators": lines(b"q Q0 a\x1cb\x1dc\x1ed\x1fe 1 2 t"),
    "control characters": lines(b"q\x01 Q0 a\x08\x1b\x7f 1 2 t"),
    "zero width and direction marks": lines("q Q0 a\u200bb\u200e 1 2 t".encode()),
    "duplicate rows": RUN + RUN,
    "ranks with sign": lines(b"q Q0 a -3 1 t", b"q Q0 b +7 1 t"),
    "ranks with zeros": lines(b"q Q0 c 0009 1 t", b"q Q0 e 0 1 t", b"q Q0 f -0 1 t"),
    "invalid UTF-8 in the tag": lines(b"q1 Q0 d2 2 1.5 t\xffg"),
    "invalid UTF-8 in a comment": lines(b"# \xff"),
    "NUL in the tag and in a comment": lines(b"q1 Q0 d2 2 1.5 t\0g", b"#\0"),
    "words for ranks": lines(b"q1 Q0 d2 x 1.5 tag", b"q1 Q0 d3 3 1.5 tag"),
    "ranks that are not whole": lines(b"q1 Q0 d2 1.0 1.5 tag"),
    "rank in other digits": lines("q1 Q0 d2 １ 1.5 tag".encode()),
    "rank with an underscore": lines(b"q1 Q0 d2 1_0 1.5 tag"),
    "ranks of 64 bits beside a control character": lines(b"q Q0 a\x1f 9223372036854775807 1 t"),
    "ranks beyond 64 bits": lines(b"q Q0 a 9223372036854775808 1 t"),
    "ranks beyond 64 bits beside a control character": lines(b"q Q0 a\x1f 99999999999999999999 1 t"),
    "ranks of 64 bits": lines(b"q Q0 a 9223372036854775807 1 t", b"q Q0 b -9223372036854775808 1 t"),
}
REFUSED = {
    "empty": b"",
    "blank": b" \n\t\r\n\n",
    "only comments": b"# a\n# b\n",
    "only a byte order mark": b"\xef\xbb\xbf",
    "short line": lines(b"q1 Q0 d2 2"),
    "short line without newline at the end": RUN + b"q2 Q0 d2",
    "one word": lines(b"word"),
    "long line": lines(b"q1 Q0 d2 2 1.5 tag more"),
    "long line at the end": RUN + b"q2 Q0 d2 2 0.1 tag more",
    "quoted id with a blank": lines(b'q1 Q0 "d 2" 2 1.5 tag'),
    "quoted newline": lines(b'q1 Q0 "d', b'2" 2 1.5 tag'),
    "blank before a comment": lines(b" # comment"),
    "two rows on a line": lines(b"q1 Q0 d1 1 2.5 tag\rq1 Q0 d2 2 1.25 tag"),
    "old Macintosh line ends": RUN.replace(b"\n", b"\r"),
    "comma separated": RUN.replace(b" ", b","),
    "header": b"query_id Q0 doc_id rank score tag\n" + RUN,
    "NUL in an id": lines(b"q1 Q0 d\x002 2 1.5 tag"),
    "NUL in a rank": lines(b"q1 Q0 d2 2\x00 1.5 tag"),
    "NUL as separator": lines(b"q1\x00Q0\x00d2\x002\x001.5\x00tag"),
    "Latin-1": lines("q1 Q0 caf\u00e9 2 1.5 tag".encode("latin-1")),
    "UTF-16": RUN.decode().encode("utf-16"),
    "surrogate in UTF-8": lines(b"q1 Q0 \xed\xa0\x80 2 1.5 tag"),
    "overlong UTF-8": lines(b"q1 Q0 a\xc0\xa0b 2 1.5 tag"),
    "invalid UTF-8 in a query": lines(b"q\xff Q0 d2 2 1.5 tag"),
    "invalid UTF-8 in a rank": lines(b"q1 Q0 d2 \xff 1.5 tag"),
    "second byte order mark": b"\xef\xbb\xbf\xef\xbb\xbf#c\n" + RUN,
}


@pytest.mark.parametrize("name", READABLE)
def test_a_run_with_this_hazard_is_read_exactly(name: str, tmp_path: Path) -> None:
    """Files that look odd and are right."""
    assert same_run(tmp_path, READABLE[name]) is not None


@pytest.mark.parametrize("name", REFUSED)
def test_a_run_with_this_hazard_is_refused(name: str, tmp_path: Path) -> None:
    """Files that no reading makes right."""
    assert same_run(tmp_path, REFUSED[name]) is None


QRELS_READABLE = {
    "plain": QRELS,
    "tabs": QRELS.replace(b" ", b"\t"),
    "tabs and spaces": QRELS.replace(b" 0 d", b"\t0 d"),
    "CRLF": QRELS.replace(b"\n", b"\r\n"),
    "leading and trailing blanks": QRELS.replace(b"q1", b" q1").replace(b"2\n", b"2 \t\n"),
    "blank lines": QRELS.replace(b"\n", b"\n\n"),
    "comments": b"# made by\n" + QRELS + b"#",
    "byte order mark": b"\xef\xbb\xbf" + QRELS,
    "no final newline": QRELS[:-1],
    "second column of any kind": b"q1 Q0 d1 1\nq1 1.5 d2 0\nq1 # d3 0\n",
    "grades with sign and zeros": b"q 0 a -2\nq 0 b +3\nq 0 c 007\nq 0 d -0\n",
    "grades of 53 bits": b"q 0 a 9007199254740991\nq 0 b -9007199254740991\n",
    "fractions": b"q 0 a 0.5\nq 0 b 1\n",
    "whole numbers with a point or an exponent": b"q 0 a 1.0\nq 0 b 2e0\nq 0 c 3.\nq 0 d 10E-1\n",
    "invalid UTF-8 in the second column": b"q \xff a 1\nq 0 b 1\n",
    "ids like numbers": b"007 0 7 1\n7 0 007 1\n1e3 0 0x10 1\n",
    "words for nothing": b"NA 0 null 1\nnan 0 None 0\ntrue 0 NULL 1\n",
    "quotes": b'"q" 0 \'d 1\nq 0 "d" 1\nq 0 a"b 1\n',
    "unicode": "質問 0 café 1\n質問 0 cafe\u0301 0\nq 0 a\u00a0b 1\nq 0 a\u2028b 1\n".encode(),
    "information separators": b"q 0 a\x1cb\x1fc 1\nq 0 d 0\n",
    "duplicate rows": QRELS + QRELS,
    "blocks split": b"q1 0 a 1\nq2 0 a 1\nq1 0 b 1\n",
}
QRELS_REFUSED = {
    "empty": b"",
    "blank": b"\n \n",
    "only comments": b"#\n",
    "short line": QRELS + b"q3 0 d1\n",
    "long line": QRELS + b"q3 0 d1 1 0.9\n",
    "blank before a comment": QRELS + b" # comment\n",
    "header": b"qid iter docid rel\n" + QRELS,
    "hexadecimal": QRELS + b"q3 0 d1 0x1\n",
    "underscore": QRELS + b"q3 0 d1 1_0\n",
    "two signs": QRELS + b"q3 0 d1 --1\n",
    "sign alone": QRELS + b"q3 0 d1 -\n",
    "word": QRELS + b"q3 0 d1 true\n",
    "not a number": QRELS + b"q3 0 d1 nan\n",
    "other digits": QRELS + "q3 0 d1 ١\n".encode(),
    "full-width digits": QRELS + "q3 0 d1 １\n".encode(),
    "beyond 53 bits": QRELS + b"q3 0 d1 9007199254740993\n",
    "below 53 bits": QRELS + b"q3 0 d1 -9007199254740993\n",
    "beyond 64 bits": QRELS + b"q3 0 d1 9223372036854775808\n",
    "unbounded": QRELS + b"q3 0 d1 inf\n",
    "quoted grade": QRELS + b'q3 0 d1 "1"\n',
    "Latin-1": QRELS + b"q3 0 caf\xe9 1\n",
    "NUL": QRELS + b"q3 0 d\x001 1\n",
    "old Macintosh line ends": QRELS.replace(b"\n", b"\r"),
}


@pytest.mark.parametrize("name", QRELS_READABLE)
def test_judgments_with_this_hazard_are_read_exactly(name: str, tmp_path: Path) -> None:
    """Files that look odd and are right."""
    assert same_qrels(tmp_path, QRELS_READABLE[name]) is not None


@pytest.mark.parametrize("name", QRELS_REFUSED)
def test_judgments_with_this_hazard_are_refused(name: str, tmp_path: Path) -> None:
    """Files that no reading makes right."""
    assert same_qrels(tmp_path, QRELS_REFUSED[name]) is None


@pytest.mark.parametrize("blank", [b" ", b"\t", b"\r", b"\v", b"\f"], ids=repr)
def test_one_stray_blank_anywhere_is_read_by_the_grammar(blank: bytes, tmp_path: Path) -> None:
    """A blank more between fields changes nothing; inside a field it makes a column too many."""
    outcomes = [same_run(tmp_path, RUN[:place] + blank + RUN[place:]) is not None for place in range(len(RUN) + 1)]
    outcomes += [
        same_qrels(tmp_path, QRELS[:place] + blank + QRELS[place:]) is not None for place in range(len(QRELS) + 1)
    ]
    beside_fields = 2 * 6 * 3 + 2 * 4 * 3
    at_the_ends = 2
    assert (len(outcomes), sum(outcomes)) == (len(RUN) + len(QRELS) + 2, beside_fields + at_the_ends)


def test_a_blank_line_or_a_comment_after_any_line_changes_nothing(tmp_path: Path) -> None:
    """Whatever stands between the rows, the rows are the same."""
    rows = same_run(tmp_path, RUN)
    parts = RUN.splitlines(keepends=True)
    for extra in (b"\n", b"\r\n", b"  \t\n", b"#\n", b"# q1 Q0 d1 1 2.5 tag\n", b"#q1\n"):
        for place in range(len(parts) + 1):
            assert same_run(tmp_path, b"".join([*parts[:place], extra, *parts[place:]])) == rows


@pytest.mark.parametrize("size", [1, 7, 19, 64])
def test_hazards_are_the_same_where_a_file_is_read_in_pieces(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that takes megabytes at once meets every hazard at a border too: here the pieces are tiny.

    A whole first piece of blanks may be refused, which a blank line at the start then is.
    """
    monkeypatch.setattr("metricpact.bridges.sources.streams.SLICE", size)
    good = [data for data in READABLE.values() if not data.startswith(b"\n")]
    runs = [same_run(tmp_path, data) for data in (*good, *REFUSED.values())]
    judged = [same_qrels(tmp_path, data) for data in (*QRELS_READABLE.values(), *QRELS_REFUSED.values())]
    assert [rows is None for rows in runs] == [False] * len(good) + [True] * len(REFUSED)
    assert [rows is None for rows in judged] == [False] * len(QRELS_READABLE) + [True] * len(QRELS_REFUSED)


GOOD_SCORES = (
    "1", "-1", "+1.5", ".5", "5.", "-.5", "007.50", "1e3", "1E3", "1e+3", "1e-3", "1.5e007", "-0", "0.0",
    "-0.0e5", "1e-400", "-1e-400", "4.9e-324", "2.2250738585072011e-308", "2.2250738585072014e-308",
    "1.7976931348623157e308", "9007199254740993", "123456789012345678901234567890",
    "0.1000000000000000055511151231257827021181583404541016", "0.30000000000000004",
    "7450580596923828125e-27", "1." + "0" * 400 + "1", "0" * 400 + "1", "1" + "0" * 308,
    "8.5499999999999998", "1.00000005960464477539062", "123456.7890123456789",
)  # fmt: skip
BAD_SCORES = (
    "nan", "NaN", "-nan", "inf", "-inf", "+Inf", "Infinity", "1e400", "-1e400", "1" + "0" * 400, "1_000",
    "0x10", "1,5", "1.5.2", "+-1", "--1", "1e", "1e+", "e5", ".", "+", "-", ".e5", "1d3", "1f", "1.5f",
    "1e3.5", "0b1", "0x1p3", "%5", "1/2", "five", "null", "NA", "None", "true", "١", "１", "1\u00a0", "−1",
    "½", '"1"', "'1'", "(1)", "1e1_0", "1%",
)  # fmt: skip


@pytest.mark.parametrize("text", GOOD_SCORES)
def test_a_score_is_the_nearest_double(text: str, tmp_path: Path) -> None:
    """Scores are read to the last bit, as Python reads them, alone and among plain ones."""
    row = f"q1 Q0 d9 9 {text} tag".encode()
    assert same_run(tmp_path, row + b"\n") == [("q1", "d9", float(text), 9)]
    assert same_run(tmp_path, lines(row)) is not None


@pytest.mark.parametrize("text", BAD_SCORES)
def test_what_is_no_finite_decimal_number_is_no_score(text: str, tmp_path: Path) -> None:
    """No word, notation of another language or unbounded number is taken for a score."""
    assert same_run(tmp_path, lines(f"q1 Q0 d9 9 {text} tag".encode())) is None


@pytest.mark.parametrize("digits", [15, 16, 17, 18, 19, 20, 25])
def test_many_digits_are_rounded_as_python_rounds_them(digits: int, tmp_path: Path) -> None:
    """Numbers of every length around the width of a double, with and without a point and an exponent."""
    rows = []
    for number in range(200):
        figure = str(10 ** (digits - 1) + (number * 7919 * 10**9 + number**5 * 104729) % 10 ** (digits - 1))
        text = (figure, f"0.{figure}", f"{figure[:3]}.{figure[3:]}", f"{figure}e-{number}")[number % 4]
        rows.append(f"q Q0 d{number} 1 {text} t\n")
    read = same_run(tmp_path, "".join(rows).encode())
    assert read is not None
    assert len(read) == 200


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("007", "7"),
        ("7", "7.0"),
        ("1e3", "1000"),
        ("NA", "null"),
        ("nan", "NaN"),
        ("true", "True"),
        ("d", "D"),
        ('"d"', "d"),
        ("caf\u00e9", "cafe\u0301"),
        ("\ufb01", "fi"),
        ("a\u00a0", "a"),
        ("d\ufeff", "d"),
        ("9223372036854775808", "9223372036854775807"),
        ("0.1", "0.10"),
    ],
)
@pytest.mark.parametrize("backend", ["reference", "pytrec_eval"])
def test_ids_match_only_themselves(one: str, other: str, backend: str, tmp_path: Path) -> None:
    """Two ids that some tools fold into one stay two, as documents and as queries."""
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text(f"{one} 0 {one} 1\n{other} 0 {one} 1\n")
    run.write_text(f"{one} Q0 {other} 1 3 t\n{one} Q0 {one} 2 2 t\n{other} Q0 {other} 1 1 t\n")
    scores = mp.score(qrels, run, ["RR", "P@1"], backend=backend)
    assert scores.by_query("RR") == {one: 0.5, other: 0.0}
    assert scores.by_query("P@1") == {one: 0.0, other: 0.0}


BEIR_HEADER = b"query-id\tcorpus-id\tscore\n"
BEIR_READABLE: dict[str, tuple[bytes, list[GradeRow]]] = {
    "plain": (b"q1\td1\t1\nq2\td2\t0\n", [("q1", "d1", 1), ("q2", "d2", 0)]),
    "CRLF": (b"q1\td1\t1\r\nq1\td2\t0\r\n", [("q1", "d1", 1), ("q1", "d2", 0)]),
    "blank lines": (b"\nq1\td1\t1\n\n\nq1\td2\t2", [("q1", "d1", 1), ("q1", "d2", 2)]),
    "blanks inside ids": (b"a query\tmy doc\t1\nq2\t d \t0\n", [("a query", "my doc", 1), ("q2", " d ", 0)]),
    "hash in front": (b"#1\td1\t1\nq\t#d\t0\n", [("#1", "d1", 1), ("q", "#d", 0)]),
    "quotes": (b'"q1"\t"d1"\t1\n"q\td"\t2\n', [('"q1"', '"d1"', 1), ('"q', 'd"', 2)]),
    "ids like numbers": (b"007\t7\t1\n7\tNA\t0\n", [("007", "7", 1), ("7", "NA", 0)]),
    "blocks split": (b"a\tx\t1\nb\tx\t1\na\ty\t2\n", [("a", "x", 1), ("a", "y", 2), ("b", "x", 1)]),
}
BEIR_REFUSED = {
    "only the header": b"",
    "header twice": BEIR_HEADER + b"q\td\t1\n",
    "empty query": b"\td1\t1\n",
    "empty document": b"q\t\t1\n",
    "empty grade": b"q\td\t\n",
    "two columns": b"q\td\n",
    "four columns": b"q\td\t1\tx\n",
    "doubled tab": b"q\t\td\t1\n",
    "tab behind": b"q\td\t1\t\n",
    "blanks between": b"q d 1\n",
    "commas between": b"q,d,1\n",
    "comment": b"# comment\nq\td\t1\n",
    "line of blanks": b"  \nq\td\t1\n",
    "word for a grade": b"q\td\tyes\n",
    "unbounded grade": b"q\td\tinf\n",
    "Latin-1": b"q\tcaf\xe9\t1\n",
    "NUL": b"q\0\td\t1\n",
}


@pytest.mark.parametrize("name", BEIR_READABLE)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "byte order mark"])
def test_beir_judgments_with_this_hazard_are_read_exactly(name: str, mark: bytes, tmp_path: Path) -> None:
    """Behind a header only tabs separate: blanks, quotes and `#` belong to the ids."""
    data, rows = BEIR_READABLE[name]
    (tmp_path / "test.tsv").write_bytes(mark + BEIR_HEADER + data)
    assert read_qrels(tmp_path / "test.tsv") == rows


@pytest.mark.parametrize("name", BEIR_REFUSED)
def test_beir_judgments_with_this_hazard_are_refused(name: str, tmp_path: Path) -> None:
    """Behind a header every line has three columns, none of them empty."""
    (tmp_path / "test.tsv").write_bytes(BEIR_HEADER + BEIR_REFUSED[name])
    assert read_qrels(tmp_path / "test.tsv") is None


def test_beir_judgments_without_a_header_are_never_taken_for_trec(tmp_path: Path) -> None:
    """Three columns between tabs, with a blank in an id, are four between blanks: read as BEIR, or refused."""
    (tmp_path / "test.tsv").write_bytes(b"q1\tmy doc\t1\nq2\tour doc\t0\n")
    assert read_qrels(tmp_path / "test.tsv") in (None, [("q1", "my doc", 1), ("q2", "our doc", 0)])


def test_a_query_in_two_blocks_is_one_query(tmp_path: Path) -> None:
    """The second block of a query joins the first, and its better score leads."""
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("q1 0 a 1\nq2 0 b 1\n")
    run.write_text("q1 Q0 x 2 2 t\nq2 Q0 b 1 2 t\nq1 Q0 a 1 3 t\n")
    assert mp.score(qrels, run, ["RR"]).by_query("RR") == {"q1": 1.0, "q2": 1.0}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("run.txt.gz", gzip.compress(RUN)),
        ("run.gz", gzip.compress(RUN[:30]) + gzip.compress(RUN[30:])),
        ("run.txt.gz", gzip.compress(b"") + gzip.compress(RUN)),
        ("run.txt.zst", zstd.compress(RUN)),
        ("run.zst", zstd.compress(RUN[:30]) + zstd.compress(RUN[30:])),
    ],
    ids=[
        "gzip",
        "gzip in two members",
        "gzip behind an empty member",
        "zstandard",
        "zstandard in two frames",
    ],
)
def test_a_compressed_run_is_read_to_its_end(name: str, data: bytes, tmp_path: Path) -> None:
    """One member or several, every row arrives."""
    (tmp_path / name).write_bytes(data)
    assert read_run(tmp_path / name) == expected_run(RUN)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("gzip without the name", gzip.compress(RUN)),
        ("zstandard without the name", zstd.compress(RUN)),
        ("run.gz", RUN),
        ("run.zst", RUN),
        ("zeros behind.gz", gzip.compress(RUN) + b"\0" * 100),
        ("plain text behind.gz", gzip.compress(RUN) + RUN),
        ("plain text behind.zst", zstd.compress(RUN) + RUN),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_odd_compression_gives_every_row_or_an_error(name: str, data: bytes, tmp_path: Path) -> None:
    """A name that does not fit the content, and bytes behind the end, lose nothing in silence."""
    (tmp_path / name).write_bytes(data)
    assert read_run(tmp_path / name) in (expected_run(RUN), None)


def _checked_zstd(data: bytes) -> bytes:
    """A frame with a checksum at its end, as the command zstd writes it."""
    return zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_a_compressed_file_cut_anywhere_is_refused(suffix: str, tmp_path: Path) -> None:
    """However little is missing at the end, the rows before it are not taken for the whole."""
    whole = {"gz": gzip.compress, "zst": _checked_zstd}[suffix](RUN)
    path = tmp_path / f"run.txt.{suffix}"
    accepted = []
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        if read_run(path) is not None:
            accepted.append(length)
    assert accepted == []


def big_run(rows: int) -> list[bytes]:
    """The lines of a clean run large enough to be read in pieces."""
    return [b"q%d Q0 d%d %d %d.5 tag\n" % (row // 100, row, row % 100 + 1, 1000 - row % 100) for row in range(rows)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b" Q0 ", b"  Q0 "),
        (b" tag", b"\ttag"),
        (b" tag\n", b" tag \n"),
        (b" tag\n", b"\n"),
        (b" tag\n", b" tag\r\n"),
        (b" tag\n", b" tag\n\n"),
        (b" tag\n", b" tag\n# comment\n"),
        (b" d", b' "d'),
        (b"q", b" q"),
    ],
)
def test_one_odd_line_in_a_large_run_is_read_exactly(old: bytes, new: bytes, tmp_path: Path) -> None:
    """An oddity far from the start of a large file changes at most its own row."""
    rows = big_run(60_000)
    rows[43_210] = rows[43_210].replace(old, new, 1)
    assert same_run(tmp_path, b"".join(rows)) is not None


@pytest.mark.parametrize(
    "line",
    [
        b"q1 Q0 d 1\n",
        b"q1 Q0 d 1 2 tag more\n",
        b"q1 Q0 d 1 x tag\n",
        b"q1 Q0 d 1 nan tag\n",
        b"q1 Q0 \xff 1 2 tag\n",
        b"q1 Q0 d 1 1e999 tag\n",
        b'"q1 Q0 d 1 2 tag\n' * 2 + b"q1\n",
    ],
)
def test_one_bad_line_in_a_large_run_is_named(line: bytes, tmp_path: Path) -> None:
    """A fault far from the start of a large file is refused with the number of its line."""
    rows = big_run(60_000)
    rows[43_210] = line
    path = tmp_path / "run.txt"
    path.write_bytes(b"".join(rows))
    with pytest.raises(InputError) as caught:
        mp.read_run(path)
    assert (caught.value.line, str(path) in str(caught.value)) == (43_211 + line.count(b"\n") - 1, True)


@pytest.mark.parametrize(
    "data",
    [RUN, b"\xef\xbb\xbf" + RUN.replace(b"\n", b"\r\n\r\n"), gzip.compress(RUN)],
    ids=["plain", "mark and CRLF", "gzip"],
)
def test_standard_input_is_read_like_a_file(data: bytes, tmp_path: Path) -> None:
    """`-` in place of the run, and of the judgments, gives the scores of the same bytes in a file."""
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_bytes(QRELS)
    run.write_bytes(RUN)

    def values(arguments: list[str], given: bytes) -> list[float]:
        command = [sys.executable, "-m", "metricpact", "score", *arguments, "RR", "nDCG", "-o", "json", "-q"]
        done = subprocess.run(command, input=given, capture_output=True, check=True)
        return [row["value"] for row in json.loads(done.stdout)["per_query"]]

    ideal_q1 = 1.0
    assert values([str(qrels), "-"], data) == [ideal_q1, ideal_q1, 0.0, 0.0]
    if data == RUN:
        assert values(["-", str(run)], QRELS) == [ideal_q1, ideal_q1, 0.0, 0.0]


NASTY = st.sampled_from(
    [
        *(bytes([byte]) for byte in b" \t\n\r\v\f#\"',\\\x00\x1f\xff\xc3019eE.-+_x"),
        b"\r\n", b"\n\n", b"\xef\xbb\xbf", b"\xc3\xa9", b"\xc2\xa0", b"\xc2\x85", b"\xe2\x80\xa8",
        b"nan", b"inf", b"NA", b"null", b"9223372036854775807", b"q1 Q0 d7 7 0.75 t\n", b"q1 0 d7 3\n",
    ]
)  # fmt: skip
CHANGES = st.lists(
    st.tuples(st.sampled_from(["insert", "delete", "replace"]), st.integers(0, 10**6), NASTY),
    min_size=1,
    max_size=4,
)


def mutated(data: bytes, changes: list[tuple[str, int, bytes]]) -> bytes:
    """The data with bytes put in, taken out or replaced at the given places."""
    for kind, place, piece in changes:
        at = place % (len(data) + 1)
        rest = data[at:] if kind == "insert" else data[at + (1 if kind == "delete" else len(piece)) :]
        data = data[:at] + (b"" if kind == "delete" else piece) + rest
    return data


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the files of the property tests."""
    return tmp_path_factory.mktemp("hazards")


@settings(max_examples=600, deadline=None, derandomize=True)
@given(changes=CHANGES)
@example(changes=[("insert", 2, b" ")])
@example(changes=[("replace", 9, b"\x00")])
def test_a_mutated_run_is_read_exactly_or_refused(folder: Path, changes: list[tuple[str, int, bytes]]) -> None:
    """Bytes put in, taken out or replaced in a run: both readers give the same rows or refuse."""
    data = mutated(RUN, changes)
    (folder / "mutated.txt").write_bytes(data)
    assert repr(read_run(folder / "mutated.txt")) == repr(expected_run(data))


@settings(max_examples=600, deadline=None, derandomize=True)
@given(changes=CHANGES)
@example(changes=[("insert", 2, b" ")])
@example(changes=[("delete", len(QRELS) - 2, b"")])
def test_mutated_judgments_are_read_exactly_or_refused(folder: Path, changes: list[tuple[str, int, bytes]]) -> None:
    """Bytes put in, taken out or replaced in judgments: both readers give the same rows or refuse."""
    data = mutated(QRELS, changes)
    (folder / "mutated.qrels").write_bytes(data)
    ours, expected = read_qrels(folder / "mutated.qrels"), expected_qrels(data)
    # Four fields of which two tabs make three may be refused: judgments of BEIR can look like that.
    ambiguous = any(line.count(b"\t") == 2 for line in data.split(b"\n"))
    assert ours == expected or (ambiguous and ours is None)
