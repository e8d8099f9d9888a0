"""Every cache of the dashboard, and the store that they are filled from.

Caches are shared by all viewers and live for a second, so that many pages that poll cost one read.
Every key carries the identity of the store: a replaced file is never answered from memory.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import FunctionType
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar, cast

import streamlit as st
from sqlalchemy import Connection

from app import records
from app.arm_pictures import gantt_bars
from app.cell_reading import CellReading, read_cells
from app.errors import NoStoreError, StoreGoneError, UnreadableStoreError
from app.figures.run_gantt import GanttBar
from app.listed_campaign import ListedCampaign, listed
from app.palette import palette_for
from app.settings import read_settings
from db.errors import StoreError, StoreMissingError
from db.reads.campaigns import CampaignFacts
from db.reads.runs import RunCounts
from db.store import Store, open_store_read_only
from db.store_url import parse_store_url
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

ANSWERS_LIVE_S = 1.0
_PAIRED_DIALOGUES = 100

_opened_before: set[str] = set()
"""The addresses at which a store was read, to tell one that is gone from one not begun yet."""

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


class StoreKey(NamedTuple):
    """A store's address and, for a file, which file it is at this moment."""

    url: str
    device: int = 0
    inode: int = 0


def answer_of(
    query: Callable[Concatenate[Connection, Arguments], Answer],
    *arguments: Arguments.args,
    **options: Arguments.kwargs,
) -> Answer:
    """The answer of a named query, at most a second old. Raises NoStoreError and what it raises."""
    return cast(Answer, _remembered(store_key(), query, arguments, options))


def answer_until_moved(
    moved: records.Movements,
    query: Callable[Concatenate[Connection, Arguments], Answer],
    *arguments: Arguments.args,
    **options: Arguments.kwargs,
) -> Answer:
    """The answer of a query about campaigns, kept while they stand still. Raises as `answer_of`."""
    if not moved.is_still:
        return answer_of(query, *arguments, **options)
    return cast(Answer, _kept(store_key(), moved, query, arguments, options))


def answer_of_runs(
    query: Callable[Concatenate[Connection, tuple[int, ...], Arguments], Answer],
    runs: Sequence[RunCounts],
    *arguments: Arguments.args,
    **options: Arguments.kwargs,
) -> Answer:
    """What a query says of some runs, kept while their campaigns stand still."""
    moved = answer_of(records.read_movements, tuple(sorted({run.campaign_id for run in runs})))
    ids = tuple(run.id for run in runs)
    return answer_until_moved(moved, query, ids, *arguments, **options)


@contextmanager
def reading() -> Iterator[Connection]:
    """One consistent moment of the store. Raises NoStoreError, UnreadableStoreError."""
    with _moment(store_key()) as connection:
        yield connection


def forget_answers() -> None:
    """After a write of ours: the next look must see it."""
    _remembered.clear()
    _kept.clear()
    kept_board.clear()
    kept_cells.clear()
    kept_list.clear()
    kept_bars.clear()
    kept_linkage.clear()
    kept_divergence.clear()


def store_key() -> StoreKey:
    """Raises NoStoreError, of which StoreGoneError is one, and UnreadableStoreError."""
    url = read_settings().store_url
    path = _path_of(url)
    if path is None:
        return StoreKey(url)
    try:
        status = path.stat()
    except OSError:
        if url in _opened_before:
            raise StoreGoneError(f"There is no store at {path} any more.") from None
        raise NoStoreError(f"There is no store at {path} yet.") from None
    return StoreKey(url, status.st_dev, status.st_ino)


@st.cache_resource(max_entries=4, on_release=Store.close, show_spinner=False)
def opened_store(key: StoreKey) -> Store:
    store = open_store_read_only(key.url)
    _opened_before.add(key.url)
    return store


# A campaign of thousands of runs takes longer to read than its page to draw; nothing of it changes
# while it stands still.
@st.cache_resource(max_entries=40, show_spinner=False)
def kept_board(key: StoreKey, campaign_id: int, moved: records.Movements) -> records.Board:
    with _moment(key) as connection:
        return records.read_board(connection, campaign_id)


@st.cache_resource(max_entries=40, show_spinner=False)
def kept_cells(
    key: StoreKey, campaign_id: int, moved: records.Movements, _board: records.Board
) -> list[CellReading]:
    return read_cells(_board.arms, _board.runs, _board.campaign.corrupt_outcomes)


@st.cache_resource(max_entries=40, show_spinner=False)
def kept_bars(
    key: StoreKey,
    campaign_id: int,
    moved: records.Movements,
    theme: str | None,
    at_most: int,
    _board: records.Board,
    _cells: Sequence[CellReading],
    _now_us: int,
) -> list[GanttBar]:
    corrupt = _board.campaign.corrupt_outcomes
    return gantt_bars(_cells, corrupt, palette_for(theme), now_us=_now_us, at_most=at_most)


@st.cache_resource(max_entries=200, show_spinner=False)
def kept_list(
    key: StoreKey,
    campaign_ids: tuple[int, ...],
    moved: records.Movements,
    _campaigns: Sequence[CampaignFacts],
) -> list[ListedCampaign]:
    with _moment(key) as connection:
        boards = records.read_boards(connection, _campaigns)
    return [listed(board) for board in boards]


@st.cache_resource(max_entries=40, show_spinner="Pairing the dialogues of both")
def kept_divergence(
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
def kept_linkage(
    key: StoreKey, campaign_id: int, moved: records.Movements, _board: records.Board
) -> list[str]:
    """Permutations over every turn take seconds where a campaign is large."""
    corrupt = _board.campaign.corrupt_outcomes
    with _moment(key) as connection:
        return stored_linkage_lines(connection, _board.runs, corrupt=corrupt)


@st.cache_data(max_entries=20, show_spinner="Making the report")
def kept_report(
    key: StoreKey,
    scope: ReportScope,
    form: DocumentFormat,
    project: Project | None,
    taken_out: tuple[Redacted, ...],
    token: str,
) -> bytes:
    with _translated():
        store = opened_store(key)
        redactor = redactor_for(store, scope, {*ALWAYS_TAKEN_OUT, *taken_out})
        document = stored_report(store, scope, redactor=redactor)
        return rendered(document, form, project=project)


@st.cache_data(max_entries=50, show_spinner="Working out what this plan can tell apart")
def kept_plan_answers(token: str, _plan: Plan, _stack: Stack) -> tuple[list[str], str]:
    assessed = assess_hypotheses(_plan, _stack, assumptions=Assumptions())
    lines = [
        f"{each.hypothesis.id}: {line}" if number == 0 else f"    {line}"
        for each in assessed
        for number, line in enumerate(assessment_lines(each))
    ]
    return lines, closing_line(assessed) or ""


@lru_cache(maxsize=16)
def _path_of(url: str) -> Path | None:
    """Raises UnreadableStoreError."""
    with _translated():
        return parse_store_url(url).path


def _name_of(query: FunctionType) -> str:
    return f"{query.__module__}.{query.__qualname__}"


# Answers are handed out as they are, for copying those about thousands of runs takes longer than
# reading them: no page changes what it was given.
@st.cache_resource(
    ttl=ANSWERS_LIVE_S, max_entries=200, show_spinner=False, hash_funcs={FunctionType: _name_of}
)
def _remembered(
    key: StoreKey,
    query: Callable[..., Any],
    arguments: Sequence[Any],
    options: Mapping[str, Any],
) -> Any:
    with _moment(key) as connection:
        return query(connection, *arguments, **options)


# Judging sessions anew may leave every counter as it was: that is seen after a minute.
@st.cache_resource(
    ttl=60.0, max_entries=200, show_spinner=False, hash_funcs={FunctionType: _name_of}
)
def _kept(
    key: StoreKey,
    moved: records.Movements,
    query: Callable[..., Any],
    arguments: Sequence[Any],
    options: Mapping[str, Any],
) -> Any:
    with _moment(key) as connection:
        return query(connection, *arguments, **options)


@contextmanager
def _moment(key: StoreKey) -> Iterator[Connection]:
    with _translated(), opened_store(key).session() as session:
        yield session.connection()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except StoreMissingError as error:
        raise NoStoreError(str(error)) from error
    except StoreError as error:
        raise UnreadableStoreError(str(error)) from error
