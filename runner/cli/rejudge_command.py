"""`decisive rejudge`: judges what is stored again with today's rules."""

import typer

from db.identifiers import IdKind, format_id
from db.store import open_store
from db.store_url import DEFAULT_STORE_URL
from runner.cli.console import ExitStatus, say, say_json, tell
from runner.cli.opening import find_stored_campaign
from runner.cli.options import CampaignReference, JsonOption, StoreOption
from runner.execute.rejudging import Rejudged, rejudge_campaign
from runner.execute.verdicts import judge_hypotheses

_SHOWN = 20


def rejudge(
    campaign: CampaignReference = None,
    store: StoreOption = DEFAULT_STORE_URL,
    as_json: JsonOption = False,
) -> None:
    """Judge the stored sessions of a campaign again, from the recorded bytes."""
    with open_store(store) as opened:
        facts = find_stored_campaign(opened, campaign)
        result = rejudge_campaign(
            opened,
            facts.id,
            on_run=lambda run_id: tell(f"{format_id(IdKind.RUN, run_id)} judged again"),
        )
        judge_hypotheses(opened, facts.id)
    if as_json:
        say_json(_as_json(facts.name, result))
    else:
        _say_result(facts.name, result)
    raise typer.Exit(ExitStatus.FINE)


def _as_json(name: str, result: Rejudged) -> dict[str, object]:
    return {
        "campaign": name,
        "judge": result.judge_version,
        "sessions": result.sessions,
        "changed": [
            {
                "session": format_id(IdKind.SESSION, each.session_id),
                "before": each.before,
                "after": each.after,
            }
            for each in result.changed
        ],
    }


def _say_result(name: str, result: Rejudged) -> None:
    say(
        f"{name}: {result.sessions} sessions judged by judge {result.judge_version}, "
        f"{len(result.changed)} with another outcome"
    )
    for each in result.changed[:_SHOWN]:
        say(f"  {format_id(IdKind.SESSION, each.session_id)}: {each.before} -> {each.after}")
    if len(result.changed) > _SHOWN:
        say(f"  and {len(result.changed) - _SHOWN} more")
