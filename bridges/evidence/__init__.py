"""Readers of tasks, selections, decisions and absence records."""
