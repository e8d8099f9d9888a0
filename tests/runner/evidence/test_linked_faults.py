"""Whether corruption stands nearer to wedges than other turns of its run."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.evidence.linkage_words import linkage_lines
from runner.evidence.linked_faults import (
    Disturbance,
    Linkage,
    PlayedTurn,
    link_faults,
    seconds_to_nearest,
)

times = st.floats(0, 100, allow_nan=False)
spans = st.lists(st.tuples(times, times), min_size=1, max_size=6)


def played(run: str, corrupt_at: Sequence[int], *, turns: int = 60) -> list[PlayedTurn]:
    """One turn a second, all of one number; those of the given seconds went corrupt."""
    return [PlayedTurn(run, 0, at, at + 0.5, at in corrupt_at) for at in range(turns)]


def linked(turns: Sequence[PlayedTurn], disturbances: Sequence[Disturbance]) -> Linkage:
    return link_faults(turns, disturbances, rng=np.random.default_rng(1))


def at(run: str, *seconds: float) -> list[Disturbance]:
    return [Disturbance(run, second, second) for second in seconds]


@settings(max_examples=50)
@given(spans, st.lists(st.tuples(times, times), min_size=1, max_size=5))
def test_the_nearest_disturbance_is_that_of_looking_at_each(
    disturbed: list[tuple[float, float]], turns: list[tuple[float, float]]
) -> None:
    disturbances = [Disturbance("r", min(x), max(x)) for x in disturbed]
    starts, ends = (np.array([pick(x) for x in turns]) for pick in (min, max))

    found = seconds_to_nearest(starts, ends, disturbances)

    slow = [
        min(max(0.0, d.start_s - end, start - d.end_s) for d in disturbances)
        for start, end in zip(starts, ends, strict=True)
    ]
    assert found == pytest.approx(slow)


def test_corruption_at_each_wedge_is_linked_by_both_permutations() -> None:
    seconds = [7, 23, 31, 44, 52]
    turns = played("r-1", seconds) + played("r-2", [3, 17, 29, 48])

    found = linked(turns, at("r-1", *seconds) + at("r-2", 3, 17, 29, 48))

    assert found.test is not None
    assert (found.test.runs, found.test.corrupt, found.test.disturbances) == (2, 9, 9)
    assert found.test.corrupt_median_s == 0
    assert max(found.test.p_exchange, found.test.p_clock) < 0.01
    assert "come together in time" in linkage_lines(found)[-1]


def test_corruption_far_from_the_wedges_is_not_linked() -> None:
    found = linked(played("r-1", [40, 45, 50, 55]), at("r-1", 2, 5, 9))

    assert found.test is not None and found.test.p > 0.5
    assert "not shown, and not excluded" in linkage_lines(found)[-1]


def test_one_burst_beside_one_wedge_counts_once() -> None:
    """Which turns went corrupt says much here; when they did says little, and that is taken."""
    found = linked(played("r-1", [20, 21, 22, 23, 24]), at("r-1", 26))

    assert found.test is not None
    assert found.test.p_exchange < 0.02 < 0.05 < found.test.p_clock
    assert found.test.p == found.test.p_clock


def test_what_comes_with_later_turns_links_nothing() -> None:
    """All second turns are corrupt and near: there is no other second turn to hold them against."""
    first = [PlayedTurn("r-1", 0, t, t + 1, False) for t in range(10)]
    second = [PlayedTurn("r-1", 1, t, t + 1, True) for t in range(50, 60)]

    found = linked([*first, *second], at("r-1", *range(50, 60)))

    assert found.test is not None and found.test.p_exchange == 1


def test_corruption_in_runs_without_wedges_is_said_first() -> None:
    found = linked(played("r-1", [5, 6]) + played("r-2", []), at("r-2", 9))

    lines = linkage_lines(found)
    assert found.test is None
    assert lines[0].startswith("In 1 run without any wedge or abort, 2 sessions went corrupt")
    assert "cannot be asked: no run had both" in lines[1]


@pytest.mark.parametrize(
    ("turns", "disturbances"),
    [([], []), (played("r", []), at("r", 3)), (played("r", [1]), [])],
    ids=["nothing", "no-corruption", "no-wedges"],
)
def test_where_one_of_the_two_is_missing_nothing_is_said(
    turns: list[PlayedTurn], disturbances: list[Disturbance]
) -> None:
    assert linkage_lines(linked(turns, disturbances)) == []


def test_the_draws_give_the_answer_they_gave_before() -> None:
    turns, disturbances = played("r-1", [3, 30, 40]), at("r-1", 5, 33)

    assert linked(turns, disturbances) == linked(turns, disturbances)


class CountedLooks(list[Disturbance]):
    """Counts how often somebody goes through it."""

    looks = 0

    def __iter__(self) -> Iterator[Disturbance]:
        self.looks += 1
        return super().__iter__()


def test_events_are_gone_through_as_often_for_many_runs_as_for_one() -> None:
    one, many = CountedLooks(at("r-0", 30)), CountedLooks()
    for run in range(40):
        many.extend(at(f"r-{run}", 30))

    linked(played("r-0", [30]), one)
    linked([turn for run in range(40) for turn in played(f"r-{run}", [30])], many)

    assert many.looks == one.looks
