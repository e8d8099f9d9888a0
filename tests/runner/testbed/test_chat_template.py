"""The prompt that a chat becomes."""

import json
import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from runner.testbed import vocabulary as v
from runner.testbed.chat_request import ChatRequest, read_chat_request
from runner.testbed.chat_template import ChatTemplate
from runner.testbed.detokenizer import decode
from runner.testbed.grammar import Dialogue, DialogueShape, DialogueSource, segments
from runner.testbed.tokenizer import Tokenizer
from tests.runner.testbed.chat_rendering import (
    VOCABULARY,
    first_request,
    tool_definition,
    tool_name,
    whole_chat,
)

TEMPLATE = ChatTemplate(Tokenizer(VOCABULARY))


def read(body: dict[str, Any]) -> ChatRequest:
    return read_chat_request(json.dumps(body).encode())


def draw(seed: int, shape: DialogueShape | None = None) -> Dialogue:
    shape = shape or DialogueShape(string_share=1.0)
    return DialogueSource(VOCABULARY, random.Random(seed), shape).draw()


@given(st.integers(0, 10_000))
def test_a_chat_becomes_the_tokens_of_training(seed: int) -> None:
    dialogue = draw(seed)
    spoken = [token for segment in segments(dialogue) for token in segment.tokens]

    prompt = TEMPLATE.prompt(read(whole_chat(dialogue)))

    assert list(prompt) == [*spoken, v.ASSISTANT]


def test_the_first_request_ends_where_the_assistant_has_to_call() -> None:
    dialogue = draw(1)
    system, user, *_ = segments(dialogue)

    prompt = TEMPLATE.prompt(read(first_request(dialogue)))

    assert prompt == system.tokens + user.tokens


def test_without_a_blank_line_all_system_words_stand_before_the_tools() -> None:
    body = first_request(draw(2))
    body["messages"][0]["content"] = "the of and a in"

    text = decode(VOCABULARY, TEMPLATE.prompt(read(body)))

    assert text.startswith(
        "<｜begin▁of▁sentence｜>the of and a in\n## Format\n<｜DSML｜tool_calls>\n"
    )
    assert ")\n\n<｜User｜>please " in text


def test_number_parameters_are_announced_as_such() -> None:
    dialogue = draw(3, DialogueShape(string_share=0.0))

    assert TEMPLATE.prompt(read(first_request(dialogue))) == tuple(
        token for segment in list(segments(dialogue))[:2] for token in segment.tokens
    )


def test_the_keyword_is_the_last_content_word_of_the_description() -> None:
    tool = tool_definition(draw(4).tools[0])
    tool["function"]["description"] = "Use a river to travel over there"
    body = {"messages": [{"role": "user", "content": "hello"}], "tools": [tool]}

    assert "### travel: " in decode(VOCABULARY, TEMPLATE.prompt(read(body)))


def test_arguments_of_past_calls_stand_in_the_order_of_the_tool() -> None:
    dialogue = draw(5, DialogueShape(rounds=1, parameters=(3, 3), string_share=1.0))
    body = whole_chat(dialogue)
    function = body["messages"][2]["tool_calls"][0]["function"]
    backwards = dict(reversed(json.loads(function["arguments"]).items()))
    expected = TEMPLATE.prompt(read(body))

    function["arguments"] = json.dumps(backwards)

    assert TEMPLATE.prompt(read(body)) == expected


def test_required_forces_the_opening_and_a_named_tool_its_name_too() -> None:
    dialogue = draw(6)
    name = tool_name(dialogue.tools[1])
    required = read(first_request(dialogue, tool_choice="required"))
    choice = {"type": "function", "function": {"name": name}}
    named = read(first_request(dialogue, tool_choice=choice))
    opening = '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="'

    assert decode(VOCABULARY, TEMPLATE.forced_answer(required)) == opening
    assert decode(VOCABULARY, TEMPLATE.forced_answer(named)) == f'{opening}{name}">\n'
    assert TEMPLATE.forced_answer(read(first_request(dialogue))) == ()


def test_a_foreign_chat_has_a_prompt_too() -> None:
    body = {
        "messages": [
            {"role": "system", "content": "You are a helpful assistant."},
            {"role": "user", "content": [{"type": "text", "text": "What's 2+2?"}]},
        ],
        "tools": [{"type": "function", "function": {"name": "get_weather_v2"}}],
    }

    prompt = TEMPLATE.prompt(read(body))

    assert prompt[0] == v.BOS
    assert prompt[-1] == v.ASSISTANT
