"""What the two sides of `decisive diff` name: campaigns, arms, runs or sessions of a store."""

from dataclasses import dataclass
from typing import TypeAlias

from sqlalchemy import Connection

from db.identifiers import IdKind, format_id, parse_id
from db.reads.campaigns import (
    ArmFacts,
    CampaignFacts,
    arms,
    campaign,
    campaign_of_arm,
    campaign_of_run,
    campaign_of_session,
)
from db.reads.runs import RunCounts, run, runs
from db.reads.sessions import SessionFacts, session
from db.store import Store
from runner.cli.opening import find_stored_campaign
from runner.errors import UsageError

_WANTED = "an id such as c-1, a-4, r-3, s-17, or the name of an arm"


@dataclass(frozen=True, slots=True)
class CampaignSubject:
    campaign: CampaignFacts

    @property
    def label(self) -> str:
        return format_id(IdKind.CAMPAIGN, self.campaign.id)


@dataclass(frozen=True, slots=True)
class ArmSubject:
    """`runs` are all attempts of the arm."""

    campaign: CampaignFacts
    arm: ArmFacts
    runs: tuple[RunCounts, ...]

    @property
    def label(self) -> str:
        return self.arm.name


@dataclass(frozen=True, slots=True)
class RunSubject:
    campaign: CampaignFacts
    arm: ArmFacts
    run: RunCounts

    @property
    def label(self) -> str:
        return format_id(IdKind.RUN, self.run.id)


@dataclass(frozen=True, slots=True)
class SessionSubject:
    of: RunSubject
    session: SessionFacts

    @property
    def label(self) -> str:
        return format_id(IdKind.SESSION, self.session.id)


Subject: TypeAlias = CampaignSubject | ArmSubject | RunSubject | SessionSubject


def find_subject(store: Store, text: str, *, within: str | None) -> Subject:
    """`within`: the campaign in which the name of an arm is looked for, the newest where None.

    Raises UsageError.
    """
    with store.session() as opened:
        found = _by_id(opened.connection(), text)
    if found is not None:
        return found
    if any(parse_id(kind, text) is not None for kind in IdKind):
        raise UsageError(f"the store {store.url} has no {text}; wanted: {_WANTED}")
    facts = find_stored_campaign(store, within)
    with store.session() as opened:
        connection = opened.connection()
        known = arms(connection, [facts.id])
        named = [arm for arm in known if arm.name == text]
        if len(named) == 1:
            return _arm_subject(connection, facts, named[0])
    names = "; ".join(f"{format_id(IdKind.ARM, arm.id)} {arm.name}" for arm in known)
    raise UsageError(
        f"{text!r} is neither {_WANTED}; {format_id(IdKind.CAMPAIGN, facts.id)} has the arms "
        f"{names}"
    )


def _by_id(connection: Connection, text: str) -> Subject | None:
    campaign_id, arm_id, run_id, session_id = (
        parse_id(kind, text) for kind in (IdKind.CAMPAIGN, IdKind.ARM, IdKind.RUN, IdKind.SESSION)
    )
    if campaign_id is not None:
        facts = campaign(connection, campaign_id)
        return None if facts is None else CampaignSubject(facts)
    if arm_id is not None:
        facts = _campaign(connection, campaign_of_arm(connection, arm_id))
        return None if facts is None else _arm_subject(connection, facts, _arm(connection, arm_id))
    if run_id is not None:
        return _run_subject(connection, run_id)
    if session_id is not None:
        facts = _campaign(connection, campaign_of_session(connection, session_id))
        found = session(connection, session_id)
        of = None if found is None else _run_subject(connection, found.run_id)
        return None if found is None or of is None or facts is None else SessionSubject(of, found)
    return None


def _run_subject(connection: Connection, run_id: int) -> RunSubject | None:
    facts = _campaign(connection, campaign_of_run(connection, run_id))
    found = run(connection, run_id)
    if facts is None or found is None:
        return None
    arm = next(arm for arm in arms(connection, [facts.id]) if arm.id == found.arm_id)
    return RunSubject(facts, arm, found)


def _campaign(connection: Connection, campaign_id: int | None) -> CampaignFacts | None:
    return None if campaign_id is None else campaign(connection, campaign_id)


def _arm(connection: Connection, arm_id: int) -> ArmFacts:
    campaign_id = campaign_of_arm(connection, arm_id)
    known = arms(connection, [] if campaign_id is None else [campaign_id])
    return next(arm for arm in known if arm.id == arm_id)


def _arm_subject(connection: Connection, facts: CampaignFacts, arm: ArmFacts) -> ArmSubject:
    own = [each for each in runs(connection, [facts.id]) if each.arm_id == arm.id]
    return ArmSubject(facts, arm, tuple(own))
