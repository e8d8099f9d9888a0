"""Says of two looks at a server's metrics whether it works, idles, stands still or was restarted.

Pure: pages, seconds and the client's own count go in. It never looks at health pages, which stay
at 200 while a server is wedged, nor takes a gauge that does not move for activity.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from runner.campaign.stack_shape import MetricRole
from runner.observe.engine_readings import (
    Counters,
    EngineReading,
    PageReading,
    short_engine_name,
)

# The longest pause in which a healthy server may say nothing new: SGLang writes its gauges about
# every 30 s while idle, and a long prefill or a first compilation takes as long again.
LONGEST_PAUSE_S = 60.0
_LOW_USAGE = 0.5


class ServerState(StrEnum):
    BUSY = "busy"
    IDLE = "idle"
    WEDGE = "wedge"
    INCONCLUSIVE = "inconclusive"
    RESTARTED = "restarted"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class ServerVerdict:
    """`where`: the engines that it is about, where not all of them are."""

    state: ServerState
    why: str
    where: tuple[str, ...] = ()
    values: Mapping[MetricRole, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """`in_flight`: requests of our own that have no answer yet, None where nobody counted."""

    before: PageReading
    elapsed_s: float
    in_flight: int | None = None


def judge_page(
    now: PageReading | None,
    interval: Interval | None = None,
    *,
    in_flight: int | None = None,
    longest_pause_s: float = LONGEST_PAUSE_S,
) -> ServerVerdict:
    """`now` is None where the server gave no page: then nothing can be said of its work."""
    if now is None:
        return ServerVerdict(ServerState.UNAVAILABLE, "there is no page of metrics")
    values = now.totals()
    if interval is None:
        return _first_look(now, values, in_flight)
    if is_of_older_process(interval.before, now):
        return ServerVerdict(
            ServerState.INCONCLUSIVE, "another worker answered than before", values=values
        )
    if restart := restart_between(interval.before, now):
        return ServerVerdict(ServerState.RESTARTED, restart, values=values)
    states = [
        _judge_engine(engine, now, interval, longest_pause_s=longest_pause_s)
        for engine in now.engines
    ]
    return _combined(states, now, values)


def is_of_older_process(before: PageReading, now: PageReading) -> bool:
    """Whether another worker behind the same address answered: no restart makes a process older."""
    starts = now.process_starts, before.process_starts
    return all(starts) and max(starts[0]) < max(starts[1])


def restart_between(before: PageReading, now: PageReading) -> str | None:
    """Why the second page is of a younger process than the first, or None.

    Counters that fell while the process stayed the same are no restart: several workers behind
    one address may answer in turn.
    """
    starts = now.process_starts, before.process_starts
    if all(starts) and max(starts[0]) > max(starts[1]):
        return "the process started anew"
    if all(starts) and starts[0] == starts[1]:
        return None
    fallen = _fallen(_all_progress(before), _all_progress(now))
    return f"{fallen} fell" if fallen is not None else None


def moved(before: Counters, now: Counters) -> bool:
    """Whether a counter grew; one that is new and above zero has."""
    return any(value > before.get(series, 0.0) for series, value in now.items())


def engine_moved(engine: EngineReading, now: PageReading, before: PageReading) -> bool | None:
    """Whether an engine made tokens between two pages; None where it has nothing to tell it by.

    Counters decide. The throughput gauge keeps its last value for ever, so that only a change to
    another value above zero is a sign of life.
    """
    earlier = _same_engine(engine, before)
    if earlier is None:
        return True
    if engine.output and engine.is_in_transfer and earlier.is_in_transfer:
        # Prefill goes on for whoever asks, while nobody gets out of the transfer queue.
        return moved(earlier.output, engine.output)
    if engine.progress and moved(earlier.progress, engine.progress):
        return True
    rate, rate_before = (each.values.get(MetricRole.GEN_THROUGHPUT) for each in (engine, earlier))
    if rate and rate_before is not None and rate != rate_before:
        return True
    if engine.progress:
        return False
    if now.shared:
        return moved(before.shared, now.shared)
    return None if rate is None else False


def took_in_only(before: EngineReading, now: EngineReading, *, at_most: int) -> bool:
    """Whether nothing moved but so many tokens of prompts: a small request came meanwhile."""
    others = {series: v for series, v in now.progress.items() if series not in now.taken_in}
    tokens = sum(value - before.taken_in.get(series, 0.0) for series, value in now.taken_in.items())
    return not moved(before.progress, others) and 0 <= tokens <= at_most


def holds_requests(engine: EngineReading) -> bool:
    return bool(engine.held)


def _first_look(
    now: PageReading, values: Mapping[MetricRole, float], in_flight: int | None
) -> ServerVerdict:
    held = [engine.held for engine in now.engines if engine.held is not None]
    if any(held):
        return ServerVerdict(ServerState.BUSY, "it holds requests", values=values)
    if not held:
        return ServerVerdict(
            ServerState.INCONCLUSIVE, "it does not say how many requests it holds", values=values
        )
    if in_flight:
        return ServerVerdict(
            ServerState.INCONCLUSIVE,
            f"it holds no request, yet {in_flight} of ours have no answer",
            values=values,
        )
    return ServerVerdict(ServerState.IDLE, "it holds no request", values=values)


def _judge_engine(
    engine: EngineReading, now: PageReading, interval: Interval, *, longest_pause_s: float
) -> ServerVerdict:
    earlier = _same_engine(engine, interval.before)
    did_move = engine_moved(engine, now, interval.before)
    elapsed_s, in_flight = interval.elapsed_s, interval.in_flight
    is_long = elapsed_s >= longest_pause_s
    name = (engine.engine,)
    if earlier is not None and is_long and admission_stands_still(earlier, engine):
        return ServerVerdict(
            ServerState.WEDGE,
            f"the same {engine.values[MetricRole.DECODE_TRANSFER]:g} transfers for "
            f"{elapsed_s:g} s, with more requests behind them",
            name,
        )
    held_throughout = holds_requests(engine) and earlier is not None and holds_requests(earlier)
    has_work = held_throughout or bool(in_flight)
    if did_move:
        is_over = not holds_requests(engine) and not in_flight
        state = ServerState.IDLE if is_over and in_flight == 0 else ServerState.BUSY
        return ServerVerdict(state, "tokens were made", name)
    if not has_work:
        if engine.held is None:
            return ServerVerdict(ServerState.INCONCLUSIVE, "nothing tells its state", name)
        if holds_requests(engine):
            return ServerVerdict(ServerState.BUSY, "requests have just come", name)
        return ServerVerdict(ServerState.IDLE, "it holds no request", name)
    if did_move is None:
        return ServerVerdict(ServerState.INCONCLUSIVE, "no counter tells whether it moves", name)
    if not is_long:
        return ServerVerdict(
            ServerState.INCONCLUSIVE,
            f"nothing moved for {elapsed_s:g} s, which a pause may last",
            name,
        )
    held = engine.held or 0
    return ServerVerdict(
        ServerState.WEDGE,
        f"{held:g} requests held and {in_flight if in_flight is not None else 'an unknown number'}"
        f" in flight, and not one token for {elapsed_s:g} s",
        name,
    )


def admission_stands_still(before: EngineReading, now: EngineReading) -> bool:
    """Transfers that all hang while the queue behind them grows and the cache is empty.

    One request that was admitted earlier may go on making tokens meanwhile (sgl#31800).
    """
    transfer = now.values.get(MetricRole.DECODE_TRANSFER)
    prealloc = now.values.get(MetricRole.DECODE_PREALLOC, 0.0)
    return (
        bool(transfer)
        and transfer == before.values.get(MetricRole.DECODE_TRANSFER)
        and prealloc > before.values.get(MetricRole.DECODE_PREALLOC, 0.0)
        and now.values.get(MetricRole.TOKEN_USAGE, 0.0) < _LOW_USAGE
        and now.values.get(MetricRole.RUNNING, 0.0) <= before.values.get(MetricRole.RUNNING, 0.0)
        and now.values.get(MetricRole.REQUESTS, 0.0) - before.values.get(MetricRole.REQUESTS, 0.0)
        < (transfer or 0.0)
    )


_WORST_FIRST = (
    ServerState.WEDGE,
    ServerState.BUSY,
    ServerState.INCONCLUSIVE,
    ServerState.IDLE,
)


def _combined(
    states: Sequence[ServerVerdict], now: PageReading, values: Mapping[MetricRole, float]
) -> ServerVerdict:
    """The worst of the engines: what one of them proves is not undone by the others' work.

    An engine without requests proves nothing against requests that another one answers.
    """
    names = [engine.engine for engine in now.engines]
    if any(each.state is ServerState.BUSY for each in states):
        states = [
            each for each, engine in zip(states, now.engines, strict=True) if _stands(each, engine)
        ]
    worst = min(states, key=lambda each: _WORST_FIRST.index(each.state))
    alike = [each for each in states if each.state is worst.state]
    where = _short(alike, names) if len(alike) < len(names) else ()
    return ServerVerdict(worst.state, worst.why, where, values)


def _stands(verdict: ServerVerdict, engine: EngineReading) -> bool:
    is_alarm = verdict.state in (ServerState.WEDGE, ServerState.INCONCLUSIVE)
    return holds_requests(engine) or not is_alarm


def _short(verdicts: Iterable[ServerVerdict], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(short_engine_name(name, names) for each in verdicts for name in each.where)


def _same_engine(engine: EngineReading, page: PageReading) -> EngineReading | None:
    for other in page.engines:
        if other.engine == engine.engine:
            return other
    return None


def _all_progress(page: PageReading) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    merged = dict(page.shared)
    for engine in page.engines:
        merged.update(engine.progress)
    return merged


def _fallen(before: Counters, now: Counters) -> str | None:
    for series, value in now.items():
        if value < before.get(series, value):
            return series[0]
    return None
