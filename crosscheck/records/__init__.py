"""Scores kept per version."""
