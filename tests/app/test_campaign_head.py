"""The chips of a campaign's verdicts, wherever campaigns are listed."""

from dataclasses import replace

from app.widgets.campaign_head import verdict_badges
from db.reads.campaigns import VerdictFacts
from db.vocabulary import Headline

POOL = VerdictFacts(
    campaign_id=1,
    hypothesis_id=1,
    slug="pool",
    claim="the pool is the cause",
    predict="corrupt == 0",
    tolerate=0.05,
    goal="eliminate",
    predicted_rate=None,
    known_good_arm_id=None,
    is_registered=True,
    arm_id=1,
    versus_arm_id=2,
    headline=Headline.CONFIRMED,
    elimination="confirmed",
    direction="lower",
    availability="not_shown_worse",
    sentence="",
    reasons=[],
    said=[],
    rule={},
    decided_at_us=1,
)


def test_what_was_written_after_the_first_run_wears_its_label() -> None:
    later = replace(POOL, slug="pool~2", is_registered=False)

    badges = verdict_badges([POOL, later], is_final=True)

    assert "pool confirmed" in badges
    assert r"exploratory pool\~2 confirmed" in badges
    assert badges.count("exploratory") == 1


def test_a_verdict_says_so_far_while_runs_are_outstanding() -> None:
    assert "pool confirmed so far" in verdict_badges([POOL], is_final=False)
    assert "so far" not in verdict_badges([POOL], is_final=True)
