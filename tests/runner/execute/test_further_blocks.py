"""When another block would help to decide, and what is said where it would not."""

from pathlib import Path

import pytest

from runner.campaign.campaign import Campaign
from runner.campaign.campaign_file import load_campaign
from runner.execute.campaign_loop import CampaignEnd
from runner.execute.further_blocks import further_blocks, undecided
from runner.execute.verdicts import JudgedHypothesis
from tests.runner.evidence.verdicts import Run, arm_of, verdict_of

SHIPPED = Path(__file__).parents[3] / "configs" / "campaigns" / "decisive-test.yaml"
ENDED = CampaignEnd(1, was_stopped=False, gave_up=None)
OPEN: list[Run] = [(20, 0, 0)]
REFUTED: list[Run] = [(60, 20, 0), (60, 20, 0)]


@pytest.fixture(scope="module")
def campaign() -> Campaign:
    """Of three blocks."""
    return load_campaign(SHIPPED)


def _judged(
    after: list[Run], *, slug: str = "pool", flags: tuple[str, ...] = ()
) -> JudgedHypothesis:
    return JudgedHypothesis(1, slug, "claim", verdict_of(arm_of(after, flags=flags)))


def test_only_what_more_runs_could_decide_is_undecided() -> None:
    assert undecided([_judged(OPEN)]) == ["pool"]
    assert undecided([_judged(REFUTED)]) == []
    assert undecided([_judged(OPEN, flags=("not_exercised",))]) == []


def test_what_is_open_gets_another_block(campaign: Campaign) -> None:
    further = further_blocks(campaign, ENDED, [_judged(OPEN)], most=5)

    assert further.campaign is not None
    assert further.campaign.schedule.blocks == 4
    assert further.said == "not decided yet: pool; block 4 is added"


def test_the_most_blocks_end_it_whatever_is_open(campaign: Campaign) -> None:
    further = further_blocks(campaign, ENDED, [_judged(OPEN)], most=3)

    assert further == (None, "not decided after 3 blocks: pool; no more were asked for")


def test_what_is_decided_is_told_with_its_headline(campaign: Campaign) -> None:
    judged = [_judged(REFUTED), _judged(REFUTED, slug="gate")]

    assert further_blocks(campaign, ENDED, judged, most=9) == (
        None,
        "decided: pool worse, gate worse",
    )


def test_what_can_never_be_decided_ends_it_with_one_sentence(campaign: Campaign) -> None:
    barred = _judged(OPEN, slug="gate", flags=("not_exercised",))
    why = "further runs cannot decide gate: the arms cannot be compared, as the verdict says"

    assert further_blocks(campaign, ENDED, [barred], most=9) == (None, why)
    assert further_blocks(campaign, ENDED, [_judged(REFUTED), barred], most=9) == (
        None,
        f"{why}; decided: pool worse",
    )


def test_where_nothing_was_registered_nothing_is_waited_for(campaign: Campaign) -> None:
    further = further_blocks(campaign, ENDED, [], most=9)

    assert further.campaign is None
    assert "no hypothesis was registered" in (further.said or "")


@pytest.mark.parametrize(
    "end",
    [
        CampaignEnd(1, was_stopped=True, gave_up=None),
        CampaignEnd(1, was_stopped=False, gave_up="3 runs failed in a row"),
        CampaignEnd(1, was_stopped=False, gave_up=None, ended_at_wedge="r-3"),
    ],
    ids=["stopped", "given up", "wedged"],
)
def test_a_pass_that_ended_early_is_not_gone_on_with(campaign: Campaign, end: CampaignEnd) -> None:
    assert further_blocks(campaign, end, [_judged(OPEN)], most=9) == (None, None)
