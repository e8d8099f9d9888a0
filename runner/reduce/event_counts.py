"""What is counted of a run: corrupt sessions, silent ones, or whether the run wedged. Pure."""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from runner.evidence.counts import counted
from runner.evidence.silent_sessions import LaunchCounts


class Flips(StrEnum):
    """What the failing arm has and the clean one has not."""

    CORRUPT = "corrupt"
    WEDGE = "wedge"
    SILENT = "silent"

    @property
    def criterion(self) -> str:
        """Its name in a prediction."""
        return "wedges" if self is Flips.WEDGE else str(self)

    @property
    def events(self) -> str:
        """What is counted, after a number: `3 of 40 sessions corrupt`."""
        return "runs wedged" if self is Flips.WEDGE else f"sessions {self}"


def event_counts(
    flips: Flips,
    outcomes: Mapping[str, int],
    *,
    wedges: int | None,
    corrupt: Sequence[str],
) -> LaunchCounts:
    """`corrupt` of the result are the events looked for.

    Where the wedge is looked for, the run itself is the one trial; it is silent where no rule
    looked. Where silence is looked for, every session gives evidence.
    """
    counts = counted(outcomes, corrupt=corrupt)
    if flips is Flips.WEDGE:
        return LaunchCounts(int(wedges == 0), int(bool(wedges)), int(wedges is None))
    if flips is Flips.SILENT:
        return LaunchCounts(counts.gave_evidence, counts.silent, 0)
    return LaunchCounts(counts.not_corrupt, counts.corrupt, counts.silent)
