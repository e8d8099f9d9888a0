"""Finds engines that stand still by what their status lines say, and by their absence.

Nothing writes an error then: a queue keeps its number, throughput is zero, or the lines stop.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from runner.observe.batch_lines import BatchLine
from runner.observe.event_catalogue import EventClass
from runner.observe.log_findings import LogFinding, with_fields
from runner.observe.log_records import LogRecord
from runner.observe.scrape_verdict import LONGEST_PAUSE_S

_LOW_USAGE = 0.5
_LEAST_LINES = 3
_SILENT_INTERVALS = 3


def stillness_findings(batches: Sequence[BatchLine], last: LogRecord | None) -> list[LogFinding]:
    """One finding for each engine and each way in which it stood still."""
    by_engine: defaultdict[tuple[str, str], list[BatchLine]] = defaultdict(list)
    for batch in batches:
        by_engine[batch.record.source, batch.engine].append(batch)
    found: list[LogFinding] = []
    for (_, engine), lines in by_engine.items():
        found.extend(_frozen_queues(engine, lines))
        found.extend(_zero_lines(engine, lines, last))
    return found


def _frozen_queues(engine: str, lines: Sequence[BatchLine]) -> Iterable[LogFinding]:
    """Transfers that stay while the queue behind them grows and the cache is nearly empty.

    Throughput may stay above zero: a request that was admitted earlier goes on (sgl#31800).
    """
    names = dict.fromkeys(queue for line in lines for queue, _, _, _ in line.queues)
    for name in names:
        series = [
            (line, size, behind)
            for line in lines
            for queue, size, _, behind in line.queues
            if queue == name
        ]
        start = 0
        best: tuple[float, int, int] | None = None
        for index in range(1, len(series) + 1):
            if index < len(series) and _goes_on(series[index - 1], series[index]):
                continue
            span_s = _span_s(series[start][0].record, series[index - 1][0].record)
            grew = series[index - 1][2] > series[start][2]
            is_full_run = index - start >= _LEAST_LINES and span_s is not None
            if is_full_run and grew and span_s and span_s >= LONGEST_PAUSE_S:
                best = max(best or (0.0, 0, 0), (span_s, start, index - 1))
            start = index
        if best is not None:
            first, final = series[best[1]], series[best[2]]
            yield with_fields(
                _finding(
                    "transfer_queue_frozen",
                    EventClass.WEDGE,
                    first[0],
                    "Requests sit in the transfer queue and none gets through: admission stands.",
                    lines=best[2] - best[1] + 1,
                ),
                queue=name,
                value=first[1],
                span_s=_span_s(first[0].record, final[0].record),
                where=engine or None,
            )


def _goes_on(before: tuple[BatchLine, float, float], now: tuple[BatchLine, float, float]) -> bool:
    return (
        now[1] == before[1] > 0
        and now[2] >= before[2]
        and (now[0].token_usage or 0.0) < _LOW_USAGE
        and (now[0].running or 0.0) <= (before[0].running or 0.0)
    )


def _zero_lines(
    engine: str, lines: Sequence[BatchLine], last: LogRecord | None
) -> Iterable[LogFinding]:
    """vLLM writes one line of zeros and falls silent, or goes on writing them: both occur.

    Silence after zeros without running requests is an idle server.
    """
    intervals = [line for line in lines if line.phase == "interval"]
    if not intervals:
        return
    for run in _zero_runs(intervals):
        is_last = run[-1] is intervals[-1]
        silence_s = _span_s(run[-1].record, last) if is_last and last is not None else None
        is_silent = silence_s is not None and silence_s >= _longest_silence_s(intervals)
        is_alarm = is_silent or (len(run) > 1 and (_run_span_s(run) >= LONGEST_PAUSE_S))
        finding = _finding(
            "zero_throughput_with_running",
            EventClass.WEDGE if is_alarm else EventClass.SLOW,
            run[0],
            "Requests run, and not one token was made in an interval.",
            lines=len(run),
        )
        yield with_fields(
            finding,
            running=run[-1].running,
            span_s=_run_span_s(run) if len(run) > 1 else None,
            where=engine or None,
        )
        if is_silent:
            yield with_fields(
                _finding(
                    "stats_silence",
                    EventClass.WEDGE,
                    run[-1],
                    "The statistics stopped while requests ran: with zero throughput twice in a "
                    "row they are written at DEBUG only.",
                ),
                span_s=silence_s,
                where=engine or None,
            )


def _zero_runs(lines: Sequence[BatchLine]) -> list[list[BatchLine]]:
    runs: list[list[BatchLine]] = []
    was_zero = False
    for line in lines:
        if line.is_zero_with_work:
            if not was_zero:
                runs.append([])
            runs[-1].append(line)
        was_zero = line.is_zero_with_work
    return runs


def _longest_silence_s(lines: Sequence[BatchLine]) -> float:
    steps = [
        step
        for before, now in pairwise(lines)
        if (step := _span_s(before.record, now.record)) is not None and step > 0
    ]
    return max(LONGEST_PAUSE_S, _SILENT_INTERVALS * min(steps, default=0.0))


def _run_span_s(run: Sequence[BatchLine]) -> float:
    return _span_s(run[0].record, run[-1].record) or 0.0


def _span_s(first: LogRecord, last: LogRecord) -> float | None:
    if first.at_s is None or last.at_s is None:
        return None
    return last.at_s - first.at_s


def _finding(
    kind: str, event_class: EventClass, line: BatchLine, means: str, *, lines: int = 1
) -> LogFinding:
    return LogFinding(
        kind,
        event_class,
        count=1 if kind != "zero_throughput_with_running" else lines,
        lines=lines,
        first_s=line.record.at_s,
        last_s=line.record.at_s,
        means=means,
        first_line=line.record.lines[0],
        first_number=line.record.number,
    )
