"""What the list of campaigns shows: who they are, how far they got, what was judged.

Reads run counters and verdicts only, never a session.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from db.reads.relations import (
    ARM,
    CAMPAIGN,
    HYPOTHESIS,
    NOTE,
    RUN,
    SESSION,
    VERDICT,
    columns_of,
    value_or_none,
    values,
)
from db.tables.columns import Json, JsonList
from db.vocabulary import RunState


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignFacts:
    id: int
    name: str
    question: str
    stack: str
    source_path: str
    order_seed: int
    corrupt_outcomes: JsonList
    created_at_us: int
    code_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictFacts:
    """A hypothesis and the newest judgement of it, where there is one."""

    campaign_id: int
    hypothesis_id: int
    slug: str
    claim: str
    predict: str
    tolerate: float
    goal: str
    predicted_rate: float | None
    known_good_arm_id: int | None
    is_registered: bool
    arm_id: int
    versus_arm_id: int
    headline: str | None
    elimination: str | None
    direction: str | None
    availability: str | None
    sentence: str | None
    reasons: JsonList | None
    said: JsonList | None  # the lines of the verdict, in the order in which they are printed
    rule: Json | None
    decided_at_us: int | None


class Decided(NamedTuple):
    """When a hypothesis of a campaign was judged."""

    campaign_id: int
    at_us: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgementFacts:
    """One judgement of a hypothesis with all that it was made from."""

    id: int
    headline: str
    sentence: str
    inputs: Json
    method: str
    decided_at_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteFacts:
    id: int
    text: str
    author: str | None
    written_at_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmFacts:
    """One arm; `levels` maps each factor to its level, `concurrency` among them."""

    id: int
    campaign_id: int
    position: int
    name: str
    levels: Json
    tag: str | None
    concurrency: int
    sessions_per_run: int
    is_baseline: bool


def campaigns(connection: Connection, *, limit: int = 200) -> list[CampaignFacts]:
    """Newest first."""
    statement = (
        select(*columns_of(CAMPAIGN, CampaignFacts)).order_by(CAMPAIGN.c.id.desc()).limit(limit)
    )
    return values(CampaignFacts, connection.execute(statement))


def campaign(connection: Connection, campaign_id: int) -> CampaignFacts | None:
    statement = select(*columns_of(CAMPAIGN, CampaignFacts)).where(CAMPAIGN.c.id == campaign_id)
    return value_or_none(CampaignFacts, connection.execute(statement).one_or_none())


def campaign_count(connection: Connection) -> int:
    return connection.execute(select(func.count()).select_from(CAMPAIGN)).scalar_one()


def decided_at(connection: Connection, campaign_ids: Sequence[int]) -> list[Decided]:
    """When each judgement of these campaigns was made; None for a hypothesis that has none."""
    statement = (
        select(HYPOTHESIS.c.campaign_id, VERDICT.c.decided_at_us)
        .join_from(HYPOTHESIS, VERDICT, VERDICT.c.hypothesis_id == HYPOTHESIS.c.id, isouter=True)
        .where(HYPOTHESIS.c.campaign_id.in_(campaign_ids))
        .order_by(HYPOTHESIS.c.id, VERDICT.c.id)
    )
    return [Decided(*row) for row in connection.execute(statement)]


def campaign_by_definition(connection: Connection, definition_key: str) -> int | None:
    """The campaign that a file with this definition goes on with; None: it would be a new one."""
    statement = select(CAMPAIGN.c.id).where(CAMPAIGN.c.definition_key == definition_key)
    return connection.execute(statement).scalar_one_or_none()


def campaign_definition_key(connection: Connection, campaign_id: int) -> str | None:
    statement = select(CAMPAIGN.c.definition_key).where(CAMPAIGN.c.id == campaign_id)
    return connection.execute(statement).scalar_one_or_none()


def campaign_definition(connection: Connection, campaign_id: int) -> Json | None:
    """What decides the evidence of the campaign, as it was registered."""
    statement = select(CAMPAIGN.c.definition).where(CAMPAIGN.c.id == campaign_id)
    return connection.execute(statement).scalar_one_or_none()


def earlier_of_name(connection: Connection, campaign_id: int) -> list[int]:
    """The campaigns of the same name that were registered before and of which a run has begun."""
    own = select(CAMPAIGN.c.name).where(CAMPAIGN.c.id == campaign_id).scalar_subquery()
    has_begun = (
        select(RUN.c.id)
        .where(RUN.c.campaign_id == CAMPAIGN.c.id, RUN.c.state != RunState.PLANNED)
        .exists()
    )
    statement = (
        select(CAMPAIGN.c.id)
        .where(CAMPAIGN.c.name == own, CAMPAIGN.c.id < campaign_id, has_begun)
        .order_by(CAMPAIGN.c.id)
    )
    return list(connection.execute(statement).scalars())


def campaign_source(connection: Connection, campaign_id: int) -> str | None:
    """The text of the campaign file as it was when the campaign was registered."""
    statement = select(CAMPAIGN.c.source_text).where(CAMPAIGN.c.id == campaign_id)
    return connection.execute(statement).scalar_one_or_none()


def campaign_of_run(connection: Connection, run_id: int) -> int | None:
    statement = select(RUN.c.campaign_id).where(RUN.c.id == run_id)
    return connection.execute(statement).scalar_one_or_none()


def campaign_of_session(connection: Connection, session_id: int) -> int | None:
    statement = (
        select(RUN.c.campaign_id)
        .join_from(SESSION, RUN, RUN.c.id == SESSION.c.run_id)
        .where(SESSION.c.id == session_id)
    )
    return connection.execute(statement).scalar_one_or_none()


def arms(connection: Connection, campaign_ids: Sequence[int]) -> list[ArmFacts]:
    """The arms of the campaigns named, in the order of their files."""
    statement = (
        select(*columns_of(ARM, ArmFacts))
        .where(ARM.c.campaign_id.in_(campaign_ids))
        .order_by(ARM.c.campaign_id, ARM.c.position)
    )
    return values(ArmFacts, connection.execute(statement))


def verdicts(connection: Connection, campaign_ids: Sequence[int]) -> list[VerdictFacts]:
    """Each hypothesis of the campaigns named, with its newest verdict or None for its fields."""
    newest = (
        select(VERDICT.c.hypothesis_id, func.max(VERDICT.c.id).label("id"))
        .join_from(HYPOTHESIS, VERDICT, VERDICT.c.hypothesis_id == HYPOTHESIS.c.id)
        .where(HYPOTHESIS.c.campaign_id.in_(campaign_ids))
        .group_by(VERDICT.c.hypothesis_id)
        .subquery()
    )
    statement = (
        select(
            HYPOTHESIS.c.campaign_id,
            HYPOTHESIS.c.id.label("hypothesis_id"),
            HYPOTHESIS.c.slug,
            HYPOTHESIS.c.claim,
            HYPOTHESIS.c.predict,
            HYPOTHESIS.c.tolerate,
            HYPOTHESIS.c.goal,
            HYPOTHESIS.c.predicted_rate,
            HYPOTHESIS.c.known_good_arm_id,
            HYPOTHESIS.c.is_registered,
            HYPOTHESIS.c.arm_id,
            HYPOTHESIS.c.versus_arm_id,
            VERDICT.c.headline,
            VERDICT.c.elimination,
            VERDICT.c.direction,
            VERDICT.c.availability,
            VERDICT.c.sentence,
            VERDICT.c.reasons,
            VERDICT.c.inputs["said"].label("said"),
            VERDICT.c.inputs["rule"].label("rule"),
            VERDICT.c.decided_at_us,
        )
        .join_from(HYPOTHESIS, newest, newest.c.hypothesis_id == HYPOTHESIS.c.id, isouter=True)
        .join(VERDICT, VERDICT.c.id == newest.c.id, isouter=True)
        .where(HYPOTHESIS.c.campaign_id.in_(campaign_ids))
        .order_by(HYPOTHESIS.c.campaign_id, HYPOTHESIS.c.id)
    )
    return values(VerdictFacts, connection.execute(statement))


def judgements(connection: Connection, hypothesis_id: int) -> list[JudgementFacts]:
    """Every judgement of a hypothesis, oldest first: how its verdict went as runs were added."""
    statement = (
        select(*columns_of(VERDICT, JudgementFacts))
        .where(VERDICT.c.hypothesis_id == hypothesis_id)
        .order_by(VERDICT.c.id)
    )
    return values(JudgementFacts, connection.execute(statement))


def campaign_of_hypothesis(connection: Connection, hypothesis_id: int) -> int | None:
    statement = select(HYPOTHESIS.c.campaign_id).where(HYPOTHESIS.c.id == hypothesis_id)
    return connection.execute(statement).scalar_one_or_none()


def campaign_of_arm(connection: Connection, arm_id: int) -> int | None:
    statement = select(ARM.c.campaign_id).where(ARM.c.id == arm_id)
    return connection.execute(statement).scalar_one_or_none()


def notes(connection: Connection, campaign_id: int) -> list[NoteFacts]:
    """Newest first."""
    statement = (
        select(*columns_of(NOTE, NoteFacts))
        .where(NOTE.c.campaign_id == campaign_id)
        .order_by(NOTE.c.id.desc())
    )
    return values(NoteFacts, connection.execute(statement))
