"""What the dialogue knows: due calls and answers, canaries, and what they make of a turn."""

import json
from typing import Any

import pytest

from runner.judge.record import DueAnswer, DueCall, PriorMessage
from runner.judge.turn_reading import JudgedTurn
from tests.runner.judge.answers import (
    READ_FILE,
    WEATHER,
    call_delta,
    delta,
    judge,
    judge_text,
    stream,
    text_stream,
)

OSLO = DueCall("get_weather", {"city": "Oslo"})


def judge_calls(*calls: tuple[str, Any], **context: Any) -> JudgedTurn:
    chunks = [
        call_delta(json.dumps(arguments), name=name, id=f"c{number}", index=number)
        for number, (name, arguments) in enumerate(calls)
    ]
    context.setdefault("tools", (WEATHER, READ_FILE))
    return judge(stream(*chunks, delta({}, "tool_calls")), **context)


def test_the_due_call_is_clean() -> None:
    turn = judge_calls(("get_weather", {"city": "Oslo"}), due=OSLO)

    assert (turn.reading, turn.outcome, turn.flags) == ("tool", None, ())
    assert turn.detail == "A call of get_weather was due; get_weather was called."


def test_another_tool_is_wrong() -> None:
    turn = judge_calls(("read_file", {"path": "Oslo"}), due=OSLO)

    assert (turn.reading, turn.outcome) == ("tool", "wrong")
    assert turn.flags == ("wrong_tool",)
    assert turn.detail == "A call of get_weather was due; read_file was called instead."


@pytest.mark.parametrize(
    "arguments",
    [
        {"city": "0slo"},
        {"city": "Oslo", "days": 1},
        {"city": ["Oslo"]},
        {"city": "oslo"},
        {"city": None},
    ],
)
def test_other_values_are_wrong(arguments: dict[str, Any]) -> None:
    turn = judge_calls(("get_weather", arguments), due=OSLO)

    assert (turn.reading, turn.outcome) == ("tool", "wrong")
    assert {"wrong_arguments", "echo_mismatch"} <= set(turn.flags)


@pytest.mark.parametrize(
    ("due", "got"),
    [
        ({"city": "New  York"}, {"city": " New York\n"}),
        ({"city": "Oslo", "days": 2}, {"days": "2", "city": "Oslo"}),
        ({"city": "Oslo", "days": 2}, {"city": "Oslo", "days": 2.0}),
    ],
)
def test_white_space_and_the_type_of_a_number_make_no_other_value(
    due: dict[str, Any], got: dict[str, Any]
) -> None:
    assert judge_calls(("get_weather", got), due=DueCall("get_weather", due)).outcome is None


def test_true_is_not_one() -> None:
    due = DueCall("get_weather", {"city": "Oslo", "days": 1})

    assert judge_calls(("get_weather", {"city": "Oslo", "days": True}), due=due).outcome == "wrong"


def test_a_second_call_with_other_values_is_wrong_and_the_same_twice_is_counted() -> None:
    oslo, bergen = ("get_weather", {"city": "Oslo"}), ("get_weather", {"city": "Bergen"})

    assert judge_calls(oslo, bergen, due=OSLO).outcome == "wrong"
    twice = judge_calls(oslo, oslo, due=OSLO)
    assert (twice.outcome, twice.flags) == (None, ("extra_call",))


def test_an_unusable_call_is_malformed_and_not_wrong() -> None:
    turn = judge_calls(("get_weather", {"days": 1}), due=OSLO)

    assert (turn.reading, turn.outcome) == ("malformed", "malformed")


def test_the_due_answer_is_clean_with_any_white_space() -> None:
    due = DueAnswer(("mild and dry",))

    turn = judge_text("Done: mild\nand  dry.", due=due, tool_expected=False)

    assert (turn.reading, turn.outcome) == ("done", None)


def test_an_answer_that_lacks_the_due_text_is_wrong() -> None:
    due = DueAnswer(("mild", "dry"))

    turn = judge_text("Done: mild and bry.", due=due, tool_expected=False)

    assert (turn.reading, turn.outcome, turn.flags) == ("done", "wrong", ("wrong_answer",))
    assert turn.detail == "An answer with 'mild' was due; the answer lacks 'dry'."


def test_the_due_text_in_the_reasoning_alone_is_no_answer() -> None:
    body = text_stream("Done.", reasoning="mild")

    assert judge(body, due=DueAnswer(("mild",)), tool_expected=False).outcome == "wrong"


def test_a_call_where_an_answer_was_due_is_wrong() -> None:
    turn = judge_calls(
        ("get_weather", {"city": "Oslo"}), due=DueAnswer(("mild",)), tool_expected=False
    )

    assert (turn.reading, turn.outcome, turn.flags) == ("tool", "wrong", ("unasked_call",))


def test_an_answer_of_garbage_is_degenerate_before_it_is_wrong() -> None:
    turn = judge_text("!" * 300, due=DueAnswer(("mild",)), tool_expected=False)

    assert (turn.reading, turn.outcome) == ("done", "degenerate")


def test_a_canary_must_come_back_verbatim_in_call_or_answer() -> None:
    path = "/data/ü/blade-7Q"
    context = {"canary": path, "tools": (READ_FILE,)}

    assert judge_calls(("read_file", {"path": f"ls {path}"}), **context).outcome is None
    mangled = judge_calls(("read_file", {"path": "/data/ü/blad-7Q"}), **context)
    assert (mangled.reading, mangled.outcome) == ("tool", "wrong")
    assert mangled.flags == ("echo_mismatch",)
    assert judge_text(f"It is {path}.", tool_expected=False, **context).outcome is None


def test_no_echo_is_asked_of_a_turn_without_its_call() -> None:
    assert judge_text("Hello!", canary="WALNUT-88").flags == ()


@pytest.mark.parametrize("field", ["content", "reasoning", "arguments"])
def test_another_sessions_text_is_wrong_wherever_it_stands(field: str) -> None:
    others = ("PELICAN-31", "MAGPIE-02")
    if field == "arguments":
        turn = judge_calls(("get_weather", {"city": "MAGPIE-02"}), other_canaries=others)
    elif field == "reasoning":
        body = text_stream("Fine.", reasoning="MAGPIE-02?")
        turn = judge(body, other_canaries=others, tool_expected=False)
    else:
        turn = judge_text("It is MAGPIE-02.", other_canaries=others, tool_expected=False)

    assert turn.outcome == "wrong"
    assert "foreign_canary" in turn.flags


def test_another_sessions_text_in_an_answer_that_was_cut_is_still_proof() -> None:
    body = stream(delta({"content": "It is MAGPIE-02 and"}), done=False)

    turn = judge(body, other_canaries=("MAGPIE-02",))

    assert (turn.reading, turn.outcome, turn.reason) == ("error", "wrong", None)


def test_a_text_that_this_conversation_holds_itself_is_not_foreign() -> None:
    context: dict[str, Any] = {"other_canaries": ("MAGPIE-02",), "tool_expected": False}

    assert judge_text("MAGPIE-02", user="Say MAGPIE-02", **context).flags == ()
    prior = (PriorMessage("tool", "found MAGPIE-02"),)
    assert judge_text("MAGPIE-02", prior=prior, **context).flags == ()


def test_the_same_call_again_is_counted_however_its_json_is_written() -> None:
    prior = (PriorMessage("assistant", calls=(("get_weather", '{ "city" : "Oslo" }'),)),)

    again = judge_calls(("get_weather", {"city": "Oslo"}), prior=prior)
    other = judge_calls(("get_weather", {"city": "Bergen"}), prior=prior)

    assert (again.reading, again.flags) == ("tool", ("repeated_call",))
    assert other.flags == ()
