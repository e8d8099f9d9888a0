"""What a campaign will cost before anything is touched: arms, order, sessions, launches, time.

An estimate is arithmetic on stated assumptions; it knows no store. Earlier runs enter as figures.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from runner.campaign.campaign import Arm, Campaign, PlannedRun, RestartPolicy, Workload
from runner.campaign.carried_over import carried_over
from runner.campaign.earlier_times import NO_EARLIER_TIMES, EarlierTimes
from runner.campaign.matrix import expand_arms
from runner.campaign.owner_switches import count_switches
from runner.campaign.schedule import schedule_runs
from runner.campaign.stack_file import Stack
from runner.campaign.unproved_levels import unproved_levels


@dataclass(frozen=True, slots=True)
class CostAssumptions:
    """Figures that stand in for what was never measured, all in seconds.

    The defaults are those of the embedded testbed on two cores; real stacks take longer.
    `generation_s` is what one answer takes with no other in flight; `added_per_session_s` is what
    each further session in flight adds to it.
    """

    launch_s: float = 5.0
    settle_s: float = 1.0
    generation_s: float = 0.06
    added_per_session_s: float = 0.01


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """How long one run of an arm drives sessions, and whether an earlier run said so."""

    driving_s: float
    is_measured: bool


@dataclass(frozen=True, slots=True)
class Plan:
    campaign: Campaign
    arms: tuple[Arm, ...]
    runs: tuple[PlannedRun, ...]
    estimates: Mapping[str, RunEstimate]  # by the name of the arm
    launches: int
    sessions: int
    seconds: float
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    switches: int = 0  # at most, that whoever runs services which are not ours is asked for

    def starts_text(self) -> str:
        """How often servers are started, and how often others are asked to switch theirs."""
        starts = f"{self.launches:,} start{'' if self.launches == 1 else 's'} of the servers"
        if not self.switches:
            return starts
        times = "once" if self.switches == 1 else f"up to {self.switches:,} times"
        asked = f"whoever runs the server is asked {times} to switch it to the next arm"
        return f"{starts}, {asked}" if self.launches else asked


def make_plan(
    campaign: Campaign,
    stack: Stack,
    *,
    costs: CostAssumptions | None = None,
    earlier: EarlierTimes = NO_EARLIER_TIMES,
) -> Plan:
    """`earlier`: what runs that were played before say about the time."""
    costs = costs or CostAssumptions()
    if earlier.launch_s is not None:
        costs = replace(costs, launch_s=earlier.launch_s)
    arms = expand_arms(campaign)
    runs = schedule_runs(campaign, arms, stack=stack)
    estimates = {arm.name: _estimate(arm, campaign, costs, earlier.driving_s) for arm in arms}
    launches = count_launches(campaign, stack, runs)
    switches = count_switches(stack, campaign.factors, [run.arm.levels for run in runs])
    driving_s = sum(estimates[run.arm.name].driving_s for run in runs)
    return Plan(
        campaign=campaign,
        arms=arms,
        runs=runs,
        estimates=estimates,
        launches=launches,
        sessions=sum(run.arm.sessions for run in runs),
        seconds=driving_s + launches * costs.launch_s + len(runs) * costs.settle_s,
        assumptions=(
            *_stated(costs, estimates, campaign.workload),
            *(["nothing for the time until others have switched the server"] if switches else []),
        ),
        warnings=(*carried_over(campaign, stack), *unproved_levels(campaign, stack)),
        switches=switches,
    )


def count_launches(campaign: Campaign, stack: Stack, runs: tuple[PlannedRun, ...]) -> int:
    """Starts of the servers: one a run, or one whenever flags or environment change.

    An arm that is an endpoint of others starts nothing.
    """
    if not stack.may_restart:
        return 0
    settings = [stack.launch_settings(run.arm.levels) for run in runs]
    if campaign.schedule.restart is RestartPolicy.EVERY_RUN:
        return sum(each.endpoint is None for each in settings)
    return sum(
        after.endpoint is None and before != after
        for before, after in pairwise([None, *settings])
        if after is not None
    )


def _estimate(
    arm: Arm, campaign: Campaign, costs: CostAssumptions, measured_s: Mapping[str, float]
) -> RunEstimate:
    if arm.name in measured_s:
        return RunEstimate(measured_s[arm.name], is_measured=True)
    in_flight = min(arm.concurrency, arm.sessions)
    generation_s = costs.generation_s + costs.added_per_session_s * (in_flight - 1)
    waves = arm.sessions / in_flight
    driving_s = waves * _session_s(campaign.workload, generation_s)
    rate = campaign.workload.arrivals_per_s
    arriving_s = 0.0 if rate is None else arm.sessions / rate
    return RunEstimate(max(driving_s, arriving_s), is_measured=False)


def _session_s(workload: Workload, generation_s: float) -> float:
    """A round is a call and an answer; a tool waits once in it."""
    mean_tool_s = workload.tool_latency.mean_s if workload.tool_latency is not None else 0.0
    return workload.rounds * (2 * generation_s + mean_tool_s)


def _stated(
    costs: CostAssumptions, estimates: Mapping[str, RunEstimate], workload: Workload
) -> tuple[str, ...]:
    measured = sum(estimate.is_measured for estimate in estimates.values())
    stated = [
        f"{costs.launch_s:.3g} s for a start of the servers, proof of the arm and warm-up",
        f"{costs.settle_s:g} s for the servers to drain after a run",
    ]
    if measured < len(estimates):
        stated.append(
            f"{costs.generation_s:g} s an answer at one session, "
            f"{costs.added_per_session_s:g} s more for each other session in flight"
        )
    if workload.tool_latency is not None and measured < len(estimates):
        stated.append(f"{workload.tool_latency.mean_s:.2g} s a tool call on average")
    if workload.evict_flood is not None:
        stated.append("nothing for the prompts of evict_flood, as many as fill the devices")
    if measured:
        stated.append(f"{measured} of {len(estimates)} arms as their earlier runs took")
    return tuple(stated)
