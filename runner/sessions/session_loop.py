"""Keeps sessions in flight until all are played: a fixed number, or as they arrive.

It knows nothing of what they say. An ended session is handed on before its place is given to the
next one. Asked to stop, it starts no more sessions; cancelled, it drops those in flight and names
them.
"""

import asyncio
import itertools
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from runner.sessions.played_session import PlayedSession

Play: TypeAlias = Callable[[int], Coroutine[None, None, PlayedSession]]
OnEnded: TypeAlias = Callable[[PlayedSession], Coroutine[None, None, None]]


_LATE_S = 0.1
_LATE_SHARE_LIMIT = 0.05


@dataclass(slots=True)
class DriveProgress:
    """Where a drive stands. `interrupted` sessions were cut by us: they have no outcome.

    `late_arrivals` began after their time: there was no place, or we did not come to it.
    """

    started: int = 0
    ended: int = 0
    in_flight: set[int] = field(default_factory=set)
    most_in_flight: int = 0
    interrupted: list[int] = field(default_factory=list)
    late_arrivals: int = 0

    @property
    def arrivals_were_late(self) -> bool:
        """Over 5 %: what was driven is not the load that was asked for."""
        return self.late_arrivals > _LATE_SHARE_LIMIT * self.started


async def drive_sessions(
    indices: Iterable[int],
    *,
    concurrency: int,
    play: Play,
    on_ended: OnEnded,
    stop: asyncio.Event,
    progress: DriveProgress | None = None,
    arrivals_s: Iterator[float] | None = None,
) -> DriveProgress:
    """Plays every index once, at most `concurrency` at a time.

    A session begins as soon as there is a place for it; with `arrivals_s`, ascending seconds since
    the start, not before its time.

    `play` turns faults of its own into a `harness_error` session, as `play_session` does. What
    `on_ended` raises ends the drive, since a session that cannot be stored must not get lost in
    silence. Pass a `progress` to read it while the drive runs or after it was cancelled.

    Raises:
        ExceptionGroup: of what `on_ended` or `play` raised; the other sessions were interrupted.
    """
    progress = DriveProgress() if progress is None else progress
    waiting = zip(indices, _due_times_s(arrivals_s), strict=False)
    async with asyncio.TaskGroup() as group:
        for number in range(concurrency):
            group.create_task(
                _play_in_turn(waiting, play, on_ended, stop, progress), name=f"sessions {number}"
            )
    return progress


async def _play_in_turn(
    waiting: Iterator[tuple[int, float | None]],
    play: Play,
    on_ended: OnEnded,
    stop: asyncio.Event,
    progress: DriveProgress,
) -> None:
    while not stop.is_set() and (following := next(waiting, None)) is not None:
        index, due_s = following
        if due_s is not None:
            if not await _reaches(due_s, stop):
                return
            progress.late_arrivals += asyncio.get_running_loop().time() > due_s + _LATE_S
        with _in_flight(index, progress):
            played = await play(index)
        await _even_if_cancelled(_hand_on(played, on_ended, progress))


def _due_times_s(arrivals_s: Iterator[float] | None) -> Iterator[float | None]:
    """On the event loop's clock; None: as soon as there is a place."""
    if arrivals_s is None:
        return itertools.repeat(None)
    began_s = asyncio.get_running_loop().time()
    return (began_s + at_s for at_s in arrivals_s)


async def _reaches(due_s: float, stop: asyncio.Event) -> bool:
    """Waits for that moment; false where the drive was stopped before."""
    try:
        async with asyncio.timeout_at(due_s):
            await stop.wait()
    except TimeoutError:
        return True
    return False


@contextmanager
def _in_flight(index: int, progress: DriveProgress) -> Iterator[None]:
    progress.started += 1
    progress.in_flight.add(index)
    progress.most_in_flight = max(progress.most_in_flight, len(progress.in_flight))
    try:
        yield
    except asyncio.CancelledError:
        progress.interrupted.append(index)
        raise
    finally:
        progress.in_flight.discard(index)


async def _hand_on(played: PlayedSession, on_ended: OnEnded, progress: DriveProgress) -> None:
    await on_ended(played)
    progress.ended += 1


async def _even_if_cancelled(storing: Coroutine[None, None, None]) -> None:
    """A session that has ended is stored even when the drive is cancelled at that moment."""
    task = asyncio.ensure_future(storing)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise
