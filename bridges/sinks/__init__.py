"""Writers of judgments and runs: one module a format, chosen in ``bridges.sinks.choose``. Lossless, or refused."""
