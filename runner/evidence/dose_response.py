"""Does corruption rise with concurrency? From the cells of one arm at several concurrencies.

Shown where the highest level is above the lowest and no level is shown below a lower one; levels
are compared by the verdict's own test, so that correlated sessions are not taken for independent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from runner.evidence.arm_comparison import ArmTotals, best_clusters, worst_clusters
from runner.evidence.clustered_limits import clustered_upper_limit
from runner.evidence.decision_rule import DecisionRule
from runner.evidence.lower_rate import RUNS_TO_COMPARE_RATES, lower_rate
from runner.evidence.number_words import of_text, p_text, share_text
from runner.evidence.session_correlation import assumed_rho, icc_anova
from runner.evidence.silent_sessions import LaunchCounts


@dataclass(frozen=True, slots=True)
class DoseLevel:
    """`smoothed`: the rate under the assumption that rates only rise; `upper`: its 95 % limit,
    silent sessions at their worst."""

    concurrency: int
    totals: ArmTotals
    smoothed: float
    upper: float


@dataclass(frozen=True, slots=True)
class DoseResponse:
    """`p_rise`: lowest against highest level; `p_fall`: the smallest over neighbours."""

    levels: tuple[DoseLevel, ...]
    p_rise: float
    p_fall: float
    rises: bool

    @property
    def lowest_with_corruption(self) -> DoseLevel | None:
        return next((level for level in self.levels if level.totals.corrupt), None)


def dose_response(
    cells: Mapping[int, Sequence[LaunchCounts]], *, rule: DecisionRule | None = None
) -> DoseResponse:
    """By concurrency. Raises ValueError below two levels with sessions."""
    rule = rule or DecisionRule()
    totals = {
        concurrency: ArmTotals(tuple(x for x in launches if x.sessions))
        for concurrency, launches in sorted(cells.items())
        if any(x.sessions for x in launches)
    }
    if len(totals) < 2:
        raise ValueError("a response needs two concurrencies with sessions")
    arms = list(totals.values())
    repeated = min(len(arm.launches) for arm in arms) >= RUNS_TO_COMPARE_RATES
    icc = icc_anova([best_clusters(arm) for arm in arms])
    rho = assumed_rho(icc, repeated=repeated, floor=rule.rho_floor, single=rule.rho_single)
    p_rise = _lower(arms[0], arms[-1], rho)
    p_fall = min(_lower(higher, lower, rho) for lower, higher in pairwise(arms))
    smoothed = rising_rates([(arm.corrupt, arm.sessions) for arm in arms])
    levels = tuple(
        DoseLevel(concurrency, arm, rate, _upper(arm, rho))
        for (concurrency, arm), rate in zip(totals.items(), smoothed, strict=True)
    )
    alpha = rule.alpha_of_direction
    return DoseResponse(levels, p_rise, p_fall, rises=p_rise <= alpha < p_fall)


def rising_rates(counts: Sequence[tuple[int, int]]) -> tuple[float, ...]:
    """The most likely rates that never fall: pool adjacent violators.

    Ayer et al., Annals of Mathematical Statistics 26 (1955).
    """
    pools: list[tuple[int, int, int]] = []  # corrupt, sessions, levels
    for corrupt, sessions in counts:
        pools.append((corrupt, sessions, 1))
        while len(pools) > 1 and pools[-2][0] * pools[-1][1] >= pools[-1][0] * pools[-2][1]:
            (k1, n1, w1), (k2, n2, w2) = pools[-2:]
            pools[-2:] = [(k1 + k2, n1 + n2, w1 + w2)]
    return tuple(k / n for k, n, width in pools for _ in range(width))


def dose_sentence(response: DoseResponse) -> str:
    """One sentence; where no level was corrupt, what that excludes at the highest."""
    counts = ", ".join(
        f"{of_text(level.totals.corrupt, level.totals.sessions)} at {level.concurrency:,}"
        for level in response.levels
    )
    if response.rises:
        return f"Corruption rises with concurrency: {counts} ({p_text(response.p_rise)})."
    if response.lowest_with_corruption is None:
        top = response.levels[-1]
        return (
            f"No corruption at any concurrency: {counts}; at {top.concurrency:,} up to "
            f"{share_text(top.upper)} is left open."
        )
    return (
        f"Not shown that corruption depends on concurrency: {counts} "
        f"({p_text(response.p_rise)} for a rise, {p_text(response.p_fall)} for a fall)."
    )


def _lower(first: ArmTotals, second: ArmTotals, rho: float) -> float:
    return lower_rate(worst_clusters(first), best_clusters(second), rho=rho).p


def _upper(arm: ArmTotals, rho: float) -> float:
    sizes = [launch.sessions for launch in arm.launches]
    return clustered_upper_limit(arm.corrupt + arm.silent, sizes, rho=rho)
