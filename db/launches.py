"""Starts of the servers: what was started for a campaign, what it said of itself, how it ended."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlmodel import Session, col, select

from db.errors import RowMissingError
from db.identifiers import IdKind, format_id
from db.store import Store
from db.tables.runs import FingerprintRow, LaunchRow


def record_launch(
    store: Store,
    campaign_id: int,
    *,
    stack: str,
    commands: Mapping[str, Any],
    process_ids: Mapping[str, int],
) -> LaunchRow:
    """A launch that begins now; `commands` and `process_ids` by service."""
    launch = LaunchRow(
        campaign_id=campaign_id,
        stack=stack,
        commands=dict(commands),
        process_ids=dict(process_ids),
        started_at_us=store.clock.utc_us(),
    )
    with store.write() as session:
        session.add(launch)
    return launch


def launch_ready(store: Store, launch_id: int) -> None:
    """Raises RowMissingError."""
    with store.write() as session:
        _find(session, launch_id).ready_at_us = store.clock.utc_us()


def launch_ended(store: Store, launch_id: int, *, reason: str) -> None:
    """Note the end; the first end that is noted stands. Raises RowMissingError."""
    with store.write() as session:
        launch = _find(session, launch_id)
        if launch.ended_at_us is None:
            launch.ended_at_us = store.clock.utc_us()
            launch.end_reason = reason


def end_abandoned_launches(store: Store, stack: str, *, reason: str) -> int:
    """Note the end of all launches of a stack that have none; how many there were.

    For whoever has just taken the stack: nobody else drives it, so that none of them runs.
    """
    with store.write() as session:
        abandoned = session.exec(
            select(LaunchRow).where(LaunchRow.stack == stack, col(LaunchRow.ended_at_us).is_(None))
        ).all()
        for launch in abandoned:
            launch.ended_at_us = store.clock.utc_us()
            launch.end_reason = reason
        return len(abandoned)


def add_fingerprint(
    store: Store, launch_id: int, *, service: str, facts: Mapping[str, Any]
) -> FingerprintRow:
    """Raises RowMissingError."""
    with store.write() as session:
        _find(session, launch_id)
        fingerprint = FingerprintRow(
            launch_id=launch_id,
            service=service,
            facts=dict(facts),
            taken_at_us=store.clock.utc_us(),
        )
        session.add(fingerprint)
    return fingerprint


def fingerprints_of(store: Store, launch_id: int) -> Sequence[FingerprintRow]:
    """In the order in which they were taken."""
    with store.session() as session:
        return session.exec(
            select(FingerprintRow)
            .where(FingerprintRow.launch_id == launch_id)
            .order_by(col(FingerprintRow.id))
        ).all()


def _find(session: Session, launch_id: int) -> LaunchRow:
    launch = session.get(LaunchRow, launch_id)
    if launch is None:
        name = format_id(IdKind.LAUNCH, launch_id)
        raise RowMissingError(f"There is no launch {name} in this store.")
    return launch
