"""What the pages read, with every cache of the dashboard in this one file.

Caches are shared by all viewers and live for a second, so that many pages that poll cost one read.
Every key carries the identity of the store: a replaced file is never answered from memory.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FunctionType
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar, cast

import pandas as pd
import streamlit as st
from sqlalchemy import Connection

from app import records
from app.campaign_files import OfferedFile
from app.cell_reading import CellReading, read_cells
from app.errors import NoStoreError, UnreadableStoreError
from app.settings import read_settings
from db.errors import StoreError, StoreMissingError
from db.identifiers import IdKind
from db.reads import campaigns, observations, runs, sessions, work
from db.reads import earlier_runs as earlier
from db.reads.campaigns import CampaignFacts, JudgementFacts, NoteFacts
from db.reads.earlier_runs import EarlierRun
from db.reads.log_search import LogSearch, LogWindow
from db.reads.observations import LogEventFacts
from db.reads.runs import RunCounts
from db.reads.session_search import FoundPlaces, SessionSearch
from db.reads.sessions import FailingDialogue, SessionFacts, TwinFacts, Waited
from db.reads.work import LaunchRequestFacts, StackLeaseFacts
from db.store import Store, open_store_read_only
from db.store_url import parse_store_url
from runner.campaign.definition import definition_key
from runner.campaign.plan import Plan
from runner.campaign.stack_file import Stack
from runner.difference.divergence_words import pattern_lines
from runner.difference.stored_pattern import pattern_of_runs
from runner.evidence.assessment_words import assessment_lines, closing_line
from runner.evidence.plan_assessment import Assumptions, assess_hypotheses
from runner.failures.stored_linkage import stored_linkage_lines
from runner.report.issue_report import Project
from runner.report.redaction import Redacted
from runner.report.report_formats import DocumentFormat, rendered
from runner.report.stored_report import (
    ALWAYS_TAKEN_OUT,
    ReportScope,
    redactor_for,
    stored_report,
)

_LIVES_S = 1.0
_PAIRED_DIALOGUES = 100

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


class StoreKey(NamedTuple):
    """A store's address and, for a file, which file it is at this moment."""

    url: str
    device: int = 0
    inode: int = 0


def campaign_list() -> list[CampaignFacts]:
    """Newest first, without their runs."""
    return _read(campaigns.campaigns)


def campaign_in_work() -> int | None:
    return _read(runs.campaign_in_work)


def movements(campaign_ids: Sequence[int]) -> records.Movements:
    """Changes whenever a run or a verdict of these campaigns does."""
    return _read(records.read_movements, tuple(campaign_ids))


def board(campaign_id: int) -> records.Board:
    """Of a campaign that stands still kept until it moves. Raises UnknownIdError."""
    moved = movements([campaign_id])
    if moved.is_still:
        return _kept_board(_store_key(), campaign_id, moved)
    return _read(records.read_board, campaign_id)


def cells(board: records.Board) -> list[CellReading]:
    """The runs of a campaign summed up by arm."""
    moved = movements([board.campaign.id])
    if moved.is_still:
        return _kept_cells(_store_key(), board.campaign.id, moved, board)
    return _cells_of(board)


def linkage(board: records.Board) -> list[str]:
    """Whether wedges and corruption come together; nothing is said while a run is in work."""
    moved = movements([board.campaign.id])
    return _kept_linkage(_store_key(), board.campaign.id, moved, board) if moved.is_still else []


def earlier_runs(campaign_name: str, *, stack: str) -> list[EarlierRun]:
    """None where there is no store yet."""
    try:
        return _read(earlier.earlier_runs, campaign_name, stack=stack)
    except NoStoreError:
        return []


def work_now() -> records.Work:
    return _read(records.read_work)


def campaign_by_definition(definition_key: str) -> int | None:
    """None also where there is no store yet: whatever is asked for is new there."""
    try:
        return _read(campaigns.campaign_by_definition, definition_key)
    except NoStoreError:
        return None


def campaign_definition_key(campaign_id: int) -> str | None:
    return _read(campaigns.campaign_definition_key, campaign_id)


def last_request_of(campaign_id: int) -> LaunchRequestFacts | None:
    return _read(work.last_request_of, campaign_id)


def plan_answers(offered: OfferedFile, plan: Plan) -> tuple[list[str], str]:
    """What the plan can answer: lines a hypothesis, and one sentence on the whole of it."""
    key = definition_key(plan.campaign, offered.known_stack)
    token = f"{key} {plan.campaign.schedule.blocks} {len(plan.campaign.hypotheses)}"
    return _remembered_answers(token, plan, offered.known_stack)


def stack_leases() -> list[StackLeaseFacts]:
    return _read(work.stack_leases)


def campaign_of_run(run_id: int) -> int:
    """Raises UnknownIdError."""
    return records.known(_read(campaigns.campaign_of_run, run_id), IdKind.RUN, run_id)


def campaign_of_session(session_id: int) -> int:
    """Raises UnknownIdError."""
    found = _read(campaigns.campaign_of_session, session_id)
    return records.known(found, IdKind.SESSION, session_id)


def campaign_of_arm(arm_id: int) -> int:
    """Raises UnknownIdError."""
    return records.known(_read(campaigns.campaign_of_arm, arm_id), IdKind.ARM, arm_id)


def campaign_of_hypothesis(hypothesis_id: int) -> int:
    """Raises UnknownIdError."""
    found = _read(campaigns.campaign_of_hypothesis, hypothesis_id)
    return records.known(found, IdKind.HYPOTHESIS, hypothesis_id)


def judgements(hypothesis_id: int) -> list[JudgementFacts]:
    return _read(campaigns.judgements, hypothesis_id)


def notes(campaign_id: int) -> list[NoteFacts]:
    return _read(records.read_notes, campaign_id)


def progress(campaign_id: int) -> records.Progress:
    return _read(records.read_progress, campaign_id)


def run_record(run: RunCounts) -> records.RunRecord:
    return _read(records.read_run_record, run.id, run.launch_id)


def run_sessions(
    run_id: int, *, outcomes: Sequence[str], limit: int, offset: int
) -> list[SessionFacts]:
    return _read(sessions.sessions, run_id, outcomes=outcomes, limit=limit, offset=offset)


def sessions_of_runs(
    run_ids: Sequence[int], *, outcomes: Sequence[str], limit: int = 100, offset: int = 0
) -> list[SessionFacts]:
    return _read(sessions.sessions_of_runs, run_ids, outcomes=outcomes, limit=limit, offset=offset)


def session_search(
    where: str, run_ids: Sequence[int] | None = None, *, offset: int = 0
) -> SessionSearch:
    """Sessions that pass, of these runs where given. Raises FilterError."""
    ids = None if run_ids is None else tuple(run_ids)
    return _read(records.search_sessions_now, where, ids, offset=offset)


def session_order(where: str) -> FoundPlaces:
    """The list in which a session page steps. Raises FilterError."""
    return _read(records.session_order_now, where)


def log_search(window: LogWindow, where: str) -> LogSearch:
    """Raises FilterError."""
    return _read(records.search_log_now, window, where)


def failing_dialogues(run_ids: Sequence[int], *, outcomes: Sequence[str]) -> list[FailingDialogue]:
    return _read(sessions.failing_dialogues, run_ids, outcomes=outcomes)


def first_token_waits(run_ids: Sequence[int]) -> list[float]:
    return _read(sessions.first_token_waits, run_ids)


def first_token_quantile(run_ids: Sequence[int], *, share: float) -> Waited | None:
    return _read(sessions.first_token_quantile, run_ids, share=share)


def silent_reasons(run_ids: Sequence[int]) -> dict[str, int]:
    return _read(sessions.reason_counts, run_ids)


def session_spans(run_id: int) -> pd.DataFrame:
    return _read(sessions.session_spans, run_id)


def metric_names(run_id: int) -> list[str]:
    return _read(observations.metric_names, run_id)


def metric_samples(run_id: int, names: Sequence[str]) -> pd.DataFrame:
    return _read(observations.metric_samples, run_id, names)


def log_events(
    run_id: int, *, from_us: int = 0, to_us: int | None = None, limit: int = 200
) -> list[LogEventFacts]:
    return _read(observations.log_events, run_id, from_us=from_us, to_us=to_us, limit=limit)


def log_density(run_id: int, *, bin_us: int) -> pd.DataFrame:
    return _read(observations.log_density, run_id, bin_us=bin_us)


def log_event_counts(run_id: int) -> pd.DataFrame:
    return _read(observations.log_event_counts, run_id)


def transcript(session_id: int) -> records.Transcript:
    """Raises UnknownIdError."""
    return _read(records.read_transcript, session_id)


def twins(campaign_id: int, session_index: int) -> list[TwinFacts]:
    return _read(sessions.twins, campaign_id, session_index)


def paired_outcomes(run_a: int, run_b: int) -> pd.DataFrame:
    return _read(sessions.paired_outcomes, run_a, run_b)


def divergence_lines(
    a: Sequence[RunCounts],
    b: Sequence[RunCounts],
    *,
    again: Sequence[RunCounts],
    corrupt: Sequence[str],
) -> list[str]:
    """Where the dialogues of two runs or arms part first, of the first hundred of each two runs."""
    sides = (tuple(a), tuple(b), tuple(again))
    ids = tuple(tuple((run.id, run.n_ended) for run in side) for side in sides)
    return _kept_divergence(_store_key(), ids, tuple(corrupt), sides)


def raw_bytes(raw_ids: Sequence[int]) -> bytes:
    """Read when they are asked for, and never kept in memory."""
    with reading() as connection:
        return records.read_raw_bytes(connection, raw_ids)


def report_file(
    campaign_id: int,
    *,
    arm_id: int | None = None,
    versus_id: int | None = None,
    session_id: int | None = None,
    form: DocumentFormat = DocumentFormat.MARKDOWN,
    project: Project | None = None,
    taken_out: tuple[Redacted, ...] = (),
) -> bytes:
    """The report as the command line writes it, made anew when a run or a verdict has changed.

    Raises UsageError where it cannot take this form.
    """
    found = board(campaign_id)
    token = repr([(run.id, run.state, run.n_ended, run.flags) for run in found.runs])
    token += repr([(verdict.hypothesis_id, verdict.decided_at_us) for verdict in found.verdicts])
    scope = ReportScope(found.campaign, arm_id, versus_id, session_id)
    return _remembered_report(_store_key(), scope, form, project, taken_out, token)


def schema_version() -> int:
    return _opened(_store_key()).schema_version()


def now_us() -> int:
    """The time by the clock of the store, which also stamps what is recorded."""
    return _opened(_store_key()).clock.utc_us()


def forget_answers() -> None:
    """After a write of ours: the next look must see it."""
    _remembered.clear()
    _kept_board.clear()
    _kept_cells.clear()
    _kept_linkage.clear()
    _kept_divergence.clear()


@contextmanager
def reading() -> Iterator[Connection]:
    """One consistent moment of the store. Raises NoStoreError, UnreadableStoreError."""
    with _moment(_store_key()) as connection:
        yield connection


def _read(
    read: Callable[Concatenate[Connection, Arguments], Answer],
    *arguments: Arguments.args,
    **options: Arguments.kwargs,
) -> Answer:
    """The answer of a named query, at most a second old. Raises NoStoreError and what it raises."""
    return cast(Answer, _remembered(_store_key(), read, arguments, options))


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
def _moment(key: StoreKey) -> Iterator[Connection]:
    with _translated(), _opened(key).session() as session:
        yield session.connection()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except StoreMissingError as error:
        raise NoStoreError(str(error)) from error
    except StoreError as error:
        raise UnreadableStoreError(str(error)) from error


def _name_of(read: FunctionType) -> str:
    return f"{read.__module__}.{read.__qualname__}"


@st.cache_resource(max_entries=4, on_release=Store.close, show_spinner=False)
def _opened(key: StoreKey) -> Store:
    return open_store_read_only(key.url)


# A campaign of thousands of runs takes longer to read than its page to draw; nothing of it changes
# while it stands still.
@st.cache_resource(max_entries=40, show_spinner=False)
def _kept_board(key: StoreKey, campaign_id: int, moved: records.Movements) -> records.Board:
    with _moment(key) as connection:
        return records.read_board(connection, campaign_id)


@st.cache_resource(max_entries=40, show_spinner=False)
def _kept_cells(
    key: StoreKey, campaign_id: int, moved: records.Movements, _board: records.Board
) -> list[CellReading]:
    return _cells_of(_board)


@st.cache_resource(max_entries=40, show_spinner="Pairing the dialogues of both")
def _kept_divergence(
    key: StoreKey,
    ids: tuple[tuple[tuple[int, int], ...], ...],
    corrupt: tuple[str, ...],
    _sides: tuple[tuple[RunCounts, ...], ...],
) -> list[str]:
    a, b, again = _sides
    with _moment(key) as connection:
        pattern = pattern_of_runs(
            connection, a, b, again=again, corrupt=corrupt, most_pairs=_PAIRED_DIALOGUES
        )
    return pattern_lines(pattern, arm="A", reference="B")


@st.cache_resource(max_entries=40, show_spinner="Holding wedges against corruption")
def _kept_linkage(
    key: StoreKey, campaign_id: int, moved: records.Movements, _board: records.Board
) -> list[str]:
    """Permutations over every turn take seconds where a campaign is large."""
    corrupt = _board.campaign.corrupt_outcomes
    with _moment(key) as connection:
        return stored_linkage_lines(connection, _board.runs, corrupt=corrupt)


def _cells_of(board: records.Board) -> list[CellReading]:
    return read_cells(board.arms, board.runs, board.campaign.corrupt_outcomes)


# Answers are handed out as they are, for copying those about thousands of runs takes longer than
# reading them: no page changes what it was given.
@st.cache_resource(
    ttl=_LIVES_S, max_entries=200, show_spinner=False, hash_funcs={FunctionType: _name_of}
)
def _remembered(
    key: StoreKey,
    read: Callable[..., Any],
    arguments: Sequence[Any],
    options: Mapping[str, Any],
) -> Any:
    with _moment(key) as connection:
        return read(connection, *arguments, **options)


@st.cache_data(max_entries=20, show_spinner="Making the report")
def _remembered_report(
    key: StoreKey,
    scope: ReportScope,
    form: DocumentFormat,
    project: Project | None,
    taken_out: tuple[Redacted, ...],
    token: str,
) -> bytes:
    with _translated():
        store = _opened(key)
        redactor = redactor_for(store, scope, {*ALWAYS_TAKEN_OUT, *taken_out})
        document = stored_report(store, scope, redactor=redactor)
        return rendered(document, form, project=project)


@st.cache_data(max_entries=50, show_spinner="Working out what this plan can tell apart")
def _remembered_answers(token: str, _plan: Plan, _stack: Stack) -> tuple[list[str], str]:
    assessed = assess_hypotheses(_plan, _stack, assumptions=Assumptions())
    lines = [
        f"{each.hypothesis.id}: {line}" if number == 0 else f"    {line}"
        for each in assessed
        for number, line in enumerate(assessment_lines(each))
    ]
    return lines, closing_line(assessed) or ""
