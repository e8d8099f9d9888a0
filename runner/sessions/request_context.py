"""What the judge must know of a request, read off the request's own body."""

from collections.abc import Sequence

from runner.judge.json_values import Json, JsonObject
from runner.judge.record import NAMED_FUNCTION, Due, DueCall, PriorMessage, ToolSpec, TurnContext


def turn_context(
    body: JsonObject,
    *,
    due: Due | None,
    round_index: int,
    max_rounds: int | None,
    ends_round: bool | None = None,
) -> TurnContext:
    """The context of the turn that `body` asks for. Raises ValueError where it is no chat request.

    The system text is left out: it is filler, and long.
    """
    messages = messages_of(body)
    user = _position_of_last_user(messages)
    model = body.get("model")
    return TurnContext(
        tools=tuple(ToolSpec.from_openai(tool) for tool in _objects(body.get("tools"))),
        tool_choice=_tool_choice(body.get("tool_choice")),
        tool_expected=isinstance(due, DueCall),
        user="" if user is None else message_text(messages[user]),
        prior=prior_messages(messages),
        round_index=round_index,
        max_rounds=max_rounds,
        ends_round=ends_round,
        due=due,
        model=model if isinstance(model, str) else None,
    )


def messages_of(body: JsonObject) -> list[JsonObject]:
    return _objects(body.get("messages"))


def prior_messages(messages: Sequence[JsonObject]) -> tuple[PriorMessage, ...]:
    """All but the system text and the last thing that the user said."""
    user = _position_of_last_user(messages)
    return tuple(
        PriorMessage(
            role=str(message.get("role", "")), text=message_text(message), calls=_calls(message)
        )
        for position, message in enumerate(messages)
        if position != user and message.get("role") != "system"
    )


def _position_of_last_user(messages: Sequence[JsonObject]) -> int | None:
    positions = [at for at, message in enumerate(messages) if message.get("role") == "user"]
    return positions[-1] if positions else None


def message_text(message: JsonObject) -> str:
    """Its content, or the texts of the parts that this consists of; "" where it has none."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _calls(message: JsonObject) -> tuple[tuple[str, str], ...]:
    functions = [call.get("function") for call in _objects(message.get("tool_calls"))]
    return tuple(
        (str(function.get("name", "")), str(function.get("arguments", "")))
        for function in functions
        if isinstance(function, dict)
    )


def _tool_choice(value: Json) -> str:
    if isinstance(value, dict):
        return NAMED_FUNCTION
    return value if isinstance(value, str) else "auto"


def _objects(value: Json) -> list[JsonObject]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(f"expected a list in a chat request, found {value!r}")
    return [item for item in value if isinstance(item, dict)]
