"""Sessions that were played and stored are judged again from what the store kept of them."""

import asyncio
import itertools
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from db.judgements import RecordedSession, recorded_sessions
from db.recorder import Recorder
from db.tables.sessions import SessionRow
from db.vocabulary import Outcome, RunState
from runner.judge.record import TurnContext, TurnRecord
from runner.judge.turn_reading import JudgedTurn, judge_turn
from runner.sessions.agent_loop import SessionSettings, play_session
from runner.sessions.chat_request import ChatRequest
from runner.sessions.played_session import PlayedSession
from runner.sessions.record_rows import to_ended_session
from runner.sessions.rejudging import CUT_BY_OTHER_RULES, judge_again
from runner.sessions.tool_dialogue import ToolDialogue
from tests.db.factories import stored_campaign, stored_id, stored_run
from tests.db.fresh_stores import fresh_store
from tests.runner.sessions import wire
from tests.runner.sessions.fast_forward import LoopClock, run_in_no_time
from tests.runner.sessions.puppet_client import PuppetClient, Spoilt, streamed

DIALOGUE = ToolDialogue(seed=7, rounds=2, context_tokens=0).dialogue(0)
LEAK = wire.answer_stream('<｜DSML｜invoke name="read_drum">\n</｜DSML｜invoke>')
BROKEN = wire.call_stream("no_such_tool", {})
REFUSED = streamed(b"no worker", status=503, content_type="text/plain")


def play(
    spoilt: Mapping[int, Spoilt], *, think_s: float = 0.0, max_rounds: int | None = None
) -> PlayedSession:
    async def in_the_loop() -> PlayedSession:
        return await play_session(
            DIALOGUE,
            session_index=0,
            settings=SessionSettings(
                request=ChatRequest(model="tiny", max_tokens=99),
                session_s=200,
                request_prefix="r-7",
                max_rounds=max_rounds,
            ),
            client=PuppetClient(DIALOGUE, spoilt=spoilt),
            think_times_s=itertools.repeat(think_s),
            clock=LoopClock(),
        )

    return run_in_no_time(in_the_loop())


def stored(played: PlayedSession, folder: Path) -> RecordedSession:
    store = fresh_store(folder)
    run_id = stored_id(stored_run(store, stored_campaign(store).arms[0], state=RunState.DRIVING))
    with Recorder(store) as recorder:
        asyncio.run(recorder.session_ended(to_ended_session(played, run_id=run_id)))
    (recorded,) = recorded_sessions(store, run_id)
    store.close()
    return recorded


ENDINGS = {
    "done": (play({}), Outcome.DONE),
    "leak": (play({2: LEAK}), Outcome.LEAK),
    "malformed": (play({0: BROKEN}), Outcome.MALFORMED),
    "error": (play({3: REFUSED}), Outcome.ERROR),
    "out of time": (play({}, think_s=150), Outcome.ERROR),
    "maxrounds": (play({}, max_rounds=1), Outcome.MAXROUNDS),
    "harness error": (play({1: ZeroDivisionError("ours")}), Outcome.HARNESS_ERROR),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_rules_give_the_same_judgement(ending: str, tmp_path: Path) -> None:
    played, outcome = ENDINGS[ending]

    again = judge_again(stored(played, tmp_path))

    assert again.outcome is outcome
    assert again.outcome is played.judgement.outcome
    assert again.reason == played.judgement.reason
    assert again.detail == played.judgement.detail
    assert again.flags == played.judgement.flags
    assert again.decisive_turn == played.judgement.decisive_turn
    assert again.rounds_completed == played.rounds_completed
    for turn, before in zip(again.turns, played.turns, strict=True):
        assert turn.outcome is before.judged.outcome
        assert turn.detail == before.judged.detail
        assert turn.first_token_s == before.judged.first_token_s
        assert turn.got == before.judged.message.to_json()


def stricter(record: TurnRecord, context: TurnContext) -> JudgedTurn:
    """Rules that find every second turn wrong."""
    judged = judge_turn(record, context)
    return judged if context.tool_expected else replace(judged, outcome=Outcome.WRONG)


def milder(record: TurnRecord, context: TurnContext) -> JudgedTurn:
    """Rules that find nothing wrong."""
    return replace(judge_turn(record, context), outcome=None, reason=None)


def test_stricter_rules_find_the_earlier_turn(tmp_path: Path) -> None:
    again = judge_again(stored(ENDINGS["done"][0], tmp_path), judge=stricter)

    assert again.outcome is Outcome.WRONG
    assert (again.decisive_turn, again.rounds_completed) == (1, 0)


def test_a_session_that_other_rules_cut_short_is_not_called_clean(tmp_path: Path) -> None:
    again = judge_again(stored(ENDINGS["leak"][0], tmp_path), judge=milder)

    assert again.outcome is Outcome.HARNESS_ERROR
    assert again.detail == CUT_BY_OTHER_RULES


def test_a_session_that_was_cut_short_is_corrupt_again_when_the_rules_are(tmp_path: Path) -> None:
    recorded = stored(ENDINGS["leak"][0], tmp_path)
    recorded.session.outcome = Outcome.HARNESS_ERROR
    recorded.session.detail = CUT_BY_OTHER_RULES

    assert judge_again(recorded).outcome is Outcome.LEAK


def test_a_last_turn_that_was_wrong_and_is_clean_now_ends_the_dialogue(tmp_path: Path) -> None:
    played = play({3: wire.answer_stream("Done: zebra")})

    again = judge_again(stored(played, tmp_path), judge=milder)

    assert played.judgement.outcome is Outcome.WRONG
    assert again.outcome is Outcome.DONE


def test_a_stored_session_holds_what_its_turns_sum_up_to(tmp_path: Path) -> None:
    session = stored(ENDINGS["done"][0], tmp_path).session

    assert isinstance(session, SessionRow)
    assert (session.prompt_tokens, session.completion_tokens) == (480, 64)
    assert session.first_token_s == 0.5
    assert (session.rounds_planned, session.rounds_completed) == (2, 2)
    assert session.judge_version != ""


def test_what_the_server_cached_on_its_host_is_summed_up() -> None:
    cached = b'data: {"choices":[],"sglext":{"cached_tokens_details":{"device":8,"host":64}}}\n\n'
    answer = wire.text(f"Done: {DIALOGUE.rounds[0].steps[0].tool_result}") + wire.chunk(
        finish="stop"
    )

    ended = to_ended_session(play({1: answer + cached + wire.DONE}), run_id=1)

    assert ended.session.outcome == Outcome.DONE
    assert ended.session.host_cached_tokens == 64
    assert ended.turns[1].turn.cached_tokens == {"device": 8, "host": 64}
