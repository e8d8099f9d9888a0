"""Metrics and log lines as foreign readers see them."""

from __future__ import annotations

import re

import pytest
from prometheus_client.parser import text_string_to_metric_families

from runner.testbed import log_lines
from runner.testbed.engine_metrics import DecodeGauges, PoolGauges, make_registry
from runner.testbed.log_output import configure_log
from runner.testbed.metric_catalogue import MetricFamily, Scope
from runner.testbed.metrics import Registry

# How a reader of SGLang's log takes a line apart.
BATCH = re.compile(r"^(?P<kind>Prefill|Decode) batch(?: \[(?P<it>\d+)\])?[,.] (?P<rest>.*)$")
FIELD = re.compile(
    r"(?:^|, )(?P<k>#?[A-Za-z][A-Za-z ./()\-]*?): (?P<v>-?[\d.]+%?|True|False)(?=,|$)"
)
PD_FAIL = re.compile(
    r"(?P<what>Prefill bootstrap failed|Prefill transfer failed|Decode handshake failed|"
    r"Decode transfer failed) for request rank=(?P<rank>\d+)\s+(?:decode_req\.)?"
    r"req\.rid='(?P<rid>[^']*)'\s+(?:decode_req\.)?req\.bootstrap_room=(?P<room>\d+)(?P<tail>.*)$"
)


def test_another_parser_reads_the_exposition() -> None:
    registry = make_registry('tiny "model"', hicache=True)
    registry.set("num_running_reqs", 3)
    registry.observe("time_to_first_token_seconds", 0.3, is_streaming="True")

    families = {f.name: f for f in text_string_to_metric_families(registry.exposition())}

    (running,) = families["sglang:num_running_reqs"].samples
    assert running.value == 3
    assert running.labels == {
        "model_name": 'tiny "model"',
        "engine_type": "unified",
        "tp_rank": "0",
        "pp_rank": "0",
        "moe_ep_rank": "0",
    }
    assert families["sglang:realtime_tokens"].type == "counter"
    histogram = families["sglang:time_to_first_token_seconds"]
    buckets = {s.labels["le"]: s.value for s in histogram.samples if s.name.endswith("_bucket")}
    assert histogram.type == "histogram"
    assert (buckets["0.2"], buckets["0.5"], buckets["+Inf"]) == (0, 1, 1)


@pytest.mark.parametrize(
    "name",
    [
        "num_running_reqs",
        "num_queue_reqs",
        "num_decode_transfer_queue_reqs",
        "num_decode_prealloc_queue_reqs",
        "num_prefill_inflight_queue_reqs",
        "token_usage",
        "num_used_tokens",
        "max_total_num_tokens",
        "gen_throughput",
        "cache_hit_rate",
        "realtime_tokens_total",
        "prompt_tokens_total",
        "generation_tokens_total",
        "num_requests_total",
        "cached_tokens_total",
        "load_back_tokens_total",
        "evicted_tokens_total",
        "hicache_host_used_tokens",
        "hicache_host_total_tokens",
        "num_transfer_failed_reqs_total",
        "num_aborted_requests_total",
        "time_to_first_token_seconds",
        "http_requests_active",
    ],
)
def test_sglangs_names_are_there(name: str) -> None:
    assert f"# TYPE sglang:{name} " in make_registry("tiny", hicache=True).exposition()


def test_labels_are_escaped() -> None:
    family = MetricFamily("name", "counter", Scope.HTTP, "A counter.")
    registry = Registry([family], {Scope.HTTP: {}})
    registry.add("name", path='a"b\\c\n')

    (parsed,) = text_string_to_metric_families(registry.exposition())

    assert parsed.samples[0].labels == {"path": 'a"b\\c\n'}


def test_batch_lines_are_read_field_by_field() -> None:
    prefill = log_lines.prefill_batch(
        new_sequences=2,
        new_tokens=100,
        cached_tokens=64,
        token_usage=0.414,
        running=5,
        queued=3,
        pending_tokens=300,
        bootstrap=1,
        inflight=2,
        tokens_per_s=158.723,
    )
    decode = log_lines.decode_batch(
        running=21,
        tokens=1450,
        token_usage=0.63,
        pending_usage=0.04,
        prealloc=1,
        transfer=6,
        queued=0,
        tokens_per_s=812.44,
    )

    fields = {}
    for line in (prefill, decode):
        batch = BATCH.match(line)
        assert batch is not None
        fields[batch["kind"]] = {m["k"]: m["v"] for m in FIELD.finditer(batch["rest"])}
    assert fields["Prefill"] == {
        "#new-seq": "2",
        "#new-token": "100",
        "#cached-token": "64",
        "token usage": "0.41",
        "#running-req": "5",
        "#queue-req": "3",
        "#pending-token": "300",
        "#bootstrap-req": "1",
        "#inflight-req": "2",
        "#optimistic-req": "0",
        "cuda graph": "False",
        "input throughput (token/s)": "158.72",
    }
    assert fields["Decode"]["#transfer-req"] == "6"
    assert fields["Decode"]["gen throughput (token/s)"] == "812.44"


@pytest.mark.parametrize(
    "line",
    [
        log_lines.decode_transfer_failed("r1", 42, log_lines.waiting_timeout(42, 300.0)),
        log_lines.prefill_transfer_failed("r1", 42, log_lines.ABORTED),
        log_lines.prefill_bootstrap_failed("r1", 42, log_lines.ABORTED),
    ],
)
def test_failed_transfers_are_read_as_the_real_ones(line: str) -> None:
    failure = PD_FAIL.match(line)

    assert failure is not None
    assert (failure["rid"], failure["room"], failure["rank"]) == ("r1", "42", "0")
    assert failure["tail"].startswith(" with exception KVTransferError(bootstrap_room=42): ")


def test_the_log_has_sglangs_prefix(capsys: pytest.CaptureFixture[str]) -> None:
    configure_log(access_log=False).info("Cache flushed successfully!")

    line = capsys.readouterr().err
    assert re.fullmatch(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] Cache flushed successfully!\n", line)


def test_a_histogram_counts_each_value_once_in_every_bucket_above_it() -> None:
    registry = make_registry("tiny", hicache=True)
    for seconds in (0.005, 0.3, 500.0):
        registry.observe("e2e_request_latency_seconds", seconds, is_streaming="True")

    text = registry.exposition()

    assert re.search(r'e2e_request_latency_seconds_bucket\{[^}]*le="200.0"\} 2.0', text)
    assert re.search(r"e2e_request_latency_seconds_sum\{[^}]*\} 500.305", text)


def test_gauge_snapshots_know_their_shares() -> None:
    pool = PoolGauges(used=64, evictable=128, total=640)
    decode = DecodeGauges(
        running=1, prealloc=0, transferring=1, tokens=500, pending_tokens=40, total_tokens=1000
    )

    assert pool.values()["kv_available_tokens"] == 448
    assert pool.usage == pytest.approx(0.1)
    assert (decode.usage, decode.pending_usage) == (0.5, 0.04)
