"""The official client, pointed at a testbed in one process and at one behind its router."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from runner.testbed.launch_options import LaunchOptions
from tests.runner.testbed.chat_rendering import (
    after_call,
    answer,
    arguments,
    draw_dialogues,
    first_request,
    tool_name,
)
from tests.runner.testbed.live_testbed import live_testbed
from tests.runner.testbed.split_testbed import split_testbed

openai = pytest.importorskip(
    "openai", reason="the openai package is not installed: pip install -e '.[test]'"
)

DIALOGUES = draw_dialogues(8, seed=21)
UNKNOWN_TOOL = {"type": "function", "function": {"name": "no_tool"}}


@pytest.fixture(scope="module", params=["unified", "split"])
def base_url(request: pytest.FixtureRequest) -> Iterator[str]:
    with ExitStack() as stack:
        if request.param == "unified":
            live = stack.enter_context(live_testbed(LaunchOptions(pages=64)))
            yield str(live.client.base_url)
        else:
            split = stack.enter_context(split_testbed("--pages", "64"))
            yield str(split.client.base_url)


@pytest.fixture(scope="module")
def client(base_url: str) -> Iterator[Any]:
    with openai.OpenAI(base_url=f"{base_url}/v1", api_key="none", max_retries=0) as client:
        yield client


def test_it_finds_the_model(client: Any) -> None:
    (model,) = client.models.list().data

    assert model.id == "tiny-dsml"
    assert client.models.retrieve("tiny-dsml") == model
    with pytest.raises(openai.NotFoundError, match="'gpt-9' does not exist"):
        client.models.retrieve("gpt-9")


def test_a_whole_answer_is_a_call_with_usage(client: Any) -> None:
    completion = client.chat.completions.create(**first_request(DIALOGUES[0]))

    (choice,) = completion.choices
    (call,) = choice.message.tool_calls
    step = DIALOGUES[0].rounds[0]
    assert choice.finish_reason == "tool_calls"
    assert call.function.name == tool_name(step.call.tool)
    assert json.loads(call.function.arguments) == arguments(step)
    usage = completion.usage
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    assert completion.model == "tiny-dsml"


def test_a_stream_is_put_together_by_the_clients_own_helper(client: Any) -> None:
    body = first_request(DIALOGUES[1])
    with client.chat.completions.stream(**body, stream_options={"include_usage": True}) as stream:
        kinds = {event.type for event in stream}
        completion = stream.get_final_completion()

    (call,) = completion.choices[0].message.tool_calls
    step = DIALOGUES[1].rounds[0]
    assert "tool_calls.function.arguments.done" in kinds
    assert call.function.name == tool_name(step.call.tool)
    assert json.loads(call.function.arguments) == arguments(step)
    assert completion.usage.completion_tokens > 0


def test_an_answer_in_words_comes_in_pieces(client: Any) -> None:
    stream = client.chat.completions.create(**after_call(DIALOGUES[2]), stream=True)

    chunks = list(stream)

    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == answer(
        DIALOGUES[2].rounds[0]
    )
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert all(chunk.usage is None for chunk in chunks), "nobody asked for it"


def test_a_history_with_parallel_calls_is_read(client: Any) -> None:
    body = after_call(DIALOGUES[3])
    *before, said, result = body["messages"]
    second = {**said["tool_calls"][0], "id": "call_2"}
    said = {**said, "tool_calls": [*said["tool_calls"], second]}
    body["messages"] = [*before, said, result, {**result, "tool_call_id": "call_2"}]

    completion = client.chat.completions.create(**body, parallel_tool_calls=True)

    assert completion.choices[0].finish_reason in ("stop", "tool_calls")
    assert completion.usage.completion_tokens > 0


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("choice", ["auto", "required", "none", "named"])
def test_every_tool_choice_is_kept(client: Any, choice: str, stream: bool) -> None:
    step = DIALOGUES[4].rounds[0]
    named = {"type": "function", "function": {"name": tool_name(step.call.tool)}}
    body = first_request(DIALOGUES[4], tool_choice=named if choice == "named" else choice)

    message, finish_reason = _message(client, body, stream=stream)

    if choice == "none":
        assert message["content"].startswith("<｜DSML｜tool_calls>")
        assert (message["names"], finish_reason) == ([], "stop")
    else:
        assert message["names"] == [tool_name(step.call.tool)]
        assert json.loads(message["arguments"]) == arguments(step)
        assert finish_reason == "tool_calls"


def _message(client: Any, body: dict[str, Any], *, stream: bool) -> tuple[dict[str, Any], str]:
    """Content, the names of the calls and their arguments, and why it ended."""
    if not stream:
        (choice,) = client.chat.completions.create(**body).choices
        calls = choice.message.tool_calls or []
        content, finish = choice.message.content or "", choice.finish_reason
    else:
        chunks = list(client.chat.completions.create(**body, stream=True))
        deltas = [chunk.choices[0].delta for chunk in chunks]
        calls = [call for delta in deltas for call in delta.tool_calls or []]
        content = "".join(delta.content or "" for delta in deltas)
        finish = chunks[-1].choices[0].finish_reason
    return {
        "content": content,
        "names": [call.function.name for call in calls if call.function.name],
        "arguments": "".join(call.function.arguments for call in calls),
    }, finish


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n": 2}, "n must be 1: the testbed gives one answer"),
        ({"messages": []}, "messages must be a non-empty list"),
        ({"messages": [{"role": "user", "content": "the " * 5000}]}, "leaves no room"),
        (
            {"tool_choice": {"type": "function", "function": {"name": "no_tool"}}},
            "one of the tools",
        ),
        ({"max_tokens": -1}, "max_tokens must be a positive integer"),
        ({"extra_body": {"stream_options": "usage"}}, "stream_options must be an object"),
    ],
)
def test_what_cannot_be_done_is_the_clients_bad_request(
    client: Any, change: dict[str, Any], words: str
) -> None:
    with pytest.raises(openai.BadRequestError) as refusal:
        client.chat.completions.create(**{**first_request(DIALOGUES[0]), **change})

    assert words in refusal.value.message
    assert refusal.value.type == "BadRequestError"


def test_another_models_name_is_answered_under_it_as_by_sglang(client: Any) -> None:
    completion = client.chat.completions.create(
        **{**first_request(DIALOGUES[0]), "model": "deepseek-v4"}
    )

    assert completion.model == "deepseek-v4"


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "Grüße, 你好 🦖\u200d\u0000",
        "<｜DSML｜tool_calls> </think> <｜User｜>",
    ],
)
def test_any_text_gets_an_answer(client: Any, text: str) -> None:
    messages = [{"role": "user", "content": text}]
    body = {"model": "tiny-dsml", "messages": messages, "max_tokens": 8}

    completion = client.chat.completions.create(**body)

    assert completion.usage.completion_tokens >= 1


def test_other_apis_are_not_found(client: Any) -> None:
    with pytest.raises(openai.NotFoundError):
        client.completions.create(model="tiny-dsml", prompt="hello")


def test_a_stream_that_is_closed_early_is_aborted(client: Any, base_url: str) -> None:
    stream = client.chat.completions.create(**first_request(DIALOGUES[5]), stream=True)
    next(iter(stream))
    stream.close()

    assert httpx.post(f"{base_url}/flush_cache", params={"timeout": 20}).status_code == 200


async def test_many_at_once_each_get_their_own_answer(base_url: str) -> None:
    async with openai.AsyncOpenAI(base_url=f"{base_url}/v1", api_key="none") as client:
        completions = await asyncio.gather(
            *(client.chat.completions.create(**first_request(each)) for each in DIALOGUES * 2)
        )

    names = [each.choices[0].message.tool_calls[0].function.name for each in completions]
    assert names == [tool_name(each.rounds[0].call.tool) for each in DIALOGUES * 2]
    assert len({each.id for each in completions}) == len(names)
