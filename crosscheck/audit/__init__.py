"""Numbers under two conventions held against each other: which convention made the difference."""
