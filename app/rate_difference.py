"""The difference of two corruption rates with its interval, silent sessions both ways; pure.

The interval is as wide as sessions of one run that resemble each other make it. It is shown beside
the two rates; whether anything follows from it is for verdicts to say.
"""

from collections.abc import Sequence
from typing import NamedTuple

from runner.evidence.clustered_difference import clustered_difference
from runner.evidence.counts import SessionCounts
from runner.evidence.rates import Interval
from runner.evidence.run_rate_test import Cluster
from runner.evidence.session_correlation import assumed_rho, icc_anova
from runner.evidence.wording import signed, signed_interval_text

_POINTS = 100


class RateDifference(NamedTuple):
    """B minus A, of 1: `seen` from the one reading of the silent sessions to the other, and how far
    the difference may lie from that.
    """

    seen: Interval
    interval: Interval

    @property
    def words(self) -> str:
        """One number only where no silent session leaves it open."""
        low, high = (_POINTS * end for end in self.interval)
        ends = list(dict.fromkeys(signed(_POINTS * end) for end in self.seen))
        return f"{' to '.join(ends)} points {signed_interval_text(low, high)}"


def rate_difference(
    a: Sequence[SessionCounts], b: Sequence[SessionCounts]
) -> RateDifference | None:
    """From the counts of each side's runs; None where a side has no session.

    The lower end takes the silent sessions of B as clean and those of A as corrupt, the upper end
    the other way round. Without silent sessions both ends are those of one interval.
    """
    a, b = ([counts for counts in side if counts.all] for side in (a, b))
    if not a or not b:
        return None
    fewest, most = ([_clusters(side, silent) for side in (a, b)] for silent in (False, True))
    repeated = min(len(a), len(b)) > 1
    rho = assumed_rho(icc_anova(fewest), repeated=repeated)
    low = clustered_difference(fewest[1], most[0], rho=rho).low
    high = clustered_difference(most[1], fewest[0], rho=rho).high
    seen = Interval(_rate(fewest[1]) - _rate(most[0]), _rate(most[1]) - _rate(fewest[0]))
    return RateDifference(seen, Interval(low, high))


def _clusters(runs: Sequence[SessionCounts], silent_are_corrupt: bool) -> list[Cluster]:
    return [
        Cluster(counts.corrupt + (counts.silent if silent_are_corrupt else 0), counts.all)
        for counts in runs
    ]


def _rate(clusters: Sequence[Cluster]) -> float:
    return sum(cluster.k for cluster in clusters) / sum(cluster.n for cluster in clusters)
