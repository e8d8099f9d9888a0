"""Sessions that pass a filter: at most so many, found within a time cap, and it is said when cut.

Runs are narrowed first, from their arms and counters. Where the filter asks nothing else but
outcomes, the counters also say how many pass, and no session is looked at but those shown. Else
the sessions are looked through in pieces, the newest run first, until enough are found or the time
is spent.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, and_, case, false, func, not_, or_, select

from db.filters.terms import TEXT, Bound, Comparison, Filter, Term
from db.reads.relations import SESSION, TURN, columns_of, values
from db.reads.run_scopes import (
    RUN_KEYS,
    RunScope,
    admitted_outcomes,
    is_counted,
    run_scopes,
)
from db.reads.search_pieces import SearchPiece, search_pieces
from db.reads.sessions import SessionFacts
from db.reads.stored_words import json_has, json_lists, text_has
from db.reads.time_cap import TimeCap
from db.vocabulary import UNKNOWN_START_US, Outcome

MOST_SESSIONS = 200

PIECE_SESSIONS = 1000
_SECOND_US = 1_000_000
_COMPARE: Mapping[Comparison, Any] = {
    Comparison.AT_LEAST: ge,
    Comparison.AT_MOST: le,
    Comparison.ABOVE: gt,
    Comparison.BELOW: lt,
    Comparison.EQUAL: lambda column, number: column == number,
}
_PLACE = (SESSION.c.id, SESSION.c.run_id, SESSION.c.session_index)
_NUMBERS: Mapping[str, ColumnElement[Any]] = {
    "turn": SESSION.c.decisive_turn + 1,
    "rounds": SESSION.c.rounds_completed,
    "ttft": SESSION.c.first_token_s,
    "tokens": SESSION.c.completion_tokens,
    "prompt": SESSION.c.prompt_tokens,
    "cached": SESSION.c.host_cached_tokens,
    "session": SESSION.c.id,
    "duration": case(
        (
            and_(
                SESSION.c.started_at_us > UNKNOWN_START_US,
                SESSION.c.ended_at_us > SESSION.c.started_at_us,
            ),
            (SESSION.c.ended_at_us - SESSION.c.started_at_us) / float(_SECOND_US),
        )
    ),
}


@dataclass(frozen=True, slots=True)
class FoundSession:
    session: SessionFacts
    run: RunScope


@dataclass(frozen=True, slots=True)
class SessionSearch:
    """What was found. `matched` counts by outcome those that pass all but the outcome terms."""

    found: list[FoundSession]
    matched: Mapping[str, int]
    looked_at: int
    of: int
    is_outcome_wanted: frozenset[str]

    @property
    def is_complete(self) -> bool:
        """Every session was looked at, so the numbers are whole."""
        return self.looked_at == self.of

    @property
    def passing(self) -> int:
        """How many pass; at least so many where the search is not complete."""
        return sum(self.matched.get(word, 0) for word in self.is_outcome_wanted)


class ListedSession(NamedTuple):
    """Where a session stands in the order of every search."""

    id: int
    run_id: int
    session_index: int

    @property
    def rank(self) -> tuple[int, int]:
        """Ascends through a list: newest run first, then by index."""
        return -self.run_id, self.session_index


class FoundPlaces(NamedTuple):
    """Sessions that pass, and whether those are all of them."""

    places: list[ListedSession]
    is_all: bool


class _Looked(NamedTuple):
    places: list[ListedSession]
    matched: Mapping[str, int]
    looked_at: int


def search_sessions(
    connection: Connection,
    wanted: Filter,
    *,
    cap: TimeCap,
    run_ids: Sequence[int] | None = None,
    limit: int = MOST_SESSIONS,
    offset: int = 0,
    piece_sessions: int = PIECE_SESSIONS,
) -> SessionSearch:
    """Sessions that pass, by run (newest first) and session index, after the first `offset`.

    Of the runs named by `run_ids` where given.
    """
    scopes = run_scopes(connection, wanted, run_ids=run_ids)
    if is_counted(wanted):
        looked = _count(connection, scopes, wanted, offset + limit, piece_sessions)
    else:
        looked = _look(connection, scopes, wanted, offset + limit, piece_sessions, cap)
    runs = {scope.run_id: scope for scope in scopes}
    facts = _facts(connection, [each.id for each in looked.places[offset : offset + limit]])
    return SessionSearch(
        found=[FoundSession(each, runs[each.run_id]) for each in facts],
        matched=looked.matched,
        looked_at=looked.looked_at,
        of=sum(scope.sessions for scope in scopes),
        is_outcome_wanted=frozenset(map(str, admitted_outcomes(wanted))),
    )


def session_places(
    connection: Connection, wanted: Filter, *, cap: TimeCap, limit: int
) -> FoundPlaces:
    """The first `limit` sessions that pass, in the order of `search_sessions`."""
    scopes = run_scopes(connection, wanted)
    if is_counted(wanted):
        looked = _count(connection, scopes, wanted, limit, PIECE_SESSIONS)
    else:
        looked = _look(connection, scopes, wanted, limit, PIECE_SESSIONS, cap)
    passing = sum(looked.matched.get(str(word), 0) for word in admitted_outcomes(wanted))
    is_all = looked.looked_at == sum(scope.sessions for scope in scopes) and passing <= limit
    return FoundPlaces(looked.places[:limit], is_all)


def _count(
    connection: Connection,
    scopes: Sequence[RunScope],
    wanted: Filter,
    enough: int,
    piece_sessions: int,
) -> _Looked:
    """From the counters of the runs; only the ids of those shown are read."""
    admitted = admitted_outcomes(wanted)
    outcomes = [str(outcome) for outcome in admitted]
    totals = map(sum, zip(*(scope.numbers for scope in scopes), strict=True))
    matched = dict(zip(map(str, Outcome), totals, strict=False))  # of no run there is no total
    places_of = [place for place, outcome in enumerate(Outcome) if outcome in admitted]
    having = (scope for scope in scopes if any(scope.numbers[place] for place in places_of))
    places: list[ListedSession] = []
    for piece in search_pieces(having, at_most=piece_sessions):
        if len(places) >= enough:
            break
        statement = _in_order(select(*_PLACE), piece).where(SESSION.c.outcome.in_(outcomes))
        rows = connection.execute(statement.limit(enough - len(places)))
        places += (ListedSession(*row) for row in rows)
    return _Looked(places, matched, sum(matched.values()))


def _look(
    connection: Connection,
    scopes: Sequence[RunScope],
    wanted: Filter,
    enough: int,
    piece_sessions: int,
    cap: TimeCap,
) -> _Looked:
    """Piece by piece, until more than enough are found or the time is spent."""
    outcomes = frozenset(map(str, admitted_outcomes(wanted)))
    conditions = [_condition(term) for term in wanted.without("outcome", *RUN_KEYS).terms]
    matched: Counter[str] = Counter()
    places: list[ListedSession] = []
    looked_at = 0
    for piece in search_pieces(scopes, at_most=piece_sessions):
        if len(places) > enough or cap.is_spent:
            break
        rows = _in_order(select(SESSION.c.outcome, *_PLACE), piece).where(*conditions)
        for outcome, *place in connection.execute(rows):
            matched[outcome] += 1
            if outcome in outcomes:
                places.append(ListedSession(*place))
        looked_at += piece.sessions
    return _Looked(places, matched, looked_at)


def _in_order(statement: Select[Any], piece: SearchPiece) -> Select[Any]:
    return statement.where(piece.condition).order_by(
        SESSION.c.run_id.desc(), SESSION.c.session_index
    )


def _facts(connection: Connection, ids: Sequence[int]) -> list[SessionFacts]:
    statement = select(*columns_of(SESSION, SessionFacts)).where(SESSION.c.id.in_(ids))
    found = {facts.id: facts for facts in values(SessionFacts, connection.execute(statement))}
    return [found[row_id] for row_id in ids if row_id in found]


def _condition(term: Term) -> ColumnElement[bool]:
    """What is unknown is not so: a negated term lets it pass."""
    holds = or_(*(_is_so(term.key, value) for value in term.values))
    return not_(func.coalesce(holds, false())) if term.is_negated else holds


def _is_so(key: str, value: str | Bound) -> ColumnElement[bool]:
    if isinstance(value, Bound):
        compared: ColumnElement[bool] = _COMPARE[value.comparison](_NUMBERS[key], value.number)
        return compared
    if key == TEXT:
        return _was_written(value)
    if key == "flag":
        return json_lists(SESSION.c.flags, value)
    if key == "dialogue":
        return text_has(SESSION.c.dialogue_key, value)
    return SESSION.c.reason == value


def _was_written(words: str) -> ColumnElement[bool]:
    """In what was said of the session, or asked, due or answered in one of its turns."""
    of_a_turn = or_(*(json_has(TURN.c[name], words) for name in ("got", "context", "due")))
    in_a_turn = select(TURN.c.id).where(TURN.c.session_id == SESSION.c.id, of_a_turn).exists()
    return or_(text_has(SESSION.c.detail, words), in_a_turn)
