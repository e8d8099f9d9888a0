"""`decisive run`: runs what is missing of a campaign, and says what it showed."""

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from shlex import quote
from time import monotonic
from typing import Annotated, NamedTuple

import typer

from db.errors import StoreError
from db.reads.campaigns import CampaignFacts, campaign
from db.store import Store, open_store
from db.store_url import DEFAULT_STORE_URL
from runner.campaign.plan import make_plan
from runner.campaign.until_decided import MOST_BLOCKS, until_decided, with_blocks
from runner.cli.campaign_summary import (
    arms_table,
    campaign_json,
    exit_status,
    say_silence,
    say_verdicts,
)
from runner.cli.chosen_configs import open_configs
from runner.cli.console import (
    ExitStatus,
    progress_console,
    result_console,
    say,
    say_json,
    tell,
)
from runner.cli.error_status import status_of_error
from runner.cli.gate_files import SUMMARY_VARIABLE, GateFiles, summary_of_job
from runner.cli.live_progress import bar_progress, plain_progress
from runner.cli.opening import OpenedCampaign, open_campaign
from runner.cli.options import (
    BlocksOption,
    CampaignFile,
    ConfigsOption,
    JsonOption,
    SeedOption,
    StoreOption,
)
from runner.errors import RunnerError, UsageError
from runner.evidence.assessment_words import unanswerable_line
from runner.evidence.plan_assessment import unanswerable_hypotheses
from runner.execute.attended_run import AttendedEnd, run_attended
from runner.execute.campaign_loop import CampaignEnd
from runner.execute.further_blocks import further_blocks
from runner.execute.progress import ProgressListener
from runner.execute.rehearsal import rehearse
from runner.execute.verdicts import reach_verdicts


def run(
    file: CampaignFile,
    store: StoreOption = DEFAULT_STORE_URL,
    configs: ConfigsOption = None,
    order_seed: SeedOption = None,
    blocks: BlocksOption = None,
    budget_minutes: Annotated[
        float | None,
        typer.Option(
            "--budget-minutes",
            min=0.01,
            help="End after so long, whatever happens: the sessions in flight get 30 s more.",
        ),
    ] = None,
    wants_decision: Annotated[
        bool,
        typer.Option(
            "--until-decided",
            help="Add blocks until no registered hypothesis is inconclusive for want of runs: at "
            f"most --blocks ({MOST_BLOCKS} by default). Judged as `stop: decided` is.",
        ),
    ] = False,
    junit: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write what came of it as JUnit XML; replaces FILE."),
    ] = None,
    summary: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Add what came of it as Markdown to FILE.",
            show_default=f"${SUMMARY_VARIABLE}, where a job has it",
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Print every command and request to the stack, in order; run none."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Run what is missing of a campaign. Ctrl-C stops after the sessions in flight."""
    first_blocks = None if wants_decision else blocks
    opened = open_campaign(file, open_configs(configs), order_seed=order_seed, blocks=first_blocks)
    if wants_decision:
        opened = opened._replace(campaign=until_decided(opened.campaign))
    if dry_run:
        runs = make_plan(opened.campaign, opened.stack).runs
        rehearse(opened.campaign, opened.stack, runs, say=say)
        return
    gate = GateFiles(junit, summary or summary_of_job(os.environ))
    gate.check()
    budget_s = None if budget_minutes is None else budget_minutes * 60
    most_blocks = (blocks or MOST_BLOCKS) if wants_decision else None
    with open_store(store) as opened_store:
        _say_what_cannot_be_answered(opened, file, most_blocks)
        status = _run_guarding(opened, opened_store, gate, as_json, budget_s, most_blocks)
    raise typer.Exit(status)


def _say_what_cannot_be_answered(
    opened: OpenedCampaign, file: str, most_blocks: int | None
) -> None:
    """Before the first run, of all blocks that there may be."""
    campaign = opened.campaign
    if most_blocks is not None:
        campaign = with_blocks(campaign, max(most_blocks, campaign.schedule.blocks))
    found = unanswerable_hypotheses(make_plan(campaign, opened.stack), opened.stack)
    for each in found:
        tell(unanswerable_line(each, command=f"decisive plan {quote(file)}"))


def _run_guarding(
    opened: OpenedCampaign,
    store: Store,
    gate: GateFiles,
    as_json: bool,
    budget_s: float | None,
    most_blocks: int | None,
) -> ExitStatus:
    """The job that called is told also where the stack could not be brought up."""
    name = opened.campaign.name
    try:
        came_of_it = _run(opened, store, as_json, budget_s, most_blocks)
    except (RunnerError, StoreError) as error:
        gate.write(store, None, name=name, status=status_of_error(error), notes=(str(error),))
        raise
    status, notes = came_of_it.status, came_of_it.notes
    gate.write(store, came_of_it.campaign_id, name=name, status=status, notes=notes)
    return status


class CameOfIt(NamedTuple):
    """`notes`: why it ended before all was run."""

    status: ExitStatus
    campaign_id: int | None
    notes: tuple[str, ...] = ()


def run_and_report(opened: OpenedCampaign, store: Store, *, as_json: bool) -> CameOfIt:
    """Runs the campaign in this process and prints what it showed."""
    return _run(opened, store, as_json, None, None)


def _run(
    opened: OpenedCampaign,
    store: Store,
    as_json: bool,
    budget_s: float | None,
    most_blocks: int | None,
) -> CameOfIt:
    attended = _attended(opened, store, as_json, budget_s, most_blocks)
    if attended.end is None:
        status = _status_of_a_stop(attended)
        why = "the budget is spent" if _is_by_budget(attended) else "stopped at once"
        return CameOfIt(status, None, (f"{why}: what was in flight was let go",))
    return _report(attended, attended.end, store, as_json=as_json)


def _attended(
    opened: OpenedCampaign,
    store: Store,
    as_json: bool,
    budget_s: float | None,
    most_blocks: int | None,
) -> AttendedEnd:
    """One pass over the campaign, and with `most_blocks` further ones while that could decide."""
    ends_at_s = None if budget_s is None else monotonic() + budget_s
    while True:
        left_s = None if ends_at_s is None else max(0.0, ends_at_s - monotonic())
        attended = _pass(opened, store, as_json, left_s)
        longer = None if most_blocks is None else _longer(opened, attended, store, most_blocks)
        if longer is None:
            return attended
        opened = longer


def _longer(
    opened: OpenedCampaign, attended: AttendedEnd, store: Store, most_blocks: int
) -> OpenedCampaign | None:
    """With a block more; None where the campaign ended early, is decided, or may have no more."""
    end = attended.end
    if end is None:
        return None
    judged = reach_verdicts(store, end.campaign_id)
    further = further_blocks(opened.campaign, end, judged, most=most_blocks)
    if further.said is not None:
        tell(further.said)
    return None if further.campaign is None else opened._replace(campaign=further.campaign)


def _pass(
    opened: OpenedCampaign, store: Store, as_json: bool, budget_s: float | None
) -> AttendedEnd:
    with ExitStack() as open_bars:
        progress: ProgressListener
        if progress_console().is_terminal and not as_json:
            progress = open_bars.enter_context(bar_progress())
        else:
            progress = plain_progress(tell if as_json else say)
        return run_attended(
            opened.campaign,
            opened.stack,
            store=store,
            progress=progress,
            said=tell,
            budget_s=budget_s,
        )


def _status_of_a_stop(attended: AttendedEnd) -> ExitStatus:
    """A budget that is spent is no interruption: what is missing could not be said."""
    return ExitStatus.COULD_NOT_SAY if _is_by_budget(attended) else ExitStatus.INTERRUPTED


def _is_by_budget(attended: AttendedEnd) -> bool:
    return attended.budget_spent and not attended.was_asked


def _report(attended: AttendedEnd, end: CampaignEnd, store: Store, *, as_json: bool) -> CameOfIt:
    facts = _facts(store, end.campaign_id)
    judged = reach_verdicts(store, end.campaign_id)
    if as_json:
        say_json(campaign_json(store, facts, judged))
    else:
        result_console().print(arms_table(store, facts))
        say_silence(store, facts.id)
        say_verdicts(store, facts.id, judged)
    status, notes = _ending(attended, end, lambda: exit_status(store, facts, judged))
    for note in notes:
        tell(note)
    return CameOfIt(status, facts.id, notes)


def _ending(
    attended: AttendedEnd, end: CampaignEnd, status: Callable[[], ExitStatus]
) -> tuple[ExitStatus, tuple[str, ...]]:
    if end.was_stopped:
        why = "the budget is spent" if _is_by_budget(attended) else "stopped"
        said = f"{why}; the same command goes on with what is missing"
        return _status_of_a_stop(attended), (said,)
    if end.gave_up is not None:
        return ExitStatus.OUR_FAULT, (f"gave up: {end.gave_up}",)
    if end.ended_at_wedge is not None:
        said = f"ended at the wedge of {end.ended_at_wedge}, as on_wedge: stop asks for"
        return status(), (said,)
    return status(), ()


def _facts(store: Store, campaign_id: int) -> CampaignFacts:
    with store.session() as session:
        facts = campaign(session.connection(), campaign_id)
    if facts is None:
        raise UsageError(f"campaign c-{campaign_id} is no longer in the store {store.url}")
    return facts
