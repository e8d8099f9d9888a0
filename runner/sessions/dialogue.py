"""What one session will say and what it has a right to hear; it knows no server and no wire."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from runner.judge.json_values import Json, JsonObject
from runner.judge.record import Due


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One request, and what is right for its answer; `due` is None where nobody knows.

    `say` is added to the conversation before it. `recorded` is sent instead of the conversation as
    it went: so every arm sees the same context. `tool_result` is what a called tool gives.
    `request` holds fields that stand over those of the run, `tools` stands over the dialogue's.
    """

    say: tuple[JsonObject, ...] = ()
    due: Due | None = None
    tool_result: str = ""
    recorded: tuple[JsonObject, ...] | None = None
    request: Mapping[str, Json] = field(default_factory=dict)
    tools: tuple[JsonObject, ...] | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """Steps that belong together: it is completed when the last one is answered rightly."""

    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The script of one session. `key` names it in every arm; `tools` are OpenAI definitions."""

    key: str
    system: str
    tools: tuple[JsonObject, ...]
    rounds: tuple[Round, ...]
