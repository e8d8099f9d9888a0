"""What counts as corrupt on a healthy system: a rate taken from an arm that is known to be good.

Without such an arm nothing is assumed: the background is zero only where it was seen to be.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from runner.evidence.clustered_limits import clustered_upper_limit, probability_at_least
from runner.evidence.number_words import of_text, share_text
from runner.evidence.run_rate_test import Cluster


@dataclass(frozen=True, slots=True)
class BackgroundRate:
    """Corrupt sessions of the known-good arm; `upper` is the one-sided 95 % limit of its rate."""

    k: int
    n: int
    upper: float

    @property
    def rate(self) -> float:
        return self.k / self.n


def background_sentence(name: str, background: BackgroundRate | str) -> str:
    """`background` as text says why the arm gives none."""
    if isinstance(background, str):
        return f"The background is taken as zero: {background}."
    if background.k == 0:
        return (
            f"The background is zero: {of_text(0, background.n)} sessions of the known-good arm "
            f"{name} were corrupt."
        )
    return (
        f"Background: {of_text(background.k, background.n)} sessions of the known-good arm {name} "
        f"were corrupt ({share_text(background.rate)}). A criterion on corruption fails only where "
        "as many are improbable at that rate."
    )


def background_of(known_good: Sequence[Cluster], *, rho: float) -> BackgroundRate:
    """Raises ValueError where the arm has no session with evidence."""
    k, sizes = sum(c.k for c in known_good), [c.n for c in known_good]
    return BackgroundRate(k, sum(sizes), clustered_upper_limit(k, sizes, rho=rho))


def exceeds_background(
    clusters: Sequence[Cluster], *, background: float, rho: float, alpha: float = 0.05
) -> bool:
    """Whether so many corrupt sessions are improbable at the background rate.

    With a background of zero a single one exceeds it.
    """
    k = sum(c.k for c in clusters)
    if k == 0:
        return False
    if background <= 0.0:
        return True
    sizes = [c.n for c in clusters]
    return probability_at_least(k, sizes, rate=background, rho=rho) <= alpha
