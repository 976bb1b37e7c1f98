"""A tool that is only watched: what its measures are called, and its own call on raw input, as its documentation shows.

Nothing here scores for anybody: ``evaluate`` never comes this way. What a tool gives is held against the profile that
claims to say what it does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from metricpact.contracts.measures import Measure
from metricpact.contracts.tables import Judgments, Run

Values = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Native:
    """What a tool gave, by its own names for measures.

    ``values`` is measure → query → value, for the queries that the tool gives one for (a tool that gives means only
    has none); ``means`` is the tool's own mean of each measure.
    """

    values: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    means: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Tool:
    """A tool: the distribution that has it, the profile that says what it does, its measures and its own call.

    ``names`` maps a form of a measure (see ``own_name``) to the tool's own name. ``call`` is given judgments, run and
    own names, and raises whatever the tool raises. ``rounding`` is how far what the tool gives can lie from what it
    computes (5e-6 where it rounds to five decimals); ``lacks`` says what else is missing on this machine, or "".
    """

    name: str
    package: str
    profile: str
    names: Mapping[str, str]
    call: Callable[[Judgments, Run, Sequence[str]], Native]
    rounding: float = 0.0
    lacks: Callable[[], str] = lambda: ""

    def own_name(self, measure: Measure) -> str | None:
        """The tool's own name for a measure, or None where it has no such measure."""
        return own_name(self.names, measure)


def own_name(names: Mapping[str, str], measure: Measure) -> str | None:
    """A library's name for a measure from its table of forms, or None where that has no such form.

    A form is the family, the parameters given in brackets, and ``@`` for a cutoff: ``RR``, ``P@``, ``P(rel)@``,
    ``nDCG(gains)@`` for a gain table; a gain by its name stands for itself: ``nDCG(exponential)@``. In the name,
    ``{k}``, ``{rel}``, ``{beta2}`` (β²) and ``{measure}`` are filled in.
    """
    given = [] if measure.rel is None else ["rel"]
    if measure.gain is not None:
        given.append(measure.gain if isinstance(measure.gain, str) else "gains")
    beta = measure.beta or 1.0
    if beta != 1.0:
        given.append("beta")
    inner = f"({','.join(given)})" if given else ""
    template = names.get(measure.family + inner + ("@" if measure.cutoff is not None else ""))
    return template and template.format(k=measure.cutoff, rel=measure.rel, beta2=beta * beta, measure=measure)
