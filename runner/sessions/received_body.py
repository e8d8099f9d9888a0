"""The bytes of one answer as they arrive, with the time of each read; it draws no conclusions."""

from array import array

_DONE = b"[DONE]"
_RARE = b"D"  # of the mark; a single byte is looked for ten times as fast
_DONE_FIELDS = (b"data: ", b"data:")
_LINE_ENDS = b"\r\n"
_DONE_REACH = 32  # bytes kept from the reads before, for a mark that was cut in two


class ReceivedBody:
    """Grows by `add` up to `max_bytes`. The nth read came `times_s[n]` seconds after the request
    and left `ends_bytes[n]` bytes here.

    Hundreds of streams are read each 20 ms, so a read touches as little memory as it can.
    """

    __slots__ = (
        "_bytes",
        "_look_below_bytes",
        "_max_bytes",
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
        self._bytes = bytearray()
        self._look_below_bytes = 0

    def add(self, data: bytes, at_s: float) -> None:
        before = self.size_bytes
        size = before + len(data)
        if size > self._max_bytes:
            data = data[: self.room_bytes]
            size = self._max_bytes
        self._bytes += data
        self.size_bytes = size
        self.times_s.append(at_s)
        self.ends_bytes.append(size)
        if _RARE in data:
            self._look_below_bytes = size + len(_DONE)
        if before < self._look_below_bytes and not self.saw_done:
            self.saw_done = self._says_done(max(0, before - _DONE_REACH))

    @property
    def room_bytes(self) -> int:
        return self._max_bytes - self.size_bytes

    @property
    def is_full(self) -> bool:
        return self.size_bytes >= self._max_bytes

    def between(self, start: int, end: int) -> bytes:
        return bytes(self._bytes[start:end])

    def end_of_last(self, mark: bytes, *, before: int) -> int:
        """The offset behind the last `mark` that ends at or before `before`; 0 if there is none."""
        found = self._bytes.rfind(mark, 0, before)
        return 0 if found < 0 else found + len(mark)

    def _says_done(self, start: int) -> bool:
        """Whether a line behind `start` ends the stream; the word may stand in a text as well."""
        at = self._bytes.find(_DONE, start)
        while at >= 0:
            for field in _DONE_FIELDS:
                begins = at - len(field)
                if self._bytes.endswith(field, 0, at) and (
                    begins == 0 or self._bytes[begins - 1] in _LINE_ENDS
                ):
                    return True
            at = self._bytes.find(_DONE, at + 1)
        return False

    def __bytes__(self) -> bytes:
        return bytes(self._bytes)
