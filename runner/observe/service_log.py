"""Follows the log of one service while it runs: bytes in, events out, and the tail kept.

A look does a bounded amount of work, whatever has come; what is left is for the next look.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from runner.observe.batch_lines import read_batch_line
from runner.observe.event_catalogue import EventCatalogue
from runner.observe.log_events import LogEvent, events_in
from runner.observe.log_follower import LogSource
from runner.observe.log_records import LogNormalizer, LogRecord
from runner.observe.log_skim import Chunk, LogSkim, is_wrapped

TAIL_BYTES = 256 * 1024
_SLICE_BYTES = 256 * 1024
_SKIM_FROM_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class LookBudget:
    """How much one look may do. `read_bytes` are taken from the source and kept until they were
    gone through; `parsed_bytes` of them are taken apart line by line, which costs some hundred
    times more than skimming them.
    """

    read_bytes: int = 16 * 1024 * 1024
    parsed_bytes: int = 512 * 1024


@dataclass(frozen=True, slots=True)
class LogNews:
    """What one look at a log brought. `content` is new, `behind_bytes` are left for later looks."""

    content: bytes
    events: tuple[LogEvent, ...]
    behind_bytes: int = 0


@dataclass(slots=True)
class ServiceLog:
    """`year` is for time stamps without one. One thread at a time may use it, but for `tail`."""

    source: LogSource
    catalogue: EventCatalogue
    year: int
    budget: LookBudget = field(default_factory=LookBudget)
    _normalizer: LogNormalizer = field(init=False)
    _skim: LogSkim | None = None
    _waiting: bytes = b""
    _tail: bytes = b""
    _parsed_bytes: int = 0

    def __post_init__(self) -> None:
        self._normalizer = LogNormalizer(year=self.year)

    def look(self, *, is_last: bool = False) -> LogNews:
        """A record that may go on is held until a look that brings nothing, or the last one.

        The last look has the same bounds: there is more to read while `behind_bytes` is above zero.
        """
        content = b"" if self._waiting else self.source.read_new(self.budget.read_bytes)
        was_quiet = not content and not self._waiting
        self._keep_tail(content)
        self._waiting += content
        records = list(self._taken_apart())
        behind_bytes = len(self._waiting) + self.source.behind_bytes()
        if is_last and not behind_bytes:
            records += self._normalizer.close()
        elif was_quiet:
            records += self._normalizer.flush()
        return LogNews(content, tuple(self._events(records)), behind_bytes)

    @property
    def trouble(self) -> str | None:
        """Why nothing can be read of it now."""
        return self.source.trouble

    def close(self) -> None:
        self.source.close()

    def tail(self) -> bytes:
        """The last quarter of a mebibyte."""
        return self._tail

    def _keep_tail(self, content: bytes) -> None:
        if content:
            self._tail = (self._tail + content[-TAIL_BYTES:])[-TAIL_BYTES:]

    def _events(self, records: list[LogRecord]) -> Iterator[LogEvent]:
        for record in records:
            if read_batch_line(record) is None:
                yield from events_in(record, self.catalogue)

    def _taken_apart(self) -> Iterator[LogRecord]:
        """Records of what waits, until the budget of one look is spent."""
        waiting, start, self._parsed_bytes = self._waiting, 0, 0
        while start < len(waiting) and self._parsed_bytes < self.budget.parsed_bytes:
            piece = waiting[start : start + self._slice_bytes()]
            start += len(piece)
            yield from self._read_piece(piece)
        self._waiting = waiting[start:]

    def _slice_bytes(self) -> int:
        return min(_SLICE_BYTES, self.budget.parsed_bytes)

    def _read_piece(self, piece: bytes) -> Iterator[LogRecord]:
        first_end, last_end = piece.find(b"\n") + 1, piece.rfind(b"\n") + 1
        middle = piece[first_end:last_end]
        if len(middle) < _SKIM_FROM_BYTES or is_wrapped(middle):
            self._parsed_bytes += len(piece)
            yield from self._normalizer.feed(piece)
            return
        yield from self._normalizer.feed(piece[:first_end])
        yield from self._skimmed(middle)
        yield from self._normalizer.feed(piece[last_end:])

    def _skimmed(self, content: bytes) -> Iterator[LogRecord]:
        """Of whole lines, the records that may mean something."""
        if self._skim is None:
            self._skim = LogSkim(self.catalogue, sample=content, year=self.year)
        chunk = Chunk.of(content)
        done = 0
        for first, last in self._skim.runs(chunk):
            lines = chunk.lines(first, last)
            self._parsed_bytes += len(lines)
            yield from self._normalizer.pass_over(first - done)
            yield from self._normalizer.feed(lines)
            done = last + 1
        yield from self._normalizer.pass_over(len(chunk) - done)
