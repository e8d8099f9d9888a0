"""Adds block after block to a campaign until its hypotheses are answered: when, and for how long.

Only a campaign that is judged by its sequential rule may be looked at so often: `stop: decided`.
"""

from collections.abc import Sequence
from dataclasses import replace

from db.vocabulary import Headline
from runner.campaign.campaign import Campaign, StopRule
from runner.campaign.file_shape import MAX_BLOCKS
from runner.errors import UsageError
from runner.execute.verdicts import JudgedHypothesis

MOST_BLOCKS = 24
"""So many blocks at most, unless told otherwise: what is not decided then is a small difference."""


def until_decided(campaign: Campaign) -> Campaign:
    """The campaign under the sequential rule. With another rule in its file it is another campaign,
    whose runs are its own.

    Raises UsageError where there is nothing to decide, or where looks were planned.
    """
    if not campaign.hypotheses:
        raise UsageError(f"{campaign.name} has no hypothesis that could be decided")
    if campaign.stop is StopRule.TWO_LOOKS:
        raise UsageError(
            f"{campaign.name} is judged at looks that were planned for {campaign.schedule.blocks} "
            "blocks: blocks cannot be added until it is decided"
        )
    return replace(campaign, stop=StopRule.DECIDED)


def with_another_block(campaign: Campaign, *, most: int = MOST_BLOCKS) -> Campaign | None:
    """None where it has as many as it may have."""
    blocks = campaign.schedule.blocks + 1
    if blocks > min(most, MAX_BLOCKS):
        return None
    return with_blocks(campaign, blocks)


def with_blocks(campaign: Campaign, blocks: int) -> Campaign:
    return replace(campaign, schedule=campaign.schedule.model_copy(update={"blocks": blocks}))


def undecided(judged: Sequence[JudgedHypothesis]) -> list[str]:
    """The registered hypotheses that further runs could decide.

    One whose arms cannot be compared (not verified, not in use) needs something else than runs.
    """
    return [
        each.slug
        for each in judged
        if not each.verdict.is_exploratory
        and each.verdict.headline is Headline.INCONCLUSIVE
        and each.verdict.comparison is not None
    ]
