"""How a turn ended: whole, given up by the server, cut, or stopped by our own deadline.

A deadline alone is no wedge: the server may still have made progress to the last second.
"""

from dataclasses import dataclass
from typing import Final

from db.vocabulary import ErrorReason, TransportEnd
from runner.judge.assembled_message import InBandError
from runner.judge.flags import Flag
from runner.judge.record import TurnRecord
from runner.judge.turn_body import BodyForm, TurnBody

ABORT_REASONS: Final = frozenset({"abort", "aborted", "cancelled", "canceled", "cancel"})
LENGTH_REASONS: Final = frozenset({"length", "max_tokens", "model_length", "max_length"})

MIN_STALL_S: Final = 60.0
"""A pause shorter than this is never called a stall, unless our own deadline for stalls passed."""
STALL_FACTOR: Final = 3.0
"""A stall is longer than this times the longest pause that the same stream had before."""
MIN_FIRST_TOKEN_WAIT_S: Final = 30.0
"""A session deadline that cut a turn earlier than this says nothing about the server."""
_WORDS_OF_THE_SERVER: Final = 200  # characters that a sentence quotes of its message


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """`reason` is None for a turn that ended whole. `sentence` says the end for people."""

    reason: ErrorReason | None
    flags: tuple[Flag, ...] = ()
    is_wedge: bool = False
    sentence: str = ""


def read_end(record: TurnRecord, body: TurnBody) -> TurnEnd:
    refused = _refused(record, body)
    if refused is not None:
        return refused
    given_up = _given_up(body)
    if given_up is not None:
        return given_up
    flags = tuple(_flags_of_finish(record, body))
    if _is_finished(body):
        return TurnEnd(None, flags)
    if record.transport_end is TransportEnd.CLIENT_DEADLINE:
        return _at_deadline(record, body)
    is_cut = record.transport_end is TransportEnd.RESET
    if body.form is BodyForm.UNREADABLE and not is_cut:
        return TurnEnd(ErrorReason.UNREADABLE, flags, sentence="the body is no chat completion")
    if body.form is BodyForm.JSON:
        sentence = "the JSON body has no choices"
        return TurnEnd(ErrorReason.UNREADABLE, flags, sentence=sentence)
    if not body.message.has_choices and Flag.UNREADABLE_CHUNK in body.message.faults:
        sentence = "no event of the stream is a chat completion chunk"
        return TurnEnd(ErrorReason.UNREADABLE, flags, sentence=sentence)
    how = "was reset" if is_cut else "ended"
    sentence = f"the answer {how} without a finish reason"
    if is_cut and record.http_status is None:
        sentence = "the connection ended before an HTTP answer began"
    return TurnEnd(ErrorReason.TRUNCATED, (*flags, Flag.NO_FINISH), sentence=sentence)


def _refused(record: TurnRecord, body: TurnBody) -> TurnEnd | None:
    if (
        record.transport_end is TransportEnd.CONNECT_FAILED
        or record.deadline is ErrorReason.CONNECT
    ):
        return TurnEnd(ErrorReason.CONNECT, sentence="no connection to the server came about")
    status = record.http_status
    if status is None or 200 <= status < 300:
        return None
    sentence = f"the server answered with status {status}{_stated(body)}"
    if 400 <= status < 500:
        return TurnEnd(ErrorReason.HTTP_4XX, sentence=sentence)
    if status >= 500:
        return TurnEnd(ErrorReason.HTTP_5XX, sentence=sentence)
    return TurnEnd(ErrorReason.UNREADABLE, sentence=sentence)


def _stated(body: TurnBody) -> str:
    """Why a request was refused, in the words of the server, where its body has any."""
    error = body.message.in_band_error
    return "" if error is None else f": {_quoted(error)}"


def _quoted(error: InBandError) -> str:
    return " ".join(error.message.split())[:_WORDS_OF_THE_SERVER].rstrip(".")


def _given_up(body: TurnBody) -> TurnEnd | None:
    message = body.message
    error = message.in_band_error
    if error is not None:
        is_abort = "abort" in f"{error.message} {error.kind} {error.code}".lower()
        reason = ErrorReason.ABORTED_BY_SERVER if is_abort else ErrorReason.IN_BAND_ERROR
        flags = (Flag.SERVER_ABORT,) if is_abort else ()
        return TurnEnd(reason, flags, sentence=f"the body states an error: {_quoted(error)}")
    finishes = {reason.lower() for reason in message.finish_reasons}
    if finishes & ABORT_REASONS:
        sentence = "the server gave the request up (finish reason abort)"
        return TurnEnd(ErrorReason.ABORTED_BY_SERVER, (Flag.SERVER_ABORT,), sentence=sentence)
    if "error" in finishes:
        sentence = "the server ended the answer with finish reason error"
        return TurnEnd(ErrorReason.IN_BAND_ERROR, sentence=sentence)
    return None


def _is_finished(body: TurnBody) -> bool:
    if body.message.finish_reason is not None:
        return True
    # A whole JSON body cannot have been cut, so a missing finish reason takes nothing from it.
    return body.form is BodyForm.JSON and body.message.has_choices and body.has_progress


def _flags_of_finish(record: TurnRecord, body: TurnBody) -> list[Flag]:
    flags: list[Flag] = []
    finishes = {reason.lower() for reason in body.message.finish_reasons}
    if finishes & LENGTH_REASONS:
        flags.append(Flag.LENGTH)
    if "content_filter" in finishes:
        flags.append(Flag.CONTENT_FILTER)
    if record.transport_end is TransportEnd.RESET:
        flags.append(Flag.RESET)
    return flags


def _at_deadline(record: TurnRecord, body: TurnBody) -> TurnEnd:
    waited_s = record.ended_s if record.ended_s is not None else _last_read_s(record)
    if body.form is BodyForm.UNREADABLE:
        reason = record.deadline or ErrorReason.SESSION_TIMEOUT
        sentence = "our deadline passed inside the body"
        return TurnEnd(reason, (Flag.CLIENT_TIMEOUT,), sentence=sentence)
    if not body.has_progress:
        return _without_token(record, waited_s)
    silent_s = None
    if waited_s is not None and body.last_progress_s is not None:
        silent_s = waited_s - body.last_progress_s
    if record.deadline is ErrorReason.STALLED or _is_stall(silent_s, body.longest_gap_s):
        sentence = "tokens stopped coming, and our deadline passed"
        wedged = (Flag.CLIENT_TIMEOUT, Flag.WEDGE_VICTIM)
        return TurnEnd(ErrorReason.STALLED, wedged, is_wedge=True, sentence=sentence)
    flags = [Flag.CLIENT_TIMEOUT]
    if silent_s is not None:
        flags.append(Flag.PROGRESSING)
    reason = record.deadline or ErrorReason.SESSION_TIMEOUT
    return TurnEnd(reason, tuple(flags), sentence="our deadline passed while tokens still came")


def _without_token(record: TurnRecord, waited_s: float | None) -> TurnEnd:
    is_short = waited_s is not None and waited_s < MIN_FIRST_TOKEN_WAIT_S
    if record.deadline is ErrorReason.SESSION_TIMEOUT and is_short:
        sentence = "the session's deadline passed soon after the request"
        return TurnEnd(ErrorReason.SESSION_TIMEOUT, (Flag.CLIENT_TIMEOUT,), sentence=sentence)
    flags = (Flag.CLIENT_TIMEOUT, Flag.WEDGE_VICTIM)
    reason = record.deadline or ErrorReason.FIRST_TOKEN_TIMEOUT
    return TurnEnd(reason, flags, is_wedge=True, sentence="no token came until our deadline")


def _is_stall(silent_s: float | None, longest_gap_s: float) -> bool:
    return silent_s is not None and silent_s >= max(MIN_STALL_S, STALL_FACTOR * longest_gap_s)


def _last_read_s(record: TurnRecord) -> float | None:
    return record.reads.times_s[-1] if record.reads else None
