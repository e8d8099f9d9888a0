"""What a plan can answer before it runs: limits it can reach, and effects it can see.

A plan that cannot answer its own hypothesis says so, with why and with what would.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np

from runner.evidence.clustered_limits import clustered_upper_limit
from runner.evidence.decision_rule import ClaimKind, DecisionRule
from runner.evidence.elimination_process import clean_runs_needed, wedge_rate_limit
from runner.evidence.launch_words import FRESH_LAUNCHES, unit_of
from runner.evidence.lower_rate import RUNS_TO_COMPARE_RATES
from runner.evidence.number_words import counted_text, plural_of, rho_text, share_text
from runner.evidence.silent_sessions import silent_sessions_borne
from runner.evidence.statistical_power import normal_sessions_needed, run_power, runs_guess

ENOUGH_POWER = 0.8
ASSUMED_BEFORE_RATE = 0.15
MAX_RUNS = 16

_EFFECT_STEPS = 7
_CAMPAIGNS = 2_000
_CAMPAIGNS_OF_SEARCH = 20_000  # standard error 0.003 where the power is 0.8
_QUICK_CELLS = 60_000  # tables of both arms' sessions whose power takes 0.05 s


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonPlan:
    """Two arms of equal runs. `before_rate` is what the fault is expected at in the arm compared
    with, `after_rate` what is predicted of the arm; `rho` the correlation inside runs.

    `runs_share_launches`: what is counted here as a run is a launch with all runs that share it.
    """

    runs_after: int
    runs_before: int
    sessions: int
    before_rate: float = ASSUMED_BEFORE_RATE
    after_rate: float = 0.0
    rho: float | None = None
    runs_share_launches: bool = False

    @property
    def unit(self) -> str:
        """What counts as one."""
        return unit_of(shares_launches=self.runs_share_launches)

    @property
    def repeats(self) -> bool:
        return min(self.runs_after, self.runs_before) >= RUNS_TO_COMPARE_RATES


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanAssessment:
    """`limit_if_clean`: the residual rate that a spotless after arm would leave.

    `clean_runs_needed`: for the tolerated rate; None where the claim is a reduction, which needs no
    clean run. `power`: of showing the predicted effect.
    `smallest_effect`: the highest after rate that is shown lower with ENOUGH_POWER, None if not
    even 0 is. `silent_borne`: benign silent sessions that a confirmation bears.
    """

    rho: float
    limit_if_clean: float
    clean_runs_needed: int | None
    power: float
    smallest_effect: float | None
    runs_for_power: int | None
    silent_borne: int | None
    wedge_limit: float
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
    limit = _limit_if_clean(plan, rho=rho, rule=rule)
    runs_needed = (
        None
        if rule.claim is ClaimKind.REDUCE
        else clean_runs_needed(
            rule.p_max, sessions=plan.sessions, rho=rho, alpha=1 - rule.confidence
        )
    )
    power = _power_of_prediction(plan, rho=rho, rule=rule, seed=seed)
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
        shortcomings=tuple(shortcomings),
    )


def quick_shortcoming(plan: ComparisonPlan, *, rule: DecisionRule, seed: int = 0) -> str | None:
    """The first shortcoming that `assess_plan` would find, without what would help.

    Takes some hundredths of a second: the power of large plans is left out.
    """
    rho = plan.rho if plan.rho is not None else _assumed_rho(plan, rule)
    limit = _limit_if_clean(plan, rho=rho, rule=rule)
    if _cannot_confirm(limit, rule):
        return _confirmation_finding(plan, rule=rule, rho=rho, limit=limit)
    if plan.runs_after * plan.runs_before * plan.sessions**2 > _QUICK_CELLS:
        return None
    power = _power_of_prediction(plan, rho=rho, rule=rule, seed=seed)
    return _power_finding(plan, rho=rho, power=power) if power < ENOUGH_POWER else None


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


def _assumed_rho(plan: ComparisonPlan, rule: DecisionRule) -> float:
    return rule.rho_floor if plan.repeats else rule.rho_single


def _limit_if_clean(
    plan: ComparisonPlan, *, rho: float, rule: DecisionRule, sessions: int | None = None
) -> float:
    """`sessions` a run, where they are others than planned."""
    sizes = (sessions or plan.sessions,) * plan.runs_after
    return clustered_upper_limit(0, sizes, rho=rho, confidence=rule.confidence)


def _power_of_prediction(
    plan: ComparisonPlan, *, rho: float, rule: DecisionRule, seed: int
) -> float:
    return _power(
        plan, after=plan.after_rate, rho=rho, rule=rule, seed=seed, campaigns=_CAMPAIGNS_OF_SEARCH
    )


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
    needed: int | None,
    power: float,
    enough: int | None,
) -> Iterator[str]:
    if needed is not None and _cannot_confirm(limit, rule):
        finding = _confirmation_finding(plan, rule=rule, rho=rho, limit=limit)
        takes = f"It takes {counted_text(needed, plan.unit)}"
        helps = _confirmation_help(plan, rule=rule, rho=rho, limit=limit)
        yield f"{finding}. {takes}{helps}."
    if plan.after_rate >= plan.before_rate:
        yield (
            f"Cannot show a fall: the predicted rate of {share_text(plan.after_rate)} does not lie "
            f"below the {share_text(plan.before_rate)} expected of the arm compared with "
            "(--before-rate)."
        )
    elif power < ENOUGH_POWER:
        remedy = (
            f"more than {MAX_RUNS} {plural_of(plan.unit)} an arm"
            if enough is None
            else f"{counted_text(enough, plan.unit)} an arm"
        )
        helps = f": {FRESH_LAUNCHES}" if plan.runs_share_launches and enough is not None else ""
        yield (
            f"{_power_finding(plan, rho=rho, power=power)}. For {share_text(ENOUGH_POWER)} it "
            f"takes {remedy}{helps}."
        )


def _cannot_confirm(limit: float, rule: DecisionRule) -> bool:
    return rule.claim is not ClaimKind.REDUCE and limit > rule.p_max


def _confirmation_finding(
    plan: ComparisonPlan, *, rule: DecisionRule, rho: float, limit: float
) -> str:
    verb = "leaves" if plan.runs_after == 1 else "leave"
    return (
        f"Cannot confirm: {counted_text(plan.runs_after, plan.unit)} of {plan.sessions:,} sessions "
        f"without a corrupt one {verb} a rate of up to {share_text(limit)}, tolerated are "
        f"{share_text(rule.p_max)} (ICC {rho_text(rho)})"
    )


def _confirmation_help(
    plan: ComparisonPlan, *, rule: DecisionRule, rho: float, limit: float
) -> str:
    """Empty where further runs are all that it takes."""
    if not plan.runs_share_launches:
        return ""
    tolerable = ceil(limit * 1_000) / 1_000
    tolerate = (
        f", or tolerate at least what is left (`tolerate: {tolerable:g}`)" if tolerable < 1 else ""
    )
    twice = _limit_if_clean(plan, rho=rho, rule=rule, sessions=2 * plan.sessions)
    sessions = (
        f"more sessions in a launch help little, twice as many leave up to {share_text(twice)}"
        if twice > rule.p_max
        else f"twice as many sessions in a launch would leave up to {share_text(twice)}"
    )
    return f": {FRESH_LAUNCHES}{tolerate}; {sessions}"


def _power_finding(plan: ComparisonPlan, *, rho: float, power: float) -> str:
    effect = f"from {share_text(plan.before_rate)} to {share_text(plan.after_rate)}"
    return (
        f"Unlikely to show a change {effect}: the chance is {share_text(power)} with "
        f"{plan.runs_after} + {plan.runs_before} {plural_of(plan.unit)} (ICC {rho_text(rho)})"
    )
