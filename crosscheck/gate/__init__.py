"""Rules that a change has to pass."""
