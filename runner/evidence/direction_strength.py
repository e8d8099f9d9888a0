"""How strongly "lower" and "higher" are borne, by the way in which the runs were ended.

A fixed plan is tested once, planned looks share alpha, and where runs end with the answer only
e-values count, since they bear being watched.
"""

from dataclasses import dataclass

from runner.evidence.arm_comparison import (
    ArmComparison,
    best_clusters,
    worst_case_pairs,
    worst_clusters,
)
from runner.evidence.decision_rule import DecisionRule, Ending
from runner.evidence.planned_looks import looks_p
from runner.evidence.run_block_process import RunPair, run_block_e_value


@dataclass(frozen=True, slots=True)
class DirectionP:
    """One-sided p-values; of several hypotheses they may be adjusted together."""

    lower: float
    higher: float


def direction_p(comparison: ArmComparison, *, rule: DecisionRule) -> DirectionP:
    """In the worst case against each claim. Of an e-value its inverse is the p-value."""
    if rule.ending is Ending.DECIDED:
        lower, higher = direction_e_values(comparison, rule=rule)
        return DirectionP(_inverse(lower), _inverse(higher))
    if rule.ending is Ending.TWO_LOOKS:
        after, before = comparison.after, comparison.before
        return DirectionP(
            looks_p(worst_clusters(after), best_clusters(before), rho=comparison.rho),
            looks_p(worst_clusters(before), best_clusters(after), rho=comparison.rho),
        )
    return DirectionP(comparison.p_lower, comparison.p_higher)


def direction_e_values(comparison: ArmComparison, *, rule: DecisionRule) -> tuple[float, float]:
    """Of "lower" and of "higher" by run pairs, in the worst case against each."""
    pairs = worst_case_pairs(comparison.after, comparison.before)
    reverse = worst_case_pairs(comparison.before, comparison.after)
    lower, higher = (
        run_block_e_value(
            [RunPair(*a, *b) for a, b in each],
            alternatives=rule.alternatives,
            rho_max=rule.rho_max,
        )
        for each in (pairs, reverse)
    )
    return lower, higher


def _inverse(e_value: float) -> float:
    return 1.0 if e_value <= 1.0 else 1.0 / e_value
