"""Markup in the arguments of a call: the task is about it, or a parser left it there."""

import json
from typing import Any

import pytest

from tests.runner.judge.answers import (
    WRITE_FILE,
    call_delta,
    delta,
    judge,
    stream,
)

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
