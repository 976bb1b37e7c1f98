"""Readers of judgments and runs: one module a format, chosen by content and name in ``bridges.sources.choose``."""
