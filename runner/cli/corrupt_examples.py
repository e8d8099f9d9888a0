"""A few corrupt sessions of a campaign by name, and the commands that go on from there."""

from collections.abc import Sequence
from shlex import quote

from db.clock import SystemClock
from db.filters.keys import SESSION_KEYS
from db.filters.parsing import parse_filter
from db.identifiers import IdKind, format_id
from db.reads.session_search import search_sessions
from db.reads.sessions import SessionFacts, TurnFacts, turns
from db.reads.time_cap import TimeCap
from db.store import Store
from db.store_url import DEFAULT_STORE_URL
from runner.report.visible_text import one_line

MOST_EXAMPLES = 3
_LOOK_S = 5.0
_SHOWN_CHARACTERS = 100


def corrupt_examples(
    store: Store, campaign_id: int, corrupt: Sequence[str], *, store_option: str
) -> list[str]:
    """A line a session, with what came in place of what was due; empty where none is corrupt.

    `store_option`: as the commands that follow are to name the store.
    """
    campaign = format_id(IdKind.CAMPAIGN, campaign_id)
    where = f"campaign:{campaign} outcome:{','.join(corrupt)}"
    wanted = parse_filter(where, SESSION_KEYS)
    cap = TimeCap(_LOOK_S, monotonic_s=SystemClock().monotonic_s)
    with store.session() as session:
        search = search_sessions(session.connection(), wanted, cap=cap, limit=MOST_EXAMPLES)
        found = [each.session for each in search.found]
        lines = [_line(each, turns(session.connection(), each.id)) for each in found]
    if not lines:
        return []
    first = format_id(IdKind.SESSION, found[0].id)
    option = "" if store_option == DEFAULT_STORE_URL else f" --store {quote(store_option)}"
    return [
        *lines,
        f"all of them:         decisive sessions --where {quote(where)}{option}",
        f"what they share:     decisive clusters {campaign}{option}",
        f"one to send again:   decisive repro {first} --to {first}{option}",
    ]


def _line(session: SessionFacts, played: Sequence[TurnFacts]) -> str:
    decisive = next((turn for turn in played if turn.turn_index == session.decisive_turn), None)
    turn = f", turn {session.decisive_turn + 1}" if session.decisive_turn is not None else ""
    said = one_line(session.detail or session.reason or "")
    leaked = _leaked(decisive) if decisive is not None else ""
    line = f"{format_id(IdKind.SESSION, session.id)} {session.outcome}{turn}: {said}"
    return f"{line} {leaked}" if leaked else line


def _leaked(turn: TurnFacts) -> str:
    """How the first markup that stands in the text begins."""
    texts = [str(span.get("text", "")) for span in turn.markup if isinstance(span, dict)]
    text = one_line(next((text for text in texts if text), ""))
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."
