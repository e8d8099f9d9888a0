import json
from typing import Any

import pytest

from runner.judge.assembled_message import AssembledMessage
from runner.judge.assembly import MessageAssembler, carries_progress, event_carries_progress
from runner.judge.event_stream import EventStreamDecoder, ServerSentEvent
from runner.judge.flags import Flag
from tests.runner.judge.answers import call_delta, delta, stream, whole_body, whole_call


def assemble(body: bytes) -> AssembledMessage:
    assembler, decoder = MessageAssembler(), EventStreamDecoder()
    for event in [*decoder.feed(body), *decoder.close()]:
        assembler.add(event)
    return assembler.message


def assemble_chunks(*chunks: dict[str, Any]) -> AssembledMessage:
    return assemble(stream(*chunks))


def test_content_is_joined_over_all_chunks() -> None:
    message = assemble_chunks(
        delta({"role": "assistant"}), delta({"content": "a"}), delta({"content": "b"})
    )

    assert message.content == "ab"
    assert message.done


def test_a_null_delta_a_null_content_and_no_choices_say_nothing() -> None:
    message = assemble_chunks(
        {"choices": []},
        {"choices": None},
        {"choices": [None]},
        delta(None),
        delta({"content": None}),
    )

    assert message.content == ""
    assert message.faults == ()


def test_content_may_be_a_list_of_parts_with_thinking_among_them() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "It is "},
        {"type": "output_text", "text": "sunny."},
        "!",
    ]

    message = assemble(stream(json.loads(whole_body(content=parts))))

    assert message.content == "It is sunny.!"
    assert message.reasoning == "hm"


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "reasoning_text"])
def test_reasoning_is_read_from_the_field_that_carries_it(name: str) -> None:
    assert assemble_chunks(delta({name: "a"}), delta({name: "b"})).reasoning == "ab"


def test_two_reasoning_fields_with_the_same_text_are_one_text() -> None:
    both = [delta({"reasoning_content": text, "reasoning": text}) for text in ("two ", "plus two")]

    assert assemble_chunks(*both).reasoning == "two plus two"


def test_the_same_reasoning_sent_again_in_the_other_field_is_one_text() -> None:
    message = assemble_chunks(
        delta({"reasoning_content": "two "}),
        delta({"reasoning": "two "}),
        delta({"reasoning_content": "plus two"}),
        delta({"reasoning": "plus two"}),
    )

    assert message.reasoning == "two plus two"


def test_reasoning_that_changes_its_field_stays_in_order() -> None:
    message = assemble_chunks(delta({"reasoning": "b"}), delta({"reasoning_content": "a"}))

    assert message.reasoning == "ba"


def test_halves_of_a_surrogate_pair_in_two_chunks_are_one_character() -> None:
    halves = [
        '{"choices":[{"delta":{"content":"\\ud83c"}}]}',
        '{"choices":[{"delta":{"content":"\\udf24"}}]}',
    ]

    assert assemble(stream(*halves)).content == "🌤"


def test_a_lone_surrogate_becomes_a_replacement_character_that_can_be_stored() -> None:
    content = assemble(stream('{"choices":[{"delta":{"content":"a\\ud83c"}}]}')).content

    assert content == "a\ufffd"
    assert content.encode("utf-8")


def test_usage_and_cached_tokens_come_from_wherever_the_server_puts_them() -> None:
    message = assemble_chunks(
        delta({"content": "a"}, usage=None),
        {
            "choices": [],
            "usage": {
                "prompt_tokens": 9,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 8},
                "completion_tokens_details": {"reasoning_tokens": 1},
            },
            "sglext": {"cached_tokens_details": {"device": 3, "host": 5, "storage_backend": "x"}},
        },
    )

    assert (message.usage.prompt_tokens, message.usage.completion_tokens) == (9, 2)
    assert message.usage.reasoning_tokens == 1
    assert message.cached_tokens == {"device": 3, "host": 5, "total": 8}


def test_a_second_finish_reason_is_a_fault_and_the_last_one_counts() -> None:
    message = assemble_chunks(delta({}, "length"), delta({}, "stop"))

    assert message.finish_reasons == ("length", "stop")
    assert message.finish_reason == "stop"
    assert Flag.DOUBLE_FINISH in message.faults


def test_a_finish_reason_may_be_an_object_as_the_native_api_has_it() -> None:
    assert assemble_chunks(delta({}, {"type": "abort"})).finish_reason == "abort"


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ('{"error": {"message": "lost", "type": "t", "code": 5}}', "lost"),
        ('{"error": "lost"}', "lost"),
        ('{"error": ["lost"]}', "lost"),
        ('{"object": "error", "message": "lost", "code": 400}', "lost"),
        ('{"type": "error", "error": {"message": "lost"}}', "lost"),
        ('{"detail": "lost"}', "lost"),
        ('{"detail": [{"type": "missing", "text": "lost"}]}', "lost"),
        ('{"message": "lost", "code": 500}', "lost"),
        ('{"success": false, "msg": "lost"}', "lost"),
        ('{"error_code": 7, "error_msg": "lost"}', "lost"),
        ('{"choices": [{"delta": {}, "error": {"message": "lost"}}]}', "lost"),
        ('{"choices": [{"delta": {"error": "lost"}}]}', "lost"),
        (
            '{"error": {"message": "lost"}, "choices": [{"delta": {}, "finish_reason": "error"}]}',
            "lost",
        ),
        ('{"error": {}}', "{}"),
    ],
)
def test_an_error_is_found_wherever_it_stands(event: str, text: str) -> None:
    error = assemble(stream(event)).in_band_error

    assert error is not None
    assert error.message == text


@pytest.mark.parametrize(
    "chunk", [delta({"content": "a"}, error=None), delta({}, "stop", error=False)]
)
def test_an_error_field_that_says_nothing_is_no_error(chunk: dict[str, Any]) -> None:
    assert assemble_chunks(chunk).in_band_error is None


def test_an_event_named_error_is_one_even_as_plain_text() -> None:
    error = assemble(b"event: error\ndata: queue is full\n\n").in_band_error

    assert error is not None
    assert error.message == "queue is full"


def test_an_error_whose_own_words_break_its_json_is_still_one() -> None:
    message = assemble(b'data: {"error": "could not parse\nContent: \'x\'"}\n\n')

    assert message.in_band_error is not None
    assert message.in_band_error.message == '{"error": "could not parse'
    assert Flag.UNREADABLE_CHUNK in message.faults


def test_what_is_no_json_is_a_fault_and_the_rest_is_read() -> None:
    message = assemble(stream(delta({"content": "a"}), "Internal Server Error", "[1, 2]", '"x"'))

    assert message.content == "a"
    assert Flag.UNREADABLE_CHUNK in message.faults


def test_a_chunk_cut_by_the_end_of_the_stream_is_told_from_an_unreadable_one() -> None:
    message = assemble(stream(delta({"content": "a"}), done=False) + b'data: {"choices": [{"del')

    assert message.ends_inside_event
    assert message.faults == ()


def test_nothing_is_read_behind_done() -> None:
    message = assemble(stream(delta({"content": "a"})) + stream(delta({"content": "b"})))

    assert message.content == "a"
    assert Flag.DATA_AFTER_DONE in message.faults


def test_done_needs_no_blank_line_behind_it() -> None:
    assert assemble(b"data: [DONE]").done
    assert assemble(b"data:[DONE]\r\n\r\n").done


def test_of_several_choices_the_first_is_read_and_the_others_are_a_fault() -> None:
    second = {"choices": [{"index": 1, "delta": {"content": "b"}}]}

    message = assemble_chunks(second, delta({"content": "a"}), second)

    assert message.content == "a"
    assert Flag.SEVERAL_CHOICES in message.faults


def test_a_whole_message_repeated_at_the_end_of_a_stream_is_not_added_again() -> None:
    last = {"choices": [{"index": 0, "message": {"content": "ab"}, "finish_reason": "stop"}]}

    assert assemble_chunks(delta({"content": "ab"}), last).content == "ab"


def test_a_whole_message_in_a_stream_without_deltas_is_the_answer() -> None:
    assert assemble(stream(json.loads(whole_body(content="ab")))).content == "ab"


def test_the_legacy_function_call_is_read_as_a_call() -> None:
    message = assemble_chunks(
        delta({"function_call": {"name": "get_weather", "arguments": ""}}),
        delta({"function_call": {"arguments": '{"city":"Oslo"}'}}),
        delta({}, "function_call"),
    )

    assert [(call.name, call.arguments) for call in message.tool_calls] == [
        ("get_weather", '{"city":"Oslo"}')
    ]
    assert Flag.LEGACY_FUNCTION_CALL in message.faults


def test_a_call_told_in_both_the_old_and_the_new_form_is_one_call() -> None:
    call = {"name": "get_weather", "arguments": "{}"}
    message = assemble(
        stream(
            json.loads(whole_body(function_call=call, tool_calls=[whole_call("get_weather", "{}")]))
        )
    )

    assert len(message.tool_calls) == 1


@pytest.mark.parametrize("calls", [None, [], [None], "x", {}])
def test_no_list_of_calls_is_no_call(calls: Any) -> None:
    assert assemble_chunks(delta({"tool_calls": calls})).tool_calls == ()


def test_a_refusal_is_kept_apart() -> None:
    message = assemble_chunks(delta({"refusal": "I will "}), delta({"refusal": "not."}))

    assert message.refusal == "I will not."
    assert Flag.REFUSAL in message.faults


@pytest.mark.parametrize(
    "chunk",
    [
        delta({"content": "a"}),
        delta({"content": " "}),
        delta({"reasoning_content": "a"}),
        delta({"reasoning": "a"}),
        delta({"content": [{"type": "text", "text": "a"}]}),
        delta({"refusal": "a"}),
        call_delta("{", name="f"),
        call_delta("x"),
        delta({"function_call": {"arguments": "{"}}),
        json.loads(whole_body(content="a")),
    ],
)
def test_a_token_is_progress(chunk: dict[str, Any]) -> None:
    assert carries_progress(chunk)


@pytest.mark.parametrize(
    "chunk",
    [
        {},
        {"choices": []},
        delta({"role": "assistant", "content": ""}),
        delta({"content": None, "reasoning_content": None}),
        delta(None),
        delta({}, "stop"),
        delta({"tool_calls": []}),
        delta({"tool_calls": None}),
        delta({"content": []}),
        {"choices": [], "usage": {"completion_tokens": 3}},
        {"error": {"message": "x"}},
    ],
)
def test_roles_ends_and_usage_are_no_progress(chunk: dict[str, Any]) -> None:
    assert not carries_progress(chunk)


def test_an_event_that_is_no_chunk_is_no_progress() -> None:
    assert not event_carries_progress(ServerSentEvent("[DONE]"))
    assert not event_carries_progress(ServerSentEvent("ping"))
    assert event_carries_progress(ServerSentEvent(json.dumps(delta({"content": "a"}))))


def test_the_message_is_stored_as_json_with_its_calls() -> None:
    message = assemble_chunks(call_delta("{}", name="f", id="1"), delta({}, "tool_calls"))

    stored = json.loads(json.dumps(message.to_json()))

    assert stored["tool_calls"] == [{"name": "f", "arguments": "{}", "id": "1"}]
    assert stored["in_band_error"] is None
