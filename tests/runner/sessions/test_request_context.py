import pytest

from runner.judge.assembled_message import AssembledCall, AssembledMessage
from runner.judge.json_values import JsonObject
from runner.judge.record import DueCall, PriorMessage
from runner.sessions.chat_request import (
    ChatRequest,
    assistant_message,
    system_message,
    tool_messages,
    user_message,
)
from runner.sessions.request_context import turn_context
from runner.sessions.tool_dialogue import ToolDialogue

DIALOGUE = ToolDialogue(seed=7, rounds=2, context_tokens=0).dialogue(0)
REQUEST = ChatRequest(model="tiny", max_tokens=99)


def a_body(*messages: JsonObject, request: ChatRequest = REQUEST) -> JsonObject:
    return request.body(messages, DIALOGUE.tools, request_id="r-1-s0-t0")


def test_a_request_asks_for_a_stream_with_usage_and_for_no_chance() -> None:
    body = a_body(user_message("please"))

    assert body["stream"] is True
    assert body["stream_options"] == {"include_usage": True}
    assert body["temperature"] == 0
    assert body["max_tokens"] == 99
    assert "rid" not in body


def test_an_answer_in_one_piece_is_asked_for_without_stream_options() -> None:
    body = a_body(request=ChatRequest(model="tiny", max_tokens=9, stream=False))

    assert body["stream"] is False
    assert "stream_options" not in body


def test_extra_fields_stand_over_the_others_and_the_id_goes_where_the_server_reads_it() -> None:
    request = ChatRequest(
        model="tiny", max_tokens=9, extra={"temperature": 0.6}, request_id_field="rid"
    )

    body = a_body(request=request)

    assert body["temperature"] == 0.6
    assert body["rid"] == "r-1-s0-t0"


def test_the_context_holds_what_was_asked_and_what_was_said_before() -> None:
    call = AssembledCall(name="read_drum", arguments='{"elm": "fox"}', id="call_9")
    called = AssembledMessage(tool_calls=(call,))
    due = DueCall("read_drum", {"elm": "fox"})
    body = a_body(
        system_message("filler words"),
        user_message("please read with elm = fox."),
        assistant_message(called),
        *tool_messages(called, due=due, result="peach"),
    )

    context = turn_context(body, due=due, round_index=1, max_rounds=4)

    assert context.user == "please read with elm = fox."
    assert context.prior == (
        PriorMessage(role="assistant", calls=(("read_drum", '{"elm": "fox"}'),)),
        PriorMessage(role="tool", text="peach"),
    )
    assert [tool.name for tool in context.tools] == [
        tool["function"]["name"]  # type: ignore[index,call-overload]
        for tool in DIALOGUE.tools
    ]
    assert context.tool_expected
    assert (context.round_index, context.max_rounds, context.model) == (1, 4, "tiny")


def test_a_named_function_is_known_to_be_one() -> None:
    choice: JsonObject = {"type": "function", "function": {"name": "read_drum"}}
    request = ChatRequest(model="m", max_tokens=9, extra={"tool_choice": choice})

    context = turn_context(a_body(request=request), due=None, round_index=0, max_rounds=None)

    assert context.tool_choice == "named"
    assert not context.tool_expected


def test_what_is_no_chat_request_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="expected a list in a chat request, found 'hello'"):
        turn_context({"messages": "hello"}, due=None, round_index=0, max_rounds=None)


def test_the_assistant_is_quoted_as_the_server_gave_it() -> None:
    answer = AssembledMessage(content="Done: amber", reasoning="hm")

    assert assistant_message(answer) == {"role": "assistant", "content": "Done: amber"}


def test_calls_without_a_usable_id_get_one_that_their_results_share() -> None:
    calls = tuple(AssembledCall(name=name, arguments="{}", id=i) for name, i in CALLS)
    called = AssembledMessage(tool_calls=calls)

    sent = assistant_message(called)["tool_calls"]
    results = tool_messages(called, due=DueCall("due", {}), result="amber")

    assert isinstance(sent, list)
    assert [call["id"] for call in sent] == [r["tool_call_id"] for r in results]  # type: ignore[index,call-overload]
    assert len({str(result["tool_call_id"]) for result in results}) == 3
    assert [result["content"] for result in results] == ["amber", "nothing found", "amber"]


CALLS = (("due", ""), ("other", "call_1"), ("due", "call_1"))


def test_what_is_said_in_parts_is_known_to_the_judge_as_what_is_said_in_one_text() -> None:
    image: JsonObject = {"type": "image_url", "image_url": {"url": "data:,"}}
    asked: JsonObject = {"type": "text", "text": "What does <tool_call> mean?"}
    earlier: JsonObject = {"type": "text", "text": "It begins a call."}
    body = a_body(
        {"role": "assistant", "content": [earlier, earlier]},
        {"role": "user", "content": [image, asked]},
    )

    context = turn_context(body, due=None, round_index=0, max_rounds=None)

    assert context.user == "What does <tool_call> mean?"
    assert context.prior == (PriorMessage("assistant", "It begins a call.\nIt begins a call."),)
