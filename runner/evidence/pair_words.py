"""What two runs say beside a verdict: which dialogues flipped, and corruption per round at risk."""

from runner.evidence.number_words import of_text, p_text
from runner.evidence.paired_sessions import PairedSessions, mcnemar_two_sided
from runner.evidence.round_exposure import (
    RoundExposure,
    exposure_less,
    exposure_limits,
)
from runner.evidence.wording import rounded

_INDEPENDENT = "if sessions were independent"


def paired_sentence(pairs: PairedSessions) -> str:
    """Of the dialogues that gave evidence in both runs."""
    both = pairs.both_clean + pairs.both_corrupt + pairs.discordant
    if both == 0:
        return "No dialogue gave evidence in both runs."
    silent = ""
    if pairs.silent_pairs:
        silent = f"; {pairs.silent_pairs:,} more were silent in one of them"
    flipped = (
        f"{pairs.only_first_corrupt:,} were corrupt in the first only, "
        f"{pairs.only_second_corrupt:,} in the second only and {pairs.both_corrupt:,} in both"
    )
    p = p_text(mcnemar_two_sided(pairs))
    return (
        f"Of {both:,} dialogues with evidence in both runs {flipped}{silent} (exact McNemar {p} "
        f"{_INDEPENDENT})."
    )


def exposure_sentence(first: RoundExposure, second: RoundExposure) -> str:
    """Corrupt sessions per 1,000 rounds, which early ends do not bend."""
    if first.rounds == 0 or second.rounds == 0:
        return "Corruption per round: a run without completed rounds has none."
    smaller = min(exposure_less(first, second), exposure_less(second, first))
    return (
        f"Corruption per 1,000 rounds: {_exposure(first)} v {_exposure(second)} (exact conditional "
        f"{p_text(min(1.0, 2 * smaller))} {_INDEPENDENT}, and if silence does not hide corruption)."
    )


def _exposure(exposure: RoundExposure) -> str:
    low, high = (1000 * end for end in exposure_limits(exposure))
    return (
        f"{rounded(exposure.per_thousand, 2)} [{rounded(low, 2)} to {rounded(high, 2)}] "
        f"({of_text(exposure.corrupt, exposure.rounds)} rounds)"
    )
