"""A rate with its denominator, and the interval around it; knows nothing of sessions."""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

CONFIDENCE = 0.95


class Interval(NamedTuple):
    """Both ends are rates from 0 to 1, and belong to it."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Rate:
    """`count` of `of`. There is no rate of nothing: raises ValueError for `of` below 1."""

    count: int
    of: int

    def __post_init__(self) -> None:
        if not 0 <= self.count <= self.of or self.of < 1:
            raise ValueError(f"{self.count} of {self.of} is no rate")

    @property
    def value(self) -> float:
        return self.count / self.of

    def wilson(self, confidence: float = CONFIDENCE) -> Interval:
        """The two-sided score interval of Wilson (1927), J. Am. Stat. Assoc. 22, 209-212.

        With z the normal quantile, p = k/n:
        (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n).
        For display; sessions of one run are not independent, so it is too narrow to decide on.
        """
        z = NormalDist().inv_cdf((1 + confidence) / 2)
        shrink = 1 + z * z / self.of
        centre = self.value + z * z / (2 * self.of)
        spread = self.value * (1 - self.value) / self.of + z * z / (4 * self.of * self.of)
        low = (centre - z * sqrt(spread)) / shrink
        high = (centre + z * sqrt(spread)) / shrink
        # At 0 and at n the ends are exact; the formula leaves rounding dust there.
        return Interval(0.0 if self.count == 0 else low, 1.0 if self.count == self.of else high)


class RateBounds(NamedTuple):
    """Where a rate lies whatever the sessions were of which nothing is known."""

    low: Rate
    high: Rate

    def wilson(self, confidence: float = CONFIDENCE) -> Interval:
        """From the low end of the lower rate to the high end of the higher."""
        return Interval(self.low.wilson(confidence).low, self.high.wilson(confidence).high)
