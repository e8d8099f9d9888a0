"""The scenario `replay`: an engineer's own recorded chat requests, played again in every arm.

Each line of the file is one request body, or an object with `request` and, where they are known,
`session` (which conversation it belongs to), `due` (the right answer). Without `session`, a request
continues the conversation whose messages it begins with.
"""

import hashlib
import heapq
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import NoReturn

from runner.campaign.campaign import ReplayContext
from runner.errors import ConfigError
from runner.judge.json_values import Json, JsonObject, NotJson, parse_json
from runner.judge.record import Due, due_from_json
from runner.sessions.dialogue import Dialogue, Round, Step
from runner.sessions.request_check import check_request
from runner.sessions.request_context import message_text

_OURS = frozenset({"model", "messages", "tools", "stream", "stream_options", "rid", "request_id"})
_KEYS = frozenset({"request", "session", "due"})


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """One line of the file. `messages` is the whole conversation up to this request.

    `place` is that of the line, as sentences name it.
    """

    place: str
    messages: tuple[JsonObject, ...]
    tools: tuple[JsonObject, ...]
    fields: Mapping[str, Json]
    due: Due | None


@dataclass(slots=True)
class _Conversation:
    """`end` is the digest of all messages of its last request."""

    number: int
    end: bytes = b""
    requests: list[RecordedRequest] = field(default_factory=list)


class _Conversations:
    """The conversations found so far, which are looked up by what their last requests say: files
    of many thousands of lines are read without holding each line against all before it.
    """

    def __init__(self) -> None:
        self.found: list[_Conversation] = []
        self._named: dict[str, _Conversation] = {}
        self._numbers_by_end: defaultdict[bytes, list[int]] = defaultdict(list)

    def add(self, session: str | None, request: RecordedRequest) -> None:
        ends = _digests(request.messages)
        known = self._named.get(session) if session is not None else self._continued(ends)
        conversation = known or self._begun(session)
        conversation.requests.append(request)
        conversation.end = ends[-1]
        heapq.heappush(self._numbers_by_end[ends[-1]], conversation.number)

    def _begun(self, session: str | None) -> _Conversation:
        conversation = _Conversation(len(self.found))
        self.found.append(conversation)
        if session is not None:
            self._named[session] = conversation
        return conversation

    def _continued(self, ends: Sequence[bytes]) -> _Conversation | None:
        """The conversation with the longest beginning in common; the first of several alike."""
        for end in reversed(ends[:-1]):
            numbers = self._numbers_by_end.get(end, [])
            while numbers:
                conversation = self.found[numbers[0]]
                if conversation.end == end:
                    return conversation
                heapq.heappop(numbers)  # it has gone on since
        return None


def _digests(messages: Sequence[JsonObject]) -> list[bytes]:
    """Of the first message, of the first two, and so on; the order of keys makes no difference."""
    found: list[bytes] = []
    digest = b""
    for message in messages:
        written = json.dumps(message, sort_keys=True).encode()
        digest = hashlib.sha256(digest + written).digest()
        found.append(digest)
    return found


class Replay:
    """Session `i` plays conversation `i` of the file, and begins again after the last one."""

    name = "replay"

    def __init__(
        self,
        conversations: Sequence[Sequence[RecordedRequest]],
        *,
        context: ReplayContext,
        key: str,
    ) -> None:
        self._conversations = conversations
        self._context = context
        self._key = key

    def dialogue(self, session_index: int) -> Dialogue:
        number = session_index % len(self._conversations)
        requests = self._conversations[number]
        steps = _recorded(requests) if self._context is ReplayContext.RECORDED else _live(requests)
        return Dialogue(
            key=f"{self.name}/{self._key}/{number}",
            system="",
            tools=(),
            rounds=tuple(Round((step,)) for step in steps),
        )


def read_replay(path: Path, *, context: ReplayContext) -> Replay:
    """Raises ConfigError with the line that cannot be played."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"workload.replay.file: {path} cannot be read: {error.strerror}"
        ) from None
    conversations = read_conversations(content.split(b"\n"), source=str(path))
    if context is ReplayContext.LIVE:
        for requests in conversations:
            _require_continued(requests)
    return Replay(conversations, context=context, key=hashlib.sha256(content).hexdigest()[:12])


def read_conversations(
    lines: Iterable[bytes], *, source: str
) -> tuple[tuple[RecordedRequest, ...], ...]:
    """The requests by conversation, both in the order of the lines; empty lines are skipped.

    Raises:
        ConfigError: a line is no chat request, or there is none at all.
    """
    conversations = _Conversations()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        conversations.add(*_read_line(line, f"{source}:{number}"))
    if not conversations.found:
        raise ConfigError(f"{source}: holds no chat request; it needs one JSON object a line")
    return tuple(tuple(each.requests) for each in conversations.found)


def _read_line(line: bytes, place: str) -> tuple[str | None, RecordedRequest]:
    value = parse_json(line.removeprefix(b"\xef\xbb\xbf"))
    if not isinstance(value, dict):
        _refuse(place, f"{_instead(line, value)}; each line must be one JSON object")
    if "messages" in value:
        if misplaced := sorted(value.keys() & {"due", "session"}):
            _refuse(
                place,
                f"has {misplaced[0]} inside the body, where it would be sent to the server: write "
                f'{{"request": {{...}}, "{misplaced[0]}": ...}}',
            )
        return None, _read_request(value, None, place)
    if "request" not in value:
        _refuse(place, "has neither `messages` nor `request`: write the body of a chat request")
    if unknown := sorted(value.keys() - _KEYS):
        _refuse(place, f"has the unknown key {unknown[0]}; allowed beside `request`: session, due")
    session = value.get("session")
    if isinstance(session, bool) or not isinstance(session, str | int | None):
        _refuse(place, "`session` must be a name or a number")
    try:
        due = due_from_json(value.get("due"))
    except ValueError as error:
        _refuse(place, str(error))
    request = value["request"]
    if not isinstance(request, dict):
        _refuse(place, "`request` must be an object")
    return None if session is None else str(session), _read_request(request, due, place)


def _read_request(body: JsonObject, due: Due | None, place: str) -> RecordedRequest:
    messages, tools = body.get("messages"), body.get("tools")
    tools = [] if tools is None else tools
    if not isinstance(messages, list) or not messages:
        _refuse(place, "`messages` must be a list that is not empty")
    if not isinstance(tools, list):
        _refuse(place, "`tools` must be a list")
    for what, items in (("messages", messages), ("tools", tools)):
        if not all(isinstance(item, dict) for item in items):
            _refuse(place, f"each entry of `{what}` must be an object")
    # An empty list is left out, and servers refuse a choice where there are no tools.
    chooses_of_none = body.get("tools") == [] and body.get("tool_choice") in ("auto", "none")
    left_out = _OURS | {"tool_choice"} if chooses_of_none else _OURS
    request = RecordedRequest(
        place=place,
        messages=tuple(item for item in messages if isinstance(item, dict)),
        tools=tuple(item for item in tools if isinstance(item, dict)),
        # Null leaves it out: what was sampled as the server does by itself, is so again.
        fields={
            "temperature": None,
            **{name: value for name, value in body.items() if name not in left_out},
        },
        due=due,
    )
    try:
        check_request(request.messages, request.tools, fields=request.fields, due=due)
    except ValueError as error:
        _refuse(place, f"cannot be played: {error}")
    return request


def _require_continued(requests: Sequence[RecordedRequest]) -> None:
    """Live, only what is new in a request is said: one that begins anew would not be sent whole."""
    for before, each in pairwise(requests):
        length = len(before.messages)
        said, said_again = (
            [message for message in request.messages[:length] if _is_said_by_people(message)]
            for request in (before, each)
        )
        if len(each.messages) <= length or said != said_again:
            _refuse(
                each.place,
                f"does not go on from the request before it in its session ({before.place}), so "
                "that `context: live` would not send all of it: play the file with `context: "
                "recorded`, or give this line another session",
            )


def _recorded(requests: Sequence[RecordedRequest]) -> Iterable[Step]:
    for each in requests:
        yield Step(recorded=each.messages, due=each.due, tools=each.tools, request=each.fields)


def _live(requests: Sequence[RecordedRequest]) -> Iterable[Step]:
    """What people said is said again; what the model said is left to the model. Its calls get the
    results that were recorded for the calls of that time, in one text.
    """
    before: tuple[JsonObject, ...] = ()
    for each, following in zip_longest(requests, requests[1:]):
        new = each.messages[len(before) :]
        answered = following.messages[len(each.messages) :] if following is not None else ()
        yield Step(
            say=tuple(message for message in new if not before or _is_said_by_people(message)),
            due=each.due,
            tool_result="\n".join(filter(None, map(_tool_text, answered))),
            tools=each.tools,
            request=each.fields,
        )
        before = each.messages


def _tool_text(message: JsonObject) -> str:
    return message_text(message) if message.get("role") == "tool" else ""


def _is_said_by_people(message: JsonObject) -> bool:
    return message.get("role") not in ("assistant", "tool")


def _instead(line: bytes, value: Json | NotJson) -> str:
    """What a line holds that is no object."""
    if not isinstance(value, NotJson):
        return "is JSON, but no object"
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return "is not in UTF-8"
    return "is no JSON"


def _refuse(place: str, what: str) -> NoReturn:
    raise ConfigError(f"{place}: {what}")
