"""Which scenarios exist; it picks one by its name and knows nothing of what is said in it."""

from dataclasses import replace
from pathlib import Path
from typing import Protocol

from runner.campaign.campaign import Campaign, ScenarioName, Workload
from runner.errors import ConfigError
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
    if workload.scenario is ScenarioName.REPLAY:
        return _replay(workload, folder)
    if workload.replay is not None:
        raise ConfigError("workload.replay: only the scenario replay plays a file")
    context_tokens = workload.context_tokens
    match workload.scenario:
        case ScenarioName.TOOL_DIALOGUE:
            return _introduced(_errands(workload, context_tokens), workload)
        case ScenarioName.PROBE:
            errands = _introduced(_errands(workload, context_tokens), workload)
            return Probe(errands, workload.tool_choice)
        case ScenarioName.LONG_CONTEXT:
            found = LongContext(_errands(workload, 0), context_tokens=context_tokens)
            return _introduced(found, workload)
        case path:
            return _introduced(own_scenario(path, workload, folder=folder), workload)


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
    if workload.system is not None:
        raise ConfigError("workload.system cannot stand before what was recorded: leave it out")
    return read_replay(folder / workload.replay.file, context=workload.replay.context)
