"""The version of metricpact, in the lowest layer because every signature carries it."""

VERSION = "0.1.0"
