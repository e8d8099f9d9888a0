"""What becomes a call, and what stays text."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.testbed.chat_request import ToolDefinition, ToolParameter
from runner.testbed.tool_parser import ParsedCall, ParserOutput, StrictToolParser

TOOLS = (
    ToolDefinition(
        "fetch_road",
        "",
        (ToolParameter("week", "string"), ToolParameter("count", "number")),
        frozenset({"week"}),
    ),
    ToolDefinition("stop_all", "", (), frozenset()),
)


def parameter(name: str, value: str, *, string: bool = True) -> str:
    kind = "true" if string else "false"
    return f'<｜DSML｜parameter name="{name}" string="{kind}">{value}</｜DSML｜parameter>\n'


def invoke(name: str, *parameters: str) -> str:
    return f'<｜DSML｜invoke name="{name}">\n{"".join(parameters)}</｜DSML｜invoke>\n'


def block(*invokes: str) -> str:
    return f"<｜DSML｜tool_calls>\n{''.join(invokes)}</｜DSML｜tool_calls>"


GOOD = block(invoke("fetch_road", parameter("week", "moon river")))
GOOD_CALL = ParsedCall("fetch_road", '{"week": "moon river"}')


def parse(text: str, *, cuts: list[int] | None = None) -> list[ParserOutput]:
    """Feed `text` in pieces; neighbouring pieces of text are joined."""
    parser = StrictToolParser(TOOLS)
    bounds = [0, *sorted(cuts or ()), len(text)]
    outputs = [o for start, end in pairwise(bounds) for o in parser.feed(text[start:end])]
    joined: list[ParserOutput] = []
    for output in [*outputs, *parser.finish()]:
        if isinstance(output, str) and joined and isinstance(joined[-1], str):
            joined[-1] += output
        else:
            joined.append(output)
    return joined


def test_a_right_block_becomes_a_call() -> None:
    assert parse(GOOD) == [GOOD_CALL]


def test_text_around_a_call_is_kept() -> None:
    assert parse(f"Let me see. {GOOD} There.") == ["Let me see. ", GOOD_CALL, " There."]


def test_one_block_may_hold_several_calls() -> None:
    two = block(invoke("fetch_road", parameter("week", "moon")), invoke("stop_all"))

    assert parse(two) == [
        ParsedCall("fetch_road", '{"week": "moon"}'),
        ParsedCall("stop_all", "{}"),
    ]


def test_a_value_that_is_no_string_is_read_as_json() -> None:
    week, count = parameter("week", "moon"), parameter("count", "3", string=False)

    (call,) = parse(block(invoke("fetch_road", week, count)))

    assert isinstance(call, ParsedCall)
    assert json.loads(call.arguments) == {"week": "moon", "count": 3}


@pytest.mark.parametrize(
    "bad",
    [
        block(invoke("unknown_tool", parameter("week", "moon"))),
        block(invoke("fetch_road", parameter("month", "moon"))),
        block(invoke("fetch_road")),
        block(invoke("fetch_road", parameter("week", "moon"), parameter("week", "sun"))),
        block(invoke("fetch_road", parameter("week", "moon", string=False))),
        block(),
        block(invoke("stop_all"), invoke("unknown_tool")),
        GOOD.replace("tool_calls>\n", "calls>\n"),
        GOOD.replace('name="fetch_road">', 'name="fetch_road '),
        GOOD.replace("</｜DSML｜invoke>\n", ""),
        GOOD.replace('string="true"', 'string="maybe"'),
        GOOD.removesuffix("</｜DSML｜tool_calls>"),
        '<｜DSML｜invoke name="hold hold hold hold',
        "<｜DSML｜",
    ],
)
def test_a_block_that_does_not_parse_comes_out_raw(bad: str) -> None:
    assert parse(bad) == [bad]


def test_nothing_of_a_block_is_told_before_it_ends() -> None:
    parser = StrictToolParser(TOOLS)

    assert parser.feed(GOOD[:-1]) == []
    assert parser.feed(GOOD[-1]) == [GOOD_CALL]


def test_ordinary_text_is_told_at_once_but_for_what_may_become_a_mark() -> None:
    parser = StrictToolParser(TOOLS)

    assert parser.feed("a < b, <｜D") == ["a < b, "]
    assert parser.feed("one") == ["<｜Done"]


@given(st.lists(st.integers(0, 200), max_size=8), st.sampled_from(["calls", "tool_calls"]))
def test_where_the_text_is_cut_makes_no_difference(cuts: list[int], section: str) -> None:
    text = f"Well <｜ {GOOD.replace('tool_calls>', section + '>')} ｜> {GOOD}"
    inside = [cut for cut in cuts if cut <= len(text)]

    assert parse(text, cuts=inside) == parse(text)


@given(st.text(alphabet='<｜DSML/ab">\n', max_size=60))
def test_text_without_a_call_is_never_changed(text: str) -> None:
    assert "".join(str(output) for output in parse(text)) == text
