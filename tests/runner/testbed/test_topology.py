"""Router, prefill and decode as processes of their own."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from runner.testbed.grammar import Dialogue
from tests.runner.testbed.chat_rendering import (
    after_call,
    answer,
    arguments,
    draw_dialogues,
    first_request,
    tool_name,
)
from tests.runner.testbed.split_testbed import SplitTestbed, split_testbed
from tests.runner.testbed.stack_facts import unreported

CHAT = "/v1/chat/completions"
DIALOGUES = draw_dialogues(6, seed=21)


@pytest.fixture(scope="module")
def testbed() -> Iterator[SplitTestbed]:
    switches = ("--enable-hierarchical-cache", "--max-running-requests", "4", "--pages", "64")
    with split_testbed(*switches) as running:
        yield running


def call_of(body: dict[str, Any]) -> tuple[str, dict[str, str]]:
    (call,) = body["choices"][0]["message"]["tool_calls"]
    return call["function"]["name"], json.loads(call["function"]["arguments"])


def due_call(dialogue: Dialogue) -> tuple[str, dict[str, str]]:
    return tool_name(dialogue.rounds[0].call.tool), arguments(dialogue.rounds[0])


def test_a_request_is_prefilled_by_one_process_and_decoded_by_the_other(
    testbed: SplitTestbed,
) -> None:
    before = testbed.metric("decode", "realtime_tokens_total", 'mode="decode"')

    body = testbed.client.post(CHAT, json=first_request(DIALOGUES[0], rid="whole")).json()

    assert body["id"] == "whole"
    assert call_of(body) == due_call(DIALOGUES[0])
    decoded = testbed.metric("decode", "realtime_tokens_total", 'mode="decode"') - before
    assert decoded == body["usage"]["completion_tokens"] - 1
    assert testbed.metric("decode", "realtime_tokens_total", 'mode="prefill_compute"') == 0
    assert testbed.metric("prefill", "realtime_tokens_total", 'mode="decode"') == 0
    computed = testbed.metric("prefill", "realtime_tokens_total", 'mode="prefill_compute"')
    assert computed >= body["usage"]["prompt_tokens"]


def test_a_stream_comes_through_the_router_token_by_token(testbed: SplitTestbed) -> None:
    body = after_call(DIALOGUES[1]) | {"stream": True}

    with testbed.client.stream("POST", CHAT, json=body) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = [line.removeprefix("data: ") for line in response.iter_lines() if line]

    assert lines.pop() == "[DONE]"
    deltas = [json.loads(line)["choices"][0]["delta"] for line in lines]
    spoken = [delta["content"] for delta in deltas if delta.get("content")]
    assert "".join(spoken) == answer(DIALOGUES[1].rounds[0])
    assert len(spoken) == 1 + len(DIALOGUES[1].rounds[0].result)


def test_cached_tokens_are_told_by_decode_as_prefill_found_them(testbed: SplitTestbed) -> None:
    body = first_request(DIALOGUES[2], return_cached_tokens_details=True)
    testbed.client.post(CHAT, json=body)

    again = testbed.client.post(CHAT, json=body).json()

    n_full = (again["usage"]["prompt_tokens"] - 1) // 64 * 64
    assert again["sglext"]["cached_tokens_details"]["device"] == n_full > 0


def test_more_requests_than_slots_are_all_answered_right(testbed: SplitTestbed) -> None:
    def ask(number: int) -> bool:
        dialogue = DIALOGUES[number % len(DIALOGUES)]
        return call_of(testbed.client.post(CHAT, json=first_request(dialogue)).json()) == due_call(
            dialogue
        )

    with ThreadPoolExecutor(12) as pool:
        assert all(pool.map(ask, range(18)))


def test_each_process_says_which_side_it_is(testbed: SplitTestbed) -> None:
    info = testbed.client.get("/server_info").json()

    assert [state["disaggregation_mode"] for state in info["internal_states"]] == [
        "prefill",
        "decode",
    ]
    for side, client in (("prefill", testbed.prefill), ("decode", testbed.decode)):
        own = client.get("/server_info").json()
        assert own["disaggregation_mode"] == side
        assert client.get("/health").status_code == 200
        assert f'engine_type="{side}"' in client.get("/metrics").text
    assert testbed.prefill.get("/server_info").json()["max_total_num_tokens"] == 64 * 64
    assert testbed.decode.get("/server_info").json()["max_total_num_tokens"] == 4 * 1024


@pytest.mark.parametrize("stack", ["testbed-pd", "testbed-smg"])
def test_the_shipped_stacks_ask_each_process_for_facts_that_it_reports(
    testbed: SplitTestbed, stack: str
) -> None:
    for service, client in (("prefill", testbed.prefill), ("decode", testbed.decode)):
        assert unreported(stack, service, client.get("/server_info").json()) == []


def test_the_router_shows_both_engines_and_itself(testbed: SplitTestbed) -> None:
    engines = testbed.client.get("/engine_metrics").text
    own = testbed.client.get("/metrics").text

    for side, client in (("prefill", testbed.prefill), ("decode", testbed.decode)):
        url = str(client.base_url).rstrip("/")
        assert f'engine_type="{side}"' in engines
        assert f'worker_addr="{url}"' in engines
        assert f'smg_worker_health{{worker="{url}"}} 1.0' in own
    assert engines.count("# TYPE sglang:num_running_reqs gauge") == 1
    assert testbed.client.get("/readiness").status_code == 200


def test_an_idle_stack_flushes_and_the_prefix_is_gone(testbed: SplitTestbed) -> None:
    body = first_request(DIALOGUES[3], return_cached_tokens_details=True)
    testbed.client.post(CHAT, json=body)

    response = testbed.client.post("/flush_cache", params={"timeout": 10})

    assert response.status_code == 200
    details = testbed.client.post(CHAT, json=body).json()["sglext"]["cached_tokens_details"]
    assert (details["device"], details["host"]) == (0, 0)


def test_a_server_of_one_side_wants_its_requests_from_a_router(testbed: SplitTestbed) -> None:
    for client in (testbed.prefill, testbed.decode):
        response = client.post(CHAT, json=first_request(DIALOGUES[0]))

        assert response.status_code == 400
        assert "bootstrap_room" in response.json()["error"]["message"]


def test_what_cannot_be_read_is_refused_through_the_router_too(testbed: SplitTestbed) -> None:
    broken = testbed.client.post(CHAT, content=b"{")
    empty = testbed.client.post(CHAT, json={"messages": []})

    assert (broken.status_code, empty.status_code) == (400, 400)
    assert "messages must be a non-empty list." in empty.json()["error"]["message"]


HELD_GAUGES = ("num_decode_transfer_queue_reqs", "num_running_reqs")


def test_a_wedge_between_the_processes_shows_everywhere_but_in_health(tmp_path: Path) -> None:
    switches = (
        *("--stall-transfer-after", "1", "--disaggregation-waiting-timeout", "2"),
        *("--pages", "64", "--log-folder", str(tmp_path)),
    )
    with split_testbed(*switches) as stuck:
        first = stuck.client.post(CHAT, json=first_request(DIALOGUES[0]))
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(
                stuck.client.post, CHAT, json=first_request(DIALOGUES[1], rid="stuck")
            )
            flushed = _refused_flush(stuck)
            health = [c.get("/health").status_code for c in (stuck.prefill, stuck.decode)]
            held = set()
            while not waiting.done():
                queue, running = (stuck.metric("decode", name) for name in HELD_GAUGES)
                held.add((queue, running))
            second = waiting.result()

        assert first.status_code == 200
        assert flushed.status_code == 400
        assert health == [200, 200]
        assert held == {(0, 0)}, "decode neither steps nor is idle: nothing writes its gauges"
        assert second.status_code == 500
        assert "KVPoll.WaitingForInput" in second.json()["error"]["message"]
        assert stuck.metric("decode", "num_transfer_failed_reqs_total") == 1
        decode_log = (tmp_path / "decode.log").read_text(encoding="utf-8")
        prefill_log = (tmp_path / "prefill.log").read_text(encoding="utf-8")
    assert "Decode transfer failed for request rank=0 decode_req.req.rid='stuck'" in decode_log
    assert "Prefill transfer failed for request rank=0 req.rid='stuck'" in prefill_log


def _refused_flush(stuck: SplitTestbed) -> httpx.Response:
    """The first refusal: until the request has arrived, the stack is idle."""
    for _ in range(1000):
        response = stuck.client.post("/flush_cache")
        if response.status_code != 200:
            return response
    raise AssertionError("the request never arrived")


def test_a_client_that_leaves_ends_its_request_in_both_processes() -> None:
    with split_testbed("--stall-transfer-after", "0", "--pages", "64") as stuck:
        with pytest.raises(httpx.ReadTimeout):
            stuck.client.post(CHAT, json=first_request(DIALOGUES[0], rid="left"), timeout=1.0)

        stuck.wait_for("Decode transfer failed")
        stuck.wait_for("Prefill transfer failed")
        assert stuck.client.post("/flush_cache", params={"timeout": 20}).status_code == 200


def test_when_a_server_dies_the_stack_ends_and_says_so() -> None:
    with split_testbed("--pages", "16") as dying:
        pid = int(dying.decode.get("/server_info").json()["pid"])
        os.kill(pid, signal.SIGKILL)

        assert dying.process.wait(60) == 1
        dying.wait_for(f"Subprocess decode (pid={pid}) crashed with exit code -9.")


def test_asked_to_end_it_leaves_no_process_behind() -> None:
    with split_testbed("--pages", "16") as running:
        pids = [
            int(client.get("/server_info").json()["pid"])
            for client in (running.prefill, running.decode)
        ]
        assert running.end() == 0

        for pid in pids:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)
