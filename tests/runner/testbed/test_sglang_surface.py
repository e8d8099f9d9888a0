"""How the control routes behave; which fields there are is test_sglang_fields' matter."""

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


def test_loads_can_be_asked_for_in_part(testbed: LiveTestbed) -> None:
    (row,) = testbed.client.get("/v1/loads", params={"include": "queues"}).json()["loads"]

    assert set(row) == {"dp_rank", "queues"}


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
