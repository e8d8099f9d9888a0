"""Fisher's exact test, conservative: shown beside a verdict, and a bound for very many tables."""

from runner.evidence.hypergeometric import tables_of_margins

_TIE_TOLERANCE = 1e-7
"""Equal probabilities differ by rounding; what R's fisher.test allows for."""


def fisher_less(x1: int, n1: int, x2: int, n2: int) -> float:
    """One-sided p-value for a lower rate in the first arm."""
    return tables_of_margins(n1, n2, x1 + x2).at_most(x1)


def fisher_two_sided(x1: int, n1: int, x2: int, n2: int) -> float:
    """Sum of the probabilities of all tables no more likely than this one."""
    return tables_of_margins(n1, n2, x1 + x2).no_likelier_than(x1, tolerance=_TIE_TOLERANCE)
