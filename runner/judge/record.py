"""What one turn looks like to the judge: the bytes that came back, and what was asked for.

Built by the sessions from the wire, by recorded cases from a file, and by a new judgement from the
store. It knows nothing about how the bytes are to be read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Self

from db.read_times import ReadTimes
from db.vocabulary import DueKind, ErrorReason, TransportEnd
from runner.judge.json_values import Json, JsonObject


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One offered function. `properties` maps a parameter to its JSON type name, "" if untyped."""

    name: str
    properties: Mapping[str, str]
    required: tuple[str, ...]

    def to_json(self) -> JsonObject:
        return {
            "name": self.name,
            "properties": dict(self.properties),
            "required": list(self.required),
        }

    @classmethod
    def from_json(cls, value: Json) -> Self:
        """Reads `to_json`'s form, and a request's; raises ValueError with one sentence else."""
        fields = _object(value, what="a tool")
        if "function" in fields:
            return cls.from_openai(value)
        kinds = _object(fields.get("properties", {}), what="the properties of a tool")
        return cls(
            name=_text(fields.get("name"), what="the name of a tool"),
            properties={
                key: kind if isinstance(kind, str) else _type_name(kind)
                for key, kind in kinds.items()
            },
            required=_texts(fields.get("required"), what="required"),
        )

    @classmethod
    def from_openai(cls, value: Json) -> Self:
        """Reads one entry of a request's `tools`: {"type": "function", "function": {...}}."""
        function = _object(_object(value, what="a tool").get("function"), what="function")
        parameters = _object(function.get("parameters") or {}, what="parameters")
        properties = _object(parameters.get("properties") or {}, what="properties")
        return cls(
            name=_text(function.get("name"), what="the name of a tool"),
            properties={key: _type_name(schema) for key, schema in properties.items()},
            required=_texts(parameters.get("required"), what="required"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord:
    """One answer as it came: `body` holds every byte that was read, also of a cut answer."""

    stream: bool
    http_status: int | None
    content_type: str
    transport_end: TransportEnd
    body: bytes
    reads: ReadTimes = field(default_factory=ReadTimes)
    """Empty where nobody kept them."""
    ended_s: float | None = None
    deadline: ErrorReason | None = None
    """Which of our own deadlines ended the turn, where one did."""
    was_resent: bool = False
    """The request met a kept connection that the server had closed; this is the second one's."""


@dataclass(frozen=True, slots=True)
class DueCall:
    """The dialogue's truth: this turn must call `name` with exactly these argument values."""

    name: str
    arguments: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class DueAnswer:
    """The dialogue's truth: the answer must hold each of these texts, white space apart."""

    must_contain: tuple[str, ...]


Due = DueCall | DueAnswer


def due_to_json(due: Due | None) -> JsonObject:
    """`{}` where the dialogue knows nothing, else an object with its `kind`."""
    match due:
        case DueCall(name, arguments):
            return {"kind": DueKind.CALL.value, "name": name, "arguments": dict(arguments)}
        case DueAnswer(must_contain):
            return {"kind": DueKind.ANSWER.value, "must_contain": list(must_contain)}
        case None:
            return {}


def due_from_json(value: Json) -> Due | None:
    """Reads `due_to_json`'s form; raises ValueError with one sentence for anything else."""
    fields = _object(value, what="due") if value is not None else {}
    match fields.get("kind"):
        case None:
            return None
        case DueKind.CALL:
            arguments = _object(fields.get("arguments"), what="the arguments of the due call")
            return DueCall(_text(fields.get("name"), what="the name of the due call"), arguments)
        case DueKind.ANSWER:
            return DueAnswer(_texts(fields.get("must_contain"), what="must_contain"))
        case other:
            raise ValueError(f"due has the kind {other!r}; allowed: call, answer")


@dataclass(frozen=True, slots=True)
class PriorMessage:
    """A message before this turn: its text, or the calls an assistant made as (name, arguments)."""

    role: str
    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> JsonObject:
        return {"role": self.role, "text": self.text, "calls": [list(call) for call in self.calls]}

    @classmethod
    def from_json(cls, value: Json) -> Self:
        fields = _object(value, what="a prior message")
        calls = fields.get("calls") or []
        if not isinstance(calls, list):
            raise ValueError(f"calls must be a list, found {calls!r}")
        pairs = [_texts(call, what="a prior call") for call in calls]
        return cls(
            role=_text(fields.get("role"), what="the role of a prior message"),
            text=_text(fields.get("text", ""), what="the text of a prior message"),
            calls=tuple((pair[0], pair[1]) for pair in pairs if len(pair) == 2),
        )


NAMED_FUNCTION: Final = "named"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnContext:
    """What was asked for in this turn, and what only this dialogue can know about the answer.

    `tool_choice` is the word of the request, or `NAMED_FUNCTION` where it names one.
    """

    tools: tuple[ToolSpec, ...] = ()
    tool_choice: str = "auto"
    tool_expected: bool = False
    user: str = ""
    prior: tuple[PriorMessage, ...] = ()
    canary: str | None = None
    """Text that must come back verbatim in this turn."""
    other_canaries: tuple[str, ...] = ()
    """Texts of other sessions that must not come back."""
    round_index: int = 0
    max_rounds: int | None = None
    ends_round: bool | None = None
    """Whether a right answer completes the round; None in records that do not say."""
    due: Due | None = None
    model: str | None = None
    """The served model, where known: its own markup families are tried first."""

    def to_json(self) -> JsonObject:
        """All but `due`, which the store keeps apart."""
        return {
            "tools": [tool.to_json() for tool in self.tools],
            "tool_choice": self.tool_choice,
            "tool_expected": self.tool_expected,
            "user": self.user,
            "prior": [message.to_json() for message in self.prior],
            "canary": self.canary,
            "other_canaries": list(self.other_canaries),
            "round_index": self.round_index,
            "max_rounds": self.max_rounds,
            "ends_round": self.ends_round,
            "model": self.model,
        }

    @classmethod
    def from_json(cls, value: Json, due: Json = None) -> Self:
        """Reads `to_json`'s form and `due_to_json`'s; raises ValueError for anything else."""
        fields = _object(value, what="context")
        return cls(
            tools=tuple(ToolSpec.from_json(tool) for tool in _items(fields.get("tools"))),
            tool_choice=_text(fields.get("tool_choice", "auto"), what="tool_choice"),
            tool_expected=fields.get("tool_expected") is True,
            user=_text(fields.get("user", ""), what="user"),
            prior=tuple(PriorMessage.from_json(item) for item in _items(fields.get("prior"))),
            canary=_optional_text(fields.get("canary"), what="canary"),
            other_canaries=_texts(fields.get("other_canaries"), what="other_canaries"),
            round_index=_count(fields.get("round_index"), what="round_index") or 0,
            max_rounds=_count(fields.get("max_rounds"), what="max_rounds"),
            ends_round=_optional_truth(fields.get("ends_round"), what="ends_round"),
            due=due_from_json(due),
            model=_optional_text(fields.get("model"), what="model"),
        )


def _type_name(schema: Json) -> str:
    kind = schema.get("type") if isinstance(schema, dict) else None
    if isinstance(kind, list):
        return "|".join(name for name in kind if isinstance(name, str))
    return kind if isinstance(kind, str) else ""


def _object(value: Json, *, what: str) -> JsonObject:
    if not isinstance(value, dict):
        raise ValueError(f"{what} must be an object, found {value!r}")
    return value


def _items(value: Json) -> list[Json]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(f"expected a list, found {value!r}")
    return value


def _text(value: Json, *, what: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{what} must be a text, found {value!r}")
    return value


def _optional_text(value: Json, *, what: str) -> str | None:
    return None if value is None else _text(value, what=what)


def _optional_truth(value: Json, *, what: str) -> bool | None:
    if value is not None and not isinstance(value, bool):
        raise ValueError(f"{what} must be true or false, found {value!r}")
    return value


def _texts(value: Json, *, what: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise ValueError(f"{what} must be a list of texts, found {value!r}")
    return tuple(_text(item, what=f"each entry of {what}") for item in value)


def _count(value: Json, *, what: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{what} must be a whole number, found {value!r}")
    return value
