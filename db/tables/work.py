"""Who is to run what: requests in the queue, workers, and who holds a stack."""

from sqlalchemy import BigInteger, Index
from sqlmodel import Field, SQLModel

from db.tables.campaigns import CampaignRow
from db.tables.columns import Json, id_of, json_object, one_of
from db.vocabulary import LaunchRequestState


class LaunchRequestRow(SQLModel, table=True):
    """The queue between the dashboard and the workers.

    `blocks`: how many in all, where that is another number than the file's. With `most_blocks`
    there are added to these, one by one until the campaign is decided, so many in all at most.
    """

    __tablename__ = "launch_request"
    __table_args__ = (
        one_of("state", LaunchRequestState),
        Index("launch_queue", "state", "requested_at_us"),
    )

    id: int | None = Field(default=None, primary_key=True)
    campaign_file: str
    levels: Json = json_object()
    order_seed: int | None = Field(default=None, sa_type=BigInteger)
    blocks: int | None = None
    requested_by: str | None = None
    requested_at_us: int = Field(sa_type=BigInteger)
    state: str = LaunchRequestState.QUEUED
    worker: str | None = None
    lease_until_us: int | None = Field(default=None, sa_type=BigInteger)
    attempts: int = 0
    stop_requested: bool = False
    campaign_id: int | None = Field(default=None, foreign_key=id_of(CampaignRow))
    message: str | None = None
    ended_at_us: int | None = Field(default=None, sa_type=BigInteger)
    most_blocks: int | None = None


class WorkerRow(SQLModel, table=True):
    """A worker that is or was alive; its heartbeat says which."""

    __tablename__ = "worker"

    name: str = Field(primary_key=True)
    host: str
    process_id: int
    started_at_us: int = Field(sa_type=BigInteger)
    heartbeat_at_us: int = Field(sa_type=BigInteger)
    doing: str | None = None
    ended_at_us: int | None = Field(default=None, sa_type=BigInteger)


class StackLeaseRow(SQLModel, table=True):
    """Who may drive a stack now, and the state in which it was found."""

    __tablename__ = "stack_lease"

    stack: str = Field(primary_key=True)
    holder: str
    host: str
    process_id: int
    acquired_at_us: int = Field(sa_type=BigInteger)
    lease_until_us: int = Field(sa_type=BigInteger)
    found: Json = json_object()
    process_ids: Json = json_object()
