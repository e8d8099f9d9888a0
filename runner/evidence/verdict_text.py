"""A verdict as plain lines, the ones that the command line prints and reports quote."""

from collections.abc import Iterator

from runner.evidence.campaign_verdict import CampaignVerdict
from runner.evidence.verdict_words import HEADLINE_WORDS


def verdict_lines(verdict: CampaignVerdict) -> tuple[str, ...]:
    """Headline and sentence, answers, basis, caveats, runs left out, next steps with their cost."""
    return tuple(_lines(verdict))


def headline_line(verdict: CampaignVerdict) -> str:
    return f"{HEADLINE_WORDS[verdict.headline].upper()}. {verdict.sentence}"


def _lines(verdict: CampaignVerdict) -> Iterator[str]:
    yield headline_line(verdict)
    yield f"Is the fault gone? {verdict.answers.elimination}"
    yield f"Less corruption than in the arm compared with? {verdict.answers.direction}"
    yield f"More silence than there? {verdict.answers.availability}"
    yield verdict.basis
    for caveat in verdict.caveats:
        yield f"Note: {caveat.text}"
    for exclusion in verdict.exclusions:
        yield f"Left out: {exclusion}"
    for number, experiment in enumerate(verdict.experiments, start=1):
        yield f"Next {number}: {experiment.text} ({experiment.cost})"
