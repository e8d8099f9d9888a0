"""Keeps sessions in flight until all are played: a fixed number, or as they arrive.

It knows nothing of what they say. An ended session is handed on before its place is given to the
next one, and is stored while that one is played. Asked to stop, it starts no more sessions;
cancelled, it drops those in flight and names them.
"""

import asyncio
import itertools
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from runner.sessions.played_session import PlayedSession

Play: TypeAlias = Callable[[int], Coroutine[None, None, PlayedSession]]
OnEnded: TypeAlias = Callable[[PlayedSession], Coroutine[None, None, None]]
"""What decides whether another session may begin, it does when it is called; what it gives stores
the session."""

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
    silence; where storing is slow, a place waits with two sessions that are not stored yet. Pass a
    `progress` to read it while the drive runs or after it was cancelled.

    Raises:
        ExceptionGroup: of what `on_ended` or `play` raised; the other sessions were interrupted.
    """
    progress = DriveProgress() if progress is None else progress
    waiting = zip(indices, _due_times_s(arrivals_s), strict=False)
    storing = _Storing(on_ended, progress)
    try:
        async with asyncio.TaskGroup() as group:
            storing.on_error = partial(_end_with, group)
            for number in range(concurrency):
                place = _play_in_turn(waiting, play, storing, stop, progress)
                group.create_task(place, name=f"sessions {number}")
    except asyncio.CancelledError:
        await storing.end()
        if storing.errors:
            raise ExceptionGroup("sessions could not be stored", storing.errors) from None
        raise
    except BaseException:
        await storing.end()
        raise
    return progress


class _Storing:
    """Sessions on their way into the store; they get there even when the drive is cancelled."""

    def __init__(self, on_ended: OnEnded, progress: DriveProgress) -> None:
        self._on_ended = on_ended
        self._progress = progress
        self._under_way: set[asyncio.Task[None]] = set()
        self.errors: list[Exception] = []
        self.on_error: Callable[[Exception], object] = _tell_nobody

    def begin(self, played: PlayedSession) -> asyncio.Task[None]:
        task = asyncio.create_task(self._store(self._on_ended(played)), name="storing a session")
        self._under_way.add(task)
        task.add_done_callback(self._settle)
        return task

    async def end(self) -> None:
        """Waits for those that are left."""
        self.on_error = _tell_nobody
        if self._under_way:
            await asyncio.wait(self._under_way)

    async def _store(self, storing: Coroutine[None, None, None]) -> None:
        await storing
        self._progress.ended += 1

    def _settle(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        if not task.cancelled() and isinstance(error := task.exception(), Exception):
            self.errors.append(error)
            self.on_error(error)


async def _play_in_turn(
    waiting: Iterator[tuple[int, float | None]],
    play: Play,
    storing: _Storing,
    stop: asyncio.Event,
    progress: DriveProgress,
) -> None:
    """What happens in one place: a session after the other, and each stored beside the next."""
    last: asyncio.Task[None] | None = None
    while not stop.is_set() and (following := next(waiting, None)) is not None:
        index, due_s = following
        if due_s is not None:
            if not await _reaches(due_s, stop):
                break
            progress.late_arrivals += asyncio.get_running_loop().time() > due_s + _LATE_S
        with _in_flight(index, progress):
            played = await play(index)
        before, last = last, storing.begin(played)
        if before is not None:
            await _done(before)
    if last is not None:
        await _done(last)


async def _done(task: asyncio.Task[None]) -> None:
    """Unlike awaiting it, this neither raises its error nor cancels it."""
    if not task.done():
        await asyncio.wait((task,))


def _end_with(group: asyncio.TaskGroup, error: Exception) -> None:
    async def fail() -> None:
        raise error

    failing = fail()
    try:
        group.create_task(failing, name="a session could not be stored")
    except RuntimeError:  # it is ending for another reason
        failing.close()


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


def _tell_nobody(_: Exception) -> None:
    return
