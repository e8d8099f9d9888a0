"""Fisher's exact test, for display only: it is conservative, and no verdict reads it."""

from scipy.stats import fisher_exact


def fisher_less(x1: int, n1: int, x2: int, n2: int) -> float:
    """One-sided p-value for a lower rate in the first arm."""
    return float(fisher_exact([[x1, n1 - x1], [x2, n2 - x2]], alternative="less").pvalue)


def fisher_two_sided(x1: int, n1: int, x2: int, n2: int) -> float:
    """Sum of the probabilities of all tables no more likely than this one."""
    return float(fisher_exact([[x1, n1 - x1], [x2, n2 - x2]]).pvalue)
