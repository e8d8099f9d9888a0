"""What the pages read, each answer at most a second old; `app.kept_answers` has the caches."""

from collections.abc import Sequence

import pandas as pd

from app import records
from app.arm_pictures import gantt_bars
from app.campaign_files import OfferedFile
from app.cell_reading import CellReading, read_cells
from app.errors import NoStoreError
from app.figures.run_gantt import GanttBar
from app.kept_answers import (
    answer_of,
    answer_of_runs,
    answer_until_moved,
    kept_bars,
    kept_board,
    kept_cells,
    kept_divergence,
    kept_linkage,
    kept_list,
    kept_plan_answers,
    kept_report,
    opened_store,
    reading,
    store_key,
)
from app.listed_campaign import ListedCampaign, listed
from app.palette import palette_for
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
from runner.campaign.definition import definition_key
from runner.campaign.plan import Plan
from runner.report.issue_report import Project
from runner.report.redaction import Redacted
from runner.report.report_formats import DocumentFormat
from runner.report.stored_report import ReportScope


def campaign_list() -> list[CampaignFacts]:
    """Newest first, without their runs."""
    return answer_of(campaigns.campaigns)


def campaign_count() -> int:
    """Of all that are stored, of which the list names the newest."""
    return answer_of(campaigns.campaign_count)


def campaign_in_work() -> int | None:
    return answer_of(runs.campaign_in_work)


def movements(campaign_ids: Sequence[int]) -> records.Movements:
    """Changes whenever a run or a verdict of these campaigns does."""
    return answer_of(records.read_movements, tuple(campaign_ids))


def board(campaign_id: int) -> records.Board:
    """Of a campaign that stands still kept until it moves. Raises UnknownIdError."""
    moved = movements([campaign_id])
    if moved.is_still:
        return kept_board(store_key(), campaign_id, moved)
    return answer_of(records.read_board, campaign_id)


def cells(board: records.Board) -> list[CellReading]:
    """The runs of a campaign summed up by arm."""
    moved = movements([board.campaign.id])
    if moved.is_still:
        return kept_cells(store_key(), board.campaign.id, moved, board)
    return read_cells(board.arms, board.runs, board.campaign.corrupt_outcomes)


def listed_campaigns(of: Sequence[CampaignFacts]) -> list[ListedCampaign]:
    """Asked once which of them moved: those that stand still beside one in work stay kept."""
    ids = tuple(campaign.id for campaign in of)
    moved = movements(ids)
    if moved.is_still:
        return kept_list(store_key(), ids, moved, of)
    return [_listed(campaign, moved.of(campaign.id)) for campaign in of]


def _listed(campaign: CampaignFacts, moved: records.Movements) -> ListedCampaign:
    if moved.is_still:
        return kept_list(store_key(), (campaign.id,), moved, [campaign])[0]
    return listed(answer_of(records.read_board, campaign.id))


def clock_bars(
    board: records.Board, cells: Sequence[CellReading], *, theme: str | None, at_most: int
) -> list[GanttBar]:
    """The runs begun last as bars; those of a campaign that stands still kept until it moves."""
    moved = movements([board.campaign.id])
    if moved.is_still:
        return kept_bars(
            store_key(), board.campaign.id, moved, theme, at_most, board, cells, now_us()
        )
    corrupt = board.campaign.corrupt_outcomes
    return gantt_bars(cells, corrupt, palette_for(theme), now_us=now_us(), at_most=at_most)


def linkage(board: records.Board) -> list[str]:
    """Whether wedges and corruption come together; nothing is said while a run is in work."""
    moved = movements([board.campaign.id])
    return kept_linkage(store_key(), board.campaign.id, moved, board) if moved.is_still else []


def earlier_runs(campaign_name: str, *, stack: str) -> list[EarlierRun]:
    """None where there is no store yet."""
    try:
        return answer_of(earlier.earlier_runs, campaign_name, stack=stack)
    except NoStoreError:
        return []


def work_now() -> records.Work:
    return answer_of(records.read_work)


def campaign_by_definition(definition_key: str) -> int | None:
    """None also where there is no store yet: whatever is asked for is new there."""
    try:
        return answer_of(campaigns.campaign_by_definition, definition_key)
    except NoStoreError:
        return None


def campaign_definition_key(campaign_id: int) -> str | None:
    return answer_of(campaigns.campaign_definition_key, campaign_id)


def last_request_of(campaign_id: int) -> LaunchRequestFacts | None:
    return answer_of(work.last_request_of, campaign_id)


def plan_answers(offered: OfferedFile, plan: Plan) -> tuple[list[str], str]:
    """What the plan can answer: lines a hypothesis, and one sentence on the whole of it."""
    key = definition_key(plan.campaign, offered.known_stack)
    token = f"{key} {plan.campaign.schedule.blocks} {len(plan.campaign.hypotheses)}"
    return kept_plan_answers(token, plan, offered.known_stack)


def stack_leases() -> list[StackLeaseFacts]:
    return answer_of(work.stack_leases)


def campaign_of_run(run_id: int) -> int:
    """Raises UnknownIdError."""
    return records.known(answer_of(campaigns.campaign_of_run, run_id), IdKind.RUN, run_id)


def campaign_of_session(session_id: int) -> int:
    """Raises UnknownIdError."""
    found = answer_of(campaigns.campaign_of_session, session_id)
    return records.known(found, IdKind.SESSION, session_id)


def campaign_of_arm(arm_id: int) -> int:
    """Raises UnknownIdError."""
    return records.known(answer_of(campaigns.campaign_of_arm, arm_id), IdKind.ARM, arm_id)


def campaign_of_hypothesis(hypothesis_id: int) -> int:
    """Raises UnknownIdError."""
    found = answer_of(campaigns.campaign_of_hypothesis, hypothesis_id)
    return records.known(found, IdKind.HYPOTHESIS, hypothesis_id)


def judgements(hypothesis_id: int) -> list[JudgementFacts]:
    return answer_of(campaigns.judgements, hypothesis_id)


def notes(campaign_id: int) -> list[NoteFacts]:
    return answer_of(records.read_notes, campaign_id)


def progress(campaign_id: int) -> records.Progress:
    return answer_of(records.read_progress, campaign_id)


def run_record(run: RunCounts) -> records.RunRecord:
    return answer_of(records.read_run_record, run.id, run.launch_id)


def run_sessions(
    run_id: int, *, outcomes: Sequence[str], limit: int, offset: int
) -> list[SessionFacts]:
    return answer_of(sessions.sessions, run_id, outcomes=outcomes, limit=limit, offset=offset)


def sessions_of_runs(
    of: Sequence[RunCounts], *, outcomes: Sequence[str], limit: int = 100, offset: int = 0
) -> list[SessionFacts]:
    """Of runs of one campaign, as those below."""
    return answer_of_runs(
        sessions.sessions_of_runs, of, outcomes=outcomes, limit=limit, offset=offset
    )


def session_search(
    campaign_id: int, where: str, run_ids: Sequence[int] | None = None, *, offset: int = 0
) -> SessionSearch:
    """Sessions of this campaign that pass, of these runs where given. Raises FilterError."""
    ids = None if run_ids is None else tuple(run_ids)
    moved = movements([campaign_id])
    return answer_until_moved(moved, records.search_sessions_now, where, ids, offset=offset)


def session_order(where: str) -> FoundPlaces:
    """The list in which a session page steps. Raises FilterError."""
    return answer_of(records.session_order_now, where)


def log_search(window: LogWindow, where: str) -> LogSearch:
    """Raises FilterError."""
    return answer_of(records.search_log_now, window, where)


def failing_dialogues(of: Sequence[RunCounts], *, outcomes: Sequence[str]) -> list[FailingDialogue]:
    return answer_of_runs(sessions.failing_dialogues, of, outcomes=outcomes)


def first_token_waits(of: Sequence[RunCounts]) -> list[float]:
    return answer_of_runs(sessions.first_token_waits, of)


def first_token_quantile(of: Sequence[RunCounts], *, share: float) -> Waited | None:
    return answer_of_runs(sessions.first_token_quantile, of, share=share)


def silent_reasons(of: Sequence[RunCounts]) -> dict[str, int]:
    return answer_of_runs(sessions.reason_counts, of)


def session_spans(run_id: int) -> pd.DataFrame:
    return answer_of(sessions.session_spans, run_id)


def metric_names(run_id: int) -> list[str]:
    return answer_of(observations.metric_names, run_id)


def metric_samples(run_id: int, names: Sequence[str]) -> pd.DataFrame:
    return answer_of(observations.metric_samples, run_id, names)


def log_events(
    run_id: int, *, from_us: int = 0, to_us: int | None = None, limit: int = 200
) -> list[LogEventFacts]:
    return answer_of(observations.log_events, run_id, from_us=from_us, to_us=to_us, limit=limit)


def log_density(run_id: int, *, bin_us: int) -> pd.DataFrame:
    return answer_of(observations.log_density, run_id, bin_us=bin_us)


def log_event_counts(run_id: int) -> pd.DataFrame:
    return answer_of(observations.log_event_counts, run_id)


def log_event_counts_of_runs(of: Sequence[RunCounts]) -> pd.DataFrame:
    return answer_of_runs(observations.log_event_counts_of_runs, of)


def transcript(session_id: int) -> records.Transcript:
    """Raises UnknownIdError."""
    return answer_of(records.read_transcript, session_id)


def twins(campaign_id: int, session_index: int) -> list[TwinFacts]:
    return answer_of(sessions.twins, campaign_id, session_index)


def paired_outcomes(a: RunCounts, b: RunCounts) -> pd.DataFrame:
    moved = movements(sorted({a.campaign_id, b.campaign_id}))
    return answer_until_moved(moved, sessions.paired_outcomes, a.id, b.id)


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
    return kept_divergence(store_key(), ids, tuple(corrupt), sides)


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
    return kept_report(store_key(), scope, form, project, taken_out, token)


def schema_version() -> int:
    return opened_store(store_key()).schema_version()


def now_us() -> int:
    """The time by the clock of the store, which also stamps what is recorded."""
    return opened_store(store_key()).clock.utc_us()
