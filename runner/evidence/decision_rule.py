"""What was agreed before the first run about how a hypothesis will be judged."""

from dataclasses import dataclass
from enum import StrEnum

from db.vocabulary import ClaimKind as ClaimKind
from runner.evidence.session_correlation import DECLARED_FOR_SINGLE_RUNS, FLOOR_OF_REPEATED_RUNS


class Ending(StrEnum):
    """What ended the runs: the plan, the first corrupt session, the answer itself, or a look that
    was planned.
    """

    FIXED = "fixed"
    FIRST_CORRUPT = "first_corrupt"
    DECIDED = "decided"
    TWO_LOOKS = "two_looks"

    @property
    def cuts_runs(self) -> bool:
        """Whether it may end a run before all its sessions were played."""
        return self in (Ending.FIRST_CORRUPT, Ending.DECIDED)


ELIMINATION_ALTERNATIVES = ((0.01, 0.15), (0.01, 0.10))
"""Rates (arm, arm compared with) that a change which removes a frequent fault would show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRule:
    """Rates from 0 to 1. `p_max` is the residual rate that is tolerated.

    `silent_tolerated`: up to this share silence may be benign; `silent_refused`: above it a
    direction that the worst case does not carry is unclear because of it.
    """

    p_max: float = 0.05
    alpha: float = 0.05
    claim: ClaimKind = ClaimKind.ELIMINATE
    ending: Ending = Ending.FIXED
    is_registered: bool = True
    predicted_rate: float | None = None  # of the arm, for `reduce`
    background: float = 0.0  # corrupt rate of a known-good arm
    rho_floor: float = FLOOR_OF_REPEATED_RUNS
    rho_single: float = DECLARED_FOR_SINGLE_RUNS
    rho_max: float = 0.05  # what the run-block process stays valid for
    alternatives: tuple[tuple[float, float], ...] = ELIMINATION_ALTERNATIVES  # of that process
    hypotheses: int = 1  # how many of a campaign share the risk of a false direction
    silent_tolerated: float = 0.05
    silent_refused: float = 0.2

    @property
    def alpha_of_direction(self) -> float:
        """One-sided. Without a registered prediction either side could have been claimed."""
        return self.alpha if self.is_registered else self.alpha / 2

    @property
    def alpha_to_stop(self) -> float:
        """Where runs may end: shared evenly, so that no later answer can take the stop back."""
        return self.alpha_of_direction / self.hypotheses

    @property
    def direction_bar(self) -> float:
        """The e-value from which on a direction is shown."""
        return self.hypotheses / self.alpha_of_direction

    @property
    def confidence(self) -> float:
        """Of the one-sided limit that decides elimination."""
        return 1.0 - self.alpha_of_direction
