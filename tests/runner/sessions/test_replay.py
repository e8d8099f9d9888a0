"""Recorded requests are played as they were, and what cannot be played is named by its line."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.vocabulary import Outcome
from runner.campaign.campaign import ReplayContext, ReplayFile
from runner.errors import ConfigError
from runner.judge.json_values import JsonObject
from runner.sessions.replay import read_conversations
from runner.sessions.scenario import make_scenario
from tests.runner.sessions import wire
from tests.runner.sessions.fast_forward import run_in_no_time
from tests.runner.sessions.played_scenario import Server, a_workload, player_of

TOOL = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}
ASKED = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Weather?"}]
CALLED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    ],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "rain"}
ANSWERED = {"role": "assistant", "content": "It rains."}
THANKS = {"role": "user", "content": "And tomorrow?"}
FIRST = {"model": "theirs", "messages": ASKED, "tools": [TOOL], "temperature": 0.7, "stream": False}
SECOND = {**FIRST, "messages": [*ASKED, CALLED, RESULT]}
THIRD = {**FIRST, "messages": [*ASKED, CALLED, RESULT, ANSWERED, THANKS]}
OTHER = {"messages": [{"role": "user", "content": "hello"}]}


def a_file(folder: Path, *lines: Any) -> Path:
    file = folder / "requests.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines) + "\n", "utf-8")
    return file


def replaying(folder: Path, context: ReplayContext, *lines: Any) -> Any:
    a_file(folder, *lines)
    replay = ReplayFile(file="requests.jsonl", context=context)
    return make_scenario(a_workload("replay", replay=replay), folder=folder)


def answers(body: JsonObject, number: int) -> bytes:
    texts = [
        wire.call_stream("look_up", {}),
        wire.answer_stream("Rain."),
        wire.answer_stream("Sun."),
    ]
    return texts[number]


def test_a_recorded_context_is_sent_as_it_was_whatever_the_server_answers(tmp_path: Path) -> None:
    server = Server(answers)
    scenario = replaying(tmp_path, ReplayContext.RECORDED, FIRST, OTHER, SECOND, THIRD)

    played = run_in_no_time(player_of(scenario, server).play(0))

    assert played.judgement.outcome is Outcome.DONE
    assert [body["messages"] for body in server.bodies] == [
        ASKED,
        SECOND["messages"],
        THIRD["messages"],
    ]
    assert {body["model"] for body in server.bodies} == {"tiny"}
    assert {body["temperature"] for body in server.bodies} == {0.7}
    assert all(body["stream"] is True for body in server.bodies)


def test_a_request_without_a_temperature_is_sampled_as_the_server_does_by_itself(
    tmp_path: Path,
) -> None:
    server = Server(answers)
    scenario = replaying(tmp_path, ReplayContext.RECORDED, OTHER)

    run_in_no_time(player_of(scenario, server).play(0))

    assert "temperature" not in server.bodies[0]


@pytest.mark.parametrize(
    ("choice", "sent"),
    [("auto", {}), ("none", {}), ("required", {"tool_choice": "required"})],
)
def test_no_choice_is_sent_with_a_list_of_tools_that_was_empty(
    tmp_path: Path, choice: str, sent: JsonObject
) -> None:
    server = Server(answers)
    recorded = {**OTHER, "tools": [], "tool_choice": choice}

    scenario = replaying(tmp_path, ReplayContext.RECORDED, recorded)
    run_in_no_time(player_of(scenario, server).play(0))

    (body,) = server.bodies
    assert {name: body[name] for name in ("tools", "tool_choice") if name in body} == sent


def test_a_live_context_holds_what_this_server_said_and_what_was_recorded_of_the_others(
    tmp_path: Path,
) -> None:
    server = Server(answers)

    played = run_in_no_time(
        player_of(replaying(tmp_path, ReplayContext.LIVE, FIRST, SECOND, THIRD), server).play(0)
    )

    assert played.judgement.outcome is Outcome.DONE
    messages: Any = server.bodies[2]["messages"]
    assert [message["role"] for message in messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    assert messages[3]["content"] == "rain"
    assert messages[4]["content"] == "Rain."
    assert messages[5] == THANKS


def test_live_a_result_of_which_no_call_was_made_is_not_asked_about(tmp_path: Path) -> None:
    server = Server(lambda _, number: wire.answer_stream(("Rain?", "Sun.")[number]))

    played = run_in_no_time(
        player_of(replaying(tmp_path, ReplayContext.LIVE, FIRST, SECOND, THIRD), server).play(0)
    )

    assert played.judgement.outcome is Outcome.DONE
    roles = [[message["role"] for message in _messages_of(body)] for body in server.bodies]
    assert roles == [["system", "user"], ["system", "user", "assistant", "user"]]


def _messages_of(body: JsonObject) -> list[JsonObject]:
    messages: Any = body["messages"]
    return list(messages)


def test_a_result_that_was_recorded_in_parts_is_given_to_a_live_call(tmp_path: Path) -> None:
    server = Server(answers)
    parts = [{"type": "text", "text": "rain"}, {"type": "text", "text": "from noon on"}]
    in_parts = {**FIRST, "messages": [*ASKED, CALLED, {**RESULT, "content": parts}]}

    run_in_no_time(
        player_of(replaying(tmp_path, ReplayContext.LIVE, FIRST, in_parts), server).play(0)
    )

    messages: Any = server.bodies[1]["messages"]
    assert messages[3]["content"] == "rain\nfrom noon on"


def test_requests_belong_to_the_conversation_that_they_continue(tmp_path: Path) -> None:
    lines = [json.dumps(each).encode() for each in (FIRST, OTHER, SECOND, FIRST, THIRD)]

    found = read_conversations(lines, source="r.jsonl")

    assert [[len(each.messages) for each in conversation] for conversation in found] == [
        [2, 4, 6],
        [1],
        [2],
    ]


def test_of_conversations_that_began_alike_the_first_goes_on_first() -> None:
    lines = [json.dumps(each).encode() for each in (FIRST, FIRST, SECOND, OTHER, SECOND, THIRD)]

    found = read_conversations(lines, source="r.jsonl")

    assert [[len(each.messages) for each in conversation] for conversation in found] == [
        [2, 4, 6],
        [2, 4],
        [1],
    ]


def test_a_line_that_names_no_session_goes_on_with_one_that_was_named() -> None:
    lines = [
        json.dumps(each).encode()
        for each in (
            {"session": "a", "request": FIRST},
            {"session": "a", "request": SECOND},
            FIRST,
            THIRD,
        )
    ]

    found = read_conversations(lines, source="r.jsonl")

    assert [len(conversation) for conversation in found] == [3, 1]


@given(st.lists(st.text("ab", min_size=1, max_size=5), min_size=1, max_size=12))
def test_a_request_goes_on_from_the_conversation_with_most_of_it_in_common(said: list[str]) -> None:
    """Each letter is a message; held against all conversations, one after the other."""
    expected: list[list[str]] = []
    for each in said:
        fitting = [held for held in expected if held[-1] != each and each.startswith(held[-1])]
        longest = max(fitting, key=lambda held: len(held[-1]), default=None)
        if longest is None:
            expected.append([each])
        else:
            longest.append(each)

    found = read_conversations(
        [
            json.dumps(
                {"messages": [{"role": "user", "content": letter} for letter in each]}
            ).encode()
            for each in said
        ],
        source="r.jsonl",
    )

    assert [
        ["".join(str(message["content"]) for message in request.messages) for request in requests]
        for requests in found
    ] == expected


def test_a_named_session_keeps_requests_together_that_share_no_beginning() -> None:
    lines = [
        json.dumps({"session": "a", "request": FIRST}).encode(),
        json.dumps({"session": "b", "request": SECOND}).encode(),
        json.dumps({"session": "a", "request": OTHER}).encode(),
    ]

    found = read_conversations(lines, source="r.jsonl")

    assert [len(conversation) for conversation in found] == [2, 1]


def test_a_due_call_is_held_against_the_answer(tmp_path: Path) -> None:
    due = {"kind": "call", "name": "look_up", "arguments": {"place": "here"}}
    scenario = replaying(tmp_path, ReplayContext.RECORDED, {"request": FIRST, "due": due})
    server = Server(answers)

    played = run_in_no_time(player_of(scenario, server).play(0))

    assert played.judgement.outcome in (Outcome.WRONG, Outcome.MALFORMED)


def test_a_due_call_of_a_tool_that_is_not_offered_is_a_mistake_of_the_file(tmp_path: Path) -> None:
    due = {"kind": "call", "name": "lookup", "arguments": {}}

    with pytest.raises(ConfigError) as caught:
        replaying(tmp_path, ReplayContext.RECORDED, {"request": FIRST, "due": due})
    legacy = {**OTHER, "functions": [{"name": "lookup", "parameters": {}}]}
    replaying(tmp_path, ReplayContext.RECORDED, {"request": legacy, "due": due})

    assert str(caught.value).endswith(
        "requests.jsonl:1: cannot be played: a call of lookup is due, and the request offers "
        "only look_up"
    )


def test_more_sessions_than_conversations_begin_again(tmp_path: Path) -> None:
    scenario = replaying(tmp_path, ReplayContext.RECORDED, FIRST, OTHER)

    assert scenario.dialogue(0) == scenario.dialogue(2) != scenario.dialogue(1)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (b"{", ":2: is no JSON; each line must be one JSON object"),
        (b"[]", ":2: is JSON, but no object"),
        (b"{}", ":2: has neither `messages` nor `request`"),
        (
            b'{"messages": [{"role": "user"}], "due": {"kind": "answer"}}',
            ':2: has due inside the body, where it would be sent to the server: write {"request":',
        ),
        (b'{"messages": []}', ":2: `messages` must be a list that is not empty"),
        (b'{"messages": ["hi"]}', ":2: each entry of `messages` must be an object"),
        (b'{"messages": [{}], "tools": {}}', ":2: `tools` must be a list"),
        (
            b'{"request": {"messages": [{}]}, "due": {"kind": "song"}}',
            ":2: due has the kind 'song'",
        ),
        (b'{"request": {"messages": [{}]}, "session": []}', ":2: `session` must be a name"),
        (b'{"request": 3}', ":2: `request` must be an object"),
        (b"\xff\xfe", ":2: is not in UTF-8"),
        (b'{"request": {"messages": [{}]}, "sesion": 1}', ":2: has the unknown key sesion"),
        (b'{"request": {"messages": [{}]}, "session": true}', ":2: `session` must be a name"),
        (b'{"messages": [{}], "tools": [{"a": 1}]}', ":2: cannot be played: function must be"),
        (b'{"messages": [{"tool_calls": 1}]}', ":2: cannot be played: expected a list"),
        (b'{"messages": [{"content": "\\ud800"}]}', ":2: cannot be played: it holds half of a"),
    ],
)
def test_a_line_that_is_no_request_is_named(line: bytes, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_conversations([json.dumps(OTHER).encode(), line], source="r.jsonl")

    assert sentence in str(caught.value)


def test_a_file_without_a_request_is_refused() -> None:
    with pytest.raises(ConfigError, match="holds no chat request"):
        read_conversations([b"", b"  "], source="r.jsonl")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    replay = ReplayFile(file="nowhere.jsonl")

    with pytest.raises(ConfigError, match=r"nowhere\.jsonl cannot be read: No such file"):
        make_scenario(a_workload("replay", replay=replay), folder=tmp_path)


# what the workload says around them


def test_tools_that_somebody_else_wrote_are_not_made_strict(tmp_path: Path) -> None:
    a_file(tmp_path, FIRST)
    replay = ReplayFile(file="requests.jsonl")

    with pytest.raises(ConfigError, match=r"workload\.strict: the tools of a replay"):
        make_scenario(a_workload("replay", replay=replay, strict=True), folder=tmp_path)
    with pytest.raises(ConfigError, match=r"workload\.strict: the tools of mine:Mine are its own"):
        make_scenario(a_workload("mine:Mine", strict=True), folder=tmp_path)
