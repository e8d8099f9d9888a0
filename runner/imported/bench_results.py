"""Result files of `vllm bench serve` and of `sglang.bench_serving`; pure.

Both write one JSON object a run (sglang appends lines) with lists over requests where details were
asked for (`--save-detailed`, `--output-details`). Neither keeps tool calls, nor what was asked.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from runner.imported.error_reasons import error_reason
from runner.imported.imported_run import ImportedRequest, ImportedRun, peak_in_flight
from runner.imported.json_reading import Object, columns, count, scalars, seconds, text

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
    server = whole.get("server_info")
    served = server.get("served_model_name") if isinstance(server, dict) else None
    return _read(whole, tool=SGLANG, model=text(served))


def _read(whole: Object, *, tool: str, model: str | None) -> ImportedRun:
    requests = tuple(_request(row) for row in columns(whole, _REQUEST_COLUMNS))
    completed, failed = count(whole.get("completed")), count(whole.get("failed"))
    made = count(whole.get("num_prompts")) or (len(requests) or None)
    if failed is None and made is not None and completed is not None:
        failed = max(0, made - completed)
    told = scalars(whole)
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
        duration_s=seconds(whole.get("duration")),
        started_at_s=_moment(text(whole.get("date"))),
        concurrency=limit or peak_in_flight(requests) or seen,
    )


def _request(row: dict[str, Any]) -> ImportedRequest:
    """Start times are of a clock without a date: they are good for differences only."""
    error = text(row.get("error")) or None
    first, gaps = seconds(row.get("ttft")), row.get("itl")
    duration = seconds(row.get("latency"))
    if duration is None and first is not None and isinstance(gaps, list):
        duration = first + sum(gap for each in gaps if (gap := seconds(each)) is not None)
    return ImportedRequest(
        content=text(row.get("content")),
        error=None if error is None else _last_line(error),
        reason=None if error is None else error_reason(_last_line(error)),
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


def _last_line(error: str) -> str:
    """Both tools keep whole tracebacks; their last line says what happened."""
    return error.strip().splitlines()[-1].strip() if error.strip() else error


def _moment(date: str | None) -> float | None:
    """`20261130-023100`, in the local time of the machine that ran it: taken as UTC."""
    try:
        return datetime.strptime(date or "", "%Y%m%d-%H%M%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
