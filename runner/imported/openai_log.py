"""Recorded OpenAI chat completions, one JSON object a line: what was asked and what came; pure.

Known shapes of a line: `{"request": BODY, "response": BODY}`; a body of a request with a `response`
beside its `messages`; a line of OpenAI's batch output, `{"response": {"status_code", "body"},
"error"}`; a bare response with `choices`. A response may be the text of a stream of events.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from runner.imported.error_reasons import error_reason
from runner.imported.imported_run import ImportedRequest, ImportedRun
from runner.imported.json_reading import Object, count, epoch_s, inner, seconds, text

TOOL = "OpenAI requests and responses"

_RESPONSE_NAMES = ("response", "completion", "output")
_TIMES = ("started_at", "timestamp", "time", "created_at")


def is_openai_line(line: Object) -> bool:
    return (
        _is_answer(line)
        or any(_is_answer(line.get(name)) for name in _RESPONSE_NAMES)
        or (
            _body_asked(line) is not None
            and any(name in line for name in (*_RESPONSE_NAMES, "error"))
        )
    )


def read_openai_log(lines: Sequence[Object]) -> ImportedRun:
    requests = tuple(_request(line) for line in lines if is_openai_line(line))
    models = {
        told
        for each in requests
        if (told := text(inner(each.asked, "model")) or _model_of(each.response)) is not None
    }
    starts = [each.started_at_s for each in requests if each.started_at_s is not None]
    return ImportedRun(
        tool=TOOL,
        model=models.pop() if len(models) == 1 else None,
        requests=requests,
        requests_made=len(requests),
        requests_failed=sum(each.error is not None for each in requests),
        started_at_s=min(starts, default=None),
    )


def _request(line: Object) -> ImportedRequest:
    came = line if _is_answer(line) else _came(line)
    status = count(inner(came, "status_code")) or count(line.get("status"))
    body = inner(came, "body") if inner(came, "body") is not None else came
    error = _error(line, body)
    has_answer = _is_answer(body)
    return ImportedRequest(
        error=None if has_answer else error or "the line has no answer",
        reason=None if has_answer else error_reason(error or "", status),
        http_status=status or (200 if has_answer else None),
        started_at_s=next((t for x in _TIMES if (t := epoch_s(line.get(x))) is not None), None)
        or epoch_s(inner(body, "created")),
        first_token_s=seconds(line.get("ttft_s")),
        duration_s=seconds(line.get("duration_s")),
        conversation=text(line.get("session")) or text(line.get("conversation_id")),
        turn_index=count(line.get("turn")) or 0,
        asked=_body_asked(line),
        response=_bytes_of(body) if has_answer else None,
    )


def _came(line: Object) -> Any:
    return next((line[name] for name in _RESPONSE_NAMES if line.get(name) is not None), None)


def _body_asked(line: Object) -> Mapping[str, Any] | None:
    request = line.get("request")
    body = inner(request, "body") or request
    for place in (body, line):
        if isinstance(place, Mapping) and isinstance(place.get("messages"), list):
            return {k: v for k, v in place.items() if k not in _RESPONSE_NAMES}
    return None


def _is_answer(value: object) -> bool:
    if isinstance(value, str):
        return value.lstrip().startswith("data:") or '"choices"' in value
    if isinstance(inner(value, "choices"), list):
        return True
    return isinstance(inner(value, "body", "choices"), list)


def _bytes_of(body: Any) -> bytes:
    told = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    return told.encode("utf-8", "replace")


def _error(line: Object, body: object) -> str | None:
    for place in (line.get("error"), inner(body, "error")):
        if place:
            told = text(inner(place, "message")) or text(place)
            return told or json.dumps(place)
    return None


def _model_of(response: bytes | None) -> str | None:
    try:
        return text(inner(json.loads(response or b""), "model"))
    except ValueError:
        return None
