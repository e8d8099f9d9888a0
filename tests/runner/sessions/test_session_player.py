from db.vocabulary import Outcome
from runner.campaign.campaign import ToolLatency
from runner.sessions.agent_loop import SessionSettings
from runner.sessions.chat_request import ChatRequest
from runner.sessions.dialogue import Dialogue
from runner.sessions.scenario import Scenario
from runner.sessions.session_player import SessionPlayer
from runner.sessions.tool_dialogue import ToolDialogue
from tests.runner.sessions.fast_forward import LoopClock, run_in_no_time
from tests.runner.sessions.puppet_client import PuppetClient

SCENARIO = ToolDialogue(seed=7, rounds=2, context_tokens=0)


class BrokenScenario:
    name = "broken"

    def dialogue(self, session_index: int) -> Dialogue:
        raise LookupError("no words")


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
    assert played.dialogue_key == "tool-dialogue-1/7/5"


def test_tools_take_the_time_that_the_law_says() -> None:
    latency = ToolLatency(median_ms=1_000, sigma=0)

    played = run_in_no_time(a_player(SCENARIO, latency=latency).play(5))

    assert played.ended_at_us - played.started_at_us == 4_000_000


def test_a_dialogue_that_cannot_be_made_is_our_own_fault() -> None:
    played = run_in_no_time(a_player(BrokenScenario()).play(5))

    assert played.judgement.outcome is Outcome.HARNESS_ERROR
    assert played.judgement.detail is not None
    assert "LookupError: no words" in played.judgement.detail
    assert played.dialogue_key == "broken/5"
