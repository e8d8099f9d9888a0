"""Leaks as models, parsers and detokenizers make them, in the text and in the reasoning."""

from typing import Any

import pytest

from tests.runner.judge.answers import (
    HERMES_CALL,
    LIST_FILES,
    WEATHER,
    call_delta,
    delta,
    judge,
    judge_text,
    stream,
    text_stream,
    whole_body,
)

TOOLS = (WEATHER, LIST_FILES)
GARBLED_MARKUP = {
    "the token itself is garbled": '<｜DSM｜tool_calls>\n<｜DSM｜invoke name="get_weather">',
    "the first bracket is lost": '｜DSML｜invoke name="get_weather">\nOslo',
    "the text ends inside the marker": "Let me see.\n<｜DSML",
    "no bars at all": '<DSMLtool_calls><DSMLinvoke name="get_weather">',
    "only a closing tag is left": "It is sunny.</｜DSML｜parameter>",
    "other bars and curly quotes": "<‖DSML‖tool_calls><‖DSML‖invoke name=“get_weather”>",
    "the section's name is garbled": "<｜DSML｜tvoe_calls>\n",
    "spaces between all parts": "< ｜ DSML ｜ tool_calls>",
    "a call without arguments": '<｜DSML｜invoke name="list_files"/>',
    "special tokens dropped": '<tool_calls>\n<invoke name="get_weather">\n'
    '<parameter name="city" string="true">Oslo</parameter>\n</invoke>\n</tool_calls>',
    "a V3 token torn": "tool▁call▁begin｜>function<｜tool▁sep｜>get_weather",
    "V3 tokens with spaces": "<｜tool calls begin｜><｜tool call begin｜>function",
    "Kimi tokens without brackets": "tool_calls_section_begin functions.get_weather:0 "
    'tool_call_argument_begin {"city":"Oslo"}',
    "GLM with all tags dropped": "get_weather\ncity\nOslo\n",
    "GLM with closing tags only": "Oslo</arg_value>\n</tool_call>",
    "a closing tag after prose": "I will check.\n</tool_call>",
    "an opening tag at the end": "I will check the weather for you now.\n<tool_call>",
    "no wrapper, closing tags": "Oslo\n</parameter>\n</function>",
    "harmony with its brackets dropped": "analysisWe need the weather."
    'assistantcommentary to=get_weather json{"city":"Oslo"}',
    "a mistral token torn": "[TOOL_CALLS",
    "mistral without its first token": 'get_weather[ARGS]{"city": "Oslo"}',
    "mistral without any token": 'get_weather{"city": "Oslo"}',
    "gemma without its tokens": "call:get_weather{city:Oslo}",
    "command without its tokens": '[{"tool_call_id": "0", "tool_name": "get_weather",'
    ' "parameters": {"city": "Oslo"}}]',
    "apertus without its tokens": '[{"get_weather": {"city": "Oslo"}}]',
    "a special token torn by the end": "I look.\n<｜tool",
    "another one": "ok <|tool_cal",
    "a tag torn by the end": "Let me see <function=get_we",
    "only the first bar": "I look.\n<｜",
    "a tag with the function as attribute": '<call function="get_weather" city="Oslo"/>',
    "a family that nobody knows": "<my:tool_calls>weather</my:tool_calls>",
    "a tool that was not offered": '<tool_call>\n{"name": "other", "arguments": {}}\n</tool_call>',
    "values that are prose": "<function=get_weather> <parameter=city> the lovely town of Oslo"
    " </parameter> </function>",
    "after prose in German": "Ich schaue gleich nach.\n\n" + HERMES_CALL,
    "after prose in Chinese, in one line": "好的,我来查询天气。" + HERMES_CALL.replace("\n", ""),
    "after a fence that is closed": 'Here:\n```json\n{"a": 1}\n```\nNow the call.\n' + HERMES_CALL,
    "in inline code and nothing else": "`" + HERMES_CALL.replace("\n", "") + "`",
    "in a fence and nothing else": f"```xml\n{HERMES_CALL}\n```",
}
BARE_CALLS = {
    "two Llama calls": '{"name": "get_weather", "parameters": {"city": "Oslo"}}; '
    '{"name": "get_weather", "parameters": {"city": "Bergen"}}',
    "after prose": 'So:\n{"type": "function", "name": "get_weather", "parameters": {"city": "O"}}',
    "torn": '{"name": "get_weather", "parameters": {"city": "Os',
    "fenced": '```json\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n```',
    "with single quotes": "{'name': 'get_weather', 'arguments': {'city': 'Oslo'}}",
    "with other keys": '{"function": "get_weather", "args": {"city": "Oslo"}}',
    "as tool and tool_input": '{"tool": "get_weather", "tool_input": {"city": "Oslo"}}',
    "nested as in a request": '{"type": "function", "function": {"name": "get_weather",'
    ' "arguments": "{\\"city\\": \\"Oslo\\"}"}}',
    "with its beginning swallowed": 'get_weather", "arguments": {"city": "Oslo"}}',
    "as a method": 'get_weather.call(city="Oslo")',
    "in words": "**Tool**: get_weather\n**Arguments**: {}",
    "as a list": '[{"name": "get_weather", "arguments": {"city": "Oslo"}}]',
    "arguments first": '{"arguments": {"city": "Oslo"}, "name": "get_weather"}',
    "without arguments": '{"name": "list_files"}',
    "pythonic": '[get_weather(city="Oslo", days=1)]',
    "pythonic without a list": 'get_weather(city="Oslo")',
    "pythonic on its own line": 'Let me check.\n\nget_weather(city="Oslo")\n',
    "pythonic in a tool_code fence": '```tool_code\nprint(get_weather(city="Oslo"))\n```',
    "two pythonic calls": '[get_weather(city="Oslo"), get_weather(city="Bergen")]',
}


@pytest.mark.parametrize("text", GARBLED_MARKUP.values(), ids=GARBLED_MARKUP)
@pytest.mark.parametrize("tool_expected", [True, False])
def test_torn_and_garbled_markup_is_a_leak(text: str, tool_expected: bool) -> None:
    context: dict[str, Any] = {"tools": TOOLS, "tool_expected": tool_expected, "user": "Oslo?"}

    assert judge_text(text, **context).reading == "leak"
    assert judge(whole_body(content=text), is_stream=False, **context).reading == "leak"


@pytest.mark.parametrize("text", BARE_CALLS.values(), ids=BARE_CALLS)
@pytest.mark.parametrize("tool_expected", [True, False])
def test_a_call_of_an_offered_tool_without_any_marker_is_a_leak(
    text: str, tool_expected: bool
) -> None:
    turn = judge_text(text, tools=TOOLS, tool_expected=tool_expected, user="Weather in Oslo?")

    assert turn.reading == "leak"


def test_a_call_due_and_friendly_prose_around_raw_markup_is_still_a_leak() -> None:
    assert judge_text(f"Sure! Let me look. 🌤️\n{HERMES_CALL}\nOne moment, please.").reading == "leak"


def test_a_marker_cut_into_single_bytes_is_found() -> None:
    body = text_stream(HERMES_CALL)
    reads = tuple((0.01 * number, number + 1) for number in range(len(body)))

    assert judge(body, reads=reads).reading == "leak"


@pytest.mark.parametrize(
    "reasoning",
    [
        f"I should look. {HERMES_CALL}",
        "I need it. <|tool_calls_section_begin|>",
        'So I call it.\n{"name": "get_weather", "parameters": {"city": "Oslo"}}',
        '<｜DSML｜invoke name="get_weather">',
    ],
)
def test_a_call_swallowed_by_the_reasoning_is_a_leak(reasoning: str) -> None:
    turn = judge(text_stream("", reasoning=reasoning))

    assert turn.reading == "leak"
    assert turn.flags == ("markup_in_reasoning",)
    assert turn.markup[0].field == "reasoning"


@pytest.mark.parametrize(
    "reasoning",
    [
        "Models use <tool_call> but none is needed here.",
        'I could call get_weather(city="Oslo") but I know it.',
        'The call {"name": "get_weather", "arguments": {"city": "Oslo"}} is not needed.',
        "The format needs <｜DSML｜tool_calls> as its opening; not needed now.",
        "Wrap it in <tool_call></tool_call> tags? No.",
        "<tool_call> and <function=...> are forms of other models.",
    ],
)
@pytest.mark.parametrize("form", ["reasoning", "think_tags"])
def test_markup_that_reasoning_only_names_is_no_leak(reasoning: str, form: str) -> None:
    if form == "reasoning":
        turn = judge(text_stream("Rain.", reasoning=reasoning), tool_expected=False, user="Oslo?")
    else:
        turn = judge_text(f"<think>{reasoning}</think>Rain.", tool_expected=False, user="Oslo?")

    assert turn.reading == "done"
    assert turn.markup == ()


def test_a_residue_beside_a_good_call_leaves_the_call_good() -> None:
    body = stream(
        delta({"content": "Let me check.\n\n<tool_call>"}),
        call_delta('{"city":"Oslo"}', name="get_weather", id="1"),
        delta({}, "tool_calls"),
    )

    turn = judge(body)

    assert (turn.reading, turn.outcome) == ("tool", None)
    assert turn.flags == ("markup_residue",)
    assert turn.markup[0].family == "tool_call_tag"


def test_a_span_covers_the_markup_and_what_it_frames() -> None:
    text = 'Now: [TOOL_CALLS]get_weather[ARGS]{"city": "Oslo"} and on.'

    (span,) = judge_text(text).markup

    assert span.text == '[TOOL_CALLS]get_weather[ARGS]{"city": "Oslo"}'
    assert text[span.start : span.end] == span.text
