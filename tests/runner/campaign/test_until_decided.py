"""Which campaigns may be run until they are decided, and how far blocks are added."""

from dataclasses import replace
from pathlib import Path

import pytest

from runner.campaign.campaign import Campaign, StopRule
from runner.campaign.campaign_file import load_campaign
from runner.campaign.file_shape import MAX_BLOCKS
from runner.campaign.until_decided import (
    until_decided,
    why_not_until_decided,
    with_another_block,
    with_blocks,
)
from runner.errors import UsageError

SHIPPED = Path(__file__).parents[3] / "configs" / "campaigns" / "decisive-test.yaml"


@pytest.fixture(scope="module")
def campaign() -> Campaign:
    return load_campaign(SHIPPED)


def test_it_is_judged_by_the_sequential_rule(campaign: Campaign) -> None:
    assert campaign.stop is StopRule.FIXED
    assert until_decided(campaign).stop is StopRule.DECIDED


def test_a_campaign_without_a_hypothesis_has_nothing_to_decide(campaign: Campaign) -> None:
    with pytest.raises(UsageError, match="no hypothesis that could be decided"):
        until_decided(replace(campaign, hypotheses=()))


def test_planned_looks_are_not_added_to(campaign: Campaign) -> None:
    with pytest.raises(UsageError, match="looks that were planned for 3 blocks"):
        until_decided(replace(campaign, stop=StopRule.TWO_LOOKS))


def test_a_campaign_whose_rule_stays_is_told_why_it_cannot(campaign: Campaign) -> None:
    decided = replace(campaign, stop=StopRule.DECIDED)

    assert why_not_until_decided(decided) is None
    assert "has stop: fixed" in (why_not_until_decided(campaign) or "")
    nothing = why_not_until_decided(replace(decided, hypotheses=()))
    assert nothing == "decisive-test has no hypothesis that could be decided"


def test_blocks_are_added_one_by_one_up_to_the_most(campaign: Campaign) -> None:
    longer = with_another_block(campaign, most=4)

    assert longer is not None
    assert longer.schedule.blocks == 4
    assert with_another_block(longer, most=4) is None


def test_no_wish_goes_beyond_what_a_campaign_may_have(campaign: Campaign) -> None:
    assert with_another_block(with_blocks(campaign, MAX_BLOCKS), most=2 * MAX_BLOCKS) is None


def test_a_plan_of_all_the_blocks_that_there_may_be_is_the_campaign_with_so_many(
    campaign: Campaign,
) -> None:
    assert with_blocks(campaign, 24).schedule.blocks == 24
    assert with_blocks(campaign, 3) == campaign
