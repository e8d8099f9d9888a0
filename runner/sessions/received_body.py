"""The bytes of one answer as they arrive, with the time of each read; it draws no conclusions."""

from array import array
from bisect import bisect_left
from itertools import accumulate

_DONE = b"[DONE]"
_RARE = b"D"  # of the mark; a single byte is looked for ten times as fast
_DONE_FIELDS = (b"data: ", b"data:")
_LINE_ENDS = b"\r\n"
_DONE_REACH = 32  # bytes kept from the reads before, for a mark that was cut in two


class ReceivedBody:
    """Grows by `extend` up to `max_bytes`. The nth read came `times_s[n]` seconds after the request
    and left `ends_bytes[n]` bytes here.

    Hundreds of streams are read each 20 ms, so a read touches as little memory as it can.
    """

    __slots__ = (
        "_blocks",
        "_look_below_bytes",
        "_max_bytes",
        "_tail",
        "ends_bytes",
        "saw_done",
        "size_bytes",
        "times_s",
    )

    def __init__(self, *, max_bytes: int) -> None:
        self.size_bytes = 0
        self.saw_done = False
        self.times_s = array("d")
        self.ends_bytes = array("q")
        self._max_bytes = max_bytes
        self._blocks: list[bytes] = []
        self._tail = b""
        self._look_below_bytes = 0

    def extend(self, pieces: list[bytes], times_s: list[float]) -> None:
        """What so many reads brought, and when each was; what is too much is left out."""
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        before = self.size_bytes
        size = before + len(data)
        ends_bytes = list(accumulate(map(len, pieces), initial=before))[1:]
        if size > self._max_bytes:
            size = self._max_bytes
            data = data[: size - before]
            reads = bisect_left(ends_bytes, size)
            ends_bytes[reads:] = [size]
            times_s = times_s[: reads + 1]
        self._blocks.append(data)
        self.size_bytes = size
        self.times_s.fromlist(times_s)
        self.ends_bytes.fromlist(ends_bytes)
        if _RARE in data:
            self._look_below_bytes = size + len(_DONE)
        if before < self._look_below_bytes and not self.saw_done:
            self.saw_done = _says_done(self._tail + data, is_all=before <= len(self._tail))
        self._tail = (self._tail + data[-_DONE_REACH:])[-_DONE_REACH:]

    @property
    def room_bytes(self) -> int:
        return self._max_bytes - self.size_bytes

    @property
    def is_full(self) -> bool:
        return self.size_bytes >= self._max_bytes

    def between(self, start: int, end: int) -> bytes:
        return self._whole()[start:end]

    def end_of_last(self, mark: bytes, *, before: int) -> int:
        """The offset behind the last `mark` that ends at or before `before`; 0 if there is none."""
        found = self._whole().rfind(mark, 0, before)
        return 0 if found < 0 else found + len(mark)

    def __bytes__(self) -> bytes:
        return self._whole()

    def _whole(self) -> bytes:
        if len(self._blocks) != 1:
            self._blocks = [b"".join(self._blocks)]
        return self._blocks[0]


def _says_done(data: bytes, *, is_all: bool) -> bool:
    """Whether a line ends the stream; the word may stand in a text as well.

    `is_all`: the body begins with `data`.
    """
    at = data.find(_DONE)
    while at >= 0:
        for field in _DONE_FIELDS:
            begins = at - len(field)
            if data.endswith(field, 0, at) and (
                data[begins - 1] in _LINE_ENDS if begins > 0 else is_all
            ):
                return True
        at = data.find(_DONE, at + 1)
    return False
