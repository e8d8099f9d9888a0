"""Judges stored sessions again with today's rules, from the bytes that were recorded."""

from collections.abc import Callable
from dataclasses import dataclass

from db.judgements import recorded_sessions, rewrite_judgements
from db.reads.runs import runs
from db.store import Store
from db.vocabulary import RunFlag, RunState
from db.wedges import mark_wedge_victims
from runner.judge.version import JUDGE_VERSION
from runner.sessions.rejudging import judge_again


@dataclass(frozen=True, slots=True)
class ChangedSession:
    session_id: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Rejudged:
    """`sessions` were judged by `judge_version`; `changed` have another outcome now."""

    sessions: int
    changed: tuple[ChangedSession, ...]
    judge_version: str = JUDGE_VERSION


def rejudge_campaign(
    store: Store, campaign_id: int, *, on_run: Callable[[int], None] = lambda run_id: None
) -> Rejudged:
    """Every session of every run that is not being driven now. A run is rewritten as a whole.

    Of an imported run not all is stored that it was judged by: it stays as it is.
    """
    with store.session() as session:
        stored = runs(session.connection(), [campaign_id])
    total = 0
    changed: list[ChangedSession] = []
    for run in stored:
        if run.run_state is RunState.PLANNED or run.run_state.is_active or not run.n_ended:
            continue
        if RunFlag.IMPORTED in run.flags:
            continue
        sessions = list(recorded_sessions(store, run.id))
        judgements = [judge_again(each) for each in sessions]
        rewrite_judgements(store, run.id, judgements)
        mark_wedge_victims(store, run.id)
        total += len(sessions)
        changed += [
            ChangedSession(judgement.session_id, before.session.outcome, judgement.outcome)
            for before, judgement in zip(sessions, judgements, strict=True)
            if before.session.outcome != judgement.outcome
        ]
        on_run(run.id)
    return Rejudged(total, tuple(changed))
