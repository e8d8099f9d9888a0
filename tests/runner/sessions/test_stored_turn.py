"""What goes into the store comes out as it was."""

from hypothesis import given, settings
from hypothesis import strategies as st

from db.read_times import ReadTimes
from db.vocabulary import ErrorReason, TransportEnd
from runner.judge.json_values import JsonObject
from runner.judge.record import DueAnswer, DueCall, TurnRecord
from runner.judge.turn_reading import judge_turn
from runner.sessions.played_session import PlayedTurn
from runner.sessions.request_context import turn_context
from runner.sessions.stored_turn import context_of, record_of, to_ended_turn
from runner.sessions.streaming_client import encode_body
from tests.runner.sessions import wire

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
names = st.from_regex(r"[a-z]{1,5}_[a-z]{1,5}", fullmatch=True)
microseconds = st.integers(0, 10**10).map(lambda us: us / 1_000_000)
arguments = st.dictionaries(text, text | st.integers() | st.booleans(), max_size=3)


@st.composite
def records(draw: st.DrawFn) -> TurnRecord:
    pieces = draw(
        st.lists(
            st.sampled_from([wire.role(), wire.text("a"), wire.COMMENT, wire.DONE, b"\xff\x00"]),
            max_size=5,
        )
    )
    body = b"".join(pieces)
    lengths = [sum(map(len, pieces[: count + 1])) for count in range(len(pieces))]
    times = sorted(draw(st.lists(microseconds, min_size=len(pieces), max_size=len(pieces))))
    return TurnRecord(
        stream=draw(st.booleans()),
        http_status=draw(st.none() | st.sampled_from([200, 302, 503])),
        content_type=draw(st.sampled_from(["", "text/event-stream", "application/json"])),
        transport_end=draw(st.sampled_from(TransportEnd)),
        body=body,
        reads=ReadTimes(tuple(times), tuple(lengths)),
        ended_s=draw(microseconds),
        deadline=draw(st.none() | st.sampled_from(ErrorReason)),
        was_resent=draw(st.booleans()),
    )


def a_call(name: str, text: str) -> JsonObject:
    function: JsonObject = {"name": name, "arguments": text}
    return {"id": "call_0", "type": "function", "function": function}


@st.composite
def bodies(draw: st.DrawFn) -> JsonObject:
    messages: list[JsonObject] = [{"role": "system", "content": draw(text)}]
    for _ in range(draw(st.integers(0, 2))):
        messages += [
            {"role": "user", "content": draw(text)},
            {"role": "assistant", "content": None, "tool_calls": [a_call("a_b", draw(text))]},
            {"role": "tool", "tool_call_id": "call_0", "content": draw(text)},
            {"role": "assistant", "content": draw(text)},
        ]
    messages.append({"role": "user", "content": draw(text)})
    if draw(st.booleans()):
        messages += [
            {"role": "assistant", "content": draw(text), "tool_calls": [a_call("a_b", "{}")]},
            {"role": "tool", "tool_call_id": "call_0", "content": draw(text)},
        ]
    parameters: JsonObject = {"type": "object", "properties": {"fox": {"type": "string"}}}
    tool: JsonObject = {"type": "function", "function": {"name": "a_b", "parameters": parameters}}
    return {"model": draw(text), "messages": list(messages), "tools": [tool]}


@st.composite
def turns(draw: st.DrawFn) -> PlayedTurn:
    body, record = draw(bodies()), draw(records())
    context = turn_context(
        body,
        due=draw(
            st.builds(DueCall, names, arguments)
            | st.builds(DueAnswer, st.lists(text, max_size=2).map(tuple))
        ),
        round_index=draw(st.integers(0, 9)),
        max_rounds=draw(st.none() | st.integers(1, 9)),
    )
    return PlayedTurn(
        request_id="r-1-s0-t0",
        round_index=context.round_index,
        started_at_us=draw(st.integers(0, 2**52)),
        request=encode_body(body),
        record=record,
        context=context,
        judged=judge_turn(record, context),
    )


@given(turn=turns())
@settings(max_examples=150, deadline=None)
def test_record_and_context_come_back_as_the_judge_saw_them(turn: PlayedTurn) -> None:
    ended = to_ended_turn(turn, turn_index=3)

    assert record_of(ended.turn, response=ended.response, reads=ended.reads) == turn.record
    assert context_of(ended.turn, request=ended.request) == turn.context


def a_turn(body: bytes, *, due: DueCall | DueAnswer, messages: list[JsonObject]) -> PlayedTurn:
    request: JsonObject = {"model": "tiny", "messages": list(messages), "tools": []}
    record = TurnRecord(
        stream=True,
        http_status=200,
        content_type="text/event-stream",
        transport_end=TransportEnd.CLEAN_EOF,
        body=body,
        reads=ReadTimes((0.25, 0.5), (10, len(body))),
        ended_s=0.75,
    )
    context = turn_context(request, due=due, round_index=1, max_rounds=None)
    return PlayedTurn(
        request_id="r-1-s0-t0",
        round_index=1,
        started_at_us=5,
        request=encode_body(request),
        record=record,
        context=context,
        judged=judge_turn(record, context),
    )


ROUND_BEFORE: list[JsonObject] = [
    {"role": "user", "content": "first"},
    {"role": "assistant", "content": None, "tool_calls": [a_call("a_b", '{"fox": "elm"}')]},
    {"role": "tool", "tool_call_id": "call_0", "content": "peach"},
    {"role": "assistant", "content": "Done: peach"},
    {"role": "user", "content": "second"},
]


def test_a_stored_turn_holds_what_its_page_shows() -> None:
    turn = a_turn(
        wire.answer_stream("Done: amber"), due=DueAnswer(("amber",)), messages=ROUND_BEFORE
    )

    row = to_ended_turn(turn, turn_index=3).turn

    assert (row.turn_index, row.round_index, row.request_id) == (3, 1, "r-1-s0-t0")
    assert row.due == {"kind": "answer", "must_contain": ["amber"]}
    assert row.got["content"] == "Done: amber"
    assert row.context["user"] == "second"
    assert (row.first_byte_s, row.duration_s) == (0.25, 0.75)
    assert (row.prompt_tokens, row.completion_tokens) == (120, 4)
    assert (row.reading, row.outcome, row.finish_reason) == ("done", None, "stop")


def test_of_earlier_rounds_only_the_request_keeps_the_messages() -> None:
    of_this_round: list[JsonObject] = [
        {"role": "assistant", "content": None, "tool_calls": [a_call("c_d", "{}")]},
        {"role": "tool", "tool_call_id": "call_0", "content": "amber"},
    ]
    due = DueAnswer(("amber",))
    turn = a_turn(wire.answer_stream("Done"), due=due, messages=[*ROUND_BEFORE, *of_this_round])

    ended = to_ended_turn(turn, turn_index=3)

    assert [message["role"] for message in ended.turn.context["prior"]] == ["assistant", "tool"]
    assert len(context_of(ended.turn, request=ended.request).prior) == 6
    assert len(context_of(ended.turn, request=ended.request[:-1]).prior) == 2
