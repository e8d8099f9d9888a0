"""What the engine says about itself: batch lines in the log, and the gauges that go with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from runner.testbed import log_lines
from runner.testbed.engine_metrics import EngineGauges, EngineMetrics
from runner.testbed.sequence import Sequence as EngineSequence
from runner.testbed.throughput import Throughput


class EngineReports:
    """Every report publishes the gauges too, so that they move and freeze together."""

    def __init__(
        self, metrics: EngineMetrics, *, clock: Callable[[], float], log: Callable[[str], None]
    ) -> None:
        self._metrics = metrics
        self._log = log
        self._decode_rate = Throughput(clock)
        self._prefill_rate = Throughput(clock)

    def decoded(self, n_tokens: int) -> None:
        self._decode_rate.count(n_tokens)
        self._metrics.decoded(n_tokens)

    def prefill_batch(self, gauges: EngineGauges, batch: Sequence[EngineSequence]) -> None:
        cached = sum(sequence.cached.total for sequence in batch)
        computed = sum(len(sequence.request.tokens) for sequence in batch) - cached
        self._log(
            log_lines.prefill_batch(
                new_sequences=len(batch),
                new_tokens=computed,
                cached_tokens=cached,
                token_usage=gauges.token_usage,
                running=gauges.running,
                queued=gauges.waiting,
                bootstrap=gauges.prealloc,
                inflight=gauges.transferring,
                tokens_per_s=self._prefill_rate.since_last(computed),
            )
        )
        self.publish(gauges)

    def decode_batch(self, gauges: EngineGauges) -> None:
        self._log(
            log_lines.decode_batch(
                running=gauges.running,
                tokens=gauges.decode_tokens,
                token_usage=gauges.decode_usage,
                prealloc=gauges.prealloc,
                transfer=gauges.transferring,
                queued=gauges.waiting,
                tokens_per_s=self._decode_rate.since_last(),
            )
        )
        self.publish(gauges)

    def publish(self, gauges: EngineGauges) -> None:
        self._metrics.publish(gauges, tokens_per_s=self._decode_rate.last)
