"""Which campaigns the sidebar offers to change to."""

from app.widgets.sidebar import offered_campaigns
from tests.app.values import campaign_facts

TRIALS = [campaign_facts(3, name="slow.reduce-00000002"), campaign_facts(2, name="fast")]
NEWEST_FIRST = [
    campaign_facts(4, name="slow.reduce-00000001"),
    *TRIALS,
    campaign_facts(1, name="slow"),
]


def test_what_a_reduction_made_is_left_out_while_another_campaign_is_looked_at() -> None:
    assert offered_campaigns(NEWEST_FIRST, current=2) == {2: "c-2 · fast", 1: "c-1 · slow"}


def test_what_a_reduction_made_stands_under_the_campaign_that_is_looked_at() -> None:
    offered = offered_campaigns(NEWEST_FIRST, current=1)

    assert list(offered) == [2, 1, 4, 3]
    assert offered[4] == "↳ c-4 · slow.reduce-00000001"


def test_a_trial_that_is_looked_at_is_offered_with_its_campaign() -> None:
    assert list(offered_campaigns(NEWEST_FIRST, current=3)) == [2, 1, 4, 3]
