"""What the client measures of itself, with real collections and a real loop."""

import asyncio
import gc
import itertools
import threading

from runner.sessions.client_pauses import CollectorPauses, DispatchProbe


def test_a_pause_is_the_time_between_the_start_and_the_end_of_a_collection() -> None:
    moments = iter([10.0, 10.25, 20.0, 20.5])
    pauses = CollectorPauses(clock=lambda: next(moments))

    for phase in ("start", "stop", "start", "stop"):
        pauses.note(phase, {})

    assert pauses.pauses_s == [0.25, 0.5]


def test_a_collection_that_began_before_the_watch_is_left_out() -> None:
    pauses = CollectorPauses()

    pauses.note("stop", {})

    assert pauses.pauses_s == []


def test_collections_are_noted_while_it_is_open_only() -> None:
    pauses = CollectorPauses()
    gc.collect()
    with pauses.watching():
        gc.collect()
    count = len(pauses.pauses_s)
    gc.collect()

    assert count >= 1
    assert len(pauses.pauses_s) == count


async def test_the_delay_is_from_the_question_to_the_answer_one_at_a_time() -> None:
    moments = itertools.chain([10.0, 10.25, 20.0, 20.5], itertools.repeat(30.0))
    probe = DispatchProbe(every_s=0.001, clock=lambda: next(moments))

    with probe.watching():
        while len(probe.delays_s) < 2:  # noqa: ASYNC110 - the loop must turn to answer
            await asyncio.sleep(0)

    assert probe.delays_s[:2] == [0.25, 0.5]


def test_a_loop_that_ends_without_an_answer_ends_the_probe() -> None:
    async def open_and_leave() -> None:
        with DispatchProbe(every_s=0.001).watching():
            await asyncio.sleep(0.01)

    asyncio.run(open_and_leave())

    for thread in threading.enumerate():
        if thread.name == "dispatch probe":
            thread.join(timeout=10)
            assert not thread.is_alive()
