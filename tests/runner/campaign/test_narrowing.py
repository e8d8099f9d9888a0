"""A launch may take less of a campaign than its file has, and never more."""

from dataclasses import replace

import pytest

from runner.campaign.campaign import Campaign, StopRule
from runner.campaign.definition import definition_key
from runner.campaign.matrix import expand_arms
from runner.campaign.narrowing import narrow_campaign
from runner.errors import UsageError
from tests.runner.campaign.files import campaign, stack


def names(narrowed: Campaign) -> list[str]:
    return [arm.name for arm in expand_arms(narrowed)]


def test_chosen_levels_leave_their_arms_in_the_order_of_the_file() -> None:
    narrowed = narrow_campaign(campaign(), {"concurrency": [80], "cache": ["on", "off"]})

    assert names(narrowed) == [arm.name for arm in expand_arms(campaign()) if arm.concurrency == 80]
    assert narrowed.baseline == campaign().baseline
    assert len(narrowed.hypotheses) == 1


def test_a_baseline_or_hypothesis_whose_arm_is_gone_is_dropped() -> None:
    without_baseline = narrow_campaign(campaign(), {"keys": ["fp8"]})
    without_fix = narrow_campaign(campaign(), {"pool": ["fp8-sized"]})

    assert (without_baseline.baseline, without_baseline.hypotheses) == (None, ())
    assert (without_fix.baseline, without_fix.hypotheses) == (campaign().baseline, ())


def test_all_levels_and_the_same_order_are_the_same_campaign() -> None:
    everything = {name: list(reversed(levels)) for name, levels in campaign().factors.items()}

    narrowed = narrow_campaign(campaign(), everything, order_seed=7)

    assert definition_key(narrowed, stack()) == definition_key(campaign(), stack())


def test_another_order_seed_is_another_campaign() -> None:
    narrowed = narrow_campaign(campaign(), {}, order_seed=8)

    assert narrowed.schedule.order_seed == 8
    assert narrowed.schedule.blocks == 2
    assert definition_key(narrowed, stack()) != definition_key(campaign(), stack())


def test_levels_may_come_as_text_from_an_address() -> None:
    assert narrow_campaign(campaign(), {"concurrency": ["80"]}).factors["concurrency"] == (80,)


@pytest.mark.parametrize(
    ("chosen", "seed", "error"),
    [
        ({"keys": ["fp4"]}, None, "host-pool has no such level of keys: fp4; it has: fp8, bf16"),
        ({"keys": []}, None, "host-pool has no such level of keys: none; it has: fp8, bf16"),
        ({"command": ["rm"]}, None, "host-pool has no factor command; it has: keys, cache, pool"),
        ({"keys": ["fp8"], "pool": ["dtype-aware"]}, None, "its exclusions leave no arm of the"),
        ({}, -1, "an order seed is a whole number from 0 to 1000000000000000000, not -1"),
    ],
)
def test_what_the_file_does_not_list_is_refused(
    chosen: dict[str, list[str]], seed: int | None, error: str
) -> None:
    with pytest.raises(UsageError) as raised:
        narrow_campaign(campaign(), chosen, order_seed=seed)

    assert error in str(raised.value)


def test_other_blocks_stand_for_the_number_of_the_file() -> None:
    assert narrow_campaign(campaign(), {}, blocks=9).schedule.blocks == 9


@pytest.mark.parametrize("blocks", [0, -1, 10_001])
def test_a_number_of_blocks_that_no_campaign_has_is_refused(blocks: int) -> None:
    with pytest.raises(UsageError, match="blocks"):
        narrow_campaign(campaign(), {}, blocks=blocks)


def test_planned_looks_do_not_bear_other_blocks() -> None:
    looking = replace(campaign(), stop=StopRule.TWO_LOOKS)

    with pytest.raises(UsageError, match="cannot be changed"):
        narrow_campaign(looking, {}, blocks=99)
