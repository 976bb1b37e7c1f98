"""``metricpact demo``: the main job on the bundled example."""

from __future__ import annotations

import click

MEASURES = ("P@3", "R@3", "RR@3", "AP@3", "nDCG@3")


@click.command("demo")
def command() -> int:
    """Score the bundled example, and show where trec_eval's own defaults differ and why."""
    from metricpact.commands import demo_text
    from metricpact.render.registry import say

    text, agreed = demo_text.demo(MEASURES)
    say(text)
    return 0 if agreed else 1
