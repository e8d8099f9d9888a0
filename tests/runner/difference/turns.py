"""Turns of two dialogues, and pairs of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from db.reads.sessions import TurnFacts
from db.reads.transcripts import PairedTurns, PairOfSessions
from tests.db.turn_facts import turn_facts

LEAKED = '<｜DSML｜invoke name="look_sky">\n<｜DSML｜parameter name="city">oslo</｜DSML｜parameter>'


def turn(
    index: int = 0,
    content: str = "",
    *,
    call: tuple[str, str] | None = None,
    prior: Sequence[Mapping[str, Any]] = (),
    user: str = "how is the sky?",
    **columns: Any,
) -> TurnFacts:
    calls = [] if call is None else [{"name": call[0], "arguments": call[1], "id": f"id-{index}"}]
    values: dict[str, Any] = {
        "id": index + 1,
        "round_index": index // 2,
        "request_id": f"r1-s1-t{index}",
        "got": {"content": content, "reasoning": "", "tool_calls": calls},
        "context": {"user": user, "prior": list(prior)},
        "started_at_us": index * 1_000_000,
        "prompt_tokens": 100,
        "completion_tokens": 10,
    }
    return turn_facts(turn_index=index, **{**values, **columns})


def pair(
    a: Sequence[TurnFacts],
    b: Sequence[TurnFacts],
    *,
    a_outcome: str = "done",
    a_decisive_turn: int | None = None,
    index: int = 0,
) -> PairedTurns:
    sessions = PairOfSessions(
        index, 10 + index, a_outcome, a_decisive_turn, 90 + index, "done", None
    )
    return PairedTurns(sessions, a, b)
