"""The scenario `probe`: each request must be answered by a call, because it says so itself.

The errands of `tool-dialogue`, one request a round, each in a conversation of its own. A server
that is told `tool_choice: required` and answers in words has a fault, whatever its model can do.
"""

from dataclasses import replace
from typing import Protocol

from runner.campaign.campaign import ToolChoice
from runner.judge.json_values import JsonObject
from runner.judge.record import DueCall
from runner.sessions.chat_request import system_message
from runner.sessions.dialogue import Dialogue, Round, Step


class Errands(Protocol):
    """Dialogues of rounds that begin with a request for a call."""

    def dialogue(self, session_index: int) -> Dialogue: ...


class Probe:
    """Dialogues by index, made of those of `errands`."""

    name = "probe"

    def __init__(self, errands: Errands, tool_choice: ToolChoice) -> None:
        self._errands = errands
        self._tool_choice = tool_choice

    def dialogue(self, session_index: int) -> Dialogue:
        dialogue = self._errands.dialogue(session_index)
        rounds = tuple(self._round(dialogue.system, each.steps[0]) for each in dialogue.rounds)
        return replace(dialogue, key=f"{self.name}/{dialogue.key}", rounds=rounds)

    def _round(self, system: str, call: Step) -> Round:
        alone = (system_message(system), *call.say)
        return Round((replace(call, recorded=alone, request={"tool_choice": self._choice(call)}),))

    def _choice(self, call: Step) -> str | JsonObject:
        if self._tool_choice is ToolChoice.REQUIRED:
            return "required"
        assert isinstance(call.due, DueCall)
        return {"type": "function", "function": {"name": call.due.name}}
