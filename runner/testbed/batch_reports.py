"""What an engine says after a batch: its line in the log, and the gauges that go with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from runner.testbed import log_lines
from runner.testbed.engine_metrics import DecodeGauges, EngineMetrics, PrefillGauges
from runner.testbed.sequence import PrefillSequence
from runner.testbed.throughput import Throughput

Log = Callable[[str], None]
Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Instruments:
    """What an engine is observed with."""

    metrics: EngineMetrics
    clock: Clock
    log: Log


class PrefillReports:
    """`running`: how many requests the process decodes meanwhile, where it does."""

    def __init__(self, instruments: Instruments) -> None:
        self._log = instruments.log
        self._rate = Throughput(instruments.clock)

    def batch(
        self, gauges: PrefillGauges, batch: Sequence[PrefillSequence], *, running: int
    ) -> None:
        cached = sum(sequence.cached.total for sequence in batch)
        computed = sum(len(sequence.request.tokens) for sequence in batch) - cached
        self._log(
            log_lines.prefill_batch(
                new_sequences=len(batch),
                new_tokens=computed,
                cached_tokens=cached,
                token_usage=gauges.pool.usage,
                running=running,
                queued=gauges.waiting,
                pending_tokens=gauges.waiting_tokens,
                bootstrap=gauges.bootstrap,
                inflight=gauges.inflight,
                tokens_per_s=self._rate.since_last(computed),
            )
        )


class DecodeReports:
    def __init__(self, instruments: Instruments) -> None:
        self._metrics = instruments.metrics
        self._log = instruments.log
        self._rate = Throughput(instruments.clock)

    @property
    def tokens_per_s(self) -> float:
        """As of the last report."""
        return self._rate.last

    def decoded(self, n_tokens: int) -> None:
        self._rate.count(n_tokens)
        self._metrics.decoded(n_tokens)

    def batch(self, gauges: DecodeGauges, *, queued: int) -> None:
        self._log(
            log_lines.decode_batch(
                running=gauges.running,
                tokens=gauges.tokens,
                token_usage=gauges.usage,
                pending_usage=gauges.pending_usage,
                prealloc=gauges.prealloc,
                transfer=gauges.transferring,
                queued=queued,
                tokens_per_s=self._rate.since_last(),
            )
        )
        self._metrics.decode_reported()
