"""Which scenarios exist; it picks one by its name and knows nothing of what is said in it."""

from dataclasses import replace
from pathlib import Path
from typing import Protocol

from runner.campaign.campaign import Campaign, ScenarioName, ToolChoice, Workload
from runner.errors import ConfigError
from runner.judge.json_values import JsonObject
from runner.sessions.dialogue import Dialogue
from runner.sessions.long_context import LongContext
from runner.sessions.own_scenario import own_scenario
from runner.sessions.probe import Probe
from runner.sessions.replay import read_replay
from runner.sessions.tool_dialogue import ToolDialogue


class Scenario(Protocol):
    """A source of dialogues: the same index gives the same dialogue, in every arm and process."""

    @property
    def name(self) -> str: ...

    def dialogue(self, session_index: int) -> Dialogue: ...


def scenario_of(campaign: Campaign) -> Scenario:
    """As `make_scenario`; files that the workload names lie beside the campaign's own."""
    return make_scenario(campaign.workload, folder=Path(campaign.source_path).parent)


def make_scenario(workload: Workload, *, folder: Path = Path()) -> Scenario:
    """The scenario that the workload names; files that it names lie in `folder`.

    Raises:
        ConfigError: it cannot be played with these settings.
    """
    _refuse_unsaid_tool_choice(workload)
    if workload.scenario is ScenarioName.REPLAY:
        return _replay(workload, folder)
    if workload.replay is not None:
        raise ConfigError("workload.replay: only the scenario replay plays a file")
    if workload.strict and not isinstance(workload.scenario, ScenarioName):
        raise ConfigError(f"workload.strict: the tools of {workload.scenario} are its own to write")
    context_tokens = workload.context_tokens
    match workload.scenario:
        case ScenarioName.TOOL_DIALOGUE:
            return _introduced(_demanding(_errands(workload, context_tokens), workload), workload)
        case ScenarioName.PROBE:
            errands = _introduced(_errands(workload, context_tokens), workload)
            return _demanding(Probe(errands, workload.tool_choice), workload)
        case ScenarioName.LONG_CONTEXT:
            found = LongContext(_errands(workload, 0), context_tokens=context_tokens)
            return _introduced(_demanding(found, workload), workload)
        case path:
            return _introduced(own_scenario(path, workload, folder=folder), workload)


def _refuse_unsaid_tool_choice(workload: Workload) -> None:
    """`required` is the default, and so says nothing of what was wanted."""
    others = set(ScenarioName) - {ScenarioName.PROBE}
    if workload.tool_choice is ToolChoice.NAMED and workload.scenario in others:
        raise ConfigError(
            f"workload.tool_choice: {workload.scenario} sends none of ours, only a probe does: "
            "leave it out, or take `scenario: probe`"
        )


class _Introduced:
    """A scenario whose conversations begin with a text of the engineer's."""

    def __init__(self, scenario: Scenario, text: str) -> None:
        self.name = scenario.name
        self._scenario = scenario
        self._text = text

    def dialogue(self, session_index: int) -> Dialogue:
        dialogue = self._scenario.dialogue(session_index)
        system = f"{self._text}\n\n{dialogue.system}" if dialogue.system else self._text
        return replace(dialogue, system=system)


def _introduced(scenario: Scenario, workload: Workload) -> Scenario:
    return scenario if workload.system is None else _Introduced(scenario, workload.system)


class _Strict:
    """A scenario whose calls a server is to force into the schemas of their tools.

    OpenAI takes `strict` only where a schema allows nothing further and requires all it names.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.name = scenario.name
        self._scenario = scenario

    def dialogue(self, session_index: int) -> Dialogue:
        dialogue = self._scenario.dialogue(session_index)
        tools = tuple(map(_strict, dialogue.tools))
        return replace(dialogue, key=f"{dialogue.key}/strict", tools=tools)


def _strict(tool: JsonObject) -> JsonObject:
    function = tool["function"]
    assert isinstance(function, dict)
    parameters = function["parameters"]
    assert isinstance(parameters, dict)
    closed: JsonObject = {**parameters, "additionalProperties": False}
    return {**tool, "function": {**function, "strict": True, "parameters": closed}}


def _demanding(scenario: Scenario, workload: Workload) -> Scenario:
    return _Strict(scenario) if workload.strict else scenario


def _errands(workload: Workload, context_tokens: int) -> ToolDialogue:
    return ToolDialogue(
        seed=workload.seed,
        rounds=workload.rounds,
        context_tokens=context_tokens,
        tools=workload.tools,
    )


def _replay(workload: Workload, folder: Path) -> Scenario:
    if workload.replay is None:
        raise ConfigError("workload.replay is missing: the scenario replay needs a file")
    if workload.strict:
        raise ConfigError("workload.strict: the tools of a replay are those that were recorded")
    if workload.system is not None:
        raise ConfigError("workload.system cannot stand before what was recorded: leave it out")
    return read_replay(folder / workload.replay.file, context=workload.replay.context)
