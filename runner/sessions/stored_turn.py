"""Turns on their way into the store and out of it: what was recorded comes back as it was.

`TurnRow.context` holds the judge's context and, under `wire`, what the record needs besides; of the
messages before the turn it holds those of its round, because the others are in the stored request.
"""

from collections.abc import Sequence
from dataclasses import replace

from db.read_times import ReadTimes
from db.session_writing import EndedTurn
from db.tables.sessions import TurnValues
from db.vocabulary import ErrorReason, TransportEnd
from runner.judge.json_values import JsonObject, parse_json
from runner.judge.record import PriorMessage, TurnContext, TurnRecord, due_to_json
from runner.sessions.played_session import PlayedTurn
from runner.sessions.request_context import messages_of, prior_messages

_UNSAVED = 0  # the recorder puts the session's id in its place
_WIRE = "wire"


def to_ended_turn(turn: PlayedTurn, *, turn_index: int) -> EndedTurn:
    record, judged = turn.record, turn.judged
    row = TurnValues(
        session_id=_UNSAVED,
        turn_index=turn_index,
        round_index=turn.round_index,
        request_id=turn.request_id,
        due=due_to_json(turn.context.due),
        got=judged.message.to_json(),
        context=_context_to_json(turn.context, record),
        reading=judged.reading,
        outcome=judged.outcome,
        reason=judged.reason,
        detail=judged.detail,
        flags=list(judged.flags),
        markup=[span.to_json() for span in judged.markup],
        http_status=record.http_status,
        content_type=record.content_type,
        transport_end=record.transport_end,
        started_at_us=turn.started_at_us,
        first_byte_s=record.reads.times_s[0] if record.reads else None,
        first_token_s=judged.first_token_s,
        last_progress_s=judged.last_progress_s,
        duration_s=record.ended_s or 0.0,
        finish_reason=judged.message.finish_reason,
        prompt_tokens=judged.message.usage.prompt_tokens,
        completion_tokens=judged.message.usage.completion_tokens,
        cached_tokens=dict(judged.message.cached_tokens),
    )
    return EndedTurn(turn=row, request=turn.request, response=record.body, reads=record.reads)


def record_of(turn: TurnValues, *, response: bytes, reads: ReadTimes) -> TurnRecord:
    """The record as the judge saw it."""
    wire = turn.context.get(_WIRE, {})
    deadline = wire.get("deadline")
    return TurnRecord(
        stream=wire.get("stream", True),
        http_status=turn.http_status,
        content_type=turn.content_type or "",
        transport_end=TransportEnd(turn.transport_end),
        body=response,
        reads=reads,
        ended_s=turn.duration_s,
        deadline=None if deadline is None else ErrorReason(deadline),
        was_resent=wire.get("was_resent", False),
    )


def context_of(turn: TurnValues, *, request: bytes) -> TurnContext:
    """The context as the judge saw it. Raises ValueError where the row holds something else.

    Of a request that was too long to be kept only the messages of its round are left.
    """
    context = TurnContext.from_json(turn.context, due=turn.due)
    body = parse_json(request)
    if not isinstance(body, dict):
        return context
    return replace(context, prior=prior_messages(messages_of(body)))


def _context_to_json(context: TurnContext, record: TurnRecord) -> JsonObject:
    wire: JsonObject = {"stream": record.stream, "deadline": record.deadline}
    if record.was_resent:
        wire["was_resent"] = True
    return {**replace(context, prior=_of_this_round(context.prior)).to_json(), _WIRE: wire}


def _of_this_round(prior: Sequence[PriorMessage]) -> tuple[PriorMessage, ...]:
    """A round begins with its call, whatever stands between that and the end."""
    calls = [at for at, message in enumerate(prior) if message.calls]
    is_open = bool(calls) and all(message.role == "tool" for message in prior[calls[-1] + 1 :])
    return tuple(prior[calls[-1] :]) if is_open else ()
