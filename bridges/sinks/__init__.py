"""Writers of judgments and runs, one module a format."""
