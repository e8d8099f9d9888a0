"""The whole schema: every table of the store, its constraints and its indexes.

Times are UTC microseconds since the epoch (`*_at_us`), durations are seconds (`*_s`). Ids are
integers; in addresses and output they carry a letter (`db.identifiers`). There are no ORM
relationships: reads are named queries in `db.reads`, and SQLModel tables do not validate, so values
are checked where they enter.
"""

from enum import StrEnum
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Column,
    Index,
    LargeBinary,
    Text,
    UniqueConstraint,
)
from sqlmodel import Field, SQLModel

from db.vocabulary import (
    ClaimKind,
    Headline,
    LaunchRequestState,
    Outcome,
    RawKind,
    RunState,
)

Json = dict[str, Any]
JsonList = list[Any]

NOT_STORED_YET = 0
"""Stands for the id of a row that the recorder is about to write; never the id of a stored row."""

# Every constraint has a name, so that a migration can drop it on any database.
SQLModel.metadata.naming_convention = {
    "pk": "pk_%(table_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "ix": "ix_%(column_0_label)s",
}


def _one_of(column: str, words: type[StrEnum]) -> CheckConstraint:
    allowed = ", ".join(f"'{word}'" for word in words)
    return CheckConstraint(f"{column} IN ({allowed})", name=f"{column}_known")


def _json_object() -> Any:
    return Field(default_factory=dict, sa_column=Column(JSON, nullable=False))


def _json_list() -> Any:
    return Field(default_factory=list, sa_column=Column(JSON, nullable=False))


class CampaignRow(SQLModel, table=True):
    """One campaign file as it was run; `definition_key` hashes what decides the evidence."""

    __tablename__ = "campaign"
    __table_args__ = (UniqueConstraint("definition_key"),)

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(index=True)
    question: str
    stack: str
    source_path: str
    source_text: str = Field(sa_column=Column(Text, nullable=False))
    definition: Json = _json_object()
    definition_key: str
    order_seed: int = Field(sa_type=BigInteger)
    corrupt_outcomes: JsonList = _json_list()
    created_at_us: int = Field(sa_type=BigInteger)
    code_version: str


class ArmRow(SQLModel, table=True):
    """One choice of levels. `levels` maps factor to level, `concurrency` among them."""

    __tablename__ = "arm"
    __table_args__ = (UniqueConstraint("campaign_id", "position"),)

    id: int | None = Field(default=None, primary_key=True)
    campaign_id: int = Field(foreign_key="campaign.id", index=True)
    position: int
    name: str
    levels: Json = _json_object()
    tag: str | None = None
    concurrency: int
    sessions_per_run: int
    is_baseline: bool = False


class LaunchRow(SQLModel, table=True):
    """One start of the servers; runs that share it are one cluster."""

    __tablename__ = "launch"

    id: int | None = Field(default=None, primary_key=True)
    campaign_id: int = Field(foreign_key="campaign.id", index=True)
    stack: str
    commands: Json = _json_object()
    process_ids: Json = _json_object()
    started_at_us: int = Field(sa_type=BigInteger)
    ready_at_us: int | None = Field(default=None, sa_type=BigInteger)
    ended_at_us: int | None = Field(default=None, sa_type=BigInteger)
    end_reason: str | None = None


class FingerprintRow(SQLModel, table=True):
    """What one service of a launch said that it is: versions, resolved arguments, machine."""

    __tablename__ = "fingerprint"

    id: int | None = Field(default=None, primary_key=True)
    launch_id: int = Field(foreign_key="launch.id", index=True)
    service: str
    facts: Json = _json_object()
    taken_at_us: int = Field(sa_type=BigInteger)


class RunRow(SQLModel, table=True):
    """One arm in one block. The `n_*` counters are kept by the recorder, session by session, and
    with them `progress_said`, the sentence that an open run bears.
    """

    __tablename__ = "run"
    __table_args__ = (
        UniqueConstraint("campaign_id", "run_key", "attempt"),
        _one_of("state", RunState),
        CheckConstraint("attempt >= 1", name="attempt_from_one"),
        Index("run_of_arm", "campaign_id", "arm_id", "state"),
    )

    id: int | None = Field(default=None, primary_key=True)
    campaign_id: int = Field(foreign_key="campaign.id")
    arm_id: int = Field(foreign_key="arm.id")
    block: int
    position: int
    attempt: int = 1
    run_key: str
    state: str = RunState.PLANNED
    reason: str | None = None
    flags: JsonList = _json_list()
    launch_id: int | None = Field(default=None, foreign_key="launch.id")
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
    verification: JsonList = _json_list()
    exposure: Json = _json_object()
    client_health: Json = _json_object()
    wedge_facts: Json = _json_object()
    progress_said: str | None = Field(default=None, sa_column=Column(Text))


class SessionRow(SQLModel, table=True):
    """One dialogue that was played. A row exists only once the session has ended."""

    __tablename__ = "session"
    __table_args__ = (
        UniqueConstraint("run_id", "session_index"),
        _one_of("outcome", Outcome),
        Index("session_by_outcome", "run_id", "outcome"),
    )

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id")
    session_index: int
    dialogue_key: str
    outcome: str
    reason: str | None = None
    detail: str | None = None
    flags: JsonList = _json_list()
    decisive_turn: int | None = None
    rounds_planned: int
    rounds_completed: int
    started_at_us: int = Field(sa_type=BigInteger)
    ended_at_us: int = Field(sa_type=BigInteger)
    first_token_s: float | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    host_cached_tokens: int = 0
    judge_version: str


class TurnRow(SQLModel, table=True):
    """One request and its answer: `due` as the dialogue asked, `got` as rightly reassembled."""

    __tablename__ = "turn"
    __table_args__ = (UniqueConstraint("session_id", "turn_index"),)

    id: int | None = Field(default=None, primary_key=True)
    session_id: int = Field(default=NOT_STORED_YET, foreign_key="session.id")
    turn_index: int
    round_index: int
    request_id: str
    due: Json = _json_object()
    got: Json = _json_object()
    context: Json = _json_object()
    reading: str
    outcome: str | None = None
    reason: str | None = None
    detail: str | None = None
    flags: JsonList = _json_list()
    markup: JsonList = _json_list()
    http_status: int | None = None
    content_type: str | None = None
    transport_end: str
    started_at_us: int = Field(sa_type=BigInteger)
    first_byte_s: float | None = None
    first_token_s: float | None = None
    last_progress_s: float | None = None
    duration_s: float
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: Json = _json_object()


class RawRow(SQLModel, table=True):
    """Recorded bytes, zstd-compressed; `reads` lists [seconds since the request, bytes so far]."""

    __tablename__ = "raw"
    __table_args__ = (
        _one_of("kind", RawKind),
        Index("raw_of_turn", "turn_id", "kind"),
        Index("raw_of_run", "run_id", "kind", "at_us"),
    )

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id")
    turn_id: int | None = Field(default=None, foreign_key="turn.id")
    kind: str
    service: str | None = None
    at_us: int = Field(sa_type=BigInteger)
    content: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    size_bytes: int
    is_capped: bool = False
    reads: JsonList = _json_list()


class LogEventRow(SQLModel, table=True):
    """One line of a service's log that means something, with its normalised kind."""

    __tablename__ = "log_event"
    __table_args__ = (Index("log_event_of_run", "run_id", "at_us"),)

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id")
    service: str
    at_us: int = Field(sa_type=BigInteger)
    kind: str
    event_class: str
    request_ref: str | None = None
    is_own_cancellation: bool = False
    line: str = Field(sa_column=Column(Text, nullable=False))


class MetricSampleRow(SQLModel, table=True):
    """One value of one series at one scrape. Missing values have no row: missing is not zero."""

    __tablename__ = "metric_sample"
    __table_args__ = (Index("metric_series", "run_id", "name", "at_us"),)

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id")
    service: str
    at_us: int = Field(sa_type=BigInteger)
    name: str
    labels: Json = _json_object()
    value: float


class WedgeRow(SQLModel, table=True):
    """A span in which requests were in flight and nothing moved."""

    __tablename__ = "wedge"

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id", index=True)
    service: str
    started_at_us: int = Field(sa_type=BigInteger)
    ended_at_us: int | None = Field(default=None, sa_type=BigInteger)
    victims: JsonList = _json_list()
    evidence: Json = _json_object()


class HypothesisRow(SQLModel, table=True):
    """A claim. `is_registered`: it was written down before the first run of its campaign began.

    `definition_key` hashes all that decides how it is judged. `progress_said` tells how far the
    finished runs bear it.
    """

    __tablename__ = "hypothesis"
    __table_args__ = (
        UniqueConstraint("campaign_id", "slug"),
        _one_of("goal", ClaimKind),
    )

    id: int | None = Field(default=None, primary_key=True)
    campaign_id: int = Field(foreign_key="campaign.id")
    slug: str
    claim: str
    arm_id: int = Field(foreign_key="arm.id")
    versus_arm_id: int = Field(foreign_key="arm.id")
    predict: str
    tolerate: float
    goal: str = ClaimKind.ELIMINATE
    predicted_rate: float | None = None
    known_good_arm_id: int | None = Field(default=None, foreign_key="arm.id")
    definition_key: str = ""
    is_registered: bool = True
    recorded_at_us: int = Field(sa_type=BigInteger)
    progress_said: str | None = Field(default=None, sa_column=Column(Text))


class VerdictRow(SQLModel, table=True):
    """One judgement of a hypothesis; a changed judgement adds a row and overwrites none."""

    __tablename__ = "verdict"
    __table_args__ = (_one_of("headline", Headline),)

    id: int | None = Field(default=None, primary_key=True)
    hypothesis_id: int = Field(foreign_key="hypothesis.id", index=True)
    headline: str
    elimination: str
    direction: str
    availability: str
    sentence: str
    reasons: JsonList = _json_list()
    inputs: Json = _json_object()
    method: str
    decided_at_us: int = Field(sa_type=BigInteger)


class NoteRow(SQLModel, table=True):
    __tablename__ = "note"

    id: int | None = Field(default=None, primary_key=True)
    campaign_id: int = Field(foreign_key="campaign.id", index=True)
    text: str = Field(sa_column=Column(Text, nullable=False))
    author: str | None = None
    written_at_us: int = Field(sa_type=BigInteger)


class LaunchRequestRow(SQLModel, table=True):
    """The queue between the dashboard and the workers."""

    __tablename__ = "launch_request"
    __table_args__ = (
        _one_of("state", LaunchRequestState),
        Index("launch_queue", "state", "requested_at_us"),
    )

    id: int | None = Field(default=None, primary_key=True)
    campaign_file: str
    levels: Json = _json_object()
    order_seed: int | None = Field(default=None, sa_type=BigInteger)
    blocks: int | None = None
    requested_by: str | None = None
    requested_at_us: int = Field(sa_type=BigInteger)
    state: str = LaunchRequestState.QUEUED
    worker: str | None = None
    lease_until_us: int | None = Field(default=None, sa_type=BigInteger)
    attempts: int = 0
    stop_requested: bool = False
    campaign_id: int | None = Field(default=None, foreign_key="campaign.id")
    message: str | None = None
    ended_at_us: int | None = Field(default=None, sa_type=BigInteger)


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
    found: Json = _json_object()
    process_ids: Json = _json_object()
