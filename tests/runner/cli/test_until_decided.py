"""Which campaigns may be run until they are decided, and when more blocks would help."""

from dataclasses import replace
from pathlib import Path

import pytest

from runner.campaign.campaign import Campaign, StopRule
from runner.campaign.campaign_file import load_campaign
from runner.cli.until_decided import (
    undecided,
    until_decided,
    with_another_block,
    with_blocks,
)
from runner.errors import UsageError
from runner.execute.verdicts import JudgedHypothesis
from tests.runner.evidence.verdicts import Run, arm_of, verdict_of

SHIPPED = Path(__file__).parents[3] / "configs" / "campaigns" / "decisive-test.yaml"


@pytest.fixture(scope="module")
def campaign() -> Campaign:
    return load_campaign(SHIPPED)


def _judged(after: list[Run], *, flags: tuple[str, ...] = ()) -> JudgedHypothesis:
    return JudgedHypothesis(1, "pool", "claim", verdict_of(arm_of(after, flags=flags)))


def test_it_is_judged_by_the_sequential_rule(campaign: Campaign) -> None:
    assert campaign.stop is StopRule.FIXED
    assert until_decided(campaign).stop is StopRule.DECIDED


def test_a_campaign_without_a_hypothesis_has_nothing_to_decide(campaign: Campaign) -> None:
    with pytest.raises(UsageError, match="no hypothesis that could be decided"):
        until_decided(replace(campaign, hypotheses=()))


def test_planned_looks_are_not_added_to(campaign: Campaign) -> None:
    with pytest.raises(UsageError, match="looks that were planned for 3 blocks"):
        until_decided(replace(campaign, stop=StopRule.TWO_LOOKS))


def test_blocks_are_added_one_by_one_up_to_the_most(campaign: Campaign) -> None:
    longer = with_another_block(campaign, most=4)

    assert longer is not None
    assert longer.schedule.blocks == 4
    assert with_another_block(longer, most=4) is None


def test_a_plan_of_all_the_blocks_that_there_may_be_is_the_campaign_with_so_many(
    campaign: Campaign,
) -> None:
    assert with_blocks(campaign, 24).schedule.blocks == 24
    assert with_blocks(campaign, 3) == campaign


def test_only_what_more_runs_could_decide_is_undecided() -> None:
    assert undecided([_judged([(20, 0, 0)])]) == ["pool"]
    assert undecided([_judged([(60, 20, 0), (60, 20, 0)])]) == []
    assert undecided([_judged([(20, 0, 0)], flags=("not_exercised",))]) == []
