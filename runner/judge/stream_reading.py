"""Reads a whole event stream into a message, and tells which reads brought tokens.

The common event, one line of data with one token in it, takes a short way; all others the long one.
Either way the result is that of `EventStreamDecoder` and `MessageAssembler`, read by read.
"""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from runner.judge.assembly import MessageAssembler
from runner.judge.event_stream import MAX_EVENT_BYTES, EventStreamDecoder, ServerSentEvent
from runner.judge.plain_chunk import ChunkForm, PlainDelta, chunk_form, plain_delta
from runner.judge.record import TurnRecord

_BLANK_LINE: Final = b"\n\n"
_DATA: Final = b"data:"
_FEWEST_AT_ONCE: Final = 8
_MOST_AT_ONCE: Final = 512


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
    *blocks, rest = body.split(_BLANK_LINE)
    ends = list(accumulate(map(len(_BLANK_LINE).__add__, map(len, blocks))))
    form: ChunkForm | None = None
    at, at_once = 0, 1
    while at < len(blocks):
        run = blocks[at : at + at_once]
        texts = [] if form is None else form.texts(run)
        if form is not None and texts:
            assembler.add_plain_texts(texts, field=form.field)
            found += ends[at : at + len(texts)]
            at += len(texts)
            at_once = min(4 * at_once, _MOST_AT_ONCE) if len(texts) == len(run) else 1
        elif texts is None and len(run) > 1:  # what is no text is looked for in ever shorter runs
            at_once = len(run) // 2
        else:
            if (delta := _token_of(run[0], assembler)) is not None:
                if at == 0:
                    decoder.feed(b"\n")  # where a byte order mark could have stood
                assembler.add_plain(delta)
                found.append(ends[at])
                form = chunk_form(run[0], delta)
            elif _add_all(assembler, decoder.feed(run[0] + _BLANK_LINE)):
                found.append(ends[at])
            form = None if assembler.is_done else form
            at, at_once = at + 1, 1 if form is None else _FEWEST_AT_ONCE
    if _add_all(assembler, decoder.feed(rest)) | _add_all(assembler, decoder.close()):
        found.append(len(body))
    return found


def _token_of(block: bytes, assembler: MessageAssembler) -> PlainDelta | None:
    if assembler.is_done or not _is_one_line_of_data(block):
        return None
    return plain_delta(block[len(_DATA) :])


def _is_one_line_of_data(block: bytes) -> bool:
    return block.startswith(_DATA) and b"\n" not in block and len(block) < MAX_EVENT_BYTES


def _times_of(ends: list[int], reads: tuple[tuple[float, int], ...]) -> Iterator[float]:
    """One entry a read, however many tokens it brought; what no read covers came with the last."""
    if not ends:
        return
    times_s, upto_bytes = zip(*reads, strict=True)
    first = next((number for number, upto in enumerate(upto_bytes) if upto >= ends[0]), 0)
    if [*upto_bytes[first : first + len(ends)]] == ends:  # a token a read, as engines send them
        yield from times_s[first : first + len(ends)]
        return
    given = [bisect_right(ends, upto) for upto in upto_bytes]
    given[-1] = len(ends)
    for at_s, before, now in zip(times_s, [0, *given], given, strict=False):
        if now > before:
            yield at_s


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
