"""The engine: continuous batching over a prefill and a decode instance, one `step` at a time.

It decides who is prefilled, transferred, decoded and ended. It runs in whatever thread calls it,
reads time only from the clock it was given, and knows no HTTP.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable

from runner.testbed import log_lines
from runner.testbed.decode_instance import DecodeInput, DecodeInstance
from runner.testbed.engine_metrics import EngineGauges, EngineMetrics
from runner.testbed.engine_reports import EngineReports
from runner.testbed.generation import (
    CachedTokens,
    FinishReason,
    GenerationEvent,
    GenerationRequest,
)
from runner.testbed.index_keys import PAGE_TOKENS
from runner.testbed.launch_options import LaunchOptions
from runner.testbed.model import FusedModel
from runner.testbed.prefill_instance import PrefillInstance
from runner.testbed.radix_cache import Lease
from runner.testbed.sequence import Sequence, Stage
from runner.testbed.transfer import KVPoll, PageTransfer, TransferQueue

Log = Callable[[str], None]
Clock = Callable[[], float]


class Engine:
    """`submit` and `abort` between steps; every step returns what happened to which request."""

    def __init__(
        self,
        model: FusedModel,
        options: LaunchOptions,
        *,
        metrics: EngineMetrics,
        clock: Clock,
        log: Log,
    ) -> None:
        self.options = options
        self.prefill_side = PrefillInstance(model, options)
        self.decode_side = DecodeInstance(model, options)
        self._metrics = metrics
        self._clock = clock
        self._log = log
        self._transfers = TransferQueue(
            self.prefill_side.pool,
            self.decode_side.pool,
            stall_after=options.stall_transfer_after,
            timeout_s=options.disaggregation_waiting_timeout,
        )
        self._rooms = random.Random(options.random_seed)
        self._sequences: dict[str, Sequence] = {}
        self._prealloc: deque[Sequence] = deque()
        self._waiting: deque[Sequence] = deque()
        self._in_transfer: dict[int, Sequence] = {}
        self._running: list[Sequence] = []
        self._reports = EngineReports(metrics, clock=clock, log=log)
        self._ngram = model.config.ngram
        self._decode_steps = 0
        self._hint_given = False
        self.made_progress = False

    @property
    def is_idle(self) -> bool:
        """Nothing is queued, transferred or decoded."""
        return not self._sequences

    def next_deadline_s(self) -> float | None:
        """When something will happen without a new request (a transfer's timeout), if ever."""
        return self._transfers.next_deadline_s()

    def submit(self, request: GenerationRequest) -> None:
        """Queue a request; its prompt must leave room for one token."""
        options = self.options
        room_left = options.context_length - len(request.tokens)
        limit = min(request.max_new_tokens, options.max_output_tokens, room_left)
        sequence = Sequence(request, self._rooms.getrandbits(63), limit)
        self._sequences[request.rid] = sequence
        self._prealloc.append(sequence)

    def abort(self, rid: str) -> bool:
        """End a request whose client is gone; False if it is not here (any more)."""
        self._metrics.aborted()
        sequence = self._sequences.get(rid)
        if sequence is None:
            return False
        room, reason = sequence.room, log_lines.ABORTED
        if sequence.stage in (Stage.PREALLOC, Stage.WAITING):
            self._metrics.bootstrap_failed()
            self._log(log_lines.prefill_bootstrap_failed(rid, room, reason))
        elif sequence.stage is Stage.TRANSFER:
            self._metrics.transfer_failed()
            self._log(log_lines.decode_transfer_failed(rid, room, reason))
            self._log(log_lines.prefill_transfer_failed(rid, room, reason))
        self._remove(sequence)
        return True

    def flush_cache(self) -> bool:
        """Forget all cached prefixes; refused unless the engine is fully idle."""
        if not self.is_idle:
            waiting = len(self._prealloc) + len(self._waiting)
            running = len(self._sequences) - waiting
            self._log(log_lines.cache_not_flushed(queued=waiting, running=running))
            return False
        self.prefill_side.cache.flush()
        self._log(log_lines.cache_flushed())
        self.publish_gauges()
        return True

    def step(self) -> list[GenerationEvent]:
        """Finish transfers, prefill a few prompts, decode one token of every running sequence.

        `made_progress` then says whether anything changed; if not, only time or a request can.
        """
        events = self._finish_transfers()
        n_prefilled = self._prefill_batch()
        n_decoded = len(self._running)
        events += self._decode_batch()
        self.made_progress = bool(events or n_prefilled or n_decoded)
        return events

    def gauges(self) -> EngineGauges:
        prefill_side, options = self.prefill_side, self.options
        return EngineGauges(
            running=len(self._running),
            waiting=len(self._waiting),
            prealloc=len(self._prealloc),
            transferring=len(self._in_transfer),
            used_tokens=prefill_side.used_tokens,
            evictable_tokens=prefill_side.evictable_tokens,
            total_tokens=options.pages * PAGE_TOKENS,
            decode_tokens=sum(sequence.n_tokens for sequence in self._running),
            decode_total_tokens=options.max_running_requests * options.context_length,
            host_used_tokens=prefill_side.host_used_tokens,
            host_total_tokens=options.host_pages * PAGE_TOKENS,
        )

    def publish_gauges(self) -> None:
        self._reports.publish(self.gauges())

    # -- transfers ---------------------------------------------------------------------------

    def _finish_transfers(self) -> list[GenerationEvent]:
        events = []
        for transfer in self._transfers.poll(self._clock()):
            sequence = self._in_transfer.pop(transfer.room)
            if transfer.state is KVPoll.SUCCESS:
                events += self._start_running(sequence)
            else:
                events.append(self._fail(sequence, transfer.failure or "unknown reason"))
        return events

    def _start_running(self, sequence: Sequence) -> list[GenerationEvent]:
        """The first token was chosen by prefill; it is told once its pages are here."""
        if sequence.lease is not None:
            self.prefill_side.release(sequence.lease)
            sequence.lease = None
        sequence.stage = Stage.RUNNING
        self._running.append(sequence)
        return [self._told(sequence, sequence.output[-1])]

    def _fail(self, sequence: Sequence, reason: str) -> GenerationEvent:
        rid, room = sequence.request.rid, sequence.room
        self._metrics.transfer_failed()
        self._log(log_lines.decode_transfer_failed(rid, room, reason))
        if not self._hint_given:
            self._hint_given = True
            self._log(log_lines.waiting_timeout_hint())
        self._remove(sequence)
        message = log_lines.decode_transfer_failed(rid, room, reason)
        return GenerationEvent(rid, finish=FinishReason.ABORT, error=message)

    # -- prefill -----------------------------------------------------------------------------

    def _prefill_batch(self) -> int:
        """Prefill waiting requests, first come first served; returns how many."""
        self._preallocate()
        batch: list[Sequence] = []
        while self._waiting and len(batch) < self.options.prefill_max_requests:
            lease = self.prefill_side.acquire(self._waiting[0].request.tokens)
            if lease is None:
                break
            sequence = self._waiting.popleft()
            self._prefill(sequence, lease)
            batch.append(sequence)
        if batch:
            self._reports.prefill_batch(self.gauges(), batch)
        return len(batch)

    def _preallocate(self) -> None:
        while self._prealloc and self.decode_side.free_slots:
            sequence = self._prealloc.popleft()
            sequence.slot = self.decode_side.take_slot()
            sequence.stage = Stage.WAITING
            self._waiting.append(sequence)

    def _prefill(self, sequence: Sequence, lease: Lease) -> None:
        tokens = sequence.request.tokens
        cached = CachedTokens(lease.cached_tokens - lease.host_tokens, lease.host_tokens)
        sequence.lease, sequence.cached = lease, cached
        sequence.append(self.prefill_side.run(tokens, lease))
        sequence.stage = Stage.TRANSFER
        self._in_transfer[sequence.room] = sequence
        pages = lease.page_table
        assert sequence.slot is not None
        targets = self.decode_side.pages(sequence.slot, len(pages))
        self._transfers.submit(PageTransfer(sequence.room, pages, targets, self._clock()))
        self._metrics.prefilled(computed=len(tokens) - cached.total, cached=cached)
        self._metrics.evicted(so_far=self.prefill_side.cache.evicted_tokens)

    # -- decode ------------------------------------------------------------------------------

    def _decode_batch(self) -> list[GenerationEvent]:
        batch = list(self._running)
        if not batch:
            return []
        chosen = self.decode_side.step([self._decode_input(sequence) for sequence in batch])
        self._reports.decoded(len(batch))
        events = [
            self._told(sequence, sequence.append(token))
            for sequence, token in zip(batch, chosen, strict=True)
        ]
        self._decode_steps += 1
        if self._decode_steps % self.options.decode_log_interval == 0:
            self._reports.decode_batch(self.gauges())
        return events

    def _decode_input(self, sequence: Sequence) -> DecodeInput:
        assert sequence.slot is not None
        newest = sequence.newest_tokens(self._ngram)
        return DecodeInput(newest, sequence.n_tokens, sequence.slot)

    def _told(self, sequence: Sequence, token: int) -> GenerationEvent:
        """The event of a new token; ends the sequence if it was the last."""
        reason = sequence.finish_reason()
        if reason is not None:
            self._metrics.finished(
                prompt=len(sequence.request.tokens),
                generated=len(sequence.output),
                cached=sequence.cached,
                stream=sequence.request.stream,
            )
            self._remove(sequence)
        return GenerationEvent(sequence.request.rid, token, reason, sequence.cached)

    def _remove(self, sequence: Sequence) -> None:
        """Take a sequence out of every queue and give back all it holds."""
        del self._sequences[sequence.request.rid]
        for queue in (self._prealloc, self._waiting, self._running):
            if sequence in queue:
                queue.remove(sequence)
        if self._in_transfer.pop(sequence.room, None) is not None:
            self._transfers.abort(sequence.room)
        if sequence.lease is not None:
            self.prefill_side.release(sequence.lease)
        if sequence.slot is not None:
            self.decode_side.free_slot(sequence.slot)
