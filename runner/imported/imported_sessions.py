"""Imported requests as played sessions, judged by what the file has of their answers; no I/O.

A request whose answer is not in the file says nothing, and one that its own tool cut off is no
evidence against the server: neither becomes a turn.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from db.vocabulary import UNKNOWN_START_US, ErrorReason, Outcome, TransportEnd, TurnReading
from runner.imported.imported_run import ImportedRequest, ImportedRun, as_date_s
from runner.judge.assembled_message import AssembledMessage
from runner.judge.record import TurnContext, TurnRecord
from runner.judge.session_outcome import judge_session
from runner.judge.turn_reading import JudgedTurn, judge_turn
from runner.sessions.played_session import PlayedSession, PlayedTurn
from runner.sessions.request_context import turn_context

_SECOND_US = 1_000_000
_JSON = "application/json"
_EVENTS = "text/event-stream"


def imported_sessions(run: ImportedRun, *, run_id: int) -> list[PlayedSession]:
    """By conversation where the file tells it, else one for each request."""
    sessions = []
    for index, requests in enumerate(_conversations(run.requests)):
        told = [each for each in requests if each.is_told and not each.was_cancelled]
        if not told:
            continue
        turns = tuple(_turn(each, run, run_id, index) for each in told)
        failed = any(turn.judged.outcome is not None for turn in turns)
        if failed or len(told) == len(requests):
            sessions.append(_session(index, turns, run))
    return sessions


def _conversations(requests: Sequence[ImportedRequest]) -> list[list[ImportedRequest]]:
    """In the order of their first requests."""
    grouped: dict[str, list[ImportedRequest]] = {}
    for number, each in enumerate(requests):
        grouped.setdefault(each.conversation or f"request {number}", []).append(each)
    return [sorted(few, key=lambda each: each.turn_index) for few in grouped.values()]


def _session(index: int, turns: tuple[PlayedTurn, ...], run: ImportedRun) -> PlayedSession:
    clean = sum(turn.judged.outcome is None for turn in turns)
    last = turns[-1]
    is_timed = all(turn.started_at_us != UNKNOWN_START_US for turn in turns)
    return PlayedSession(
        session_index=index,
        dialogue_key=f"{run.tool} {index}",
        rounds_planned=len(turns),
        rounds_completed=clean,
        started_at_us=turns[0].started_at_us if is_timed else UNKNOWN_START_US,
        ended_at_us=(last.started_at_us if is_timed else UNKNOWN_START_US)
        + round((last.record.ended_s or 0.0) * _SECOND_US),
        turns=turns,
        judgement=judge_session(
            [turn.judged for turn in turns], reached_end=True, rounds_limit_hit=False
        ),
    )


def _turn(request: ImportedRequest, run: ImportedRun, run_id: int, index: int) -> PlayedTurn:
    record, context = _record(request), _context(request, run)
    judged = judge_turn(record, context) if request.error is None else _failed(request, run)
    judged = _with_figures(judged, request)
    return PlayedTurn(
        request_id=f"r{run_id}-s{index}-t{request.turn_index}",
        round_index=request.turn_index,
        started_at_us=_started_at_us(request, run),
        request=b"" if request.asked is None else _bytes(request.asked),
        record=record if request.response is not None else _without_body(record),
        context=context,
        judged=judged,
    )


def _record(request: ImportedRequest) -> TurnRecord:
    body = request.response if request.response is not None else _body_of(request)
    is_stream = body.lstrip().startswith((b"data:", b"event:", b":"))
    failed_to_connect = request.reason is ErrorReason.CONNECT
    return TurnRecord(
        stream=is_stream,
        http_status=request.http_status or (200 if request.error is None else None),
        content_type=_EVENTS if is_stream else _JSON,
        transport_end=(
            TransportEnd.CONNECT_FAILED if failed_to_connect else TransportEnd.CLEAN_EOF
        ),
        body=body,
        ended_s=request.duration_s,
    )


def _without_body(record: TurnRecord) -> TurnRecord:
    """What was put together here to be judged is no record."""
    return replace(record, body=b"")


def _body_of(request: ImportedRequest) -> bytes:
    """The text of the answer in the form of a whole chat completion, so that one judge reads it."""
    if request.error is not None:
        return b""
    message: dict[str, Any] = {"role": "assistant", "content": request.content or ""}
    if request.reasoning:
        message["reasoning_content"] = request.reasoning
    if request.calls:
        message["tool_calls"] = [dict(call) for call in request.calls]
    finish = request.finish_reason or ("tool_calls" if request.calls else "stop")
    usage = {
        "prompt_tokens": request.prompt_tokens,
        "completion_tokens": request.completion_tokens,
    }
    choice = {"index": 0, "message": message, "finish_reason": finish}
    told = {name: tokens for name, tokens in usage.items() if tokens is not None}
    return _bytes({"object": "chat.completion", "choices": [choice], "usage": told})


def _context(request: ImportedRequest, run: ImportedRun) -> TurnContext:
    """Without the request nothing is known to have been due, and no tool to have been offered."""
    if request.asked is None:
        return TurnContext(model=run.model, round_index=request.turn_index)
    try:
        return turn_context(
            dict(request.asked), due=None, round_index=request.turn_index, max_rounds=None
        )
    except ValueError:
        return TurnContext(model=run.model, round_index=request.turn_index)


def _failed(request: ImportedRequest, run: ImportedRun) -> JudgedTurn:
    """By the tool's word alone; its bytes are not there."""
    return JudgedTurn(
        reading=TurnReading.ERROR,
        outcome=Outcome.ERROR,
        reason=request.reason or ErrorReason.UNREADABLE,
        flags=(),
        detail=f"{run.tool} says: {(request.error or '')[:300]}",
        message=AssembledMessage(),
        markup=(),
        first_token_s=None,
        last_progress_s=None,
    )


def _with_figures(judged: JudgedTurn, request: ImportedRequest) -> JudgedTurn:
    """What the tool measured itself and no body tells."""
    message = judged.message
    return replace(
        judged,
        first_token_s=request.first_token_s,
        message=replace(message, cached_tokens=message.cached_tokens or request.cached_tokens),
    )


def _started_at_us(request: ImportedRequest, run: ImportedRun) -> int:
    started_s = as_date_s(_started_s(request, run))
    return UNKNOWN_START_US if started_s is None else round(started_s * _SECOND_US)


def _started_s(request: ImportedRequest, run: ImportedRun) -> float | None:
    """Where the requests' clock has no date, it is laid at the start of the run. A request without
    a time has none: they did not all begin with the run.
    """
    if request.started_at_s is None or run.started_at_s is None:
        return request.started_at_s
    firsts = [each.started_at_s for each in run.requests if each.started_at_s is not None]
    offset_s = request.started_at_s - min(firsts)
    return run.started_at_s + offset_s


def _bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
