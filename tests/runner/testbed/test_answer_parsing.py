"""What SGLang's parsers make of bad text, and what becomes of an opener that is not held back.

The expected readings are those that SGLang's own detectors gave for the same malformations.
"""

from __future__ import annotations

import json

import pytest

from runner.testbed import vocabulary as v
from runner.testbed.answer_parsing import Parsing, make_parser
from runner.testbed.answer_reader import AnswerReader
from runner.testbed.chat_request import ChatRequest, read_chat_request
from runner.testbed.detokenizer_states import DetokenizerStates
from runner.testbed.generation import FinishReason, GenerationEvent
from runner.testbed.grammar import call_tokens
from runner.testbed.tool_parser import ParsedCall, ParserOutput
from tests.runner.testbed.chat_rendering import (
    VOCABULARY,
    arguments,
    draw_dialogues,
    first_request,
    tool_name,
)
from tests.runner.testbed.test_tool_parser import GOOD, block, invoke, parameter

CALL = ParsedCall("fetch_road", '{"week": "moon river"}')
UNKNOWN = block(invoke("other_tool", parameter("week", "moon")))
OPEN_LOST = GOOD.removeprefix("<｜DSML｜tool_calls>\n")
BAD_TAG = GOOD.replace("<｜DSML｜tool_calls>", "<｜DSML｜funct_c>")
NO_NAME = GOOD.replace(' name="fetch_road"', "")
ASCII = GOOD.replace("｜", "|")
GARBLED = "So. " + GOOD.replace("｜DSML｜", "｜DSM｜")
BAD_BODY = block('<｜DSML｜invoke name="fetch_road">\n{"week": </｜DSML｜invoke>\n')
INNOCENT = "The bars <｜like these｜> are wide."


def body(*, stream: bool) -> ChatRequest:
    tool = {
        "type": "function",
        "function": {
            "name": "fetch_road",
            "parameters": {"type": "object", "properties": {"week": {"type": "string"}}},
        },
    }
    message = {"role": "user", "content": "please"}
    whole = {"messages": [message], "tools": [tool], "stream": stream}
    return read_chat_request(json.dumps(whole).encode())


def parse(text: str, *, stream: bool, parsing: Parsing) -> tuple[str, list[ParserOutput]]:
    """The content, and the calls; the text comes four characters at a time."""
    parser = make_parser(parsing, body(stream=stream))
    pieces = [text[start : start + 4] for start in range(0, len(text), 4)]
    outputs = [output for piece in pieces for output in parser.feed(piece)] + parser.finish()
    content = "".join(output for output in outputs if isinstance(output, str))
    return content, [output for output in outputs if not isinstance(output, str)]


@pytest.mark.parametrize(
    ("text", "whole", "streamed"),
    [
        (GOOD, ("", [CALL]), ("", [CALL])),
        ("So. " + GOOD.removesuffix("</｜DSML｜tool_calls>"), ("So. ", []), ("So. ", [CALL])),
        (GOOD.split(" river")[0], ("", []), ("", [ParsedCall("fetch_road", "{")])),
        (OPEN_LOST, (OPEN_LOST, []), ("", [CALL])),
        (BAD_TAG, (BAD_TAG, []), ("<｜DSML｜funct_c>", [CALL])),
        (ASCII, (ASCII, []), (ASCII, [])),
        (GARBLED, (GARBLED, []), ("So. ", [])),
        (NO_NAME, ("", []), ("", [])),
        (UNKNOWN, ("", []), ("", [ParsedCall("other_tool", '{"week": "moon"}')])),
        (BAD_BODY, (BAD_BODY, []), ("", [ParsedCall("fetch_road", '{"week":')])),
        ("<｜DSML｜tool_calls> and so on", ("", []), ("", [])),
        (GOOD + " There.", ("", [CALL]), ("", [CALL])),
        (INNOCENT, (INNOCENT, []), ("The bars", [])),
        ("a < b", ("a < b", []), ("a < b", [])),
    ],
    ids=[
        "well-formed",
        "section close missing",
        "truncated inside a parameter",
        "section open missing",
        "section tag garbled",
        "ASCII bars",
        "garbled mark",
        "invoke without a name",
        "unknown tool",
        "bad JSON body",
        "a bare mark, then prose",
        "a good call, then prose",
        "innocent bars",
        "no mark",
    ],
)
def test_sglangs_two_modes_read_the_same_text_as_sglang_does(
    text: str, whole: tuple[str, list[ParsedCall]], streamed: tuple[str, list[ParsedCall]]
) -> None:
    sglang = Parsing("sglang")

    content, calls = parse(text, stream=True, parsing=sglang)

    assert parse(text, stream=False, parsing=sglang) == whole
    assert (content.rstrip(), calls) == (streamed[0].rstrip(), streamed[1])


@pytest.mark.parametrize("kind", ["strict", "sglang"])
def test_an_opener_that_is_not_held_back_is_lost_in_a_stream_and_in_a_stream_only(
    kind: str,
) -> None:
    assert parse(GOOD, stream=True, parsing=Parsing(kind)) == ("", [CALL])
    assert parse(GOOD, stream=True, parsing=Parsing(kind, holds_back=False)) == (GOOD, [])
    assert parse(GOOD, stream=False, parsing=Parsing(kind, holds_back=False)) == ("", [CALL])


def answers(n_answers: int, max_states: int) -> list[list[ParserOutput]]:
    """So many calls that are told at the same time, a token of each in turn."""
    states = DetokenizerStates(VOCABULARY, max_states)
    dialogues = draw_dialogues(n_answers, seed=4)
    readers = [
        AnswerReader(
            str(number),
            read_chat_request(json.dumps(first_request(dialogue, stream=True)).encode()),
            states,
            Parsing(),
        )
        for number, dialogue in enumerate(dialogues)
    ]
    scripts = [call_tokens([dialogue.rounds[0].call], v.V4) for dialogue in dialogues]
    outputs: list[list[ParserOutput]] = [[] for _ in readers]
    for place in range(max(map(len, scripts))):
        for number, script in enumerate(scripts):
            if place < len(script):
                finish = FinishReason.STOP if script[place] == v.EOS else None
                event = GenerationEvent(str(number), script[place], finish)
                outputs[number] += readers[number].read(event)
    assert len(states) == 0
    return outputs


def test_a_detokenizer_table_that_is_large_enough_tells_every_call() -> None:
    due = [
        [ParsedCall(tool_name(each.rounds[0].call.tool), json.dumps(arguments(each.rounds[0])))]
        for each in draw_dialogues(4, seed=4)
    ]

    assert answers(4, max_states=4) == due


@pytest.mark.parametrize(("n_answers", "calls"), [(1, 1), (3, 3), (4, 0)])
def test_a_detokenizer_table_that_is_too_small_garbles_only_when_answers_overlap(
    n_answers: int, calls: int
) -> None:
    outputs = answers(n_answers, max_states=3)

    assert sum(isinstance(each, ParsedCall) for answer in outputs for each in answer) == calls
