"""When a stream last made progress: tokens count; comments, roles and usage do not."""

from runner.judge.assembly import event_carries_progress
from runner.judge.event_stream import EventStreamDecoder
from runner.sessions.received_body import ReceivedBody

_FIRST_STRETCH = 8
_BLANK_LINES = (b"\n\n", b"\r\n\r\n", b"\r\r")


class StreamProgress:
    """Looks for the last token from the end of a growing body, which is mostly where it is.

    Sessions that start together look together; reading all that came since would hold the loop up.
    """

    def __init__(self, body: ReceivedBody) -> None:
        self._body = body
        self._reads_seen = 0
        self._last_s: float | None = None

    def last_s(self) -> float | None:
        """Seconds from the request to the last read with a token in it; None before the first."""
        end, stretch = len(self._body.times_s), _FIRST_STRETCH
        found: float | None = None
        while found is None and end > self._reads_seen:
            start = max(self._reads_seen, end - stretch)
            found = self._last_between(start, end)
            end, stretch = start, 4 * stretch
        self._reads_seen = len(self._body.times_s)
        if found is not None:
            self._last_s = found
        return self._last_s

    def _last_between(self, start: int, end: int) -> float | None:
        """The time of the last of these reads in which an event with a token became whole."""
        times_s, ends_bytes = self._body.times_s, self._body.ends_bytes
        offset = ends_bytes[start - 1] if start else 0
        decoder = EventStreamDecoder()
        decoder.feed(self._body.between(self._event_start(offset), offset))
        found: float | None = None
        for at_s, bytes_so_far in zip(times_s[start:end], ends_bytes[start:end], strict=True):
            events = decoder.feed(self._body.between(offset, bytes_so_far))
            if any(map(event_carries_progress, events)):
                found = at_s
            offset = bytes_so_far
        return found

    def _event_start(self, offset: int) -> int:
        """Where a reader may begin so that it knows the event that is open at `offset`."""
        ends = [self._body.end_of_last(mark, before=offset) for mark in _BLANK_LINES]
        return max(ends)
