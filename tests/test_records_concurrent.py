"""Records under many writers at once, some killed: what was acknowledged is there, and the file is whole."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
from multiprocessing.connection import Connection, wait
from pathlib import Path

import metricpact as mp

WRITERS = 10
EACH = 20
"""Ten writers of twenty records each, beside which others are killed."""
LABELS = {"component": "search", "set_name": "faq", "set_version": "1"}


def scores() -> mp.Scores:
    """Scores with enough queries that a transaction takes many writes."""
    queries = [f"q{number}" for number in range(300)]
    qrels = {query: {"a": 1, "b": 0} for query in queries}
    return mp.score(qrels, {query: ["b", "a"] for query in queries}, ["RR", "P@2"], backend="reference")


def write(file: str, writer: int, count: int, acknowledged: Connection) -> None:
    """Add records one after the other, and report each as soon as its id is known."""
    mine = scores()
    for number in range(count):
        version = f"{writer}.{number}"
        acknowledged.send((mp.add_record(file, mine, component_version=version, **LABELS), version))
    acknowledged.close()


def test_two_hundred_adds_at_once_some_killed(tmp_path: Path) -> None:
    """Ten processes add two hundred records while four more are killed in the middle of adding without end.

    Every acknowledged record is there once, whole, under its own id; no other is but the one that each killed writer
    may have finished without having said so; and SQLite finds the file in order.
    """
    file = str(tmp_path / "scores.sqlite")
    context = multiprocessing.get_context("spawn")
    told: dict[Connection, list[tuple[int, str]]] = {}
    steady, doomed = [], {}
    for writer in range(WRITERS + 4):
        receiver, sender = context.Pipe(duplex=False)
        count = EACH if writer < WRITERS else 1_000_000
        process = context.Process(target=write, args=(file, writer, count, sender), daemon=True)
        process.start()
        sender.close()
        told[receiver] = []
        if writer < WRITERS:
            steady.append(process)
        else:
            doomed[receiver] = process
    open_ends = set(told)
    while open_ends:
        for receiver in wait(list(open_ends)):
            assert isinstance(receiver, Connection)
            try:
                told[receiver].append(receiver.recv())
            except (EOFError, OSError):
                open_ends.discard(receiver)
                continue
            # Each is killed at another moment, while it is at its next record.
            if receiver in doomed and len(told[receiver]) == 2 + list(doomed).index(receiver):
                pid = doomed[receiver].pid
                assert pid is not None
                os.kill(pid, signal.SIGKILL)
    for process in steady:
        process.join()
        assert process.exitcode == 0
    for process in doomed.values():
        process.join()
        assert process.exitcode == -signal.SIGKILL
    acknowledged = dict(pair for pairs in told.values() for pair in pairs)
    assert len(acknowledged) == sum(map(len, told.values())) >= WRITERS * EACH + 2
    listed = mp.list_records(file).filter(measure="RR")
    kept = dict(zip(listed["id"], listed["component_version"], strict=True))
    assert acknowledged.items() <= kept.items()
    assert len(set(kept.values())) == len(kept)
    silent = [version for id_, version in kept.items() if id_ not in acknowledged]
    assert all(int(version.split(".")[0]) >= WRITERS for version in silent)
    assert mp.export_records(file).height == len(kept) * 2 * 300  # each with every value, held against its means
    with sqlite3.connect(file) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()
    assert [path.name for path in tmp_path.iterdir()] == ["scores.sqlite"]


HALF = """
import os, signal, sys
import metricpact as mp
from metricpact.crosscheck.records import keep
done = keep._insert
def insert(connection, table, rows, width):
    connection.execute("PRAGMA cache_size = 1")  # pages go to the file before the commit
    done(connection, table, rows, width)
    if table == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
keep._insert = insert
queries = [f"q{number}" for number in range(3000)]
scores = mp.score({q: {"a": 1} for q in queries}, {q: ["a"] for q in queries}, ["RR", "P@1"], backend="reference")
mp.add_record(sys.argv[1], scores, component="search", component_version="1", set_name="faq", set_version="1")
"""


def test_a_half_written_record_is_taken_back(tmp_path: Path) -> None:
    """A writer that is killed with half of its pages in the file: the next reader finds what was there before."""
    file = str(tmp_path / "scores.sqlite")
    mp.add_record(file, scores(), component_version="1", **LABELS)
    before = Path(file).read_bytes()
    done = subprocess.run([sys.executable, "-c", HALF, file, "value"], check=False)
    assert done.returncode == -signal.SIGKILL
    assert Path(file).read_bytes() != before, "nothing was half written"
    assert Path(f"{file}-journal").exists()
    assert mp.list_records(file)["id"].unique().to_list() == [1]
    assert mp.load_record(1, file).scores.to_polars().equals(scores().to_polars())
    assert mp.add_record(file, scores(), component_version="2", **LABELS) == 2


def test_a_first_record_that_was_killed_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    """Tables and first record are one transaction: the next writer begins anew."""
    file = str(tmp_path / "scores.sqlite")
    done = subprocess.run([sys.executable, "-c", HALF, file, "query"], check=False)
    assert done.returncode == -signal.SIGKILL
    assert mp.add_record(file, scores(), component_version="1", **LABELS) == 1


def test_commands_at_once(tmp_path: Path) -> None:
    """Six commands started together keep six records, each printing its own id."""
    file, qrels, run = tmp_path / "scores.sqlite", tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("q1 0 a 1\n")
    run.write_text("q1 Q0 a 1 1.0 t\n")
    labels = ["--component", "search", "--set-name", "faq", "--set-version", "1", "--component-version"]
    command = [sys.executable, "-m", "metricpact", "record", "add", qrels, run, "RR", "--records", file, *labels]
    started = [subprocess.Popen([*command, str(number)], stdout=subprocess.PIPE) for number in range(6)]
    printed = [json.loads(process.communicate()[0]) for process in started]
    assert [process.returncode for process in started] == [0] * 6
    assert sorted(one["id"] for one in printed) == [1, 2, 3, 4, 5, 6]
    listed = mp.list_records(file)
    assert dict(listed.select("id", "component_version").rows()) == {
        one["id"]: one["component"]["version"] for one in printed
    }
