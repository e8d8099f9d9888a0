import asyncio
import itertools
import threading
from collections.abc import Iterator

import pytest

from db.clock import SystemClock
from db.vocabulary import ErrorReason, Outcome, TurnReading
from runner.judge.json_values import JsonObject
from runner.judge.record import DueCall, TurnContext, TurnRecord
from runner.judge.turn_reading import JudgedTurn, judge_turn
from runner.sessions.agent_loop import SessionSettings, play_session
from runner.sessions.chat_request import ChatRequest
from runner.sessions.played_session import PlayedSession
from runner.sessions.tool_dialogue import ToolDialogue
from tests.runner.sessions import wire
from tests.runner.sessions.fast_forward import LoopClock, run_in_no_time
from tests.runner.sessions.puppet_client import PuppetClient, Spoilt, streamed

DIALOGUE = ToolDialogue(seed=7, rounds=4, context_tokens=0).dialogue(0)
LEAK = wire.answer_stream(
    '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="read_drum">\n'
    '<｜DSML｜parameter name="elm" string="true">fox</｜DSML｜parameter>\n'
    "</｜DSML｜invoke>\n</｜DSML｜tool_calls>"
)


def settings(*, session_s: float = 200, max_rounds: int | None = None) -> SessionSettings:
    return SessionSettings(
        request=ChatRequest(model="tiny", max_tokens=99, request_id_field="rid"),
        session_s=session_s,
        request_prefix="r-7",
        max_rounds=max_rounds,
    )


def play(
    client: PuppetClient,
    *,
    settings: SessionSettings = settings(),  # noqa: B008
    think_times_s: Iterator[float] | None = None,
) -> PlayedSession:
    async def in_the_loop() -> PlayedSession:
        return await play_session(
            DIALOGUE,
            session_index=3,
            settings=settings,
            client=client,
            think_times_s=itertools.repeat(0.0) if think_times_s is None else think_times_s,
            clock=LoopClock(),
        )

    return run_in_no_time(in_the_loop())


def spoilt(turn: int, answer: Spoilt) -> PlayedSession:
    return play(PuppetClient(DIALOGUE, spoilt={turn: answer}))


def roles(body: JsonObject) -> list[str]:
    messages = body["messages"]
    assert isinstance(messages, list)
    return [str(message["role"]) for message in messages if isinstance(message, dict)]


def test_a_right_session_is_played_to_its_end() -> None:
    client = PuppetClient(DIALOGUE)

    played = play(client)

    assert played.judgement.outcome is Outcome.DONE
    assert (played.rounds_planned, played.rounds_completed) == (4, 4)
    readings = [turn.judged.reading for turn in played.turns]
    assert readings == [TurnReading.TOOL, TurnReading.DONE] * 4
    assert [turn.round_index for turn in played.turns] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert played.dialogue_key == "tool-dialogue-2/7/0"
    assert played.session_index == 3


def test_each_request_holds_all_that_was_said_before() -> None:
    client = PuppetClient(DIALOGUE)

    play(client)

    assert roles(client.bodies[0]) == ["system", "user"]
    assert roles(client.bodies[1]) == ["system", "user", "assistant", "tool"]
    assert roles(client.bodies[2]) == ["system", "user", "assistant", "tool", "assistant", "user"]
    messages = client.bodies[2]["messages"]
    assert isinstance(messages, list)
    called, result, answered = messages[2:5]
    assert called["tool_calls"][0]["id"] == "call_0"  # type: ignore[index,call-overload]
    assert result == {
        "role": "tool",
        "tool_call_id": "call_0",
        "content": DIALOGUE.rounds[0].steps[0].tool_result,
    }
    assert answered == {
        "role": "assistant",
        "content": f"Done: {DIALOGUE.rounds[0].steps[0].tool_result}",
    }


def test_what_was_sent_is_kept_as_it_was_then() -> None:
    played = play(PuppetClient(DIALOGUE))

    lengths = [len(turn.request) for turn in played.turns]
    assert lengths == sorted(set(lengths))
    assert b'"rid":"r-7-s3-t0"' in played.turns[0].request


def test_requests_have_names_of_their_own() -> None:
    client = PuppetClient(DIALOGUE)

    played = play(client)

    assert client.request_ids == [f"r-7-s3-t{turn}" for turn in range(8)]
    assert [turn.request_id for turn in played.turns] == client.request_ids


def test_a_leak_ends_the_session() -> None:
    played = spoilt(2, LEAK)

    assert played.judgement.outcome is Outcome.LEAK
    assert played.judgement.decisive_turn == 2
    assert len(played.turns) == 3
    assert played.rounds_completed == 1


def test_no_call_where_one_was_due_ends_the_session() -> None:
    played = spoilt(0, wire.answer_stream("I would rather not."))

    assert played.judgement.outcome is Outcome.NO_TOOL
    assert played.rounds_completed == 0


def test_a_readable_call_with_other_values_is_wrong_and_ends_the_session() -> None:
    due = DIALOGUE.rounds[1].steps[0].due
    assert isinstance(due, DueCall)
    values = dict.fromkeys(due.arguments, "zebra")

    played = spoilt(2, wire.call_stream(due.name, dict(values)))

    assert played.judgement.outcome is Outcome.WRONG
    assert len(played.turns) == 3


def test_an_answer_without_the_result_is_wrong() -> None:
    played = spoilt(1, wire.answer_stream("Done: zebra zebra"))

    assert played.judgement.outcome is Outcome.WRONG
    assert played.rounds_completed == 0


def test_a_silent_turn_ends_the_session_and_keeps_its_rounds() -> None:
    played = spoilt(4, streamed(b"no worker", status=503, content_type="text/plain"))

    assert played.judgement.outcome is Outcome.ERROR
    assert played.judgement.reason is ErrorReason.HTTP_5XX
    assert played.rounds_completed == 2


def test_the_round_limit_cuts_a_dialogue_in_which_nothing_was_wrong() -> None:
    played = play(PuppetClient(DIALOGUE), settings=settings(max_rounds=2))

    assert played.judgement.outcome is Outcome.MAXROUNDS
    assert (played.rounds_planned, len(played.turns)) == (2, 4)


def test_tools_and_people_take_their_time() -> None:
    played = play(PuppetClient(DIALOGUE, takes_s=1), think_times_s=itertools.count(10))

    started_s = [(turn.started_at_us - played.started_at_us) / 1e6 for turn in played.turns]
    assert started_s == [0, 11, 23, 36, 50, 65, 81, 98]
    assert played.ended_at_us - played.started_at_us == 99_000_000


def test_each_turn_may_use_what_is_left_of_the_session() -> None:
    client = PuppetClient(DIALOGUE, takes_s=3)

    play(client, settings=settings(session_s=50), think_times_s=itertools.repeat(2.0))

    assert client.left_s == [50, 45, 40, 35, 30, 25, 20, 15]


def test_a_session_whose_time_ends_between_two_turns_sends_no_further_request() -> None:
    client = PuppetClient(DIALOGUE, takes_s=3)

    played = play(client, settings=settings(session_s=12), think_times_s=itertools.repeat(5.0))

    assert len(client.bodies) == 2
    assert played.judgement.outcome is Outcome.ERROR
    assert played.judgement.reason is ErrorReason.SESSION_TIMEOUT
    assert played.judgement.decisive_turn is None
    assert played.rounds_completed == 1
    assert played.ended_at_us - played.started_at_us == 12_000_000


def test_a_fault_of_our_own_is_a_harness_error_and_keeps_the_turns_before_it() -> None:
    played = spoilt(3, ZeroDivisionError("our own"))

    assert played.judgement.outcome is Outcome.HARNESS_ERROR
    assert "ZeroDivisionError: our own" in played.judgement.detail
    assert len(played.turns) == 3
    assert played.rounds_completed == 1


def test_a_cancelled_session_is_none() -> None:
    async def cancel() -> None:
        session = play_session(
            DIALOGUE,
            session_index=0,
            settings=settings(),
            client=PuppetClient(DIALOGUE, takes_s=10),
            think_times_s=itertools.repeat(0.0),
            clock=LoopClock(),
        )
        await asyncio.wait_for(session, 15)

    with pytest.raises(TimeoutError):
        run_in_no_time(cancel())


def test_a_long_answer_is_judged_beside_the_event_loop() -> None:
    judged_in: list[str] = []

    def judge(record: TurnRecord, context: TurnContext) -> JudgedTurn:
        judged_in.append(threading.current_thread().name)
        return judge_turn(record, context)

    rambling = wire.call_stream("read_drum", {"elm": "fox " * 40_000})
    client = PuppetClient(DIALOGUE, spoilt={2: rambling})

    played = asyncio.run(
        play_session(
            DIALOGUE,
            session_index=0,
            settings=settings(),
            client=client,
            think_times_s=itertools.repeat(0.0),
            clock=SystemClock(),
            judge=judge,
        )
    )

    own = threading.current_thread().name
    assert [name == own for name in judged_in] == [True, True, False]
    assert played.judgement.decisive_turn == 2
