import json
from typing import Any

import pytest

from db.vocabulary import TransportEnd
from tests.runner.judge.answers import (
    LIST_FILES,
    WEATHER,
    call_delta,
    delta,
    judge,
    judge_text,
    stream,
    text_stream,
    whole_body,
    whole_call,
)

OSLO = '{"city": "Oslo"}'
LEAK = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>'


def test_a_good_call_with_friendly_text_is_a_tool_turn() -> None:
    body = stream(
        delta({"content": "Sure!"}),
        call_delta(OSLO, name="get_weather", id="1"),
        delta({}, "tool_calls"),
    )

    turn = judge(body)

    assert (turn.reading, turn.outcome, turn.reason, turn.flags) == ("tool", None, None, ())
    assert turn.detail == "A call was due; get_weather was called."


# Each failure as a plain body: what is in the message, how it must be read.
PLAIN_BODIES: list[tuple[dict[str, Any], str]] = [
    ({"content": LEAK}, "leak"),
    ({"content": "", "reasoning_content": LEAK}, "leak"),
    ({"content": None, "tool_calls": None}, "no_tool"),
    ({"content": "Hello!", "tool_calls": []}, "no_tool"),
    ({"content": [{"type": "text", "text": LEAK}]}, "leak"),
    ({"tool_calls": [whole_call("get_weather", OSLO)]}, "tool"),
    ({"tool_calls": [whole_call("get_weather", {"city": "Oslo"})]}, "malformed"),
    ({"tool_calls": [whole_call("get_weather", "{}{}")]}, "malformed"),
    ({"tool_calls": [whole_call("get_weather", '{"city": "Os')]}, "malformed"),
    ({"tool_calls": [whole_call("get", OSLO)]}, "malformed"),
    (
        {"tool_calls": [whole_call("get_weather", OSLO), whole_call("get_weather", "{")]},
        "malformed",
    ),
    ({"tool_calls": [whole_call("list_files", "")]}, "tool"),
    ({"tool_calls": [whole_call("list_files", None)]}, "tool"),
    ({"function_call": {"name": "get_weather", "arguments": OSLO}}, "tool"),
    ({"function_call": {"name": "get_weather", "arguments": "{"}}, "malformed"),
    ({"refusal": "I will not."}, "no_tool"),
]


@pytest.mark.parametrize(("message", "reading"), PLAIN_BODIES)
def test_a_plain_body_is_judged_as_a_stream_is(message: dict[str, Any], reading: str) -> None:
    plain = judge(whole_body(**message), is_stream=False, tools=(WEATHER, LIST_FILES))
    streamed = judge(
        stream(json.loads(whole_body(**message))), tools=(WEATHER, LIST_FILES), tool_expected=True
    )

    assert plain.reading == reading
    assert streamed.reading == reading


def test_the_finish_reason_does_not_make_or_unmake_a_call() -> None:
    claimed = judge(stream(delta({"content": "Hello!"}), delta({"tool_calls": []}, "tool_calls")))
    stopped = judge(stream(call_delta(OSLO, name="get_weather", id="1"), delta({}, "stop")))

    assert (claimed.reading, claimed.flags) == ("no_tool", ("finish_mismatch",))
    assert (stopped.reading, stopped.flags) == ("tool", ("finish_mismatch",))


def test_the_call_of_a_named_function_may_end_with_stop() -> None:
    called = stream(call_delta(OSLO, name="get_weather", id="1"), delta({}, "stop"))

    assert judge(called, tool_choice="named").flags == ()
    assert judge(called, tool_choice="required").flags == ("finish_mismatch",)


def test_a_call_that_nobody_asked_for_is_a_tool_turn_and_counted() -> None:
    body = stream(call_delta(OSLO, name="get_weather", id="1"), delta({}, "tool_calls"))

    turn = judge(body, tool_expected=False)

    assert (turn.reading, turn.outcome, turn.flags) == ("tool", None, ("unasked_call",))


def test_the_length_limit_inside_the_reasoning_is_no_tool() -> None:
    turn = judge(text_stream("", reasoning="Let me think about Oslo", finish="length"))

    assert (turn.reading, turn.outcome) == ("no_tool", "no_tool")
    assert "length" in turn.flags


def test_a_leak_stands_whatever_ended_the_answer() -> None:
    cut = stream(delta({"content": LEAK}), done=False)
    erring = stream(delta({"content": LEAK}), {"error": {"message": "x"}})

    for turn in (
        judge(cut),
        judge(cut, end=TransportEnd.RESET),
        judge(cut, end=TransportEnd.CLIENT_DEADLINE, ended_s=600),
        judge(erring),
    ):
        assert (turn.reading, turn.outcome, turn.reason) == ("leak", "leak", None)
    assert "no_finish" in judge(cut).flags


def test_a_leak_is_one_also_where_no_call_was_due() -> None:
    turn = judge_text(LEAK, tool_expected=False, user="How are you?")

    assert (turn.reading, turn.outcome) == ("leak", "leak")
    assert turn.detail == "Content holds raw markup of the family tool_call_tag at 0."


def test_drifting_indices_make_a_call_malformed_though_it_can_be_joined() -> None:
    body = stream(
        call_delta('{"city"', name="get_weather", id="1"),
        call_delta(':"Oslo"}', index=1),
        delta({}, "tool_calls"),
    )

    turn = judge(body)

    assert (turn.reading, turn.flags) == ("malformed", ("index_drift",))
    assert turn.message.tool_calls[0].arguments == '{"city":"Oslo"}'


def test_one_bad_call_of_two_makes_the_turn_malformed() -> None:
    body = stream(
        call_delta(OSLO, name="get_weather", id="1"),
        call_delta(OSLO, name="get_wether", id="2", index=1),
        delta({}, "tool_calls"),
    )

    turn = judge(body)

    assert turn.reading == "malformed"
    assert turn.detail == (
        "A call was due; the call of 'get_wether' cannot be used:"
        " no tool of the name 'get_wether' was offered."
    )


def test_markup_beside_a_call_that_cannot_be_used_is_malformed_and_counted() -> None:
    body = stream(
        delta({"content": LEAK}),
        call_delta("{}", name="get_weather", id="1"),
        delta({}, "tool_calls"),
    )

    turn = judge(body)

    assert turn.reading == "malformed"
    assert {"markup_in_content", "missing_required"} <= set(turn.flags)


def usage(tokens: int, **details: int) -> dict[str, Any]:
    return {
        "choices": [],
        "usage": {"completion_tokens": tokens, "completion_tokens_details": details},
    }


def test_tokens_billed_for_nothing_are_degenerate() -> None:
    body = stream(delta({"role": "assistant"}), delta({}, "stop"), usage(57))

    due, free = judge(body), judge(body, tool_expected=False)

    assert (due.reading, due.outcome, due.flags) == ("no_tool", "degenerate", ("empty_answer",))
    assert (free.reading, free.outcome) == ("done", "degenerate")
    assert due.detail == "A call was due; 57 tokens were billed and nothing arrived."


@pytest.mark.parametrize("billed", [[], [usage(1)], [usage(60, reasoning_tokens=58)]])
def test_an_empty_answer_that_cost_nothing_is_a_lazy_one(billed: list[dict[str, Any]]) -> None:
    turn = judge(stream(delta({}, "stop"), *billed))

    assert (turn.reading, turn.outcome, turn.flags) == ("no_tool", "no_tool", ("empty_answer",))


def test_far_more_tokens_than_characters_are_a_sign_of_swallowed_text() -> None:
    body = stream(delta({"content": "I will look."}), delta({}, "stop"), usage(90))

    turn = judge(body)

    assert (turn.outcome, turn.flags) == ("no_tool", ("text_swallowed",))


def test_garbage_where_a_call_was_due_is_degenerate() -> None:
    turn = judge_text("the the " * 40)

    assert (turn.reading, turn.outcome) == ("no_tool", "degenerate")
    assert turn.flags == ("garbled",)
    assert turn.detail == "A call was due; the text is garbled (a loop)."


def test_a_loop_that_only_our_deadline_ended_is_degenerate() -> None:
    body = stream(*[delta({"content": "the the "})] * 40, done=False)

    turn = judge(body, end=TransportEnd.CLIENT_DEADLINE, ended_s=200)

    assert (turn.reading, turn.outcome, turn.reason) == ("error", "degenerate", None)
    assert {"client_timeout", "garbled"} <= set(turn.flags)


def test_a_replacement_character_of_the_server_is_counted() -> None:
    turn = judge_text("It is \ufffd degrees.", tool_expected=False)

    assert (turn.reading, turn.outcome, turn.flags) == ("done", None, ("replacement_character",))


def test_a_chunk_that_cannot_be_read_is_counted_and_the_rest_judged() -> None:
    body = stream(delta({"content": "4"}), "garbage", delta({}, "stop"))

    turn = judge(body, tool_expected=False)

    assert (turn.reading, turn.flags) == ("done", ("unreadable_chunk",))


def test_flags_are_plain_words_and_none_stands_twice() -> None:
    body = stream(
        call_delta("{", name="f", id="1"),
        call_delta("{", name="g", id="2", index=1),
        delta({}, "length"),
    )

    flags = judge(body).flags

    assert len(set(flags)) == len(flags)
    assert all(type(flag) is str for flag in flags)
