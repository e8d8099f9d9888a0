import pytest

from runner.evidence.arm_comparison import ArmComparison, compare_arms
from runner.evidence.decision_rule import DecisionRule, Ending
from runner.evidence.direction_strength import direction_e_values, direction_p
from runner.evidence.planned_looks import looks_p
from runner.evidence.run_block_process import RunPair, run_block_e_value
from runner.evidence.run_rate_test import Cluster
from runner.evidence.silent_sessions import LaunchCounts

FEW = [LaunchCounts(76, 1, 3), LaunchCounts(80, 0, 0)]
MANY = [LaunchCounts(60, 18, 2), LaunchCounts(62, 16, 2), LaunchCounts(61, 19, 0)]
DECIDED = DecisionRule(ending=Ending.DECIDED)


def compared(after: list[LaunchCounts], before: list[LaunchCounts]) -> ArmComparison:
    return compare_arms(after, before, rule=DecisionRule(), wedges=0)


def test_e_values_pair_the_runs_and_count_silence_against_each_claim() -> None:
    lower, higher = direction_e_values(compared(FEW, MANY), rule=DECIDED)

    def e_value(pairs: list[RunPair]) -> float:
        return run_block_e_value(pairs, alternatives=DECIDED.alternatives, rho_max=DECIDED.rho_max)

    assert lower == e_value([RunPair(4, 80, 18, 80), RunPair(0, 80, 16, 80)])
    assert higher == e_value([RunPair(20, 80, 1, 80), RunPair(18, 80, 0, 80)])
    assert lower > 20 > 1 > higher


def test_the_p_value_of_an_e_value_is_its_inverse_and_never_above_one() -> None:
    comparison = compared(FEW, MANY)
    lower, _ = direction_e_values(comparison, rule=DECIDED)

    p = direction_p(comparison, rule=DECIDED)
    reversed_p = direction_p(compared(MANY, FEW), rule=DECIDED)

    assert (p.lower, p.higher) == (1 / lower, 1.0)
    assert (reversed_p.lower, reversed_p.higher) == (1.0, 1 / lower)


def test_planned_looks_read_the_first_runs_in_the_worst_case_against_each_claim() -> None:
    p = direction_p(compared(FEW, MANY), rule=DecisionRule(ending=Ending.TWO_LOOKS))

    worst, best = [Cluster(4, 80), Cluster(0, 80)], [Cluster(18, 80), Cluster(16, 80)]
    assert p.lower == looks_p(worst, best, rho=0.02) < 1
    best_few, worst_many = [Cluster(1, 80), Cluster(0, 80)], [Cluster(20, 80), Cluster(18, 80)]
    assert p.higher == looks_p(worst_many, best_few, rho=0.02) == 1.0


@pytest.mark.parametrize("ending", [Ending.FIXED, Ending.FIRST_CORRUPT])
def test_a_plan_that_is_read_once_has_the_p_values_of_its_test(ending: Ending) -> None:
    comparison = compared(FEW, MANY)

    p = direction_p(comparison, rule=DecisionRule(ending=ending))

    assert (p.lower, p.higher) == (comparison.p_lower, comparison.p_higher)
