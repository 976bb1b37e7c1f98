"""Damaged inputs for every reader, lint and convert: ``python tests/fuzz.py MINUTES`` runs with fresh seeds.

A case is a valid file of some format that was damaged (bytes changed, cut, doubled, tokens put in, two files joined,
compressed and damaged again), or noise. It may be read or refused with a ``MetricpactError``; anything else, and more
than ``PATIENCE`` seconds of CPU time, is a failure. A file that reads plainly has no error of reading in lint, and the
other way round. Cases run in child processes, so that one that kills its process is seen too.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import json
import lzma
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import cbor2
import lz4.frame
import metricpact as mp
from metricpact.bridges.sinks.choose import SINKS
from metricpact.bridges.sinks.convert import convert
from metricpact.bridges.sources import lines, streams
from metricpact.bridges.sources.registry import FORMATS
from metricpact.contracts.errors import MetricpactError
from metricpact.crosscheck.lint.lint import LintReport

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PATIENCE = 10.0
BATCH_SECONDS = 60
IDS = ["q1", "Q1", "a", "b", "d-1", "007", "7", "é", "e\u0301", "\ufeffq", "x y", "#c", "{", "日本", "ﬁ", "0", "BZh9"]
TOKENS = [
    b"\xef\xbb\xbf", b"\0", b"\r\n", b"\r", b"\n\n", b"\t", b"  ", b"#", b"{", b"}", b"[", b'"', b",", b"nan", b"NaN",
    b"-inf", b"1e999", b"1e-400", b"-0.0", b"0x10", b"1_0", b"9" * 30, b"-", b"+1", b"1.", b".5", b"\xff\xfe", b"\xc3",
    b"PAR1", b"ARROW1", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18", b"BZh91AY&SY", b"\xfd7zXZ\0",
    b"query-id", b"corpus-id", b"score", b"NONE", b"null", b"true", "\u2028".encode(), "\u3000".encode(),
    b"\x85", b"\x1c", b"x\x9c",
]  # fmt: skip
PACKERS: list[Callable[[bytes], bytes]] = [
    gzip.compress, bz2.compress, lzma.compress, zstd.compress, lz4.frame.compress
]  # fmt: skip
CBOR_MAPS = (b"\xa1", b"\xa2", b"\xa3")
READ_ERRORS = {
    "cannot-open", "unreadable", "no-rows", "malformed-line", "words-behind-tag", "not-utf8", "not-finite",
    "header-line",
}  # fmt: skip


class FuzzError(Exception):
    """What went wrong with a case."""


def rows(rng: random.Random, kind: str) -> dict[str, dict[str, float]]:
    """A small table: query → document → number."""
    return {
        query: {
            document: rng.choice([-1, 0, 1, 2])
            if kind == "qrels"
            else rng.choice([rng.random(), 1.5, -0.0, 1e300, 3.0])
            for document in rng.sample(IDS, rng.randrange(1, 6))
        }
        for query in rng.sample(IDS, rng.randrange(1, 4))
    }


def valid(rng: random.Random, folder: Path) -> bytes:
    """The bytes of a valid file of some format; ids that the format refuses are tried anew."""
    while True:
        kind = rng.choice(["qrels", "run"])
        name = rng.choice([*SINKS, "msmarco", "known-item", "lists", "ranx"])
        if name == "ranx":
            return cbor2.dumps(rows(rng, kind))  # packed by case(), after its damage
        if name == "msmarco":
            return "".join(f"q{i // 3} d{i} {i % 3 + 1}\n" for i in range(9)).encode()
        if name == "known-item":
            return b"query_id,expected_id,ranked_ids\nq1,a,a;b\nq2,NONE,c\n"
        if name == "lists":
            return json.dumps({query: list(docs) for query, docs in rows(rng, "run").items()}).encode()
        target = folder / "valid"
        try:
            convert(rows(rng, kind), target, to=name, kind=kind, force=True)
        except MetricpactError:
            continue
        return target.read_bytes()


def damaged(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """The bytes after a few kinds of damage."""
    for _ in range(rng.choice([0, 0, 1, 1, 1, 2, 3, 6])):
        if rng.random() < 0.5:
            data = line_damaged(rng, data)
            continue
        at, to = sorted(rng.randrange(len(data) + 1) for _ in range(2))
        to = min(to, at + rng.choice([1, 4, 40, 4000]))
        data = rng.choice(
            [
                lambda d, a, b: d[:a] + bytes([rng.randrange(256)]) + d[a + 1 :],
                lambda d, a, b: d[:a] + rng.choice(TOKENS) + d[a:],
                lambda d, a, b: d[:a] + rng.choice(TOKENS) + d[b:],
                lambda d, a, b: d[:a] + d[b:],
                lambda d, a, b: d[:b] + d[a:],
                lambda d, a, b: d[:a],
                lambda d, a, b: d[:a] + other[b:],
                lambda d, a, b: d + other,
                lambda d, a, b: d[:a] + d[a:b] * rng.choice([2, 3, 50]) + d[b:],
                lambda d, a, b: d.replace(b" ", b"\t") if rng.random() < 0.5 else d.replace(b"\n", b"\r\n"),
            ]
        )(data, at, to)
    return data


def line_damaged(rng: random.Random, data: bytes) -> bytes:
    """The bytes after one line was doubled, moved, dropped, or one of its fields changed."""
    held = data.split(b"\n")
    at, to = rng.randrange(len(held)), rng.randrange(len(held))
    match rng.randrange(5):
        case 0:
            held.insert(to, held[at])
        case 1:
            held[at], held[to] = held[to], held[at]
        case 2:
            del held[at]
        case 3:
            held.insert(at, rng.choice([b"", b" ", b"# note", b"query-id corpus-id score", b"\r"]))
        case _:
            separator = next((mark for mark in (b"\t", b",", b" ") if mark in held[at]), b" ")
            fields = held[at].split(separator)
            fields[rng.randrange(len(fields))] = rng.choice([*TOKENS, rng.choice(IDS).encode()])
            held[at] = separator.join(fields)
    return b"\n".join(held)


def case(rng: random.Random, folder: Path) -> bytes:
    """The bytes of one case."""
    if rng.random() < 0.1:
        return rng.choice(TOKENS) + rng.randbytes(rng.randrange(60))
    data = damaged(rng, valid(rng, folder), valid(rng, folder))
    if data[:1] in CBOR_MAPS and rng.random() < 0.9:
        packed = lz4.frame.compress(lz4.frame.compress(data))
        return damaged(rng, packed, data) if rng.random() < 0.1 else packed
    if rng.random() < 0.15:
        packed = rng.choice(PACKERS)(data)
        data = damaged(rng, packed, data) if rng.random() < 0.7 else packed
    return data


def allowed(work: Callable[[], object], what: str) -> tuple[bool, str]:
    """Whether some work was done (True) or refused (False), and the refusal; raises ``FuzzError`` for anything else."""
    begun = time.process_time()  # a busy machine is no fault
    try:
        work()
        done, said = True, ""
    except MetricpactError as error:
        done, said = False, error.fact
        if not error.fact.strip() or "\n" in error.fact.strip():
            raise FuzzError(f"{what}: the fact of a refusal is no line: {error.fact!r}") from error
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        raise FuzzError(f"{what}: {type(error).__name__}: {str(error)[:200]}") from error
    if time.process_time() - begun > PATIENCE:
        raise FuzzError(f"{what}: took {time.process_time() - begun:.1f} s of CPU time")
    return done, said


def check(data: bytes, folder: Path, rng: random.Random) -> str:
    """Read, lint and convert a case; gives what became of it, raises ``FuzzError``."""
    path = folder / "case"
    path.write_bytes(data)
    before = streams.SLICE, lines._MORSEL  # files of some lines are to be read in pieces too
    streams.SLICE, lines._MORSEL = rng.choice([before, (16, 8), (100, 1)])
    try:
        forced = rng.choice([*[None] * 2 * len(FORMATS), *FORMATS])
        of_run = forced if forced and FORMATS[forced].reads("run") else None
        plain = {
            "qrels": allowed(lambda: mp.read_qrels(path, format=forced), "read_qrels"),
            "run": allowed(lambda: mp.read_run(path, format=of_run), "read_run"),
        }
        held: list[LintReport] = []
        linted, _ = allowed(lambda: held.append(mp.lint(path, path, format=forced, run_format=of_run, limit=0)), "lint")
        if not linted:
            raise FuzzError("lint: refused a file that can be opened")
        for kind, place in (("qrels", 0), ("run", 1)):
            found = READ_ERRORS & set(held[0].inputs[place].counts)
            if plain[kind][0] == bool(found):
                raise FuzzError(f"lint: {sorted(found)} where reading {kind} said {plain[kind]}")
        target = folder / "converted"
        target.unlink(missing_ok=True)
        to = rng.choice(list(SINKS))
        done, _ = allowed(
            lambda: convert(path, target, to=to, format=forced, kind=rng.choice(["qrels", "run"])), "convert"
        )
        if done != target.exists() or len(list(folder.iterdir())) > 3:
            raise FuzzError("convert: a file stayed, or none came")
    finally:
        streams.SLICE, lines._MORSEL = before
    return "/".join(f"{kind} {'read' if done else 'refused'}" for kind, (done, _) in plain.items())


def batch(seed: int, seconds: float, most: int = sys.maxsize) -> Counter[str]:
    """Cases from a seed until the time is over; raises ``FuzzError`` with the case in its notes."""
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as name:
        while time.monotonic() < end and counts.total() < most:
            data = case(rng, Path(name))
            try:
                counts[check(data, Path(name), rng)] += 1
            except FuzzError as failure:
                failure.add_note(f"seed {seed}, case {counts.total()}: {data[:1000]!r}")
                raise
    return counts


def main() -> None:
    """Run batches in child processes for some minutes and print one line of figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("minutes", type=float)
    parser.add_argument("--seed", type=int, help="run one batch of this seed in this process")
    options = parser.parse_args()
    if options.seed is not None:
        print(json.dumps(batch(options.seed, options.minutes * 60)))
        return
    end, counts, failures, batches = time.monotonic() + options.minutes * 60, Counter[str](), 0, 0
    while (left := end - time.monotonic()) > 1:
        seed = random.SystemRandom().randrange(2**32)
        seconds = min(left, BATCH_SECONDS)
        begun = [sys.executable, __file__, str(seconds / 60), "--seed", str(seed)]
        try:
            done = subprocess.run(begun, capture_output=True, text=True, timeout=seconds + 300, check=False)
            code, said = done.returncode, done.stderr[-4000:]
        except subprocess.TimeoutExpired:
            code, said = None, "hangs"
        batches += 1
        if code == 0:
            counts.update(json.loads(done.stdout.splitlines()[-1]))
        else:
            failures += 1
            print(f"seed {seed}: exit code {code}\n{said}", flush=True)
    print(f"{options.minutes:g} minutes, {batches} seeds, {counts.total()} cases: {dict(counts)}; {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
