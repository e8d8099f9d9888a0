import asyncio
import itertools
import statistics
from collections.abc import Coroutine, Iterator

import pytest

from runner.sessions.arrivals import poisson_arrivals_s
from runner.sessions.played_session import PlayedSession
from runner.sessions.session_ending import SessionEnding, judge_played
from runner.sessions.session_loop import DriveProgress, drive_sessions
from tests.runner.sessions.fast_forward import FastForwardLoop, run_in_no_time


def a_session(index: int) -> PlayedSession:
    return PlayedSession(
        session_index=index,
        dialogue_key=f"d/{index}",
        rounds_planned=1,
        rounds_completed=1,
        started_at_us=0,
        ended_at_us=1,
        turns=(),
        judgement=judge_played([], SessionEnding(harness_error="no turn was played")),
    )


class Drive:
    """Sessions that take one second each, and what was handed on of them."""

    def __init__(self, *, session_s: float = 1.0, storing_s: float = 0.0) -> None:
        self.stop = asyncio.Event()
        self.progress = DriveProgress()
        self.stored: list[int] = []
        self._session_s = session_s
        self._storing_s = storing_s

    async def play(self, index: int) -> PlayedSession:
        await asyncio.sleep(self._session_s)
        return a_session(index)

    async def on_ended(self, played: PlayedSession) -> None:
        await asyncio.sleep(self._storing_s)
        self.stored.append(played.session_index)

    async def __call__(
        self, indices: range, *, concurrency: int, arrivals_s: Iterator[float] | None = None
    ) -> DriveProgress:
        return await drive_sessions(
            indices,
            concurrency=concurrency,
            play=self.play,
            on_ended=self.on_ended,
            stop=self.stop,
            progress=self.progress,
            arrivals_s=arrivals_s,
        )


def test_every_session_is_played_once_at_the_given_concurrency() -> None:
    async def drive() -> tuple[Drive, float]:
        loop = Drive()
        await loop(range(10), concurrency=4)
        return loop, asyncio.get_running_loop().time()

    loop, took_s = run_in_no_time(drive())

    assert sorted(loop.stored) == list(range(10))
    assert loop.progress.most_in_flight == 4
    assert (loop.progress.started, loop.progress.ended) == (10, 10)
    assert took_s == 3


def test_a_session_is_stored_while_the_next_one_is_played() -> None:
    async def drive() -> float:
        await Drive(storing_s=0.5)(range(2), concurrency=1)
        return asyncio.get_running_loop().time()

    assert run_in_no_time(drive()) == 2.5


def test_where_storing_is_slow_a_place_waits_with_two_sessions() -> None:
    async def drive() -> tuple[int, int]:
        loop = Drive(storing_s=100)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(loop(range(9), concurrency=1), 90)
        return loop.progress.started, len(loop.stored)

    assert run_in_no_time(drive()) == (2, 2)


def test_what_ends_the_drive_is_decided_before_the_next_session_begins() -> None:
    class EndsAtOnce(Drive):
        def on_ended(self, played: PlayedSession) -> Coroutine[None, None, None]:
            self.stop.set()
            return super().on_ended(played)

    loop = EndsAtOnce(storing_s=5)

    run_in_no_time(loop(range(9), concurrency=1))

    assert (loop.progress.started, loop.stored) == (1, [0])


def test_more_places_than_sessions_do_no_harm() -> None:
    loop = Drive()

    run_in_no_time(loop(range(2), concurrency=80))

    assert sorted(loop.stored) == [0, 1]


def test_asked_to_stop_it_finishes_what_is_in_flight_and_starts_no_more() -> None:
    async def drive() -> Drive:
        loop = Drive()
        asyncio.get_running_loop().call_later(1.5, loop.stop.set)
        await loop(range(100), concurrency=3)
        return loop

    loop = run_in_no_time(drive())

    assert sorted(loop.stored) == [0, 1, 2, 3, 4, 5]
    assert loop.progress.interrupted == []


def test_a_stopped_drive_leaves_the_next_index_where_it_was() -> None:
    async def drive() -> Iterator[int]:
        waiting = iter(range(100))
        loop = Drive()
        asyncio.get_running_loop().call_later(1.5, loop.stop.set)
        await drive_sessions(
            waiting, concurrency=3, play=loop.play, on_ended=loop.on_ended, stop=loop.stop
        )
        return waiting

    assert next(run_in_no_time(drive())) == 6


def test_cancelled_it_names_the_sessions_that_it_dropped() -> None:
    async def drive() -> Drive:
        loop = Drive()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(loop(range(100), concurrency=3), 1.5)
        return loop

    loop = run_in_no_time(drive())

    assert sorted(loop.stored) == [0, 1, 2]
    assert sorted(loop.progress.interrupted) == [3, 4, 5]
    assert loop.progress.in_flight == set()


def test_a_session_that_has_ended_is_stored_even_when_the_drive_is_cancelled() -> None:
    async def drive() -> Drive:
        loop = Drive(storing_s=2)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(loop(range(100), concurrency=3), 1.5)
        return loop

    loop = run_in_no_time(drive())

    assert sorted(loop.stored) == [0, 1, 2]
    assert loop.progress.ended == 3
    assert sorted(loop.progress.interrupted) == [3, 4, 5]


def test_a_session_that_cannot_be_stored_ends_the_drive() -> None:
    class Full(Drive):
        async def on_ended(self, played: PlayedSession) -> None:
            raise OSError("no space left")

    loop = Full()

    with pytest.raises(ExceptionGroup) as caught:
        run_in_no_time(loop(range(10), concurrency=2))

    assert caught.group_contains(OSError, match="no space left")
    assert loop.progress.ended == 0


def test_a_session_that_cannot_be_stored_ends_those_in_flight() -> None:
    class Full(Drive):
        async def on_ended(self, played: PlayedSession) -> None:
            await asyncio.sleep(0.1)
            raise OSError("no space left")

    async def drive() -> float:
        with pytest.raises(ExceptionGroup):
            await Full()(range(10), concurrency=2)
        return asyncio.get_running_loop().time()

    assert run_in_no_time(drive()) == pytest.approx(1.1)


@pytest.mark.parametrize("later_turns", range(6))
def test_sessions_that_cannot_be_stored_shortly_after_each_other_end_the_drive(
    later_turns: int,
) -> None:
    class Full(Drive):
        async def on_ended(self, played: PlayedSession) -> None:
            await asyncio.sleep(0.1)
            for _ in range(later_turns * played.session_index):
                await asyncio.sleep(0)
            raise OSError(f"no space left for {played.session_index}")

    with pytest.raises(ExceptionGroup) as caught:
        run_in_no_time(Full()(range(2), concurrency=2))

    assert caught.group_contains(OSError, match="no space left for 0")


def test_a_session_that_cannot_be_stored_is_told_of_even_when_the_drive_is_cancelled() -> None:
    class Full(Drive):
        async def on_ended(self, played: PlayedSession) -> None:
            await asyncio.sleep(2)
            raise OSError("no space left")

    async def drive() -> None:
        driving = asyncio.create_task(Full()(range(10), concurrency=2))
        asyncio.get_running_loop().call_later(1.5, driving.cancel)
        await driving

    with pytest.raises(ExceptionGroup) as caught:
        run_in_no_time(drive())

    assert caught.group_contains(OSError, match="no space left")


def arriving(*times_s: float, concurrency: int) -> tuple[DriveProgress, float]:
    """Of sessions of one second each, and when the last one had ended."""

    async def drive() -> tuple[DriveProgress, float]:
        progress = await Drive()(
            range(len(times_s)), concurrency=concurrency, arrivals_s=iter(times_s)
        )
        return progress, asyncio.get_running_loop().time()

    return run_in_no_time(drive())


def test_a_session_that_arrives_later_begins_later() -> None:
    progress, ended_s = arriving(0.5, 3.0, 10.0, concurrency=2)

    assert (progress.ended, progress.most_in_flight, progress.late_arrivals) == (3, 1, 0)
    assert not progress.arrivals_were_late
    assert ended_s == pytest.approx(11.0)


def test_sessions_that_find_no_place_are_late_and_are_played_all_the_same() -> None:
    progress, ended_s = arriving(0.0, 0.0, 0.0, 0.0, concurrency=1)

    assert (progress.ended, progress.late_arrivals) == (4, 3)
    assert progress.arrivals_were_late
    assert ended_s == pytest.approx(4.0)


def test_sessions_are_late_too_where_the_client_does_not_come_to_them() -> None:
    async def drive() -> DriveProgress:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, FastForwardLoop)
        loop.call_later(0.9, loop.jump, 3.0)  # the machine lets nobody run for three seconds
        return await Drive()(range(3), concurrency=3, arrivals_s=iter((0.0, 1.0, 5.0)))

    assert run_in_no_time(drive()).late_arrivals == 1


def test_a_stop_ends_the_wait_for_arrivals() -> None:
    async def drive() -> tuple[DriveProgress, float]:
        loop = Drive()
        asyncio.get_running_loop().call_later(2.0, loop.stop.set)
        await loop(range(3), concurrency=3, arrivals_s=iter((0.0, 100.0, 200.0)))
        return loop.progress, asyncio.get_running_loop().time()

    progress, ended_s = run_in_no_time(drive())

    assert (progress.ended, ended_s) == (1, pytest.approx(2.0))


def test_arrivals_come_at_their_rate_and_in_order_and_are_the_same_for_a_seed() -> None:
    def drawn(seed: int) -> list[float]:
        return list(itertools.islice(poisson_arrivals_s(4.0, seed=seed), 4_000))

    times_s = drawn(1)

    assert times_s == sorted(times_s) == drawn(1) != drawn(2)
    assert times_s[-1] == pytest.approx(1_000, rel=0.1)
    gaps = [after - before for before, after in itertools.pairwise(times_s)]
    assert statistics.stdev(gaps) == pytest.approx(statistics.mean(gaps), rel=0.1)
