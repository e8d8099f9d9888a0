"""What a plan can answer before it runs: limits it can reach, effects it can see, what it costs.

A plan that cannot answer its own hypothesis says so, with why and with what would.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from runner.evidence.clustered_limits import clustered_upper_limit
from runner.evidence.decision_rule import ClaimKind, DecisionRule
from runner.evidence.elimination_process import clean_runs_needed, wedge_rate_limit
from runner.evidence.lower_rate import RUNS_TO_COMPARE_RATES
from runner.evidence.number_words import counted_text, rho_text, share_text
from runner.evidence.run_cost import Cost, RunCost, cost_of
from runner.evidence.silent_sessions import silent_sessions_borne
from runner.evidence.statistical_power import normal_sessions_needed, run_power, runs_guess

ENOUGH_POWER = 0.8
ASSUMED_BEFORE_RATE = 0.15
MAX_RUNS = 16

_EFFECT_STEPS = 7
_CAMPAIGNS = 2_000
_CAMPAIGNS_OF_SEARCH = 20_000  # standard error 0.003 where the power is 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonPlan:
    """Two arms of equal runs. `before_rate` is what the fault is expected at in the arm compared
    with, `after_rate` what is predicted of the arm; `rho` the correlation inside runs."""

    runs_after: int
    runs_before: int
    sessions: int
    before_rate: float = ASSUMED_BEFORE_RATE
    after_rate: float = 0.0
    rho: float | None = None
    runs_share_launches: bool = False
    each_run: RunCost | None = None

    @property
    def repeats(self) -> bool:
        return min(self.runs_after, self.runs_before) >= RUNS_TO_COMPARE_RATES


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanAssessment:
    """`limit_if_clean`: the residual rate that a spotless after arm would leave.

    `clean_runs_needed`: for the tolerated rate. `power`: of showing the predicted effect.
    `smallest_effect`: the highest after rate that is shown lower with ENOUGH_POWER, None if not
    even 0 is. `silent_borne`: benign silent sessions that a confirmation bears.
    """

    rho: float
    limit_if_clean: float
    clean_runs_needed: int
    power: float
    smallest_effect: float | None
    runs_for_power: int | None
    silent_borne: int | None
    wedge_limit: float
    cost: Cost
    shortcomings: tuple[str, ...]

    @property
    def can_answer(self) -> bool:
        return not self.shortcomings


def assess_plan(
    plan: ComparisonPlan, *, rule: DecisionRule | None = None, seed: int = 0
) -> PlanAssessment:
    """Simulates with common random numbers, so that equal plans get equal answers."""
    rule = rule or DecisionRule()
    rho = plan.rho if plan.rho is not None else _assumed_rho(plan, rule)
    sizes = (plan.sessions,) * plan.runs_after
    limit = clustered_upper_limit(0, sizes, rho=rho, confidence=rule.confidence)
    runs_needed = clean_runs_needed(
        rule.p_max, sessions=plan.sessions, rho=rho, alpha=1 - rule.confidence
    )
    power = _power(
        plan, after=plan.after_rate, rho=rho, rule=rule, seed=seed, campaigns=_CAMPAIGNS_OF_SEARCH
    )
    enough = (
        plan.runs_after
        if power >= ENOUGH_POWER
        else runs_for_power(plan, rho=rho, rule=rule, seed=seed)
    )
    shortcomings = _shortcomings(
        plan, rule=rule, rho=rho, limit=limit, needed=runs_needed, power=power, enough=enough
    )
    return PlanAssessment(
        rho=rho,
        limit_if_clean=limit,
        clean_runs_needed=runs_needed,
        power=power,
        smallest_effect=_smallest_effect(plan, rho=rho, rule=rule, seed=seed),
        runs_for_power=enough,
        silent_borne=_silent_borne(plan, rho=rho, rule=rule),
        wedge_limit=wedge_rate_limit(plan.runs_after, alpha=rule.alpha),
        cost=_cost(plan),
        shortcomings=tuple(shortcomings),
    )


def runs_for_power(
    plan: ComparisonPlan,
    *,
    rho: float,
    rule: DecisionRule | None = None,
    power: float = ENOUGH_POWER,
    seed: int = 0,
) -> int | None:
    """Runs an arm for this power of showing the predicted effect; None beyond MAX_RUNS."""
    rule = rule or DecisionRule()
    if plan.before_rate <= plan.after_rate:
        return None
    sessions = normal_sessions_needed(
        plan.before_rate, plan.after_rate, power=power, alpha=rule.alpha_of_direction
    )
    guess = runs_guess(sessions, sessions=plan.sessions, rho=0.0)
    for runs in range(max(RUNS_TO_COMPARE_RATES, guess - 2), MAX_RUNS + 1):
        larger = ComparisonPlan(
            runs_after=runs,
            runs_before=runs,
            sessions=plan.sessions,
            before_rate=plan.before_rate,
            after_rate=plan.after_rate,
        )
        found = _power(
            larger,
            after=plan.after_rate,
            rho=rho,
            rule=rule,
            seed=seed,
            campaigns=_CAMPAIGNS_OF_SEARCH,
        )
        if found >= power:
            return runs
    return None


def _silent_borne(plan: ComparisonPlan, *, rho: float, rule: DecisionRule) -> int | None:
    return silent_sessions_borne(
        (plan.sessions,) * plan.runs_after,
        p_max=rule.p_max,
        rho=rho,
        baseline_rate=plan.before_rate,
        tolerated=rule.silent_tolerated,
    )


def _cost(plan: ComparisonPlan) -> Cost:
    return cost_of(
        plan.runs_after + plan.runs_before,
        sessions=plan.sessions,
        each=plan.each_run,
        launches=2 if plan.runs_share_launches else None,
    )


def _assumed_rho(plan: ComparisonPlan, rule: DecisionRule) -> float:
    return rule.rho_floor if plan.repeats else rule.rho_single


def _power(
    plan: ComparisonPlan,
    *,
    after: float,
    rho: float,
    rule: DecisionRule,
    seed: int,
    campaigns: int = _CAMPAIGNS,
) -> float:
    return run_power(
        plan.before_rate,
        after,
        runs_before=plan.runs_before,
        runs_after=plan.runs_after,
        sessions=plan.sessions,
        rho=rho,
        rng=np.random.default_rng(seed),
        alpha=rule.alpha_of_direction,
        campaigns=campaigns,
    )


def _smallest_effect(
    plan: ComparisonPlan, *, rho: float, rule: DecisionRule, seed: int
) -> float | None:
    if _power(plan, after=0.0, rho=rho, rule=rule, seed=seed) < ENOUGH_POWER:
        return None
    low, high = 0.0, plan.before_rate
    for _ in range(_EFFECT_STEPS):
        middle = (low + high) / 2
        seen = _power(plan, after=middle, rho=rho, rule=rule, seed=seed) >= ENOUGH_POWER
        low, high = (middle, high) if seen else (low, middle)
    return low


def _shortcomings(
    plan: ComparisonPlan,
    *,
    rule: DecisionRule,
    rho: float,
    limit: float,
    needed: int,
    power: float,
    enough: int | None,
) -> Iterator[str]:
    if rule.claim is not ClaimKind.REDUCE and limit > rule.p_max:
        yield (
            f"Cannot confirm: {counted_text(plan.runs_after, 'run')} of {plan.sessions:,} sessions "
            f"without a corrupt one leave a rate of up to {share_text(limit)}, tolerated are "
            f"{share_text(rule.p_max)} (ICC {rho_text(rho)}). It takes "
            f"{counted_text(needed, 'run')}."
        )
    if power < ENOUGH_POWER:
        effect = f"from {share_text(plan.before_rate)} to {share_text(plan.after_rate)}"
        remedy = (
            f"more than {MAX_RUNS} runs an arm"
            if enough is None
            else f"{counted_text(enough, 'run')} an arm"
        )
        yield (
            f"Unlikely to show a change {effect}: the chance is {share_text(power)} with "
            f"{plan.runs_after} + {plan.runs_before} runs (ICC {rho_text(rho)}). For "
            f"{share_text(ENOUGH_POWER)} it takes {remedy}."
        )
