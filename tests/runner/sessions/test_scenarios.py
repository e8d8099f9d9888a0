"""Each scenario gives the same dialogues in every arm, and what it asks for can be checked."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from db.vocabulary import Outcome
from runner.campaign.campaign import ReplayFile, ToolChoice, Workload
from runner.errors import ConfigError
from runner.judge.record import DueCall
from runner.sessions.dialogue import Dialogue, Step
from runner.sessions.scenario import make_scenario
from tests.runner.sessions import wire
from tests.runner.sessions.fast_forward import run_in_no_time
from tests.runner.sessions.played_scenario import Server, a_workload, player_of


def right_calls(dialogue: Dialogue) -> list[DueCall]:
    dues = [step.due for played in dialogue.rounds for step in played.steps]
    return [due for due in dues if isinstance(due, DueCall)]


# probe


@pytest.mark.parametrize("choice", ToolChoice)
def test_a_probe_asks_each_errand_alone_and_demands_a_call(choice: ToolChoice) -> None:
    scenario = make_scenario(a_workload("probe", tool_choice=choice))
    dues = right_calls(scenario.dialogue(3))
    server = Server(lambda _, n: wire.call_stream(dues[n].name, dict(dues[n].arguments)))

    played = run_in_no_time(player_of(scenario, server).play(3))

    assert played.judgement.outcome is Outcome.DONE
    assert played.rounds_completed == played.rounds_planned == 2
    for body, due in zip(server.bodies, dues, strict=True):
        named = {"type": "function", "function": {"name": due.name}}
        assert body["tool_choice"] == ("required" if choice is ToolChoice.REQUIRED else named)
        messages = body["messages"]
        assert isinstance(messages, list) and len(messages) == 2


def test_words_in_answer_to_a_probe_are_no_call() -> None:
    scenario = make_scenario(a_workload("probe"))
    server = Server(lambda *_: wire.answer_stream("I would rather talk."))

    played = run_in_no_time(player_of(scenario, server).play(0))

    assert played.judgement.outcome is Outcome.NO_TOOL


# strict


@pytest.mark.parametrize("scenario", ["tool-dialogue", "probe", "long-context"])
def test_strict_closes_the_schema_of_each_tool_and_is_another_dialogue(scenario: str) -> None:
    plain = make_scenario(a_workload(scenario)).dialogue(1)
    strict = make_scenario(a_workload(scenario, strict=True)).dialogue(1)

    assert strict.key != plain.key
    assert strict.rounds == plain.rounds
    for tool in strict.tools:
        function: Any = tool["function"]
        schema = function["parameters"]
        assert function["strict"] is True
        assert schema["additionalProperties"] is False
        assert set(schema["required"]) == set(schema["properties"])


# long-context


@given(index=st.integers(0, 5_000), context=st.sampled_from([0, 1_000, 20_000]))
@settings(max_examples=25, deadline=None)
def test_each_passphrase_stands_once_in_the_text_and_is_asked_for(index: int, context: int) -> None:
    dialogue = make_scenario(a_workload("long-context", context_tokens=context)).dialogue(index)

    for number, due in enumerate(right_calls(dialogue), start=1):
        sentence = f"The passphrase of errand {number} is {due.arguments['passphrase']}."
        assert dialogue.system.count(sentence) == 1
    for tool in dialogue.tools:
        function: Any = tool["function"]
        assert "passphrase" in function["parameters"]["required"]


@given(index=st.integers(0, 5_000), context=st.sampled_from([1_000, 8_000]))
@settings(max_examples=25, deadline=None)
def test_the_first_request_is_as_long_as_was_asked_with_its_tools_and_its_question(
    index: int, context: int
) -> None:
    dialogue = make_scenario(a_workload("long-context", context_tokens=context)).dialogue(index)

    tools = json.dumps(dialogue.tools, ensure_ascii=False)
    question: Any = dialogue.rounds[0].steps[0].say[0]["content"]
    words = len(dialogue.system.split()) + len(question.split())
    # About 0.3 tokens a character of JSON, and a little more than one a word.
    assert 0.9 * context < 0.3 * len(tools) + 1.12 * words < 1.1 * context


def test_a_wrong_passphrase_is_wrong() -> None:
    scenario = make_scenario(a_workload("long-context", context_tokens=500))
    (due, *_) = right_calls(scenario.dialogue(0))
    values = {**due.arguments, "passphrase": "some other words"}
    server = Server(lambda *_: wire.call_stream(due.name, dict(values)))

    assert run_in_no_time(player_of(scenario, server).play(0)).judgement.outcome is Outcome.WRONG


# replay


def test_the_engineer_s_own_text_stands_first() -> None:
    scenario = make_scenario(a_workload("tool-dialogue", system="Call a tool, always."))

    assert scenario.dialogue(0).system.startswith("Call a tool, always.\n\n")
    probe = make_scenario(a_workload("probe", system="Call a tool, always.")).dialogue(0)
    recorded = probe.rounds[0].steps[0].recorded
    assert recorded is not None
    assert str(recorded[0]["content"]).startswith("Call a tool, always.")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"scenario": "replay"}, "workload.replay is missing"),
        (
            {"scenario": "replay", "replay": ReplayFile(file="f"), "system": "x"},
            "cannot stand before what was recorded",
        ),
        ({"scenario": "probe", "replay": ReplayFile(file="f")}, "only the scenario replay"),
        (
            {"scenario": "tool-dialogue", "tool_choice": ToolChoice.NAMED},
            "tool-dialogue sends none of ours, only a probe does",
        ),
        (
            {"scenario": "long-context", "tool_choice": ToolChoice.NAMED},
            "long-context sends none of ours, only a probe does",
        ),
        ({"scenario": "no.such.module:Thing"}, "no.such.module:Thing gives no scenario"),
        ({"scenario": "json:loads"}, "json:loads gives no scenario"),
    ],
)
def test_what_does_not_fit_together_is_said(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make_scenario(Workload(sessions=4, **fields))

    assert sentence in str(caught.value)


class OneQuestion:
    """A scenario as a user might write it."""

    name = "one-question"

    def __init__(self, workload: Workload) -> None:
        self._seed = workload.seed

    def dialogue(self, session_index: int) -> Dialogue:
        from runner.sessions.chat_request import user_message
        from runner.sessions.dialogue import Round

        step = Step(say=(user_message(f"Question {self._seed}/{session_index}?"),))
        return Dialogue(key=str(session_index), system="", tools=(), rounds=(Round((step,)),))


def test_a_scenario_of_one_s_own_is_named_by_its_module() -> None:
    path = "tests.runner.sessions.test_scenarios:OneQuestion"
    scenario = make_scenario(a_workload(path, seed=5))
    server = Server(lambda *_: wire.answer_stream("An answer."))

    played = run_in_no_time(player_of(scenario, server).play(2))

    assert played.judgement.outcome is Outcome.DONE
    assert server.bodies[0]["messages"] == [{"role": "user", "content": "Question 5/2?"}]
    assert "tools" not in server.bodies[0]
