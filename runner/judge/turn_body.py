"""Reads the body of one answer, event stream or JSON, and when its tokens came.

The body's own form decides, not the content type: proxies mislabel both ways.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import sub
from typing import Final

from runner.judge.assembled_message import AssembledMessage
from runner.judge.assembly import MessageAssembler
from runner.judge.json_values import parse_json
from runner.judge.record import TurnRecord
from runner.judge.stream_reading import read_stream

_LEADING_COMMENTS: Final = re.compile(
    rb"\A(?:\xef\xbb\xbf)?(?:\s{1,64}|:[^\r\n]{0,4096}(?:[\r\n]+|\Z))*"
)
_EVENT_FIELD: Final = re.compile(rb"(?:\A|[\r\n])(?:data|event)(?=[:\r\n])|\A(?:id|retry):")
_LOOKED_AT: Final = 65_536


class BodyForm(StrEnum):
    EVENT_STREAM = "event_stream"
    JSON = "json"
    EMPTY = "empty"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class TurnBody:
    """Times are seconds since the request; None where nothing came or nobody kept the times."""

    form: BodyForm
    message: AssembledMessage
    has_progress: bool
    first_token_s: float | None
    last_progress_s: float | None
    longest_gap_s: float
    """The longest pause between two reads with progress, 0 with fewer than two."""


def read_body(record: TurnRecord) -> TurnBody:
    """Never raises: what cannot be read is UNREADABLE."""
    form = _form_of(record.body)
    assembler = MessageAssembler()
    progress_at: Sequence[float | None] = ()
    if form is BodyForm.JSON:
        value = parse_json(record.body[_start_of_json(record.body) :])
        if isinstance(value, dict):
            if assembler.add_chunk(value):
                progress_at = (record.reads.times_s[-1] if record.reads else None,)
        else:
            form = BodyForm.UNREADABLE
    elif form is BodyForm.EVENT_STREAM:
        progress_at = read_stream(record, assembler)
    times = [at_s for at_s in progress_at if at_s is not None]
    return TurnBody(
        form=form,
        message=assembler.message,
        has_progress=bool(progress_at),
        first_token_s=times[0] if times else None,
        last_progress_s=times[-1] if times else None,
        longest_gap_s=max(map(sub, times[1:], times), default=0.0),
    )


def _form_of(body: bytes) -> BodyForm:
    start = _start_of_json(body)
    head = body[start : start + 1]
    if not head:
        return BodyForm.EVENT_STREAM if b":" in body else BodyForm.EMPTY
    if head in b"{[":
        return BodyForm.JSON
    if head != b"<" and _EVENT_FIELD.search(body[start : start + _LOOKED_AT]):
        return BodyForm.EVENT_STREAM
    return BodyForm.UNREADABLE


def _start_of_json(body: bytes) -> int:
    """Where the body begins behind white space and comments, which gateways send to keep alive."""
    match = _LEADING_COMMENTS.match(body)
    return match.end() if match else 0
