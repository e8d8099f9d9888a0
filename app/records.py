"""What one page needs of the store, read in one consistent moment; knows no cache and no page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from sqlalchemy import Connection

from app.errors import UnknownIdError
from db.clock import SystemClock
from db.filters.keys import LOG_KEYS, SESSION_KEYS
from db.filters.parsing import parse_filter
from db.identifiers import IdKind, format_id
from db.reads import campaigns, live_evidence, observations, runs, sessions, wedges, work
from db.reads.campaigns import ArmFacts, CampaignFacts, Decided, NoteFacts, VerdictFacts
from db.reads.live_evidence import EvidenceSoFar, OpenRun
from db.reads.log_search import LogSearch, LogWindow, search_log
from db.reads.observations import RawFacts
from db.reads.runs import FingerprintFacts, LaunchFacts, Movement, RunCounts, RunProof
from db.reads.session_search import (
    FoundPlaces,
    SessionSearch,
    search_sessions,
    session_places,
)
from db.reads.sessions import SessionFacts, TurnFacts
from db.reads.time_cap import TimeCap
from db.reads.wedges import RunStillness
from db.reads.work import LaunchRequestFacts, WorkerFacts
from db.vocabulary import RawKind

Found = TypeVar("Found")

_SEARCHES_S = 2.0
_MOST_STEPS = 5000
_OF_A_RUN = (RawKind.SERVICE_LOG, RawKind.SERVER_INFO, RawKind.SCRAPE)


class Movements(NamedTuple):
    """What changes when campaigns do: their runs, and the moments of their verdicts."""

    runs: tuple[Movement, ...]
    decided: tuple[Decided, ...]

    def of(self, campaign_id: int) -> "Movements":
        """Of one of them, as it would have been asked alone."""
        return Movements(
            tuple(each for each in self.runs if each.campaign_id == campaign_id),
            tuple(each for each in self.decided if each.campaign_id == campaign_id),
        )

    @property
    def is_still(self) -> bool:
        """No run is in work, so that nothing changes unseen."""
        return not any(movement.active for movement in self.runs)


@dataclass(frozen=True, slots=True)
class Board:
    """One campaign: its arms and every attempt of every run."""

    campaign: CampaignFacts
    arms: list[ArmFacts]
    runs: list[RunCounts]
    verdicts: list[VerdictFacts]

    def arm(self, arm_id: int) -> ArmFacts:
        return next(arm for arm in self.arms if arm.id == arm_id)

    def run(self, run_id: int) -> RunCounts:
        """Raises UnknownIdError: the run is another campaign's, or stored after this was read."""
        for run in self.runs:
            if run.id == run_id:
                return run
        raise UnknownIdError(f"There is no {format_id(IdKind.RUN, run_id)} in this campaign.")


@dataclass(frozen=True, slots=True)
class Work:
    """Workers and the queue."""

    workers: list[WorkerFacts]
    open_requests: list[LaunchRequestFacts]
    recent_requests: list[LaunchRequestFacts]


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What one run's page shows besides its counters and sessions."""

    proof: RunProof
    launch: LaunchFacts | None
    fingerprints: list[FingerprintFacts]
    stillness: RunStillness
    raw: list[RawFacts]


@dataclass(frozen=True, slots=True)
class Progress:
    """What may be said of a campaign while it is open: sentences as the engine stored them."""

    open_runs: list[OpenRun]
    evidence: list[EvidenceSoFar]

    def said_of_run(self, run_id: int) -> str | None:
        return next((run.progress_said for run in self.open_runs if run.id == run_id), None)


@dataclass(frozen=True, slots=True)
class Transcript:
    session: SessionFacts
    turns: list[TurnFacts]
    raw: list[RawFacts]


def read_board(connection: Connection, campaign_id: int) -> Board:
    """Raises UnknownIdError."""
    found = campaigns.campaign(connection, campaign_id)
    (board,) = read_boards(connection, [known(found, IdKind.CAMPAIGN, campaign_id)])
    return board


def read_boards(connection: Connection, of: Sequence[CampaignFacts]) -> list[Board]:
    """Of many campaigns with as many questions as of one."""
    boards = {campaign.id: Board(campaign, [], [], []) for campaign in of}
    for arm in campaigns.arms(connection, list(boards)):
        boards[arm.campaign_id].arms.append(arm)
    for run in runs.runs(connection, list(boards)):
        boards[run.campaign_id].runs.append(run)
    for verdict in campaigns.verdicts(connection, list(boards)):
        boards[verdict.campaign_id].verdicts.append(verdict)
    return list(boards.values())


def read_progress(connection: Connection, campaign_id: int) -> Progress:
    return Progress(
        open_runs=live_evidence.open_runs(connection, [campaign_id]),
        evidence=live_evidence.evidence_so_far(connection, [campaign_id]),
    )


def read_notes(connection: Connection, campaign_id: int) -> list[NoteFacts]:
    return campaigns.notes(connection, campaign_id)


def read_movements(connection: Connection, campaign_ids: Sequence[int]) -> Movements:
    decided = campaigns.decided_at(connection, campaign_ids)
    return Movements(tuple(runs.movement(connection, campaign_ids)), tuple(decided))


def read_work(connection: Connection) -> Work:
    return Work(
        workers=work.workers(connection),
        open_requests=work.open_requests(connection),
        recent_requests=work.recent_requests(connection),
    )


def read_run_record(connection: Connection, run_id: int, launch_id: int | None) -> RunRecord:
    """Raises UnknownIdError."""
    return RunRecord(
        proof=known(runs.run_proof(connection, run_id), IdKind.RUN, run_id),
        launch=runs.launch(connection, launch_id) if launch_id else None,
        fingerprints=runs.fingerprints(connection, launch_id) if launch_id else [],
        stillness=wedges.run_stillness(connection, run_id),
        raw=observations.raw_of_run(connection, run_id, _OF_A_RUN),
    )


def read_transcript(connection: Connection, session_id: int) -> Transcript:
    """Raises UnknownIdError."""
    session = known(sessions.session(connection, session_id), IdKind.SESSION, session_id)
    turns = sessions.turns(connection, session_id)
    raw = observations.raw_of_turns(connection, [turn.id for turn in turns])
    return Transcript(session=session, turns=turns, raw=raw)


def search_sessions_now(
    connection: Connection, where: str, run_ids: Sequence[int] | None, *, offset: int
) -> SessionSearch:
    """Raises FilterError."""
    wanted = parse_filter(where, SESSION_KEYS)
    return search_sessions(connection, wanted, cap=_cap(), run_ids=run_ids, offset=offset)


def session_order_now(connection: Connection, where: str) -> FoundPlaces:
    """Raises FilterError."""
    wanted = parse_filter(where, SESSION_KEYS)
    return session_places(connection, wanted, cap=_cap(), limit=_MOST_STEPS)


def search_log_now(connection: Connection, window: LogWindow, where: str) -> LogSearch:
    """Raises FilterError."""
    return search_log(connection, window, parse_filter(where, LOG_KEYS), cap=_cap())


def _cap() -> TimeCap:
    return TimeCap(_SEARCHES_S, monotonic_s=SystemClock().monotonic_s)


def known(found: Found | None, kind: IdKind, row_id: int) -> Found:
    """What was found. Raises UnknownIdError where that is nothing."""
    if found is None:
        raise UnknownIdError(f"There is no {format_id(kind, row_id)} in this store.")
    return found


def read_raw_bytes(connection: Connection, raw_ids: Sequence[int]) -> bytes:
    """The recorded bytes behind one another."""
    pieces = [observations.raw_bytes(connection, raw_id) for raw_id in raw_ids]
    return b"".join(piece for piece in pieces if piece is not None)
