"""Whether the load client kept up: event-loop lag, CPU time, collector pauses, time kept waiting.

A saturated client is our own fault and invalidates its run. A starved one was not let run by the
machine: its times are not to be trusted, its counts are. `assess` states both rules.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from runner.event_loop import end_task
from runner.sessions.client_pauses import CollectorPauses, DispatchProbe

LAG_LIMIT_S = 0.050
CPU_SHARE_LIMIT = 0.70  # of one core
_LATE_SHARE_LIMIT = 0.01  # the 99th percentile is above the limit ...
_LATE_SAMPLES_LEAST = 3  # ... and not for a single pause in a short run
_KEPT_WAITING_LIMIT = 0.2
_SAMPLE_EVERY_S = 0.1
_WINDOW_S = 5.0
_WINDOW_LEAST_S = 2.0  # of a shorter run: the first moments of any run are busy


class HealthSample(NamedTuple):
    """One nap of the event loop, in seconds: how long it took, how much too long, and why."""

    wall_s: float
    lag_s: float
    kept_waiting_s: float  # the thread was ready and the machine ran something else
    cpu_s: float  # of the whole process

    @property
    def own_lag_s(self) -> float:
        return max(0.0, self.lag_s - self.kept_waiting_s)


@dataclass(frozen=True, slots=True)
class ClientHealth:
    """`own_lag` is lag that the machine does not explain; shares are of one core or of the time.

    `dispatch` is the delay with which the loop does what a thread asks of it; `gc` are the pauses
    of the garbage collector. `reasons` say in words why it is saturated or starved. `processes`:
    how many this is the health of.
    """

    samples: int
    lag_p50_s: float
    lag_p99_s: float
    own_lag_p99_s: float
    cpu_share: float
    cpu_share_busiest: float
    kept_waiting_share: float
    most_in_flight: int
    saturated: bool
    starved: bool
    dispatch_p50_s: float = 0.0
    dispatch_p99_s: float = 0.0
    gc_collections: int = 0
    gc_longest_s: float = 0.0
    gc_share: float = 0.0
    reasons: tuple[str, ...] = ()
    processes: int = 1

    def to_json(self) -> dict[str, float | int | bool | str]:
        return {**asdict(self), "reasons": "; ".join(self.reasons) or "nothing held it up"}


class InFlight(Protocol):
    @property
    def most_in_flight(self) -> int: ...


def assess(
    samples: Sequence[HealthSample],
    *,
    most_in_flight: int,
    dispatch_s: Sequence[float] = (),
    gc_pauses_s: Sequence[float] = (),
) -> ClientHealth:
    """Saturated: more than 1 % of the naps, and at least three, were late by over 50 ms of our own
    making, or as many threads waited so long for the loop, or the process used over 70 % of a core
    throughout any five seconds (or throughout a run of two to five). Lateness is not called our own
    where the machine kept us waiting for over a fifth of the time: a thread of ours that it stopped
    while it held the interpreter looks like our own lag.
    Starved: the same naps were late, whoever was the cause.
    """
    wall_s = sum(sample.wall_s for sample in samples) or 1.0
    own_lags = [sample.own_lag_s for sample in samples]
    lags = [sample.lag_s for sample in samples]
    busiest = _busiest_cpu_share(samples)
    kept_waiting_share = sum(sample.kept_waiting_s for sample in samples) / wall_s
    is_ours = kept_waiting_share <= _KEPT_WAITING_LIMIT
    is_lagging = is_ours and _is_late(own_lags)
    # A machine that keeps the loop's thread waiting delays its answers by the same time.
    is_deaf = is_ours and not _is_late(lags) and _is_late(dispatch_s)
    starved = _is_late(lags)
    gc_s = sum(gc_pauses_s)
    reasons = _reasons(
        own_lag_s=_percentile(own_lags, 0.99) if is_lagging else None,
        dispatch_s=_percentile(dispatch_s, 0.99) if is_deaf else None,
        busiest=busiest if busiest > CPU_SHARE_LIMIT else None,
        kept_waiting_share=kept_waiting_share if starved and not is_lagging else None,
        gc_longest_s=max(gc_pauses_s, default=0.0),
    )
    return ClientHealth(
        samples=len(samples),
        lag_p50_s=_percentile(lags, 0.50),
        lag_p99_s=_percentile(lags, 0.99),
        own_lag_p99_s=_percentile(own_lags, 0.99),
        cpu_share=sum(sample.cpu_s for sample in samples) / wall_s,
        cpu_share_busiest=busiest,
        kept_waiting_share=kept_waiting_share,
        most_in_flight=most_in_flight,
        saturated=is_lagging or is_deaf or busiest > CPU_SHARE_LIMIT,
        starved=starved,
        dispatch_p50_s=_percentile(dispatch_s, 0.50),
        dispatch_p99_s=_percentile(dispatch_s, 0.99),
        gc_collections=len(gc_pauses_s),
        gc_longest_s=max(gc_pauses_s, default=0.0),
        gc_share=gc_s / wall_s,
        reasons=reasons,
    )


def _reasons(
    *,
    own_lag_s: float | None,
    dispatch_s: float | None,
    busiest: float | None,
    kept_waiting_share: float | None,
    gc_longest_s: float,
) -> tuple[str, ...]:
    """One for each that is not None."""
    said: list[str] = []
    if own_lag_s is not None:
        late = f"one in a hundred naps of its event loop was late by {_ms(own_lag_s)}"
        if gc_longest_s >= LAG_LIMIT_S:
            late += f"; its garbage collector paused it for up to {_ms(gc_longest_s)}"
        said.append(late)
    if dispatch_s is not None:
        said.append(f"one in a hundred requests to its event loop waited for {_ms(dispatch_s)}")
    if busiest is not None:
        said.append(f"it used {busiest:.0%} of a core for seconds on end")
    if kept_waiting_share is not None:
        said.append(f"the machine kept it waiting for {kept_waiting_share:.0%} of the time")
    return tuple(said)


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.0f} ms"


class HealthWatch:
    """Collects samples while its `watching` is open; `health` may be asked for at any time."""

    def __init__(self, in_flight: InFlight) -> None:
        self._in_flight = in_flight
        self._samples: list[HealthSample] = []
        self._collector = CollectorPauses()
        self._dispatch = DispatchProbe()

    def health(self) -> ClientHealth:
        return assess(
            self._samples,
            most_in_flight=self._in_flight.most_in_flight,
            dispatch_s=self._dispatch.delays_s,
            gc_pauses_s=self._collector.pauses_s,
        )

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self._sample(), name="client health")
        try:
            with self._collector.watching(), self._dispatch.watching():
                yield
        finally:
            await end_task(task)

    async def _sample(self) -> None:
        while True:
            wall, cpu, waiting = time.perf_counter(), time.process_time(), _kept_waiting_s()
            await asyncio.sleep(_SAMPLE_EVERY_S)
            took_s = time.perf_counter() - wall
            self._samples.append(
                HealthSample(
                    wall_s=took_s,
                    lag_s=max(0.0, took_s - _SAMPLE_EVERY_S),
                    kept_waiting_s=_kept_waiting_s() - waiting,
                    cpu_s=time.process_time() - cpu,
                )
            )


def _kept_waiting_s() -> float:
    """Seconds this thread has stood in the run queue so far (Linux; 0 where it is not told)."""
    try:
        return int(_SCHEDSTAT.read_text("ascii").split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


_SCHEDSTAT = Path("/proc/thread-self/schedstat")


def _is_late(lags: Sequence[float]) -> bool:
    late = sum(lag > LAG_LIMIT_S for lag in lags)
    return late >= _LATE_SAMPLES_LEAST and late > _LATE_SHARE_LIMIT * len(lags)


def _percentile(values: Sequence[float], share: float) -> float:
    """The nearest-rank percentile; 0 where there are no values."""
    if not values:
        return 0.0
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(share * len(ranked)))]


def _busiest_cpu_share(samples: Sequence[HealthSample]) -> float:
    """The highest CPU share of any five seconds; of the whole run where it took two to five, and 0
    where it was shorter still.
    """
    best = 0.0
    start = 0
    wall_s = cpu_s = 0.0
    for sample in samples:
        wall_s += sample.wall_s
        cpu_s += sample.cpu_s
        while wall_s - samples[start].wall_s >= _WINDOW_S:
            wall_s -= samples[start].wall_s
            cpu_s -= samples[start].cpu_s
            start += 1
        if wall_s >= _WINDOW_S:
            best = max(best, cpu_s / wall_s)
    if best or wall_s < _WINDOW_LEAST_S:
        return best
    return cpu_s / wall_s


def health_of_all(here: ClientHealth, others: Sequence[tuple[str, ClientHealth]]) -> ClientHealth:
    """Of the processes that played the sessions of one run, and of the one that stored them.

    One that is saturated or starved makes the whole so, and its reasons name it. Each figure is the
    worst of any process, but CPU time and counts, which are added up; `most_in_flight` is known
    `here` only.
    """
    every = (here, *(health for _, health in others))
    reasons = [*here.reasons]
    reasons += [f"{name}: {reason}" for name, health in others for reason in health.reasons]
    return ClientHealth(
        samples=sum(each.samples for each in every),
        lag_p50_s=max(each.lag_p50_s for each in every),
        lag_p99_s=max(each.lag_p99_s for each in every),
        own_lag_p99_s=max(each.own_lag_p99_s for each in every),
        cpu_share=sum(each.cpu_share for each in every),
        cpu_share_busiest=max(each.cpu_share_busiest for each in every),
        kept_waiting_share=max(each.kept_waiting_share for each in every),
        most_in_flight=here.most_in_flight,
        saturated=any(each.saturated for each in every),
        starved=any(each.starved for each in every),
        dispatch_p50_s=max(each.dispatch_p50_s for each in every),
        dispatch_p99_s=max(each.dispatch_p99_s for each in every),
        gc_collections=sum(each.gc_collections for each in every),
        gc_longest_s=max(each.gc_longest_s for each in every),
        gc_share=max(each.gc_share for each in every),
        reasons=tuple(reasons),
        processes=len(every),
    )
