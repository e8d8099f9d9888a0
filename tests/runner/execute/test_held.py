"""What is held by a lease ends with it, says why, and is not held up by a store that is locked."""

import asyncio
from collections.abc import Callable

import pytest

from db.errors import LeaseLostError, StoreLockedError
from runner.execute.held import held_by
from runner.execute.off_loop import ATTEMPTS_WHEN_LOCKED, off_loop
from runner.execute.stop_request import (
    CUT_BY_ASKING,
    StoppedEarlyError,
    StopRequest,
    unless_stopped,
)


def _answering(*answers: int | Exception) -> Callable[[], int]:
    """Gives one answer a call, and the last one for ever."""
    left = list(answers)

    def renew() -> int:
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    return renew


async def test_a_lease_that_is_lost_ends_the_body_with_its_reason() -> None:
    cancelled: list[str] = []

    async def body() -> None:
        async with held_by(_answering(LeaseLostError("somebody has it")), every_s=0):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError as error:
                cancelled.append(str(error))
                raise

    with pytest.raises(LeaseLostError, match="somebody has it"):
        await body()

    assert cancelled == ["cut short by ourselves: somebody has it"]


async def test_a_locked_store_is_asked_again_and_ends_nothing() -> None:
    heard: asyncio.Queue[int] = asyncio.Queue()

    async with held_by(
        _answering(StoreLockedError("locked"), StoreLockedError("locked"), 7),
        every_s=0,
        heard=heard.put_nowait,
    ):
        assert await heard.get() == 7


async def test_the_event_loop_goes_on_while_a_write_waits() -> None:
    """The write waits for what only the event loop can do; on the loop it would wait for ever."""
    loop = asyncio.get_running_loop()

    def write() -> str:
        return asyncio.run_coroutine_threadsafe(_said("done"), loop).result(timeout=60)

    assert await off_loop(write) == "done"


async def test_a_locked_store_is_written_to_a_few_times() -> None:
    locked = StoreLockedError("locked")
    patient = [locked] * (ATTEMPTS_WHEN_LOCKED - 1)

    assert await off_loop(_answering(*patient, 7)) == 7
    with pytest.raises(StoreLockedError):
        await off_loop(_answering(locked))


async def test_a_write_that_was_begun_is_over_before_its_caller_is_cancelled() -> None:
    loop = asyncio.get_running_loop()
    begun, may_end = asyncio.Event(), asyncio.Event()
    order: list[str] = []

    def write() -> None:
        loop.call_soon_threadsafe(begun.set)
        asyncio.run_coroutine_threadsafe(_awaited(may_end), loop).result(timeout=60)
        order.append("written")

    writing = asyncio.create_task(off_loop(write))
    await begun.wait()
    writing.cancel()
    loop.call_soon(may_end.set)
    with pytest.raises(asyncio.CancelledError):
        await writing
    order.append("cancelled")

    assert order == ["written", "cancelled"]


async def test_work_before_the_first_session_ends_with_the_first_request_to_stop() -> None:
    stop = StopRequest()
    asyncio.get_running_loop().call_soon(stop.ask)

    with pytest.raises(StoppedEarlyError):
        await unless_stopped(_awaited(asyncio.Event()), stop)

    assert await unless_stopped(_said("ready"), StopRequest()) == "ready"


async def test_a_part_of_the_work_ends_with_the_whole_and_for_the_same_reason() -> None:
    whole = StopRequest()

    with whole.part() as part:
        assert not part.soft.is_set()
        whole.ask()
        assert part.soft.is_set() and part.was_asked and part.cut_reason is None
        whole.ask()
        assert part.cut_reason == CUT_BY_ASKING


async def test_a_part_may_be_stopped_alone() -> None:
    whole = StopRequest()

    with whole.part() as part:
        part.ask()

    assert not whole.soft.is_set()


async def _said(text: str) -> str:
    return text


async def _awaited(event: asyncio.Event) -> None:
    await event.wait()
