"""`decisive sessions`: the stored sessions that pass a filter, as the dashboard lists them."""

from collections.abc import Collection
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table
from sqlalchemy import Connection

from db.clock import SystemClock
from db.filters.keys import SESSION_KEYS
from db.filters.parsing import parse_filter
from db.filters.terms import Filter
from db.identifiers import IdKind, format_id
from db.reads.run_scopes import ArmScope, ArmWords, run_scopes, unknown_arms
from db.reads.session_search import MOST_SESSIONS, FoundSession, SessionSearch, search_sessions
from db.reads.time_cap import TimeCap
from db.store import open_store_read_only
from db.store_url import DEFAULT_STORE_URL
from db.vocabulary import Outcome
from runner.cli.console import result_console, say, say_json, tell
from runner.cli.options import JsonOption, StoreOption

_ARMS = 12
"""So many arms are told where a filter names none of them."""


def sessions(
    where: Annotated[
        str,
        typer.Option("--where", metavar="FILTER", help=f"Keys: {', '.join(SESSION_KEYS)}."),
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=MOST_SESSIONS, help="At most so many.")
    ] = MOST_SESSIONS,
    within_s: Annotated[
        float, typer.Option("--within", min=0.1, max=3600, help="Seconds to look for them.")
    ] = 5.0,
    store: StoreOption = DEFAULT_STORE_URL,
    as_json: JsonOption = False,
) -> None:
    """List the stored sessions that pass a filter, those of the newest runs first.

    A filter is `key:value` terms that must all hold, and words that must have been asked, due or
    answered: outcome:leak,no_tool arm:hicache=on c:>=60 -flag:echo_mismatch "tool_calls". Commas
    separate alternatives, - excludes, numbers take >= <= > <. It is the filter of the dashboard.
    """
    wanted = parse_filter(where, SESSION_KEYS)
    cap = TimeCap(within_s, monotonic_s=SystemClock().monotonic_s)
    with open_store_read_only(store) as opened, opened.session() as session:
        search = search_sessions(session.connection(), wanted, cap=cap, limit=limit)
        unknown = _unknown_arms(session.connection(), wanted, search)
    if unknown is not None:
        tell(unknown)
    if as_json:
        say_json(_json(wanted, search))
    else:
        _say(search)


def _unknown_arms(connection: Connection, wanted: Filter, search: SessionSearch) -> str | None:
    """Names the words of `arm:` terms that are about no arm, with the arms that there are."""
    seen = [each.run.arm for each in search.found]
    if not _naming_none(wanted, seen):
        return None
    of_campaigns = run_scopes(connection, Filter(wanted.of("campaign")))
    by_id = {scope.arm.arm_id: scope.arm for scope in of_campaigns}
    arms = [by_id[arm_id] for arm_id in sorted(by_id)]
    unknown = _naming_none(wanted, arms)
    if not unknown or not arms:
        return None
    there_are = "; ".join(f"{format_id(IdKind.ARM, arm.arm_id)} {arm.name}" for arm in arms[:_ARMS])
    more = f"; and {len(arms) - _ARMS:,} more" if len(arms) > _ARMS else ""
    return f"no arm with sessions is named {' or '.join(unknown)}; there are: {there_are}{more}"


def _naming_none(wanted: Filter, arms: Collection[ArmScope]) -> list[str]:
    return unknown_arms(wanted, [ArmWords(arm.arm_id, arm.name, arm.tag) for arm in arms])


def _say(search: SessionSearch) -> None:
    if search.found:
        table = Table(box=None, header_style="bold", pad_edge=False)
        for heading in ("session", "outcome", "run", "arm", "turn", "dialogue", "what"):
            table.add_column(heading, overflow="fold")
        for each in search.found:
            table.add_row(*map(escape, _cells(each)))
        result_console().print(table)
    say(_sentence(search))


def _cells(each: FoundSession) -> tuple[str, ...]:
    session = each.session
    return (
        format_id(IdKind.SESSION, session.id),
        session.outcome,
        format_id(IdKind.RUN, session.run_id),
        each.run.arm.name,
        "" if session.decisive_turn is None else str(session.decisive_turn + 1),
        session.dialogue_key,
        session.detail or session.reason or "",
    )


def _sentence(search: SessionSearch) -> str:
    """How many pass, of what outcomes, and what was left unseen."""
    at_least = "" if search.is_complete else "at least "
    by_outcome = ", ".join(
        f"{search.matched[outcome]:,} {outcome}"
        for outcome in Outcome
        if outcome in search.is_outcome_wanted and search.matched.get(outcome)
    )
    passing = "1 session passes" if search.passing == 1 else f"{search.passing:,} sessions pass"
    told = [at_least + passing + (by_outcome and f": {by_outcome}")]
    if search.passing > len(search.found):
        told.append(f"the first {len(search.found):,} are shown")
    if not search.is_complete:
        told.append(f"{search.looked_at:,} of {search.of:,} were looked at: narrow the filter")
    return "; ".join(told)


def _json(wanted: Filter, search: SessionSearch) -> dict[str, Any]:
    return {
        "where": wanted.text,
        "passing": search.passing,
        "is_complete": search.is_complete,
        "looked_at": search.looked_at,
        "of": search.of,
        "outcomes": {word: number for word, number in sorted(search.matched.items()) if number},
        "sessions": [_session_json(each) for each in search.found],
    }


def _session_json(each: FoundSession) -> dict[str, Any]:
    session = each.session
    return {
        "session": format_id(IdKind.SESSION, session.id),
        "outcome": session.outcome,
        "campaign": each.run.arm.campaign,
        "campaign_id": format_id(IdKind.CAMPAIGN, each.run.arm.campaign_id),
        "run": format_id(IdKind.RUN, session.run_id),
        "run_state": each.run.state,
        "block": each.run.block,
        "arm": each.run.arm.name,
        "levels": each.run.arm.levels,
        "session_index": session.session_index,
        "dialogue": session.dialogue_key,
        "turn": None if session.decisive_turn is None else session.decisive_turn + 1,
        "reason": session.reason,
        "detail": session.detail,
        "flags": session.flags,
        "rounds_completed": session.rounds_completed,
        "rounds_planned": session.rounds_planned,
        "first_token_s": session.first_token_s,
        "duration_s": session.took_s,
        "completion_tokens": session.completion_tokens,
        "host_cached_tokens": session.host_cached_tokens,
    }
