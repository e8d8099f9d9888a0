"""Both sides in one process and one thread: prefill and decode, joined without a socket.

It numbers the rooms, decides the order inside a step, and lets one set of gauges speak for both.
"""

from __future__ import annotations

import random
from dataclasses import replace

from runner.testbed import log_lines
from runner.testbed.batch_reports import Instruments
from runner.testbed.decode_engine import DecodeEngine
from runner.testbed.generation import GenerationEvent, GenerationRequest
from runner.testbed.launch_options import LaunchOptions
from runner.testbed.model import FusedModel
from runner.testbed.page_link import LocalDecodePeer, LocalPrefillPeer
from runner.testbed.prefill_engine import PrefillEngine

_ROOM_BITS = 63


class UnifiedEngine:
    """`submit` and `abort` between steps; every step returns what happened to which request."""

    def __init__(self, model: FusedModel, options: LaunchOptions, instruments: Instruments) -> None:
        self.options = options
        self.prefill = PrefillEngine(model, options, instruments, publish=self.publish_gauges)
        self.decode = DecodeEngine(model, options, instruments, publish=self.publish_gauges)
        self._log = instruments.log
        self._to_decode = LocalDecodePeer(self.decode.instance.pool)
        self._to_prefill = LocalPrefillPeer(
            lambda message: self.prefill.receive(self._to_decode, message)
        )
        self._rooms = random.Random(options.random_seed)
        self.made_progress = False

    @property
    def is_idle(self) -> bool:
        """Nothing is queued, transferred or decoded on either side."""
        return self.prefill.is_idle and self.decode.is_idle

    def next_deadline_s(self) -> float | None:
        """When something will happen without a new request (a timeout), if ever."""
        deadlines = (self.prefill.next_deadline_s(), self.decode.next_deadline_s())
        return min((at_s for at_s in deadlines if at_s is not None), default=None)

    def submit(self, request: GenerationRequest) -> None:
        """Queue a request on both sides; its prompt must leave room for one token."""
        if request.room is None:
            request = replace(request, room=self._rooms.getrandbits(_ROOM_BITS))
        self.prefill.submit(request)
        self.decode.submit(request, self._to_prefill)

    def abort(self, rid: str) -> bool:
        """End a request whose client is gone; False if it is not here (any more)."""
        found = self.decode.abort(rid)
        self._to_decode.deliver(self.decode.receive)
        return found

    def flush_cache(self) -> bool:
        """Forget all cached prefixes; refused unless the engine is fully idle."""
        if self.is_idle:
            self.prefill.instance.cache.flush()
            self._log(log_lines.cache_flushed())
            self.publish_gauges()
            return True
        queued = self.prefill.n_waiting + self.decode.n_prealloc
        running = self.decode.n_running + self.decode.n_transferring
        self._log(log_lines.cache_not_flushed(queued=queued, running=running))
        return False

    def step(self) -> list[GenerationEvent]:
        """Finish transfers, prefill a few prompts, decode one token of every running sequence.

        `made_progress` then says whether anything changed; if not, only time or a request can.
        """
        self.prefill.send_pages()
        self._to_decode.deliver(self.decode.receive)
        self.decode.expire()
        self.decode.preallocate()
        n_prefilled = self.prefill.prefill_batch(running=self.decode.n_running)
        n_decoded = self.decode.decode_batch(queued=self.prefill.n_waiting)
        if n_decoded:
            self.prefill.instance.decoded()
        elif not n_prefilled:
            self.prefill.instance.rest()
        self._to_decode.deliver(self.decode.receive)
        events = self.decode.take_events()
        self.made_progress = bool(events or n_prefilled or n_decoded)
        return events

    def publish_gauges(self) -> None:
        self.prefill.publish_gauges()
        self.decode.publish_gauges()
