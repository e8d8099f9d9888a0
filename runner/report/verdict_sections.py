"""What a report says of verdicts: the sentences of the evidence, and how often they mislead."""

from collections.abc import Sequence

from db.vocabulary import Headline
from runner.evidence.campaign_verdict import CampaignVerdict
from runner.evidence.decision_rule import DecisionRule
from runner.evidence.verdict_text import verdict_lines
from runner.evidence.verdict_words import HEADLINE_WORDS
from runner.evidence.wording import rounded
from runner.report.document import (
    Block,
    Heading,
    Link,
    Paragraph,
    Section,
    SectionRole,
    SectionTag,
    Table,
    Words,
)
from runner.report.page_addresses import campaign_page, linked, verdict_page
from runner.report.report_record import ReportedVerdict

NOTHING_CLAIMED = "No hypothesis was written down, so nothing is claimed."
_NEEDS_ACTION = frozenset({Headline.REFUTED, Headline.WORSE, Headline.IMPROVED_NOT_ELIMINATED})


def verdicts_section(campaign_id: int, verdicts: Sequence[ReportedVerdict]) -> Section:
    if not verdicts:
        return Section("Verdicts", (Paragraph(NOTHING_CLAIMED),))
    rows = tuple(
        (
            (Link(each.slug, _page(campaign_id, each)),),
            (Link(headline_text(each.verdict), _page(campaign_id, each)),),
            each.claim,
            each.predict,
        )
        for each in verdicts
    )
    table = Table(("hypothesis", "verdict", "claim", "predicted"), rows)
    details = [block for each in verdicts for block in verdict_blocks(campaign_id, each)]
    return Section("Verdicts", (table, *details), tag_of(verdicts))


def verdict_blocks(campaign_id: int, each: ReportedVerdict) -> tuple[Block, ...]:
    """Which arms, then the lines that the command line prints as well."""
    heading: Words = (
        Link(each.slug, _page(campaign_id, each)),
        f": {headline_text(each.verdict)}",
    )
    arms = Paragraph(f"{each.arm_name}, compared with {each.versus_name}.")
    lines = (Paragraph(linked(line)) for line in verdict_lines(each.verdict))
    return (Heading(heading), arms, *lines)


def tag_of(verdicts: Sequence[ReportedVerdict]) -> SectionTag:
    needs_action = any(each.verdict.headline in _NEEDS_ACTION for each in verdicts)
    return SectionTag.ACTION_NEEDED if needs_action else SectionTag.INFORMATION


def headline_text(verdict: CampaignVerdict) -> str:
    headline = HEADLINE_WORDS[verdict.headline].lower()
    return f"{headline} (exploratory)" if verdict.is_exploratory else headline


def false_alarms_section(verdicts: Sequence[ReportedVerdict]) -> tuple[Section, ...]:
    """How many of these verdicts are expected to mislead though the rules were kept."""
    registered = [each for each in verdicts if not each.verdict.is_exploratory]
    picked = any(each.hypothesis_id is None for each in verdicts)
    later = len(verdicts) - len(registered) - picked
    said = _of_registered(len(registered)) if registered else ()
    if later:
        verb = "was" if later == 1 else "were"
        said = (
            *said,
            f"{_hypotheses(later)} {verb} written down after runs had begun, which no number here "
            "accounts for: what they say is a hint to test.",
        )
    if picked:
        said = (
            *said,
            "This comparison was picked with its runs in the store, which no number here accounts "
            "for: what it says is a hint to test.",
        )
    if not said:
        return ()
    return (Section("Expected false alarms", tuple(map(Paragraph, said)), role=SectionRole.DETAIL),)


def _of_registered(number: int) -> tuple[str, ...]:
    rule = DecisionRule()
    percent = f"{rounded(rule.alpha * 100, 0)} %"
    expected = rounded(rule.alpha * number, 2)
    return (
        f"Direction: {_hypotheses(number)} registered, p-values adjusted for their number (Holm). "
        f"If no arm differed from the one it is compared with, at most {percent} of such "
        "campaigns would claim one of these directions by chance.",
        f"Elimination: each limit holds at {rounded(rule.confidence * 100, 0)} % by itself and is "
        f"not adjusted. If the rate of every arm were just the one tolerated, {expected} of "
        f"{number:,} would be expected to pass the limit by chance.",
    )


def _hypotheses(number: int) -> str:
    return f"{number:,} hypothesis" if number == 1 else f"{number:,} hypotheses"


def _page(campaign_id: int, each: ReportedVerdict) -> str:
    if each.hypothesis_id is None:
        return campaign_page(campaign_id)
    return verdict_page(campaign_id, each.hypothesis_id)
