"""Arms as they were tried: starts of the servers, what these said that they are, and runs."""

from sqlalchemy import BigInteger, CheckConstraint, Column, Index, Text, UniqueConstraint
from sqlmodel import Field, SQLModel

from db.tables.campaigns import ArmRow, CampaignRow
from db.tables.columns import Json, JsonList, id_of, json_list, json_object, one_of
from db.vocabulary import RunState


class LaunchRow(SQLModel, table=True):
    """One start of the servers; runs that share it are one cluster."""

    __tablename__ = "launch"

    id: int | None = Field(default=None, primary_key=True)
    campaign_id: int = Field(foreign_key=id_of(CampaignRow), index=True)
    stack: str
    commands: Json = json_object()
    process_ids: Json = json_object()
    started_at_us: int = Field(sa_type=BigInteger)
    ready_at_us: int | None = Field(default=None, sa_type=BigInteger)
    ended_at_us: int | None = Field(default=None, sa_type=BigInteger)
    end_reason: str | None = None


class FingerprintRow(SQLModel, table=True):
    """What one service of a launch said that it is: versions, resolved arguments, machine."""

    __tablename__ = "fingerprint"

    id: int | None = Field(default=None, primary_key=True)
    launch_id: int = Field(foreign_key=id_of(LaunchRow), index=True)
    service: str
    facts: Json = json_object()
    taken_at_us: int = Field(sa_type=BigInteger)


class RunRow(SQLModel, table=True):
    """One arm in one block. The `n_*` counters are kept by the recorder, session by session, and
    with them `progress_said`, the sentence that an open run bears.
    """

    __tablename__ = "run"
    __table_args__ = (
        UniqueConstraint("campaign_id", "run_key", "attempt"),
        one_of("state", RunState),
        CheckConstraint("attempt >= 1", name="attempt_from_one"),
        Index("run_of_arm", "campaign_id", "arm_id", "state"),
    )

    id: int | None = Field(default=None, primary_key=True)
    campaign_id: int = Field(foreign_key=id_of(CampaignRow))
    arm_id: int = Field(foreign_key=id_of(ArmRow))
    block: int
    position: int
    attempt: int = 1
    run_key: str
    state: str = RunState.PLANNED
    reason: str | None = None
    flags: JsonList = json_list()
    launch_id: int | None = Field(default=None, foreign_key=id_of(LaunchRow))
    worker: str | None = None
    sessions_planned: int
    planned_at_us: int = Field(sa_type=BigInteger)
    started_at_us: int | None = Field(default=None, sa_type=BigInteger)
    driving_at_us: int | None = Field(default=None, sa_type=BigInteger)
    ended_at_us: int | None = Field(default=None, sa_type=BigInteger)
    wall_s: float | None = None
    n_ended: int = 0
    n_done: int = 0
    n_maxrounds: int = 0
    n_leak: int = 0
    n_no_tool: int = 0
    n_malformed: int = 0
    n_wrong: int = 0
    n_degenerate: int = 0
    n_error: int = 0
    n_harness_error: int = 0
    wedges: int | None = None
    wedge_requests: int = 0
    wedge_lines: int = 0
    peak_running: float | None = None
    verification: JsonList = json_list()
    exposure: Json = json_object()
    client_health: Json = json_object()
    wedge_facts: Json = json_object()
    progress_said: str | None = Field(default=None, sa_column=Column(Text))
