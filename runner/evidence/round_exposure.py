"""Corruption per round at risk: a rate that early ends do not bend, as long as silence is blind.

A session that ended silent still gave the rounds before it, so that its exposure counts. Where
silence *is* the corruption (a hang), only the bounds of `silent_sessions` are safe. Rounds are
taken as independent; secondary to every verdict.
"""

from math import inf, sqrt
from typing import NamedTuple

from scipy.special import bdtr, gammainccinv, gammaincinv, ndtri

from runner.evidence.rates import CONFIDENCE, Interval


class RoundExposure(NamedTuple):
    """Corrupt sessions and the rounds their arm completed, silent sessions' rounds included."""

    corrupt: int
    rounds: int

    @property
    def per_thousand(self) -> float:
        """Corrupt sessions per 1,000 rounds at risk."""
        return 1000 * self.corrupt / self.rounds


def exposure_limits(exposure: RoundExposure, *, confidence: float = CONFIDENCE) -> Interval:
    """Exact limits of the rate per round (Garwood, Biometrika 28, 1936)."""
    tail = (1 - confidence) / 2
    k, rounds = exposure
    low = 0.0 if k == 0 else float(gammaincinv(k, tail))
    return Interval(low / rounds, float(gammainccinv(k + 1, tail)) / rounds)


def exposure_less(first: RoundExposure, second: RoundExposure) -> float:
    """One-sided exact conditional p-value for a lower rate per round in the first arm.

    Given the total, the first arm's count is binomial with its share of the rounds
    (Przyborowski & Wilenski, Biometrika 31, 1940).
    """
    share = first.rounds / (first.rounds + second.rounds)
    return float(bdtr(first.corrupt, first.corrupt + second.corrupt, share))


def exposure_ratio_limits(
    first: RoundExposure, second: RoundExposure, *, confidence: float = CONFIDENCE
) -> Interval:
    """Score interval for the ratio of the rates per round, first over second.

    Solves (k1 - c k2)^2 = z^2 (k1 + k2) c for c = ratio * rounds1 / rounds2
    (Gu, Ng, Tang & Schucany, Biometrical Journal 50, 2008).
    """
    k1, k2 = first.corrupt, second.corrupt
    z2 = float(ndtri((1 - confidence) / 2)) ** 2
    scale = second.rounds / first.rounds
    if k1 + k2 == 0:
        return Interval(0.0, inf)
    middle = k1 * k2 + z2 * (k1 + k2) / 2
    spread = sqrt(max(0.0, middle**2 - (k1 * k2) ** 2))
    if k2 == 0:
        return Interval(k1**2 / (z2 * k1) * scale, inf)
    low = 0.0 if k1 == 0 else (middle - spread) / k2**2
    return Interval(low * scale, (middle + spread) / k2**2 * scale)


def session_rate_of(exposure: RoundExposure, *, rounds_a_session: float) -> float:
    """The rate per session that a constant hazard per round would give."""
    return float(1.0 - (1.0 - exposure.corrupt / exposure.rounds) ** rounds_a_session)
