"""How far a campaign got, from the counters of its runs; pure.

A run that was stopped and is attempted again counts once: by its key, not by its attempts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from db.reads.runs import RunCounts
from db.vocabulary import RunState


class CampaignState(StrEnum):
    RUNNING = "running"
    DONE = "done"
    WAITING = "waiting"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class Progress:
    """Runs by key and sessions; `active` is the run in work, where there is one."""

    state: CampaignState
    runs_done: int
    runs_total: int
    sessions_ended: int
    sessions_planned: int
    active: RunCounts | None
    last_moved_at_us: int | None

    @property
    def share(self) -> float:
        return min(1.0, self.sessions_ended / self.sessions_planned) if self.sessions_planned else 0


def progress_of(runs: Sequence[RunCounts]) -> Progress:
    done = {run.run_key: run for run in runs if run.run_state is RunState.DONE}
    planned = {run.run_key: run.sessions_planned for run in runs}
    active = [run for run in runs if run.run_state.is_active]
    ended = sum(run.sessions_planned for run in done.values())
    ended += sum(run.n_ended for run in active if run.run_key not in done)
    return Progress(
        state=_state(runs, done_keys=len(done), all_keys=len(planned)),
        runs_done=len(done),
        runs_total=len(planned),
        sessions_ended=ended,
        sessions_planned=sum(planned.values()),
        active=active[-1] if active else None,
        last_moved_at_us=max((run.last_moved_at_us for run in runs), default=None),
    )


def latest_attempts(runs: Sequence[RunCounts]) -> list[RunCounts]:
    """The last attempt of each run key, in the order given."""
    latest = {run.run_key: run for run in sorted(runs, key=lambda run: run.attempt)}
    keep = {run.id for run in latest.values()}
    return [run for run in runs if run.id in keep]


def _state(runs: Sequence[RunCounts], *, done_keys: int, all_keys: int) -> CampaignState:
    if any(run.run_state.is_active for run in runs):
        return CampaignState.RUNNING
    if all_keys and done_keys == all_keys:
        return CampaignState.DONE
    if not runs or any(run.run_state is RunState.PLANNED for run in runs):
        return CampaignState.WAITING
    return CampaignState.INCOMPLETE
