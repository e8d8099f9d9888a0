"""Runs that another tool made: how they enter the store beside ours, marked as what they are."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlmodel import Session, col, select

from db.errors import DuplicateImportError
from db.identifiers import IdKind, format_id
from db.session_writing import EndedSession, pack_session, write_sessions
from db.store import Store
from db.tables.campaigns import ArmRow, CampaignRow
from db.tables.runs import RunRow
from db.vocabulary import Outcome, RunFlag, RunState

IMPORTED_STACK = "imported"
"""What stands for the stack of a campaign whose runs were all made by other tools."""

UNKNOWN_CONCURRENCY = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NewImportedRun:
    """`run_key` is a hash of what was imported: the same file enters a campaign once.

    `counts` (outcome to sessions) is for a run of which only the counts are known; else the
    sessions are counted. `sessions_of` makes them for the id that the run gets. `figures` is what
    the tool itself reported. None is unknown.
    """

    campaign: str
    corrupt_outcomes: Sequence[Outcome]
    arm: str
    levels: Mapping[str, Any]
    concurrency: int | None
    run_key: str
    source_path: str
    said: str
    sessions_planned: int
    started_at_us: int | None
    ended_at_us: int | None
    wall_s: float | None
    figures: Mapping[str, Any]
    code_version: str
    sessions_of: Callable[[int], Sequence[EndedSession]] = lambda run_id: ()
    counts: Mapping[str, int] = field(default_factory=dict)
    wedge_lines: int = 0
    wedge_requests: int = 0
    peak_running: float | None = None


def add_imported_run(store: Store, new: NewImportedRun) -> RunRow:
    """In one transaction: the campaign and the arm of these names, where they are not there yet,
    and the run as the next block of the arm.

    Raises DuplicateImportError.
    """
    now_us = store.clock.utc_us()
    with store.write() as session:
        campaign = _campaign(session, new, now_us)
        campaign_id = _stored_id(campaign.id)
        _refuse_duplicate(session, campaign_id, new)
        arm = _arm(session, campaign_id, new)
        run = _run_row(session, campaign_id, _stored_id(arm.id), new, now_us)
        session.add(run)
        session.flush()
        for ended in new.sessions_of(_stored_id(run.id)):
            write_sessions(session.connection(), [pack_session(ended)])
        session.refresh(run)
        run.state = RunState.DONE
        session.add(run)
        session.flush()
        session.refresh(run)
    return run


def _campaign(session: Session, new: NewImportedRun, now_us: int) -> CampaignRow:
    key = f"imported: {new.campaign}"
    known = session.exec(select(CampaignRow).where(CampaignRow.definition_key == key)).first()
    if known is not None:
        return known
    made = CampaignRow(
        name=new.campaign,
        question="Runs that other tools made.",
        stack=IMPORTED_STACK,
        source_path=new.source_path,
        source_text="",
        definition={"campaign": new.campaign, "imported": True},
        definition_key=key,
        order_seed=0,
        corrupt_outcomes=[str(outcome) for outcome in new.corrupt_outcomes],
        created_at_us=now_us,
        code_version=new.code_version,
    )
    session.add(made)
    session.flush()
    return made


def _arm(session: Session, campaign_id: int, new: NewImportedRun) -> ArmRow:
    known = session.exec(
        select(ArmRow).where(ArmRow.campaign_id == campaign_id).order_by(col(ArmRow.position))
    ).all()
    for arm in known:
        if arm.name == new.arm:
            return arm
    made = ArmRow(
        campaign_id=campaign_id,
        position=len(known),
        name=new.arm,
        levels=dict(new.levels),
        concurrency=UNKNOWN_CONCURRENCY if new.concurrency is None else new.concurrency,
        sessions_per_run=new.sessions_planned,
        is_baseline=False,
    )
    session.add(made)
    session.flush()
    return made


def _refuse_duplicate(session: Session, campaign_id: int, new: NewImportedRun) -> None:
    known = session.exec(
        select(RunRow).where(RunRow.campaign_id == campaign_id, RunRow.run_key == new.run_key)
    ).first()
    if known is not None:
        raise DuplicateImportError(
            f"{new.source_path} is already there as {format_id(IdKind.RUN, _stored_id(known.id))} "
            f"of campaign {new.campaign!r}"
        )


def _run_row(
    session: Session, campaign_id: int, arm_id: int, new: NewImportedRun, now_us: int
) -> RunRow:
    """Nothing proves the arm of such a run: every level is told as unproven."""
    blocks = session.exec(select(RunRow.block).where(RunRow.arm_id == arm_id)).all()
    counted: dict[str, Any] = {f"n_{outcome}": n for outcome, n in new.counts.items()}
    return RunRow(
        campaign_id=campaign_id,
        arm_id=arm_id,
        block=max(blocks, default=0) + 1,
        position=0,
        run_key=new.run_key,
        state=RunState.SETTLING,
        reason=new.said,
        flags=[str(RunFlag.IMPORTED)],
        sessions_planned=new.sessions_planned,
        planned_at_us=now_us,
        started_at_us=new.started_at_us,
        driving_at_us=new.started_at_us,
        ended_at_us=new.ended_at_us,
        wall_s=new.wall_s,
        n_ended=sum(new.counts.values()),
        wedge_lines=new.wedge_lines,
        wedge_requests=new.wedge_requests,
        peak_running=new.peak_running,
        verification=[
            {"factor": factor, "level": level, "expected": level, "found": None, "holds": None}
            for factor, level in new.levels.items()
        ],
        client_health={"imported": dict(new.figures)},
        **counted,
    )


def _stored_id(row_id: int | None) -> int:
    assert row_id is not None, "the row was flushed"
    return row_id
