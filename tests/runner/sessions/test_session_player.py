import asyncio

from db.vocabulary import Outcome
from runner.campaign.campaign import ToolLatency
from runner.sessions.agent_loop import SessionSettings
from runner.sessions.chat_request import ChatRequest
from runner.sessions.dialogue import Dialogue
from runner.sessions.played_session import PlayedSession
from runner.sessions.scenario import Scenario
from runner.sessions.session_loop import drive_sessions
from runner.sessions.session_player import SessionPlayer
from runner.sessions.tool_dialogue import ToolDialogue
from tests.runner.sessions.fast_forward import LoopClock, run_in_no_time
from tests.runner.sessions.puppet_client import PuppetClient

SCENARIO = ToolDialogue(seed=7, rounds=2, context_tokens=0)


class BrokenScenario:
    """Has no dialogue for the index 1."""

    name = "broken"

    def dialogue(self, session_index: int) -> Dialogue:
        if session_index == 1:
            raise LookupError("no words")
        return SCENARIO.dialogue(5)


def a_player(scenario: Scenario, *, latency: ToolLatency | None = None) -> SessionPlayer:
    return SessionPlayer(
        scenario=scenario,
        client=PuppetClient(SCENARIO.dialogue(5)),
        settings=SessionSettings(
            request=ChatRequest(model="tiny", max_tokens=99), session_s=200, request_prefix="r-7"
        ),
        tool_latency=latency,
        seed=7,
        clock=LoopClock(),
    )


def test_a_player_plays_the_dialogue_of_the_index() -> None:
    played = run_in_no_time(a_player(SCENARIO).play(5))

    assert played.judgement.outcome is Outcome.DONE
    assert played.dialogue_key == "tool-dialogue-2/7/5"


def test_tools_take_the_time_that_the_law_says() -> None:
    latency = ToolLatency(median_ms=1_000, sigma=0)

    played = run_in_no_time(a_player(SCENARIO, latency=latency).play(5))

    assert played.ended_at_us - played.started_at_us == 4_000_000


def test_a_fault_of_our_own_in_one_session_leaves_the_others_alone() -> None:
    ended: list[PlayedSession] = []

    async def keep(played: PlayedSession) -> None:
        ended.append(played)

    async def drive() -> None:
        await drive_sessions(
            range(2),
            concurrency=2,
            play=a_player(BrokenScenario()).play,
            on_ended=keep,
            stop=asyncio.Event(),
        )

    run_in_no_time(drive())

    by_index = {played.session_index: played for played in ended}
    assert by_index[0].judgement.outcome is Outcome.DONE
    assert by_index[1].judgement.outcome is Outcome.HARNESS_ERROR
    assert by_index[1].judgement.detail == "LookupError: no words"
    assert by_index[1].dialogue_key == "broken/1"
