"""Every field of the surface against what SGLang's source says, in one process and in two.

The facts are in `tests/data/sglang_surface.yaml`, with the file of SGLang's that they were read in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from ruamel.yaml import YAML

from runner.campaign.stack_shape import MetricRole
from runner.observe.batch_lines import read_batch_line
from runner.observe.engine_readings import PageReading, read_page
from runner.observe.exposition import read_exposition
from runner.observe.log_records import LogNormalizer
from runner.observe.metric_dialects import HOLDING_ROLES, SGLANG, dialect_of
from runner.testbed.launch_options import LaunchOptions, parse_launch_options
from tests.runner.testbed.chat_rendering import draw_dialogues, first_request
from tests.runner.testbed.live_testbed import live_testbed
from tests.runner.testbed.split_testbed import split_testbed

CHAT = "/v1/chat/completions"
FACTS: dict[str, Any] = YAML(typ="safe").load(
    Path(__file__).parents[2].joinpath("data", "sglang_surface.yaml").read_text(encoding="utf-8")
)
METRICS: dict[str, dict[str, Any]] = {
    name: fact for group in FACTS["metrics"] for name, fact in group["names"].items()
}
RARE = {"hicache_dropped_tokens_total"}  # a sample needs a host pool that is full
DIALOGUES = draw_dialogues(4, seed=21)
PREFIX = re.compile(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] ")


@dataclass(frozen=True, slots=True)
class Server:
    """One server of a stack: its role, its own address, and the log of the stack so far."""

    role: str
    client: httpx.Client
    front: httpx.Client
    lines: Callable[[], list[str]]

    def families(self) -> dict[str, Metric]:
        """By their names in SGLang, without its prefix and with a counter's `_total`."""
        found = text_string_to_metric_families(self.client.get("/metrics").text)
        return {
            family.name.removeprefix("sglang:")
            + ("_total" if family.type == "counter" else ""): family
            for family in found
            if family.name.startswith("sglang:")
        }


@contextmanager
def unified() -> Iterator[list[Server]]:
    options = LaunchOptions(
        enable_hierarchical_cache=True, max_running_requests=4, pages=16, decode_log_interval=2
    )
    with live_testbed(options) as live:
        yield [Server("unified", live.client, live.client, lambda: list(live.log.lines))]


@contextmanager
def split() -> Iterator[list[Server]]:
    switches = "--enable-hierarchical-cache --max-running 4 --pages 16 --decode-log-interval 2"
    with split_testbed(*switches.split()) as stack:

        def lines() -> list[str]:
            return [PREFIX.sub("", line) for line in stack.lines]

        yield [
            Server("prefill", stack.prefill, stack.client, lines),
            Server("decode", stack.decode, stack.client, lines),
        ]


@pytest.fixture(scope="module", params=[unified, split], ids=["one process", "two processes"])
def servers(request: pytest.FixtureRequest) -> Iterator[list[Server]]:
    """Servers in which pages were evicted and loaded back, streaming and not, and then flushed."""
    with request.param() as started:
        front = started[0].front
        for stream in (False, True):
            for dialogue in DIALOGUES:
                front.post(CHAT, json=first_request(dialogue, stream=stream))
                filler = {"messages": [{"role": "user", "content": "the " * 1000}], "max_tokens": 1}
                front.post(CHAT, json=filler)
        yield started


def test_every_metric_has_sglangs_type_and_labels(servers: list[Server]) -> None:
    for server in servers:
        families = server.families()
        differences = [
            difference
            for name, fact in METRICS.items()
            if is_written_by(server.role, fact)
            for difference in differences_of(name, fact, families.get(name), server.role)
        ]

        assert differences == [], server.role


def is_written_by(role: str, fact: dict[str, Any]) -> bool:
    return role == "unified" or fact.get("side", role) == role


def differences_of(
    name: str, fact: dict[str, Any], family: Metric | None, role: str
) -> Iterator[str]:
    if family is None:
        yield f"{name} is missing"
        return
    if family.type != fact["type"]:
        yield f"{name} is a {family.type}, not a {fact['type']}"
    if not family.samples and name not in RARE:
        yield f"{name} has no sample though its cause was there"
    own: dict[str, list[str]] = fact.get("own", {})
    expected = {*FACTS["label_sets"][fact["labels"]], *own}
    for sample in family.samples:
        if set(sample.labels) - {"le"} != expected:
            yield f"{name} has the labels {sorted(sample.labels)}, not {sorted(expected)}"
        if sample.labels.get("engine_type", role) != role:
            yield f"{name} says engine_type={sample.labels['engine_type']}"
    for label, values in own.items():
        found = {sample.labels[label] for sample in family.samples}
        if values and not found <= set(values):
            yield f"{name} has {label}={sorted(found)}, not {values}"


def test_no_metric_is_made_up_and_none_is_said_to_be_served_that_is_not(
    servers: list[Server],
) -> None:
    left_out = {name for names in FACTS["not_served"].values() for name in names}
    for server in servers:
        names = set(server.families())

        assert names - METRICS.keys() == set()
        assert names & left_out == set()


def test_labels_take_all_the_values_that_sglang_gives_them(servers: list[Server]) -> None:
    found: dict[tuple[str, str], set[str]] = {}
    for server in servers:
        for name, family in server.families().items():
            for label in METRICS[name].get("own", {}):
                values = found.setdefault((name, label), set())
                values |= {sample.labels[label] for sample in family.samples}

    expected = {
        (name, label): set(values)
        for name, fact in METRICS.items()
        for label, values in fact.get("own", {}).items()
        if values and name not in RARE
    }
    assert {key: found[key] for key in expected} == expected


def test_our_own_observer_reads_the_page_as_sglangs(servers: list[Server]) -> None:
    readings = {server.role: reading_of(server) for server in servers}

    engines = [engine for reading in readings.values() for engine in reading.engines]
    reported = {role for engine in engines for role in engine.values}
    assert {reading.dialect for reading in readings.values()} == {"sglang"}
    assert {*HOLDING_ROLES, MetricRole.TOKEN_USAGE, MetricRole.GEN_THROUGHPUT} <= reported
    assert all(engine.held == 0 for engine in engines), "everything was answered"
    assert sum(sum(engine.output.values()) for engine in engines) > 0
    assert all(sum(engine.progress.values()) > 0 for engine in engines)


def reading_of(server: Server) -> PageReading:
    server.front.post("/flush_cache", params={"timeout": 20})
    samples = read_exposition(server.client.get("/metrics").content)
    assert dialect_of(samples) is SGLANG
    return read_page(samples, SGLANG)


def test_lines_of_batches_have_sglangs_fields_in_its_order(servers: list[Server]) -> None:
    fields = re.compile(r"(?:^|, )(#?[A-Za-z][A-Za-z ./()-]*?): (?:-?[\d.]+|True|False)(?=,|$)")
    lines = servers[0].lines()
    for kind, expected in FACTS["batch_lines"].items():
        start = f"{kind} batch, "
        batches = [line.removeprefix(start) for line in lines if line.startswith(start)]

        assert batches, kind
        assert {tuple(fields.findall(batch)) for batch in batches} == {tuple(expected)}


def test_our_own_observer_reads_the_batches(servers: list[Server]) -> None:
    log = LogNormalizer(year=2026)
    lines = "".join(f"[2026-08-22 09:15:02] {line}\n" for line in servers[0].lines())
    records = [*log.feed(lines.encode()), *log.close()]
    records = [record for record in records if " batch, " in record.text]

    batches = [batch for batch in map(read_batch_line, records) if batch is not None]

    assert len(batches) == len(records)
    assert {batch.phase for batch in batches} == {"prefill", "decode"}
    assert all(batch.has_progress for batch in batches if batch.phase == "prefill")


def test_the_other_lines_are_sglangs(servers: list[Server]) -> None:
    servers[0].front.post("/flush_cache", params={"timeout": 20})
    lines = servers[0].lines()

    missing = [
        name
        for name, pattern in FACTS["log_lines"].items()
        if name != "not flushed" and not any(re.fullmatch(pattern, line) for line in lines)
    ]
    assert missing == []


def test_server_info_has_what_an_arm_is_verified_by(servers: list[Server]) -> None:
    facts = FACTS["server_info"]
    for server in servers:
        info = server.client.get("/server_info").json()
        (state,) = info["internal_states"]

        assert [key for key in facts["arguments"] if key not in info] == []
        assert [key for key in facts["arguments"] if key not in state] == []
        assert [key for key in facts["top_level"] if key not in info] == []
        assert [key for key in facts["internal_state"] if key not in state] == []
        assert [key for key in facts["memory_usage"] if key not in state["memory_usage"]] == []
        assert state["effective_max_running_requests_per_dp"] == 4


def test_loads_and_model_info_have_sglangs_keys(servers: list[Server]) -> None:
    facts = FACTS["loads"]
    for server in servers:
        (row,) = server.client.get("/v1/loads").json()["loads"]
        model = server.client.get("/model_info").json()

        assert [key for key in facts["row"] if key not in row] == []
        assert list(row["disaggregation"]) == facts["disaggregation"]
        assert list(row["queues"]) == facts["queues"]
        assert list(model) == FACTS["model_info"]
        assert server.client.get("/get_model_info").json() == model


def test_an_answer_says_where_its_cached_tokens_came_from(servers: list[Server]) -> None:
    body = first_request(DIALOGUES[0], return_cached_tokens_details=True)

    answer = servers[0].front.post(CHAT, json=body).json()

    assert list(answer["sglext"]["cached_tokens_details"]) == FACTS["cached_tokens_details"]


def test_switches_that_sglang_has_are_called_as_there(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_launch_options(["--help"])

    offered = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    assert set(FACTS["flags"]) - offered == set()


def test_without_a_host_mirror_its_metrics_are_not_there() -> None:
    with live_testbed(LaunchOptions(pages=16)) as live:
        names = set(Server("unified", live.client, live.client, list).families())

    assert "num_running_reqs" in names
    assert {name for name, fact in METRICS.items() if fact.get("hicache")} & names == set()
