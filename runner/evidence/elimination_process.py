"""Evidence that the rate is below a tolerated one, for as long as no session was corrupt.

Looking at any time costs nothing here: the bound is reached exactly when the fixed rule of three
is, and the first corrupt session ends it.
"""

from collections.abc import Sequence
from math import ceil, log

from runner.evidence.beta_binomial import probability_of_none
from runner.evidence.silent_sessions import LaunchCounts

_SMALLEST = 1e-300  # below it no float holds the inverse


def elimination_e_value(launches: Sequence[LaunchCounts], *, p_max: float, rho: float) -> float:
    """Against "the rate is at least p_max": product of 1 / P(no corrupt session of the run).

    0 from the first corrupt session on; a silent one counts as corrupt.
    """
    if any(launch.corrupt or launch.silent for launch in launches):
        return 0.0
    none = probability_of_none([x.clean for x in launches], p_max, rho=rho)
    return 1.0 / max(none, _SMALLEST)


def clean_sessions_needed(p_max: float, *, alpha: float = 0.05) -> int:
    """Independent ones, for a limit of p_max: ceil(ln alpha / ln(1 - p_max))."""
    return ceil(log(alpha) / log(1 - p_max))


def clean_runs_needed(p_max: float, *, sessions: int, rho: float, alpha: float = 0.05) -> int:
    """Runs of so many sessions, all clean: ceil(ln alpha / ln P(none of one run))."""
    none = probability_of_none([sessions], p_max, rho=rho)
    return ceil(log(alpha) / log(none))


def wedge_rate_limit(wedge_free_runs: int, *, alpha: float = 0.05) -> float:
    """Highest rate of wedging runs that so many runs without a wedge leave: 1 - alpha^(1/R)."""
    return float(1.0 - alpha ** (1.0 / wedge_free_runs)) if wedge_free_runs else 1.0
