from collections import Counter

import numpy as np
import pytest

from runner.evidence.allocation import (
    RaceState,
    block_of,
    next_in_race,
    race_state,
    top_two,
)
from runner.evidence.silent_sessions import LaunchCounts


def clean(sessions: int) -> LaunchCounts:
    return LaunchCounts(sessions, 0, 0)


def test_an_arm_leaves_the_race_at_its_first_corrupt_session() -> None:
    assert race_state([clean(80), LaunchCounts(10, 1, 0)]) is RaceState.DROPPED


def test_an_arm_is_accepted_once_enough_were_clean() -> None:
    assert race_state([clean(58)]) is RaceState.RUNNING
    assert race_state([clean(59)]) is RaceState.ACCEPTED
    assert race_state([clean(80)], rho=0.05) is RaceState.RUNNING


def test_silence_neither_drops_nor_accepts() -> None:
    assert race_state([LaunchCounts(0, 0, 200)]) is RaceState.RUNNING
    assert race_state([]) is RaceState.RUNNING


def test_those_with_the_fewest_clean_sessions_run_next() -> None:
    arms = {
        "done": [clean(80)],
        "dropped": [LaunchCounts(5, 1, 0)],
        "ahead": [clean(40)],
        "behind": [clean(10)],
        "new": [],
    }

    chosen = next_in_race(arms, places=2, rng=np.random.default_rng(0))

    assert chosen == ("new", "behind")


def test_racing_spends_far_less_than_giving_every_arm_its_full_share() -> None:
    """Twelve arms, eight of them bad at 15 %, batches of ten: the fixed plan would take 708."""
    spent = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        rates = {f"arm {i}": 0.15 if i < 8 else 0.0 for i in range(12)}
        arms: dict[str, list[LaunchCounts]] = {name: [] for name in rates}
        while chosen := next_in_race(arms, places=12, rng=rng):
            for name in chosen:
                corrupt = int(rng.binomial(10, rates[name]))
                arms[name].append(LaunchCounts(10 - corrupt, corrupt, 0))
        spent.append(sum(x.sessions for launches in arms.values() for x in launches))
        accepted = {n for n, x in arms.items() if race_state(x) is RaceState.ACCEPTED}
        assert {name for name, rate in rates.items() if rate == 0.0} <= accepted

    assert np.mean(spent) < 450


def test_top_two_finds_the_worst_arm_more_often_than_equal_shares() -> None:
    """Six arms, 36 runs of 40 with correlation 0.05."""
    rates = [0.15, 0.12, 0.10, 0.08, 0.06, 0.02]
    found = {"top two": 0, "equal": 0}
    for seed in range(100):
        for how in found:
            rng = np.random.default_rng(seed)
            arms: dict[str, list[LaunchCounts]] = {str(i): [] for i in range(6)}
            for batch in range(36):
                name = top_two(arms, rng=rng) if how == "top two" else str(batch % 6)
                rate = rng.beta(19 * rates[int(name)], 19 * (1 - rates[int(name)]))
                corrupt = int(rng.binomial(40, rate))
                arms[name].append(LaunchCounts(40 - corrupt, corrupt, 0))
            estimates = {
                name: sum(x.corrupt for x in launches) / max(1, sum(x.sessions for x in launches))
                for name, launches in arms.items()
            }
            found[how] += max(estimates, key=lambda name: estimates[name]) == "0"

    assert found["top two"] >= found["equal"] + 5


def test_a_seed_decides_the_choice_and_an_only_arm_is_always_chosen() -> None:
    arms = {"a": [clean(40)], "b": [LaunchCounts(30, 10, 0)]}

    choices = [top_two(arms, rng=np.random.default_rng(3)) for _ in range(5)]

    assert len(set(choices)) == 1
    assert top_two({"only": []}, rng=np.random.default_rng(1)) == "only"
    with pytest.raises(ValueError, match="no arm"):
        top_two({}, rng=np.random.default_rng(1))


def test_the_runner_up_is_tried_about_half_of_the_time() -> None:
    arms = {"bad": [LaunchCounts(20, 60, 0)], "good": [clean(80)]}
    rng = np.random.default_rng(9)

    counts = Counter(top_two(arms, rng=rng) for _ in range(400))

    assert 150 < counts["good"] < 250


def test_every_block_has_the_baseline_once_at_a_random_place() -> None:
    rng = np.random.default_rng(2)

    blocks = [block_of(["a", "b", "base"], baseline="base", rng=rng) for _ in range(30)]

    assert all(sorted(block) == ["a", "b", "base"] for block in blocks)
    assert len({block.index("base") for block in blocks}) == 3
