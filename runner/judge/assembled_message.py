"""The answer of one turn as a right reader sees it, whichever way it was sent."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from runner.judge.flags import Flag
from runner.judge.json_values import JsonObject, whole_characters


@dataclass(frozen=True, slots=True)
class AssembledCall:
    """One structured call; `arguments` is the text as sent, valid JSON or not."""

    name: str
    arguments: str
    id: str = ""
    has_object_arguments: bool = False
    """The arguments came as a JSON object where the protocol has a string."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as billed; None where the server did not say."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class InBandError:
    """An error that came in the body, whatever the status was."""

    message: str
    kind: str = ""
    code: str = ""

    def in_whole_characters(self) -> "InBandError":
        return InBandError(*map(whole_characters, (self.message, self.kind, self.code)))


@dataclass(frozen=True, slots=True, kw_only=True)
class AssembledMessage:
    """`done` tells that [DONE] came, `finish_reason` is the last one sent."""

    content: str = ""
    reasoning: str = ""
    refusal: str = ""
    tool_calls: tuple[AssembledCall, ...] = ()
    finish_reason: str | None = None
    finish_reasons: tuple[str, ...] = ()
    done: bool = False
    usage: Usage = field(default_factory=Usage)
    cached_tokens: Mapping[str, int] = field(default_factory=dict)
    """By where the prefix was found (device, host, storage), and `total` as the usage says."""
    in_band_error: InBandError | None = None
    has_choices: bool = False
    ends_inside_event: bool = False
    """The body stopped in the middle of an event that could not be read."""
    faults: tuple[Flag, ...] = ()
    """What was against the protocol, though it could be read."""

    def to_json(self) -> JsonObject:
        """What the store keeps as `got`."""
        error = self.in_band_error
        return {
            "content": self.content,
            "reasoning": self.reasoning,
            "refusal": self.refusal,
            "tool_calls": [
                {"name": call.name, "arguments": call.arguments, "id": call.id}
                for call in self.tool_calls
            ],
            "finish_reason": self.finish_reason,
            "done": self.done,
            "in_band_error": None
            if error is None
            else {"message": error.message, "kind": error.kind, "code": error.code},
        }
