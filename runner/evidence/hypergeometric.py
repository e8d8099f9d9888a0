"""Two by two tables with given margins; each is named by the first arm's count.

From logarithms of gamma functions: the general library of laws takes a second to import.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln


class Tables(NamedTuple):
    """All first counts that the margins allow, from `lowest` on, and how likely each is.

    The weights are probabilities but for a common factor.
    """

    lowest: int
    weights: npt.NDArray[np.float64]

    @property
    def probabilities(self) -> npt.NDArray[np.float64]:
        result: npt.NDArray[np.float64] = self.weights / self.weights.sum()
        return result

    def at_most(self, count: int) -> float:
        """Probability of a first count of `count` or fewer, which lies within the margins."""
        return self._share(self.weights[: count - self.lowest + 1])

    def no_likelier_than(self, count: int, *, tolerance: float) -> float:
        """Of all tables whose probability is not above this one's by more than `tolerance`."""
        bar = self.weights[count - self.lowest] * (1 + tolerance)
        return self._share(self.weights[self.weights <= bar])

    def _share(self, chosen: npt.NDArray[np.float64]) -> float:
        return float(chosen.sum() / self.weights.sum())


def tables_of_margins(n_first: int, n_second: int, total: int) -> Tables:
    """Of arms of these sizes that share a rate, given `total` corrupt sessions."""
    lowest = max(0, total - n_second)
    x = np.arange(lowest, min(n_first, total) + 1)
    log_weights = _log_choose(n_first, x) + _log_choose(n_second, total - x)
    return Tables(lowest, np.exp(log_weights - log_weights.max()))


def _log_choose(n: int, k: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    result: npt.NDArray[np.float64] = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return result
