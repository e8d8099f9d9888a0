"""One request and its answer while it is under way: what has come so far, and what is due when."""

from collections.abc import Callable

from db.read_times import ReadTimes
from db.vocabulary import ErrorReason, TransportEnd
from runner.campaign.campaign import Deadlines
from runner.judge.record import TurnRecord
from runner.sessions.content_coding import ContentDecoder
from runner.sessions.deadline_watch import Deadline
from runner.sessions.http_connection import Take
from runner.sessions.received_body import ReceivedBody
from runner.sessions.stream_progress import StreamProgress


class Exchange:
    """`now` is the event loop's clock. An answer that is no stream has no deadline but the last."""

    def __init__(
        self,
        *,
        is_stream: bool,
        deadlines: Deadlines,
        session_left_s: float,
        linger_s: float,
        max_body_bytes: int,
        now: Callable[[], float],
    ) -> None:
        self._now = now
        self._started = now()
        self._is_stream = is_stream
        self._deadlines = deadlines
        self._session_ends = Deadline(self._started + session_left_s, ErrorReason.SESSION_TIMEOUT)
        self._linger_s = linger_s
        self.body = ReceivedBody(max_bytes=max_body_bytes)
        self._progress = StreamProgress(self.body)
        self._http_status: int | None = None
        self._content_type = ""
        self._was_resent = False
        self._catch_up: Callable[[], None] | None = None

    def note_resent(self) -> None:
        """The request goes out a second time, because a kept connection was closed before it."""
        self._was_resent = True

    def begin(
        self, http_status: int, content_type: str, *, catch_up: Callable[[], None] | None
    ) -> None:
        """The head of the answer is here. After `catch_up`, all that was read was also taken; None
        where nothing that was read waits.
        """
        self._http_status = http_status
        self._content_type = content_type
        self._catch_up = catch_up

    def taker(
        self, *, decoder: ContentDecoder | None, on_only_its_end_open: Callable[[], None]
    ) -> Take:
        """Keeps what reads brought, each at its time; the answer says whether more is wanted."""
        body, started = self.body, self._started

        def take(pieces: list[bytes], at_s: list[float]) -> bool:
            times_s = [at - started for at in at_s]
            if decoder is None:
                body.extend(pieces, times_s)
            else:
                for piece, time_s in zip(pieces, times_s, strict=True):
                    if body.is_full:
                        break
                    if data := decoder.feed(piece, at_most=body.room_bytes):
                        body.extend([data], [time_s])
            if self._is_stream and body.saw_done:
                on_only_its_end_open()
            return not body.is_full

        return take

    @property
    def only_its_end_is_open(self) -> bool:
        return self._is_stream and self.body.saw_done

    def waiting_s(self) -> float:
        """Since the request was sent."""
        return self._now() - self._started

    def quiet_s(self) -> float:
        """Since the last token, or since the request was sent."""
        progress_at = self.progress_at()
        return self._now() - (self._started if progress_at is None else progress_at)

    def progress_at(self) -> float | None:
        """When the last token came, on the clock of `now`; None before the first."""
        self._be_up_to_date()
        last_s = self._progress.last_s() if self._is_stream else None
        return None if last_s is None else self._started + last_s

    def next_deadline(self) -> Deadline:
        """The deadline that comes first as things stand; without a reason once all is said."""
        return min(self._next_of_turn(), self._session_ends, key=lambda deadline: deadline.at)

    def record(self, transport_end: TransportEnd, *, deadline: ErrorReason | None) -> TurnRecord:
        return TurnRecord(
            stream=self._is_stream,
            http_status=self._http_status,
            content_type=self._content_type,
            transport_end=transport_end,
            body=bytes(self.body),
            reads=self._reads(),
            ended_s=self._elapsed_s(),
            deadline=deadline,
            was_resent=self._was_resent,
        )

    # Times are to the microsecond, as they are stored: a later judgement sees the same ones.
    # `round` to six digits would take five times as long.

    def _reads(self) -> ReadTimes:
        times_s = tuple([round(at_s * 1e6) / 1e6 for at_s in self.body.times_s])
        return ReadTimes(times_s, tuple(self.body.ends_bytes))

    def _elapsed_s(self) -> float:
        return round((self._now() - self._started) * 1e6) / 1e6

    def _be_up_to_date(self) -> None:
        if self._catch_up is not None:
            self._catch_up()

    def _next_of_turn(self) -> Deadline:
        self._be_up_to_date()
        if not self._is_stream:
            return self._session_ends
        if self.body.saw_done:
            return Deadline(self._started + self.body.times_s[-1] + self._linger_s, None)
        last_progress_s = self._progress.last_s()
        if last_progress_s is None:
            at = self._started + self._deadlines.first_token_s
            return Deadline(at, ErrorReason.FIRST_TOKEN_TIMEOUT)
        at = self._started + last_progress_s + self._deadlines.no_progress_s
        return Deadline(at, ErrorReason.STALLED)
