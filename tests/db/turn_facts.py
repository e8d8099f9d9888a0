"""A turn as the reads return it, with defaults."""

from typing import Any

from db.reads.sessions import TurnFacts


def turn_facts(**columns: Any) -> TurnFacts:
    values: dict[str, Any] = {
        "id": 1,
        "session_id": 1,
        "turn_index": 0,
        "round_index": 0,
        "request_id": "r",
        "due": {},
        "got": {},
        "context": {},
        "reading": "done",
        "outcome": None,
        "reason": None,
        "detail": None,
        "flags": [],
        "markup": [],
        "http_status": 200,
        "content_type": "text/event-stream",
        "transport_end": "clean_eof",
        "started_at_us": 0,
        "first_byte_s": 0.1,
        "first_token_s": 0.2,
        "last_progress_s": 0.9,
        "duration_s": 1.0,
        "finish_reason": "stop",
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "cached_tokens": {},
    }
    return TurnFacts(**{**values, **columns})
