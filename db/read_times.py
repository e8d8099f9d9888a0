"""When the reads of an answer were, and how much had come by then: two columns, nth by nth.

An answer has hundreds of reads, so a pair for each would be most of what a session's memory holds.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class ReadTimes:
    """Seconds since the request and bytes read so far, in the order of the reads.

    There are none where nothing came, or where nobody kept the times.
    """

    times_s: tuple[float, ...] = ()
    ends_bytes: tuple[int, ...] = ()

    @classmethod
    def of(cls, pairs: Iterable[tuple[float, int]]) -> Self:
        """Of [seconds, bytes] as they are stored and recorded."""
        held = [*pairs]
        return cls(tuple(at_s for at_s, _ in held), tuple(so_far for _, so_far in held))

    def pairs(self) -> Iterator[tuple[float, int]]:
        return zip(self.times_s, self.ends_bytes, strict=True)

    def __len__(self) -> int:
        return len(self.times_s)
