"""Innocent texts that look like leaks: markup that was asked for, cited or only named."""

import pytest

from runner.judge.record import PriorMessage
from tests.runner.judge.answers import (
    HERMES_CALL,
    LIST_FILES,
    WEATHER,
    judge_text,
)

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
        f"Line 3 says:\n```\n{HERMES_CALL}\n```",
    ),
    "a placeholder": ("Use [ARGS] in the docs", "", "Usage: tool [ARGS] as the placeholder."),
}


@pytest.mark.parametrize(("user", "result", "answer"), INNOCENT.values(), ids=INNOCENT)
def test_markup_that_was_asked_for_cited_or_named_is_no_leak(
    user: str, result: str, answer: str
) -> None:
    prior = (PriorMessage("tool", result),)

    turn = judge_text(
        answer, user=user, prior=prior, tools=(WEATHER, LIST_FILES), tool_expected=False
    )

    assert turn.reading == "done"
    assert set(turn.flags) <= {"markup_quoted"}
    assert turn.markup == ()


def test_markup_that_was_shown_on_request_is_counted_as_quoted() -> None:
    turn = judge_text(FENCED_V3, user="Show the tool call format", tool_expected=False)

    assert turn.flags == ("markup_quoted",)


def test_a_leak_behind_a_quoted_sample_is_found_and_only_it_is_marked() -> None:
    sample = f"It looks so:\n```\n{HERMES_CALL}\n```\nNow I do it.\n"
    user = "Show the tool call format, then look up the weather in Oslo."

    turn = judge_text(sample + HERMES_CALL, user=user)

    assert turn.reading == "leak"
    assert [(span.start, span.end) for span in turn.markup] == [
        (len(sample), len(sample) + len(HERMES_CALL))
    ]


def test_asking_for_markup_does_not_excuse_a_raw_call_where_a_call_was_due() -> None:
    user = "Why does my parser miss <tool_call>? Look up the weather in Oslo first."

    assert judge_text(f"I look it up first.\n{HERMES_CALL}", user=user).reading == "leak"
