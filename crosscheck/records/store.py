"""The records file: an SQLite database that is checked before it is used, and never left half written.

The journal is SQLite's rollback journal: one file that can be copied, sent or committed, which a write-ahead log is
not. ``synchronous=EXTRA`` (https://www.sqlite.org/pragma.html#pragma_synchronous) flushes the file and the folder of
the journal before a commit returns, so what was acknowledged survives a crash. A process that is killed in the middle
leaves a journal, with which whoever opens the file next takes back the unfinished half. Writers queue: each takes the
write lock at the start of its transaction and waits for the one before.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from metricpact.contracts.errors import InputError
from metricpact.contracts.version import VERSION

APPLICATION = 0x6D707231
"""What the header of a records file says that it is (``application_id``: "mpr1")."""
SCHEMA_VERSION = 1
"""The layout of the tables (``user_version``)."""
WAIT = 120.0
"""Seconds to wait for other writers."""
MEAN = ("measure", "mean", "n", "undefined", "missing", "extra", "judged_fraction", "fields", "signature")
"""The columns of the table ``mean`` beside its key, in order."""
NONE_QUESTION = ("query_id", "ranked_ids", "response", "nearest_id")
"""The columns of the table ``none_question`` beside its key, in order; ``ranked_ids`` is a JSON list."""
_TABLES = """
CREATE TABLE record (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    recorded TEXT NOT NULL,
    component TEXT NOT NULL, component_version TEXT NOT NULL,
    set_name TEXT NOT NULL, set_version TEXT NOT NULL,
    note TEXT NOT NULL,
    about TEXT NOT NULL
);
CREATE TABLE mean (
    record INTEGER NOT NULL REFERENCES record (id), place INTEGER NOT NULL,
    measure TEXT NOT NULL, mean REAL, n INTEGER NOT NULL, undefined INTEGER NOT NULL,
    missing INTEGER NOT NULL, extra INTEGER NOT NULL, judged_fraction REAL,
    fields TEXT NOT NULL, signature TEXT NOT NULL,
    PRIMARY KEY (record, place)
) WITHOUT ROWID;
CREATE TABLE query (
    record INTEGER NOT NULL REFERENCES record (id), place INTEGER NOT NULL, query_id TEXT NOT NULL,
    PRIMARY KEY (record, place)
) WITHOUT ROWID;
CREATE TABLE value (
    record INTEGER NOT NULL REFERENCES record (id), mean INTEGER NOT NULL, query INTEGER NOT NULL,
    value REAL, reason TEXT, judged_fraction REAL, denominator REAL,
    PRIMARY KEY (record, mean, query)
) WITHOUT ROWID;
CREATE TABLE slice (
    record INTEGER NOT NULL REFERENCES record (id), place INTEGER NOT NULL, row INTEGER NOT NULL,
    name TEXT NOT NULL, query_id TEXT NOT NULL, value TEXT,
    PRIMARY KEY (record, place, row)
) WITHOUT ROWID;
CREATE TABLE none_question (
    record INTEGER NOT NULL REFERENCES record (id), place INTEGER NOT NULL,
    query_id TEXT NOT NULL, ranked_ids TEXT NOT NULL, response TEXT, nearest_id TEXT,
    PRIMARY KEY (record, place)
) WITHOUT ROWID;
"""


@contextmanager
def reading(file: str) -> Iterator[sqlite3.Connection]:
    """A connection that sees the file as it is at one moment; raises ``InputError`` for what is no records file."""
    if not os.path.isfile(file):
        raise InputError("there is no such records file", "'metricpact record add' makes one", source=file)
    with _connected(file, "rw") as connection:
        connection.execute("BEGIN")
        if _is_empty(connection, file):
            raise InputError("the file holds no records", "'metricpact record add' adds one", source=file)
        yield connection
        connection.execute("ROLLBACK")


@contextmanager
def writing(file: str) -> Iterator[sqlite3.Connection]:
    """A connection inside one transaction, which is committed and flushed at the end, or taken back whole.

    Makes the file, and its tables in the same transaction, where there is none. Raises ``InputError`` for a file
    that is no records file, which stays as it is, and for one that cannot be written.
    """
    if not Path(file).absolute().parent.is_dir():
        raise InputError("its folder does not exist", "make the folder first", source=file)
    with _connected(file, "rwc") as connection:
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute("BEGIN")
        _is_empty(connection, file)  # refused before a lock is taken that others would wait for
        connection.execute("ROLLBACK")
        connection.execute("BEGIN IMMEDIATE")
        try:
            if _is_empty(connection, file):
                for statement in _TABLES.split(";\n")[:-1]:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            yield connection
        except BaseException:
            if connection.in_transaction:  # a full disk has ended it already
                connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


@contextmanager
def _connected(file: str, mode: str) -> Iterator[sqlite3.Connection]:
    try:
        uri = f"{Path(file).absolute().as_uri()}?mode={mode}"
        with closing(sqlite3.connect(uri, uri=True, timeout=WAIT, isolation_level=None)) as connection:
            yield connection
    except sqlite3.Error as error:
        raise _told(error, file) from error


def _is_empty(connection: sqlite3.Connection, file: str) -> bool:
    """Whether the file has nothing in it yet; raises ``InputError`` unless it is empty or a records file."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if (application, version, tables) == (0, 0, 0):
        return True
    if application != APPLICATION:
        raise InputError(
            "is an SQLite file, but not one of metricpact's records", "name another file; this one stays", source=file
        )
    if version != SCHEMA_VERSION:
        raise InputError(
            f"its layout is version {version}, and metricpact {VERSION} knows version {SCHEMA_VERSION}",
            "install the metricpact that wrote it, or a newer one",
            source=file,
        )
    return False


def _told(error: sqlite3.Error, file: str) -> InputError:
    """SQLite's errors in words."""
    name, text = getattr(error, "sqlite_errorname", ""), str(error)
    if name == "SQLITE_NOTADB":
        return InputError("is not a records file (no SQLite file at all)", "name another file", source=file)
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return InputError(f"others have been writing to it for {WAIT:.0f} seconds", "try again later", source=file)
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_FORMAT")):
        return InputError(f"is damaged ({text})", "take the last good copy of it", source=file)
    return InputError(f"cannot be used ({text})", "check the file's permissions and the disk", source=file)
