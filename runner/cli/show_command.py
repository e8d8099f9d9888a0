"""`decisive show`: what a store holds, or what one campaign of it showed."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from db.identifiers import IdKind, format_id
from db.reads.campaigns import CampaignFacts, campaigns
from db.reads.runs import RunCounts, runs
from db.store import Store, open_store_read_only
from db.store_url import DEFAULT_STORE_URL
from db.vocabulary import RunState
from runner.campaign.reduction_names import by_reduction
from runner.cli.campaign_summary import arms_table, campaign_json, say_silence, say_verdicts
from runner.cli.console import result_console, say, say_json
from runner.cli.opening import find_stored_campaign
from runner.cli.options import CampaignReference, JsonOption, StoreOption
from runner.evidence.number_words import counted_text
from runner.evidence.wording import moment_text
from runner.execute.run_counts import lines_of
from runner.execute.verdicts import reach_verdicts


def show(
    campaign: CampaignReference = None,
    store: StoreOption = DEFAULT_STORE_URL,
    lines: Annotated[bool, typer.Option("--lines", help="The five lines of every run.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List the campaigns of a store, or show one: its arms, its runs, its verdicts."""
    with open_store_read_only(store) as opened:
        if campaign is None and not as_json:
            _show_list(opened)
        elif campaign is None:
            say_json(_list_json(opened))
        else:
            _show_one(opened, find_stored_campaign(opened, campaign), lines, as_json)


def _show_one(store: Store, facts: CampaignFacts, lines: bool, as_json: bool) -> None:
    assert facts.id is not None
    judged = reach_verdicts(store, facts.id)
    if as_json:
        say_json(campaign_json(store, facts, judged))
        return
    say(facts.question)
    result_console().print(arms_table(store, facts))
    say_silence(store, facts.id)
    for run in _runs(store, facts.id):
        _say_run(run, facts, lines)
    say_verdicts(store, facts.id, judged)


def _say_run(run: RunCounts, facts: CampaignFacts, lines: bool) -> None:
    flags = f" [{', '.join(run.flags)}]" if run.flags else ""
    reason = f": {run.reason}" if run.reason else ""
    if lines or run.run_state not in (RunState.DONE, RunState.PLANNED):
        say(f"{format_id(IdKind.RUN, run.id)} block {run.block} {run.state}{flags}{reason}")
    if lines and run.n_ended:
        for line in lines_of(run, facts.corrupt_outcomes):
            say(f"  {line}")


def _show_list(store: Store) -> None:
    table = Table(title=store.url)
    for heading in ("campaign", "name", "runs done", "started", "question"):
        table.add_column(heading)
    for each in by_reduction(_campaigns(store)):
        facts = each.campaign
        table.add_row(
            format_id(IdKind.CAMPAIGN, facts.id),
            escape(facts.name),
            _progress_text(store, [facts]),
            moment_text(facts.created_at_us),
            escape(facts.question),
        )
        if each.trials:
            ids = [format_id(IdKind.CAMPAIGN, trial.id) for trial in reversed(each.trials)]
            table.add_row(
                ids[0] if len(ids) == 1 else f"{ids[0]}...{ids[-1]}",
                f"  {counted_text(len(ids), 'campaign')} of its reduction",
                _progress_text(store, each.trials),
                moment_text(each.trials[-1].created_at_us),
                "",
            )
    result_console().print(table)


def _progress_text(store: Store, those: Sequence[CampaignFacts]) -> str:
    counted = [_progress(store, facts.id) for facts in those]
    return f"{sum(done for done, _ in counted)} of {sum(total for _, total in counted)}"


def _list_json(store: Store) -> dict[str, object]:
    return {
        "store": store.url,
        "campaigns": [
            {
                "campaign": facts.name,
                "campaign_id": format_id(IdKind.CAMPAIGN, facts.id),
                "question": facts.question,
                "reduces": None if root is facts else format_id(IdKind.CAMPAIGN, root.id),
                "runs_done": _progress(store, facts.id)[0],
                "runs": _progress(store, facts.id)[1],
            }
            for root, facts in _with_roots(store)
        ],
    }


def _with_roots(store: Store) -> list[tuple[CampaignFacts, CampaignFacts]]:
    """Each campaign, and before it the one that it is a reduction of, or itself."""
    groups = by_reduction(_campaigns(store))
    return [(each.campaign, facts) for each in groups for facts in (each.campaign, *each.trials)]


def _campaigns(store: Store) -> list[CampaignFacts]:
    with store.session() as session:
        return campaigns(session.connection())


def _runs(store: Store, campaign_id: int) -> list[RunCounts]:
    with store.session() as session:
        return runs(session.connection(), [campaign_id])


def _progress(store: Store, campaign_id: int) -> tuple[int, int]:
    """(runs done, runs planned); attempts at one run count once."""
    stored = _runs(store, campaign_id)
    done = {run.run_key for run in stored if run.run_state is RunState.DONE}
    return len(done), len({run.run_key for run in stored})
