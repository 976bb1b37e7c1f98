"""What each query divides by, for the measures that are one count over another: they can be pooled over queries.

Pooling (micro) adds up numerators and denominators before it divides once, so that a query with many relevant
documents weighs more; the mean over queries (macro) gives every query the same weight. The same denominators tell
which measures are 0 or 1 by definition: those that never divide by more than one.
"""

from __future__ import annotations

import numpy as np
from metricpact.contracts.contract import Contract
from metricpact.contracts.measures import Measure
from metricpact.contracts.prefixes import Prefixes
from metricpact.contracts.tables import Floats


def denominators(prefixes: Prefixes, measure: Measure, contract: Contract) -> Floats | None:
    """The denominator of a measure for every judged query, 0 where it has no value; None where it is no such count.

    P, R, SetP, SetR, Rprec and Judged count documents over documents; Success, and RR at cutoff 1, are one yes or
    no a query. Under ``ties=average`` values are expectations of counts, and nothing is given.
    """
    if contract.ties == "average":
        return None
    relevant, returned, cutoff = prefixes.relevant(contract.threshold), prefixes.hits.returned, measure.cutoff
    match measure.family:
        case "P" if contract.precision_denominator == "cutoff":
            whole = np.full(prefixes.size, cutoff)
        case "P" | "SetP":
            whole = returned if cutoff is None else np.minimum(cutoff, returned)
        case "R" if contract.recall_denominator == "capped" and cutoff is not None:
            whole = np.minimum(cutoff, relevant)
        case "R" | "SetR" | "Rprec":
            whole = relevant
        case "Judged":
            listed = prefixes.listed.returned
            whole = listed if cutoff is None else np.minimum(cutoff, listed)
        case "Success":
            whole = np.minimum(relevant, 1)
        case "RR" if cutoff == 1:
            whole = np.minimum(relevant, 1)
        case _:
            return None
    return np.asarray(whole, np.float64)
