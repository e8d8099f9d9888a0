"""What serving stacks call the same few things in their metrics, as data; it reads no page.

Another stack is one more `Dialect`, or a mapping in its stack file.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from runner.campaign.stack_shape import MetricRole, MetricsDialect, MetricsEndpoint
from runner.observe.exposition import Sample

# Requests that the server says it holds. Any of them above zero means that there is work.
HOLDING_ROLES = (
    MetricRole.RUNNING,
    MetricRole.QUEUE,
    MetricRole.PREFILL_BOOTSTRAP,
    MetricRole.PREFILL_INFLIGHT,
    MetricRole.DECODE_PREALLOC,
    MetricRole.DECODE_TRANSFER,
    MetricRole.GRAMMAR_QUEUE,
)

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How one stack names things.

    `roles`: role -> series names; the first that the page has is read, for names change between
    versions. `progress`: groups of counters that move while tokens are made; the first group of
    which the page has any is read, the best first. `output`: those of them that count tokens given
    out, not those read, where the label `mode` is none of `input_modes`. `engine_labels` tell
    engines apart, which are summed; `repeated_labels` tell ranks apart that repeat one another, of
    which one is taken.
    `dropped` are series to leave out: label -> value.
    """

    name: str
    shown_by: re.Pattern[str]
    roles: Mapping[MetricRole, Names]
    progress: Sequence[Names]
    output: Names = ()
    input_modes: Names = ()
    engine_labels: Names = ()
    repeated_labels: Names = ()
    dropped: Mapping[str, str] = field(default_factory=dict)

    def series(self) -> frozenset[str]:
        """All names that are read."""
        named = [*self.roles.values(), *self.progress]
        return frozenset(name for names in named for name in names)

    def also_passed_on(self) -> "Dialect":
        """The same, read also at `/engine_metrics` of SGLang's router, whose page has `_` for each
        `:` of a name and tells the engines apart by `worker_addr`.
        """
        return replace(
            self,
            roles={role: _both_spellings(names) for role, names in self.roles.items()},
            progress=tuple(_both_spellings(names) for names in self.progress),
            output=_both_spellings(self.output),
            engine_labels=("worker_addr", *self.engine_labels),
        )


def _both_spellings(names: Names) -> Names:
    return (*names, *(name.replace(":", "_") for name in names if ":" in name))


# Ranks of one tensor- or pipeline-parallel group export the same numbers. (SGLang
# srt/observability/scheduler_metrics_mixin.py: with metrics of all schedulers on.)
_RANKS = (
    "tp_rank",
    "pp_rank",
    "ep_rank",
    "moe_ep_rank",
    "moe_tp_rank",
    "moe_dp_rank",
    "attn_tp_rank",
    "attn_cp_rank",
    "rank",
    "pid",
)
_USUAL_ENGINES = ("instance", "engine", "dp_rank", "worker", "worker_id")

SGLANG = Dialect(
    name="sglang",
    shown_by=re.compile(r"sglang[:_]"),
    roles={
        MetricRole.RUNNING: ("sglang:num_running_reqs",),
        MetricRole.QUEUE: ("sglang:num_queue_reqs",),
        MetricRole.GRAMMAR_QUEUE: ("sglang:num_grammar_queue_reqs",),
        MetricRole.PREFILL_BOOTSTRAP: (
            "sglang:num_prefill_bootstrap_queue_reqs",
            "sglang:num_prefill_prealloc_queue_reqs",
        ),
        MetricRole.PREFILL_INFLIGHT: ("sglang:num_prefill_inflight_queue_reqs",),
        MetricRole.DECODE_PREALLOC: ("sglang:num_decode_prealloc_queue_reqs",),
        MetricRole.DECODE_TRANSFER: ("sglang:num_decode_transfer_queue_reqs",),
        MetricRole.GEN_THROUGHPUT: ("sglang:gen_throughput",),
        MetricRole.TOKEN_USAGE: ("sglang:token_usage",),
        MetricRole.GENERATION_TOKENS: ("sglang:generation_tokens_total",),
        MetricRole.PROMPT_TOKENS: ("sglang:prompt_tokens_total",),
        MetricRole.REQUESTS: ("sglang:num_requests_total",),
    },
    progress=(
        ("sglang:realtime_tokens_total",),
        # Of finished requests only, so that a long answer does not move them.
        (
            "sglang:generation_tokens_total",
            "sglang:prompt_tokens_total",
        ),
        # Of requests that ended in any way, aborts among them: the last resort.
        ("sglang:num_requests_total",),
    ),
    output=(
        "sglang:realtime_tokens_total",
        "sglang:generation_tokens_total",
    ),
    input_modes=("prefill_compute", "prefill_cache"),
    engine_labels=("instance", "engine_type", "dp_rank"),
    repeated_labels=_RANKS,
).also_passed_on()

VLLM = Dialect(
    name="vllm",
    shown_by=re.compile(r"vllm[:_]"),
    roles={
        MetricRole.RUNNING: ("vllm:num_requests_running",),
        # `_by_reason` repeats the waiting ones, and is read only where nothing else says them.
        MetricRole.QUEUE: ("vllm:num_requests_waiting", "vllm:num_requests_waiting_by_reason"),
        MetricRole.TOKEN_USAGE: ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
        MetricRole.GEN_THROUGHPUT: ("vllm:avg_generation_throughput_toks_per_s",),
        MetricRole.GENERATION_TOKENS: ("vllm:generation_tokens_total", "vllm:generation_tokens"),
        MetricRole.PROMPT_TOKENS: ("vllm:prompt_tokens_total", "vllm:prompt_tokens"),
        MetricRole.REQUESTS: ("vllm:request_success_total",),
    },
    progress=(
        (
            "vllm:generation_tokens_total",
            "vllm:prompt_tokens_total",
            "vllm:generation_tokens",
            "vllm:prompt_tokens",
        ),
        ("vllm:request_success_total",),
    ),
    output=("vllm:generation_tokens_total", "vllm:generation_tokens"),
    engine_labels=("instance", "engine", "engine_index"),
    repeated_labels=_RANKS,
    # Our own time-outs make it rise.
    dropped={"finished_reason": "abort"},
).also_passed_on()

LLAMA_CPP = Dialect(
    name="llama.cpp",
    shown_by=re.compile(r"llamacpp:"),
    roles={
        MetricRole.RUNNING: ("llamacpp:requests_processing",),
        MetricRole.QUEUE: ("llamacpp:requests_deferred",),
        MetricRole.GEN_THROUGHPUT: ("llamacpp:predicted_tokens_seconds",),
        MetricRole.TOKEN_USAGE: ("llamacpp:kv_cache_usage_ratio",),
        MetricRole.GENERATION_TOKENS: ("llamacpp:tokens_predicted_total",),
        MetricRole.PROMPT_TOKENS: ("llamacpp:prompt_tokens_total",),
    },
    progress=(
        ("llamacpp:tokens_predicted_total", "llamacpp:prompt_tokens_total"),
        ("llamacpp:n_decode_total",),
    ),
    engine_labels=("instance", "model"),
)

DYNAMO = Dialect(
    name="dynamo",
    shown_by=re.compile(r"dynamo_"),
    roles={
        # The front end counts the same requests as the workers behind it.
        MetricRole.RUNNING: (
            "dynamo_frontend_inflight_requests",
            "dynamo_component_inflight_requests",
        ),
        MetricRole.QUEUE: ("dynamo_frontend_queued_requests", "dynamo_work_handler_queue_depth"),
        MetricRole.GENERATION_TOKENS: (
            "dynamo_frontend_output_tokens_total",
            "dynamo_frontend_output_sequence_tokens_sum",
        ),
        MetricRole.REQUESTS: ("dynamo_frontend_requests_total", "dynamo_component_requests_total"),
    },
    progress=(
        ("dynamo_frontend_output_tokens_total", "dynamo_component_response_bytes_total"),
        (
            "dynamo_frontend_inter_token_latency_seconds_count",
            "dynamo_frontend_output_sequence_tokens_sum",
        ),
        ("dynamo_frontend_requests_total", "dynamo_component_requests_total"),
    ),
    engine_labels=("instance", "pod", "worker_id", "worker", "dynamo_component", "dp_rank"),
    repeated_labels=_RANKS,
)

TENSORRT_LLM = Dialect(
    name="tensorrt-llm",
    shown_by=re.compile(r"trtllm[:_]"),
    roles={
        MetricRole.RUNNING: ("trtllm_num_requests_running", "trtllm:num_requests_running"),
        MetricRole.QUEUE: ("trtllm_num_requests_waiting", "trtllm:num_requests_waiting"),
        MetricRole.TOKEN_USAGE: ("trtllm_kv_cache_utilization", "trtllm:kv_cache_utilization"),
        MetricRole.GENERATION_TOKENS: (
            "trtllm_generation_tokens_total",
            "trtllm_generation_tokens",
        ),
        MetricRole.PROMPT_TOKENS: ("trtllm_prompt_tokens_total", "trtllm_prompt_tokens"),
        MetricRole.REQUESTS: ("trtllm_request_success_total", "trtllm:request_success_total"),
    },
    progress=(
        (
            "trtllm_generation_tokens_total",
            "trtllm_generation_tokens",
            "trtllm_prompt_tokens_total",
        ),
        ("trtllm_request_success_total", "trtllm:request_success_total"),
    ),
    engine_labels=("instance", "dp_rank"),
    repeated_labels=_RANKS,
    dropped={"finished_reason": "abort"},
)

# An engine's own series come before those of a front end that passes them on.
KNOWN_DIALECTS: tuple[Dialect, ...] = (SGLANG, VLLM, TENSORRT_LLM, LLAMA_CPP, DYNAMO)

_NEVER = re.compile(r"(?!)")

PROCESS_START = "process_start_time_seconds"
GUESSED = "guessed"

_GUESSES: Mapping[MetricRole, str] = {
    MetricRole.RUNNING: r"(?:requests?_(?:running|processing|active)|(?:running|active|inflight)_"
    r"(?:requests?|reqs)|batch_current_size)$",
    MetricRole.QUEUE: r"(?:requests?_(?:waiting|queued|deferred|pending)|"
    r"(?:waiting|queued|queue|pending)_(?:requests?|reqs)|queue_size)$",
    MetricRole.GENERATION_TOKENS: r"(?:generation|generated|predicted|output|completion)_tokens"
    r"(?:_total|_sum)?$",
}


def dialect_of_endpoint(endpoint: MetricsEndpoint) -> Dialect | None:
    """As the stack file says; None where the page itself is to tell.

    A mapping that names no labels goes by the usual ones: data-parallel ranks are engines, ranks of
    one tensor- or pipeline-parallel group repeat one another.
    """
    if endpoint.dialect is MetricsDialect.OTHER:
        return Dialect(
            name="other",
            shown_by=_NEVER,
            roles={role: (series,) for role, series in endpoint.names.items()},
            progress=(endpoint.progress,),
            engine_labels=endpoint.engine_labels or _USUAL_ENGINES,
            repeated_labels=endpoint.repeated_labels
            or tuple(label for label in _RANKS if label not in endpoint.engine_labels),
        )
    known = {dialect.name: dialect for dialect in KNOWN_DIALECTS}
    return known.get(endpoint.dialect)


def dialect_of(samples: Iterable[Sample]) -> Dialect | None:
    """The dialect that a page is in; a guess by its words where it is none of the known ones.

    None where nothing in it looks like a serving engine's.
    """
    names = sorted({sample.name for sample in samples})
    for dialect in KNOWN_DIALECTS:
        if any(dialect.shown_by.match(name) for name in names):
            return dialect
    return _guessed(names)


def _guessed(names: Sequence[str]) -> Dialect | None:
    roles = {
        role: tuple(name for name in names if re.search(pattern, name))
        for role, pattern in _GUESSES.items()
    }
    found = {role: series for role, series in roles.items() if series}
    if MetricRole.RUNNING not in found and MetricRole.GENERATION_TOKENS not in found:
        return None
    progress = found.get(MetricRole.GENERATION_TOKENS)
    return Dialect(
        name=GUESSED,
        shown_by=_NEVER,
        roles=found,
        progress=(progress,) if progress else (),
        engine_labels=_USUAL_ENGINES,
        repeated_labels=_RANKS,
    )
