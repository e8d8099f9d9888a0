"""What earlier runs say about the time that a campaign will take; reads no store itself."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from db.reads.earlier_runs import EarlierRun
from runner.campaign.campaign import Campaign
from runner.campaign.matrix import expand_arms


class EarlierTimes(NamedTuple):
    """`driving_s`: name of the arm -> seconds. `launch_s`: None where no run said it."""

    driving_s: Mapping[str, float]
    launch_s: float | None


NO_EARLIER_TIMES = EarlierTimes({}, None)


def earlier_times(campaign: Campaign, runs: Sequence[EarlierRun]) -> EarlierTimes:
    """Medians over the runs that played the same number of the same sessions."""
    workload = campaign.workload.model_dump(mode="json", exclude={"sessions"})
    sessions_of = {arm.name: arm.sessions for arm in expand_arms(campaign)}
    alike = [
        run
        for run in runs
        if run.sessions == sessions_of.get(run.arm_name)
        and {**run.definition.get("workload", {}), "sessions": None}
        == {**workload, "sessions": None}
    ]
    driving: defaultdict[str, list[float]] = defaultdict(list)
    for run in alike:
        driving[run.arm_name].append(run.wall_s)
    return EarlierTimes(
        {name: median(seconds) for name, seconds in driving.items()},
        median([run.launch_s for run in alike]) if alike else None,
    )
