"""Published numbers computed again: the checker, and the claims that come with metricpact."""
