"""Who may drive a stack now, so that two workers never drive one deployment.

A lease keeps the state in which the stack was found and the processes that were started, so that
whoever takes over from a dead holder can restore the one and end the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from db.errors import LeaseLostError, StackLeasedError
from db.store import Store
from db.tables.work import StackLeaseRow
from db.workers import Liveness

LEASE_S = 60.0
_SECOND_US = 1_000_000


@dataclass(frozen=True, slots=True)
class Holder:
    """`name` is unique among living holders; the process id counts on its host."""

    name: str
    host: str
    process_id: int


class AcquiredLease(NamedTuple):
    """`left_behind`: the lease of a dead holder that was taken over, with what it had found."""

    lease: StackLeaseRow
    left_behind: StackLeaseRow | None


def acquire_stack(
    store: Store, stack: str, holder: Holder, *, liveness: Liveness, lease_s: float = LEASE_S
) -> AcquiredLease:
    """Take the stack, from nobody or from a dead holder: its process gone or its lease expired.

    The found state of a dead holder stays in the lease until it is replaced with `note_found`.
    Raises StackLeasedError.
    """
    try:
        with store.write() as session:
            return _acquire(session, stack, holder, liveness, lease_s)
    except IntegrityError as error:  # only on a server, where two can insert at once
        raise StackLeasedError(f"Stack {stack} was taken by another worker just now.") from error


def renew_stack(
    store: Store, stack: str, holder: Holder, *, lease_s: float = LEASE_S
) -> StackLeaseRow:
    """Raises LeaseLostError."""
    with store.write() as session:
        lease = _held(session, stack, holder)
        lease.lease_until_us = store.clock.utc_us() + round(lease_s * _SECOND_US)
        return lease


def note_found(store: Store, stack: str, holder: Holder, *, found: Mapping[str, Any]) -> None:
    """Keep the state in which the stack was found, to be restored. Raises LeaseLostError."""
    with store.write() as session:
        _held(session, stack, holder).found = dict(found)


def note_processes(
    store: Store, stack: str, holder: Holder, *, process_ids: Mapping[str, Any]
) -> None:
    """Keep which processes were started, by service. Raises LeaseLostError."""
    with store.write() as session:
        _held(session, stack, holder).process_ids = dict(process_ids)


def release_stack(store: Store, stack: str, holder: Holder) -> None:
    """Give the stack back, restored; what was noted is forgotten. Raises LeaseLostError."""
    with store.write() as session:
        session.delete(_held(session, stack, holder))


def stack_holder(store: Store, stack: str) -> StackLeaseRow | None:
    """Who holds the stack, dead or alive."""
    with store.session() as session:
        return session.get(StackLeaseRow, stack)


def _acquire(
    session: Session, stack: str, holder: Holder, liveness: Liveness, lease_s: float
) -> AcquiredLease:
    lease = session.get(StackLeaseRow, stack, with_for_update=True)
    left_behind = None
    if lease is None:
        lease = StackLeaseRow(
            stack=stack,
            holder=holder.name,
            host=holder.host,
            process_id=holder.process_id,
            acquired_at_us=liveness.now_us,
            lease_until_us=liveness.now_us,
        )
    elif not _is_holder(lease, holder):
        _refuse_living(lease, liveness)
        left_behind = StackLeaseRow(**lease.model_dump())
    lease.holder, lease.host, lease.process_id = holder.name, holder.host, holder.process_id
    lease.acquired_at_us = liveness.now_us
    lease.lease_until_us = liveness.now_us + round(lease_s * _SECOND_US)
    session.add(lease)
    session.flush()
    return AcquiredLease(lease, left_behind)


def _refuse_living(lease: StackLeaseRow, liveness: Liveness) -> None:
    is_expired = lease.lease_until_us < liveness.now_us
    is_gone = lease.host == liveness.host and not liveness.is_alive(lease.process_id)
    if not is_expired and not is_gone:
        raise StackLeasedError(
            f"Stack {lease.stack} is driven by {lease.holder} (process {lease.process_id} on "
            f"{lease.host}): wait until it has ended, or stop it."
        )


def _held(session: Session, stack: str, holder: Holder) -> StackLeaseRow:
    lease = session.get(StackLeaseRow, stack, with_for_update=True)
    if lease is None or not _is_holder(lease, holder):
        raise LeaseLostError(
            f"Stack {stack} is no longer in the hands of {holder.name}: stop driving it."
        )
    return lease


def _is_holder(lease: StackLeaseRow, holder: Holder) -> bool:
    return Holder(lease.holder, lease.host, lease.process_id) == holder
