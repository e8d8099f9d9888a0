"""What one session will say and what it has a right to hear; it knows no server and no wire."""

from dataclasses import dataclass

from runner.judge.json_values import JsonObject
from runner.judge.record import DueAnswer, DueCall


@dataclass(frozen=True, slots=True)
class Round:
    """One errand: a request, the call that is right for it, the tool's result, the right answer."""

    user: str
    call: DueCall
    tool_result: str
    answer: DueAnswer


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The script of one session. `key` names it in every arm; `tools` are OpenAI definitions."""

    key: str
    system: str
    tools: tuple[JsonObject, ...]
    rounds: tuple[Round, ...]
