"""Versions of a system held against each other, paired by query."""
