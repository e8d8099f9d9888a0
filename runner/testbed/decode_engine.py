"""The decode scheduler: who gets a slot, whose pages have come, whose answer goes on.

A request waits for a slot, gives the slot's pages to prefill, waits for them to be filled, and then
decodes, all running ones together. It reads time only from the clock it was given.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from runner.testbed import log_lines
from runner.testbed.batch_reports import DecodeReports, Instruments
from runner.testbed.decode_instance import DecodeInput, DecodeInstance
from runner.testbed.draining_slots import DrainingSlots
from runner.testbed.engine_metrics import DecodeGauges
from runner.testbed.generation import (
    CachedTokens,
    FinishReason,
    GenerationEvent,
    GenerationRequest,
)
from runner.testbed.index_audit import DecodeAudit
from runner.testbed.index_keys import PAGE_TOKENS
from runner.testbed.kv_pool import Allocate
from runner.testbed.launch_options import LaunchOptions
from runner.testbed.model import FusedModel
from runner.testbed.page_link import PrefillPeer
from runner.testbed.page_messages import (
    PageMessage,
    PagesGranted,
    PagesSent,
    RoomAborted,
    RoomDrained,
    SendFailed,
)
from runner.testbed.sequence import DecodeSequence, DecodeStage


class DecodeEngine:
    """`submit`, `receive` and `abort` between steps; a step returns what happened to whom."""

    def __init__(
        self,
        model: FusedModel,
        options: LaunchOptions,
        instruments: Instruments,
        *,
        allocate: Allocate | None = None,
        publish: Callable[[], None] | None = None,
    ) -> None:
        self.options = options
        self.instance = DecodeInstance(model, options, allocate=allocate)
        self._metrics = instruments.metrics
        self._clock = instruments.clock
        self._log = instruments.log
        self._audit = DecodeAudit(self.instance.pool, instruments.metrics)
        self._reports = DecodeReports(instruments)
        self._publish = publish or self.publish_gauges
        self._is_alone = options.disaggregation_mode == "decode"
        self._sequences: dict[str, DecodeSequence] = {}
        self._prealloc: deque[DecodeSequence] = deque()
        self._in_transfer: dict[int, DecodeSequence] = {}
        self._running: list[DecodeSequence] = []
        self._draining = DrainingSlots(options.decode_kv_release, self.instance.free_slot)
        self._events: list[GenerationEvent] = []
        self._ngram = model.config.ngram
        self._decode_steps = 0
        self._hint_given = False
        self.made_progress = False

    # -- what comes in -----------------------------------------------------------------------

    def submit(self, request: GenerationRequest, peer: PrefillPeer) -> None:
        """Queue a request that `peer` prefills; its prompt must leave room for one token."""
        assert request.room is not None
        options = self.options
        room_left = options.context_length - len(request.tokens)
        limit = min(request.max_new_tokens, options.max_output_tokens, room_left)
        sequence = DecodeSequence(request, request.room, limit, peer, submitted_s=self._clock())
        self._sequences[request.rid] = sequence
        self._prealloc.append(sequence)

    def receive(self, message: PageMessage) -> None:
        """What a prefill instance says."""
        if isinstance(message, RoomDrained):
            self._draining.drained(message.room)
            return
        sequence = self._in_transfer.get(message.room)
        if sequence is None:
            return
        if isinstance(message, PagesSent):
            sequence.cached = CachedTokens(message.device_tokens, message.host_tokens)
            self._note_arrival(sequence, message.index_sums)
            self._start_running(sequence, message.token)
        elif isinstance(message, SendFailed):
            self._fail(sequence, message.reason)

    def abort(self, rid: str) -> bool:
        """End a request whose client is gone; False if it is not here (any more)."""
        self._metrics.aborted()
        sequence = self._sequences.get(rid)
        if sequence is None:
            return False
        if sequence.stage is DecodeStage.TRANSFER:
            self._metrics.transfer_failed()
            self._log(log_lines.decode_transfer_failed(rid, sequence.room, log_lines.ABORTED))
        if sequence.stage is not DecodeStage.RUNNING:
            self._give_up(sequence, log_lines.ABORTED)
        else:
            self._remove(sequence)
        self._events.append(GenerationEvent(rid, finish=FinishReason.ABORT))
        return True

    def prefill_lost(self, peer: PrefillPeer) -> None:
        """A prefill instance is gone, and with it all that it had still to send."""
        affected = [
            s
            for s in self._sequences.values()
            if s.peer is peer and s.stage is not DecodeStage.RUNNING
        ]
        reason = log_lines.lost_prefill(peer.address, len(affected))
        self._log(reason)
        self._draining.free_all()
        for sequence in affected:
            self._fail(sequence, reason)

    def flush_cache(self) -> bool:
        """There is no prefix cache on this side; refused all the same unless fully idle."""
        if not self.is_idle:
            running = len(self._running)
            queued = len(self._sequences) - running
            self._log(log_lines.cache_not_flushed(queued=queued, running=running))
            return False
        self._log(log_lines.cache_flushed())
        self.publish_gauges()
        return True

    # -- what it says of itself --------------------------------------------------------------

    @property
    def is_idle(self) -> bool:
        """Nothing waits, is on its way or decodes, and no slot is still to be drained."""
        return not self._sequences and not len(self._draining)

    @property
    def n_running(self) -> int:
        return len(self._running)

    @property
    def n_transferring(self) -> int:
        return len(self._in_transfer)

    @property
    def n_prealloc(self) -> int:
        return len(self._prealloc)

    def next_deadline_s(self) -> float | None:
        """When a transfer or a drain will have taken too long, if one is under way."""
        waits = [s.granted_s for s in self._in_transfer.values()]
        expiry_s = min(waits) + self.options.disaggregation_waiting_timeout if waits else None
        drain_s = self._draining.next_deadline_s()
        return min((at_s for at_s in (expiry_s, drain_s) if at_s is not None), default=None)

    def gauges(self) -> DecodeGauges:
        options = self.options
        return DecodeGauges(
            running=len(self._running),
            prealloc=len(self._prealloc),
            transferring=len(self._in_transfer),
            tokens=sum(sequence.n_tokens for sequence in self._running),
            pending_tokens=sum(sequence.n_tokens for sequence in self._in_transfer.values()),
            total_tokens=options.max_running_requests * options.context_length,
        )

    def publish_gauges(self) -> None:
        gauges = self.gauges()
        values = gauges.values() | {"gen_throughput": self._reports.tokens_per_s}
        self._metrics.publish(values | gauges.pool_values() if self._is_alone else values)

    # -- one step ----------------------------------------------------------------------------

    def step(self) -> list[GenerationEvent]:
        """Give free slots away, fail what waited too long, decode one token of every sequence."""
        self.expire()
        self.preallocate()
        n_decoded = self.decode_batch(queued=0)
        events = self.take_events()
        self.made_progress = bool(events or n_decoded)
        return events

    def take_events(self) -> list[GenerationEvent]:
        """What happened since the last call."""
        events, self._events = self._events, []
        return events

    def expire(self) -> None:
        """Fail transfers whose done signal has not come in time."""
        now_s, timeout_s = self._clock(), self.options.disaggregation_waiting_timeout
        for room in self._draining.expire(now_s):
            self._log(log_lines.release_without_drain(room, self._draining.timeout_s))
        for sequence in [*self._in_transfer.values()]:
            if now_s - sequence.granted_s >= timeout_s:
                self._time_out(sequence, log_lines.waiting_timeout(sequence.room, timeout_s))

    def preallocate(self) -> None:
        """Give free slots to those who wait longest, and their pages to prefill."""
        while self._prealloc and self.instance.free_slots:
            sequence = self._prealloc.popleft()
            slot = sequence.slot = self.instance.take_slot(owner=sequence.room)
            sequence.stage, sequence.granted_s = DecodeStage.TRANSFER, self._clock()
            self._metrics.slot_found(sequence.granted_s - sequence.submitted_s)
            self._in_transfer[sequence.room] = sequence
            pages = self._prompt_pages(sequence)
            index_pages = pages[: max(0, len(pages) - self.options.state_pages_short)]
            sequence.peer.send(PagesGranted(sequence.room, slot, pages, index_pages))

    def decode_batch(self, *, queued: int) -> int:
        """One token of every running sequence; returns how many those were."""
        batch = list(self._running)
        if not batch:
            return 0
        chosen = self.instance.step([self._decode_input(sequence) for sequence in batch])
        self._reports.decoded(len(batch))
        for sequence, token in zip(batch, chosen, strict=True):
            self._tell(sequence, sequence.append(token))
        self._decode_steps += 1
        if self._decode_steps % self.options.decode_log_interval == 0:
            self._reports.batch(self.gauges(), queued=queued)
            self._publish()
        return len(batch)

    def _decode_input(self, sequence: DecodeSequence) -> DecodeInput:
        assert sequence.slot is not None
        newest = sequence.newest_tokens(self._ngram)
        return DecodeInput(newest, sequence.n_tokens, sequence.slot)

    def _note_arrival(self, sequence: DecodeSequence, sums: tuple[int, ...]) -> None:
        sequence.index_sums = sums
        sequence.intact_pages = self._audit.arrived(self._prompt_pages(sequence), sums)

    def _note_end(self, sequence: DecodeSequence) -> None:
        """Decoding has changed none of the prompt's pages but the last, if that was not full."""
        n_full = len(sequence.request.tokens) // PAGE_TOKENS
        places = [place for place in sequence.intact_pages if place < n_full]
        self._audit.ended(self._prompt_pages(sequence), sequence.index_sums, places)

    def _prompt_pages(self, sequence: DecodeSequence) -> tuple[int, ...]:
        assert sequence.slot is not None
        return self.instance.pages(sequence.slot, -(-len(sequence.request.tokens) // PAGE_TOKENS))

    def _start_running(self, sequence: DecodeSequence, token: int) -> None:
        """The first token was chosen by prefill; it is told once its pages are here."""
        del self._in_transfer[sequence.room]
        sequence.stage = DecodeStage.RUNNING
        self._running.append(sequence)
        self._tell(sequence, sequence.append(token))

    def _tell(self, sequence: DecodeSequence, token: int) -> None:
        """The event of a new token; ends the sequence if it was the last."""
        reason = sequence.finish_reason()
        if reason is not None:
            self._metrics.finished(
                prompt=len(sequence.request.tokens),
                generated=len(sequence.output),
                cached=sequence.cached,
                stream=sequence.request.stream,
            )
            self._note_end(sequence)
            self._remove(sequence)
        self._events.append(GenerationEvent(sequence.request.rid, token, reason, sequence.cached))

    # -- failures ----------------------------------------------------------------------------

    def _time_out(self, sequence: DecodeSequence, reason: str) -> None:
        if not self._hint_given:
            self._hint_given = True
            self._log(log_lines.waiting_timeout_hint())
        self._fail(sequence, reason, tell_prefill=True)

    def _fail(self, sequence: DecodeSequence, reason: str, *, tell_prefill: bool = False) -> None:
        rid, room = sequence.request.rid, sequence.room
        self._metrics.transfer_failed()
        line = log_lines.decode_transfer_failed(rid, room, reason)
        self._log(line)
        self._events.append(GenerationEvent(rid, finish=FinishReason.ABORT, error=line))
        if tell_prefill:
            self._give_up(sequence, reason)
        else:
            self._remove(sequence)

    def _give_up(self, sequence: DecodeSequence, reason: str) -> None:
        """Tell prefill that nobody waits any more; the slot is free when it has answered."""
        if sequence.slot is not None:
            self._draining.add(sequence.room, sequence.slot, now_s=self._clock())
            sequence.slot = None
        self._remove(sequence)
        sequence.peer.send(RoomAborted(sequence.room, reason))

    def _remove(self, sequence: DecodeSequence) -> None:
        """Take a sequence out of every queue and give back its slot."""
        del self._sequences[sequence.request.rid]
        self._in_transfer.pop(sequence.room, None)
        if sequence in self._prealloc:
            self._prealloc.remove(sequence)
        if sequence in self._running:
            self._running.remove(sequence)
        if sequence.slot is not None:
            self.instance.free_slot(sequence.slot)
