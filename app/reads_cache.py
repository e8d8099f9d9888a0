"""What the pages read, with every cache of the dashboard in this one file.

Caches are shared by all viewers. What may still change lives for a second; what ended lives longer.
Every key carries the identity of the store, so that a replaced file is never answered from memory.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd
import streamlit as st
from sqlalchemy import Connection

from app.errors import NoStoreError, UnknownIdError, UnreadableStoreError
from app.settings import read_settings
from db.errors import StoreError, StoreMissingError
from db.identifiers import IdKind, format_id
from db.reads import campaigns, observations, runs, sessions, work
from db.reads.campaigns import ArmFacts, CampaignFacts, VerdictFacts
from db.reads.observations import LogEventFacts, RawFacts
from db.reads.runs import FingerprintFacts, LaunchFacts, RunCounts, RunProof, WedgeFacts
from db.reads.sessions import Neighbours, SessionFacts, TurnFacts, TwinFacts
from db.reads.work import LaunchRequestFacts, WorkerFacts
from db.store import Store, open_store_read_only
from db.store_url import parse_store_url
from db.vocabulary import RawKind

_CHANGING_S = 1.0
_ENDED_S = 120.0


class StoreKey(NamedTuple):
    """A store's address and, for a file, which file it is at this moment."""

    url: str
    device: int = 0
    inode: int = 0


@dataclass(frozen=True, slots=True)
class Overview:
    """All campaigns with what the list of them says."""

    campaigns: list[CampaignFacts]
    arms: list[ArmFacts]
    runs: list[RunCounts]
    verdicts: list[VerdictFacts]


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
        """Raises UnknownIdError: the run was stored after this board was read."""
        for run in self.runs:
            if run.id == run_id:
                return run
        raise UnknownIdError(f"There is no {format_id(IdKind.RUN, run_id)} in this campaign.")


@dataclass(frozen=True, slots=True)
class Work:
    """Workers and the queue, at `read_at_us`."""

    workers: list[WorkerFacts]
    open_requests: list[LaunchRequestFacts]
    recent_requests: list[LaunchRequestFacts]
    read_at_us: int


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What one run's page shows besides its counters and sessions."""

    proof: RunProof
    launch: LaunchFacts | None
    fingerprints: list[FingerprintFacts]
    wedges: list[WedgeFacts]
    raw: list[RawFacts]


@dataclass(frozen=True, slots=True)
class Transcript:
    session: SessionFacts
    turns: list[TurnFacts]
    raw: list[RawFacts]


def overview() -> Overview:
    return _overview(_store_key())


def board(campaign_id: int) -> Board:
    """Raises UnknownIdError."""
    return _board(_store_key(), campaign_id)


def work_now() -> Work:
    return _work(_store_key())


def forget_work() -> None:
    """After a write of ours: the next look at the queue must see it."""
    _work.clear()


def now_us() -> int:
    """The time by the clock of the store, which also stamps what is recorded."""
    return _opened(_store_key()).clock.utc_us()


def campaign_of_run(run_id: int) -> int:
    """Raises UnknownIdError."""
    with reading() as connection:
        found = campaigns.campaign_of_run(connection, run_id)
    return _known(found, IdKind.RUN, run_id)


def campaign_of_session(session_id: int) -> int:
    """Raises UnknownIdError."""
    with reading() as connection:
        found = campaigns.campaign_of_session(connection, session_id)
    return _known(found, IdKind.SESSION, session_id)


def campaign_source(campaign_id: int) -> str:
    with reading() as connection:
        return campaigns.campaign_source(connection, campaign_id) or ""


def run_record(run: RunCounts) -> RunRecord:
    return _run_record(_store_key(), run.id, run.launch_id)


def run_sessions(
    run_id: int, *, outcomes: Sequence[str], limit: int, offset: int
) -> list[SessionFacts]:
    return _run_sessions(_store_key(), run_id, tuple(outcomes), limit, offset)


def session_total(run_id: int, *, outcomes: Sequence[str]) -> int:
    return _session_total(_store_key(), run_id, tuple(outcomes))


def sessions_of_runs(
    run_ids: Sequence[int], *, outcomes: Sequence[str], limit: int = 100
) -> list[SessionFacts]:
    return _sessions_of_runs(_store_key(), tuple(run_ids), tuple(outcomes), limit)


def silent_reasons(run_ids: Sequence[int]) -> dict[str, int]:
    return _silent_reasons(_store_key(), tuple(run_ids))


def session_spans(run_id: int) -> pd.DataFrame:
    return _session_spans(_store_key(), run_id)


def metric_samples(run_id: int, names: Sequence[str]) -> pd.DataFrame:
    return _metric_samples(_store_key(), run_id, tuple(names))


def log_events(
    run_id: int, *, from_us: int = 0, to_us: int | None = None, limit: int = 200
) -> list[LogEventFacts]:
    return _log_events(_store_key(), run_id, from_us, to_us, limit)


def log_event_counts(run_id: int) -> pd.DataFrame:
    return _log_event_counts(_store_key(), run_id)


def transcript(session_id: int) -> Transcript:
    """Raises UnknownIdError."""
    return _transcript(_store_key(), session_id)


def neighbours(session: SessionFacts, *, outcomes: Sequence[str]) -> Neighbours:
    with reading() as connection:
        return sessions.neighbours(connection, session, outcomes=outcomes)


def twins(campaign_id: int, session_index: int) -> list[TwinFacts]:
    return _twins(_store_key(), campaign_id, session_index)


def paired_outcomes(run_a: int, run_b: int) -> pd.DataFrame:
    return _paired_outcomes(_store_key(), run_a, run_b)


def raw_bytes(raw_ids: Sequence[int]) -> bytes:
    """The recorded bytes behind one another, read when asked for and never kept in memory."""
    with reading() as connection:
        pieces = [observations.raw_bytes(connection, raw_id) for raw_id in raw_ids]
    return b"".join(piece for piece in pieces if piece is not None)


@contextmanager
def reading() -> Iterator[Connection]:
    """One consistent moment of the store. Raises NoStoreError, UnreadableStoreError."""
    with _moment(_store_key()) as connection:
        yield connection


def _store_key() -> StoreKey:
    """Raises NoStoreError, UnreadableStoreError."""
    url = read_settings().store_url
    with _translated():
        path = parse_store_url(url).path
    if path is None:
        return StoreKey(url)
    try:
        status = path.stat()
    except OSError:
        raise NoStoreError(f"There is no store at {path} yet.") from None
    return StoreKey(url, status.st_dev, status.st_ino)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except StoreMissingError as error:
        raise NoStoreError(str(error)) from error
    except StoreError as error:
        raise UnreadableStoreError(str(error)) from error


def _known(found: int | None, kind: IdKind, row_id: int) -> int:
    if found is None:
        raise UnknownIdError(f"There is no {format_id(kind, row_id)} in this store.")
    return found


@st.cache_resource(max_entries=4, on_release=Store.close, show_spinner=False)
def _opened(key: StoreKey) -> Store:
    return open_store_read_only(key.url)


@st.cache_data(ttl=_CHANGING_S, max_entries=8, show_spinner=False)
def _overview(key: StoreKey) -> Overview:
    with _moment(key) as connection:
        found = campaigns.campaigns(connection)
        ids = [campaign.id for campaign in found]
        return Overview(
            campaigns=found,
            arms=campaigns.arms(connection, ids),
            runs=runs.runs(connection, ids),
            verdicts=campaigns.verdicts(connection, ids),
        )


@st.cache_data(ttl=_CHANGING_S, max_entries=32, show_spinner=False)
def _board(key: StoreKey, campaign_id: int) -> Board:
    with _moment(key) as connection:
        campaign = campaigns.campaign(connection, campaign_id)
        if campaign is None:
            name = format_id(IdKind.CAMPAIGN, campaign_id)
            raise UnknownIdError(f"There is no {name} in this store.")
        return Board(
            campaign=campaign,
            arms=campaigns.arms(connection, [campaign_id]),
            runs=runs.runs(connection, [campaign_id]),
            verdicts=campaigns.verdicts(connection, [campaign_id]),
        )


@st.cache_data(ttl=_CHANGING_S, max_entries=4, show_spinner=False)
def _work(key: StoreKey) -> Work:
    with _moment(key) as connection:
        return Work(
            workers=work.workers(connection),
            open_requests=work.open_requests(connection),
            recent_requests=work.recent_requests(connection),
            read_at_us=_opened(key).clock.utc_us(),
        )


@st.cache_data(ttl=_CHANGING_S, max_entries=32, show_spinner=False)
def _run_record(key: StoreKey, run_id: int, launch_id: int | None) -> RunRecord:
    of_the_run = [RawKind.SERVICE_LOG, RawKind.SERVER_INFO, RawKind.SCRAPE]
    with _moment(key) as connection:
        proof = runs.run_proof(connection, run_id)
        if proof is None:
            raise UnknownIdError(f"There is no {format_id(IdKind.RUN, run_id)} in this store.")
        return RunRecord(
            proof=proof,
            launch=runs.launch(connection, launch_id) if launch_id else None,
            fingerprints=runs.fingerprints(connection, launch_id) if launch_id else [],
            wedges=runs.wedge_spans(connection, run_id),
            raw=observations.raw_of_run(connection, run_id, of_the_run),
        )


@st.cache_data(ttl=_CHANGING_S, max_entries=64, show_spinner=False)
def _run_sessions(
    key: StoreKey, run_id: int, outcomes: tuple[str, ...], limit: int, offset: int
) -> list[SessionFacts]:
    with _moment(key) as connection:
        return sessions.sessions(connection, run_id, outcomes=outcomes, limit=limit, offset=offset)


@st.cache_data(ttl=_CHANGING_S, max_entries=64, show_spinner=False)
def _session_total(key: StoreKey, run_id: int, outcomes: tuple[str, ...]) -> int:
    with _moment(key) as connection:
        return sessions.session_count(connection, run_id, outcomes=outcomes)


@st.cache_data(ttl=_CHANGING_S, max_entries=64, show_spinner=False)
def _sessions_of_runs(
    key: StoreKey, run_ids: tuple[int, ...], outcomes: tuple[str, ...], limit: int
) -> list[SessionFacts]:
    with _moment(key) as connection:
        return sessions.sessions_of_runs(connection, run_ids, outcomes=outcomes, limit=limit)


@st.cache_data(ttl=_CHANGING_S, max_entries=64, show_spinner=False)
def _silent_reasons(key: StoreKey, run_ids: tuple[int, ...]) -> dict[str, int]:
    with _moment(key) as connection:
        return sessions.reason_counts(connection, run_ids)


@st.cache_data(ttl=_CHANGING_S, max_entries=16, show_spinner=False)
def _session_spans(key: StoreKey, run_id: int) -> pd.DataFrame:
    with _moment(key) as connection:
        return sessions.session_spans(connection, run_id)


@st.cache_data(ttl=_CHANGING_S, max_entries=16, show_spinner=False)
def _metric_samples(key: StoreKey, run_id: int, names: tuple[str, ...]) -> pd.DataFrame:
    with _moment(key) as connection:
        return observations.metric_samples(connection, run_id, names)


@st.cache_data(ttl=_CHANGING_S, max_entries=32, show_spinner=False)
def _log_events(
    key: StoreKey, run_id: int, from_us: int, to_us: int | None, limit: int
) -> list[LogEventFacts]:
    with _moment(key) as connection:
        return observations.log_events(
            connection, run_id, from_us=from_us, to_us=to_us, limit=limit
        )


@st.cache_data(ttl=_CHANGING_S, max_entries=32, show_spinner=False)
def _log_event_counts(key: StoreKey, run_id: int) -> pd.DataFrame:
    with _moment(key) as connection:
        return observations.log_event_counts(connection, run_id)


@st.cache_data(ttl=_ENDED_S, max_entries=64, show_spinner=False)
def _transcript(key: StoreKey, session_id: int) -> Transcript:
    with _moment(key) as connection:
        session = sessions.session(connection, session_id)
        if session is None:
            name = format_id(IdKind.SESSION, session_id)
            raise UnknownIdError(f"There is no {name} in this store.")
        turns = sessions.turns(connection, session_id)
        raw = observations.raw_of_turns(connection, [turn.id for turn in turns])
        return Transcript(session=session, turns=turns, raw=raw)


@st.cache_data(ttl=_CHANGING_S, max_entries=64, show_spinner=False)
def _twins(key: StoreKey, campaign_id: int, session_index: int) -> list[TwinFacts]:
    with _moment(key) as connection:
        return sessions.twins(connection, campaign_id, session_index)


@st.cache_data(ttl=_CHANGING_S, max_entries=16, show_spinner=False)
def _paired_outcomes(key: StoreKey, run_a: int, run_b: int) -> pd.DataFrame:
    with _moment(key) as connection:
        return sessions.paired_outcomes(connection, run_a, run_b)


@contextmanager
def _moment(key: StoreKey) -> Iterator[Connection]:
    with _translated(), _opened(key).session() as session:
        yield session.connection()
