"""Reads a log file of any size: only lines that may matter are taken apart, the others counted.

What it finds is what reading every line would find. Of the status lines, which are most of a log,
it takes those that follow an event, and a few of every stretch.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from runner.observe.event_catalogue import EventCatalogue
from runner.observe.literal_filter import LiteralFilter
from runner.observe.log_envelopes import ANSI_BYTES
from runner.observe.log_prefixes import Prefixed, split_prefix
from runner.observe.log_reading import LogReader, LogReading
from runner.observe.log_records import MAX_LINE_BYTES, LogNormalizer
from runner.observe.own_ends import OwnEnds

CHUNK_BYTES = 4 * 1024 * 1024
SMALL_LOG_BYTES = 2 * 1024 * 1024
_STRETCH_BYTES = 256 * 1024
_LOOKED_AT_BYTES = 4 * 1024
_STATUS_LINES = 3
_MOST_LINES_OF_A_RECORD = 300
_LAST_LINES = 200
# Envelopes in which a text may be cut or spelt in another way: such logs are read line by line.
_WRAPPED = re.compile(rb"\s*(?:\{|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) std(?:out|err) [PF] )")
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
    if len(head) < SMALL_LOG_BYTES or _WRAPPED.match(head):
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
class _Chunk:
    """Whole lines. `ends` are the offsets of their newlines, `first_number` is of the first."""

    content: bytes
    ends: npt.NDArray[np.int64]
    first_number: int

    @classmethod
    def of(cls, content: bytes, first_number: int) -> "_Chunk":
        letters = np.frombuffer(content, dtype=np.uint8)
        return cls(content, np.flatnonzero(letters == 10), first_number)

    def __len__(self) -> int:
        return len(self.ends)

    def line(self, index: int) -> bytes:
        start = 0 if index == 0 else int(self.ends[index - 1]) + 1
        return self.content[start : int(self.ends[index])][:MAX_LINE_BYTES]

    def start_of(self, index: int) -> int:
        return 0 if index == 0 else int(self.ends[index - 1]) + 1

    def index_at(self, offset: int) -> int:
        return int(np.searchsorted(self.ends, offset))


@dataclass(slots=True)
class _Scan:
    """`_sought` are texts whose next line is wanted: text -> how many times."""

    reader: LogReader
    head: bytes
    year: int
    _filter: LiteralFilter = field(init=False)
    _status: tuple[bytes, ...] = field(init=False)
    _sought: dict[bytes, int] = field(default_factory=dict)
    _number: int = 0

    def __post_init__(self) -> None:
        literals = {text for entry in self.reader.catalogue.patterns for text in entry.literals}
        self._filter = LiteralFilter({*literals, *_WANTED_TOO}, sample=self.head)
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
        if b"\x1b" in content:
            content = ANSI_BYTES.sub(b"", content)
        chunk = _Chunk.of(content, self._number + 1)
        wanted = self._filter.lines_in(chunk.content, chunk.ends)
        spans = list(_spans(chunk, wanted, self.year))
        taken = {index for first, last in spans for index in range(first, last + 1)}
        taken |= self._status_lines(chunk, spans)
        if is_last:
            taken |= set(range(max(0, len(chunk) - _LAST_LINES), len(chunk)))
        for first, last in _runs(sorted(taken)):
            self._take(chunk, first, last)
        self._number += len(chunk)

    def _take(self, chunk: _Chunk, first: int, last: int) -> None:
        normalizer = LogNormalizer(year=self.year, first_number=chunk.first_number + first)
        content = chunk.content[chunk.start_of(first) : int(chunk.ends[last]) + 1]
        records = normalizer.feed(content) + normalizer.close()
        self.reader.add(sorted(records, key=lambda record: record.number))

    def _status_lines(self, chunk: _Chunk, spans: list[tuple[int, int]]) -> set[int]:
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

    def _next_status(self, chunk: _Chunk, start: int, end: int) -> Iterator[int]:
        for text in self._status:
            at = start
            for _ in range(_STATUS_LINES):
                at = chunk.content.find(text, at, end)
                if at < 0:
                    break
                yield chunk.index_at(at)
                at += len(text)

    def _sought_lines(self, chunk: _Chunk, start: int) -> Iterator[int]:
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


def _spans(chunk: _Chunk, wanted: list[int], year: int) -> Iterator[tuple[int, int]]:
    """The lines of the records that the wanted lines are in: (first, last)."""
    done = -1
    for index in wanted:
        if index <= done:
            continue
        mine = _prefix(chunk, index, year)
        first, last = index, index
        while first - 1 > done and index - first < _MOST_LINES_OF_A_RECORD:
            if mine.has_prefix and not _is_alike(_prefix(chunk, first - 1, year), mine):
                break
            first -= 1
            if not mine.has_prefix and _prefix(chunk, first, year).has_prefix:
                mine = _prefix(chunk, first, year)
        while last + 1 < len(chunk) and last - index < _MOST_LINES_OF_A_RECORD:
            after = _prefix(chunk, last + 1, year)
            if after.has_prefix and not _is_alike(after, mine):
                break
            last += 1
        yield first, last
        done = last


def _prefix(chunk: _Chunk, index: int, year: int) -> Prefixed:
    line = chunk.line(index)[:400].decode("utf-8", errors="replace")
    return split_prefix(line, year=year)


def _is_alike(one: Prefixed, other: Prefixed) -> bool:
    """Lines of one traceback, where its prefix is repeated on every line."""
    mine = (one.place, one.at_s, one.level, one.process)
    return bool(one.place) and mine == (other.place, other.at_s, other.level, other.process)


def _runs(indices: list[int]) -> Iterator[tuple[int, int]]:
    """Neighbours together: 1, 2, 3, 7 -> (1, 3), (7, 7)."""
    start = 0
    for at in range(1, len(indices) + 1):
        if at == len(indices) or indices[at] != indices[at - 1] + 1:
            yield indices[start], indices[at - 1]
            start = at
