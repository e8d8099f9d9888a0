"""What the runs of one arm say of it: it flips, it is clean, or which way it leans. Pure.

Two strengths. A lean decides what to try next; being wrong there costs runs and nothing else. What
is reported rests on decided standings only. Evidence is read after every whole run, which costs
nothing: both sides are e-values.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from math import exp, inf, log

import numpy as np

from runner.evidence.beta_binomial import beta_binomial_pmf
from runner.evidence.elimination_process import elimination_e_value
from runner.evidence.run_block_process import run_block_e_value
from runner.evidence.silent_sessions import LaunchCounts
from runner.evidence.stopping import run_pairs

_LARGEST_LOG = 700.0


class Standing(StrEnum):
    """`undecided`: as many runs as are allowed have not decided. `barred`: it cannot be run."""

    FLIPS = "flips"
    LEANS_TO_FLIP = "leans_to_flip"
    OPEN = "open"
    LEANS_TO_CLEAN = "leans_to_clean"
    CLEAN = "clean"
    UNDECIDED = "undecided"
    BARRED = "barred"

    @property
    def seems_to_flip(self) -> bool:
        return self in (Standing.FLIPS, Standing.LEANS_TO_FLIP)

    @property
    def seems_clean(self) -> bool:
        return self in (Standing.CLEAN, Standing.LEANS_TO_CLEAN)

    @property
    def is_final(self) -> bool:
        """Whether another run could not change it, or is not allowed."""
        return self in (Standing.FLIPS, Standing.CLEAN, Standing.UNDECIDED, Standing.BARRED)


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingRule:
    """When an arm is decided. `alternatives` are rates (clean arm, flipped arm) that e-values are
    aimed at; `p_max` is the rate below which an arm counts as clean.

    `decisions` arms share the risk `alpha`. `silent_at_worst`: silent sessions of the clean arm are
    taken for events where it is compared with; else only those that gave evidence are. `stray_rate`
    is what a clean arm may show by itself; `stray_share` of the evidence for "clean" is laid aside
    for arms that show it.
    """

    p_max: float = 0.05
    alpha: float = 0.05
    decisions: int = 1
    lean: float = 3.0
    rho_max: float = 0.05
    alternatives: tuple[tuple[float, float], ...] = ((0.01, 0.07), (0.01, 0.2), (0.01, 0.5))
    most_runs: int = 12
    silent_at_worst: bool = False
    stray_rate: float = 0.01
    stray_share: float = 0.2

    @property
    def bar(self) -> float:
        return self.decisions / self.alpha


WEDGE_RULE = StandingRule(p_max=0.5, alternatives=((0.02, 0.9),), stray_rate=0.05)
"""For events of whole runs: each run is one trial, and less than every second one may wedge."""


def standing_of(
    tried: Sequence[LaunchCounts], clean_arm: Sequence[LaunchCounts], rule: StandingRule
) -> Standing:
    """Of an arm with these runs, against the runs of the arm that is taken for clean."""
    return _standing(tuple(tried), tuple(clean_arm[: len(tried)]), rule)


@lru_cache(maxsize=4096)
def _standing(
    tried: tuple[LaunchCounts, ...], clean_arm: tuple[LaunchCounts, ...], rule: StandingRule
) -> Standing:
    flips, clean = flip_e_value(tried, clean_arm, rule), clean_e_value(tried, rule)
    if flips >= rule.bar:
        return Standing.FLIPS
    if clean >= rule.bar:
        return Standing.CLEAN
    if len(tried) >= rule.most_runs:
        return Standing.UNDECIDED
    if flips >= rule.lean:
        return Standing.LEANS_TO_FLIP
    if clean >= rule.lean:
        return Standing.LEANS_TO_CLEAN
    return Standing.OPEN


def flip_e_value(
    tried: Sequence[LaunchCounts], clean_arm: Sequence[LaunchCounts], rule: StandingRule
) -> float:
    """Against "the arm has no higher rate than the clean one", run pair by run pair."""
    if not rule.silent_at_worst:
        tried, clean_arm = _without_silence(tried), _without_silence(clean_arm)
    pairs = [pair for pair in run_pairs(clean_arm, tried) if min(pair[1], pair[3])]
    if not pairs:
        return 1.0
    return run_block_e_value(pairs, alternatives=rule.alternatives, rho_max=rule.rho_max)


def clean_e_value(tried: Sequence[LaunchCounts], rule: StandingRule) -> float:
    """Against "the rate is `p_max` or higher", from the sessions that gave evidence.

    A mixture: the elimination process, which a single event ends, and likelihood ratios of
    `stray_rate` over `p_max`, which outlive a stray one. Silent sessions are left out, so whoever
    reports a clean arm has to say how many there were.
    """
    seen = _without_silence(tried)
    spotless = elimination_e_value(seen, p_max=rule.p_max, rho=rule.rho_max)
    stray = exp(min(_LARGEST_LOG, sum(_log_stray_ratio(each, rule) for each in seen)))
    return (1 - rule.stray_share) * spotless + rule.stray_share * stray


def _without_silence(runs: Sequence[LaunchCounts]) -> list[LaunchCounts]:
    return [LaunchCounts(each.clean, each.corrupt, 0) for each in runs]


def _log_stray_ratio(run: LaunchCounts, rule: StandingRule) -> float:
    ratios = stray_ratios(run.evidence, rule.stray_rate, rule.p_max, rule.rho_max)
    return log(ratios[run.corrupt]) if ratios[run.corrupt] > 0 else -inf


@lru_cache(maxsize=256)
def stray_ratios(sessions: int, stray_rate: float, p_max: float, rho: float) -> tuple[float, ...]:
    """Probability of 0, 1, ... events at `stray_rate` over that at `p_max`.

    The ratio falls with the number of events, so that its expectation is at most 1 at every rate
    above `p_max` too.
    """
    laws = beta_binomial_pmf(sessions, np.array([stray_rate, p_max]), rho=rho)
    return tuple(float(x) for x in laws[0] / laws[1])
