"""BEIR: qrels of three columns between tabs under BEIR's header. There is no format for runs."""

from __future__ import annotations

from typing import IO

from metricpact.bridges.sinks.rows import frame_of, refuse_empty, refuse_fractions
from metricpact.bridges.sinks.tables import refuse_untabbed, write_tabbed
from metricpact.contracts.tables import Judgments

NAME = "beir"


def write_qrels(judgments: Judgments, file: IO[bytes]) -> None:
    """Write judgments; raises ``InputError`` for ids that cannot stand there, fractions, queries without rows."""
    refuse_empty(judgments, NAME)
    refuse_untabbed(judgments, NAME)
    refuse_fractions(judgments, NAME)
    frame = frame_of(judgments).rename({"query_id": "query-id", "doc_id": "corpus-id", "grade": "score"})
    write_tabbed(frame, file)
