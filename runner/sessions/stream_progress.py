"""When a stream last made progress: tokens count; comments, roles and usage do not."""

from runner.judge.assembly import event_carries_progress
from runner.judge.event_stream import EventStreamDecoder
from runner.sessions.received_body import ReceivedBody


class StreamProgress:
    """Reads a growing body on from where it stopped, so that a look costs what is new."""

    def __init__(self, body: ReceivedBody) -> None:
        self._body = body
        self._decoder = EventStreamDecoder()
        self._reads_seen = 0
        self._bytes_seen = 0
        self._last_s: float | None = None

    def last_s(self) -> float | None:
        """Seconds from the request to the last read with a token in it; None before the first."""
        for at_s, bytes_so_far in self._body.reads[self._reads_seen :]:
            events = self._decoder.feed(self._body.between(self._bytes_seen, bytes_so_far))
            if any(map(event_carries_progress, events)):
                self._last_s = at_s
            self._bytes_seen = bytes_so_far
        self._reads_seen = len(self._body.reads)
        return self._last_s
