"""Splits the bytes of a server-sent event stream into events, as they come.

Follows the WHATWG event-stream format. It knows nothing of what an event's data means, and never
raises on what a server sends.
"""

import re
from typing import Final, NamedTuple

MAX_EVENT_BYTES: Final = 16 * 1024 * 1024
"""More than any chat completion chunk; what goes beyond is dropped and the event says so."""

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_LINE_FEED: Final = 0x0A
_CARRIAGE_RETURN: Final = 0x0D
_COLON: Final = 0x3A
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")


class ServerSentEvent(NamedTuple):
    """One event; `is_finished` is false for the last one of a stream that ended inside it."""

    data: str
    event: str = "message"
    id: str = ""
    retry_ms: int | None = None
    is_finished: bool = True
    is_capped: bool = False


class EventStreamDecoder:
    """Feed it reads of any size; the events do not depend on where the reads were cut."""

    def __init__(self, *, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self.comments = 0
        self._max_event_bytes = max_event_bytes
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._expects_line_feed = False
        self._is_first_line = True
        self._id = ""
        self._event = ""
        self._retry_ms: int | None = None
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._is_capped = False

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """The events that `data` completes."""
        if self._expects_line_feed and data:
            self._expects_line_feed = False
            if data[0] == _LINE_FEED:
                data = data[1:]
        last_end = max(data.rfind(b"\n"), data.rfind(b"\r"))
        if last_end < 0:
            self._hold(data)
            return []
        self._expects_line_feed = data[last_end] == _CARRIAGE_RETURN and last_end == len(data) - 1
        lines = self._lines(b"".join((*self._held, data[: last_end + 1])))
        self._held, self._held_bytes = [], 0
        self._hold(data[last_end + 1 :])
        events: list[ServerSentEvent] = []
        for line in lines:
            if line:
                self._read_line(line)
            elif self._data:
                events.append(self._finish_event())
            else:
                self._forget_event()
        return events

    def close(self) -> list[ServerSentEvent]:
        """The event that the stream's end cut short, if there is one."""
        rest = self._without_mark(b"".join(self._held))
        self._held, self._held_bytes = [], 0
        if rest:
            self._read_line(rest)
        if not self._data:
            return []
        return [self._finish_event()._replace(is_finished=False)]

    def _hold(self, data: bytes) -> None:
        # One byte beyond the limit is kept, so that the line is known to be too long.
        room = self._max_event_bytes + 1 - self._held_bytes
        if data and room > 0:
            self._held.append(data[:room])
            self._held_bytes += min(len(data), room)

    def _lines(self, ended: bytes) -> list[bytes]:
        lines = _LINE_END.split(ended) if b"\r" in ended else ended.split(b"\n")
        lines.pop()
        lines[0] = self._without_mark(lines[0])
        return lines

    def _without_mark(self, line: bytes) -> bytes:
        is_first, self._is_first_line = self._is_first_line, False
        return line.removeprefix(_BYTE_ORDER_MARK) if is_first else line

    def _read_line(self, line: bytes) -> None:
        is_long = len(line) > self._max_event_bytes
        if is_long:
            line = line[: self._max_event_bytes]
        if line[0] == _COLON:
            self.comments += 1
            return
        name, _, value = line.partition(b":")
        if value.startswith(b" "):
            value = value[1:]
        if name == b"data":
            self._add_data(value)
            self._is_capped = self._is_capped or is_long
        elif name == b"event":
            self._event = value.decode("utf-8", "replace")
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode("utf-8", "replace")
        elif name == b"retry" and value.isdigit() and len(value) <= 9:
            self._retry_ms = int(value)

    def _add_data(self, value: bytes) -> None:
        room = self._max_event_bytes - self._data_bytes
        if len(value) > room:
            self._is_capped = True
        if room > 0 or not self._data:
            self._data.append(value[: max(room, 0)])
            self._data_bytes += len(self._data[-1]) + 1

    def _finish_event(self) -> ServerSentEvent:
        event = ServerSentEvent(
            data=b"\n".join(self._data).decode("utf-8", "replace"),
            event=self._event or "message",
            id=self._id,
            retry_ms=self._retry_ms,
            is_capped=self._is_capped,
        )
        self._forget_event()
        return event

    def _forget_event(self) -> None:
        self._event = ""
        self._retry_ms = None
        self._data = []
        self._data_bytes = 0
        self._is_capped = False
