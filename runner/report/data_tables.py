"""The numbers behind a report as tables for other programs: typed columns, one row at a time.

Moments are microseconds since the epoch, UTC (`_us`), durations seconds (`_s`); ids are written as
everywhere. Nothing here is pooled or judged.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from db.identifiers import IdKind, format_id
from db.reads.campaigns import ArmFacts
from db.reads.exports import every_session, every_turn, every_wedge
from db.reads.runs import RunCounts
from db.reads.sessions import SessionFacts, TurnFacts
from db.store import Store
from db.vocabulary import Outcome
from runner.campaign.file_shape import level_text
from runner.report.report_record import CampaignRecord, ReportedVerdict


class ColumnKind(StrEnum):
    TEXT = "text"
    WHOLE = "whole"
    REAL = "real"


class Column(NamedTuple):
    name: str
    kind: ColumnKind


Cell = str | int | float | None
Row = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class DataTable:
    """`rows` begins anew at each call."""

    name: str
    columns: tuple[Column, ...]
    rows: Callable[[], Iterator[Row]]


_COUNTS = tuple(f"n_{outcome}" for outcome in Outcome)


def data_tables(
    store: Store, record: CampaignRecord, *, arm_ids: Sequence[int], hides_prompts: bool
) -> tuple[DataTable, ...]:
    """Arms, runs, verdicts, sessions, turns and wedges of the arms named.

    What the judge says of a turn quotes it, so it is left out where prompts are.
    """
    arms = [arm for arm in record.arms if arm.id in arm_ids]
    runs = [run for run in record.runs if run.arm_id in arm_ids]
    run_ids = [run.id for run in runs]

    def sessions() -> Iterator[Row]:
        with store.session() as session:
            for each in every_session(session.connection(), run_ids):
                yield _session_row(each, hides_prompts=hides_prompts)

    def turns() -> Iterator[Row]:
        with store.session() as session:
            for each in every_turn(session.connection(), run_ids):
                yield _turn_row(each, hides_prompts=hides_prompts)

    def wedges() -> Iterator[Row]:
        with store.session() as session:
            for run_id, service, start_us, end_us, victims in every_wedge(
                session.connection(), run_ids
            ):
                yield (format_id(IdKind.RUN, run_id), service, start_us, end_us, victims)

    return (
        _arm_table(arms),
        DataTable("runs", _RUN_COLUMNS, lambda: map(_run_row, runs)),
        DataTable("verdicts", _VERDICT_COLUMNS, lambda: map(_verdict_row, record.verdicts)),
        DataTable("sessions", _SESSION_COLUMNS, sessions),
        DataTable("turns", _TURN_COLUMNS, turns),
        DataTable("wedges", _WEDGE_COLUMNS, wedges),
    )


def _columns(text: str) -> tuple[Column, ...]:
    """From `name` for text, `name#` for whole numbers, `name~` for real ones."""
    kinds = {"#": ColumnKind.WHOLE, "~": ColumnKind.REAL}
    return tuple(
        Column(word.rstrip("#~"), kinds.get(word[-1], ColumnKind.TEXT)) for word in text.split()
    )


_RUN_COLUMNS = _columns(
    "run arm block# position# attempt# state reason flags launch sessions_planned# "
    + " ".join(f"{name}#" for name in _COUNTS)
    + " wedges# wedge_requests# wedge_lines# peak_running~ wall_s~ started_at_us# ended_at_us#"
)
_VERDICT_COLUMNS = _columns(
    "hypothesis registered claim arm versus predict headline elimination direction availability "
    "sentence"
)
_SESSION_COLUMNS = _columns(
    "session run session_index# dialogue outcome reason detail flags decisive_turn_index# "
    "rounds_planned# rounds_completed# started_at_us# ended_at_us# first_token_s~ prompt_tokens# "
    "completion_tokens# host_cached_tokens# judge_version"
)
_TURN_COLUMNS = _columns(
    "session turn_index# round_index# request reading outcome reason detail flags http_status# "
    "transport_end finish_reason started_at_us# first_byte_s~ first_token_s~ last_progress_s~ "
    "duration_s~ prompt_tokens# completion_tokens# cached_tokens# host_cached_tokens#"
)
_WEDGE_COLUMNS = _columns("run service started_at_us# ended_at_us# victims#")


def _arm_table(arms: Sequence[ArmFacts]) -> DataTable:
    """A column for each factor."""
    factors = list(dict.fromkeys(factor for arm in arms for factor in arm.levels))
    columns = (
        *_columns("arm name tag is_baseline# sessions_per_run#"),
        *(Column(f"level_{factor}", ColumnKind.TEXT) for factor in factors),
    )

    def row(arm: ArmFacts) -> Row:
        levels = (level_text(arm.levels[f]) if f in arm.levels else None for f in factors)
        own = (arm.name, arm.tag, int(arm.is_baseline), arm.sessions_per_run)
        return (format_id(IdKind.ARM, arm.id), *own, *levels)

    return DataTable("arms", columns, lambda: map(row, arms))


def _run_row(run: RunCounts) -> Row:
    launch = None if run.launch_id is None else format_id(IdKind.LAUNCH, run.launch_id)
    return (
        format_id(IdKind.RUN, run.id),
        format_id(IdKind.ARM, run.arm_id),
        run.block,
        run.position,
        run.attempt,
        run.state,
        run.reason,
        _listed(run.flags),
        launch,
        run.sessions_planned,
        *(getattr(run, name) for name in _COUNTS),
        run.wedges,
        run.told_wedge_requests,
        None if run.told_wedge_requests is None else run.wedge_lines,
        run.peak_running,
        run.wall_s,
        run.started_at_us,
        run.ended_at_us,
    )


def _verdict_row(each: ReportedVerdict) -> Row:
    verdict = each.verdict
    return (
        each.slug,
        "no" if verdict.is_exploratory else "yes",
        each.claim,
        each.arm_name,
        each.versus_name,
        each.predict,
        str(verdict.headline),
        str(verdict.elimination),
        str(verdict.direction),
        str(verdict.availability),
        verdict.sentence,
    )


def _session_row(each: SessionFacts, *, hides_prompts: bool) -> Row:
    return (
        format_id(IdKind.SESSION, each.id),
        format_id(IdKind.RUN, each.run_id),
        each.session_index,
        each.dialogue_key,
        each.outcome,
        each.reason,
        None if hides_prompts else each.detail,
        _listed(each.flags),
        each.decisive_turn,
        each.rounds_planned,
        each.rounds_completed,
        each.started_at_us if each.is_timed else None,
        each.ended_at_us if each.is_timed else None,
        each.first_token_s,
        each.prompt_tokens,
        each.completion_tokens,
        each.host_cached_tokens,
        each.judge_version,
    )


def _turn_row(each: TurnFacts, *, hides_prompts: bool) -> Row:
    return (
        format_id(IdKind.SESSION, each.session_id),
        each.turn_index,
        each.round_index,
        each.request_id,
        each.reading,
        each.outcome,
        each.reason,
        None if hides_prompts else each.detail,
        _listed(each.flags),
        each.http_status,
        each.transport_end,
        each.finish_reason,
        each.started_at_us or None,
        each.first_byte_s,
        each.first_token_s,
        each.last_progress_s,
        each.duration_s or None,
        each.prompt_tokens,
        each.completion_tokens,
        _whole(each.cached_tokens, "total"),
        _whole(each.cached_tokens, "host"),
    )


def _listed(flags: Sequence[Any]) -> str:
    return " ".join(map(str, flags))


def _whole(numbers: Mapping[str, Any], name: str) -> int | None:
    value = numbers.get(name)
    return value if isinstance(value, int) else None
