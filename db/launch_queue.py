"""The queue between those who ask for a campaign and the workers that run it.

A worker holds a request by a lease that it renews; when it dies, another takes the request over, a
bounded number of times. What a request means is not known here.
"""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import func, update
from sqlmodel import Session, col, select

from db.errors import LeaseLostError, RowMissingError
from db.identifiers import IdKind, format_id
from db.store import Store
from db.tables.work import LaunchRequestRow
from db.vocabulary import LaunchRequestState

LEASE_S = 30.0
MAX_ATTEMPTS = 3
"""How many workers may die over one request before it counts as failed."""

_SECOND_US = 1_000_000
_ENDS = (LaunchRequestState.DONE, LaunchRequestState.FAILED, LaunchRequestState.STOPPED)


def enqueue(
    store: Store,
    campaign_file: str,
    *,
    levels: Mapping[str, Any] | None = None,
    order_seed: int | None = None,
    blocks: int | None = None,
    most_blocks: int | None = None,
    campaign_id: int | None = None,
    requested_by: str | None = None,
    once: bool = False,
) -> LaunchRequestRow:
    """Ask for a campaign. Who asks has checked that file and levels are allowed.

    `blocks`: how many in all, where that is another number than the file's. `most_blocks`: more are
    added until it is decided, so many in all at most. `campaign_id`: the one that it goes on with,
    where that is known. `once`: where the same is asked for already, that request is the answer.
    """
    request = LaunchRequestRow(
        campaign_file=campaign_file,
        levels=dict(levels or {}),
        order_seed=order_seed,
        blocks=blocks,
        most_blocks=most_blocks,
        campaign_id=campaign_id,
        requested_by=requested_by,
        requested_at_us=store.clock.utc_us(),
    )
    with store.write() as session:
        same = _same_request(session, request) if once else None
        if same is not None:
            return same
        session.add(request)
    return request


def claim(
    store: Store, worker: str, *, but_not: Collection[int] = (), lease_s: float = LEASE_S
) -> LaunchRequestRow | None:
    """The oldest request that waits, now in the hands of `worker`; None where none waits.

    Two workers never get the same one. `but_not`: ids to leave alone. Requests of dead workers are
    released first.
    """
    now_us = store.clock.utc_us()
    if not _something_waits(store, now_us, but_not):
        return None
    with store.write() as session:
        _release_expired(session, now_us)
        oldest = (
            select(LaunchRequestRow.id)
            .where(
                LaunchRequestRow.state == LaunchRequestState.QUEUED,
                col(LaunchRequestRow.id).not_in(but_not),
            )
            .order_by(col(LaunchRequestRow.requested_at_us), col(LaunchRequestRow.id))
            .limit(1)
            .with_for_update(skip_locked=True)
            .scalar_subquery()
        )
        claimed = session.scalars(
            update(LaunchRequestRow)
            .where(col(LaunchRequestRow.id) == oldest)
            .values(
                state=LaunchRequestState.CLAIMED,
                worker=worker,
                lease_until_us=now_us + round(lease_s * _SECOND_US),
                attempts=col(LaunchRequestRow.attempts) + 1,
            )
            .returning(LaunchRequestRow)
        )
        return claimed.first()


def heartbeat(
    store: Store, request_id: int, worker: str, *, lease_s: float = LEASE_S
) -> LaunchRequestRow:
    """Renew the lease; the answer says whether a stop was requested meanwhile.

    Raises LeaseLostError where somebody else has the request now, RowMissingError.
    """
    with store.write() as session:
        request = _held(session, request_id, worker)
        request.lease_until_us = store.clock.utc_us() + round(lease_s * _SECOND_US)
        return request


def put_back(store: Store, request_id: int, worker: str, *, waits_for: str) -> LaunchRequestRow:
    """Let a request that cannot begin yet wait again; `waits_for` says why, in one sentence.

    That attempt does not count. A stop that was asked meanwhile ends it. Raises LeaseLostError,
    RowMissingError.
    """
    with store.write() as session:
        request = _held(session, request_id, worker)
        if request.stop_requested:
            _end(request, LaunchRequestState.STOPPED, "stopped before it began", store)
            return request
        request.state, request.message = LaunchRequestState.QUEUED, waits_for
        request.worker = request.lease_until_us = None
        request.attempts -= 1
        return request


def name_campaign(store: Store, request_id: int, worker: str, *, campaign_id: int) -> None:
    """Say which campaign the request became; what it waited for is over.

    Raises LeaseLostError, RowMissingError.
    """
    with store.write() as session:
        request = _held(session, request_id, worker)
        request.campaign_id = campaign_id
        request.message = None


def request_stop(store: Store, request_id: int) -> LaunchRequestRow:
    """Ask for a stop: what waits is stopped at once, what runs is stopped by its worker.

    Nothing happens to what has ended. Raises RowMissingError.
    """
    with store.write() as session:
        request = _find(session, request_id)
        if request.state == LaunchRequestState.QUEUED:
            _end(request, LaunchRequestState.STOPPED, "stopped before it began", store)
        elif request.state == LaunchRequestState.CLAIMED:
            request.stop_requested = True
        return request


def finish(
    store: Store,
    request_id: int,
    worker: str,
    *,
    state: LaunchRequestState,
    message: str | None = None,
) -> LaunchRequestRow:
    """End a request that `worker` holds: done, failed or stopped.

    Raises LeaseLostError, RowMissingError, ValueError where `state` is no end.
    """
    if state not in _ENDS:
        raise ValueError(f"A request cannot end as {state}.")
    with store.write() as session:
        request = _held(session, request_id, worker)
        _end(request, state, message, store)
        return request


def release_stale(store: Store) -> int:
    """Take expired requests from dead workers; how many there were.

    They wait again, or are stopped where that was asked, or fail after MAX_ATTEMPTS.
    """
    with store.write() as session:
        return _release_expired(session, store.clock.utc_us())


def _same_request(session: Session, wanted: LaunchRequestRow) -> LaunchRequestRow | None:
    """One that is open, not to be stopped, and would run the same."""
    candidates = session.exec(
        select(LaunchRequestRow)
        .where(
            col(LaunchRequestRow.state).in_(
                (LaunchRequestState.QUEUED, LaunchRequestState.CLAIMED)
            ),
            LaunchRequestRow.campaign_file == wanted.campaign_file,
            col(LaunchRequestRow.stop_requested).is_(False),
        )
        .order_by(col(LaunchRequestRow.id))
    )
    return next((each for each in candidates if _wish(each) == _wish(wanted)), None)


def _wish(request: LaunchRequestRow) -> tuple[Any, ...]:
    return (request.levels, request.order_seed, request.blocks, request.most_blocks)


def _something_waits(store: Store, now_us: int, but_not: Collection[int]) -> bool:
    """A look without the write lock, since idle workers ask often."""
    with store.session() as session:
        queued = select(func.count()).where(
            LaunchRequestRow.state == LaunchRequestState.QUEUED,
            col(LaunchRequestRow.id).not_in(but_not),
        )
        expired = select(func.count()).where(
            LaunchRequestRow.state == LaunchRequestState.CLAIMED,
            col(LaunchRequestRow.lease_until_us) < now_us,
        )
        return session.exec(queued).one() + session.exec(expired).one() > 0


def _release_expired(session: Session, now_us: int) -> int:
    expired = session.exec(
        select(LaunchRequestRow)
        .where(
            LaunchRequestRow.state == LaunchRequestState.CLAIMED,
            col(LaunchRequestRow.lease_until_us) < now_us,
        )
        .with_for_update(skip_locked=True)
    ).all()
    for request in expired:
        lost = f"worker {request.worker} went silent"
        request.worker = request.lease_until_us = None
        if request.stop_requested:
            request.state, request.message = LaunchRequestState.STOPPED, lost
            request.ended_at_us = now_us
        elif request.attempts >= MAX_ATTEMPTS:
            request.state = LaunchRequestState.FAILED
            request.message = f"{lost} and {MAX_ATTEMPTS} did so over it: read their logs"
            request.ended_at_us = now_us
        else:
            request.state, request.message = LaunchRequestState.QUEUED, f"{lost}; waits again"
        session.add(request)
    session.flush()
    return len(expired)


def _end(
    request: LaunchRequestRow, state: LaunchRequestState, message: str | None, store: Store
) -> None:
    request.state = state
    request.message = message
    request.lease_until_us = None
    request.ended_at_us = store.clock.utc_us()


def _find(session: Session, request_id: int) -> LaunchRequestRow:
    request = session.get(LaunchRequestRow, request_id, with_for_update=True)
    if request is None:
        name = format_id(IdKind.REQUEST, request_id)
        raise RowMissingError(f"There is no request {name} in this store.")
    return request


def _held(session: Session, request_id: int, worker: str) -> LaunchRequestRow:
    request = _find(session, request_id)
    if request.state != LaunchRequestState.CLAIMED or request.worker != worker:
        name = format_id(IdKind.REQUEST, request_id)
        raise LeaseLostError(
            f"Request {name} is {request.state}, no longer in the hands of {worker}: "
            "stop working on it."
        )
    return request
