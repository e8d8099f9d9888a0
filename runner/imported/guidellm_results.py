"""Result files of guidellm (`--outputs json`); pure. A file holds one run for each rate it drove.

Format: guidellm's own schemas `GenerativeBenchmark`, `GenerativeRequestStats`, `RequestInfo`, whose
requests stand apart as successful, incomplete and errored.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from runner.imported.error_reasons import error_reason
from runner.imported.imported_run import ImportedRequest, ImportedRun, peak_in_flight
from runner.imported.json_reading import (
    Object,
    count,
    epoch_s,
    inner,
    objects,
    scalars,
    seconds,
    text,
)

TOOL = "guidellm"

_KINDS = ("successful", "errored", "incomplete")


def is_guidellm_report(whole: Object) -> bool:
    return any(isinstance(each.get("requests"), dict) for each in objects(whole.get("benchmarks")))


def read_guidellm_report(whole: Object) -> tuple[ImportedRun, ...]:
    return tuple(_run(each, whole) for each in objects(whole.get("benchmarks")))


def _run(benchmark: Object, whole: Object) -> ImportedRun:
    requests = tuple(
        _request(each, kind)
        for kind in _KINDS
        for each in objects(inner(benchmark, "requests", kind))
    )
    starts = [each.started_at_s for each in requests if each.started_at_s is not None]
    strategy = inner(benchmark, "config", "strategy")
    settings = scalars(strategy) if isinstance(strategy, Mapping) else {}
    totals = inner(benchmark, "metrics", "request_totals")
    return ImportedRun(
        tool=TOOL,
        model=_model(benchmark, whole),
        settings=settings,
        figures=scalars(totals) if isinstance(totals, Mapping) else {},
        requests=tuple(sorted(requests, key=lambda each: each.started_at_s or 0.0)),
        requests_made=count(inner(totals, "total")) or len(requests),
        requests_failed=count(inner(totals, "errored")),
        duration_s=seconds(benchmark.get("duration")),
        started_at_s=epoch_s(benchmark.get("start_time")) or min(starts, default=None),
        concurrency=count(settings.get("streams")) or peak_in_flight(requests),
    )


def _request(stats: Object, kind: str) -> ImportedRequest:
    """An incomplete one was cut off by the end of the run: no fault of the server's."""
    timings, info = inner(stats, "info", "timings"), inner(stats, "info")
    started, first, ended = (
        epoch_s(inner(timings, name))
        for name in ("request_start", "first_token_iteration", "request_end")
    )
    error = (text(inner(info, "error")) or "the request failed") if kind == "errored" else None
    asked = _asked(stats.get("request_args"))
    calls = objects(stats.get("tool_calls"))
    return ImportedRequest(
        content=text(stats.get("output")),
        reasoning=text(stats.get("reasoning_output")),
        calls=[dict(call) for call in calls] or None,
        error=error,
        reason=None if error is None else error_reason(error),
        started_at_s=started,
        first_token_s=None if first is None or started is None else seconds(first - started),
        duration_s=None if ended is None or started is None else seconds(ended - started),
        prompt_tokens=count(stats.get("prompt_tokens")),
        completion_tokens=count(stats.get("output_tokens")),
        conversation=text(inner(info, "conversation_id")),
        turn_index=count(inner(info, "turn_index")) or 0,
        was_cancelled=kind == "incomplete",
        asked=asked,
    )


def _asked(request_args: object) -> Mapping[str, Any] | None:
    """The arguments are stored as the text of a JSON object with the body under `body`."""
    try:
        told = json.loads(request_args) if isinstance(request_args, str) else request_args
    except ValueError:
        return None
    body = inner(told, "body")
    return body if isinstance(body, dict) else None


def _model(benchmark: Object, whole: Object) -> str | None:
    places = (
        inner(benchmark, "config", "backend", "model"),
        inner(whole, "args", "model"),
        *(inner(each, "model") for each in _asked_bodies(benchmark)),
    )
    return next((found for place in places if (found := text(place)) is not None), None)


def _asked_bodies(benchmark: Object) -> Iterator[Mapping[str, Any]]:
    for kind in _KINDS:
        for each in objects(inner(benchmark, "requests", kind))[:1]:
            body = _asked(each.get("request_args"))
            if body is not None:
                yield body
