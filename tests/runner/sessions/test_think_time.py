import itertools
import statistics

from runner.campaign.campaign import ToolLatency
from runner.sessions.think_time import think_times_s

LATENCY = ToolLatency(median_ms=100, sigma=1.2)


def first(count: int, latency: ToolLatency | None, *, index: int = 0) -> list[float]:
    return list(itertools.islice(think_times_s(latency, seed=7, session_index=index), count))


def test_the_same_session_thinks_the_same_in_every_arm() -> None:
    assert first(8, LATENCY) == first(8, LATENCY)
    assert first(8, LATENCY) != first(8, LATENCY, index=1)


def test_half_of_the_tools_are_faster_than_the_median_and_people_take_twice_as_long() -> None:
    times = first(4_000, LATENCY)

    assert 0.09 < statistics.median(times[0::2]) < 0.11
    assert 0.18 < statistics.median(times[1::2]) < 0.22


def test_without_spread_every_tool_takes_the_median() -> None:
    assert first(4, ToolLatency(median_ms=100, sigma=0)) == [0.1, 0.2, 0.1, 0.2]


def test_latency_can_be_switched_off() -> None:
    assert first(4, None) == [0, 0, 0, 0]


def test_no_draw_holds_a_run_for_ever() -> None:
    assert max(first(2_000, ToolLatency(median_ms=1, sigma=5))) == 0.1
