"""The life of runs: planned, attempted, moved from state to state, and found orphaned.

Only what moves a run is here; sessions are counted by the recorder, judgements are rewritten by
`db.judgements`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from sqlmodel import Session, col, select

from db.errors import IllegalTransitionError, RowMissingError, RunBusyError
from db.identifiers import IdKind, format_id
from db.run_states import ACTIVE_STATES, legal_successors
from db.store import Store
from db.tables.columns import JsonList
from db.tables.runs import RunRow
from db.tables.work import WorkerRow
from db.vocabulary import RunFlag, RunState
from db.workers import Liveness


@dataclass(frozen=True, slots=True, kw_only=True)
class DueRun:
    """A run that the schedule asks for; `run_key` says within its campaign which one it is."""

    arm_id: int
    block: int
    position: int
    run_key: str
    sessions_planned: int


class RunFacts(TypedDict, total=False):
    """What is learned about a run while it lives, besides its state and its counters."""

    launch_id: int
    wall_s: float
    wedges: int | None
    wedge_requests: int
    wedge_lines: int
    peak_running: float | None
    verification: JsonList
    exposure: Mapping[str, Any]
    client_health: Mapping[str, Any]
    wedge_facts: Mapping[str, Any]


def plan_runs(store: Store, campaign_id: int, due: Sequence[DueRun]) -> list[RunRow]:
    """The runs that are still to be driven, in the order of `due`, each as a planned row.

    A key with a `done` run is left out. One that was planned and never begun is taken as it is.
    One whose last attempt was stopped, failed or invalid gets a new attempt. Raises RunBusyError
    where one is being driven: interrupt orphans first.
    """
    now_us = store.clock.utc_us()
    with store.write() as session:
        latest = _latest_attempts(session, campaign_id)
        planned = [
            _next_attempt(session, campaign_id, each, latest.get(each.run_key), now_us=now_us)
            for each in due
        ]
        session.flush()
        return [run for run in planned if run is not None]


def missing_runs(store: Store, campaign_id: int, due: Sequence[DueRun]) -> list[DueRun]:
    """Those of `due` that have no `done` run yet; stopped, failed and invalid ones are missing."""
    with store.session() as session:
        done = session.exec(
            select(RunRow.run_key).where(
                RunRow.campaign_id == campaign_id, RunRow.state == RunState.DONE
            )
        ).all()
    return [each for each in due if each.run_key not in set(done)]


def failed_attempts(store: Store, campaign_id: int, due: Sequence[DueRun]) -> list[RunRow]:
    """The last attempts of `due` that failed, in that order; `plan_runs` plans them anew."""
    with store.session() as session:
        latest = _latest_attempts(session, campaign_id)
    found = (latest.get(each.run_key) for each in due)
    return [run for run in found if run is not None and run.state == RunState.FAILED]


def find_run(store: Store, run_id: int) -> RunRow:
    """Raises RowMissingError."""
    with store.session() as session:
        return _found(session.get(RunRow, run_id), run_id)


def begin_run(store: Store, run_id: int, *, worker: str) -> RunRow:
    """planned -> applying, in the hands of `worker`, who from now on answers for it.

    Raises RowMissingError, IllegalTransitionError.
    """
    with store.write() as session:
        run = _move(session, run_id, RunState.APPLYING, None, now_us=store.clock.utc_us())
        run.worker = worker
        return run


def transition_run(store: Store, run_id: int, to: RunState, *, reason: str | None = None) -> RunRow:
    """Move the run one step, or to an end; the moments of the step are noted.

    `reason`: one sentence, wanted where the evidence does not count. A run is begun with
    `begin_run`. Raises RowMissingError, IllegalTransitionError.
    """
    if to is RunState.APPLYING:
        raise IllegalTransitionError("A run begins in the hands of a worker: use begin_run.")
    with store.write() as session:
        return _move(session, run_id, to, reason, now_us=store.clock.utc_us())


def write_run_facts(store: Store, run_id: int, **facts: Unpack[RunFacts]) -> None:
    """Set what was learned about the run. Raises RowMissingError."""
    with store.write() as session:
        run = _hold(session, run_id)
        for name, value in facts.items():
            setattr(run, name, value)


def flag_run(store: Store, run_id: int, *flags: RunFlag) -> None:
    """Add flags that the run does not have yet. Raises RowMissingError."""
    with store.write() as session:
        run = _hold(session, run_id)
        run.flags = [*run.flags, *(str(flag) for flag in flags if flag not in run.flags)]


def interrupt_orphans(store: Store, *, liveness: Liveness, idle: str | None = None) -> list[RunRow]:
    """Stop the runs whose worker is dead; they keep their sessions and count as missing.

    `idle`: a worker that lives and knows that it drives none.
    """
    with store.write() as session:
        orphans = [
            (run, because)
            for run in _active_runs(session)
            if (because := _why_orphaned(session, run, liveness, idle)) is not None
        ]
        return [
            _move(session, _id_of(run), RunState.STOPPED, because, now_us=liveness.now_us)
            for run, because in orphans
        ]


def _hold(session: Session, run_id: int) -> RunRow:
    """The run, kept from other writers until the transaction ends."""
    return _found(session.get(RunRow, run_id, with_for_update=True), run_id)


def _found(run: RunRow | None, run_id: int) -> RunRow:
    if run is None:
        raise RowMissingError(f"There is no run {format_id(IdKind.RUN, run_id)} in this store.")
    return run


def _move(
    session: Session, run_id: int, to: RunState, reason: str | None, *, now_us: int
) -> RunRow:
    run = _hold(session, run_id)
    state = RunState(run.state)
    if to not in legal_successors(state):
        raise IllegalTransitionError(
            f"Run {format_id(IdKind.RUN, run_id)} is {state} and cannot become {to}: "
            + _what_may_follow(state)
        )
    run.state = to
    run.reason = reason if reason is not None else run.reason
    if to is RunState.APPLYING:
        run.started_at_us = now_us
    if to is RunState.DRIVING:
        run.driving_at_us = now_us
    if to.is_terminal:
        run.ended_at_us = now_us
    session.add(run)
    return run


def _what_may_follow(state: RunState) -> str:
    allowed = legal_successors(state)
    return f"it may become {', '.join(allowed)}." if allowed else "it has ended."


def _latest_attempts(session: Session, campaign_id: int) -> dict[str, RunRow]:
    runs = session.exec(
        select(RunRow).where(RunRow.campaign_id == campaign_id).order_by(col(RunRow.attempt))
    ).all()
    return {run.run_key: run for run in runs}


def _next_attempt(
    session: Session, campaign_id: int, due: DueRun, latest: RunRow | None, *, now_us: int
) -> RunRow | None:
    state = RunState(latest.state) if latest is not None else None
    if latest is not None and state is RunState.PLANNED:
        return latest
    if state is RunState.DONE:
        return None
    if latest is not None and state is not None and state.is_active:
        raise RunBusyError(
            f"Run {format_id(IdKind.RUN, _id_of(latest))} is {state} in the hands of "
            f"{latest.worker}: wait for it or stop it."
        )
    run = RunRow(
        campaign_id=campaign_id,
        arm_id=due.arm_id,
        block=due.block,
        position=due.position,
        run_key=due.run_key,
        attempt=1 if latest is None else latest.attempt + 1,
        sessions_planned=due.sessions_planned,
        planned_at_us=now_us,
    )
    session.add(run)
    return run


def _active_runs(session: Session) -> Sequence[RunRow]:
    return session.exec(
        select(RunRow).where(col(RunRow.state).in_(ACTIVE_STATES)).order_by(col(RunRow.id))
    ).all()


def _why_orphaned(
    session: Session, run: RunRow, liveness: Liveness, idle: str | None
) -> str | None:
    if run.worker is not None and run.worker == idle:
        return f"interrupted while {run.state}: the store took no word of how it ended"
    worker = None if run.worker is None else session.get(WorkerRow, run.worker)
    if worker is None:
        return "interrupted: no worker answers for it"
    began_before = run.started_at_us is not None and run.started_at_us < worker.started_at_us
    if not began_before and not liveness.is_dead(worker):
        return None
    return f"interrupted while {run.state}: worker {worker.name} on {worker.host} is gone"


def _id_of(run: RunRow) -> int:
    if run.id is None:
        raise RowMissingError("A run has no id before it is stored.")
    return run.id
