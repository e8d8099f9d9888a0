"""Result files of aiperf; pure. Format: "Working with profile export files" of its documentation.

`profile_export.jsonl` has one record a request with times and no text; `profile_export_raw.jsonl`
(`--export-level raw`) has what was asked and every piece of the answer;
`profile_export_aiperf.json` sums up a run.
"""

import json
from collections.abc import Sequence
from typing import Any

from runner.imported.error_reasons import error_reason
from runner.imported.imported_run import ImportedRequest, ImportedRun, peak_in_flight
from runner.imported.json_reading import (
    Object,
    count,
    epoch_s,
    inner,
    number,
    objects,
    seconds,
    text,
)

TOOL = "aiperf"

_OK = 200
_OF_CANCELLING = "RequestCancellationError"
_OF_NO_TEXT = "InvalidInferenceResultError"
"""Not the server's: aiperf found no text in a whole answer, which a tool call or silence may be."""


def is_aiperf_record(record: Object) -> bool:
    return number(inner(record, "metadata", "request_start_ns")) is not None


def is_aiperf_summary(whole: Object) -> bool:
    return "input_config" in whole and number(inner(whole, "request_count", "avg")) is not None


def read_aiperf_records(records: Sequence[Object]) -> ImportedRun:
    requests = [_request(record) for record in records if is_aiperf_record(record)]
    requests.sort(key=lambda each: each.started_at_s or 0.0)
    starts = [each.started_at_s for each in requests if each.started_at_s is not None]
    ends = [x.started_at_s + (x.duration_s or 0.0) for x in requests if x.started_at_s is not None]
    models = {text(inner(record, "payload", "model")) for record in records} - {None}
    return ImportedRun(
        tool=TOOL,
        model=models.pop() if len(models) == 1 else None,
        requests=tuple(requests),
        requests_made=len(requests),
        requests_failed=sum(each.error is not None for each in requests),
        duration_s=max(ends) - min(starts) if starts else None,
        started_at_s=min(starts, default=None),
        concurrency=peak_in_flight(requests),
    )


def read_aiperf_summary(whole: Object) -> ImportedRun:
    figures = {
        f"{name} {statistic}": value
        for name, block in whole.items()
        if isinstance(block, dict) and "unit" in block
        for statistic in ("avg", "p50", "p99")
        if (value := number(block.get(statistic))) is not None
    }
    served = objects(inner(whole, "input_config", "models", "items"))
    phases = objects(inner(whole, "input_config", "phases"))
    answered = count(inner(whole, "request_count", "avg")) or 0
    failed = count(inner(whole, "error_request_count", "avg")) or 0
    return ImportedRun(
        tool=TOOL,
        model=text(served[0].get("name")) if len(served) == 1 else None,
        figures=figures,
        requests_made=answered + failed,
        requests_failed=failed,
        duration_s=seconds(inner(whole, "benchmark_duration", "avg")),
        concurrency=count(phases[-1].get("concurrency")) if phases else None,
    )


def _request(record: Object) -> ImportedRequest:
    metadata, error = inner(record, "metadata"), inner(record, "error")
    started, ended = (epoch_s(inner(metadata, f"request_{x}_ns")) for x in ("start", "end"))
    status = count(record.get("status")) or count(inner(error, "code"))
    words = ": ".join(
        told for name in ("type", "message") if (told := text(inner(error, name))) is not None
    )
    first_ms = number(inner(record, "metrics", "time_to_first_token", "value"))
    asked, response = inner(record, "payload"), _response(record.get("responses"))
    is_whole = status == _OK and response is not None
    failed = bool(error) and not is_whole and inner(error, "type") != _OF_NO_TEXT
    return ImportedRequest(
        error=(words or "the request failed") if failed else None,
        reason=error_reason(words, status) if failed else None,
        http_status=status,
        started_at_s=started,
        first_token_s=None if first_ms is None else seconds(first_ms / 1e3),
        duration_s=None if started is None or ended is None else seconds(ended - started),
        prompt_tokens=count(inner(record, "metrics", "input_sequence_length", "value")),
        completion_tokens=count(inner(record, "metrics", "output_sequence_length", "value")),
        conversation=text(inner(metadata, "x_correlation_id")),
        turn_index=count(inner(metadata, "turn_index")) or 0,
        was_cancelled=inner(metadata, "was_cancelled") is True
        or inner(error, "type") == _OF_CANCELLING,
        asked=asked if isinstance(asked, dict) else None,
        response=response,
    )


def _response(responses: object) -> bytes | None:
    """The pieces of a raw record as the body that they were: a stream, or one JSON object."""
    pieces = responses if isinstance(responses, list) else []
    lines: list[str] = []
    for piece in pieces:
        packets = piece.get("packets") if isinstance(piece, dict) else None
        if isinstance(packets, list):
            lines += [line for packet in packets if (line := _line(packet))]
            lines.append("")
        elif isinstance(piece, dict) and (body := _whole(piece)):
            return body.encode()
    return "\n".join([*lines, ""]).encode() if lines else None


def _line(packet: Any) -> str:
    name, value = inner(packet, "name"), inner(packet, "value")
    return f"{name}: {value}" if name is not None and value is not None else ""


def _whole(piece: dict[str, Any]) -> str | None:
    if isinstance(piece.get("json"), dict):
        return json.dumps(piece["json"])
    return text(piece.get("text"))
