"""Which requests are refused, and with which words."""

import json

import pytest

from runner.testbed.chat_request import BadRequestError, read_chat_request

USER = {"role": "user", "content": "hello"}
TOOL = {"type": "function", "function": {"name": "fetch_road", "parameters": {}}}


@pytest.mark.parametrize(
    ("body", "param", "words"),
    [
        ({}, "messages", "non-empty list"),
        ({"messages": []}, "messages", "non-empty list"),
        ({"messages": [{"role": "usr"}]}, "messages[0].role", "system, developer, user"),
        ({"messages": [USER, 3]}, "messages[1]", "an object"),
        ({"messages": [{"role": "user", "content": 3}]}, "messages[0].content", "a list"),
        ({"messages": [USER], "tools": {}}, "tools", "a list"),
        ({"messages": [USER], "tools": [{}]}, "tools[0].function.name", "name"),
        ({"messages": [USER], "tool_choice": "required"}, "tool_choice", "without tools"),
        ({"messages": [USER], "tool_choice": "sometimes"}, "tool_choice", "auto, none"),
        (
            {"messages": [USER], "tools": [TOOL], "tool_choice": {"function": {"name": "x"}}},
            "tool_choice.function.name",
            "fetch_road",
        ),
        ({"messages": [USER], "max_tokens": 0}, "max_tokens", "positive"),
        ({"messages": [USER], "max_tokens": True}, "max_tokens", "positive"),
        ({"messages": [USER], "stream": "yes"}, "stream", "true or false"),
        ({"messages": [USER], "n": 2}, "n", "one answer"),
        ({"messages": [USER], "rid": ""}, "rid", "non-empty string"),
    ],
)
def test_a_request_that_does_not_fit_is_refused_by_field(
    body: dict[str, object], param: str, words: str
) -> None:
    with pytest.raises(BadRequestError, match="must be") as refusal:
        read_chat_request(json.dumps(body).encode())

    assert refusal.value.param == param
    assert words in str(refusal.value)


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'"text"', b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_json_object_is_refused(body: bytes) -> None:
    with pytest.raises(BadRequestError, match="JSON"):
        read_chat_request(body)


def test_half_of_a_character_is_refused_and_a_whole_one_is_not() -> None:
    whole = b'{"messages": [{"role": "user", "content": "\\ud83e\\udd96"}]}'

    assert read_chat_request(whole).messages[0].text == "🦖"
    with pytest.raises(BadRequestError, match="half of a surrogate pair"):
        read_chat_request(whole.replace(b"\\udd96", b""))


def test_past_calls_must_have_arguments_that_are_an_object() -> None:
    call = {"function": {"name": "fetch_road", "arguments": "{broken"}}
    body = {"messages": [{"role": "assistant", "tool_calls": [call]}]}

    with pytest.raises(BadRequestError, match=r"arguments must be a JSON object"):
        read_chat_request(json.dumps(body).encode())


def test_max_completion_tokens_stands_over_max_tokens() -> None:
    body = {"messages": [USER], "max_tokens": 5, "max_completion_tokens": 7}

    assert read_chat_request(json.dumps(body).encode()).max_tokens == 7


def test_tools_without_choice_may_be_called_and_none_forbids_it() -> None:
    with_tools = {"messages": [USER], "tools": [TOOL]}

    assert read_chat_request(json.dumps(with_tools).encode()).may_call
    forbidden = {**with_tools, "tool_choice": "none"}
    assert not read_chat_request(json.dumps(forbidden).encode()).may_call
