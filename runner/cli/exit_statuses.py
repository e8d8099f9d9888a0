"""What a script can read off the verdicts of a command."""

from collections.abc import Sequence

from db.vocabulary import Headline
from runner.cli.console import ExitStatus
from runner.evidence.campaign_verdict import CampaignVerdict

_FAILED = frozenset({Headline.REFUTED, Headline.WORSE, Headline.IMPROVED_NOT_ELIMINATED})


def status_of(verdicts: Sequence[CampaignVerdict]) -> ExitStatus:
    """Fine where every registered prediction held.

    An exploratory one may fail, but holds nothing: it was written after runs had begun.
    """
    headlines = {each.headline for each in verdicts if not each.is_exploratory}
    if not headlines:
        later = {each.headline for each in verdicts}
        return ExitStatus.SOME_FAILED if later & _FAILED else ExitStatus.COULD_NOT_SAY
    if headlines & _FAILED:
        return ExitStatus.SOME_FAILED
    return ExitStatus.COULD_NOT_SAY if Headline.INCONCLUSIVE in headlines else ExitStatus.FINE
