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
    own names, and raises whatever the tool raises. ``places`` is the number of decimals to which the tool rounds what
    it gives (None: it does not); ``lacks`` says what else is missing on this machine, or "".
    """

    name: str
    package: str
    profile: str
    names: Mapping[str, str]
    call: Callable[[Judgments, Run, Sequence[str]], Native]
    places: int | None = None
    lacks: Callable[[], str] = lambda: ""

    def own_name(self, measure: Measure) -> str | None:
        """The tool's own name for a measure, or None where it has no such measure."""
        return own_name(self.names, measure)


def own_name(names: Mapping[str, str], measure: Measure) -> str | None:
    """A library's name for a measure from its table of forms, or None where that has no such form.

    A form is the family, the parameters given in brackets, and ``@`` for a cutoff: ``RR``, ``P@``, ``P(rel)@``,
    ``nDCG(gain)@``; a gain by its name stands for itself: ``nDCG(exponential)@``. In the name, ``{k}``, ``{rel}``,
    ``{beta}``, ``{beta2}`` (β²) and ``{measure}`` are filled in.
    """
    beta = measure.beta or 1.0
    given = [name for name in ("rel", "gain") if getattr(measure, name) is not None]
    if beta != 1.0:
        given.append("beta")
    template = names.get(form_of(measure, given))
    if template is None and isinstance(measure.gain, str):
        template = names.get(form_of(measure, [measure.gain]))
    if template is None:
        return None
    return template.format(k=measure.cutoff, rel=measure.rel, beta=beta, beta2=beta * beta, measure=measure)


def form_of(measure: Measure, parameters: Sequence[str] = ()) -> str:
    """How a measure is asked for: ``RR`` for the whole ranking, ``RR@`` with a cutoff, ``P(rel)@`` with a parameter."""
    inner = f"({','.join(parameters)})" if parameters else ""
    return measure.family + inner + ("@" if measure.cutoff is not None else "")
