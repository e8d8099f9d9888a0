"""In which order the runs come, on every machine and Python alike."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.campaign.campaign import PlannedRun
from runner.campaign.matrix import expand_arms
from runner.campaign.schedule import schedule_runs, shuffled
from tests.runner.campaign.files import CAMPAIGN, campaign, spoiled, stack


def scheduled(text: str = CAMPAIGN) -> tuple[PlannedRun, ...]:
    loaded = campaign(text)
    return schedule_runs(loaded, expand_arms(loaded), stack=stack())


@pytest.mark.parametrize(
    ("seed", "order"),
    [  # computed with Perl's Digest::SHA and Math::BigInt, and with sha256sum and bc
        ("order 7 block 1", [0, 4, 3, 2, 7, 1, 6, 5]),
        ("order 7 block 2", [1, 4, 0, 2, 7, 6, 3, 5]),
        ("order 8 block 1", [2, 0, 5, 6, 4, 1, 3, 7]),
    ],
)
def test_an_order_is_what_other_languages_compute_from_the_seed(
    seed: str, order: list[int]
) -> None:
    assert shuffled(range(8), seed) == order


@given(st.lists(st.integers()), st.text())
def test_a_shuffle_keeps_every_item(items: list[int], seed: str) -> None:
    assert sorted(shuffled(items, seed)) == sorted(items)


def test_a_shuffle_favours_no_place() -> None:
    first = [shuffled("abcd", f"seed {i}")[0] for i in range(400)]

    assert all(60 <= first.count(letter) <= 140 for letter in "abcd")


def test_each_arm_runs_once_in_each_block() -> None:
    runs = scheduled()

    assert [run.position for run in runs] == list(range(20))
    assert [run.block for run in runs] == [1] * 10 + [2] * 10
    for block in (1, 2):
        names = [run.arm.name for run in runs if run.block == block]
        assert sorted(names) == sorted(arm.name for arm in expand_arms(campaign()))


def test_blocks_and_seeds_have_orders_of_their_own() -> None:
    names = [run.arm.name for run in scheduled()]
    other = [run.arm.name for run in scheduled(spoiled(CAMPAIGN, "order_seed: 7", "order_seed: 8"))]

    assert names == [run.arm.name for run in scheduled()]
    assert names[:10] != names[10:]
    assert names != other


def test_more_blocks_leave_the_first_ones_as_they_were() -> None:
    longer = scheduled(spoiled(CAMPAIGN, "blocks: 2", "blocks: 5"))

    assert longer[:20] == scheduled()


def test_run_keys_tell_runs_apart_and_stay_over_another_order() -> None:
    keys = {(run.arm.name, run.block): run.run_key for run in scheduled()}
    other = scheduled(spoiled(CAMPAIGN, "order_seed: 7", "order_seed: 8"))

    assert len(set(keys.values())) == 20
    assert {(run.arm.name, run.block): run.run_key for run in other} == keys


def test_runs_that_may_share_a_launch_stand_together_and_are_still_shuffled() -> None:
    text = spoiled(CAMPAIGN, "order_seed: 7", "order_seed: 7, restart: when_needed")

    runs = scheduled(text)

    settings = [stack().launch_settings(run.arm.levels) for run in runs[:10]]
    changes = sum(a != b for a, b in pairwise(settings))
    assert changes == len(set(settings)) - 1 == 4
    assert sorted(run.arm.position for run in runs[:10]) == list(range(10))
    plots = [[run.arm.levels for run in runs[i : i + 2]] for i in range(0, 20, 2)]
    assert {plot[0]["concurrency"] for plot in plots} == {1, 80}
