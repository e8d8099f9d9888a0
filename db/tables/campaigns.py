"""A campaign as it was asked: its arms, what it claims of them, and what came of the claims."""

from sqlalchemy import BigInteger, Column, Text, UniqueConstraint
from sqlmodel import Field, SQLModel

from db.tables.columns import Json, JsonList, id_of, json_list, json_object, one_of
from db.vocabulary import ClaimKind, Headline


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
    definition: Json = json_object()
    definition_key: str
    order_seed: int = Field(sa_type=BigInteger)
    corrupt_outcomes: JsonList = json_list()
    created_at_us: int = Field(sa_type=BigInteger)
    code_version: str


class ArmRow(SQLModel, table=True):
    """One choice of levels. `levels` maps factor to level, `concurrency` among them."""

    __tablename__ = "arm"
    __table_args__ = (UniqueConstraint("campaign_id", "position"),)

    id: int | None = Field(default=None, primary_key=True)
    campaign_id: int = Field(foreign_key=id_of(CampaignRow), index=True)
    position: int
    name: str
    levels: Json = json_object()
    tag: str | None = None
    concurrency: int
    sessions_per_run: int
    is_baseline: bool = False


class HypothesisRow(SQLModel, table=True):
    """A claim. `is_registered`: it was written down before the first run of its campaign began.

    `definition_key` hashes all that decides how it is judged. `progress_said` tells how far the
    finished runs bear it.
    """

    __tablename__ = "hypothesis"
    __table_args__ = (
        UniqueConstraint("campaign_id", "slug"),
        one_of("goal", ClaimKind),
    )

    id: int | None = Field(default=None, primary_key=True)
    campaign_id: int = Field(foreign_key=id_of(CampaignRow))
    slug: str
    claim: str
    arm_id: int = Field(foreign_key=id_of(ArmRow))
    versus_arm_id: int = Field(foreign_key=id_of(ArmRow))
    predict: str
    tolerate: float
    goal: str = ClaimKind.ELIMINATE
    predicted_rate: float | None = None
    known_good_arm_id: int | None = Field(default=None, foreign_key=id_of(ArmRow))
    definition_key: str = ""
    is_registered: bool = True
    recorded_at_us: int = Field(sa_type=BigInteger)
    progress_said: str | None = Field(default=None, sa_column=Column(Text))


class VerdictRow(SQLModel, table=True):
    """One judgement of a hypothesis; a changed judgement adds a row and overwrites none."""

    __tablename__ = "verdict"
    __table_args__ = (one_of("headline", Headline),)

    id: int | None = Field(default=None, primary_key=True)
    hypothesis_id: int = Field(foreign_key=id_of(HypothesisRow), index=True)
    headline: str
    elimination: str
    direction: str
    availability: str
    sentence: str
    reasons: JsonList = json_list()
    inputs: Json = json_object()
    method: str
    decided_at_us: int = Field(sa_type=BigInteger)


class NoteRow(SQLModel, table=True):
    __tablename__ = "note"

    id: int | None = Field(default=None, primary_key=True)
    campaign_id: int = Field(foreign_key=id_of(CampaignRow), index=True)
    text: str = Field(sa_column=Column(Text, nullable=False))
    author: str | None = None
    written_at_us: int = Field(sa_type=BigInteger)
