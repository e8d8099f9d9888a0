"""How a campaign enters the store, with its arms and its claims, and how verdicts are added to it.

A campaign is the same one when its definition key is the same. What decides the key is not known
here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlmodel import Session, col, select

from db.errors import RowMissingError
from db.identifiers import IdKind, format_id
from db.store import Store
from db.tables import ArmRow, CampaignRow, HypothesisRow, NoteRow, VerdictRow
from db.vocabulary import Availability, Direction, Elimination, Headline, Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class NewArm:
    """`levels` in the order of the file, `concurrency` among them; `position` is unique."""

    position: int
    name: str
    levels: Mapping[str, Any]
    concurrency: int
    sessions_per_run: int
    tag: str | None = None
    is_baseline: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NewHypothesis:
    """The arms are given by their positions."""

    slug: str
    claim: str
    arm_position: int
    versus_position: int
    predict: str
    tolerate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCampaign:
    name: str
    question: str
    stack: str
    source_path: str
    source_text: str
    definition: Mapping[str, Any]
    definition_key: str
    order_seed: int
    corrupt_outcomes: Sequence[Outcome]
    code_version: str
    arms: Sequence[NewArm]
    hypotheses: Sequence[NewHypothesis] = ()


class RegisteredCampaign(NamedTuple):
    """`arms` by position, `hypotheses` as they were written; `is_new`: it was not stored before."""

    campaign: CampaignRow
    arms: tuple[ArmRow, ...]
    hypotheses: tuple[HypothesisRow, ...]
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVerdict:
    headline: Headline
    elimination: Elimination
    direction: Direction
    availability: Availability
    sentence: str
    reasons: Sequence[str]
    inputs: Mapping[str, Any]
    method: str


def register_campaign(store: Store, new: NewCampaign) -> RegisteredCampaign:
    """Store the campaign, or find the one with the same definition key and leave it as it is."""
    with store.write() as session:
        known = session.exec(
            select(CampaignRow).where(CampaignRow.definition_key == new.definition_key)
        ).first()
        if known is not None:
            return _registered(session, known, is_new=False)
        campaign = _campaign_row(new, store.clock.utc_us())
        session.add(campaign)
        session.flush()
        arm_ids = _add_arms(session, campaign, new.arms)
        session.add_all(
            _hypothesis_row(campaign, hypothesis, arm_ids) for hypothesis in new.hypotheses
        )
        session.flush()
        return _registered(session, campaign, is_new=True)


def find_campaign(store: Store, campaign_id: int) -> RegisteredCampaign:
    """Raises RowMissingError."""
    with store.session() as session:
        campaign = session.get(CampaignRow, campaign_id)
        if campaign is None:
            raise _no_campaign(campaign_id)
        return _registered(session, campaign, is_new=False)


def record_verdict(store: Store, hypothesis_id: int, verdict: NewVerdict) -> VerdictRow:
    """Add a verdict; one that says what the latest says already adds nothing.

    Raises RowMissingError.
    """
    with store.write() as session:
        if session.get(HypothesisRow, hypothesis_id) is None:
            raise RowMissingError(f"There is no hypothesis {hypothesis_id} to judge.")
        latest = session.exec(
            select(VerdictRow)
            .where(VerdictRow.hypothesis_id == hypothesis_id)
            .order_by(col(VerdictRow.id).desc())
            .limit(1)
        ).first()
        row = _verdict_row(hypothesis_id, verdict, store.clock.utc_us())
        if latest is not None and _says_the_same(latest, row):
            return latest
        session.add(row)
    return row


def add_note(store: Store, campaign_id: int, text: str, *, author: str | None = None) -> NoteRow:
    """Raises RowMissingError."""
    with store.write() as session:
        if session.get(CampaignRow, campaign_id) is None:
            raise _no_campaign(campaign_id)
        note = NoteRow(
            campaign_id=campaign_id,
            text=text,
            author=author,
            written_at_us=store.clock.utc_us(),
        )
        session.add(note)
    return note


def _no_campaign(campaign_id: int) -> RowMissingError:
    name = format_id(IdKind.CAMPAIGN, campaign_id)
    return RowMissingError(f"There is no campaign {name} in this store: see `decisive show`.")


def _registered(session: Session, campaign: CampaignRow, *, is_new: bool) -> RegisteredCampaign:
    arms = session.exec(
        select(ArmRow).where(ArmRow.campaign_id == campaign.id).order_by(col(ArmRow.position))
    ).all()
    hypotheses = session.exec(
        select(HypothesisRow)
        .where(HypothesisRow.campaign_id == campaign.id)
        .order_by(col(HypothesisRow.id))
    ).all()
    return RegisteredCampaign(campaign, tuple(arms), tuple(hypotheses), is_new)


def _campaign_row(new: NewCampaign, now_us: int) -> CampaignRow:
    return CampaignRow(
        name=new.name,
        question=new.question,
        stack=new.stack,
        source_path=new.source_path,
        source_text=new.source_text,
        definition=dict(new.definition),
        definition_key=new.definition_key,
        order_seed=new.order_seed,
        corrupt_outcomes=[str(outcome) for outcome in new.corrupt_outcomes],
        created_at_us=now_us,
        code_version=new.code_version,
    )


def _add_arms(session: Session, campaign: CampaignRow, arms: Sequence[NewArm]) -> dict[int, int]:
    """Position to id."""
    rows = [_arm_row(_id_of(campaign.id), arm) for arm in arms]
    session.add_all(rows)
    session.flush()
    return {row.position: _id_of(row.id) for row in rows}


def _arm_row(campaign_id: int, arm: NewArm) -> ArmRow:
    return ArmRow(
        campaign_id=campaign_id,
        position=arm.position,
        name=arm.name,
        levels=dict(arm.levels),
        tag=arm.tag,
        concurrency=arm.concurrency,
        sessions_per_run=arm.sessions_per_run,
        is_baseline=arm.is_baseline,
    )


def _hypothesis_row(
    campaign: CampaignRow, hypothesis: NewHypothesis, arm_ids: Mapping[int, int]
) -> HypothesisRow:
    return HypothesisRow(
        campaign_id=_id_of(campaign.id),
        slug=hypothesis.slug,
        claim=hypothesis.claim,
        arm_id=arm_ids[hypothesis.arm_position],
        versus_arm_id=arm_ids[hypothesis.versus_position],
        predict=hypothesis.predict,
        tolerate=hypothesis.tolerate,
        recorded_at_us=campaign.created_at_us,
    )


def _verdict_row(hypothesis_id: int, verdict: NewVerdict, now_us: int) -> VerdictRow:
    return VerdictRow(
        hypothesis_id=hypothesis_id,
        headline=verdict.headline,
        elimination=verdict.elimination,
        direction=verdict.direction,
        availability=verdict.availability,
        sentence=verdict.sentence,
        reasons=list(verdict.reasons),
        inputs=dict(verdict.inputs),
        method=verdict.method,
        decided_at_us=now_us,
    )


def _says_the_same(one: VerdictRow, other: VerdictRow) -> bool:
    when_or_which = {"id", "decided_at_us"}
    return one.model_dump(exclude=when_or_which) == other.model_dump(exclude=when_or_which)


def _id_of(row_id: int | None) -> int:
    if row_id is None:
        raise RowMissingError("A row has no id before it is stored.")
    return row_id
