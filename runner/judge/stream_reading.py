"""Reads a whole event stream into a message, and tells which reads brought tokens.

The common event, one line of data with one token in it, takes a short way; all others the long one.
Either way the result is that of `EventStreamDecoder` and `MessageAssembler`, read by read.
"""

from collections.abc import Iterator
from typing import Final

from runner.judge.assembly import MessageAssembler
from runner.judge.event_stream import MAX_EVENT_BYTES, EventStreamDecoder, ServerSentEvent
from runner.judge.plain_chunk import plain_delta
from runner.judge.record import TurnRecord

_BLANK_LINE: Final = b"\n\n"
_DATA: Final = b"data:"


def read_stream(record: TurnRecord, assembler: MessageAssembler) -> list[float | None]:
    """The time of each read that completed an event with a token, in order; [None] where there was
    such an event and nobody kept the times. Adds all events to the assembler.
    """
    if b"\r" in record.body:  # a line may then end in three ways, which only the decoder tells
        return list(_read_by_read(record, assembler))
    ends = _ends_with_tokens(record.body, assembler)
    if not record.reads:
        return [None] if ends else []
    return list(_times_of(ends, record.reads))


def _ends_with_tokens(body: bytes, assembler: MessageAssembler) -> list[int]:
    """The offsets behind the events that held a token."""
    found: list[int] = []
    decoder = EventStreamDecoder()
    end = 0
    *blocks, rest = body.split(_BLANK_LINE)
    for block in blocks:
        is_first, end = end == 0, end + len(block) + len(_BLANK_LINE)
        if not assembler.is_done and _is_one_line_of_data(block):
            delta = plain_delta(block[len(_DATA) :])
            if delta is not None:
                if is_first:
                    decoder.feed(b"\n")  # where a byte order mark could have stood
                assembler.add_plain(delta)
                found.append(end)
                continue
        if _add_all(assembler, decoder.feed(block + _BLANK_LINE)):
            found.append(end)
    if _add_all(assembler, decoder.feed(rest)) | _add_all(assembler, decoder.close()):
        found.append(len(body))
    return found


def _is_one_line_of_data(block: bytes) -> bool:
    return block.startswith(_DATA) and b"\n" not in block and len(block) < MAX_EVENT_BYTES


def _times_of(ends: list[int], reads: tuple[tuple[float, int], ...]) -> Iterator[float]:
    """One entry a read, however many tokens it brought; what no read covers came with the last."""
    number, given = 0, -1
    for end in ends:
        while number + 1 < len(reads) and reads[number][1] < end:
            number += 1
        if number != given:
            given = number
            yield reads[number][0]


def _read_by_read(record: TurnRecord, assembler: MessageAssembler) -> Iterator[float | None]:
    decoder = EventStreamDecoder()
    for at_s, part in _parts(record):
        if _add_all(assembler, decoder.feed(part)):
            yield at_s
    if _add_all(assembler, decoder.close()):
        yield record.reads[-1][0] if record.reads else None


def _add_all(assembler: MessageAssembler, events: list[ServerSentEvent]) -> bool:
    """Whether any of them carried progress; all are added."""
    tokens = [assembler.add(event) for event in events]
    return any(tokens)


def _parts(record: TurnRecord) -> Iterator[tuple[float | None, bytes]]:
    if not record.reads:
        yield None, record.body
        return
    start = 0
    for at_s, bytes_so_far in record.reads:
        end = max(start, min(bytes_so_far, len(record.body)))
        yield at_s, record.body[start:end]
        start = end
    yield record.reads[-1][0], record.body[start:]
