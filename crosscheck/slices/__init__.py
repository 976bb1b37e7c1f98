"""Scores by slice, and no-answer questions apart."""
