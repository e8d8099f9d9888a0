"""Rows of a session and of its turns as a recorder is handed them: not stored yet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from db.tables.sessions import SessionRow, TurnRow
from db.vocabulary import (
    DueKind,
    Outcome,
    OutcomeClass,
    TransportEnd,
    TurnReading,
)
from tests.db.fresh_stores import SECOND_US, START_US

LEAKED_TEXT = "Let me look.\n<｜DSML｜tool_calls>\n<｜DSML｜invoke name="


@dataclass(frozen=True, kw_only=True)
class TurnSpec:
    """What one turn of a built session was."""

    reading: TurnReading = TurnReading.DONE
    outcome: Outcome | None = None
    content: str = "Done: amber river"
    reasoning: str = ""
    tool_calls: Sequence[Mapping[str, Any]] = ()
    user: str = "please check with city = amber river."
    markup: Sequence[Mapping[str, Any]] = ()
    flags: Sequence[str] = ()
    reason: str | None = None
    detail: str | None = None
    response: bytes = b"data: [DONE]\n\n"
    more: Mapping[str, Any] = field(default_factory=dict)


CLEAN_TURNS = (
    TurnSpec(
        reading=TurnReading.TOOL,
        content="",
        tool_calls=({"name": "check_weather", "arguments": '{"city": "amber river"}', "id": "1"},),
    ),
    TurnSpec(),
)
LEAKED_TURNS = (
    TurnSpec(
        reading=TurnReading.LEAK,
        outcome=Outcome.LEAK,
        content=LEAKED_TEXT,
        markup=(
            {"field": "content", "start": 13, "end": 31, "family": "dsml", "text": "<｜DSML｜"},
        ),
        detail="A call of check_weather was due; its markup came as text.",
    ),
)


def session_row(
    run_id: int, outcome: Outcome = Outcome.DONE, *, index: int = 0, **columns: Any
) -> SessionRow:
    """A session row that is not stored."""
    values: dict[str, Any] = {
        "dialogue_key": f"dialogue-{index}",
        "reason": "stalled" if outcome is Outcome.ERROR else None,
        "rounds_planned": 4,
        "rounds_completed": 4 if outcome.outcome_class is OutcomeClass.CLEAN else 1,
        "started_at_us": START_US,
        "ended_at_us": START_US + 10 * SECOND_US,
        "first_token_s": 0.25,
        "prompt_tokens": 300,
        "completion_tokens": 60,
        "judge_version": "1",
    }
    return SessionRow(run_id=run_id, session_index=index, outcome=outcome, **{**values, **columns})


def turn_row(spec: TurnSpec, *, index: int = 0, session_id: int = 0) -> TurnRow:
    """A turn row that is not stored."""
    is_call = spec.reading is not TurnReading.DONE
    values: dict[str, Any] = {
        "due": {
            "kind": DueKind.CALL if is_call else DueKind.ANSWER,
            "name": "check_weather",
            "arguments": {"city": "amber river"},
        },
        "got": {
            "content": spec.content,
            "reasoning": spec.reasoning,
            "tool_calls": [dict(call) for call in spec.tool_calls],
        },
        "context": {"user": spec.user},
        "http_status": 200,
        "content_type": "text/event-stream",
        "transport_end": TransportEnd.CLEAN_EOF,
        "first_byte_s": 0.2,
        "first_token_s": 0.25,
        "last_progress_s": 0.9,
        "duration_s": 1.0,
        "finish_reason": "tool_calls" if spec.tool_calls else "stop",
        "prompt_tokens": 150,
        "completion_tokens": 30,
    }
    return TurnRow(
        session_id=session_id,
        turn_index=index,
        round_index=index // 2,
        request_id=f"request-{session_id}-{index}",
        reading=spec.reading,
        outcome=spec.outcome,
        reason=spec.reason,
        detail=spec.detail,
        flags=list(spec.flags),
        markup=[dict(span) for span in spec.markup],
        started_at_us=START_US + index * SECOND_US,
        **{**values, **spec.more},
    )
