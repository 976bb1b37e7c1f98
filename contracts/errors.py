"""All exceptions of metricpact, for every layer.

::

    MetricpactError                 anything a user can run into: a fact and a hint
    ├── InputError                  the data: file, line, query or document at fault
    ├── ContractError               an unknown profile, field or value; two settings that cannot go together
    ├── MeasureError                a measure's name, parameter or cutoff
    ├── UnsupportedError            a backend cannot give the measure under the contract exactly
    ├── LimitError                  the data is beyond what a backend can take
    ├── DependencyError             a package that is not installed
    └── UndefinedError              an undefined value was used as a number

    InputWarning                    a warning of Python's: how an input was taken that is odd, and can be read

Each carries a ``fact`` (what is the case) and a ``hint`` (what to do about it); ``str(error)`` is both.
"""

from __future__ import annotations


class MetricpactError(Exception):
    """Root of all errors; ``fact`` says what is the case, ``hint`` what can be done."""

    def __init__(self, fact: str, hint: str = "") -> None:
        self.fact = fact
        self.hint = hint
        super().__init__(fact if not hint else f"{fact}\n\nhint: {hint}")


class InputError(MetricpactError):
    """Data that cannot be read or that the contract rejects.

    ``source`` is the file or a word for the Python object, ``line`` is one-based and None where there are
    no lines; ``query`` and ``document`` are ids, where known. ``code`` names the kind of finding that it is, where a
    reader has one; ``bare`` is the fact without the place.
    """

    def __init__(
        self,
        fact: str,
        hint: str = "",
        *,
        source: str | None = None,
        line: int | None = None,
        query: str | None = None,
        document: str | None = None,
        code: str = "",
    ) -> None:
        self.bare = fact
        self.code = code
        self.source = source
        self.line = line
        self.query = query
        self.document = document
        place = ":".join(str(part) for part in (source, line) if part is not None)
        super().__init__(f"{place}: {fact}" if place else fact, hint)


class InputWarning(UserWarning):
    """Something odd about an input that was read as it stands."""


class ContractError(MetricpactError):
    """An unknown profile, convention or value, or a contract file that cannot be read."""


class MeasureError(MetricpactError):
    """A measure that is unknown, ambiguous, or has a wrong cutoff or parameter."""


class UnsupportedError(MetricpactError):
    """A backend cannot give this measure under this contract exactly; ``reason`` says why."""

    def __init__(self, fact: str, hint: str = "", *, backend: str = "", reason: str = "") -> None:
        self.backend = backend
        self.reason = reason
        super().__init__(fact, hint)


class LimitError(MetricpactError):
    """The data passes a declared limit of the backend (it would crash, or take gigabytes)."""


class DependencyError(MetricpactError):
    """A package that the request needs is not installed."""


class UndefinedError(MetricpactError):
    """An undefined mean was used as a number."""
