"""Every number of a two-arm verdict, from counts by launch; decides nothing but what a test needs.

The direction of each claim is tested in the worst case against it: silent sessions count as
corrupt where corruption is claimed rarer, and as clean where it is claimed more frequent.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from runner.evidence.decision_rule import DecisionRule
from runner.evidence.lower_rate import LowerRateMethod, counted, lower_rate, method_for
from runner.evidence.proportion_limits import clopper_pearson
from runner.evidence.rates import Interval, Rate, RateBounds
from runner.evidence.run_rate_test import Cluster
from runner.evidence.session_correlation import assumed_rho, icc_anova, tipping_rho
from runner.evidence.silent_sessions import (
    LaunchCounts,
    UpperLimits,
    exact_bounds,
    rate_bounds,
    upper_limits,
)


@dataclass(frozen=True, slots=True)
class ArmTotals:
    """Sums over the launches of an arm that has sessions."""

    launches: tuple[LaunchCounts, ...]

    @property
    def corrupt(self) -> int:
        return sum(x.corrupt for x in self.launches)

    @property
    def silent(self) -> int:
        return sum(x.silent for x in self.launches)

    @property
    def clean(self) -> int:
        return sum(x.clean for x in self.launches)

    @property
    def evidence(self) -> int:
        return self.corrupt + self.clean

    @property
    def sessions(self) -> int:
        return self.evidence + self.silent

    @property
    def silent_share(self) -> float:
        return self.silent / self.sessions

    @property
    def bounds(self) -> RateBounds:
        return rate_bounds(self.launches)

    @property
    def bounds_limits(self) -> Interval:
        return exact_bounds(self.bounds)

    @property
    def rate_of_evidence(self) -> Rate | None:
        return Rate(self.corrupt, self.evidence) if self.evidence else None

    @property
    def limits_of_evidence(self) -> Interval | None:
        """Two-sided Clopper-Pearson."""
        rate = self.rate_of_evidence
        return None if rate is None else clopper_pearson(rate)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmComparison:
    """One-sided p-values. `..._evidence_only` leave silent sessions out and decide nothing.

    `tipping` is the correlation inside runs up to which the direction would hold, None where runs
    repeat (then it is measured) or where it holds for none. `surplus`: clean sessions that were
    left out (`clean_surplus`).
    """

    after: ArmTotals
    before: ArmTotals
    icc: float | None
    rho: float
    method: LowerRateMethod
    limits: UpperLimits
    p_lower: float
    p_lower_evidence_only: float
    p_higher: float
    p_higher_evidence_only: float
    p_silent_up: float
    p_clean_down: float
    tipping: float | None
    silence_rose: bool
    surplus: int = 0


def compare_arms(
    after: Sequence[LaunchCounts],
    before: Sequence[LaunchCounts],
    *,
    rule: DecisionRule,
    wedges: int | None,
) -> ArmComparison:
    """`wedges` of the after arm, None for not counted. Raises ValueError where an arm is empty."""
    first, second = _totals(after), _totals(before)
    evidence = [_evidence(first), _evidence(second)]
    icc = icc_anova(evidence)
    method = method_for(len(first.launches), len(second.launches))
    repeated = method is not LowerRateMethod.CORRELATED_SESSIONS
    rho = assumed_rho(icc, repeated=repeated, floor=rule.rho_floor, single=rule.rho_single)
    p_silent_up = lower_rate(_silent(second), _silent(first), rho=rho).p
    silence_rose = p_silent_up <= rule.alpha
    is_benign = first.silent_share <= rule.silent_tolerated and wedges == 0 and not silence_rose
    before_rate = second.rate_of_evidence
    return ArmComparison(
        after=first,
        before=second,
        icc=icc,
        rho=rho,
        method=method,
        limits=upper_limits(
            first.launches,
            rho=rho,
            benign=is_benign,
            baseline_rate=1.0 if before_rate is None else before_rate.value,
            confidence=rule.confidence,
        ),
        p_lower=lower_rate(worst_clusters(first), best_clusters(second), rho=rho).p,
        p_lower_evidence_only=lower_rate(*evidence, rho=rho).p,
        p_higher=lower_rate(worst_clusters(second), best_clusters(first), rho=rho).p,
        p_higher_evidence_only=lower_rate(*reversed(evidence), rho=rho).p,
        p_silent_up=p_silent_up,
        p_clean_down=lower_rate(_clean(first), _clean(second), rho=rho).p,
        tipping=None if repeated else _tipping(first, second, alpha=rule.alpha_of_direction),
        silence_rose=silence_rose,
    )


def worst_case_pairs(first: ArmTotals, second: ArmTotals) -> tuple[tuple[Cluster, Cluster], ...]:
    """Runs of the two arms side by side, each counted against "the first is lower"."""
    return tuple(zip(worst_clusters(first), best_clusters(second), strict=False))


def worst_clusters(arm: ArmTotals) -> tuple[Cluster, ...]:
    """Every silent session counted as corrupt."""
    return tuple(Cluster(x.corrupt + x.silent, x.sessions) for x in arm.launches)


def best_clusters(arm: ArmTotals) -> tuple[Cluster, ...]:
    """Every silent session counted as clean."""
    return tuple(Cluster(x.corrupt, x.sessions) for x in arm.launches)


def _tipping(first: ArmTotals, second: ArmTotals, *, alpha: float) -> float | None:
    lower = tipping_rho(counted(worst_clusters(first)), counted(best_clusters(second)), alpha=alpha)
    if lower is not None:
        return lower
    return tipping_rho(counted(worst_clusters(second)), counted(best_clusters(first)), alpha=alpha)


def _totals(launches: Sequence[LaunchCounts]) -> ArmTotals:
    totals = ArmTotals(tuple(x for x in launches if x.sessions))
    if not totals.launches:
        raise ValueError("an arm without sessions cannot be compared")
    return totals


def _evidence(arm: ArmTotals) -> tuple[Cluster, ...]:
    return tuple(Cluster(x.corrupt, x.evidence) for x in arm.launches)


def _silent(arm: ArmTotals) -> tuple[Cluster, ...]:
    return tuple(Cluster(x.silent, x.sessions) for x in arm.launches)


def _clean(arm: ArmTotals) -> tuple[Cluster, ...]:
    return tuple(Cluster(x.clean, x.sessions) for x in arm.launches)
