"""Reads a whole event stream into a message, and tells which reads brought tokens.

The common event, one line of data with one token in it, takes a short way; all others the long one.
Either way the result is that of `EventStreamDecoder` and `MessageAssembler`, read by read.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

from db.read_times import ReadTimes
from runner.judge.assembly import MessageAssembler
from runner.judge.event_stream import MAX_EVENT_BYTES, EventStreamDecoder, ServerSentEvent
from runner.judge.plain_chunk import BLANK_LINE, ChunkForm, PlainDelta, chunk_form, plain_delta
from runner.judge.record import TurnRecord

_DATA: Final = b"data:"
_FEWEST_AT_ONCE: Final = 8
_MOST_AT_ONCE: Final = 512


def read_stream(record: TurnRecord, assembler: MessageAssembler) -> Sequence[float | None]:
    """The time of each read that completed an event with a token, in order; [None] where there was
    such an event and nobody kept the times. Adds all events to the assembler.
    """
    if b"\r" in record.body:  # a line may then end in three ways, which only the decoder tells
        return list(_read_by_read(record, assembler))
    ends = _ends_with_tokens(record.body, assembler)
    if not record.reads:
        return [None] if ends else []
    return _times_of(ends, record.reads)


def _ends_with_tokens(body: bytes, assembler: MessageAssembler) -> list[int]:
    """The offsets behind the events that held a token."""
    found: list[int] = []
    decoder = EventStreamDecoder()
    form: ChunkForm | None = None
    at, at_most = 0, _MOST_AT_ONCE
    while (end := body.find(BLANK_LINE, at)) >= 0:
        if form is not None:
            texts, ends = form.texts(body, at, at_most=at_most)
            if texts:
                assembler.add_plain_texts(texts, field=form.field)
                found += ends
                at = ends[-1]
            # Where forms take turns, what is looked at in vain stays in proportion to what is read.
            at_most = min(_FEWEST_AT_ONCE + 2 * len(texts), _MOST_AT_ONCE)
            if (end := body.find(BLANK_LINE, at)) < 0:
                break
        block, after = body[at:end], end + len(BLANK_LINE)
        if (delta := _token_of(block, assembler)) is not None:
            if at == 0:
                decoder.feed(b"\n")  # where a byte order mark could have stood
            assembler.add_plain(delta)
            found.append(after)
            form = chunk_form(block, delta)
        elif _add_all(assembler, decoder.feed(block + BLANK_LINE)):
            found.append(after)
        form = None if assembler.is_done else form
        at = after
    if _add_all(assembler, decoder.feed(body[at:])) | _add_all(assembler, decoder.close()):
        found.append(len(body))
    return found


def _token_of(block: bytes, assembler: MessageAssembler) -> PlainDelta | None:
    if assembler.is_done or not _is_one_line_of_data(block):
        return None
    return plain_delta(block[len(_DATA) :])


def _is_one_line_of_data(block: bytes) -> bool:
    return block.startswith(_DATA) and b"\n" not in block and len(block) < MAX_EVENT_BYTES


def _times_of(ends: list[int], reads: ReadTimes) -> Sequence[float]:
    """One entry a read, however many tokens it brought; what no read covers came with the last."""
    if not ends:
        return ()
    times_s, upto_bytes = reads.times_s, reads.ends_bytes
    first = next((number for number, upto in enumerate(upto_bytes) if upto >= ends[0]), 0)
    if upto_bytes[first : first + len(ends)] == tuple(ends):  # a token a read, as engines send them
        return times_s[first : first + len(ends)]
    given = [bisect_right(ends, upto) for upto in upto_bytes]
    given[-1] = len(ends)
    return [
        at_s for at_s, before, now in zip(times_s, [0, *given], given, strict=False) if now > before
    ]


def _read_by_read(record: TurnRecord, assembler: MessageAssembler) -> Iterator[float | None]:
    decoder = EventStreamDecoder()
    for at_s, part in _parts(record):
        if _add_all(assembler, decoder.feed(part)):
            yield at_s
    if _add_all(assembler, decoder.close()):
        yield record.reads.times_s[-1] if record.reads else None


def _add_all(assembler: MessageAssembler, events: list[ServerSentEvent]) -> bool:
    """Whether any of them carried progress; all are added."""
    tokens = [assembler.add(event) for event in events]
    return any(tokens)


def _parts(record: TurnRecord) -> Iterator[tuple[float | None, bytes]]:
    if not record.reads:
        yield None, record.body
        return
    start = 0
    for at_s, bytes_so_far in record.reads.pairs():
        end = max(start, min(bytes_so_far, len(record.body)))
        yield at_s, record.body[start:end]
        start = end
    yield record.reads.times_s[-1], record.body[start:]
