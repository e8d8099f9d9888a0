"""How a campaign enters the store, with its arms and its claims, and how verdicts are added to it.

A campaign is the same one when its definition key is the same. What decides the key is not known
here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

from sqlmodel import Session, col, delete, select

from db.errors import RowMissingError
from db.identifiers import IdKind, format_id
from db.store import Store
from db.tables.campaigns import ArmRow, CampaignRow, HypothesisRow, NoteRow, VerdictRow
from db.tables.runs import RunRow
from db.vocabulary import (
    Availability,
    ClaimKind,
    Direction,
    Elimination,
    Headline,
    Outcome,
    RunState,
)


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
    """The arms are given by their positions. `definition_key` hashes all that decides how it is
    judged; two with the same key are the same hypothesis.
    """

    slug: str
    claim: str
    arm_position: int
    versus_position: int
    predict: str
    tolerate: float
    goal: ClaimKind = ClaimKind.ELIMINATE
    predicted_rate: float | None = None
    known_good_position: int | None = None
    definition_key: str = ""


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
    """`arms` by position, `hypotheses` as they were written; `is_new`: it was not stored before.

    A hypothesis that was written after a run of the campaign had begun is not `is_registered`.
    """

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
    """Store the campaign, or find the one with the same definition key.

    What is known of a found one stays as it is, but for its hypotheses: before its first run they
    become those of `new`; afterwards one that is not known yet is added beside them, marked as
    unregistered, under a slug of its own (`pool~2`).
    """
    with store.write() as session:
        known = session.exec(
            select(CampaignRow).where(CampaignRow.definition_key == new.definition_key)
        ).first()
        if known is not None:
            _take_claims(session, known, new.hypotheses, now_us=store.clock.utc_us())
            return _registered(session, known, is_new=False)
        campaign = _campaign_row(new, store.clock.utc_us())
        session.add(campaign)
        session.flush()
        arm_ids = _add_arms(session, campaign, new.arms)
        session.add_all(
            _hypothesis_row(campaign, hypothesis, arm_ids, now_us=campaign.created_at_us)
            for hypothesis in new.hypotheses
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


def note_progress(store: Store, hypothesis_id: int, said: str) -> None:
    """Say how far the finished runs bear a hypothesis. Raises RowMissingError."""
    with store.write() as session:
        hypothesis = session.get(HypothesisRow, hypothesis_id)
        if hypothesis is None:
            raise RowMissingError(f"There is no hypothesis {hypothesis_id} to tell progress of.")
        hypothesis.progress_said = said


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


def _take_claims(
    session: Session, campaign: CampaignRow, claims: Sequence[NewHypothesis], *, now_us: int
) -> None:
    stored = session.exec(
        select(HypothesisRow)
        .where(HypothesisRow.campaign_id == campaign.id)
        .order_by(col(HypothesisRow.id))
    ).all()
    known = {row.definition_key for row in stored}
    if known == {claim.definition_key for claim in claims}:
        return
    has_begun = _has_begun(session, campaign)
    if not has_begun:
        _forget(session, stored)
        known, stored = set(), []
    arms = session.exec(select(ArmRow).where(ArmRow.campaign_id == campaign.id)).all()
    arm_ids = {row.position: _id_of(row.id) for row in arms}
    slugs = {row.slug for row in stored}
    for claim in claims:
        if claim.definition_key in known:
            continue
        row = _hypothesis_row(campaign, claim, arm_ids, now_us=now_us)
        row.slug = _free_slug(claim.slug, slugs)
        row.is_registered = not has_begun
        slugs.add(row.slug)
        session.add(row)
    session.flush()


def _has_begun(session: Session, campaign: CampaignRow) -> bool:
    """By the state of its runs and not by the clock, which may have been set back."""
    begun = select(RunRow.id).where(
        RunRow.campaign_id == campaign.id, RunRow.state != RunState.PLANNED
    )
    return session.exec(begun.limit(1)).first() is not None


def _forget(session: Session, hypotheses: Sequence[HypothesisRow]) -> None:
    """With their verdicts, which judged no run."""
    for hypothesis in hypotheses:
        session.exec(delete(VerdictRow).where(col(VerdictRow.hypothesis_id) == hypothesis.id))
        session.delete(hypothesis)
    session.flush()


def _free_slug(slug: str, taken: set[str]) -> str:
    """`pool`, or `pool~2`, which no file can write."""
    if slug not in taken:
        return slug
    return next(name for n in count(2) if (name := f"{slug}~{n}") not in taken)


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
    campaign: CampaignRow, hypothesis: NewHypothesis, arm_ids: Mapping[int, int], *, now_us: int
) -> HypothesisRow:
    known_good = hypothesis.known_good_position
    return HypothesisRow(
        campaign_id=_id_of(campaign.id),
        slug=hypothesis.slug,
        claim=hypothesis.claim,
        arm_id=arm_ids[hypothesis.arm_position],
        versus_arm_id=arm_ids[hypothesis.versus_position],
        predict=hypothesis.predict,
        tolerate=hypothesis.tolerate,
        goal=hypothesis.goal,
        predicted_rate=hypothesis.predicted_rate,
        known_good_arm_id=None if known_good is None else arm_ids[known_good],
        definition_key=hypothesis.definition_key,
        recorded_at_us=now_us,
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
