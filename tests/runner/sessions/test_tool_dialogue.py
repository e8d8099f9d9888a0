import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.campaign.campaign import Workload
from runner.errors import ConfigError
from runner.judge.record import DueAnswer, DueCall
from runner.sessions.dialogue import Dialogue, Round
from runner.sessions.scenario import make_scenario
from runner.sessions.tool_dialogue import ToolDialogue

KNOWN = (
    "please export with battery = evening globe peach; mint = koala.",
    "nutmeg country cargo",
)
USER = re.compile(r"please (?P<keyword>\w+) with (?P<wishes>.+)\.")


def a_dialogue(index: int = 0, *, seed: int = 7, rounds: int = 4, context: int = 0) -> Dialogue:
    return ToolDialogue(seed=seed, rounds=rounds, context_tokens=context).dialogue(index)


def functions(dialogue: Dialogue) -> list[dict[str, object]]:
    return [tool["function"] for tool in dialogue.tools]  # type: ignore[misc]


def tokens_on_the_testbed(dialogue: Dialogue) -> int:
    """The first prompt in the testbed's template, written out and counted word by word."""
    head = ["<bos>", *dialogue.system.split(), "\n"]
    formats = ["## Format\n", "<D", "section", "<D", "invoke", "<D", "parameter", "\n"]
    tools = ["## Tools\n"]
    for function in functions(dialogue):
        parameters = list(function["parameters"]["properties"])  # type: ignore[index]
        tools += ["### ", "keyword", ": ", *str(function["name"]).split("_"), "("]
        for position, parameter in enumerate(parameters):
            tools += [", "] * (position > 0) + [parameter, ":string"]
        tools += [")\n"]
    words = re.findall(r"[\w]+|[=;.]", said(dialogue.rounds[0]))
    return len(head + formats + tools + ["\n", "<user>", *words, "<asst>"]) - 1


def said(played: Round) -> str:
    (message,) = played.steps[0].say
    return str(message["content"])


def test_the_same_seed_and_index_give_the_same_dialogue() -> None:
    assert a_dialogue(3) == a_dialogue(3)
    assert a_dialogue(3) != a_dialogue(4)
    assert a_dialogue(3, seed=7) != a_dialogue(3, seed=8)


def test_a_known_dialogue_has_not_changed() -> None:
    first = a_dialogue(0, seed=0).rounds[0]

    assert (said(first), first.steps[0].tool_result) == KNOWN


def test_the_context_size_leaves_the_errands_as_they_are() -> None:
    short, long = a_dialogue(context=0), a_dialogue(context=2_000)

    assert short.rounds == long.rounds
    assert short.tools == long.tools
    assert len(long.system.split()) > len(short.system.split())


@given(index=st.integers(0, 10_000), seed=st.integers(0, 2**31))
@settings(max_examples=60, deadline=None)
def test_every_request_names_one_tool_and_all_that_its_right_call_needs(
    index: int, seed: int
) -> None:
    dialogue = a_dialogue(index, seed=seed)
    by_keyword = {str(f["description"])[len("Call this to ") : -1]: f for f in functions(dialogue)}

    for played in dialogue.rounds:
        call, answer = played.steps
        match = USER.fullmatch(said(played))
        assert match is not None
        wishes = dict(wish.split(" = ") for wish in match["wishes"].split("; "))
        function = by_keyword[match["keyword"]]
        assert call.due == DueCall(str(function["name"]), wishes)
        assert sorted(wishes) == sorted(function["parameters"]["required"])  # type: ignore[index]
        assert answer.due == DueAnswer((call.tool_result,))


@given(index=st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_no_word_of_a_dialogue_is_used_twice(index: int) -> None:
    dialogue = a_dialogue(index, rounds=8)
    words: list[str] = []
    for function in functions(dialogue):
        words += str(function["name"]).split("_")
        words += [str(function["description"]).split()[-1].rstrip(".")]
        words += list(function["parameters"]["properties"])  # type: ignore[index]
    for played in dialogue.rounds:
        call, _ = played.steps
        assert isinstance(call.due, DueCall)
        words += " ".join(str(value) for value in call.due.arguments.values()).split()
        words += call.tool_result.split()

    assert len(words) == len(set(words))
    assert not set(words) & set(dialogue.system.split())


@pytest.mark.parametrize("context_tokens", [250, 300, 1_000, 20_000])
def test_the_first_prompt_has_the_size_that_was_asked_for(context_tokens: int) -> None:
    for index in range(40):
        tokens = tokens_on_the_testbed(a_dialogue(index, context=context_tokens))
        assert abs(tokens - context_tokens) <= 0.1 * context_tokens


def test_a_size_that_is_too_small_gives_the_smallest_prompt() -> None:
    assert a_dialogue(context=0) == a_dialogue(context=50)
    assert len(a_dialogue(context=0).system.split()) == 40


def test_tools_are_openai_definitions() -> None:
    for tool in a_dialogue().tools:
        function = tool["function"]
        assert tool["type"] == "function"
        assert isinstance(function, dict)
        assert re.fullmatch("[a-z]+_[a-z]+", str(function["name"]))
        json.dumps(tool)


def test_a_scenario_is_made_from_a_workload() -> None:
    scenario = make_scenario(Workload(sessions=80, rounds=2, context_tokens=300, seed=5))

    assert scenario.name == "tool-dialogue"
    assert scenario.dialogue(9) == a_dialogue(9, seed=5, rounds=2, context=300)


def test_a_dialogue_offers_as_many_tools_as_are_asked_for_and_is_another_one_then() -> None:
    given = ToolDialogue(seed=1, rounds=2, context_tokens=0)
    lonely = ToolDialogue(seed=1, rounds=2, context_tokens=0, tools=1)

    assert {len(given.dialogue(index).tools) for index in range(30)} == {3, 4, 5}
    assert {len(lonely.dialogue(index).tools) for index in range(30)} == {1}
    assert lonely.dialogue(0).key != given.dialogue(0).key


def test_more_rounds_than_there_are_words_for_are_refused_in_a_sentence() -> None:
    with pytest.raises(ConfigError, match=r"workload\.rounds: found 900; .* 1 to 65 rounds"):
        make_scenario(Workload(sessions=80, rounds=900))
