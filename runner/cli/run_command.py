"""`decisive run`: runs what is missing of a campaign, and says what it showed."""

from contextlib import ExitStack
from typing import Annotated

import typer

from db.reads.campaigns import CampaignFacts, campaign
from db.store import Store, open_store
from db.store_url import DEFAULT_STORE_URL
from runner.campaign.plan import make_plan
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
from runner.errors import UsageError
from runner.execute.attended_run import AttendedEnd, run_attended
from runner.execute.campaign_loop import CampaignEnd
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
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print every command on the stack, in order; run none."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Run what is missing of a campaign. Ctrl-C stops after the sessions in flight."""
    opened = open_campaign(file, open_configs(configs), order_seed=order_seed, blocks=blocks)
    if dry_run:
        runs = make_plan(opened.campaign, opened.stack).runs
        rehearse(opened.stack, runs, opened.campaign.schedule.restart, say=say)
        return
    with open_store(store) as opened_store:
        status = run_and_report(
            opened, opened_store, as_json=as_json, budget_minutes=budget_minutes
        )
    raise typer.Exit(status)


def run_and_report(
    opened: OpenedCampaign, store: Store, *, as_json: bool, budget_minutes: float | None = None
) -> ExitStatus:
    """Runs the campaign in this process and prints what it showed."""
    with ExitStack() as open_bars:
        progress: ProgressListener
        if progress_console().is_terminal and not as_json:
            progress = open_bars.enter_context(bar_progress())
        else:
            progress = plain_progress(tell if as_json else say)
        attended = run_attended(
            opened.campaign,
            opened.stack,
            store=store,
            progress=progress,
            said=tell,
            budget_s=None if budget_minutes is None else budget_minutes * 60,
        )
    if attended.end is None:
        return _status_of_a_stop(attended)
    return _report(attended, attended.end, store, as_json=as_json)


def _status_of_a_stop(attended: AttendedEnd) -> ExitStatus:
    """A budget that is spent is no interruption: what is missing could not be said."""
    is_asked = attended.was_asked or not attended.budget_spent
    return ExitStatus.INTERRUPTED if is_asked else ExitStatus.COULD_NOT_SAY


def _report(attended: AttendedEnd, end: CampaignEnd, store: Store, *, as_json: bool) -> ExitStatus:
    facts = _facts(store, end.campaign_id)
    judged = reach_verdicts(store, end.campaign_id)
    if as_json:
        say_json(campaign_json(store, facts, judged))
    else:
        result_console().print(arms_table(store, facts))
        say_silence(store, facts.id)
        say_verdicts(store, facts.id, judged)
    if end.was_stopped:
        tell("stopped; the same command goes on with what is missing")
        return _status_of_a_stop(attended)
    if end.gave_up is not None:
        tell(f"gave up: {end.gave_up}")
        return ExitStatus.OUR_FAULT
    if end.ended_at_wedge is not None:
        tell(f"ended at the wedge of {end.ended_at_wedge}, as on_wedge: stop asks for")
    return exit_status(store, facts, judged)


def _facts(store: Store, campaign_id: int) -> CampaignFacts:
    with store.session() as session:
        facts = campaign(session.connection(), campaign_id)
    if facts is None:
        raise UsageError(f"campaign c-{campaign_id} is no longer in the store {store.url}")
    return facts
