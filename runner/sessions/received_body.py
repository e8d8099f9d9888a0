"""The bytes of one answer as they arrive, with the time of each read; it draws no conclusions."""

_DONE = b"[DONE]"
_RARE = b"D"  # of the mark; a single byte is looked for ten times as fast
_DONE_FIELDS = (b"data: ", b"data:")
_LINE_ENDS = b"\r\n"
_DONE_REACH = 32  # bytes kept from the reads before, for a mark that was cut in two


class ReceivedBody:
    """Grows by `add` up to `max_bytes`. `reads` holds (seconds since the request, bytes so far).

    What a caller asks of it after each read are attributes: hundreds of streams ask each 20 ms.
    """

    def __init__(self, *, max_bytes: int) -> None:
        self._bytes = bytearray()
        self.room_bytes = max_bytes
        self.reads: list[tuple[float, int]] = []
        self.saw_done = False

    def add(self, data: bytes, *, at_s: float) -> None:
        searched = max(0, len(self._bytes) - _DONE_REACH)
        self._bytes += data if len(data) <= self.room_bytes else data[: self.room_bytes]
        self.room_bytes = max(0, self.room_bytes - len(data))
        self.reads.append((at_s, len(self._bytes)))
        if not self.saw_done:
            self.saw_done = self._says_done(searched)

    @property
    def is_full(self) -> bool:
        return self.room_bytes <= 0

    def between(self, start: int, end: int) -> bytes:
        return bytes(self._bytes[start:end])

    def end_of_last(self, mark: bytes, *, before: int) -> int:
        """The offset behind the last `mark` that ends at or before `before`; 0 if there is none."""
        found = self._bytes.rfind(mark, 0, before)
        return 0 if found < 0 else found + len(mark)

    def _says_done(self, start: int) -> bool:
        """Whether a line behind `start` ends the stream; the word may stand in a text as well."""
        if self._bytes.find(_RARE, start) < 0:
            return False
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
