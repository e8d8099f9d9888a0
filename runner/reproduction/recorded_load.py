"""What was under way around a recorded turn, read from the store: values, no files.

The load is that of the sessions of the same run that overlap with the session in question, each
with the turns that began before that session had ended.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection

from db.campaigns import find_campaign
from db.identifiers import IdKind, format_id, parse_id
from db.reads.campaigns import ArmFacts, CampaignFacts, arms, campaign
from db.reads.observations import RawFacts, raw_bytes, raw_of_turns
from db.reads.runs import LaunchFacts, RunCounts, launch, run, runs
from db.reads.sessions import SessionFacts, TurnFacts, session, sessions, turns
from db.store import Store
from db.vocabulary import RawKind, RunState
from runner.errors import UsageError
from runner.execute.run_counts import counts_of

_SECOND_US = 1_000_000
_MOST_SESSIONS = 10_000
_TURN = re.compile(r"(?P<session>[^/]+)/(?P<turn>\d{1,6})")


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """`pause_before_s`: since the end of the turn before it, or since the session began."""

    turn: TurnFacts
    body: bytes
    pause_before_s: float


@dataclass(frozen=True, slots=True)
class RecordedPlay:
    session: SessionFacts
    starts_after_s: float
    requests: tuple[RecordedRequest, ...]


class SeenRuns(NamedTuple):
    """Sessions that counted as corrupt, of those that gave evidence, in the runs of the arm."""

    corrupt: int
    evidence: int
    silent: int
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedLoad:
    """`focus_turn` is the index of the turn in question. `cut` names turns that are left out
    because their request was longer than what is kept.
    """

    campaign: CampaignFacts
    definition: Mapping[str, Any]
    arm: ArmFacts
    run: RunCounts
    launch: LaunchFacts | None
    focus: SessionFacts
    focus_turn: TurnFacts
    plays: tuple[RecordedPlay, ...]
    seen_in_run: SeenRuns
    seen_in_arm: SeenRuns
    cut: tuple[str, ...]


def recorded_load(store: Store, reference: str) -> RecordedLoad:
    """Of `s-340` or of its turn `s-340/2`; turns count from 1. Raises UsageError."""
    match = _TURN.fullmatch(reference.strip())
    session_id = parse_id(IdKind.SESSION, match["session"] if match else reference)
    if session_id is None:
        raise UsageError(f"{reference!r} is no session: write s-340, or s-340/2 for one turn of it")
    with store.session() as opened:
        connection = opened.connection()
        focus = session(connection, session_id)
        if focus is None:
            raise UsageError(f"the store {store.url} has no session {reference}")
        own_turns = turns(connection, focus.id)
        focus_turn = _turn_in_question(focus, own_turns, int(match["turn"]) - 1 if match else None)
        played = run(connection, focus.run_id)
        assert played is not None, "a session has a run"
        plays, cut = _plays(connection, focus)
        if not plays and not cut:
            raise UsageError(
                f"what {reference} was asked is not in the store, for the file that it was "
                "imported from does not tell it: there is nothing to send again"
            )
        facts = campaign(connection, played.campaign_id)
        assert facts is not None, "a run has a campaign"
        own_runs = [x for x in runs(connection, [facts.id]) if x.arm_id == played.arm_id]
        return RecordedLoad(
            campaign=facts,
            definition=find_campaign(store, facts.id).campaign.definition,
            arm=next(x for x in arms(connection, [facts.id]) if x.id == played.arm_id),
            run=played,
            launch=None if played.launch_id is None else launch(connection, played.launch_id),
            focus=focus,
            focus_turn=focus_turn,
            plays=plays,
            seen_in_run=_seen([played], facts),
            seen_in_arm=_seen([x for x in own_runs if x.run_state is RunState.DONE], facts),
            cut=cut,
        )


def number_of(turn: TurnFacts) -> int:
    """As turns are counted wherever they are shown: from 1."""
    return turn.turn_index + 1


def _turn_in_question(
    focus: SessionFacts, own: Sequence[TurnFacts], asked: int | None
) -> TurnFacts:
    """The one that is asked for, else the one that decided the session, else its last."""
    name = format_id(IdKind.SESSION, focus.id)
    if not own:
        raise UsageError(f"{name} sent no request: there is nothing to send again")
    wanted = asked if asked is not None else focus.decisive_turn
    if wanted is None:
        return own[-1]
    found = [turn for turn in own if turn.turn_index == wanted]
    if not found:
        last = number_of(own[-1])
        raise UsageError(f"{name} has no turn {wanted + 1}: its turns are 1 to {last}")
    return found[0]


def _plays(
    connection: Connection, focus: SessionFacts
) -> tuple[tuple[RecordedPlay, ...], tuple[str, ...]]:
    beside = [
        each
        for each in sessions(connection, focus.run_id, limit=_MOST_SESSIONS)
        if each.id == focus.id or _overlap(each, focus)
    ]
    first_us = min(each.started_at_us for each in beside)
    plays: list[RecordedPlay] = []
    cut: list[str] = []
    for each in beside:
        requests = list(_requests(connection, each, until_us=focus.ended_at_us, cut=cut))
        if requests:
            starts_after_s = (each.started_at_us - first_us) / _SECOND_US
            plays.append(RecordedPlay(each, starts_after_s, tuple(requests)))
    return tuple(plays), tuple(cut)


def _overlap(one: SessionFacts, other: SessionFacts) -> bool:
    """Of sessions whose times are not known nothing is said to have been under way together."""
    if not one.is_timed or not other.is_timed:
        return False
    return one.started_at_us <= other.ended_at_us and one.ended_at_us >= other.started_at_us


def _requests(
    connection: Connection, played: SessionFacts, *, until_us: int, cut: list[str]
) -> Iterator[RecordedRequest]:
    own = [turn for turn in turns(connection, played.id) if turn.started_at_us <= until_us]
    bodies = _request_rows(connection, own)
    free_since_us = played.started_at_us
    for turn in own:
        pause_s = max(0.0, (turn.started_at_us - free_since_us) / _SECOND_US)
        free_since_us = turn.started_at_us + round(turn.duration_s * _SECOND_US)
        raw = bodies.get(turn.id)
        body = None if raw is None or raw.is_capped else raw_bytes(connection, raw.id)
        if body is None:
            cut.append(f"{format_id(IdKind.SESSION, played.id)}/{number_of(turn)}")
        elif body:  # an imported turn may come without what was asked
            yield RecordedRequest(turn, body, pause_s)


def _request_rows(connection: Connection, own: Sequence[TurnFacts]) -> dict[int, RawFacts]:
    found = raw_of_turns(connection, [turn.id for turn in own])
    return {
        raw.turn_id: raw for raw in found if raw.kind == RawKind.REQUEST and raw.turn_id is not None
    }


def _seen(played: Sequence[RunCounts], facts: CampaignFacts) -> SeenRuns:
    counts = [counts_of(each, facts.corrupt_outcomes) for each in played]
    return SeenRuns(
        corrupt=sum(each.corrupt for each in counts),
        evidence=sum(each.gave_evidence for each in counts),
        silent=sum(each.silent for each in counts),
        runs=len(played),
    )
