"""After each pass over a campaign that is run until decided: another block, or why there is none.

It always ends: each pass has one block more than the one before, and there is a most.
"""

from collections.abc import Sequence
from typing import NamedTuple

from db.vocabulary import Headline
from runner.campaign.campaign import Campaign
from runner.campaign.until_decided import with_another_block
from runner.execute.campaign_loop import CampaignEnd
from runner.execute.verdicts import JudgedHypothesis


class Further(NamedTuple):
    """`campaign`: what is to be run next, None where it ends. `said`: why, in one sentence.

    Nothing is said where the pass itself ended early: its end says why.
    """

    campaign: Campaign | None
    said: str | None


def further_blocks(
    campaign: Campaign, end: CampaignEnd, judged: Sequence[JudgedHypothesis], *, most: int
) -> Further:
    if end.was_stopped or end.gave_up is not None or end.ended_at_wedge is not None:
        return Further(None, None)
    slugs = undecided(judged)
    if not slugs:
        return Further(None, _why_no_further(judged))
    longer = with_another_block(campaign, most=most)
    if longer is None:
        blocks = campaign.schedule.blocks
        said = f"not decided after {blocks} blocks: {', '.join(slugs)}; no more were asked for"
        return Further(None, said)
    said = f"not decided yet: {', '.join(slugs)}; block {longer.schedule.blocks} is added"
    return Further(longer, said)


def undecided(judged: Sequence[JudgedHypothesis]) -> list[str]:
    """The registered hypotheses that further runs could decide.

    One whose arms cannot be compared (not verified, not in use) needs something else than runs.
    """
    return [each.slug for each in _open(judged) if each.verdict.comparison is not None]


def _open(judged: Sequence[JudgedHypothesis]) -> list[JudgedHypothesis]:
    return [each for each in _registered(judged) if each.verdict.headline is Headline.INCONCLUSIVE]


def _registered(judged: Sequence[JudgedHypothesis]) -> list[JudgedHypothesis]:
    return [each for each in judged if not each.verdict.is_exploratory]


def _why_no_further(judged: Sequence[JudgedHypothesis]) -> str:
    registered, barred = _registered(judged), _open(judged)
    if not registered:
        return "no hypothesis was registered before the first run, so that further runs decide none"
    decided = [each for each in registered if each not in barred]
    said = ", ".join(f"{each.slug} {_words(each.verdict.headline)}" for each in decided)
    if not barred:
        return f"decided: {said}"
    names = ", ".join(each.slug for each in barred)
    why = f"further runs cannot decide {names}: the arms cannot be compared, as the verdict says"
    return f"{why}; decided: {said}" if decided else why


def _words(headline: Headline) -> str:
    return headline.value.replace("_", " ")
