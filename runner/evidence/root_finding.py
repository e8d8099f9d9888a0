"""Where a function crosses zero; the library for it is imported when the first root is sought."""

from collections.abc import Callable


def root_between(
    function: Callable[[float], float], low: float, high: float, *, precision: float = 1e-13
) -> float:
    """Between two points where its signs differ (Brent 1973), to `precision`, also relative.

    Raises ValueError where they do not differ.
    """
    from scipy.optimize import brentq

    return float(brentq(function, low, high, xtol=precision, rtol=precision))
