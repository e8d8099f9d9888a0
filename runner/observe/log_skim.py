"""Finds in whole lines of a plain log those that are worth taking apart, at the speed of memory.

Lines that hold a text of the catalogue, with the rest of the records that they are in. Envelopes in
which a text may be cut or spelt in another way cannot be skimmed: `is_wrapped` tells.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from runner.observe.event_catalogue import EventCatalogue
from runner.observe.literal_filter import LiteralFilter
from runner.observe.log_envelopes import ANSI_BYTES
from runner.observe.log_prefixes import Prefixed, split_prefix
from runner.observe.log_records import MAX_LINE_BYTES

_WRAPPED = re.compile(rb"\s*(?:\{|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) std(?:out|err) [PF] )")
_MOST_LINES_OF_A_RECORD = 300
_PREFIX_BYTES = 400


def is_wrapped(content: bytes) -> bool:
    """Whether the first line is one of journald's JSON, of docker's or of Kubernetes' files."""
    return _WRAPPED.match(content) is not None


@dataclass(slots=True)
class Chunk:
    """Whole lines. `ends` are the offsets of their newlines, `first_number` is of the first."""

    content: bytes
    ends: npt.NDArray[np.int64]
    first_number: int = 1

    @classmethod
    def of(cls, content: bytes, first_number: int = 1) -> "Chunk":
        """Colour codes are taken out of it."""
        if b"\x1b" in content:
            content = ANSI_BYTES.sub(b"", content)
        letters = np.frombuffer(content, dtype=np.uint8)
        return cls(content, np.flatnonzero(letters == 10), first_number)

    def __len__(self) -> int:
        return len(self.ends)

    def line(self, index: int) -> bytes:
        return self.content[self.start_of(index) : int(self.ends[index])][:MAX_LINE_BYTES]

    def lines(self, first: int, last: int) -> bytes:
        """From the first to the last of these, newlines included."""
        return self.content[self.start_of(first) : int(self.ends[last]) + 1]

    def start_of(self, index: int) -> int:
        return 0 if index == 0 else int(self.ends[index - 1]) + 1

    def index_at(self, offset: int) -> int:
        return int(np.searchsorted(self.ends, offset))

    def prefix(self, index: int, year: int) -> Prefixed:
        line = self.line(index)[:_PREFIX_BYTES].decode("utf-8", errors="replace")
        return split_prefix(line, year=year)


class LogSkim:
    """`also`: further texts whose lines are wanted. `sample`: what the log looks like."""

    def __init__(
        self, catalogue: EventCatalogue, *, sample: bytes, year: int, also: Iterable[str] = ()
    ) -> None:
        literals = {text for entry in catalogue.patterns for text in entry.literals}
        self._filter = LiteralFilter({*literals, *also}, sample=sample)
        self._year = year

    def spans(self, chunk: Chunk) -> list[tuple[int, int]]:
        """The lines of the records that the wanted lines are in, as (first, last), ascending."""
        wanted = self._filter.lines_in(chunk.content, chunk.ends)
        return list(_spans(chunk, wanted, self._year))

    def runs(self, chunk: Chunk) -> list[tuple[int, int]]:
        """Like `spans`, with what may go on with the record before the chunk."""
        lead = 0
        while lead < min(len(chunk), _MOST_LINES_OF_A_RECORD):
            if chunk.prefix(lead, self._year).has_prefix:
                break
            lead += 1
        taken = set(range(lead))
        for first, last in self.spans(chunk):
            taken.update(range(first, last + 1))
        return list(neighbours(sorted(taken)))


def neighbours(indices: list[int]) -> Iterator[tuple[int, int]]:
    """Those that follow one another together: 1, 2, 3, 7 -> (1, 3), (7, 7)."""
    start = 0
    for at in range(1, len(indices) + 1):
        if at == len(indices) or indices[at] != indices[at - 1] + 1:
            yield indices[start], indices[at - 1]
            start = at


def _spans(chunk: Chunk, wanted: list[int], year: int) -> Iterator[tuple[int, int]]:
    done = -1
    for index in wanted:
        if index <= done:
            continue
        mine = chunk.prefix(index, year)
        first, last = index, index
        while first - 1 > done and index - first < _MOST_LINES_OF_A_RECORD:
            if mine.has_prefix and not _is_alike(chunk.prefix(first - 1, year), mine):
                break
            first -= 1
            if not mine.has_prefix and chunk.prefix(first, year).has_prefix:
                mine = chunk.prefix(first, year)
        while last + 1 < len(chunk) and last - index < _MOST_LINES_OF_A_RECORD:
            after = chunk.prefix(last + 1, year)
            if after.has_prefix and not _is_alike(after, mine):
                break
            last += 1
        yield first, last
        done = last


def _is_alike(one: Prefixed, other: Prefixed) -> bool:
    """Lines of one traceback, where its prefix is repeated on every line."""
    mine = (one.place, one.at_s, one.level, one.process)
    return bool(one.place) and mine == (other.place, other.at_s, other.level, other.process)
