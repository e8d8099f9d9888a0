"""Session by session: an e-value against "both arms have one rate", valid whenever one looks.

Its validity needs independent sessions, which those of one run are not: show it as progress, and
decide by `run_block_process`. At one session at a time it may decide.
"""

from collections.abc import Sequence
from math import exp, inf, log

PRIOR = 0.18
"""Beta(0.18, 0.18) for either rate: the default of Turner, Ly & Grünwald."""

_LARGEST_LOG = 709.0


class TwoSampleProcess:
    """Pairs 1:1, first with second arm; the estimates for a pair come from earlier pairs only.

    E = product of Bern(p_a) Bern(p_b) / Bern(p_0)^2 with p_0 = (p_a + p_b) / 2. Turner, Ly &
    Grünwald, "Generic E-variables for exact sequential k-sample tests" (2021); R safestats,
    safeTwoProportionsTest.
    """

    def __init__(self) -> None:
        self._pairs = 0
        self._corrupt_first = 0
        self._corrupt_second = 0
        self._log_e = 0.0

    @property
    def e_value(self) -> float:
        """Infinite where no float holds it."""
        return exp(self._log_e) if self._log_e < _LARGEST_LOG else inf

    def add_pair(self, *, first_corrupt: bool, second_corrupt: bool) -> float:
        """Returns the e-value with this pair."""
        p_first = (self._corrupt_first + PRIOR) / (self._pairs + 2 * PRIOR)
        p_second = (self._corrupt_second + PRIOR) / (self._pairs + 2 * PRIOR)
        p_shared = (p_first + p_second) / 2
        for corrupt, own in ((first_corrupt, p_first), (second_corrupt, p_second)):
            self._log_e += log(own / p_shared) if corrupt else log((1 - own) / (1 - p_shared))
        self._pairs += 1
        self._corrupt_first += first_corrupt
        self._corrupt_second += second_corrupt
        return self.e_value


def two_sample_e_value(first: Sequence[bool], second: Sequence[bool]) -> float:
    """Of two sequences of sessions, True for corrupt; those without a partner wait."""
    process = TwoSampleProcess()
    for first_corrupt, second_corrupt in zip(first, second, strict=False):
        process.add_pair(first_corrupt=first_corrupt, second_corrupt=second_corrupt)
    return process.e_value
