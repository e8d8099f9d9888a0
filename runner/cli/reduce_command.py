"""`decisive reduce`: the smallest change between two arms that flips clean to failing."""

from contextlib import ExitStack
from dataclasses import replace
from typing import Annotated

import typer

from db.campaigns import find_campaign
from db.reads.campaigns import ArmFacts, CampaignFacts, arms, campaign_source
from db.store import Store, open_store
from db.store_url import DEFAULT_STORE_URL
from runner.campaign.campaign import Campaign
from runner.campaign.campaign_file import campaign_of
from runner.campaign.config_folder import ConfigFolder
from runner.campaign.definition import definition_key
from runner.campaign.stack_file import load_stack
from runner.campaign.stack_fit import campaign_on_stack, check_campaign_on_stack
from runner.campaign.yaml_source import parse_yaml
from runner.cli.chosen_configs import open_configs
from runner.cli.console import ExitStatus, progress_console, say, say_json, tell
from runner.cli.live_progress import bar_progress, plain_progress
from runner.cli.opening import OpenedCampaign, find_stored_campaign
from runner.cli.options import ConfigsOption, JsonOption, StoreOption
from runner.cli.stored_arm import find_arm
from runner.errors import UsageError
from runner.execute.attended_run import AttendedEnd, run_attended
from runner.execute.progress import ProgressListener
from runner.reduce.account import account_json, account_lines, is_shown, step_line
from runner.reduce.campaign_reduction import Before, Reduction, ReductionEnd
from runner.reduce.event_counts import Flips
from runner.reduce.factor_search import MOST_FACTORS
from runner.reduce.standing import WEDGE_RULE, StandingRule
from runner.reduce.time_budget import TimeBudget
from runner.reduce.trial_campaign import Ends

_ARM = "An arm: its id (a-3), its name, `baseline`, or levels (hicache=on,gate=all)."


def reduce(
    campaign: Annotated[
        str, typer.Argument(metavar="CAMPAIGN", help="An id such as c-3, or a name.")
    ],
    clean: Annotated[str, typer.Option("--from", metavar="ARM", help=f"The clean arm. {_ARM}")],
    failing: Annotated[str, typer.Option("--to", metavar="ARM", help="The arm that fails.")],
    store: StoreOption = DEFAULT_STORE_URL,
    configs: ConfigsOption = None,
    flips: Annotated[
        Flips, typer.Option("--flips", help="What the failing arm shows and the clean one not.")
    ] = Flips.CORRUPT,
    sessions: Annotated[
        int | None,
        typer.Option("--sessions", min=1, max=100_000, help="Sessions of a run."),
    ] = None,
    tolerate: Annotated[
        float | None,
        typer.Option(
            "--tolerate",
            min=0.001,
            max=0.9,
            help="The rate below which an arm counts as clean: 0.05 of sessions, 0.5 of runs for "
            "wedges; a quarter of what the failing arm shows, where that is more.",
            show_default=False,
        ),
    ] = None,
    most_runs: Annotated[
        int, typer.Option("--most-runs", min=2, max=100, help="Of one arm, decided or not.")
    ] = 12,
    lower_load: Annotated[
        bool,
        typer.Option(
            "--lower-load/--keep-load",
            help="Afterwards, look for a lower concurrency, fewer rounds and tools, less context.",
        ),
    ] = True,
    with_excluded: Annotated[
        bool,
        typer.Option("--with-excluded", help="Run also what the campaign's file excludes."),
    ] = False,
    budget_minutes: Annotated[
        float | None,
        typer.Option("--budget-minutes", min=0.01, help="End after so long; all runs are kept."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Find the smallest change between two arms that still fails. Ctrl-C keeps all; the same
    command goes on.
    """
    with open_store(store) as opened:
        facts = find_stored_campaign(opened, campaign)
        original = _stored_campaign(opened, facts, open_configs(configs))
        ends = _ends(opened, facts, original, clean, failing, flips=flips, sessions=sessions)
        reduction = Reduction(
            ends=ends,
            stack=original.stack,
            store=opened,
            rule=_rule(flips, tolerate, most_runs),
            lowers=lower_load,
            with_excluded=with_excluded,
        )
        budget = TimeBudget(None if budget_minutes is None else budget_minutes * 60)
        end = _run(reduction, original, opened, budget, as_json=as_json)
    if as_json:
        say_json(account_json(end, ends))
    else:
        for line in account_lines(end, ends):
            say(line)
    raise typer.Exit(_status(end))


def _run(
    reduction: Reduction,
    original: OpenedCampaign,
    store: Store,
    budget: TimeBudget,
    *,
    as_json: bool,
) -> ReductionEnd:
    with ExitStack() as open_bars:
        progress: ProgressListener
        if progress_console().is_terminal and not as_json:
            progress = open_bars.enter_context(bar_progress())
        else:
            progress = plain_progress(tell)

        def play(trial: Campaign) -> AttendedEnd:
            if budget.is_spent:
                return AttendedEnd(None, was_asked=False, budget_spent=True)
            return run_attended(
                trial,
                original.stack,
                store=store,
                progress=progress,
                said=tell,
                budget_s=budget.left_s,
            )

        def told(before: Before) -> None:
            progress.note(step_line(before))

        return reduction.run(play, told=told)


def _status(end: ReductionEnd) -> ExitStatus:
    if end.cut_by is not None:
        is_asked = end.cut_by.was_asked or not end.cut_by.budget_spent
        tell("stopped; the same command goes on with what is missing")
        return ExitStatus.INTERRUPTED if is_asked else ExitStatus.COULD_NOT_SAY
    if end.failed is not None:
        return ExitStatus.OUR_FAULT
    return ExitStatus.FINE if is_shown(end) else ExitStatus.COULD_NOT_SAY


def _stored_campaign(store: Store, facts: CampaignFacts, configs: ConfigFolder) -> OpenedCampaign:
    """As its file was when it ran, on the stack file of today; a difference is told."""
    with store.session() as session:
        text = campaign_source(session.connection(), facts.id)
    assert text is not None, "the campaign was found"
    campaign = campaign_of(parse_yaml(facts.source_path, text))
    stack = load_stack(configs.stack_path(campaign.stack))
    campaign = campaign_on_stack(campaign, stack)
    check_campaign_on_stack(campaign, stack)
    registered = find_campaign(store, facts.id).campaign
    if definition_key(campaign, stack) != registered.definition_key:
        tell(
            f"the stack file {stack.source_path} or the chosen levels are not those that "
            f"{facts.name} was run with; the reduction goes by the files of today"
        )
    return OpenedCampaign(campaign, stack)


def _ends(
    store: Store,
    facts: CampaignFacts,
    original: OpenedCampaign,
    clean: str,
    failing: str,
    *,
    flips: Flips,
    sessions: int | None,
) -> Ends:
    """Raises UsageError for arms that are not there, or that differ in nothing or in too much."""
    with store.session() as session:
        known = arms(session.connection(), [facts.id])
    first, second = find_arm(known, clean), find_arm(known, failing)
    ends = Ends(
        campaign=original.campaign,
        clean=_levels(first, original.campaign),
        failing=_levels(second, original.campaign),
        sessions=sessions or second.sessions_per_run,
        flips=flips,
        may_restart=original.stack.may_restart,
    )
    most_at_once = max(first.concurrency, second.concurrency)
    if ends.sessions < most_at_once:
        raise UsageError(
            f"--sessions {ends.sessions}: an arm has {most_at_once} at a time, at least"
        )
    if not ends.factors:
        raise UsageError(f"--from and --to are one arm ({first.name}): name two that differ")
    if len(ends.factors) > MOST_FACTORS:
        raise UsageError(
            f"--from and --to differ in {len(ends.factors)} factors; the reduction takes at most "
            f"{MOST_FACTORS}: name two arms that are nearer to each other"
        )
    return ends


def _levels(arm: ArmFacts, campaign: Campaign) -> dict[str, str | int | float | bool]:
    return {name: arm.levels[name] for name in campaign.factors}


def _rule(flips: Flips, tolerate: float | None, most_runs: int) -> StandingRule:
    rule = WEDGE_RULE if flips is Flips.WEDGE else StandingRule()
    rule = replace(rule, most_runs=most_runs)
    return rule if tolerate is None else replace(rule, p_max=tolerate)
