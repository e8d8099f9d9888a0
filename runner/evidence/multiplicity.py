"""Several hypotheses in one campaign: p-values adjusted so that the whole stays honest.

Holm for what was registered as confirmatory, Benjamini-Hochberg for screening.
"""

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjusted, to bound the chance of any false claim (Holm, Scand. J. Statistics 6, 1979)."""
    count = len(p_values)
    order = sorted(range(count), key=lambda i: p_values[i])
    adjusted = [0.0] * count
    so_far = 0.0
    for rank, i in enumerate(order):
        so_far = max(so_far, min(1.0, (count - rank) * p_values[i]))
        adjusted[i] = so_far
    return tuple(adjusted)


def benjamini_hochberg(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjusted p-values that bound the expected share of false claims (JRSS B 57, 1995)."""
    count = len(p_values)
    order = sorted(range(count), key=lambda i: p_values[i], reverse=True)
    adjusted = [0.0] * count
    so_far = 1.0
    for rank, i in enumerate(order):
        so_far = min(so_far, p_values[i] * count / (count - rank))
        adjusted[i] = so_far
    return tuple(adjusted)
