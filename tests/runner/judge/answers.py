"""Answers of a server as tests write them, and one call that judges them."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from db.read_times import ReadTimes
from db.vocabulary import ErrorReason, TransportEnd
from runner.judge.json_values import Json
from runner.judge.record import Due, PriorMessage, ToolSpec, TurnContext, TurnRecord
from runner.judge.turn_reading import JudgedTurn, judge_turn

WEATHER = ToolSpec("get_weather", {"city": "string", "days": "integer"}, ("city",))
READ_FILE = ToolSpec("read_file", {"path": "string"}, ("path",))
WRITE_FILE = ToolSpec("write_file", {"path": "string", "content": "string"}, ("path", "content"))
LIST_FILES = ToolSpec("list_files", {}, ())

ASKED_FOR_WEATHER = "What is the weather in Oslo tomorrow? Use the tool."
HERMES_CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'


def delta(fields: Mapping[str, Any] | None, finish: Json = None, **rest: Any) -> dict[str, Any]:
    """One chunk with one choice."""
    return {
        "id": "x",
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": fields, "finish_reason": finish}],
        **rest,
    }


def call_delta(
    arguments: str | None = None, *, name: str | None = None, **rest: Any
) -> dict[str, Any]:
    """One chunk with one fragment of a call; `index` is 0 unless given, None leaves it out."""
    index = rest.pop("index", 0)
    function = {} if name is None else {"name": name}
    if arguments is not None:
        function["arguments"] = arguments
    entry = {"function": function, **rest}
    if index is not None:
        entry["index"] = index
    return delta({"tool_calls": [entry]})


def stream(*chunks: Mapping[str, Any] | str, done: bool = True) -> bytes:
    """An event stream of the chunks; a text is taken as it stands."""
    lines = [chunk if isinstance(chunk, str) else json.dumps(chunk) for chunk in chunks]
    events = [f"data: {line}\n\n" for line in lines]
    return "".join([*events, "data: [DONE]\n\n" if done else ""]).encode("utf-8", "surrogatepass")


def text_stream(text: str, *, finish: str | None = "stop", reasoning: str = "") -> bytes:
    """An answer of a reasoning and a content, cut into pieces of three characters."""
    chunks = [delta({"role": "assistant", "content": ""})]
    chunks += [delta({"reasoning_content": piece}) for piece in _pieces(reasoning)]
    chunks += [delta({"content": piece}) for piece in _pieces(text)]
    return stream(*chunks, delta({}, finish))


def whole_body(finish: Json = "stop", **message: Any) -> bytes:
    """A plain, not streamed, answer."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return json.dumps({"object": "chat.completion", "choices": [choice]}).encode()


def whole_call(name: str, arguments: Json) -> dict[str, Any]:
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}


def judge(
    body: bytes,
    *,
    tools: Iterable[ToolSpec] = (WEATHER,),
    tool_expected: bool = True,
    tool_choice: str = "auto",
    user: str = ASKED_FOR_WEATHER,
    prior: Iterable[PriorMessage] = (),
    due: Due | None = None,
    canary: str | None = None,
    other_canaries: tuple[str, ...] = (),
    model: str | None = None,
    status: int | None = 200,
    end: TransportEnd = TransportEnd.CLEAN_EOF,
    deadline: ErrorReason | None = None,
    reads: tuple[tuple[float, int], ...] = (),
    ended_s: float | None = None,
    is_stream: bool = True,
    was_resent: bool = False,
) -> JudgedTurn:
    record = TurnRecord(
        stream=is_stream,
        http_status=status,
        content_type="text/event-stream" if is_stream else "application/json",
        transport_end=end,
        body=body,
        reads=ReadTimes.of(reads),
        ended_s=ended_s,
        deadline=deadline,
        was_resent=was_resent,
    )
    context = TurnContext(
        tools=tuple(tools),
        tool_expected=tool_expected,
        tool_choice=tool_choice,
        user=user,
        prior=tuple(prior),
        due=due,
        canary=canary,
        other_canaries=other_canaries,
        model=model,
    )
    return judge_turn(record, context)


def judge_text(text: str, **context: Any) -> JudgedTurn:
    return judge(text_stream(text), **context)


def _pieces(text: str) -> list[str]:
    return [text[start : start + 3] for start in range(0, len(text), 3)]
