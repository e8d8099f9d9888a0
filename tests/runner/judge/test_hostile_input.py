"""Whatever a server sends is judged: no bytes and no JSON raise."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from db.read_times import ReadTimes
from db.vocabulary import ErrorReason, Outcome, TransportEnd, TurnReading
from runner.judge.markup_catalogue import CATALOGUE
from runner.judge.record import TurnContext, TurnRecord
from runner.judge.turn_reading import JudgedTurn, judge_turn
from tests.runner.judge.answers import (
    LIST_FILES,
    READ_FILE,
    WEATHER,
    call_delta,
    delta,
    judge,
    stream,
)

KEY_NAMES = """
    choices delta message index content reasoning tool_calls function id name arguments
    finish_reason error usage type text function_call completion_tokens sglext
    cached_tokens_details refusal detail code object
"""
KEYS = st.sampled_from(KEY_NAMES.split())
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(
        ["", "get_weather", "{}", '{"city":', "stop", "abort", "<tool_call>", "error"]
    )
    | st.text(max_size=6)
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)
CUES = [cue for family in CATALOGUE for cue in family.cues]
SCRAPS = ["get_weather", "{", "}", '"', "`", "```\n", "\n", " ", "city", "Oslo", ":", "(", ")", "="]
MARKUP = st.lists(st.sampled_from([*CUES, *SCRAPS]), max_size=30).map("".join)


def judge_bytes(body: bytes, **fields: Any) -> JudgedTurn:
    defaults: dict[str, Any] = {
        "stream": True,
        "http_status": 200,
        "content_type": "",
        "transport_end": TransportEnd.CLEAN_EOF,
    }
    context = TurnContext(tools=(WEATHER, READ_FILE, LIST_FILES), tool_expected=True)
    return judge_turn(TurnRecord(body=body, **(defaults | fields)), context)


def assert_is_consistent(turn: JudgedTurn) -> None:
    assert turn.detail.endswith(".")
    assert (turn.reason is not None) == (turn.outcome is Outcome.ERROR)
    if turn.reading in (TurnReading.LEAK, TurnReading.NO_TOOL, TurnReading.MALFORMED):
        assert turn.outcome is not None
        assert turn.outcome.outcome_class == "corrupt"
    json.dumps(turn.message.to_json()).encode("utf-8")
    turn.message.content.encode("utf-8")


@given(
    st.binary(max_size=300),
    st.sampled_from(list(TransportEnd)),
    st.none() | st.integers(100, 599),
    st.none() | st.sampled_from(list(ErrorReason)),
    st.lists(st.tuples(st.floats(-1, 700), st.integers(-5, 400)), max_size=4).map(ReadTimes.of),
)
def test_arbitrary_bytes_are_judged(
    body: bytes, end: TransportEnd, status: int | None, deadline: ErrorReason | None, reads: Any
) -> None:
    turn = judge_bytes(
        body, transport_end=end, http_status=status, deadline=deadline, reads=reads, ended_s=9.0
    )

    assert_is_consistent(turn)


@given(st.lists(JSON, max_size=4), st.sampled_from(list(TransportEnd)))
def test_arbitrary_json_chunks_are_judged(chunks: list[Any], end: TransportEnd) -> None:
    body = stream(*[json.dumps(chunk) for chunk in chunks])

    assert_is_consistent(judge_bytes(body, transport_end=end, ended_s=100.0))


@given(JSON, st.booleans())
def test_arbitrary_json_in_the_place_of_a_message_is_judged(value: Any, is_plain: bool) -> None:
    key = "message" if is_plain else "delta"
    body = json.dumps({"choices": [{key: value, "finish_reason": "stop"}]}).encode()

    assert_is_consistent(judge_bytes(body if is_plain else b"data: " + body + b"\n\n"))


@given(MARKUP, MARKUP, MARKUP)
def test_any_mixture_of_markup_is_judged_the_same_however_it_is_cut(
    content: str, reasoning: str, arguments: str
) -> None:
    body = stream(
        delta({"content": content, "reasoning": reasoning}),
        call_delta(arguments, name="get_weather", id="1"),
        delta({}, "stop"),
    )
    pieces = stream(
        *[delta({"reasoning": character}) for character in reasoning],
        *[delta({"content": character}) for character in content],
        call_delta("", name="get_weather", id="1"),
        *[call_delta(character) for character in arguments],
        delta({}, "stop"),
    )

    whole, cut = judge_bytes(body), judge_bytes(pieces)

    assert_is_consistent(whole)
    assert (whole.reading, whole.markup, whole.flags) == (cut.reading, cut.markup, cut.flags)


def test_nesting_without_end_is_judged() -> None:
    for depth in (50, 900, 100_000):
        nested = "[" * depth + "]" * depth
        for body in (
            nested,
            '{"a":' * depth + "1" + "}" * depth,
            '{"choices":[{"delta":{"content":' + nested + "}}]}",
            '{"error":' * depth + '"x"' + "}" * depth,
            '{"choices":[{"message":{"tool_calls":[{"function":{"name":"get_weather","arguments":'
            + nested
            + "}}]}}]}",
        ):
            assert_is_consistent(judge_bytes(body.encode()))
            assert_is_consistent(judge_bytes(b"data: " + body.encode() + b"\n\n"))
        arguments = '{"city":' + nested + "}"
        call = call_delta(arguments, name="get_weather", id="1")
        assert_is_consistent(judge(stream(call, delta({}, "stop"))))


def test_numbers_of_any_size_are_judged() -> None:
    for number in ("1e999", "-1e999", "9" * 5000, "NaN", "Infinity"):
        assert_is_consistent(judge_bytes(b'{"choices":[{"index":' + number.encode() + b"}]}"))
        body = stream('{"choices":[{"index":0,"delta":{"tool_calls":[{"index":' + number + "}]}}]}")
        assert_is_consistent(judge_bytes(body))
