"""Runs with their counters, which the recorder keeps session by session; reads no session.

`RunCounts` is what the matrix and every list of runs need; `RunFacts` adds what one run's page
shows: verification, exposure, the client's own health.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from sqlalchemy import Connection, Integer, func, select

from db.reads.relations import (
    FINGERPRINT,
    LAUNCH,
    RUN,
    WEDGE,
    columns_of,
    value_or_none,
    values,
)
from db.run_states import ACTIVE_STATES
from db.tables.columns import Json, JsonList
from db.vocabulary import Outcome, RunFlag, RunState

# Pages ask thousands of runs: a word is looked up in a fraction of what the enumeration takes.
_STATE_OF = {str(state): state for state in RunState}
OUTCOME_NAMES = tuple(str(outcome) for outcome in Outcome)
_numbers_of = attrgetter(*(f"n_{outcome}" for outcome in Outcome))


class RunCounts(NamedTuple):
    """A tuple, because pages read thousands at once."""

    id: int
    campaign_id: int
    arm_id: int
    block: int
    position: int
    attempt: int
    run_key: str
    state: str
    reason: str | None
    flags: JsonList
    launch_id: int | None
    worker: str | None
    sessions_planned: int
    planned_at_us: int
    started_at_us: int | None
    driving_at_us: int | None
    ended_at_us: int | None
    wall_s: float | None
    n_ended: int
    n_done: int
    n_maxrounds: int
    n_leak: int
    n_no_tool: int
    n_malformed: int
    n_wrong: int
    n_degenerate: int
    n_error: int
    n_harness_error: int
    wedges: int | None
    wedge_requests: int
    wedge_lines: int
    peak_running: float | None

    @property
    def numbers(self) -> tuple[int, ...]:
        """Sessions by outcome, in the order of `Outcome`."""
        found: tuple[int, ...] = _numbers_of(self)
        return found

    @property
    def counts(self) -> dict[str, int]:
        """Sessions by outcome, zeros included."""
        return dict(zip(OUTCOME_NAMES, self.numbers, strict=True))

    @property
    def told_wedge_requests(self) -> int | None:
        """None where another tool made the run and its file says nothing of them."""
        is_silent = RunFlag.IMPORTED in self.flags and not self.wedge_requests
        return None if is_silent else self.wedge_requests

    @property
    def run_state(self) -> RunState:
        return _STATE_OF[self.state]

    @property
    def last_moved_at_us(self) -> int:
        moments = (self.started_at_us or 0, self.driving_at_us or 0, self.ended_at_us or 0)
        return max(self.planned_at_us, *moments)


class Movement(NamedTuple):
    """Differs whenever a run of the campaign is planned, moves, ends a session, or is judged anew.

    `active` counts the runs in work: of those more changes than is seen here.
    """

    campaign_id: int
    active: int
    counted: tuple[int | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProof:
    """What was found out about one run besides its counts."""

    id: int
    verification: JsonList
    exposure: Json
    client_health: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchFacts:
    id: int
    stack: str
    commands: Json
    started_at_us: int
    ready_at_us: int | None
    ended_at_us: int | None
    end_reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FingerprintFacts:
    service: str
    facts: Json
    taken_at_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WedgeFacts:
    service: str
    started_at_us: int
    ended_at_us: int | None
    victims: JsonList


def runs(connection: Connection, campaign_ids: Sequence[int]) -> list[RunCounts]:
    """All attempts of all runs of the campaigns named, in the order in which they were planned."""
    statement = (
        select(*columns_of(RUN, RunCounts))
        .where(RUN.c.campaign_id.in_(campaign_ids))
        .order_by(RUN.c.campaign_id, RUN.c.block, RUN.c.position, RUN.c.attempt)
    )
    return values(RunCounts, connection.execute(statement))


def movement(connection: Connection, campaign_ids: Sequence[int]) -> list[Movement]:
    """Of each of these campaigns that has a run; one aggregate over the runs, cheap to ask."""
    active = [state for state in RunState if state.is_active]
    counters = [f"n_{outcome}" for outcome in Outcome]
    counters += ["n_ended", "wedges", "wedge_requests", "wedge_lines"]
    statement = (
        select(
            RUN.c.campaign_id,
            func.sum(RUN.c.state.in_(active).cast(Integer)),
            func.count(),
            func.sum((RUN.c.state == RunState.PLANNED).cast(Integer)),
            func.max(RUN.c.started_at_us),
            func.max(RUN.c.driving_at_us),
            func.max(RUN.c.ended_at_us),
            *(func.sum(RUN.c[name]) for name in counters),
        )
        .where(RUN.c.campaign_id.in_(campaign_ids))
        .group_by(RUN.c.campaign_id)
        .order_by(RUN.c.campaign_id)
    )
    rows = connection.execute(statement)
    return [Movement(campaign_id, active, tuple(rest)) for campaign_id, active, *rest in rows]


def newest_runs(runs: Sequence[RunCounts], *, at_most_sessions: int) -> list[RunCounts]:
    """Those begun last that hold so many sessions together, at least one, oldest first."""
    found: list[RunCounts] = []
    sessions = 0
    for run in sorted(runs, key=lambda run: (run.started_at_us or 0, run.id), reverse=True):
        sessions += run.n_ended
        if found and sessions > at_most_sessions:
            break
        found.append(run)
    return found[::-1]


def campaign_in_work(connection: Connection) -> int | None:
    """The campaign of the run that was begun last among those in work; None where none is."""
    statement = (
        select(RUN.c.campaign_id)
        .where(RUN.c.state.in_(ACTIVE_STATES))
        .order_by(RUN.c.started_at_us.desc())
        .limit(1)
    )
    return connection.execute(statement).scalar_one_or_none()


def run(connection: Connection, run_id: int) -> RunCounts | None:
    statement = select(*columns_of(RUN, RunCounts)).where(RUN.c.id == run_id)
    return value_or_none(RunCounts, connection.execute(statement).one_or_none())


def run_proof(connection: Connection, run_id: int) -> RunProof | None:
    statement = select(*columns_of(RUN, RunProof)).where(RUN.c.id == run_id)
    return value_or_none(RunProof, connection.execute(statement).one_or_none())


def launch(connection: Connection, launch_id: int) -> LaunchFacts | None:
    statement = select(*columns_of(LAUNCH, LaunchFacts)).where(LAUNCH.c.id == launch_id)
    return value_or_none(LaunchFacts, connection.execute(statement).one_or_none())


def fingerprints(connection: Connection, launch_id: int) -> list[FingerprintFacts]:
    """The newest report of each service of a launch, by service name."""
    statement = (
        select(*columns_of(FINGERPRINT, FingerprintFacts))
        .where(FINGERPRINT.c.launch_id == launch_id)
        .order_by(FINGERPRINT.c.taken_at_us, FINGERPRINT.c.id)
    )
    newest = {
        taken.service: taken for taken in values(FingerprintFacts, connection.execute(statement))
    }
    return [newest[service] for service in sorted(newest)]


def launch_reports(connection: Connection, launch_ids: Sequence[int]) -> dict[int, dict[str, Json]]:
    """Launch to what each service said of itself then, the newest report of each."""
    statement = (
        select(FINGERPRINT.c.launch_id, FINGERPRINT.c.service, FINGERPRINT.c.facts)
        .where(FINGERPRINT.c.launch_id.in_(launch_ids))
        .order_by(FINGERPRINT.c.launch_id, FINGERPRINT.c.taken_at_us, FINGERPRINT.c.id)
    )
    found: dict[int, dict[str, Json]] = {}
    for row in connection.execute(statement):
        found.setdefault(row.launch_id, {})[row.service] = row.facts
    return found


def wedge_spans(connection: Connection, run_id: int) -> list[WedgeFacts]:
    statement = (
        select(*columns_of(WEDGE, WedgeFacts))
        .where(WEDGE.c.run_id == run_id)
        .order_by(WEDGE.c.started_at_us)
    )
    return values(WedgeFacts, connection.execute(statement))
