"""Makes the judgments and the run that the speed measurements read: by default the size and habits of the
MS MARCO passage files (numeric query ids, seven-digit document ids, about one relevant document a query, six
columns, scores with six decimals), written from a seed so that two people measure the same bytes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

# A prime, so that stepping through the collection by any stride meets no document twice within a query.
COLLECTION = 7_841_807
FIRST_DOCUMENT = 1_000_000
CHUNK = 200_000


def digits(values: Numbers, width: int) -> NDArray[np.uint8]:
    """The decimal digits of each value, one row a value, with zero bytes in place of leading zeros."""
    powers = 10 ** np.arange(width - 1, -1, -1, dtype=np.int64)
    text = (values[:, None] // powers % 10 + ord("0")).astype(np.uint8)
    text[:, :-1][values[:, None] < powers[:-1]] = 0
    return text


def constant(text: str, rows: int) -> NDArray[np.uint8]:
    """The same bytes on every row."""
    return np.broadcast_to(np.frombuffer(text.encode("ascii"), dtype=np.uint8), (rows, len(text)))


def joined(columns: list[NDArray[np.uint8]]) -> bytes:
    """The rows of all columns beside each other, with the padding bytes dropped."""
    table = np.concatenate(columns, axis=1)
    return bytes(table[table != 0])


def write_run(path: Path, query_ids: Numbers, documents: Numbers, scores: Numbers, order: Numbers | None) -> None:
    """Write the run: `documents` and `scores` (in millionths) have a row a query, `order` permutes lines."""
    depth = documents.shape[1]
    flat_documents, flat_scores = documents.ravel(), scores.ravel()
    with path.open("wb") as file:
        for start in range(0, documents.size, CHUNK):
            stop = min(start + CHUNK, documents.size)
            rows = np.arange(start, stop) if order is None else order[start:stop]
            millionths = flat_scores[rows]
            file.write(
                joined(
                    [
                        digits(query_ids[rows // depth], 7),
                        constant(" Q0 ", len(rows)),
                        digits(flat_documents[rows], 7),
                        constant(" ", len(rows)),
                        digits(rows % depth + 1, 5),
                        constant(" ", len(rows)),
                        digits(millionths // 1_000_000, 3),
                        constant(".", len(rows)),
                        # A leading one keeps the zeros after the point; its column is left out.
                        digits(millionths % 1_000_000 + 1_000_000, 7)[:, 1:],
                        constant(" bench\n", len(rows)),
                    ]
                )
            )


def write_qrels(path: Path, query_ids: Numbers, rows: Numbers, documents: Numbers, grades: Numbers) -> None:
    """Write one line a judgment; `rows` gives the query of each."""
    with path.open("wb") as file:
        for start in range(0, len(rows), CHUNK):
            part = slice(start, start + CHUNK)
            count = len(rows[part])
            file.write(
                joined(
                    [
                        digits(query_ids[rows[part]], 7),
                        constant(" 0 ", count),
                        digits(documents[part], 7),
                        constant(" ", count),
                        digits(grades[part], 1),
                        constant("\n", count),
                    ]
                )
            )


def sparse_judgments(rng: np.random.Generator, queries: int, depth: int) -> tuple[Numbers, Numbers, Numbers]:
    """Query row, rank (from 0) and grade of each judgment, MS MARCO like: 1.1 relevant a query, few others.

    A rank of `depth` or more stands for a judged document that was not returned.
    """
    every = np.arange(queries)
    second = every[rng.random(queries) < 0.1]
    graded = every[rng.random(queries) < 0.3]
    zeros = np.concatenate([every, second])
    rows = np.concatenate([every, second, graded, zeros])
    # Most relevant documents stand near the top, one in seven was not returned at all.
    ranks = np.floor(np.exp(rng.random(len(rows)) * np.log(depth))).astype(np.int64) - 1
    ranks[rng.random(len(rows)) < 1 / 7] = depth
    ranks[ranks == depth] += np.arange(len(rows))[ranks == depth] % depth
    grades = np.concatenate([np.ones(queries + len(second)), np.full(len(graded), 2), np.zeros(len(zeros))]).astype(
        np.int64
    )
    return rows, ranks, grades


def dense_judgments(
    rng: np.random.Generator, queries: int, depth: int, judged: int
) -> tuple[Numbers, Numbers, Numbers]:
    """As `sparse_judgments`, for a pooled collection: `judged` judgments a query, half of them returned."""
    rows = np.repeat(np.arange(queries), judged)
    ranks = np.concatenate([rng.permutation(2 * depth)[:judged] for _ in range(queries)])
    grades = rng.choice(np.array([0, 1, 2, 3]), size=len(rows), p=[0.8, 0.12, 0.05, 0.03])
    return rows, ranks.astype(np.int64), grades.astype(np.int64)


def make(out: Path, *, queries: int, depth: int, judged: int | None, shuffled: bool, seed: int) -> None:
    """Write `qrels.txt`, `run.txt` and perhaps `run.shuffled.txt`; the same seed gives the same bytes."""
    rng = np.random.default_rng(seed)
    query_ids = rng.choice(1_200_000, size=queries, replace=False).astype(np.int64) + 1
    first = rng.integers(0, COLLECTION, size=queries)
    stride = rng.integers(1, COLLECTION, size=queries)

    def document(rows: Numbers, ranks: Numbers) -> Numbers:
        return FIRST_DOCUMENT + (first[rows] + stride[rows] * ranks) % COLLECTION

    documents = document(np.arange(queries)[:, None], np.arange(depth)[None, :])
    drops = rng.integers(1, 20_000, size=(queries, depth))
    scores = 20_000 * (depth + 1) + np.cumsum(drops[:, ::-1], axis=1)[:, ::-1]

    if judged is None:
        rows, ranks, grades = sparse_judgments(rng, queries, depth)
    else:
        rows, ranks, grades = dense_judgments(rng, queries, depth, judged)
    pairs = np.unique(rows * (4 * depth) + ranks, return_index=True)[1]
    rows, ranks, grades = rows[pairs], ranks[pairs], grades[pairs]

    out.mkdir(parents=True, exist_ok=True)
    write_qrels(out / "qrels.txt", query_ids, rows, document(rows, ranks), grades)
    write_run(out / "run.txt", query_ids, documents, scores, None)
    if shuffled:
        order = rng.permutation(documents.size)
        write_run(out / "run.shuffled.txt", query_ids, documents, scores, order)


def main() -> None:
    """Read the options and make the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="folder to write into")
    parser.add_argument("--queries", type=int, default=6980)
    parser.add_argument("--documents", type=int, default=1000, help="documents a query in the run")
    parser.add_argument("--judged", type=int, help="judgments a query (default: MS MARCO like, about 2.5)")
    parser.add_argument("--shuffled", action="store_true", help="also write the run with its lines shuffled")
    parser.add_argument("--seed", type=int, default=20261130)
    options = parser.parse_args()
    make(
        options.out,
        queries=options.queries,
        depth=options.documents,
        judged=options.judged,
        shuffled=options.shuffled,
        seed=options.seed,
    )


if __name__ == "__main__":
    main()
