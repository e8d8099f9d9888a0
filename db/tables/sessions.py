"""What was played in a run: its sessions, their turns, and the bytes as they came."""

from sqlalchemy import BigInteger, Column, Index, LargeBinary, UniqueConstraint
from sqlmodel import Field, SQLModel

from db.tables.columns import Json, JsonList, id_of, json_list, json_object, one_of
from db.tables.runs import RunRow
from db.vocabulary import Outcome, RawKind

NOT_STORED_YET = 0
"""Stands for the id of a row that the recorder is about to write; never the id of a stored row."""


class SessionValues(SQLModel):
    """What is known of a dialogue that was played; made in a tenth of the time of its row."""

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key=id_of(RunRow))
    session_index: int
    dialogue_key: str
    outcome: str
    reason: str | None = None
    detail: str | None = None
    flags: JsonList = json_list()
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


class SessionRow(SessionValues, table=True):
    """One dialogue that was played. A row exists only once the session has ended."""

    __tablename__ = "session"
    __table_args__ = (
        UniqueConstraint("run_id", "session_index"),
        one_of("outcome", Outcome),
        Index("session_by_outcome", "run_id", "outcome"),
    )


class TurnValues(SQLModel):
    """What is known of one request and its answer: `due` as the dialogue asked, `got` as rightly
    reassembled.
    """

    id: int | None = Field(default=None, primary_key=True)
    session_id: int = Field(default=NOT_STORED_YET, foreign_key=id_of(SessionRow))
    turn_index: int
    round_index: int
    request_id: str
    due: Json = json_object()
    got: Json = json_object()
    context: Json = json_object()
    reading: str
    outcome: str | None = None
    reason: str | None = None
    detail: str | None = None
    flags: JsonList = json_list()
    markup: JsonList = json_list()
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
    cached_tokens: Json = json_object()


class TurnRow(TurnValues, table=True):
    """One turn of a session, as it is stored."""

    __tablename__ = "turn"
    __table_args__ = (UniqueConstraint("session_id", "turn_index"),)


class RawRow(SQLModel, table=True):
    """Recorded bytes, zstd-compressed; `reads` lists [seconds since the request, bytes so far]."""

    __tablename__ = "raw"
    __table_args__ = (
        one_of("kind", RawKind),
        Index("raw_of_turn", "turn_id", "kind"),
        Index("raw_of_run", "run_id", "kind", "at_us"),
    )

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key=id_of(RunRow))
    turn_id: int | None = Field(default=None, foreign_key=id_of(TurnRow))
    kind: str
    service: str | None = None
    at_us: int = Field(sa_type=BigInteger)
    content: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    size_bytes: int
    is_capped: bool = False
    reads: JsonList = json_list()
