"""What a wrong turn is called, from the tokens that were said and how they were read."""

from __future__ import annotations

import json

import pytest

from runner.testbed import vocabulary as v
from runner.testbed.grammar import Call, Dialogue, call_tokens
from runner.testbed.tool_parser import ParsedCall, ParserOutput
from runner.testbed.wrong_turns import ScriptedClient, WrongTurn
from tests.runner.testbed.chat_rendering import VOCABULARY, arguments, draw_dialogues, tool_name


def with_two_different_tools() -> Dialogue:
    """One whose first two tools have parameters of their own names."""
    return next(each for each in draw_dialogues(20, seed=9) if len(each.tools) > 1)


DIALOGUE = with_two_different_tools()
CLIENT = ScriptedClient(VOCABULARY, DIALOGUE)
DUE_CALL = DIALOGUE.rounds[0].call
DUE = call_tokens([DUE_CALL], v.V4)
READ: list[ParserOutput] = [
    ParsedCall(tool_name(DUE_CALL.tool), json.dumps(arguments(DIALOGUE.rounds[0])))
]
OTHER = next(tool for tool in DIALOGUE.tools if tool.name != DUE_CALL.tool.name)
OTHER_VALUES = tuple(value[::-1] + value for value in DUE_CALL.values)


def said(call: Call) -> tuple[int, ...]:
    return call_tokens([call], v.V4)


def mixed() -> tuple[int, ...]:
    """The due call under another tool's name."""
    return tuple(said(DUE_CALL))[:4] + OTHER.name + tuple(said(DUE_CALL))[6:]


@pytest.mark.parametrize(
    ("tokens", "kind"),
    [
        (DUE, None),
        (DUE[:6] + DUE[7:], WrongTurn.BROKEN_MARKUP),
        (DUE[:4] + DUE[5:6] + DUE[4:5] + DUE[6:], WrongTurn.UNKNOWN_TOOL),
        (mixed(), WrongTurn.WRONG_PARAMETERS),
        (said(Call(DUE_CALL.tool, OTHER_VALUES)), WrongTurn.WRONG_VALUES),
    ],
    ids=["right", "a mark is missing", "words of a name swapped", "another tool", "other values"],
)
def test_a_call_is_held_against_the_one_that_is_due(
    tokens: tuple[int, ...], kind: WrongTurn | None
) -> None:
    assert CLIENT.wrong_turn(0, tokens, DUE, READ) == kind


def test_right_tokens_that_are_read_as_something_else_are_misread() -> None:
    assert CLIENT.wrong_turn(0, DUE, DUE, ["<｜DSML｜", "tool_calls>"]) is WrongTurn.MISREAD


def test_an_answer_is_right_or_wrong() -> None:
    due = (v.DONE, *DIALOGUE.rounds[0].result, v.EOS)
    words = " ".join(VOCABULARY.pieces[token] for token in DIALOGUE.rounds[0].result)

    assert CLIENT.wrong_turn(1, due, due, ["Done: ", words]) is None
    assert CLIENT.wrong_turn(1, due[:1] + due[2:], due, []) is WrongTurn.WRONG_ANSWER
