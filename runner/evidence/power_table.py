"""How much it takes to tell two rates apart: sessions if independent, runs if not."""

from collections.abc import Sequence
from dataclasses import dataclass

from runner.evidence.decision_rule import DecisionRule
from runner.evidence.planner import ComparisonPlan, runs_for_power
from runner.evidence.session_correlation import DECLARED_FOR_SINGLE_RUNS, FLOOR_OF_REPEATED_RUNS
from runner.evidence.statistical_power import SessionsNeeded, sessions_needed

POWERS = (0.8, 0.9)
CORRELATIONS = (0.0, FLOOR_OF_REPEATED_RUNS, DECLARED_FOR_SINGLE_RUNS)


@dataclass(frozen=True, slots=True)
class PowerRow:
    """For one power. `runs` by correlation inside runs, None where more than the planner tries."""

    power: float
    sessions: SessionsNeeded
    runs: dict[float, int | None]


def power_table(
    before: float,
    after: float,
    *,
    sessions_a_run: int = 80,
    powers: Sequence[float] = POWERS,
    correlations: Sequence[float] = CORRELATIONS,
    rule: DecisionRule | None = None,
    seed: int = 0,
) -> tuple[PowerRow, ...]:
    """Per arm, one-sided. Raises ValueError unless 0 <= after < before <= 1."""
    rule = rule or DecisionRule()
    plan = ComparisonPlan(
        runs_after=2, runs_before=2, sessions=sessions_a_run, before_rate=before, after_rate=after
    )
    return tuple(
        PowerRow(
            power,
            sessions_needed(before, after, power=power, alpha=rule.alpha_of_direction),
            {
                rho: runs_for_power(plan, rho=rho, rule=rule, power=power, seed=seed)
                for rho in correlations
            },
        )
        for power in powers
    )
