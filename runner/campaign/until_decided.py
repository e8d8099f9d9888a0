"""Block after block until a campaign's hypotheses are answered: which campaign may, and how far.

Only a campaign that is judged by its sequential rule may be looked at so often: `stop: decided`.
"""

from dataclasses import replace

from runner.campaign.campaign import Campaign, StopRule
from runner.campaign.file_shape import MAX_BLOCKS
from runner.errors import UsageError

MOST_BLOCKS = 24
"""So many blocks at most, unless told otherwise: what is not decided then is a small difference."""


def until_decided(campaign: Campaign) -> Campaign:
    """The campaign under the sequential rule. With another rule in its file it is another campaign,
    whose runs are its own.

    Raises UsageError where there is nothing to decide, or where looks were planned.
    """
    if not campaign.hypotheses:
        raise UsageError(_nothing_to_decide(campaign))
    if campaign.stop is StopRule.TWO_LOOKS:
        raise UsageError(
            f"{campaign.name} is judged at looks that were planned for {campaign.schedule.blocks} "
            "blocks: blocks cannot be added until it is decided"
        )
    return replace(campaign, stop=StopRule.DECIDED)


def why_not_until_decided(campaign: Campaign) -> str | None:
    """Why blocks may not be added until it is decided, with its rule as it is; None: they may."""
    if not campaign.hypotheses:
        return _nothing_to_decide(campaign)
    if campaign.stop is not StopRule.DECIDED:
        return (
            f"{campaign.name} has stop: {campaign.stop}, which further looks would mislead: only "
            "a campaign with stop: decided is run until it is decided"
        )
    return None


def with_another_block(campaign: Campaign, *, most: int = MOST_BLOCKS) -> Campaign | None:
    """None where it has as many as it may have."""
    blocks = campaign.schedule.blocks + 1
    if blocks > min(most, MAX_BLOCKS):
        return None
    return with_blocks(campaign, blocks)


def with_blocks(campaign: Campaign, blocks: int) -> Campaign:
    return replace(campaign, schedule=campaign.schedule.model_copy(update={"blocks": blocks}))


def _nothing_to_decide(campaign: Campaign) -> str:
    return f"{campaign.name} has no hypothesis that could be decided"
