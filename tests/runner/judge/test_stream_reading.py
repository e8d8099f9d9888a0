"""The short way through common events gives what the long way gives, wherever reads were cut."""

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from db.read_times import ReadTimes
from db.vocabulary import TransportEnd
from runner.judge.assembled_message import AssembledMessage
from runner.judge.assembly import MessageAssembler
from runner.judge.event_stream import EventStreamDecoder
from runner.judge.plain_chunk import plain_delta
from runner.judge.record import TurnRecord
from runner.judge.stream_reading import read_stream

SGLANG = {
    "id": "c-1",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "delta": {
                "role": None,
                "content": " word",
                "reasoning_content": None,
                "tool_calls": None,
            },
            "logprobs": None,
            "finish_reason": None,
            "matched_stop": None,
        }
    ],
    "usage": None,
}
VLLM = {
    "id": "c-1",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "delta": {"reasoning": "hm", "reasoning_content": "hm"},
            "logprobs": None,
            "finish_reason": None,
            "token_ids": None,
        }
    ],
}


def changed(chunk: dict[str, Any], **fields: Any) -> dict[str, Any]:
    choice = chunk["choices"][0]
    parts = {"delta": {**choice["delta"], **fields.pop("delta", {})}, **fields.pop("choice", {})}
    return {**chunk, "choices": [{**choice, **parts}], **fields}


ODD = [
    changed(SGLANG, delta={"content": ""}),
    changed(SGLANG, delta={"content": None, "role": "assistant"}),
    changed(SGLANG, delta={"content": [{"type": "text", "text": "part"}]}),
    changed(SGLANG, delta={"tool_calls": [{"index": 0, "function": {"name": "f"}}]}),
    changed(SGLANG, delta={"refusal": "no"}),
    changed(SGLANG, delta={"error": {"message": "broken"}}),
    changed(SGLANG, choice={"finish_reason": "stop"}),
    changed(SGLANG, choice={"index": 1}),
    changed(SGLANG, choice={"index": True}),
    changed(SGLANG, choice={"text": "legacy"}),
    changed(SGLANG, usage={"prompt_tokens": 3, "completion_tokens": 4}),
    changed(SGLANG, error={"message": "broken"}),
    changed(SGLANG, object="error"),
    changed(SGLANG, type="error"),
    changed(SGLANG, sglext={"cached_tokens_details": {"host": 64}}),
    {**SGLANG, "choices": SGLANG["choices"] * 2},
    {**SGLANG, "choices": []},
    {"object": "chat.completion.chunk"},
]
TOKEN = b'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"%b"}}]}'
LINES = [
    *(b"data: " + json.dumps(chunk).encode() for chunk in (SGLANG, VLLM, *ODD)),
    b"data:" + json.dumps(SGLANG, ensure_ascii=False).encode(),
    b"data:   " + json.dumps(VLLM).encode() + b"  ",
    b"data: " + json.dumps(changed(SGLANG, delta={"content": "caf\u00e9 \U0001f600"})).encode(),
    TOKEN % b"\\ud83d",
    TOKEN % b"\\ude00",
    TOKEN % b"a\tb",
    TOKEN % b"\xff",
    TOKEN % b'a","content":"b',
    b"data: [DONE]",
    b"data:",
    b"data: {",
    b": comment",
    b"event: error\ndata: " + json.dumps(SGLANG).encode(),
    b"data: {\ndata: }",
    b"\xef\xbb\xbfdata: " + json.dumps(SGLANG).encode(),
    b"id: 3",
    b"",
]
ENDS = [b"\n\n", b"\n\n", b"\n\n", b"\n", b"\n\n\n", b"\r\n\r\n", b"\r\r", b""]


DELTA = b'data: {"object":"chat.completion.chunk",%b"choices":[{"index":0,"delta":%b}]}'
CONTENTS = [b'"a" ', b'"a"\n', b' "a"', b'"a","b"', b'"a', b'"', b"null", b"1", b"", b'"content"']
CUTTING = [  # what could pass for two, or for a part of its neighbour, where several are read
    TOKEN % b'a","b',
    (TOKEN % b"a")[:-1] + b"x",
    (TOKEN % b"a").replace(b'"index":0', b'"index":1'),
    TOKEN % b'",\n"',
    TOKEN % b"",
    TOKEN % b'a","role":"assistant',
    TOKEN % b'"}}]},{"choices":[{"delta":{"content":"',
    *(DELTA % (b"", b'{"content":%b}' % content) for content in CONTENTS),
    DELTA % (b'"id":"content",', b'{"content":"a"}'),
    DELTA % (b'"id":"content",', b'{"\\u0063ontent":"a"}'),
    DELTA % (b"", b'{"content":"a","reasoning":"b"}'),
    DELTA % (b"", b'{"reasoning":"b"}'),
    DELTA % (b"", b'{"reasoning_content":"c"}'),
]


def the_long_way(record: TurnRecord) -> tuple[AssembledMessage, list[float]]:
    assembler, decoder = MessageAssembler(), EventStreamDecoder()
    times: list[float] = []
    start = 0
    for at_s, end in (*record.reads.pairs(), (record.reads.times_s[-1], len(record.body))):
        found = [assembler.add(event) for event in decoder.feed(record.body[start:end])]
        times += [at_s] if any(found) else []
        start = end
    found = [assembler.add(event) for event in decoder.close()]
    times += [record.reads.times_s[-1]] if any(found) else []
    return assembler.message, times


def streamed(body: bytes, reads: tuple[tuple[float, int], ...]) -> TurnRecord:
    return TurnRecord(
        stream=True,
        http_status=200,
        content_type="text/event-stream",
        transport_end=TransportEnd.CLEAN_EOF,
        body=body,
        reads=ReadTimes.of(reads),
    )


@given(
    pieces=st.lists(st.tuples(st.sampled_from(LINES), st.sampled_from(ENDS)), max_size=8),
    cuts=st.lists(st.floats(0, 1), max_size=6),
)
@example(pieces=[(LINES[0], b"\n\n"), (LINES[-3], b"\n\n")], cuts=[0.5])
@settings(max_examples=400, deadline=None)
def test_the_short_way_reads_what_the_long_way_reads(
    pieces: list[tuple[bytes, bytes]], cuts: list[float]
) -> None:
    body = b"".join(line + end for line, end in pieces)
    ends = sorted({round(cut * len(body)) for cut in cuts} - {0}) or [len(body)]
    record = streamed(body, tuple((0.5 * number, end) for number, end in enumerate(ends, start=1)))
    assembler = MessageAssembler()

    times = read_stream(record, assembler)

    message, expected = the_long_way(record)
    assert assembler.message == message
    assert list(dict.fromkeys(times)) == list(dict.fromkeys(expected))


@given(
    pieces=st.lists(
        st.one_of(
            st.tuples(st.just(TOKEN % b" word"), st.integers(1, 40)),
            st.tuples(st.sampled_from(CUTTING), st.integers(1, 3)),
            st.tuples(st.sampled_from(LINES), st.integers(1, 3)),
        ),
        max_size=10,
    ),
    step=st.integers(1, 400),
)
@settings(max_examples=400, deadline=None)
def test_long_runs_of_tokens_are_read_as_one_by_one(
    pieces: list[tuple[bytes, int]], step: int
) -> None:
    body = b"".join(line + b"\n\n" for line, times in pieces for _ in range(times))
    ends = [*range(step, len(body), step), len(body)]
    record = streamed(body, tuple((0.5 * number, end) for number, end in enumerate(ends, start=1)))
    assembler = MessageAssembler()

    times = read_stream(record, assembler)

    message, expected = the_long_way(record)
    assert assembler.message == message
    assert list(dict.fromkeys(times)) == list(dict.fromkeys(expected))


@pytest.mark.parametrize("chunk", [SGLANG, VLLM])
def test_the_chunks_of_both_stacks_go_the_short_way(chunk: dict[str, Any]) -> None:
    assert plain_delta(json.dumps(chunk).encode()) is not None


@pytest.mark.parametrize("number", range(len(ODD)))
def test_what_is_more_than_a_token_goes_the_long_way(number: int) -> None:
    assert plain_delta(json.dumps(ODD[number]).encode()) is None


def test_without_times_there_is_one_entry_and_no_time() -> None:
    body = b"data: " + json.dumps(SGLANG).encode() + b"\n\n"

    assert read_stream(streamed(body * 3, ()), MessageAssembler()) == [None]
    assert read_stream(streamed(b"data: [DONE]\n\n", ()), MessageAssembler()) == []
