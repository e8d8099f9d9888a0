"""Makes records of a log's bytes: whole lines, unwrapped, joined where they belong together.

It never raises and loses no line: every line of the log is counted in exactly one record. What a
record means is for others.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from runner.observe.log_envelopes import Unwrapped, unwrap
from runner.observe.log_prefixes import Prefixed, ranks_in, split_prefix
from runner.observe.log_times import DAY_S

MAX_LINE_BYTES = 1024 * 1024
MAX_RECORD_LINES = 500
MAX_OPEN_RECORDS = 32
_MAX_CURSORS = 10_000
_MAX_STREAMS = 1_000
_MAX_JOINED_CHARACTERS = 4 * 1024 * 1024
_MAX_JOINED_LINES = 10_000
_TRACEBACK = "Traceback (most recent call last):"
_MOST_OF_A_YEAR_S = 300 * DAY_S
# A status line holds no user's words, so that a prefix behind it is another writer's.
_STATUS = re.compile(r"\[[^\]]{19,60}\] (?:Decode|Prefill) batch\b")
_SECOND_PREFIX = re.compile(r"(?<=.)(?=\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[^\]]{0,40}\] )")
_LONGEST_STATUS = 4_000
_CHAIN = re.compile(
    r"The above exception was the direct cause|During handling of the above exception|"
    + re.escape(_TRACEBACK)
)
_JSON_EVENT = re.compile(r'\{.{0,200}?"event": ?"')


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One statement of a log, which may be a traceback of many lines.

    `number` is the first line's, from 1. `physical_lines` are those of the log that it took.
    `at_s` is the collector's time where there is one, `own_s` the one that the engine wrote.
    `source` tells services apart that share a log.
    """

    number: int
    lines: tuple[str, ...]
    physical_lines: int
    at_s: float | None
    own_s: float | None
    level: str
    process: str
    ranks: tuple[str, ...]
    is_cut: bool = False
    source: str = ""

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


@dataclass(slots=True)
class _Open:
    """A record that may go on."""

    number: int
    prefix: Prefixed
    outer: Unwrapped
    lines: list[str]
    physical_lines: int = 1
    is_in_traceback: bool = False
    is_cut: bool = False

    def goes_on_with(self, part: Prefixed) -> bool:
        """Whether a line is of this record, by the ways in which tracebacks and dumps are printed.

        vLLM repeats the prefix on every line of a traceback; others write it bare.
        """
        if len(self.lines) >= MAX_RECORD_LINES:
            return False
        if part.has_prefix:
            mine = self.prefix
            same = (part.place, part.at_s, part.level, part.process) == (
                mine.place,
                mine.at_s,
                mine.level,
                mine.process,
            )
            return bool(part.place) and same and self._is_continuation(part.text)
        return self.prefix.has_prefix or self._is_continuation(part.text)

    def _is_continuation(self, text: str) -> bool:
        if not text.strip() or text[0] in " \t" or _CHAIN.match(text):
            return True
        # The exception itself stands at the margin, right after the frames or where they were.
        before = self.lines[-1]
        return self.is_in_traceback and (before[:1] in (" ", "\t") or before.endswith(_TRACEBACK))

    def add(self, text: str, *, physical_lines: int = 1) -> None:
        self.lines.append(text)
        self.physical_lines += physical_lines
        if _TRACEBACK in text:
            self.is_in_traceback = True
        elif text.strip() and text[0] not in " \t":  # the exception: what it says may go on below
            self.is_in_traceback = False


@dataclass(slots=True)
class _Parts:
    """A line that its collector has cut; `may_go_on` until it is as long as a line may be."""

    first: Unwrapped | None = None
    texts: list[str] = field(default_factory=list)
    characters: int = 0

    @property
    def count(self) -> int:
        return len(self.texts)

    @property
    def may_go_on(self) -> bool:
        return self.characters < _MAX_JOINED_CHARACTERS and self.count < _MAX_JOINED_LINES

    def add(self, part: Unwrapped) -> None:
        self.first = self.first or part
        self.texts.append(part.text)
        self.characters += len(part.text)

    def joined(self) -> Unwrapped:
        assert self.first is not None
        if self.count == 1:
            return self.first
        first = self.first
        return Unwrapped("".join(self.texts), first.at_s, first.stream, program=first.program)


class LogNormalizer:
    """Feed it bytes as they come; `flush` what has rested, `close` at the end of the log.

    `year` is for time stamps that have none. Memory is bounded: a line is cut at a mebibyte.
    """

    def __init__(self, *, year: int, first_number: int = 1) -> None:
        self._year = year
        self._number = first_number - 1
        self._rest = bytearray()
        self._rest_is_cut = False
        self._partial: dict[str, _Parts] = {}
        self._open: dict[str, _Open] = {}
        self._latest: dict[str, str] = {}
        self._cursors: dict[str, None] = {}
        self._latest_s = float("-inf")

    def feed(self, data: bytes) -> list[LogRecord]:
        """The records that are complete now."""
        found: list[LogRecord] = []
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._keep(data[start:end])
            found.extend(self._line_ended())
            start = end + 1
        self._keep(data[start:])
        return found

    def pass_over(self, lines: int) -> list[LogRecord]:
        """Counts whole lines that are not fed, between two lines; no record goes on behind them."""
        if lines == 0:
            return []
        self._number += lines
        return self.flush()

    def flush(self) -> list[LogRecord]:
        """What is open now, because nothing has come for a while; an unfinished line stays."""
        found = [_closed(record) for record in self._open.values()]
        self._open.clear()
        self._latest.clear()
        return sorted(found, key=lambda record: record.number)

    def close(self) -> list[LogRecord]:
        """All that is left: the last line of a log may have no end."""
        found = list(self._line_ended()) if self._rest else []
        for parts in list(self._partial.values()):
            found.extend(self._take(parts.joined(), parts.count, self._number))
        self._partial.clear()
        return found + self.flush()

    def _keep(self, piece: bytes) -> None:
        room = MAX_LINE_BYTES - len(self._rest)
        self._rest_is_cut = self._rest_is_cut or len(piece) > room
        self._rest += piece[: max(0, room)]

    def _line_ended(self) -> Iterator[LogRecord]:
        raw, is_cut = bytes(self._rest), self._rest_is_cut
        self._rest.clear()
        self._rest_is_cut = False
        self._number += 1
        line = _without_progress(raw.decode("utf-8", errors="replace").rstrip("\r"))
        outer = unwrap(line, year=self._year)
        if self._was_read_before(outer.cursor):
            return
        line_so_far = self._partial.pop(outer.stream, None) or _Parts()
        line_so_far.add(outer)
        if outer.is_partial and line_so_far.may_go_on:
            self._partial[outer.stream] = line_so_far
            if len(self._partial) > MAX_OPEN_RECORDS:
                oldest = self._partial.pop(next(iter(self._partial)))
                yield from self._take(oldest.joined(), oldest.count, self._number)
            return
        count = line_so_far.count
        yield from self._take(line_so_far.joined(), count, self._number - count + 1, is_cut)

    def _was_read_before(self, cursor: str) -> bool:
        """A reader of the journal that was started again shows its last entries twice."""
        if not cursor:
            return False
        if cursor in self._cursors:
            return True
        self._cursors[cursor] = None
        if len(self._cursors) > _MAX_CURSORS:
            del self._cursors[next(iter(self._cursors))]
        return False

    def _take(
        self, outer: Unwrapped, physical_lines: int, number: int, is_cut: bool = False
    ) -> Iterator[LogRecord]:
        for index, text in enumerate(_lines_of(outer.text)):
            counted = physical_lines if index == 0 else 0
            part = self._dated(_prefixed(text, outer, self._year), text, outer)
            if outer.is_whole and index > 0:
                self._open[self._latest[outer.stream]].add(text, physical_lines=0)
                continue
            yield from self._place(part, outer, counted, number, is_cut)

    def _dated(self, part: Prefixed, text: str, outer: Unwrapped) -> Prefixed:
        """A time without a year that falls back by most of a year is of the next one."""
        if part.at_s is None:
            return part
        if part.at_s < self._latest_s - _MOST_OF_A_YEAR_S:
            of_next_year = _prefixed(text, outer, self._year + 1)
            if of_next_year.at_s is not None and of_next_year.at_s > part.at_s:
                self._year += 1
                self._latest_s = of_next_year.at_s
                return of_next_year
        self._latest_s = part.at_s
        return part

    def _place(
        self, part: Prefixed, outer: Unwrapped, counted: int, number: int, is_cut: bool
    ) -> Iterator[LogRecord]:
        key = f"{outer.stream}\x00{part.process}"
        if not part.has_prefix:
            key = self._latest.get(outer.stream, key)
        current = self._open.get(key)
        if current is not None and not outer.is_whole and current.goes_on_with(part):
            current.add(part.text, physical_lines=counted)
            current.is_cut = current.is_cut or is_cut
        else:
            if current is not None:
                yield _closed(self._open.pop(key))
            opened = _Open(number, part, outer, [part.text], counted, is_cut=is_cut)
            opened.is_in_traceback = _TRACEBACK in part.text
            self._open[key] = opened
        self._latest[outer.stream] = key
        if len(self._latest) > _MAX_STREAMS:
            del self._latest[next(iter(self._latest))]
        while len(self._open) > MAX_OPEN_RECORDS:
            yield _closed(self._open.pop(next(iter(self._open))))


@dataclass(slots=True)
class RecordList:
    """A whole log as records, in the order of their lines."""

    records: list[LogRecord] = field(default_factory=list)

    @classmethod
    def of(cls, content: bytes, *, year: int) -> "RecordList":
        normalizer = LogNormalizer(year=year)
        found = normalizer.feed(content) + normalizer.close()
        return cls(sorted(found, key=lambda record: record.number))


def _lines_of(text: str) -> list[str]:
    """A message's lines; two where two processes wrote into one, the second behind a status."""
    lines = text.split("\n")
    if not any(_STATUS.match(line) for line in lines):
        return lines
    return [
        part
        for line in lines
        for part in (
            _SECOND_PREFIX.split(line)
            if len(line) < _LONGEST_STATUS and _STATUS.match(line)
            else [line]
        )
    ]


def _prefixed(text: str, outer: Unwrapped, year: int) -> Prefixed:
    if outer.is_whole:
        ranks = ranks_in(outer.program)
        return Prefixed(
            text, True, outer.at_s, level=outer.level, process=outer.program, ranks=ranks
        )
    return split_prefix(text.lstrip("\ufffd\ufeff\x00"), year=year)


def _closed(record: _Open) -> LogRecord:
    prefix, outer = record.prefix, record.outer
    while len(record.lines) > 1 and not record.lines[-1].strip():
        record.lines.pop()
    return LogRecord(
        number=record.number,
        lines=tuple(record.lines),
        physical_lines=record.physical_lines,
        at_s=outer.at_s if outer.at_s is not None else prefix.at_s,
        own_s=prefix.at_s if prefix.at_s is not None else outer.at_s,
        level=prefix.level or outer.level,
        process=prefix.process or outer.program,
        ranks=prefix.ranks,
        is_cut=record.is_cut,
        source=outer.source,
    )


def _without_progress(line: str) -> str:
    """Progress bars go back to the margin with bare returns: the last state of each is kept.

    What a logger wrote behind such a bar has a prefix, and stays as a line of its own.
    """
    if "\r" not in line:
        return line
    pieces = [piece for piece in line.split("\r") if piece.strip()]
    kept = [
        piece
        for index, piece in enumerate(pieces)
        if index == len(pieces) - 1 or split_prefix(piece, year=2000).has_prefix
    ]
    return "\n".join(kept)
