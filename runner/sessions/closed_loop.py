"""Keeps a fixed number of sessions in flight until all are played; knows nothing of what they say.

An ended session is handed on before its place is given to the next one. Asked to stop, it starts no
more sessions; cancelled, it drops those in flight and names them.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from runner.sessions.played_session import PlayedSession

Play: TypeAlias = Callable[[int], Coroutine[None, None, PlayedSession]]
OnEnded: TypeAlias = Callable[[PlayedSession], Coroutine[None, None, None]]


@dataclass(slots=True)
class DriveProgress:
    """Where a drive stands. `interrupted` sessions were cut by us: they have no outcome."""

    started: int = 0
    ended: int = 0
    in_flight: set[int] = field(default_factory=set)
    most_in_flight: int = 0
    interrupted: list[int] = field(default_factory=list)


async def drive_sessions(
    indices: Iterable[int],
    *,
    concurrency: int,
    play: Play,
    on_ended: OnEnded,
    stop: asyncio.Event,
    progress: DriveProgress | None = None,
) -> DriveProgress:
    """Plays every index once, at most `concurrency` at a time.

    `play` turns faults of its own into a `harness_error` session, as `play_session` does. What
    `on_ended` raises ends the drive, since a session that cannot be stored must not get lost in
    silence. Pass a `progress` to read it while the drive runs or after it was cancelled.

    Raises:
        ExceptionGroup: of what `on_ended` or `play` raised; the other sessions were interrupted.
    """
    progress = DriveProgress() if progress is None else progress
    waiting = iter(indices)
    async with asyncio.TaskGroup() as group:
        for number in range(concurrency):
            group.create_task(
                _play_in_turn(waiting, play, on_ended, stop, progress), name=f"sessions {number}"
            )
    return progress


async def _play_in_turn(
    waiting: Iterator[int],
    play: Play,
    on_ended: OnEnded,
    stop: asyncio.Event,
    progress: DriveProgress,
) -> None:
    while not stop.is_set() and (index := next(waiting, None)) is not None:
        with _in_flight(index, progress):
            played = await play(index)
        await _even_if_cancelled(_hand_on(played, on_ended, progress))


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
