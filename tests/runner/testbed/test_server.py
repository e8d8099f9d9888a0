"""The HTTP surface, over a real socket."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from runner.testbed.grammar import segments
from runner.testbed.launch_options import LaunchOptions
from tests.runner.testbed.chat_rendering import (
    after_call,
    answer,
    arguments,
    draw_dialogues,
    first_request,
    tool_name,
)
from tests.runner.testbed.live_testbed import LiveTestbed, live_testbed
from tests.runner.testbed.stack_facts import unreported

CHAT = "/v1/chat/completions"
DIALOGUES = draw_dialogues(6, seed=21)


@pytest.fixture(scope="module")
def testbed() -> Iterator[LiveTestbed]:
    options = LaunchOptions(enable_hierarchical_cache=True, max_running_requests=4, pages=64)
    with live_testbed(options) as live:
        yield live


def stream_of(live: LiveTestbed, body: dict[str, Any]) -> list[dict[str, Any]]:
    """The chunks of a streamed answer, the closing [DONE] checked and taken off."""
    with live.client.stream("POST", CHAT, json={**body, "stream": True}) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in response.iter_lines() if line]
    assert lines[-1] == "data: [DONE]"
    return [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]


def deltas(chunks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [choice["delta"] for chunk in chunks for choice in chunk["choices"]]


def text_of(chunks: list[dict[str, Any]]) -> str:
    return "".join(delta.get("content") or "" for delta in deltas(chunks))


def test_the_shipped_stack_asks_for_facts_that_it_reports(testbed: LiveTestbed) -> None:
    assert unreported("testbed", "server", testbed.client.get("/server_info").json()) == []


def test_a_call_is_answered_whole_with_usage(testbed: LiveTestbed) -> None:
    dialogue = DIALOGUES[0]
    step = dialogue.rounds[0]
    system, user, call, *_ = segments(dialogue)

    body = testbed.client.post(CHAT, json=first_request(dialogue, rid="abc")).json()

    (choice,) = body["choices"]
    (made,) = choice["message"]["tool_calls"]
    assert body["id"] == "abc"
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    assert made["type"] == "function"
    assert made["function"]["name"] == tool_name(step.call.tool)
    assert json.loads(made["function"]["arguments"]) == arguments(step)
    assert body["usage"]["prompt_tokens"] == len(system.tokens) + len(user.tokens)
    assert body["usage"]["completion_tokens"] == len(call.tokens)
    assert body["usage"]["total_tokens"] == sum(len(s.tokens) for s in (system, user, call))


def test_a_call_is_streamed_as_name_and_arguments(testbed: LiveTestbed) -> None:
    dialogue = DIALOGUES[1]
    step = dialogue.rounds[0]

    chunks = stream_of(testbed, first_request(dialogue))

    pieces = [delta["tool_calls"][0] for delta in deltas(chunks) if "tool_calls" in delta]
    assert deltas(chunks)[0] == {"role": "assistant", "content": ""}
    assert [piece["index"] for piece in pieces] == [0, 0]
    assert pieces[0]["id"].startswith("call_")
    assert pieces[0]["function"] == {"name": tool_name(step.call.tool), "arguments": ""}
    assert json.loads(pieces[1]["function"]["arguments"]) == arguments(step)
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"
    assert text_of(chunks) == ""


def test_an_answer_in_words_is_streamed_token_by_token(testbed: LiveTestbed) -> None:
    dialogue = DIALOGUES[2]
    body = after_call(dialogue) | {"stream_options": {"include_usage": True}}

    *chunks, last = stream_of(testbed, body)

    spoken = [delta["content"] for delta in deltas(chunks) if delta.get("content")]
    assert "".join(spoken) == answer(dialogue.rounds[0])
    assert len(spoken) == 1 + len(dialogue.rounds[0].result)
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    assert last["choices"] == []
    assert last["usage"]["completion_tokens"] == len(spoken) + 1


def test_cached_tokens_are_told_when_asked_for(testbed: LiveTestbed) -> None:
    testbed.client.post("/flush_cache")
    body = first_request(DIALOGUES[3], return_cached_tokens_details=True)
    testbed.client.post(CHAT, json=body)

    again = testbed.client.post(CHAT, json=body).json()

    n_full = (again["usage"]["prompt_tokens"] - 1) // 64 * 64
    assert again["usage"]["prompt_tokens_details"] == {"cached_tokens": n_full}
    details = again["sglext"]["cached_tokens_details"]
    assert details == {"device": n_full, "host": 0, "storage": 0, "storage_backend": None}


def test_without_leave_to_call_the_markup_comes_out_raw(testbed: LiveTestbed) -> None:
    chunks = stream_of(testbed, first_request(DIALOGUES[0], tool_choice="none"))

    assert text_of(chunks).startswith("<｜DSML｜tool_calls>\n<｜DSML｜invoke name=")
    assert text_of(chunks).endswith("</｜DSML｜tool_calls>")
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"


def test_a_named_tool_is_begun_whatever_the_user_wants(testbed: LiveTestbed) -> None:
    """The model goes on with the parameters that the user named, which the parser refuses."""
    dialogue = DIALOGUES[0]
    other = next(tool for tool in dialogue.tools if tool != dialogue.rounds[0].call.tool)
    choice = {"type": "function", "function": {"name": tool_name(other)}}

    chunks = stream_of(testbed, first_request(dialogue, tool_choice=choice))

    opening = f'<｜DSML｜tool_calls>\n<｜DSML｜invoke name="{tool_name(other)}">\n'
    assert text_of(chunks).startswith(opening)
    assert not any("tool_calls" in delta for delta in deltas(chunks))
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"


def test_a_required_call_is_made(testbed: LiveTestbed) -> None:
    dialogue = DIALOGUES[0]

    body = testbed.client.post(CHAT, json=first_request(dialogue, tool_choice="required")).json()

    (call,) = body["choices"][0]["message"]["tool_calls"]
    assert call["function"]["name"] == tool_name(dialogue.rounds[0].call.tool)


@pytest.mark.parametrize(
    ("body", "words_of_it"),
    [
        (b"{", "not JSON"),
        (b'{"messages": []}', "messages must be a non-empty list."),
        (
            json.dumps({"messages": [{"role": "user", "content": "the " * 1100}]}).encode(),
            "the context length is 1024 tokens",
        ),
    ],
)
def test_what_cannot_be_answered_is_a_400_in_openais_shape(
    testbed: LiveTestbed, body: bytes, words_of_it: str
) -> None:
    response = testbed.client.post(CHAT, content=body)

    error = response.json()["error"]
    assert response.status_code == 400
    assert error["type"] == "BadRequestError"
    assert error["code"] == 400
    assert words_of_it in error["message"]


def test_more_requests_than_slots_are_all_answered(testbed: LiveTestbed) -> None:
    def ask(number: int) -> str:
        body = first_request(DIALOGUES[number % len(DIALOGUES)])
        finish: str = testbed.client.post(CHAT, json=body).json()["choices"][0]["finish_reason"]
        return finish

    with ThreadPoolExecutor(12) as pool:
        finishes = list(pool.map(ask, range(12)))

    assert finishes == ["tool_calls"] * 12


def test_the_server_says_what_it_is(testbed: LiveTestbed) -> None:
    info = testbed.client.get("/server_info").json()
    (state,) = info["internal_states"]

    assert info == testbed.client.get("/get_server_info").json()
    assert info["enable_hierarchical_cache"] is True
    assert info["page_size"] == 64
    assert info["max_running_requests"] == 4
    assert state["index_k_dtype"] == "bf16"
    assert state["host_index_bytes"] == "fp8"
    assert state["memory_usage"]["index_key_bytes_per_token"] == 256
    assert state["memory_usage"]["host_index_key_bytes_per_token"] == 132
    assert state["memory_usage"]["token_capacity"] == 64 * 64


def test_health_and_models(testbed: LiveTestbed) -> None:
    assert testbed.client.get("/health").status_code == 200
    (model,) = testbed.client.get("/v1/models").json()["data"]
    assert model["id"] == "tiny-dsml"


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_idle_server_flushes_its_cache(testbed: LiveTestbed, method: str) -> None:
    response = testbed.client.request(method, "/flush_cache")

    assert response.status_code == 200
    assert response.text.startswith("Cache flushed")
    testbed.log.wait_for("Cache flushed successfully!")


def test_metrics_count_requests_and_latencies(testbed: LiveTestbed) -> None:
    before = testbed.metric("time_to_first_token_seconds_count", 'is_streaming="True"')
    stream_of(testbed, first_request(DIALOGUES[0]))

    assert testbed.metric("time_to_first_token_seconds_count", 'is_streaming="True"') == before + 1
    assert testbed.metric("http_requests_active", f'endpoint="{CHAT}"') == 0
    assert testbed.metric("http_requests_active", 'endpoint="/metrics"') == 1
    assert testbed.metric("http_responses_total", f'endpoint="{CHAT}"', 'status_code="200"') > 0


def test_a_wedge_shows_everywhere_but_in_health() -> None:
    options = LaunchOptions(
        stall_transfer_after=1, disaggregation_waiting_timeout=0.5, max_running_requests=2, pages=64
    )
    with live_testbed(options) as live:
        first = live.client.post(CHAT, json=first_request(DIALOGUES[0]))
        whole = live.client.post(CHAT, json=first_request(DIALOGUES[1]))
        (chunk,) = stream_of(live, first_request(DIALOGUES[2], rid="stuck"))
        line = live.log.wait_for("rid='stuck'")

        assert first.json()["choices"][0]["finish_reason"] == "tool_calls"
        assert whole.status_code == 500
        assert "KVPoll.WaitingForInput" in whole.json()["error"]["message"]
        assert chunk["error"]["code"] == 500
        assert re.search(r"Request \d+ timed out after 0\.5s in KVPoll\.WaitingForInput$", line)
        assert live.client.get("/health").status_code == 200
        assert live.metric("num_transfer_failed_reqs_total") == 2


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_leaves_a_stalled_request_frees_what_it_held(stream: bool) -> None:
    with live_testbed(LaunchOptions(stall_transfer_after=0, pages=64)) as live:
        body = first_request(DIALOGUES[0], rid="left", stream=stream)
        with pytest.raises(httpx.ReadTimeout):
            live.client.post(CHAT, json=body, timeout=0.3)
        line = live.log.wait_for("Decode transfer failed")

        assert line.endswith("Aborted by AbortReq.")
        kind = 3 if stream else 1
        assert live.log.wait_for(f"client side (type {kind})").endswith("obj.rid='left'")
        assert live.client.post("/flush_cache").status_code == 200, "nothing is held any more"
        assert live.metric("num_aborted_requests_total") == 1


def test_a_flush_is_refused_while_a_request_is_stuck() -> None:
    with live_testbed(LaunchOptions(stall_transfer_after=0, pages=64)) as live:
        body = first_request(DIALOGUES[0], stream=True)
        with live.client.stream("POST", CHAT, json=body):
            live.log.wait_for("Prefill batch")
            response = live.client.post("/flush_cache")

        assert response.status_code == 400
        live.log.wait_for("Cache not flushed because there are pending requests.")
