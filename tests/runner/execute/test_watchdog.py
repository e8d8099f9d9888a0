"""The thread that ends what the event loop cannot end any more, on a clock of its own."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from runner.execute.stop_request import StopRequest
from runner.execute.watchdog import Watchdog, WatchdogPatience, dump_stacks


@dataclass
class Scene:
    """Ticks every quarter of a second on a clock that only `pass_s` moves."""

    patience: WatchdogPatience
    now_s: float = 100.0
    said: list[str] = field(default_factory=list)
    hard_ends: int = 0
    stop: StopRequest = field(default_factory=StopRequest)
    dog: Watchdog = field(init=False)

    def __post_init__(self) -> None:
        self.dog = Watchdog(
            self.patience, self.stop, self.said.append, self._end, clock=lambda: self.now_s
        )

    def _end(self) -> None:
        self.hard_ends += 1

    def pass_s(self, seconds: float, *, until: Callable[[], bool] = lambda: False) -> None:
        for _ in range(round(seconds / 0.25)):
            self.now_s += 0.25
            self.dog.tick()
            if until():
                return


async def test_a_spent_budget_asks_then_insists_then_ends_the_process() -> None:
    scene = Scene(WatchdogPatience(budget_s=10, grace_s=5, insist_s=5))
    scene.dog.attach(asyncio.get_running_loop())

    scene.pass_s(9.5)
    before = scene.stop.soft.is_set()
    scene.pass_s(1)
    await asyncio.sleep(0)
    asked = scene.stop.soft.is_set()
    scene.pass_s(6)
    ends_before = scene.hard_ends
    scene.pass_s(5, until=lambda: scene.hard_ends > 0)

    assert (before, asked) == (False, True)
    assert (ends_before, scene.hard_ends) == (0, 1)
    assert scene.dog.budget_spent and not scene.stop.was_asked


async def test_the_second_word_of_a_budget_cuts_the_sessions_in_flight() -> None:
    scene = Scene(WatchdogPatience(budget_s=1, grace_s=5, insist_s=50))
    scene.dog.attach(asyncio.get_running_loop())
    campaign = asyncio.ensure_future(asyncio.sleep(3600))
    scene.stop.bind(campaign)

    scene.pass_s(3)
    await asyncio.sleep(0)
    is_left_alone = not campaign.cancelled()
    scene.pass_s(5)
    await asyncio.gather(campaign, return_exceptions=True)

    assert is_left_alone and campaign.cancelled()


async def test_without_a_budget_time_may_pass() -> None:
    scene = Scene(WatchdogPatience())
    scene.dog.attach(asyncio.get_running_loop())
    for _ in range(30):
        scene.pass_s(10)
        await asyncio.sleep(0)

    assert (scene.hard_ends, scene.said) == (0, [])


async def test_a_loop_that_is_held_up_is_told_once_and_ended_at_last() -> None:
    scene = Scene(WatchdogPatience(stuck_s=20, dead_s=60))
    scene.dog.attach(asyncio.get_running_loop())

    scene.pass_s(50)
    told = list(scene.said)
    scene.pass_s(20, until=lambda: scene.hard_ends > 0)

    assert len(told) == 1 and "its stacks are in" in told[0]
    assert scene.hard_ends == 1


async def test_a_process_that_was_stopped_for_an_hour_is_not_ended_for_it() -> None:
    scene = Scene(WatchdogPatience(stuck_s=20, dead_s=60))
    scene.dog.attach(asyncio.get_running_loop())
    scene.now_s += 3600
    scene.pass_s(2)

    assert (scene.hard_ends, scene.said) == (0, [])


def test_the_stacks_name_the_functions_that_run() -> None:
    path = dump_stacks()
    try:
        assert "test_the_stacks_name_the_functions_that_run" in path.read_text("utf-8")
    finally:
        path.unlink()
