"""When a wait ends although somebody looks late, or often."""

import asyncio

import pytest

from db.vocabulary import ErrorReason
from runner.sessions.deadline_watch import Deadline, watched
from tests.runner.sessions.fast_forward import FastForwardLoop, run_in_no_time


def ended_at(*, deadline_at: float, held_up_until: float, looks_at: tuple[float, ...]) -> float:
    """When a wait ended whose loop was held up, and in which reads look at the deadline again."""

    async def wait() -> float:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, FastForwardLoop)
        deadline = Deadline(deadline_at, ErrorReason.SESSION_TIMEOUT)
        with pytest.raises(TimeoutError):
            async with watched(lambda: deadline) as watch:
                loop.jump(held_up_until)
                for at in looks_at:
                    loop.call_at(at, watch.look)
                await asyncio.sleep(60)
        assert watch.missed == deadline
        return loop.time()

    return run_in_no_time(wait())


def test_a_deadline_ends_the_wait_when_it_has_passed() -> None:
    assert ended_at(deadline_at=1.0, held_up_until=0.0, looks_at=(0.5,)) == pytest.approx(1.0)


def test_a_loop_that_was_held_up_reads_for_a_moment_before_it_calls_a_deadline() -> None:
    assert ended_at(deadline_at=1.0, held_up_until=2.0, looks_at=()) == pytest.approx(2.1)


def test_what_is_read_in_that_moment_does_not_cut_it_short() -> None:
    ended = ended_at(deadline_at=1.0, held_up_until=2.0, looks_at=(2.0, 2.03, 2.06))

    assert ended == pytest.approx(2.1)
