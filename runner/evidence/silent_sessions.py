"""What sessions without evidence allow one to say: bounds, and limits that survive the worst case.

Corrupt sessions end first and clean ones last, so that neither k/N nor k/m is unbiased once
something cut the run short. Nothing here guesses why a session was silent.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from runner.evidence.clustered_limits import clustered_upper_limit
from runner.evidence.proportion_limits import clopper_pearson
from runner.evidence.rates import CONFIDENCE, Interval, Rate, RateBounds


class SilentPolicy(StrEnum):
    """How silent sessions entered the upper limit of the rate."""

    NONE_NEEDED = "none_needed"
    JUMP_TO_BASELINE = "jump_to_baseline"
    WORST_CASE = "worst_case"


@dataclass(frozen=True, slots=True)
class LaunchCounts:
    """What the sessions of one launch came to; harness errors are in none of the numbers."""

    clean: int
    corrupt: int
    silent: int

    @property
    def evidence(self) -> int:
        return self.clean + self.corrupt

    @property
    def sessions(self) -> int:
        return self.clean + self.corrupt + self.silent


@dataclass(frozen=True, slots=True)
class UpperLimits:
    """One-sided 95 % limits of the corrupt rate, by what the silent sessions are taken for."""

    evidence_only: float
    worst_case: float
    used: float
    policy: SilentPolicy


def rate_bounds(launches: Sequence[LaunchCounts]) -> RateBounds:
    """The rate if every silent session had been clean, and if every one had been corrupt.

    These are Manski's bounds (American Economic Review 80, 1990).
    """
    corrupt, silent, sessions = _sums(launches)
    return RateBounds(Rate(corrupt, sessions), Rate(corrupt + silent, sessions))


def exact_bounds(bounds: RateBounds, confidence: float = CONFIDENCE) -> Interval:
    """Clopper-Pearson around both: low end of the lower rate, high end of the higher."""
    low = clopper_pearson(bounds.low, confidence).low
    return Interval(low, clopper_pearson(bounds.high, confidence).high)


def upper_limits(
    launches: Sequence[LaunchCounts],
    *,
    rho: float,
    benign: bool,
    baseline_rate: float,
    confidence: float = CONFIDENCE,
) -> UpperLimits:
    """`benign`: silence is rare, no rarer in the baseline, and nothing wedged.

    Then a silent session counts as one of the unchanged system would (jump to reference:
    Carpenter, Roger & Kenward, J. Biopharmaceutical Statistics 23, 2013), else as corrupt.
    """
    corrupt, silent, sessions = _sums(launches)
    evidence = sessions - silent
    worst = clustered_upper_limit(
        corrupt + silent, [x.sessions for x in launches], rho=rho, confidence=confidence
    )
    if evidence == 0:
        return UpperLimits(1.0, worst, worst, SilentPolicy.WORST_CASE)
    only = clustered_upper_limit(
        corrupt, [x.evidence for x in launches], rho=rho, confidence=confidence
    )
    if silent == 0:
        return UpperLimits(only, worst, only, SilentPolicy.NONE_NEEDED)
    if benign:
        jumped = (evidence * only + silent * baseline_rate) / sessions
        return UpperLimits(only, worst, jumped, SilentPolicy.JUMP_TO_BASELINE)
    return UpperLimits(only, worst, worst, SilentPolicy.WORST_CASE)


def silent_sessions_borne(
    run_sizes: Sequence[int],
    *,
    p_max: float,
    rho: float,
    baseline_rate: float | None = None,
    tolerated: float = 0.05,
) -> int | None:
    """How many sessions of otherwise clean runs may be silent with the limit still at `p_max`.

    With a `baseline_rate` the silence is taken as benign, up to the `tolerated` share; without one
    as corruption. The silent ones are spread over the runs as evenly as they go. None where even
    runs without silence do not reach the limit.
    """
    total = sum(run_sizes)

    def is_too_many(silent: int) -> bool:
        if baseline_rate is None:
            return clustered_upper_limit(silent, run_sizes, rho=rho) > p_max
        evidence = clustered_upper_limit(0, _without(run_sizes, silent), rho=rho)
        return ((total - silent) * evidence + silent * baseline_rate) / total > p_max

    if baseline_rate is None:
        too_many = bisect_left(range(total), True, key=is_too_many)  # the limit rises with them
    else:
        all_tolerated = range(int(tolerated * total + 1e-9) + 1)
        too_many = next(filter(is_too_many, all_tolerated), len(all_tolerated))
    return too_many - 1 if too_many else None


def _without(run_sizes: Sequence[int], silent: int) -> list[int]:
    share, rest = divmod(silent, len(run_sizes))
    return [max(0, size - share - (i < rest)) for i, size in enumerate(run_sizes)]


def _sums(launches: Sequence[LaunchCounts]) -> tuple[int, int, int]:
    corrupt, silent = sum(x.corrupt for x in launches), sum(x.silent for x in launches)
    return corrupt, silent, sum(x.sessions for x in launches)
