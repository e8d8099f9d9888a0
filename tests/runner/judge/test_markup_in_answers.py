"""Leaks as models, parsers and detokenizers make them, and innocent texts that look alike."""

import json
from typing import Any

import pytest

from runner.judge.record import PriorMessage
from tests.runner.judge.answers import (
    LIST_FILES,
    WEATHER,
    WRITE_FILE,
    call_delta,
    delta,
    judge,
    judge_text,
    stream,
    text_stream,
    whole_body,
)

TOOLS = (WEATHER, LIST_FILES)
HERMES = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'

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
    "after prose in German": "Ich schaue gleich nach.\n\n" + HERMES,
    "after prose in Chinese, in one line": "好的,我来查询天气。" + HERMES.replace("\n", ""),
    "after a fence that is closed": 'Here:\n```json\n{"a": 1}\n```\nNow the call.\n' + HERMES,
    "in inline code and nothing else": "`" + HERMES.replace("\n", "") + "`",
    "in a fence and nothing else": f"```xml\n{HERMES}\n```",
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
    assert judge_text(f"Sure! Let me look. 🌤️\n{HERMES}\nOne moment, please.").reading == "leak"


def test_a_marker_cut_into_single_bytes_is_found() -> None:
    body = text_stream(HERMES)
    reads = tuple((0.01 * number, number + 1) for number in range(len(body)))

    assert judge(body, reads=reads).reading == "leak"


@pytest.mark.parametrize(
    "reasoning",
    [
        f"I should look. {HERMES}",
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


FENCED_V3 = (
    "```\n<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n"
    "```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>\n```\nThat is it."
)
# (what the user said, an earlier tool result, the answer)
INNOCENT = {
    "named in prose on request": (
        "How does Qwen mark a tool call?",
        "",
        "Qwen wraps the call in <tool_call> and </tool_call> tags with JSON inside.",
    ),
    "a whole call in inline code on request": (
        "How does Qwen mark a tool call?",
        "",
        'It writes `<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>` as text.',
    ),
    "a code review that quotes tags": (
        'Review this diff:\n+ text.strip("<tool_call>")',
        "",
        "The strip on `<tool_call>` removes characters; use "
        '`removeprefix("<tool_call>")` or cut `</tool_call>` too.',
    ),
    "a code review of a file that was read": (
        "Review src/parser.py",
        're.compile(r"<tool_call>(.*?)</tool_call>")',
        "The regex `<tool_call>(.*?)</tool_call>` is not anchored; `<function=...>` is missed.",
    ),
    "a tag in backticks, unasked": (
        "Please review my streaming code.",
        "",
        "The tag `<tool_call>` is never closed in the second branch.",
    ),
    "a tool result quoted as it was": (
        "What is in log.txt?",
        "<｜DSML｜tool_calls> leaked at 12:00",
        "The log says:\n<｜DSML｜tool_calls> leaked at 12:00\nand nothing more.",
    ),
    "markup explained": (
        "Explain what DSML is",
        "",
        'A section <｜DSML｜tool_calls> holds <｜DSML｜invoke name="x"> elements.',
    ),
    "XML that was asked for": (
        "Write a config in XML.",
        "",
        '```xml\n<config>\n  <parameter name="port">8080</parameter>\n</config>\n```',
    ),
    "code that handles markup": (
        "Write a function that splits [TOOL_CALLS] output",
        "",
        '```python\ndef split(text):\n    return text.split("[TOOL_CALLS]")[1]\n```',
    ),
    "an example payload on request": (
        "Give me an example JSON payload",
        "",
        '```json\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n```',
    ),
    "the definitions of the tools": (
        "What tools do you have? As JSON please.",
        "",
        '[{"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {}}}}]',
    ),
    "the tools described": (
        "What can you do?",
        "",
        "I can call get_weather(city) to look up a forecast and list_files() for files.",
    ),
    "a script on request": (
        "Write Python that calls your API",
        "",
        '```python\nfrom api import get_weather\n\nprint(get_weather(city="Oslo"))\n```',
    ),
    "shell syntax": ("A shell one-liner?", "", 'Use `ls | grep x` or [[ -f a ]] && echo "<ok>".'),
    "HTML": ("Was ist ein Tag in HTML?", "", "Ein Tag wie <div> oder </div> begrenzt es."),
    "the format shown, asked in German": (
        "Zeig mir das rohe Format eines Werkzeugaufrufs von Mistral",
        "",
        'So sieht es aus:\n```\n[TOOL_CALLS]get_weather[ARGS]{"city": "Oslo"}\n```',
    ),
    "the format shown, asked in Chinese": (
        "Kimi K2 的工具调用格式是什么样的?",
        "",
        "格式如下:\n```\n<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0\n```",
    ),
    "the format named, asked in French": (
        "Comment est le format brut d'un appel d'outil Hermes?",
        "",
        "Il est entre les balises <tool_call> et </tool_call>.",
    ),
    "a fence within the fence": (
        "Show me byte for byte how a DeepSeek V3 tool call looks, in a code block.",
        "",
        FENCED_V3,
    ),
    "JSON that the user gave": (
        'My log: {"name": "get_weather", "arguments": {"city": "Oslo"}} What does it mean?',
        "",
        'Your log shows {"name": "get_weather", "arguments": {"city": "Oslo"}}, a call.',
    ),
    "the raw form shown without a fence on request": (
        "Print the raw Mistral tool call format for get_weather",
        "",
        '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Oslo"}}]',
    ),
    "markers listed without backticks": (
        "Which markers do models use for tool calls?",
        "",
        "- Qwen: <tool_call>\n- Mistral: [TOOL_CALLS]\n- Kimi: <|tool_calls_section_begin|>",
    ),
    "a marker in quotes": (
        "What is in the log?",
        "",
        "Line 3 holds '<｜DSML｜invoke name=\"f\">' and „<tool_call>“.",
    ),
    "a marker at the end of a sentence": (
        "What is the last line of the file about tool calls?",
        "",
        "The last line is: <tool_call>",
    ),
    "a call told in a sentence": (
        "How did you find out?",
        "",
        'I used {"name": "get_weather", "arguments": {"city": "Oslo"}} to look it up.',
    ),
    "a fix of such code": (
        "Fix the bug in detector.py",
        "",
        'Fixed:\n```diff\n- tag = "<tool_call>"\n+ tag = "<|tool_call|>"\n```',
    ),
    "an angle bracket": ("And in C++?", "", "Use std::vector<function"),
    "a missing tag explained": (
        "Why did the last tool call fail?",
        "",
        "The closing </tool_call> tag was missing.",
    ),
    "a command's usage": ("How do I run it?", "", "Usage: cli [OPTIONS] COMMAND [ARGS]..."),
    "a type in code": ("And the type?", "", "It returns Map<tool_call_id, text> as before."),
    "a file shown in a fence, its reading not recorded": (
        "What does line 3 of leak.log say?",
        "",
        f"Line 3 says:\n```\n{HERMES}\n```",
    ),
    "a placeholder": ("Use [ARGS] in the docs", "", "Usage: tool [ARGS] as the placeholder."),
}


@pytest.mark.parametrize(("user", "result", "answer"), INNOCENT.values(), ids=INNOCENT)
def test_markup_that_was_asked_for_cited_or_named_is_no_leak(
    user: str, result: str, answer: str
) -> None:
    prior = (PriorMessage("tool", result),)

    turn = judge_text(answer, user=user, prior=prior, tools=TOOLS, tool_expected=False)

    assert turn.reading == "done"
    assert set(turn.flags) <= {"markup_quoted"}
    assert turn.markup == ()


def test_markup_that_was_shown_on_request_is_counted_as_quoted() -> None:
    turn = judge_text(FENCED_V3, user="Show the tool call format", tool_expected=False)

    assert turn.flags == ("markup_quoted",)


def test_a_leak_behind_a_quoted_sample_is_found_and_only_it_is_marked() -> None:
    sample = f"It looks so:\n```\n{HERMES}\n```\nNow I do it.\n"
    user = "Show the tool call format, then look up the weather in Oslo."

    turn = judge_text(sample + HERMES, user=user)

    assert turn.reading == "leak"
    assert [(span.start, span.end) for span in turn.markup] == [
        (len(sample), len(sample) + len(HERMES))
    ]


def test_asking_for_markup_does_not_excuse_a_raw_call_where_a_call_was_due() -> None:
    user = "Why does my parser miss <tool_call>? Look up the weather in Oslo first."

    assert judge_text(f"I look it up first.\n{HERMES}", user=user).reading == "leak"


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


# (what the user said, what is written to the file)
LEGITIMATE_ARGUMENTS = [
    (
        "Write a test that <tool_call> is stripped",
        'assert strip("<tool_call>{}</tool_call>") == ""',
    ),
    (
        "Write a test file for our DeepSeek tool-call parser",
        'SAMPLE = "<｜DSML｜invoke name=\\"f\\"></｜DSML｜invoke>"',
    ),
    ("Save exactly: Oslo</｜DSML｜parameter> end", "Oslo</｜DSML｜parameter> end"),
    ("Write build.xml", '<t><parameter name="x">1</parameter><invoke name="y"></invoke></t>'),
    ("Write notes", "Models wrap calls in <tool_call> tags."),
    ("Write a page", "<p>Hi</p>"),
    (
        "Write a unit test for the parser",
        'S = "<｜DSML｜invoke name=\\"write_file\\"></｜DSML｜invoke>"\nassert parse(S)',
    ),
    (
        "Write strip_test.py",
        'def test_strip():\n    text = "<tool_call>{}</tool_call>"\n    assert strip(text)\n',
    ),
]
LEAKED_ARGUMENTS = [
    ("Write a.py", "import os\n</parameter>\n</function>"),
    ("Write a.py", "import os</｜DSML｜parameter>\n</｜DSML｜invoke>"),
    ("Write a.py", 'x<tool_call>{"name": "write_file"}</tool_call>'),
    ("Write a.py", 'print("hi")<|tool_call_end|>'),
    ("Write a.py", 'print("hi")</arg_value>'),
    ("Write a.py", "import os\nimport sys\n<tool_call>\n"),
    ("Write a.py", "<parameter=content>import os</parameter>"),
    ("Write a.py", 'import os\n<｜DSML｜parameter name="x">y</｜DSML｜parameter> and more of it'),
    (
        "Write a test file for our tool-call parser",
        "import os</｜DSML｜parameter>\n</｜DSML｜invoke>",
    ),
]


def judge_written(content: str, user: str, *, is_escaped: bool) -> Any:
    arguments = json.dumps({"path": "a", "content": content}, ensure_ascii=is_escaped)
    if is_escaped:
        arguments = arguments.replace("<", "\\u003c")
    body = stream(call_delta(arguments, name="write_file", id="1"), delta({}, "tool_calls"))
    return judge(body, tools=(WRITE_FILE,), user=user)


@pytest.mark.parametrize(("user", "content"), LEGITIMATE_ARGUMENTS)
@pytest.mark.parametrize("is_escaped", [True, False])
def test_arguments_may_hold_the_markup_that_the_task_is_about(
    user: str, content: str, is_escaped: bool
) -> None:
    assert judge_written(content, user, is_escaped=is_escaped).reading == "tool"


@pytest.mark.parametrize(("user", "content"), LEAKED_ARGUMENTS)
@pytest.mark.parametrize("is_escaped", [True, False])
def test_markup_that_a_parser_left_in_the_arguments_makes_the_call_unusable(
    user: str, content: str, is_escaped: bool
) -> None:
    turn = judge_written(content, user, is_escaped=is_escaped)

    assert turn.reading == "malformed"
    assert "markup_in_args" in turn.flags
    assert turn.markup[0].field == "arguments:0"
    assert turn.markup[0].end <= len(turn.message.tool_calls[0].arguments)
