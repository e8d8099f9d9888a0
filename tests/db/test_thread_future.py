"""What a thread settles is heard of in the loop, and a wait that ends leaves it alone."""

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from db.thread_future import is_settled


async def test_a_result_of_another_thread_wakes_the_wait() -> None:
    future: Future[int] = Future()
    with ThreadPoolExecutor(1) as threads:
        waiting = asyncio.create_task(is_settled(future, within_s=60))
        await asyncio.sleep(0)
        threads.submit(future.set_result, 7)

        assert await waiting
        assert future.result() == 7


async def test_an_error_settles_it_too_and_is_not_raised_here() -> None:
    future: Future[int] = Future()
    future.set_exception(ValueError("no"))

    assert await is_settled(future, within_s=60)


async def test_what_is_not_settled_in_time_can_be_settled_later() -> None:
    future: Future[int] = Future()

    assert not await is_settled(future, within_s=0.001)

    future.set_result(7)
    assert await is_settled(future, within_s=60)


async def test_a_cancelled_wait_leaves_the_future_to_its_thread() -> None:
    future: Future[int] = Future()
    waiting = asyncio.create_task(is_settled(future, within_s=60))
    await asyncio.sleep(0)

    waiting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not future.cancelled()
    future.set_result(7)
    await asyncio.sleep(0)


def test_a_loop_that_has_ended_is_no_error_of_the_thread(caplog: pytest.LogCaptureFixture) -> None:
    future: Future[int] = Future()

    async def wait_a_little() -> None:
        await is_settled(future, within_s=0.001)

    asyncio.run(wait_a_little())
    future.set_result(7)

    assert caplog.text == ""
