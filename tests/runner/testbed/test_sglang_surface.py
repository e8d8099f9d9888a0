"""The surface, field by field, against what SGLang's source says of its own (August 2026)."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from runner.testbed.closed_loop import StepClock
from runner.testbed.engine_thread import EngineThread
from runner.testbed.health_probe import HealthProbe
from runner.testbed.launch_options import LaunchOptions
from tests.runner.testbed.chat_rendering import draw_dialogues, first_request
from tests.runner.testbed.live_testbed import LiveTestbed, live_testbed

CHAT = "/v1/chat/completions"
DIALOGUES = draw_dialogues(4, seed=21)

API = {"model_name", "engine_type"}
SCHEDULER = API | {"tp_rank", "pp_rank", "moe_ep_rank"}
CACHE = SCHEDULER | {"cache_type"}

# name -> type and labels, as in srt/observability/metrics_collector.py and srt/utils/common.py.
REFERENCE: dict[str, tuple[str, set[str]]] = {
    "num_running_reqs": ("gauge", SCHEDULER),
    "num_queue_reqs": ("gauge", SCHEDULER),
    "num_prefill_bootstrap_queue_reqs": ("gauge", SCHEDULER),
    "num_prefill_inflight_queue_reqs": ("gauge", SCHEDULER),
    "num_decode_prealloc_queue_reqs": ("gauge", SCHEDULER),
    "num_decode_transfer_queue_reqs": ("gauge", SCHEDULER),
    "pending_prealloc_token_usage": ("gauge", SCHEDULER),
    "token_usage": ("gauge", SCHEDULER),
    "num_used_tokens": ("gauge", SCHEDULER),
    "kv_available_tokens": ("gauge", SCHEDULER),
    "kv_evictable_tokens": ("gauge", SCHEDULER),
    "kv_used_tokens": ("gauge", SCHEDULER),
    "max_total_num_tokens": ("gauge", SCHEDULER),
    "page_size": ("gauge", SCHEDULER),
    "num_pages": ("gauge", SCHEDULER),
    "gen_throughput": ("gauge", SCHEDULER),
    "decode_sum_seq_lens": ("gauge", SCHEDULER),
    "cache_hit_rate": ("gauge", SCHEDULER),
    "num_bootstrap_failed_reqs_total": ("counter", SCHEDULER),
    "num_transfer_failed_reqs_total": ("counter", SCHEDULER),
    "num_prefill_retries_total": ("counter", SCHEDULER),
    "num_retracted_requests_total": ("counter", SCHEDULER),
    "realtime_tokens_total": ("counter", SCHEDULER | {"mode"}),
    "prefill_effective_tokens_total": ("counter", SCHEDULER | {"mode"}),
    "cuda_graph_passes_total": ("counter", SCHEDULER | {"mode"}),
    "kv_transfer_speed_gb_s": ("histogram", SCHEDULER),
    "kv_transfer_latency_ms": ("histogram", SCHEDULER),
    "kv_transfer_bootstrap_ms": ("histogram", SCHEDULER),
    "kv_transfer_total_mb": ("histogram", SCHEDULER),
    "queue_time_seconds": ("histogram", SCHEDULER),
    "hicache_host_used_tokens": ("gauge", SCHEDULER),
    "hicache_host_total_tokens": ("gauge", SCHEDULER),
    "evicted_tokens_total": ("counter", CACHE),
    "eviction_duration_seconds": ("histogram", CACHE),
    "load_back_tokens_total": ("counter", CACHE | {"pool"}),
    "load_back_bytes_total": ("counter", CACHE),
    "load_back_duration_seconds": ("histogram", CACHE),
    "hicache_backup_tokens_total": ("counter", CACHE | {"pool"}),
    "hicache_backup_bytes_total": ("counter", CACHE),
    "hicache_backup_duration_seconds": ("histogram", CACHE),
    "prompt_tokens_total": ("counter", API),
    "generation_tokens_total": ("counter", API),
    "num_requests_total": ("counter", API | {"is_streaming"}),
    "cached_tokens_total": ("counter", API | {"cache_source"}),
    "num_aborted_requests_total": ("counter", API),
    "time_to_first_token_seconds": ("histogram", API | {"is_streaming"}),
    "inter_token_latency_seconds": ("histogram", API),
    "e2e_request_latency_seconds": ("histogram", API | {"is_streaming"}),
    "http_requests_total": ("counter", {"endpoint", "method"}),
    "http_responses_total": ("counter", {"endpoint", "method", "status_code"}),
    "http_requests_active": ("gauge", {"endpoint", "method"}),
}
LABEL_VALUES = {
    ("realtime_tokens_total", "mode"): {"prefill_compute", "prefill_cache", "decode"},
    ("prefill_effective_tokens_total", "mode"): {
        "input",
        "device_hit",
        "host_hit",
        "storage_hit",
    },
    ("cuda_graph_passes_total", "mode"): {"decode_none", "prefill_none"},
    ("cached_tokens_total", "cache_source"): {"device", "host", "total"},
    ("num_requests_total", "is_streaming"): {"True", "False"},
    ("num_running_reqs", "engine_type"): {"unified"},
    ("evicted_tokens_total", "cache_type"): {"UnifiedRadixCache"},
    ("load_back_tokens_total", "pool"): {"kv", "indexer"},
}
ONLY_WITH_HICACHE = [name for name in REFERENCE if "hicache" in name or "load_back" in name]


@pytest.fixture(scope="module")
def testbed() -> Iterator[LiveTestbed]:
    """A server on which pages were evicted and loaded back."""
    options = LaunchOptions(
        enable_hierarchical_cache=True, max_running_requests=4, pages=16, decode_log_interval=2
    )
    with live_testbed(options) as live:
        for _ in range(2):
            for dialogue in DIALOGUES:
                live.client.post(CHAT, json=first_request(dialogue))
                filler = {"messages": [{"role": "user", "content": "the " * 1000}], "max_tokens": 1}
                live.client.post(CHAT, json=filler)
        yield live


@pytest.fixture(scope="module")
def families(testbed: LiveTestbed) -> dict[str, Metric]:
    page = testbed.client.get("/metrics").text
    return {family.name: family for family in text_string_to_metric_families(page)}


def family(families: dict[str, Metric], name: str) -> Metric:
    return families[f"sglang:{name.removesuffix('_total')}"]


@pytest.mark.parametrize("name", REFERENCE)
def test_a_metric_has_sglangs_name_type_and_labels(families: dict[str, Metric], name: str) -> None:
    kind, labels = REFERENCE[name]
    found = family(families, name)

    assert found.type == kind
    assert found.samples, "nothing was written though its cause was there"
    for sample in found.samples:
        assert set(sample.labels) - {"le"} == labels
        assert sample.name.startswith(f"sglang:{name}")


@pytest.mark.parametrize(("name", "label"), LABEL_VALUES)
def test_labels_have_sglangs_values(families: dict[str, Metric], name: str, label: str) -> None:
    found = {sample.labels[label] for sample in family(families, name).samples}

    assert found == LABEL_VALUES[name, label]


def test_without_a_host_mirror_its_metrics_are_not_there() -> None:
    with live_testbed(LaunchOptions(pages=16)) as live:
        page = live.client.get("/metrics").text

    assert "sglang:num_running_reqs" in page
    assert [name for name in ONLY_WITH_HICACHE if f"sglang:{name}" in page] == []


def test_host_hits_are_counted_by_every_counter_that_has_them(
    families: dict[str, Metric],
) -> None:
    def value(name: str, **labels: str) -> float:
        (sample,) = (
            s for s in family(families, name).samples if labels.items() <= s.labels.items()
        )
        return float(sample.value)

    loaded = value("load_back_tokens_total", pool="kv")
    assert loaded > 0
    assert value("load_back_tokens_total", pool="indexer") == loaded
    assert value("prefill_effective_tokens_total", mode="host_hit") == loaded
    assert value("cached_tokens_total", cache_source="host") == loaded
    # One page of 64 tokens: two layers of 32 KiB keys and values, and 8,448 bytes of index keys.
    assert value("load_back_bytes_total") == loaded / 64 * 2 * (64 * 512 + 8448)


def test_the_cache_hit_rate_is_zero_after_a_decode_report(testbed: LiveTestbed) -> None:
    testbed.client.post(CHAT, json=first_request(DIALOGUES[0]))

    assert testbed.metric("cache_hit_rate") == 0


SERVER_INFO_KEYS = (
    *("version", "model_path", "enable_hierarchical_cache", "hicache_write_policy"),
    *("hicache_storage_backend", "kv_cache_dtype", "page_size", "disaggregation_mode"),
    *("disaggregation_bootstrap_port", "disable_overlap_schedule", "disable_cuda_graph"),
    *("speculative_algorithm", "chunked_prefill_size", "max_running_requests"),
    *("disable_radix_cache", "radix_eviction_policy", "tool_call_parser", "reasoning_parser"),
    *("tp_size", "dp_size", "ep_size", "enable_dp_attention", "random_seed"),
)


def test_server_info_has_the_keys_by_which_an_arm_is_verified(testbed: LiveTestbed) -> None:
    info = testbed.client.get("/server_info").json()
    (state,) = info["internal_states"]

    assert [key for key in SERVER_INFO_KEYS if key not in info] == []
    assert [key for key in SERVER_INFO_KEYS if key not in state] == []
    assert {"status", "max_total_num_tokens", "max_req_input_len", "startup_time"} <= set(info)
    assert {"last_gen_throughput", "memory_usage", "startup_time"} <= set(state)
    assert {"weight", "kvcache", "token_capacity", "graph"} <= set(state["memory_usage"])
    assert state["effective_max_running_requests_per_dp"] == 4


def test_model_info_names_the_parser(testbed: LiveTestbed) -> None:
    info = testbed.client.get("/model_info").json()

    assert info["tool_call_parser"] == "strict"
    assert info["served_model_name"] == "tiny-dsml"
    assert info == testbed.client.get("/get_model_info").json()


def test_loads_are_those_of_the_last_snapshot(testbed: LiveTestbed) -> None:
    report = testbed.client.get("/v1/loads").json()
    (row,) = report["loads"]

    assert row["max_total_num_tokens"] == 16 * 64
    assert {"num_running_reqs", "num_waiting_reqs", "token_usage", "gen_throughput"} <= set(row)
    assert set(row["disaggregation"]) == {
        "mode",
        "prefill_bootstrap_queue_reqs",
        "prefill_inflight_queue_reqs",
        "decode_prealloc_queue_reqs",
        "decode_transfer_queue_reqs",
        "decode_retracted_queue_reqs",
    }
    assert set(row["queues"]) == {"waiting", "grammar", "paused", "retracted", "prealloc_ready"}


def test_loads_can_be_asked_for_in_part(testbed: LiveTestbed) -> None:
    (row,) = testbed.client.get("/v1/loads", params={"include": "queues"}).json()["loads"]

    assert set(row) == {"dp_rank", "queues"}


LINES = {
    "Prefill batch": r"Prefill batch, #new-seq: \d+, #new-token: \d+, #cached-token: \d+, "
    r"token usage: \d\.\d\d, #running-req: \d+, #queue-req: \d+, #pending-token: \d+, "
    r"#bootstrap-req: \d+, #inflight-req: \d+, #optimistic-req: 0, cuda graph: False, "
    r"input throughput \(token/s\): \d+\.\d\d",
    "Decode batch": r"Decode batch, #running-req: \d+, #token: \d+, token usage: \d\.\d\d, "
    r"pre-allocated usage: \d\.\d\d, #prealloc-req: \d+, #transfer-req: \d+, "
    r"#retracted-req: 0, cuda graph: False, gen throughput \(token/s\): \d+\.\d\d, "
    r"#queue-req: \d+",
    "hicache_attached": r"Tree cache initialized: source=\S+ impl=UnifiedRadixCache "
    r"hicache_attached=True",
    "DSA indexer": r"Allocating \d+\.\d\d GB host memory for DSA indexer \(layout=page_first\)\.",
    "fired up": r"The server is fired up and ready to roll!",
}


@pytest.mark.parametrize("start", LINES)
def test_lines_of_the_log_are_sglangs(testbed: LiveTestbed, start: str) -> None:
    assert re.fullmatch(LINES[start], testbed.log.wait_for(start))


@pytest.fixture
def stuck() -> Iterator[LiveTestbed]:
    """Prefill works, no page ever arrives."""
    with live_testbed(LaunchOptions(stall_transfer_after=0, pages=64)) as live:
        yield live


def test_an_abort_ends_every_request_whose_id_begins_so(stuck: LiveTestbed) -> None:
    def ask(number: int) -> dict[str, Any]:
        body = first_request(DIALOGUES[number], rid=f"run-{number}")
        answer: dict[str, Any] = stuck.client.post(CHAT, json=body).json()
        return answer

    with ThreadPoolExecutor(2) as pool:
        answers = [pool.submit(ask, number) for number in range(2)]
        for number in range(2):
            stuck.log.wait_for("Prefill batch" if number == 0 else "#inflight-req: ")
        _abort_until(stuck, {"rid": "run-"}, answers)
        finishes = [answer.result()["choices"][0]["finish_reason"] for answer in answers]

    assert finishes == ["abort", "abort"]
    assert stuck.client.post("/flush_cache", params={"timeout": 20}).status_code == 200


def _abort_until(stuck: LiveTestbed, body: dict[str, object], answers: list[Any]) -> None:
    while not all(answer.done() for answer in answers):
        assert stuck.client.post("/abort_request", json=body).status_code == 200


def test_an_abort_of_nothing_in_particular_is_ignored(stuck: LiveTestbed) -> None:
    body = first_request(DIALOGUES[0], rid="stays", stream=True)
    with stuck.client.stream("POST", CHAT, json=body) as response:
        stuck.log.wait_for("Prefill batch")
        stuck.client.post("/abort_request", json={"rid": ""})
        stuck.log.wait_for("Empty rid, ignore abort request.")
        refused = stuck.client.post("/flush_cache")
        stuck.client.post("/abort_request", json={"abort_all": True})
        lines = [line for line in response.iter_lines() if line]

    assert refused.status_code == 400
    last = json.loads(lines[-2].removeprefix("data: "))
    assert last["choices"][0]["finish_reason"] == "abort"


def test_a_flush_can_wait_until_the_server_is_idle(stuck: LiveTestbed) -> None:
    body = first_request(DIALOGUES[0], rid="held", stream=True)
    with stuck.client.stream("POST", CHAT, json=body), ThreadPoolExecutor(1) as pool:
        stuck.log.wait_for("Prefill batch")
        refused = stuck.client.post("/flush_cache", params={"timeout": 0.2})
        flushing = pool.submit(stuck.client.post, "/flush_cache", params={"timeout": 60})
        stuck.client.post("/abort_request", json={"rid": "held"})
        flushed = flushing.result()

    assert refused.status_code == 400
    assert flushed.status_code == 200
    assert stuck.client.post("/flush_cache", params={"timeout": "soon"}).status_code == 400


class IdleEngine:
    """An engine that has nothing to do."""

    made_progress = False
    is_idle = True

    def step(self) -> list[Any]:
        return []

    def next_deadline_s(self) -> None:
        return None

    def publish_gauges(self) -> None:
        return None


async def test_health_is_lost_while_the_scheduler_hangs_and_comes_back() -> None:
    log: list[str] = []
    release = threading.Event()
    thread = EngineThread(
        IdleEngine(), clock=StepClock(), deliver=lambda _: None, on_crash=lambda _: None
    )
    probe = HealthProbe(thread, 0.05, log=log.append, wall=lambda: 0.0)
    patient = HealthProbe(thread, 60.0, log=log.append, wall=lambda: 0.0)
    thread.start()
    thread.post(release.wait)

    hanging = await probe.is_healthy()
    release.set()
    working = await patient.is_healthy()
    thread.stop()

    assert (hanging, working) == (False, True)
    assert not await patient.is_healthy(), "a thread that has ended"
    assert re.fullmatch(
        r"Health check failed\. Server couldn't get a response from detokenizer for last "
        r"0\.05 seconds\. tic start time: \d\d:\d\d:\d\d\. last_heartbeat time: \d\d:\d\d:\d\d",
        log[0],
    )
