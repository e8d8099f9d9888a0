"""What a plan can answer of each hypothesis, and what an answer costs; runs nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import isnan
from typing import NamedTuple

from runner.campaign.campaign import Arm, Hypothesis, PlannedRun, RestartPolicy
from runner.campaign.plan import CostAssumptions, Plan
from runner.campaign.prediction import CORRUPT, Comparison
from runner.campaign.stack_file import Stack
from runner.errors import UsageError
from runner.evidence.decision_rule import DecisionRule
from runner.evidence.planner import (
    ASSUMED_BEFORE_RATE,
    ComparisonPlan,
    PlanAssessment,
    assess_plan,
    quick_shortcoming,
    runs_for_power,
)
from runner.evidence.run_cost import Cost, RunCost, cost_of

# Larger runs are taken for runs of this size: exact tables of five of them fit into memory.
MOST_SESSIONS_A_RUN = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """`icc` None: as the verdict will assume it. `gpus` is how many a run holds."""

    icc: float | None = None
    before_rate: float = ASSUMED_BEFORE_RATE
    gpus: int = 1

    def __post_init__(self) -> None:
        if isnan(self.before_rate) or not 0.0 < self.before_rate <= 1.0:
            raise UsageError(f"--before-rate is above 0 and at most 1, not {self.before_rate:g}")
        if self.icc is not None and not 0.0 <= self.icc < 1.0:
            raise UsageError(f"--icc lies from 0 to below 1, not {self.icc:g}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmPlan:
    """The runs of one arm; `clusters` counts those that share a launch as one."""

    arm: Arm
    runs: int
    clusters: int
    restarts: bool
    each_cluster: RunCost

    @property
    def sessions(self) -> int:
        return self.arm.sessions * self.runs

    @property
    def shares_launches(self) -> bool:
        """Also where a further run would: of servers that are not restarted."""
        return self.clusters < self.runs or not self.restarts

    @property
    def sessions_a_cluster(self) -> int:
        return self.sessions // self.clusters

    def cost(self) -> Cost:
        """As planned."""
        return self._cost_of(self.clusters, launches=None if self.restarts else 0)

    def cost_of_clusters(self, clusters: int) -> Cost:
        """Of so many that share no launch, whoever restarts the servers."""
        return self._cost_of(clusters, launches=None)

    def _cost_of(self, clusters: int, *, launches: int | None) -> Cost:
        each, sessions = self.each_cluster, self.sessions_a_cluster
        return cost_of(clusters, sessions=sessions, each=each, launches=launches)


@dataclass(frozen=True, slots=True, kw_only=True)
class HypothesisPlan:
    """`plan` is of clusters. `cost` is of both arms as planned, `cost_needed` of as many runs
    as an answer takes; `runs_to_show` an arm, the predicted effect. None: beyond MAX_RUNS."""

    hypothesis: Hypothesis
    after: ArmPlan
    before: ArmPlan
    plan: ComparisonPlan
    assessment: PlanAssessment
    runs_to_show: int | None
    gpus: int

    @property
    def runs_needed(self) -> int | None:
        """An arm, to confirm and to show the predicted effect."""
        enough = self.runs_to_show
        return None if enough is None else max(enough, self.assessment.clean_runs_needed or 0)

    @property
    def cost(self) -> Cost:
        return _sum(self.after.cost(), self.before.cost())

    @property
    def cost_needed(self) -> Cost | None:
        runs = self.runs_needed
        if runs is None:
            return None
        return _sum(self.after.cost_of_clusters(runs), self.before.cost_of_clusters(runs))


class Unanswerable(NamedTuple):
    """The slug of a hypothesis, and why the plan cannot answer it."""

    slug: str
    shortcoming: str


def assess_hypotheses(
    plan: Plan, stack: Stack, *, assumptions: Assumptions
) -> tuple[HypothesisPlan, ...]:
    """Those whose arms are both in the plan."""
    return tuple(
        _assess(*pair, assumptions=assumptions)
        for pair in _pairs(plan, stack, gpus=assumptions.gpus)
    )


def unanswerable_hypotheses(plan: Plan, stack: Stack) -> tuple[Unanswerable, ...]:
    """Those of which `assess_hypotheses` would say it, as far as little arithmetic can tell."""
    found = (
        (
            hypothesis.id,
            quick_shortcoming(
                _comparison(hypothesis, after, before, assumptions=Assumptions()),
                rule=_rule(hypothesis),
            ),
        )
        for hypothesis, after, before in _pairs(plan, stack, gpus=1)
    )
    return tuple(Unanswerable(slug, why) for slug, why in found if why is not None)


def _pairs(plan: Plan, stack: Stack, *, gpus: int) -> Iterator[tuple[Hypothesis, ArmPlan, ArmPlan]]:
    launches = _launch_of_runs(plan, stack)
    by_levels = {arm.name: arm.levels for arm in plan.arms}
    arms = {
        arm.name: _arm_plan(arm, plan, launches, restarts=stack.may_restart, gpus=gpus)
        for arm in plan.arms
    }

    def named(levels: object) -> ArmPlan | None:
        return next((arms[name] for name, own in by_levels.items() if own == levels), None)

    for hypothesis in plan.campaign.hypotheses:
        after, before = named(hypothesis.arm), named(hypothesis.versus)
        if after is not None and before is not None:
            yield hypothesis, after, before


def _rule(hypothesis: Hypothesis) -> DecisionRule:
    return DecisionRule(p_max=hypothesis.tolerate, claim=hypothesis.goal)


def _comparison(
    hypothesis: Hypothesis, after: ArmPlan, before: ArmPlan, *, assumptions: Assumptions
) -> ComparisonPlan:
    """Runs of different size are taken for runs of the smaller one."""
    return ComparisonPlan(
        runs_after=after.clusters,
        runs_before=before.clusters,
        sessions=min(MOST_SESSIONS_A_RUN, after.sessions_a_cluster, before.sessions_a_cluster),
        before_rate=assumptions.before_rate,
        after_rate=_predicted_rate(hypothesis, sessions=after.sessions),
        rho=assumptions.icc,
        runs_share_launches=after.shares_launches or before.shares_launches,
    )


def _assess(
    hypothesis: Hypothesis, after: ArmPlan, before: ArmPlan, *, assumptions: Assumptions
) -> HypothesisPlan:
    plan = _comparison(hypothesis, after, before, assumptions=assumptions)
    rule = _rule(hypothesis)
    assessment = assess_plan(plan, rule=rule)
    return HypothesisPlan(
        hypothesis=hypothesis,
        after=after,
        before=before,
        plan=plan,
        assessment=assessment,
        runs_to_show=runs_for_power(plan, rho=assessment.rho, rule=rule),
        gpus=assumptions.gpus,
    )


def _predicted_rate(hypothesis: Hypothesis, *, sessions: int) -> float:
    """As it was predicted, or the highest that the criterion on corruption allows; else 0."""
    if hypothesis.predicted_rate is not None:
        return hypothesis.predicted_rate
    limits = [
        each.limit - (each.comparison is Comparison.BELOW)
        for each in hypothesis.predict.criteria
        if each.name == CORRUPT
    ]
    return min(1.0, min(limits, default=0) / sessions)


def _arm_plan(
    arm: Arm, plan: Plan, launches: dict[str, int], *, restarts: bool, gpus: int
) -> ArmPlan:
    runs = [run for run in plan.runs if run.arm.name == arm.name]
    clusters = len({launches[run.run_key] for run in runs})
    costs = CostAssumptions()
    drive_s = (plan.estimates[arm.name].driving_s + costs.settle_s) * len(runs) / clusters
    return ArmPlan(
        arm=arm,
        runs=len(runs),
        clusters=clusters,
        restarts=restarts,
        each_cluster=RunCost(costs.launch_s, drive_s, gpus),
    )


def _launch_of_runs(plan: Plan, stack: Stack) -> dict[str, int]:
    """Run key to the number of the launch that serves it; as `count_launches` counts them."""
    if not stack.may_restart:
        return {run.run_key: 0 for run in plan.runs}
    if plan.campaign.schedule.restart is RestartPolicy.EVERY_RUN:
        return {run.run_key: number for number, run in enumerate(plan.runs)}
    number, launches = 0, {plan.runs[0].run_key: 0}
    for before, after in pairwise(plan.runs):
        number += _settings(before, stack) != _settings(after, stack)
        launches[after.run_key] = number
    return launches


def _settings(run: PlannedRun, stack: Stack) -> object:
    return stack.launch_settings(run.arm.levels)


def _sum(first: Cost, second: Cost) -> Cost:
    return Cost(
        first.launches + second.launches,
        first.sessions + second.sessions,
        (first.wall_s or 0.0) + (second.wall_s or 0.0),
        (first.gpu_minutes or 0.0) + (second.gpu_minutes or 0.0),
    )
