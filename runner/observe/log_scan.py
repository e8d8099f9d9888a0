"""Reads a log file of any size: only lines that may matter are taken apart, the others counted.

What it finds is what reading every line would find. Of the status lines, which are most of a log,
it takes those that follow an event, and a few of every stretch.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import BinaryIO

from runner.observe.event_catalogue import EventCatalogue
from runner.observe.log_reading import LogReader, LogReading
from runner.observe.log_records import LogNormalizer
from runner.observe.log_skim import Chunk, LogSkim, is_wrapped, neighbours
from runner.observe.own_ends import OwnEnds

CHUNK_BYTES = 4 * 1024 * 1024
SMALL_LOG_BYTES = 2 * 1024 * 1024
_STRETCH_BYTES = 256 * 1024
_LOOKED_AT_BYTES = 4 * 1024
_STATUS_LINES = 3
_LAST_LINES = 200
_STATUS = (b"Decode batch", b"Prefill batch", b"Avg prompt throughput: ", b"eval time = ")
_ZERO = b"throughput: 0.0 tokens/s, Running: "
_WANTED_TOO = (_ZERO.decode(), "server_args=", "non-default args: ")
# Alarms that are over once tokens flow: what follows them is looked for.
_MAY_PASS = re.compile(
    rb"ealth check failed|atchdog timeout|broadcast block found|probe failed|\" 503|SIGQUIT"
)
_ENGINE = re.compile(rb"Engine \d+: Avg ")


def scan_log(
    log: BinaryIO, catalogue: EventCatalogue, *, own: OwnEnds | None, year: int
) -> LogReading:
    """Raises OSError of the file."""
    reader = LogReader(catalogue, own or OwnEnds())
    head = log.read(SMALL_LOG_BYTES)
    if len(head) < SMALL_LOG_BYTES or is_wrapped(head):
        return _read_whole(head, log, reader, year=year)
    return _Scan(reader, head, year=year).over(head, log)


def _read_whole(head: bytes, log: BinaryIO, reader: LogReader, *, year: int) -> LogReading:
    normalizer = LogNormalizer(year=year)
    while head:
        reader.add(normalizer.feed(head))
        head = log.read(CHUNK_BYTES)
    reader.add(normalizer.close())
    return reader.reading()


@dataclass(slots=True)
class _Scan:
    """`_sought` are texts whose next line is wanted: text -> how many times."""

    reader: LogReader
    head: bytes
    year: int
    _skim: LogSkim = field(init=False)
    _status: tuple[bytes, ...] = field(init=False)
    _sought: dict[bytes, int] = field(default_factory=dict)
    _number: int = 0

    def __post_init__(self) -> None:
        self._skim = LogSkim(
            self.reader.catalogue, sample=self.head, year=self.year, also=_WANTED_TOO
        )
        self._status = tuple(text for text in _STATUS if text in self.head)

    def over(self, head: bytes, log: BinaryIO) -> LogReading:
        rest = b""
        piece = head
        while piece:
            content = rest + piece
            cut = content.rfind(b"\n") + 1
            if cut == 0 and len(content) < 4 * CHUNK_BYTES:
                rest, piece = content, log.read(CHUNK_BYTES)
                continue
            whole, rest = (content[:cut], content[cut:]) if cut else (content + b"\n", b"")
            piece = log.read(CHUNK_BYTES)
            self._read(whole, is_last=not piece and not rest)
        if rest:
            self._read(rest + b"\n", is_last=True)
        return replace(self.reader.reading(), lines=self._number)

    def _read(self, content: bytes, *, is_last: bool) -> None:
        chunk = Chunk.of(content, self._number + 1)
        spans = self._skim.spans(chunk)
        taken = {index for first, last in spans for index in range(first, last + 1)}
        taken |= self._status_lines(chunk, spans)
        if is_last:
            taken |= set(range(max(0, len(chunk) - _LAST_LINES), len(chunk)))
        for first, last in neighbours(sorted(taken)):
            self._take(chunk, first, last)
        self._number += len(chunk)

    def _take(self, chunk: Chunk, first: int, last: int) -> None:
        normalizer = LogNormalizer(year=self.year, first_number=chunk.first_number + first)
        records = normalizer.feed(chunk.lines(first, last)) + normalizer.close()
        self.reader.add(sorted(records, key=lambda record: record.number))

    def _status_lines(self, chunk: Chunk, spans: list[tuple[int, int]]) -> set[int]:
        found: set[int] = set(self._sought_lines(chunk, 0))
        for start in range(0, len(chunk.content), _STRETCH_BYTES):
            found.update(self._next_status(chunk, start, start + _LOOKED_AT_BYTES))
        for first, last in spans:
            end = int(chunk.ends[last]) + 1
            engine = _ENGINE.search(chunk.line(first))
            if engine is not None:
                self._sought[engine[0]] = 1
            if _MAY_PASS.search(chunk.content, chunk.start_of(first), end):
                self._sought |= dict.fromkeys(self._status, _STATUS_LINES)
            if self._sought:
                found.update(self._sought_lines(chunk, end))
        return found

    def _next_status(self, chunk: Chunk, start: int, end: int) -> Iterator[int]:
        for text in self._status:
            at = start
            for _ in range(_STATUS_LINES):
                at = chunk.content.find(text, at, end)
                if at < 0:
                    break
                yield chunk.index_at(at)
                at += len(text)

    def _sought_lines(self, chunk: Chunk, start: int) -> Iterator[int]:
        for text in list(self._sought):
            at = start
            while self._sought.get(text, 0) > 0:
                at = chunk.content.find(text, at)
                if at < 0:
                    break
                yield chunk.index_at(at)
                at += len(text)
                self._sought[text] -= 1
            if not self._sought.get(text):
                self._sought.pop(text, None)
