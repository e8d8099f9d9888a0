"""The prefill scheduler: which prompt is computed when, and when its pages go to decode.

A request waits for decode's pages (bootstrap), then for its turn, then for its pages to be written.
It reads time only from the clock it was given; it knows no HTTP and no sockets.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from runner.testbed import log_lines
from runner.testbed.batch_reports import Instruments, PrefillReports
from runner.testbed.cache_metrics import CacheMetrics
from runner.testbed.engine_metrics import PoolGauges, PrefillGauges
from runner.testbed.generation import (
    CachedTokens,
    FinishReason,
    GenerationEvent,
    GenerationRequest,
)
from runner.testbed.index_keys import PAGE_TOKENS
from runner.testbed.launch_options import LaunchOptions
from runner.testbed.model import FusedModel
from runner.testbed.page_link import DecodePeer
from runner.testbed.page_messages import (
    PageMessage,
    PagesGranted,
    PagesSent,
    RoomAborted,
    RoomDrained,
    SendFailed,
)
from runner.testbed.page_sender import PageSender, Sending
from runner.testbed.prefill_instance import PrefillInstance
from runner.testbed.radix_cache import Lease
from runner.testbed.room_register import RoomRegister
from runner.testbed.sequence import PrefillSequence, PrefillStage

_LOST_DECODE = "Lost connection with decode instance"


class PrefillEngine:
    """`submit`, `receive` and `abort` between steps; a step returns what happened to whom.

    Only where it has clients of its own (`--disaggregation-mode prefill`) does it tell events and
    count finished requests; otherwise the decode side does that for both.
    """

    def __init__(
        self,
        model: FusedModel,
        options: LaunchOptions,
        instruments: Instruments,
        *,
        publish: Callable[[], None] | None = None,
    ) -> None:
        self.options = options
        self._publish = publish or self.publish_gauges
        self._metrics = instruments.metrics
        self._clock = instruments.clock
        cache_metrics = CacheMetrics(instruments.metrics.registry, self._clock)
        self.instance = PrefillInstance(
            model, options, cache_metrics, self._clock, audit_metrics=instruments.metrics
        )
        self._log = instruments.log
        self._reports = PrefillReports(instruments)
        self._sender = PageSender(
            self.instance.pool, options.transfer_faults(), sums_pages=options.index_audit
        )
        self._has_clients = options.disaggregation_mode == "prefill"
        self._rooms = RoomRegister()
        self._waiting: deque[PrefillSequence] = deque()
        self._events: list[GenerationEvent] = []
        self._hint_given = False
        self.made_progress = False

    # -- what comes in -----------------------------------------------------------------------

    def submit(self, request: GenerationRequest) -> None:
        """Queue a request, whose room must be known."""
        assert request.room is not None
        sequence = PrefillSequence(request, request.room, self._clock())
        self._rooms.add(sequence)
        ended, early = self._rooms.end_of(sequence.room), self._rooms.take_grant(sequence.room)
        if ended is not None:
            self._fail(sequence, ended)
        elif early is not None:
            self._bootstrap(sequence, *early)

    def receive(self, peer: DecodePeer, message: PageMessage) -> None:
        """What a decode instance says."""
        if isinstance(message, PagesGranted):
            self._take_grant(peer, message)
        elif isinstance(message, RoomAborted):
            self._take_abort(peer, message)

    def abort(self, rid: str) -> bool:
        """End a request whose client is gone; False if it is not here (any more)."""
        self._metrics.aborted()
        sequence = self._rooms.with_rid(rid)
        if sequence is not None:
            self._fail(sequence, log_lines.ABORTED)
        return sequence is not None

    def peer_lost(self, peer: DecodePeer) -> None:
        """A decode instance is gone, and its memory with it."""
        for sequence in [s for s in self._rooms if s.peer is peer]:
            self._sender.abandon(sequence.room)
            self._fail(sequence, _LOST_DECODE)

    def flush_cache(self) -> bool:
        """Forget all cached prefixes; refused unless fully idle."""
        if not self.is_idle:
            queued = len(self._rooms) - len(self._sender)
            self._log(log_lines.cache_not_flushed(queued=queued, running=len(self._sender)))
            return False
        self.instance.cache.flush()
        self._log(log_lines.cache_flushed())
        self.publish_gauges()
        return True

    # -- what it says of itself --------------------------------------------------------------

    @property
    def is_idle(self) -> bool:
        """Nothing waits, is computed or on its way."""
        return not len(self._rooms)

    @property
    def n_waiting(self) -> int:
        return len(self._waiting)

    def next_deadline_s(self) -> float | None:
        """When something will happen without a message or a request, if ever."""
        oldest_s, slow_s = self._rooms.oldest_wait_s(), self._sender.next_deadline_s()
        timeout_s = self.options.disaggregation_bootstrap_timeout
        expiry_s = None if oldest_s is None else oldest_s + timeout_s
        return min((at_s for at_s in (expiry_s, slow_s) if at_s is not None), default=None)

    def gauges(self) -> PrefillGauges:
        instance, options = self.instance, self.options
        return PrefillGauges(
            bootstrap=sum(s.stage is PrefillStage.BOOTSTRAP for s in self._rooms),
            waiting=len(self._waiting),
            waiting_tokens=sum(len(s.request.tokens) for s in self._waiting),
            inflight=len(self._sender),
            pool=PoolGauges(
                instance.used_tokens, instance.evictable_tokens, options.pages * PAGE_TOKENS
            ),
            host_used_tokens=instance.host_used_tokens,
            host_total_tokens=options.host_pages * PAGE_TOKENS,
        )

    def publish_gauges(self) -> None:
        self.instance.report_audit()
        values = self.gauges().values()
        self._metrics.publish(values | {"num_running_reqs": 0} if self._has_clients else values)

    # -- one step ----------------------------------------------------------------------------

    def step(self) -> list[GenerationEvent]:
        """Write what is due, then prefill a few prompts."""
        n_sent, n_prefilled = self.send_pages(), self.prefill_batch(running=0)
        if not n_prefilled:
            self.instance.rest()
        self.made_progress = n_sent + n_prefilled > 0
        events, self._events = self._events, []
        return events

    def send_pages(self) -> int:
        """Carry out the transfers that are due, fail what waited too long; returns how many."""
        now_s = self._clock()
        ended = self._sender.poll(now_s)
        for sending in ended:
            self._sent(sending, now_s)
        self._metrics.late_writes(self._sender.take_late_writes())
        timeout_s = self.options.disaggregation_bootstrap_timeout
        expired = self._rooms.overdue(now_s, timeout_s)
        for sequence in expired:
            self._hint()
            self._fail(sequence, log_lines.bootstrap_timeout(sequence.room, timeout_s))
        return len(ended) + len(expired)

    def prefill_batch(self, *, running: int) -> int:
        """Prefill waiting requests, first come first served; returns how many."""
        batch: list[PrefillSequence] = []
        while self._waiting and len(batch) < self.options.prefill_max_requests:
            lease = self.instance.acquire(self._waiting[0].request.tokens)
            if lease is None:
                break
            sequence = self._waiting.popleft()
            self._prefill(sequence, lease)
            batch.append(sequence)
        if batch:
            self._reports.batch(self.gauges(), batch, running=running)
            self._publish()
        return len(batch)

    def _prefill(self, sequence: PrefillSequence, lease: Lease) -> None:
        tokens = sequence.request.tokens
        started_s = self._clock()
        self._metrics.queued(started_s - sequence.submitted_s)
        sequence.lease = lease
        sequence.cached = CachedTokens(lease.cached_tokens - lease.host_tokens, lease.host_tokens)
        sequence.token = self.instance.run(tokens, lease)
        sequence.stage = PrefillStage.INFLIGHT
        computed = len(tokens) - sequence.cached.total
        self._metrics.prefilled(computed=computed, cached=sequence.cached)
        assert sequence.grant is not None and sequence.peer is not None
        pages, grant = lease.page_table, sequence.grant
        if len(grant.index_pages) != len(pages):
            self._log(log_lines.index_pages_differ(len(pages), len(grant.index_pages)))
        sending = Sending(grant, sequence.peer.pool, pages)
        sequence.computed_s = self._clock()
        self._sender.submit(sending, now_s=sequence.computed_s)

    def _sent(self, sending: Sending, now_s: float) -> None:
        """The pages are there; if the request failed meanwhile, only now may they be reused."""
        sequence = self._rooms.get(sending.grant.room)
        assert sequence is not None and sequence.peer is not None
        room, cached = sequence.room, sequence.cached
        if sequence.failure is None:
            n_pages = len(sending.source_pages)
            n_bytes = n_pages * self.instance.pool.page_bytes
            self._metrics.transferred(n_bytes=n_bytes, seconds=now_s - sequence.computed_s)
            sequence.peer.send(
                PagesSent(room, sequence.token, cached.device, cached.host, sending.index_sums)
            )
            self._tell_client(sequence)
            self._remove(sequence)
        else:
            self._let_go(sequence)

    def _tell_client(self, sequence: PrefillSequence) -> None:
        if not self._has_clients:
            return
        request, cached = sequence.request, sequence.cached
        self._metrics.finished(
            prompt=len(request.tokens), generated=1, cached=cached, stream=request.stream
        )
        self._events.append(
            GenerationEvent(request.rid, sequence.token, FinishReason.LENGTH, cached)
        )

    # -- decode's messages, and failures -----------------------------------------------------

    def _take_grant(self, peer: DecodePeer, grant: PagesGranted) -> None:
        sequence, ended = self._rooms.get(grant.room), self._rooms.end_of(grant.room)
        if sequence is not None:
            self._bootstrap(sequence, peer, grant)
        elif ended is not None:
            peer.send(SendFailed(grant.room, ended))
        else:  # decode was quicker than the request
            self._rooms.keep_grant(peer, grant)

    def _bootstrap(self, sequence: PrefillSequence, peer: DecodePeer, grant: PagesGranted) -> None:
        sequence.peer, sequence.grant = peer, grant
        sequence.stage = PrefillStage.WAITING
        self._metrics.bootstrapped(self._clock() - sequence.submitted_s)
        self._waiting.append(sequence)

    def _take_abort(self, peer: DecodePeer, message: RoomAborted) -> None:
        self._rooms.take_grant(message.room)
        sequence = self._rooms.get(message.room)
        if sequence is None:
            self._rooms.remember_end(message.room, message.reason)
            peer.send(RoomDrained(message.room))
            return
        sequence.peer = sequence.peer or peer
        sequence.was_told = True
        self._fail(sequence, message.reason)

    def _fail(self, sequence: PrefillSequence, reason: str) -> None:
        """End a request badly; pages that are being written right now are waited for."""
        rid, room = sequence.request.rid, sequence.room
        if sequence.failure is not None:
            return
        sequence.failure = reason
        if sequence.stage is PrefillStage.INFLIGHT:
            line = log_lines.prefill_transfer_failed(rid, room, reason)
            if self._has_clients:  # else decode counts it
                self._metrics.transfer_failed()
        else:
            line = log_lines.prefill_bootstrap_failed(rid, room, reason)
            if self._has_clients or sequence.stage is PrefillStage.BOOTSTRAP:
                self._metrics.bootstrap_failed()
        self._log(line)
        self._rooms.remember_end(room, reason)
        if self._has_clients:
            self._events.append(GenerationEvent(rid, finish=FinishReason.ABORT, error=line))
        if self._sender.abort(room):
            self._let_go(sequence)

    def _let_go(self, sequence: PrefillSequence) -> None:
        assert sequence.failure is not None
        if sequence.peer is not None:
            answer: PageMessage = SendFailed(sequence.room, sequence.failure)
            sequence.peer.send(RoomDrained(sequence.room) if sequence.was_told else answer)
        self._remove(sequence)

    def _remove(self, sequence: PrefillSequence) -> None:
        self._rooms.remove(sequence)
        if sequence.stage is PrefillStage.WAITING:
            self._waiting.remove(sequence)
        if sequence.lease is not None:
            self.instance.release(sequence.lease)

    def _hint(self) -> None:
        if not self._hint_given:
            self._hint_given = True
            self._log(log_lines.bootstrap_timeout_hint())
