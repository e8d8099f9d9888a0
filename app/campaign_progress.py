"""How far a campaign got, from the counters of its runs; pure.

A run that was stopped and is attempted again counts once: by its key, not by its attempts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from statistics import fmean

from db.reads.campaigns import VerdictFacts
from db.reads.runs import RunCounts
from db.run_states import ACTIVE_STATES
from db.vocabulary import Headline, RunState

BETWEEN_RUNS_S = 60.0
"""For so long after a run has ended the next one may still be on its way."""

_SECOND_US = 1_000_000
_SPARING_RULES = ("decided", "two_looks")


class CampaignState(StrEnum):
    """`waiting`: asked for, nothing is in work. `incomplete`: it ended, and runs do not count."""

    RUNNING = "running"
    DONE = "done"
    WAITING = "waiting"
    STOPPED = "stopped"
    INCOMPLETE = "incomplete"


class Asked(Enum):
    """Whether a request for the campaign is open: it waits in the queue, or a worker has it."""

    NOT = auto()
    WAITS = auto()
    WORKS = auto()
    WORKS_UNTIL_DECIDED = auto()


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
    remaining_s: float | None = None

    @property
    def runs_missing(self) -> int:
        return self.runs_total - self.runs_done

    @property
    def is_final(self) -> bool:
        """Whether verdicts stand as they are: no run is outstanding, or none would change them."""
        return self.state is CampaignState.DONE

    @property
    def share(self) -> float:
        return min(1.0, self.sessions_ended / self.sessions_planned) if self.sessions_planned else 0


def progress_of(
    runs: Sequence[RunCounts],
    *,
    asked: Asked = Asked.NOT,
    is_settled: bool = False,
    now_us: int | None = None,
) -> Progress:
    """`is_settled`: its stop rule spares what was not begun. `now_us` tells a pause from an end."""
    done = {run.run_key: run for run in runs if run.state == RunState.DONE}
    planned = {run.run_key: run.sessions_planned for run in runs}
    active = [run for run in runs if run.state in ACTIVE_STATES]
    ended = sum(run.sessions_planned for run in done.values())
    ended += sum(run.n_ended for run in active if run.run_key not in done)
    return Progress(
        state=_state(
            runs,
            done_keys=len(done),
            all_keys=len(planned),
            asked=asked,
            is_settled=is_settled,
            now_us=now_us,
        ),
        runs_done=len(done),
        runs_total=len(planned),
        sessions_ended=ended,
        sessions_planned=sum(planned.values()),
        active=active[-1] if active else None,
        last_moved_at_us=max((run.last_moved_at_us for run in runs), default=None),
        remaining_s=_remaining_s(runs, done_keys=set(done), now_us=now_us),
    )


def is_settled(verdicts: Sequence[VerdictFacts]) -> bool:
    """Whether the rule that looks between runs has answered every registered hypothesis."""
    registered = [each for each in verdicts if each.is_registered]
    return bool(registered) and all(
        each.headline not in (None, Headline.INCONCLUSIVE)
        and (each.rule or {}).get("ending") in _SPARING_RULES
        for each in registered
    )


def latest_attempts(runs: Sequence[RunCounts]) -> list[RunCounts]:
    """The last attempt of each run key, in the order given."""
    latest = {run.run_key: run for run in sorted(runs, key=lambda run: run.attempt)}
    keep = {run.id for run in latest.values()}
    return [run for run in runs if run.id in keep]


def _state(
    runs: Sequence[RunCounts],
    *,
    done_keys: int,
    all_keys: int,
    asked: Asked,
    is_settled: bool,
    now_us: int | None,
) -> CampaignState:
    if any(run.state in ACTIVE_STATES for run in runs):
        return CampaignState.RUNNING
    if asked is Asked.WAITS:
        return CampaignState.WAITING
    if all_keys and done_keys == all_keys and asked is not Asked.WORKS_UNTIL_DECIDED:
        return CampaignState.DONE
    ended = [run for run in runs if run.run_state.is_terminal]
    if not ended:
        return CampaignState.WAITING
    last = max(ended, key=lambda run: run.last_moved_at_us)
    if asked is not Asked.NOT or (
        last.run_state is RunState.DONE and _is_between_runs(last, now_us)
    ):
        return CampaignState.RUNNING
    if is_settled and _never_begun(runs):
        return CampaignState.DONE
    return CampaignState.STOPPED if last.run_state is RunState.STOPPED else CampaignState.INCOMPLETE


def _never_begun(runs: Sequence[RunCounts]) -> bool:
    """Whether all that is not done was never attempted."""
    return all(run.run_state in (RunState.DONE, RunState.PLANNED) for run in latest_attempts(runs))


def _is_between_runs(last: RunCounts, now_us: int | None) -> bool:
    return now_us is not None and now_us - last.last_moved_at_us < BETWEEN_RUNS_S * _SECOND_US


def _remaining_s(
    runs: Sequence[RunCounts], *, done_keys: set[str], now_us: int | None
) -> float | None:
    """From what finished runs of the same arm took; of all arms where it has none yet."""
    missing = {run.run_key: run for run in runs if run.run_key not in done_keys}
    took: dict[int, list[float]] = {}
    for run in runs:
        if run.state == RunState.DONE and run.started_at_us and run.ended_at_us:
            if not missing:
                return 0.0
            seconds = (run.ended_at_us - run.started_at_us) / _SECOND_US
            took.setdefault(run.arm_id, []).append(seconds)
    if not took:
        return None
    of_any = fmean(seconds for arm in took.values() for seconds in arm)
    seconds = sum(fmean(took.get(run.arm_id, [of_any])) for run in missing.values())
    begun = [run.started_at_us for run in runs if run.state in ACTIVE_STATES and run.started_at_us]
    if begun and now_us is not None:
        seconds -= (now_us - max(begun)) / _SECOND_US
    return max(0.0, seconds)
