"""How long the search for a published number takes: 50 queries × 1,000 documents, from tables in memory to findings.

The hard input has what gives every field something to matter for: ties, negative grades, a missing and an extra query.
"""

from __future__ import annotations

import random
import time

from metricpact.contracts.tables import Judgments, Run
from metricpact.crosscheck.audit.infer import infer

QUERIES, DEPTH, COLLECTION, JUDGED, SEED = 50, 1_000, 2_000, 200, 1
ASKED = {
    "one measure": {"nDCG@10": "0.1234"},
    "five measures": {"nDCG@10": "0.1234", "AP": "0.2", "P@5": "0.3", "Bpref": "0.1", "R@100": "0.2"},
}


def make(*, hard: bool) -> tuple[Judgments, Run]:
    """Judgments and a run drawn from a seed."""
    chance = random.Random(SEED)
    documents = [f"d{number}" for number in range(COLLECTION)]
    grades = (-1, 0, 0, 0, 1, 1, 2, 3) if hard else (0, 0, 0, 1, 1, 2, 3)
    queries = [f"q{number}" for number in range(QUERIES)]
    judged = [(query, doc, chance.choice(grades)) for query in queries for doc in chance.sample(documents, JUDGED)]
    returned = [*queries[1:], "extra"] if hard else queries
    run = [
        (query, doc, float((DEPTH - rank) // 2 if hard else DEPTH - rank))
        for query in returned
        for rank, doc in enumerate(chance.sample(documents, DEPTH))
    ]
    judgments = Judgments.from_columns(*map(list, zip(*judged, strict=True)))
    return judgments, Run.from_columns(*map(list, zip(*run, strict=True)))


def main() -> None:
    """Print a line for each input and question."""
    for name in ("clean", "hard"):
        judgments, run = make(hard=name == "hard")
        for asked, published in ASKED.items():
            begin, cpu = time.perf_counter(), time.process_time()
            found = infer(judgments, run, published)
            wall, cpu = time.perf_counter() - begin, time.process_time() - cpu
            print(f"{name}, {asked}: {found.tried} contracts in {wall:.1f} s ({cpu:.1f} s of CPU)")


if __name__ == "__main__":
    main()
