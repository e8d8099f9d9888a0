"""Turns of many sessions at once: what both of two runs were asked and answered, and when."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, select

from db.raw_bytes import decompress
from db.reads.relations import RAW, SESSION, TURN, columns_of, values
from db.reads.sessions import TurnFacts
from db.tables.columns import Json
from db.vocabulary import RawKind

_AT_ONCE = 400  # sessions asked for in one statement
MOST_PAIRS = 2_000
MOST_TURNS = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnMoment:
    """When one turn was played and what its server said of the cache; no text.

    `decisive_turn` is that of its session, None for a clean one.
    """

    run_id: int
    session_id: int
    session_index: int
    outcome: str
    decisive_turn: int | None
    turn_index: int
    request_id: str
    started_at_us: int
    duration_s: float
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: Json

    @property
    def ended_at_us(self) -> int:
        return self.started_at_us + round(self.duration_s * 1_000_000)


class PairOfSessions(NamedTuple):
    """One dialogue as two runs played it."""

    session_index: int
    a_id: int
    a_outcome: str
    a_decisive_turn: int | None
    b_id: int
    b_outcome: str
    b_decisive_turn: int | None


class PairedTurns(NamedTuple):
    pair: PairOfSessions
    a: Sequence[TurnFacts]
    b: Sequence[TurnFacts]


def turn_moments(
    connection: Connection, run_ids: Sequence[int], *, limit: int = MOST_TURNS
) -> list[TurnMoment]:
    """Turns of these runs in the order of run, session and turn, at most `limit` of them."""
    own = {"run_id", "session_index", "outcome", "decisive_turn"}
    names = list(TurnMoment.__dataclass_fields__)
    statement = (
        select(*((SESSION if name in own else TURN).c[name] for name in names))
        .join_from(SESSION, TURN, TURN.c.session_id == SESSION.c.id)
        .where(SESSION.c.run_id.in_(run_ids))
        .order_by(SESSION.c.run_id, SESSION.c.session_index, TURN.c.turn_index)
        .limit(limit)
    )
    return values(TurnMoment, connection.execute(statement))


def pairs_of_runs(
    connection: Connection, run_a: int, run_b: int, *, limit: int = MOST_PAIRS
) -> list[PairOfSessions]:
    """The dialogues that both runs played, by session index; at most `limit` of them."""
    other = SESSION.alias("other")
    on_both = (
        (other.c.run_id == run_b)
        & (other.c.session_index == SESSION.c.session_index)
        & (other.c.dialogue_key == SESSION.c.dialogue_key)
    )
    sides = [(side.c.id, side.c.outcome, side.c.decisive_turn) for side in (SESSION, other)]
    statement = (
        select(SESSION.c.session_index, *sides[0], *sides[1])
        .join_from(SESSION, other, on_both)
        .where(SESSION.c.run_id == run_a)
        .order_by(SESSION.c.session_index)
        .limit(limit)
    )
    return [PairOfSessions(*row) for row in connection.execute(statement)]


def paired_turns(connection: Connection, pairs: Sequence[PairOfSessions]) -> Iterator[PairedTurns]:
    """The turns of each pair, a few hundred sessions in memory at a time."""
    for start in range(0, len(pairs), _AT_ONCE // 2):
        few = pairs[start : start + _AT_ONCE // 2]
        found = turns_of_sessions(
            connection, [id_ for pair in few for id_ in (pair.a_id, pair.b_id)]
        )
        for pair in few:
            yield PairedTurns(pair, found.get(pair.a_id, []), found.get(pair.b_id, []))


def turns_of_sessions(
    connection: Connection, session_ids: Sequence[int]
) -> dict[int, list[TurnFacts]]:
    """Session to its turns in order; one without turns has no entry."""
    found: dict[int, list[TurnFacts]] = {}
    for start in range(0, len(session_ids), _AT_ONCE):
        statement = (
            select(*columns_of(TURN, TurnFacts))
            .where(TURN.c.session_id.in_(session_ids[start : start + _AT_ONCE]))
            .order_by(TURN.c.session_id, TURN.c.turn_index)
        )
        for turn in values(TurnFacts, connection.execute(statement)):
            found.setdefault(turn.session_id, []).append(turn)
    return found


def response_of_turn(connection: Connection, turn_id: int) -> bytes | None:
    """The recorded bytes of a turn's answer; None where none were kept."""
    statement = (
        select(RAW.c.content)
        .where(RAW.c.turn_id == turn_id, RAW.c.kind == RawKind.RESPONSE)
        .order_by(RAW.c.id)
        .limit(1)
    )
    content = connection.execute(statement).scalar_one_or_none()
    return None if content is None else decompress(content)
