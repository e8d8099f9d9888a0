"""Which scenarios exist; it picks one by its name and knows nothing of what is said in it."""

from typing import Protocol

from runner.campaign.campaign import ScenarioName, Workload
from runner.sessions.dialogue import Dialogue
from runner.sessions.tool_dialogue import ToolDialogue


class Scenario(Protocol):
    """A source of dialogues: the same index gives the same dialogue, in every arm and process."""

    @property
    def name(self) -> str: ...

    def dialogue(self, session_index: int) -> Dialogue: ...


def make_scenario(workload: Workload) -> Scenario:
    """The scenario that the workload names.

    Raises:
        ConfigError: it cannot be played with these settings.
    """
    match workload.scenario:
        case ScenarioName.TOOL_DIALOGUE:
            return ToolDialogue(
                seed=workload.seed, rounds=workload.rounds, context_tokens=workload.context_tokens
            )
