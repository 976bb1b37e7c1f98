"""Evidence reports: coverage, decisions, absence."""
