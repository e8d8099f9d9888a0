"""The course of one server as its log tells it, by line numbers: ends, starts, work."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from runner.observe.batch_lines import BatchLine
from runner.observe.log_events import LogEvent
from runner.observe.log_records import LogRecord

ENDS = frozenset({"process_exit", "scheduler_exception", "engine_dead"})


@dataclass(frozen=True, slots=True)
class ServerLife:
    """Line numbers, ascending. `ends`: it ended or began anew. `signs`: it was ready, or worked."""

    ends: tuple[int, ...]
    ready: tuple[int, ...]
    signs: tuple[int, ...]
    progress: tuple[int, ...]

    @classmethod
    def of(
        cls,
        events: Iterable[LogEvent],
        batches: Iterable[BatchLine],
        starts: Iterable[LogRecord],
        source: str,
    ) -> "ServerLife":
        """Of the server that writes as `source`."""
        own = [event for event in events if event.record.source == source]
        work = [batch for batch in batches if batch.record.source == source]
        ready = [event.record.number for event in own if event.id == "ready"]
        ends = [event.record.number for event in own if event.id in ENDS]
        ends += [record.number for record in starts if record.source == source]
        return cls(
            ends=tuple(sorted(ends)),
            ready=tuple(sorted(ready)),
            signs=tuple(sorted([*ready, *(batch.record.number for batch in work)])),
            progress=tuple(sorted(each.record.number for each in work if each.has_progress)),
        )


def next_after(numbers: Sequence[int], at: int) -> int | None:
    index = bisect_right(numbers, at)
    return numbers[index] if index < len(numbers) else None


def last_before(numbers: Sequence[int], at: int) -> int | None:
    index = bisect_left(numbers, at)
    return numbers[index - 1] if index > 0 else None
