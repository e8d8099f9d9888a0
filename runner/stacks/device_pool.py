"""How many tokens the prefix caches of a stack hold on its devices, as its servers tell it."""

from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from runner.campaign.stack_shape import ServiceRole
from runner.control.capped_page import NO_PAGE, fetch_page
from runner.errors import StackError
from runner.observe.exposition import Sample, read_exposition
from runner.observe.scrape import counter_total
from runner.stacks.running_stack import RunningStack
from runner.stacks.service_launch import MODELS_PATH, ServiceLaunch
from runner.stacks.statements import statement_page

DEADLINE_S = 10.0

# SGLang's srt/observability/metrics_collector.py, and vLLM's vllm/v1/metrics/loggers.py.
_SGLANG_TOKENS = "sglang:max_total_num_tokens"
_VLLM_POOL = "vllm:cache_config_info"


async def device_tokens(running: RunningStack, *, http: httpx.AsyncClient) -> int | None:
    """Over all services that keep a prefix cache; None where one of them does not tell.

    Where prefill is apart from decode, it alone keeps one.
    """
    found = [await _tokens_of(launch, http) for launch in _with_prefix_cache(running.launches)]
    known = [tokens for tokens in found if tokens is not None]
    return sum(known) if known and len(known) == len(found) else None


async def longest_prompt_tokens(running: RunningStack, *, http: httpx.AsyncClient) -> int | None:
    """Prompt and answer together, as the list of models has it; None where it is not told."""
    try:
        page = await statement_page(running.entry, MODELS_PATH, http)
    except StackError:
        return None
    listed = (page or {}).get("data")
    models = [each for each in listed if isinstance(each, Mapping)] if listed else []
    lengths = [
        length
        for each in models
        if each.get("id") == running.model and (length := _positive(each.get("max_model_len")))
    ]
    return lengths[0] if lengths else None


def tokens_in_metrics(samples: Sequence[Sample]) -> int | None:
    """The pool by a page of metrics: SGLang's gauge, or vLLM's blocks times their size."""
    told = counter_total(samples, _SGLANG_TOKENS, labels={})
    if told:
        return int(told)
    pools = [
        int(sample.labels["num_gpu_blocks"]) * int(sample.labels["block_size"])
        for sample in samples
        if sample.name == _VLLM_POOL
        and sample.labels.get("num_gpu_blocks", "").isdecimal()
        and sample.labels.get("block_size", "").isdecimal()
    ]
    return sum(pools) or None


def tokens_in_report(report: Mapping[str, Any]) -> int | None:
    """The pool by SGLang's `/server_info`, which has that of one of its `dp_size` ranks."""
    tokens, ranks = _positive(report.get("max_total_num_tokens")), _positive(report.get("dp_size"))
    return tokens * (ranks or 1) if tokens else None


def _with_prefix_cache(launches: Sequence[ServiceLaunch]) -> list[ServiceLaunch]:
    engines = [launch for launch in launches if not launch.is_router]
    return [each for each in engines if each.definition.role is ServiceRole.PREFILL] or engines


async def _tokens_of(launch: ServiceLaunch, http: httpx.AsyncClient) -> int | None:
    url = launch.metrics_url
    if url is not None:
        try:
            page = await fetch_page(http, url, deadline_s=DEADLINE_S)
            told = tokens_in_metrics(read_exposition(page.content, content_type=page.content_type))
        except (*NO_PAGE, ValueError):
            told = None
        if told is not None:
            return told
    try:
        report = await statement_page(launch, launch.definition.server_info, http)
    except StackError:
        return None
    return None if report is None else tokens_in_report(report)


def _positive(value: object) -> int | None:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return int(str(value)) if is_number and int(str(value)) > 0 else None
