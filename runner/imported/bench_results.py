"""Result files of `vllm bench serve` and of `sglang.bench_serving`; pure.

Both write one JSON object a run (sglang appends lines) with lists over requests where details were
asked for (`--save-detailed`, `--output-details`). Neither keeps tool calls, nor what was asked.
Where something was not measured both write 0. The completion tokens of sglang's streams are those
that were asked for where the server told none, which the file does not tell apart.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from runner.imported.error_reasons import error_reason
from runner.imported.imported_run import ImportedRequest, ImportedRun, peak_in_flight
from runner.imported.json_reading import (
    Object,
    columns,
    count,
    inner,
    objects,
    scalars,
    seconds,
    text,
)

VLLM = "vllm bench serve"
SGLANG = "sglang.bench_serving"

_REQUEST_COLUMNS = {
    "content": "generated_texts",
    "error": "errors",
    "ttft": "ttfts",
    "itl": "itls",
    "started": "start_times",
    "latency": "latencies",
    "prompt": "input_lens",
    "completion": "output_lens",
    "cached": "cached_tokens_details",
}
_SETTINGS = frozenset(
    {"date", "backend", "endpoint_type", "label", "tag", "model_id", "tokenizer_id", "dataset_name"}
    | {"num_prompts", "request_rate", "burstiness", "max_concurrency", "random_range_ratio"}
    | {"random_input_len", "random_output_len", "sharegpt_output_len"}
)


def is_vllm_result(whole: Object) -> bool:
    return {"model_id", "request_throughput", "completed", "duration"} <= whole.keys()


def is_sglang_result(whole: Object) -> bool:
    named = {"backend", "dataset_name", "request_throughput", "completed", "duration"}
    return named <= whole.keys()


def read_vllm_result(whole: Object) -> ImportedRun:
    return _read(whole, tool=VLLM, model=text(whole.get("model_id")))


def read_sglang_result(whole: Object) -> ImportedRun:
    return _read(whole, tool=SGLANG, model=_served_model(whole.get("server_info")))


def _served_model(server_info: object) -> str | None:
    """Of one server; or, behind a router, of those that it told of."""
    told = [server_info, *(x for side in ("prefill", "decode") for x in _behind(server_info, side))]
    names = {text(inner(each, "served_model_name")) for each in told} - {None}
    return names.pop() if len(names) == 1 else None


def _behind(router: object, side: str) -> list[Object]:
    return objects(inner(router, side))


def _read(whole: Object, *, tool: str, model: str | None) -> ImportedRun:
    requests = tuple(_request(row) for row in columns(whole, _REQUEST_COLUMNS))
    completed, failed = count(whole.get("completed")), count(whole.get("failed"))
    made = count(whole.get("num_prompts")) or (len(requests) or None)
    if failed is None and made is not None and completed is not None:
        failed = max(0, made - completed)
    told = scalars(whole)
    duration_s = seconds(whole.get("duration"))
    written_at_s = _moment(text(whole.get("date")))
    limit = count(whole.get("max_concurrency"))
    seen = count(whole.get("max_concurrent_requests"))
    return ImportedRun(
        tool=tool,
        model=model,
        settings={name: value for name, value in told.items() if name in _SETTINGS},
        figures={name: value for name, value in told.items() if name not in _SETTINGS},
        requests=requests,
        requests_made=made if made is not None else completed,
        requests_failed=failed,
        duration_s=duration_s,
        started_at_s=None if written_at_s is None else written_at_s - (duration_s or 0.0),
        concurrency=limit or peak_in_flight(requests) or seen,
    )


def _request(row: dict[str, Any]) -> ImportedRequest:
    """Start times are of a clock without a date: they are good for differences only."""
    error = _said(text(row.get("error")) or "")
    first, gaps = seconds(row.get("ttft")) or None, row.get("itl")
    duration = seconds(row.get("latency")) or None
    if duration is None and first is not None and isinstance(gaps, list):
        duration = first + sum(gap for each in gaps if (gap := seconds(each)) is not None)
    return ImportedRequest(
        content=text(row.get("content")),
        error=error,
        reason=None if error is None else error_reason(error),
        started_at_s=seconds(row.get("started")),
        first_token_s=None if error else first,
        duration_s=duration,
        prompt_tokens=count(row.get("prompt")),
        completion_tokens=count(row.get("completion")),
        cached_tokens=_cached(row.get("cached")),
    )


def _cached(value: object) -> dict[str, int]:
    pairs: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else ()
    return {str(source): n for source, tokens in pairs if (n := count(tokens)) is not None}


def _said(error: str) -> str | None:
    """Both tools keep whole tracebacks, whose last line says what happened; what else they keep is
    the phrase of the status and the body. None where nothing is said.
    """
    lines = error.strip().splitlines()
    if lines and lines[0].startswith("Traceback"):
        return lines[-1].strip()
    return " ".join(error.split()) or None


def _moment(date: str | None) -> float | None:
    """When the file was written, `20261130-023100`, in that machine's local time: taken as UTC."""
    try:
        return datetime.strptime(date or "", "%Y%m%d-%H%M%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
