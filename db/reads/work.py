"""Who works and what waits: the workers with their heartbeats, the queue of launch requests."""

from dataclasses import dataclass

from sqlalchemy import Connection, select

from db.reads.relations import (
    LAUNCH_REQUEST,
    STACK_LEASE,
    WORKER,
    columns_of,
    value_or_none,
    values,
)
from db.tables.columns import Json
from db.vocabulary import LaunchRequestState

OPEN_STATES = (LaunchRequestState.QUEUED, LaunchRequestState.CLAIMED)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerFacts:
    name: str
    host: str
    process_id: int
    started_at_us: int
    heartbeat_at_us: int
    doing: str | None
    ended_at_us: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRequestFacts:
    id: int
    campaign_file: str
    levels: Json
    order_seed: int | None
    blocks: int | None
    most_blocks: int | None
    requested_by: str | None
    requested_at_us: int
    state: str
    worker: str | None
    stop_requested: bool
    campaign_id: int | None
    message: str | None
    ended_at_us: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StackLeaseFacts:
    stack: str
    holder: str
    host: str
    acquired_at_us: int
    lease_until_us: int


def stack_leases(connection: Connection) -> list[StackLeaseFacts]:
    """Who drives which stack now, by the stack's name; an expired one is to be taken over."""
    statement = select(*columns_of(STACK_LEASE, StackLeaseFacts)).order_by(STACK_LEASE.c.stack)
    return values(StackLeaseFacts, connection.execute(statement))


def workers(connection: Connection, *, limit: int = 20) -> list[WorkerFacts]:
    """Newest heartbeat first; those that said goodbye carry `ended_at_us`."""
    statement = (
        select(*columns_of(WORKER, WorkerFacts))
        .order_by(WORKER.c.heartbeat_at_us.desc())
        .limit(limit)
    )
    return values(WorkerFacts, connection.execute(statement))


def open_requests(connection: Connection) -> list[LaunchRequestFacts]:
    """Queued and claimed requests, oldest first."""
    statement = (
        select(*columns_of(LAUNCH_REQUEST, LaunchRequestFacts))
        .where(LAUNCH_REQUEST.c.state.in_(OPEN_STATES))
        .order_by(LAUNCH_REQUEST.c.requested_at_us)
    )
    return values(LaunchRequestFacts, connection.execute(statement))


def last_request_of(connection: Connection, campaign_id: int) -> LaunchRequestFacts | None:
    """The newest request that became this campaign; None where it was started at a terminal."""
    statement = (
        select(*columns_of(LAUNCH_REQUEST, LaunchRequestFacts))
        .where(LAUNCH_REQUEST.c.campaign_id == campaign_id)
        .order_by(LAUNCH_REQUEST.c.id.desc())
        .limit(1)
    )
    return value_or_none(LaunchRequestFacts, connection.execute(statement).one_or_none())


def recent_requests(connection: Connection, *, limit: int = 20) -> list[LaunchRequestFacts]:
    """The newest requests in any state, newest first."""
    statement = (
        select(*columns_of(LAUNCH_REQUEST, LaunchRequestFacts))
        .order_by(LAUNCH_REQUEST.c.id.desc())
        .limit(limit)
    )
    return values(LaunchRequestFacts, connection.execute(statement))
